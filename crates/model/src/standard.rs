//! What a standard itself requires of a run, as data: each clause, the figure that it limits, and
//! its limits. The workload says what its standard requires; who has the figures judges (analysis).

use serde::{Deserialize, Serialize};

use crate::KindIndex;

/// A standard from which a workload is derived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standard {
    /// Its name and revision, such as `TPC-C 5.11`.
    pub name: String,
    /// What a table of its requirements is not.
    pub note: String,
    /// Its requirements, in the order in which they are printed.
    pub requirements: Vec<Requirement>,
}

/// One requirement of a standard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The clause, such as `5.2.3`.
    pub clause: String,
    /// What is required, without the limits: `share of payment in the mix`.
    pub title: String,
    /// What is measured.
    pub figure: RequirementFigure,
    /// The least that the clause allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The most that it allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// `max` itself is too much.
    #[serde(default)]
    pub is_below: bool,
    /// It also holds if what it counts happened no more often than this.
    #[serde(default)]
    pub or_count: u64,
    /// Of pauses, those of each type in nanoseconds: as planned, before the load's own factor, and
    /// as required.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses_ns: Vec<(u64, u64)>,
    /// Why it does not apply to this workload, where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
}

/// What a requirement limits. Shares are percents, and of the measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequirementFigure {
    /// Nothing that a run of this workload has.
    Nothing,
    /// The 90th percentile in seconds of the response times of all that was offered of a type.
    ResponseTimeP90 {
        /// Which type.
        kind: KindIndex,
    },
    /// The share of a type among all that finished.
    KindShare {
        /// Which type.
        kind: KindIndex,
    },
    /// The share of a type that is rolled back by design, among what finished of it.
    RolledBackShare {
        /// Which type.
        kind: KindIndex,
    },
    /// A counter for each finished transaction of a type.
    CounterMean {
        /// Its place among the workload's measures.
        counter: u16,
        /// Which type.
        kind: KindIndex,
    },
    /// A counter's share in what finished of a type.
    CounterOfKind {
        /// Its place among the workload's measures.
        counter: u16,
        /// Which type.
        kind: KindIndex,
    },
    /// A counter's share in another one.
    CounterOfCounter {
        /// Its place among the workload's measures.
        counter: u16,
        /// The other one's.
        of: u16,
    },
    /// What finished of a type in a minute, by design rolled back or not, divided by a scale.
    FinishedPerMinute {
        /// Which type.
        kind: KindIndex,
        /// The scale, such as the number of warehouses.
        scale: u64,
    },
    /// Clients divided by a scale.
    ClientsPer {
        /// The scale.
        scale: u64,
    },
    /// Pauses of key/think load in percent of what is required, at the type that has least of it
    /// by the parameters; other loads have none.
    Pauses {
        /// Before they are multiplied by the load's own factor.
        percent: f64,
    },
    /// The length of the measured phase in minutes.
    MeasuredMinutes,
    /// Checkpoints that the server began in the measured phase.
    Checkpoints,
}

impl RequirementFigure {
    /// Its unit.
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
