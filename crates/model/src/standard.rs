//! Requirements of a standard on a run, as data: clause, limited figure and limits. Workloads
//! declare them; analysis judges them.

use serde::{Deserialize, Serialize};

use crate::KindIndex;

/// A standard from which a workload is derived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standard {
    /// Name and revision, such as `TPC-C 5.11`.
    pub name: String,
    /// Disclaimer for the table of requirements: what it does not prove.
    pub note: String,
    /// Requirements in the order of output.
    pub requirements: Vec<Requirement>,
}

/// A requirement of a standard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// Number of the clause, such as `5.2.3`.
    pub clause: String,
    /// The requirement, without its limits: `share of payment in the mix`.
    pub title: String,
    /// The figure that is limited.
    pub figure: RequirementFigure,
    /// Smallest allowed value; `None` if there is no lower limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest allowed value; `None` if there is no upper limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The value must be below `max`, not equal.
    #[serde(default)]
    pub is_below: bool,
    /// The requirement is also met if the counted event occurred at most this often.
    #[serde(default)]
    pub or_count: u64,
    /// For pauses, planned and required nanoseconds of each transaction type. The planned ones are
    /// before the load's own factor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses_ns: Vec<(u64, u64)>,
    /// Reason why the requirement does not apply to this workload; `None` if it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
}

/// The figure that a requirement limits. Shares are in percent, over the measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequirementFigure {
    /// None: a run of this workload has no such figure.
    Nothing,
    /// 90th percentile of the response times of all offered transactions of a type, in seconds.
    ResponseTimeP90 {
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// Share of a type among all finished transactions.
    KindShare {
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// Share of transactions rolled back by design, among the finished ones of a type.
    RolledBackShare {
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// Mean of a counter per finished transaction of a type.
    CounterMean {
        /// Index among the workload's custom metrics.
        counter: u16,
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// A counter as a share of the finished transactions of a type.
    CounterOfKind {
        /// Index among the workload's custom metrics.
        counter: u16,
        /// Index of the transaction type.
        kind: KindIndex,
    },
    /// A counter as a share of another one.
    CounterOfCounter {
        /// Index among the workload's custom metrics.
        counter: u16,
        /// Index of the other counter.
        of: u16,
    },
    /// Finished transactions of a type per minute, including rollbacks by design, divided by a
    /// scale.
    FinishedPerMinute {
        /// Index of the transaction type.
        kind: KindIndex,
        /// Divisor, such as the number of warehouses.
        scale: u64,
    },
    /// Number of clients, divided by a scale.
    ClientsPer {
        /// Divisor, such as the number of warehouses.
        scale: u64,
    },
    /// Pauses of key/think load in percent of the required ones, for the type with the lowest
    /// percentage; other load models have none.
    Pauses {
        /// Percentage before the load's own factor is applied.
        percent: f64,
    },
    /// Length of the measured phase, in minutes.
    MeasuredMinutes,
    /// Number of checkpoints that the server began in the measured phase.
    Checkpoints,
}

impl RequirementFigure {
    /// Returns the unit; empty for a plain number.
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
