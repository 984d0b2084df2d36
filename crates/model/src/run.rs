//! Identification and description of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    CustomMetricKind, Direction, KindIndex, Load, Phases, Placement, Standard, StopCondition, Trial,
};

/// Permanent identifier of a run: a UUID of version 7, so that it sorts by time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Description of a run: names for all indexes in its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Name of the plan.
    pub name: String,
    /// Seed of the plan.
    pub seed: u64,
    /// URL of the target, without its password.
    pub target: String,
    /// Product and version, such as `SQLite 3.54.1`.
    pub database: String,
    /// Modes of the database that every result names, such as `journal=wal`.
    pub modes: Vec<String>,
    /// Placement of the clients.
    pub placement: Placement,
    /// Planned durations of the phases.
    pub phases: Phases,
    /// Groups, by the index in events.
    pub groups: Vec<GroupDescription>,
    /// Version and build of dbdyno.
    pub dbdyno: String,
    /// Start, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// Place of the run in an experiment; `None` for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// Length of the report's intervals, in seconds.
    #[serde(default = "crate::second::default_interval_seconds", alias = "probe_seconds")]
    pub interval_seconds: u32,
    /// Length of the windows of service, wait and lag, in seconds; 10 in older runs, which do not
    /// record it.
    #[serde(default = "crate::second::default_window_seconds")]
    pub window_seconds: u32,
}

impl Description {
    /// Returns the distinct workloads of the groups, in their order.
    pub fn workloads(&self) -> Vec<&str> {
        each_once(self.groups.iter().map(|group| group.workload.as_str()))
    }
}

/// Removes duplicates from names of workloads, keeping their order.
pub fn each_once<'a>(workloads: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for name in workloads {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Description of a group in reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDescription {
    /// Name of the group.
    pub name: String,
    /// Name of its workload.
    pub workload: String,
    /// Number of clients in all processes.
    pub clients: u32,
    /// Number of separate processes that share the clients; 0 if they run in the main process.
    #[serde(default)]
    pub processes: u32,
    /// Load model of each client.
    pub load: Load,
    /// Condition on which the group stops.
    #[serde(rename = "until")]
    pub stop_condition: StopCondition,
    /// Text of the workload's file; `None` for a built-in workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Decided parameters of the workload, as pairs of name and value.
    #[serde(deserialize_with = "crate::plan::todays_parameters")]
    pub parameters: Vec<(String, String)>,
    /// Transaction types, by index.
    pub kinds: Vec<KindDescription>,
    /// Primary metrics, the most important first.
    #[serde(rename = "headlines")]
    pub primary_metrics: Vec<PrimaryMetricDescription>,
    /// Custom metrics, by index.
    #[serde(rename = "measures")]
    pub custom_metrics: Vec<CustomMetricDescription>,
    /// Deviations from the standard, and other notes for readers.
    #[serde(rename = "declarations")]
    pub notes: Vec<String>,
    /// Rate that the plan itself allows in key/think load, as a sentence.
    pub closed_form: Option<String>,
    /// Requirements of the standard from which the workload is derived; `None` if there is no
    /// standard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
}

/// Description of a transaction type in reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindDescription {
    /// Name, such as `new_order`.
    pub name: String,
    /// Relative frequency: the share is this over the sum of all weights.
    pub weight: u64,
}

/// Description of a primary metric in reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrimaryMetricDescription {
    /// Key in JSON, such as `records_per_s`.
    pub name: String,
    /// Name on the page.
    pub title: String,
    /// Transaction types whose commits are counted.
    pub kinds: Vec<KindIndex>,
    /// Index of a custom metric that is counted instead of commits.
    #[serde(rename = "measure", default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<u16>,
    /// Period of the rate, in nanoseconds.
    pub per_ns: u64,
    /// Computed by its workload after the run, instead of counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_computed: bool,
    /// Which way it is better; `None` in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// Description of a custom metric in reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomMetricDescription {
    /// Name, such as `lines_delivered`.
    pub name: String,
    /// Unit, such as `rows`.
    pub unit: String,
    /// Aggregation: a distribution or a sum.
    pub kind: CustomMetricKind,
    /// Which way it is better; `None` in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Identifier of the check.
    pub id: String,
    /// The condition, in words.
    pub title: String,
    /// Number of rows that violate it.
    pub n_failed: u64,
    /// The first of these rows, in words.
    pub examples: Vec<String>,
}

/// A top-level field of a run's JSON report, and the value that stands for its absence.
pub type ReportField = (&'static str, &'static str);
