//! What names a run, and what describes it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{CustomMetricKind, KindIndex, Load, Phases, Placement, Standard, StopCondition, Trial};

/// A run's name for ever: a UUID of version 7, so that it sorts by time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A run as it is described to everyone who was not there: names for every index in its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The plan's name.
    pub name: String,
    /// The plan's seed.
    pub seed: u64,
    /// The target's URL, without a password.
    pub target: String,
    /// Product and version, such as `SQLite 3.54.1`.
    pub database: String,
    /// Modes of the database that every result names, such as `journal=wal`.
    pub modes: Vec<String>,
    /// Where the clients live.
    pub placement: Placement,
    /// How long each phase lasts.
    pub phases: Phases,
    /// The groups, by index.
    pub groups: Vec<GroupDescription>,
    /// Our own version and build.
    pub dbdyno: String,
    /// When it began, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// What it is of an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// How many seconds each stretch of the report has.
    #[serde(default = "crate::second::default_interval_seconds", alias = "probe_seconds")]
    pub interval_seconds: u32,
    /// How many seconds each window of service, wait and lag has; it was ten in all runs that do
    /// not tell.
    #[serde(default = "crate::second::default_window_seconds")]
    pub window_seconds: u32,
}

impl Description {
    /// The workloads of its groups, each once.
    pub fn workloads(&self) -> Vec<&str> {
        each_once(self.groups.iter().map(|group| group.workload.as_str()))
    }
}

/// Names of workloads, each once, in the order of their groups.
pub fn each_once<'a>(workloads: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for name in workloads {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A group as it is reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDescription {
    /// Its name.
    pub name: String,
    /// Its workload.
    pub workload: String,
    /// How many clients.
    pub clients: u32,
    /// Among how many processes of their own they are divided; 0 if they live in dbdyno's own.
    #[serde(default)]
    pub processes: u32,
    /// How load is offered.
    pub load: Load,
    /// When it is done.
    #[serde(rename = "until")]
    pub stop_condition: StopCondition,
    /// The text of the file in which the workload is written, where it is written in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The workload's parameters as decided.
    #[serde(deserialize_with = "crate::plan::todays_parameters")]
    pub parameters: Vec<(String, String)>,
    /// Its kinds of transactions, by index.
    pub kinds: Vec<KindDescription>,
    /// The rates it is known by.
    #[serde(rename = "headlines")]
    pub primary_metrics: Vec<PrimaryMetricDescription>,
    /// Its custom metrics, by index.
    #[serde(rename = "measures")]
    pub custom_metrics: Vec<CustomMetricDescription>,
    /// Deviations and what else a reader must know.
    #[serde(rename = "declarations")]
    pub notes: Vec<String>,
    /// What rate the plan itself allows, in key/think load: a sentence.
    pub closed_form: Option<String>,
    /// What the standard that the workload is derived from requires, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
}

/// A kind of transaction as it is reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindDescription {
    /// Its name.
    pub name: String,
    /// Its share, in parts of the sum.
    pub weight: u64,
}

/// A primary metric as it is reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrimaryMetricDescription {
    /// Its key in JSON.
    pub name: String,
    /// Its name on the page.
    pub title: String,
    /// The kinds whose commits it counts.
    pub kinds: Vec<KindIndex>,
    /// The counter that it counts in place of commits, by its place among the custom metrics.
    #[serde(rename = "measure", default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<u16>,
    /// Per how many nanoseconds it is reported.
    pub per_ns: u64,
    /// Whether nothing is counted, since its workload computes it when the run is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_computed: bool,
}

/// A custom metric as it is reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomMetricDescription {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// How it is kept.
    pub kind: CustomMetricKind,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The check's short name.
    pub id: String,
    /// What must hold.
    pub title: String,
    /// How many rows break it.
    pub n_failed: u64,
    /// The first of these rows, in words.
    pub examples: Vec<String>,
}

/// A field at the top of a run's report in JSON, and what stands there when it is left out.
pub type ReportField = (&'static str, &'static str);
