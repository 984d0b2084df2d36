//! Requirements that a standard, such as TPC-C, sets for a run: clause, measured figure and limits.
//! Workloads declare them; analysis judges them.

use serde::{Deserialize, Serialize};

use crate::KindIndex;

/// A published benchmark standard, such as TPC-C, from which a workload is derived, with its
/// requirements for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standard {
    /// Name and revision of the standard, such as `TPC-C 5.11`.
    pub name: String,
    /// Disclaimer below the table of requirements, which says what passing them does not prove.
    pub note: String,
    /// Requirements in the order in which reports list them.
    pub requirements: Vec<Requirement>,
}

/// A requirement that a standard sets for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// Number of the standard's clause that contains the requirement, such as `5.2.3`.
    pub clause: String,
    /// Description of the limited figure, without its limits: `share of payment in the mix`.
    pub title: String,
    /// Figure that the requirement limits.
    pub figure: RequirementFigure,
    /// Smallest allowed value of the figure; `None` if there is no lower limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest allowed value of the figure; `None` if there is no upper limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Whether the figure must be less than `max`; if false, it may also be equal to it.
    #[serde(default)]
    pub is_below: bool,
    /// Exception for small numbers: the requirement is also met if the counted event occurred at
    /// most this often in the run; 0 for no exception.
    #[serde(default)]
    pub or_count: u64,
    /// Pairs of planned and required pause for each transaction type, in nanoseconds; empty if the
    /// requirement is not about pauses. The planned pause is the one before the load's scale is
    /// applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses_ns: Vec<(u64, u64)>,
    /// Reason why the requirement does not apply to this workload; `None` if it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
}

/// The figure of a run that a requirement limits. Shares are in percent. All figures are over the
/// measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequirementFigure {
    /// There is no figure: runs of this workload do not measure what the standard requires.
    Nothing,
    /// 90th percentile of a transaction type's response times, in seconds. Failed and dropped
    /// transactions count as infinite.
    ResponseTimeP90 {
        /// Index of the transaction type whose response times are limited, from 0.
        kind: KindIndex,
    },
    /// Share of one transaction type among all finished transactions, in percent.
    KindShare {
        /// Index of the transaction type whose share is limited, from 0.
        kind: KindIndex,
    },
    /// Share of transactions that were rolled back by design, among the finished ones of a type, in
    /// percent.
    RolledBackShare {
        /// Index of the transaction type that is rolled back, from 0.
        kind: KindIndex,
    },
    /// Sum of a custom metric, divided by the number of finished transactions of a type.
    CounterMean {
        /// Index of the custom metric whose sum is divided, among those of the workload, from 0.
        counter: u16,
        /// Index of the transaction type by whose finished transactions the sum is divided, from 0.
        kind: KindIndex,
    },
    /// Sum of a custom metric, in percent of the number of finished transactions of a type.
    CounterOfKind {
        /// Index of the custom metric whose sum is divided, among those of the workload, from 0.
        counter: u16,
        /// Index of the transaction type by whose finished transactions the sum is divided, from 0.
        kind: KindIndex,
    },
    /// Sum of a custom metric, in percent of the sum of another custom metric.
    CounterOfCounter {
        /// Index of the custom metric whose sum is divided, among those of the workload, from 0.
        counter: u16,
        /// Index of the custom metric whose sum is the divisor, among those of the workload, from
        /// 0.
        of: u16,
    },
    /// Finished transactions of a type per minute, including those rolled back by design, divided
    /// by a scale such as the number of warehouses.
    FinishedPerMinute {
        /// Index of the transaction type whose rate is limited, from 0.
        kind: KindIndex,
        /// Number by which the rate is divided, such as the number of warehouses.
        scale: u64,
    },
    /// Number of clients, divided by a scale such as the number of warehouses.
    ClientsPer {
        /// Number by which the clients are divided, such as the number of warehouses.
        scale: u64,
    },
    /// Planned pauses of key/think load as a share of those that the standard requires, for the
    /// transaction type with the lowest share. Other load models have no pauses.
    Pauses {
        /// Planned pauses, in percent of those required, before the load's scale is applied.
        percent: f64,
    },
    /// Length of the measured phase, in minutes.
    MeasuredMinutes,
    /// Number of checkpoints that the server began in the measured phase.
    Checkpoints,
}

impl RequirementFigure {
    /// Returns the unit of the figure; empty for a plain number.
    pub fn unit(self) -> &'static str {
        match self {
            RequirementFigure::ResponseTimeP90 { .. } => "s",
            RequirementFigure::KindShare { .. }
            | RequirementFigure::RolledBackShare { .. }
            | RequirementFigure::CounterOfKind { .. }
            | RequirementFigure::CounterOfCounter { .. }
            | RequirementFigure::Pauses { .. } => "%",
            RequirementFigure::MeasuredMinutes => "min",
            RequirementFigure::Nothing
            | RequirementFigure::CounterMean { .. }
            | RequirementFigure::FinishedPerMinute { .. }
            | RequirementFigure::ClientsPer { .. }
            | RequirementFigure::Checkpoints => "",
        }
    }
}
