//! Requirements that a standard, such as TPC-C, sets for a run: clause, figure and limits.
//! Workloads declare them; analysis judges them.

use serde::{Deserialize, Serialize};

use crate::KindIndex;

/// A standard from which a workload is derived, with its requirements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standard {
    /// Name and revision, such as `TPC-C 5.11`.
    pub name: String,
    /// Disclaimer below the table of requirements: what passing them does not prove.
    pub note: String,
    /// Requirements in the order in which reports list them.
    pub requirements: Vec<Requirement>,
}

/// A requirement that a standard sets for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// Number of the clause, such as `5.2.3`.
    pub clause: String,
    /// Description of the required figure, without its limits: `share of payment in the mix`.
    pub title: String,
    /// Figure that the requirement limits.
    pub figure: RequirementFigure,
    /// Smallest allowed value of the figure; `None` if there is no lower limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest allowed value of the figure; `None` if there is no upper limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The value must be less than `max`; if false, it may be equal to it.
    #[serde(default)]
    pub is_below: bool,
    /// The requirement is also met if the event that the figure counts occurred at most this often;
    /// 0 for no such exception.
    #[serde(default)]
    pub or_count: u64,
    /// Planned and required pauses, in nanoseconds, for each transaction type; empty if the
    /// requirement is not about pauses. The planned ones are those before the load multiplies them
    /// by its scale.
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
    /// No figure, because runs of this workload do not measure it.
    Nothing,
    /// 90th percentile of a transaction type's response times, in seconds. Failed and dropped
    /// transactions count as infinite.
    ResponseTimeP90 {
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// Share of a transaction type among all finished transactions.
    KindShare {
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// Share of transactions that were rolled back by design, among the finished ones of a type.
    RolledBackShare {
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// Sum of a custom metric per finished transaction of a type.
    CounterMean {
        /// Index of the custom metric in the workload's list.
        counter: u16,
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// Sum of a custom metric as a share of the finished transactions of a type.
    CounterOfKind {
        /// Index of the custom metric in the workload's list.
        counter: u16,
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// Sum of a custom metric as a share of the sum of another one.
    CounterOfCounter {
        /// Index of the custom metric in the workload's list.
        counter: u16,
        /// Index of the custom metric that is the whole.
        of: u16,
    },
    /// Finished transactions of a type per minute, including those rolled back by design, divided
    /// by a scale such as the number of warehouses.
    FinishedPerMinute {
        /// Index of the transaction type.
        kind: KindIndex,
        /// Number by which the rate is divided, such as the number of warehouses.
        scale: u64,
    },
    /// Number of clients, divided by a scale such as the number of warehouses.
    ClientsPer {
        /// Number by which the clients are divided, such as the number of warehouses.
        scale: u64,
    },
    /// Pauses of key/think load as a share of the required ones, for the transaction type with the
    /// lowest share. Other load models have no pauses.
    Pauses {
        /// Share before the load multiplies the pauses by its scale, in percent.
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
