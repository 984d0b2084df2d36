//! What a workload's transactions are called, and what is measured and counted of them.

use serde::{Deserialize, Serialize};

/// A kind of transaction's place in its workload's list.
pub type KindIndex = u16;

/// One kind of transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name in reports, such as `new_order`.
    pub name: &'static str,
    /// Its share of all transactions, in parts of the sum over all kinds.
    pub weight: u64,
    /// How long a user keys before it, in key/think load.
    pub keying_ns: u64,
    /// Mean thinking time after a transaction, in key/think load.
    pub thinking_ns: u64,
}

/// Whether a measure is a distribution or a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomMetricKind {
    /// Each value matters: event age.
    Histogram,
    /// Only the sum does: rows, bytes.
    Counter,
}

/// A named series of a workload, recorded beside its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomMetric {
    /// Its name, such as `lines_delivered`.
    pub name: &'static str,
    /// Its unit, such as `rows`.
    pub unit: &'static str,
    /// How it is kept.
    pub kind: CustomMetricKind,
}

/// Custom metrics that count what went wrong, of which less is better, whatever the workload. They
/// are known by name, since stored runs have no more of them.
pub const FAULT_METRICS: [&str; 4] =
    ["deliveries_skipped", "short_deliveries", "missed", "duplicates"];

/// A figure that a workload is known by, such as records a second.
///
/// Its name tells which way it is better, as that of every figure: times (`_ms`, `_s`) are better
/// lower, all others higher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimaryMetric {
    /// Its key in JSON, such as `records_per_s`.
    pub name: &'static str,
    /// Its name on the page, with its unit where it has one that the name does not tell.
    pub title: &'static str,
    /// How it comes about.
    pub of: PrimaryOf,
}

/// How a primary metric comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrimaryOf {
    /// Something is counted while the run goes on.
    Rate {
        /// The kinds whose commits it counts.
        kinds: Vec<KindIndex>,
        /// The counter that it counts in place of commits, by its place among the custom metrics.
        metric: Option<u16>,
        /// Per how many nanoseconds it is given. A commit that stands for n of what is counted,
        /// such as records, is given per n times as many.
        per_ns: u64,
    },
    /// Its workload computes it when the run is over
    /// ([`Workload::computed`](crate::Workload::computed)).
    Computed,
}

/// What the clients of a group did in the measured phase, of one kind of transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindTotals {
    /// How many were finished: committed, or rolled back by design.
    pub finished: u64,
    /// How many failed.
    pub failed: u64,
    /// The shortest response time of the finished, in nanoseconds; 0 without any.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Their sum.
    pub sum_ns: u64,
}

impl KindTotals {
    /// Takes in what another client did.
    pub fn add(&mut self, other: KindTotals) {
        self.min_ns = match (self.finished, other.finished) {
            (0, _) => other.min_ns,
            (_, 0) => self.min_ns,
            _ => self.min_ns.min(other.min_ns),
        };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.finished += other.finished;
        self.failed += other.failed;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
    }
}

/// A primary metric that its workload has computed over a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComputedFigure {
    /// Its name.
    pub name: String,
    /// Its value; none where `reason` says why.
    pub value: Option<f64>,
    /// Why it has none, in a clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ComputedFigure {
    /// The figure of this name: its value, or why it has none.
    pub fn new(name: &str, value: Result<f64, String>) -> ComputedFigure {
        let finite = value.and_then(|value| match value.is_finite() {
            true => Ok(value),
            false => Err("it is no finite number".to_owned()),
        });
        let (value, reason) = match finite {
            Ok(value) => (Some(value), None),
            Err(reason) => (None, Some(reason)),
        };
        ComputedFigure { name: name.to_owned(), value, reason }
    }
}
