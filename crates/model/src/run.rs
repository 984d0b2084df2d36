//! Identifier and description of a run, as its events and reports contain them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    CustomMetricKind, Direction, KindIndex, Load, Phases, Placement, Standard, StopCondition, Trial,
};

/// Permanent identifier of a run: a UUID of version 7, so identifiers sort by time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Properties of a run that are known before its load. Later events refer to its groups,
/// transaction types and metrics by index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Name of the plan that the run executes.
    pub name: String,
    /// Seed of all random numbers of the run.
    pub seed: u64,
    /// URL of the target, without its password.
    pub target: String,
    /// Product and version of the database, such as `SQLite 3.54.1`.
    pub database: String,
    /// Modes of the database that matter for performance or durability, such as `journal=wal`.
    /// Reports show them beside the result.
    pub modes: Vec<String>,
    /// Where clients run: on threads of their own, on event loops, or in virtual time.
    pub placement: Placement,
    /// Planned durations of ramp-up, measured phase and drain.
    pub phases: Phases,
    /// Groups of clients, in the order of their indexes.
    pub groups: Vec<GroupDescription>,
    /// Version and build of dbdyno.
    pub dbdyno: String,
    /// Start of the run, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// Place of the run in its experiment, as point and repeat; `None` for a run outside of any
    /// experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// Length of the intervals for which the report has response time percentiles, in seconds.
    #[serde(default = "crate::second::default_interval_seconds", alias = "probe_seconds")]
    pub interval_seconds: u32,
    /// Length, in seconds, of the windows of time by which the run has recorded histograms of
    /// service time, wait and lag: one histogram of each kind per window. 10 in older runs, which
    /// did not store this length.
    #[serde(default = "crate::second::default_window_seconds")]
    pub window_seconds: u32,
}

impl Description {
    /// Returns the names of the groups' workloads, each once, in the order of the groups.
    pub fn workloads(&self) -> Vec<&str> {
        each_once(self.groups.iter().map(|group| group.workload.as_str()))
    }
}

/// Returns the given names of workloads without duplicates, in order of first occurrence.
pub fn each_once<'a>(workloads: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for name in workloads {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Rows of which every transaction updates one, so that clients wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotRows {
    /// Number of these rows.
    pub rows: u64,
    /// What they are, in the plural: `branches`.
    pub what: String,
}

/// Description of a group of clients, for reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDescription {
    /// Name of the group of clients.
    pub name: String,
    /// Name of the workload that the clients of the group execute.
    pub workload: String,
    /// URL of the server of the clients, without password, if it is not the run's target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Number of clients of the group, over all its processes.
    pub clients: u32,
    /// Number of separate client processes among which the clients are divided; 0 if they run in
    /// the main process.
    #[serde(default)]
    pub processes: u32,
    /// Load model with its parameters, common to all clients of the group.
    pub load: Load,
    /// Condition that ends the load of the group: a time or a number of transactions.
    #[serde(rename = "until")]
    pub stop_condition: StopCondition,
    /// Text of the file that defines the workload; `None` for a built-in workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Parameters of the workload with all values decided, as pairs of name and value.
    #[serde(deserialize_with = "crate::plan::todays_parameters")]
    pub parameters: Vec<(String, String)>,
    /// Transaction types of the workload, in the order of their indexes.
    pub kinds: Vec<KindDescription>,
    /// Primary metrics of the workload, the most important first.
    #[serde(rename = "headlines")]
    pub primary_metrics: Vec<PrimaryMetricDescription>,
    /// Custom metrics of the workload, in the order of their indexes.
    #[serde(rename = "measures")]
    pub custom_metrics: Vec<CustomMetricDescription>,
    /// Notes for readers of the results, such as deviations from the standard.
    #[serde(rename = "declarations")]
    pub notes: Vec<String>,
    /// Sentence about the highest rate that keying and think times allow; `None` unless the group
    /// has key/think load.
    pub closed_form: Option<String>,
    /// Requirements of the standard from which the workload is derived; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
    /// Rows of which every transaction updates one; `None` if there are none, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_rows: Option<HotRows>,
    /// Number of transactions that the clients together execute in a fixed order, after which the
    /// load is complete; `None` if the load has no such end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
}

/// Description of a transaction type, for reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindDescription {
    /// Name of the transaction type, such as `new_order`.
    pub name: String,
    /// Relative frequency of the transaction type: its share among all transactions is this weight
    /// divided by the sum of the weights.
    pub weight: u64,
}

/// Description of a primary metric, for reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrimaryMetricDescription {
    /// Key of the metric in JSON reports, such as `records_per_s`.
    pub name: String,
    /// Title of the primary metric in reports, including the unit unless the name tells it.
    pub title: String,
    /// Indexes of the transaction types whose commits the metric counts; not used if `metric` is
    /// given.
    pub kinds: Vec<KindIndex>,
    /// Index of the custom metric that is counted instead of commits, from 0; `None` to count
    /// commits.
    #[serde(rename = "measure", default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<u16>,
    /// Period to which the rate refers, in nanoseconds: 60 s for a rate per minute.
    pub per_ns: u64,
    /// Whether the workload computes the metric's value after the run; if false, it is the rate of
    /// a count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_computed: bool,
    /// Direction in which the metric is better, such as higher for rates; `None` in older runs,
    /// which did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// Description of a custom metric, for reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomMetricDescription {
    /// Name of the metric, such as `lines_delivered`.
    pub name: String,
    /// Unit of the metric's values, such as `rows`.
    pub unit: String,
    /// Whether the distribution of the metric's values is kept, or only their sum.
    pub kind: CustomMetricKind,
    /// Direction in which the metric is better; `None` in older runs, which did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// Result of one consistency check on the data of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Identifier of the check, such as `3.3.2.1`.
    pub id: String,
    /// The condition that was checked, in words.
    pub title: String,
    /// Number of rows that violate the checked condition; 0 if the check passed.
    pub n_failed: u64,
    /// Texts for the first rows that violate the condition, with the values of their columns.
    pub examples: Vec<String>,
}

/// A top-level field of a run's JSON report that is too long to be read together with the others:
/// its name, and the JSON text, such as `[]`, that is read in its place.
pub type ReportField = (&'static str, &'static str);
