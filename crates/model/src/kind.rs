//! Transaction types and metrics, as a workload declares them.

use serde::{Deserialize, Serialize};

use crate::Direction;

/// Index of a transaction type among those of its workload, from 0.
pub type KindIndex = u16;

/// A transaction type ("kind" in the code), as its workload declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Name of the transaction type in reports, such as `new_order`.
    pub name: &'static str,
    /// Relative frequency of the transaction type: its share among all transactions is this weight
    /// divided by the sum of the weights.
    pub weight: u64,
    /// Keying time before each transaction in key/think load, as of a user who types in a form, in
    /// nanoseconds.
    pub keying_ns: u64,
    /// Mean of the think time after each transaction in key/think load, as of a user who reads the
    /// result, in nanoseconds.
    pub thinking_ns: u64,
}

/// Form in which the values of a custom metric are kept: as a distribution or as a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomMetricKind {
    /// Values are kept as a distribution, as for the ages of events.
    Histogram,
    /// Only the sum of the values is kept, as for a number of rows or bytes.
    Counter,
}

/// A metric that a workload itself records during transactions, in addition to response times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomMetric {
    /// Name of the metric, such as `lines_delivered`.
    pub name: &'static str,
    /// Unit of the values, such as `rows`.
    pub unit: &'static str,
    /// Whether the distribution of the values is kept, or only their sum.
    pub kind: CustomMetricKind,
    /// Direction in which the metric's rate, mean and quantiles are better: lower for faults and
    /// times.
    pub better: Direction,
}

/// One of the main metrics by which results of a workload are stated, such as records per second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimaryMetric {
    /// Key of the metric in JSON reports, such as `records_per_s`.
    pub name: &'static str,
    /// Title of the metric in reports, including the unit unless the name tells it.
    pub title: &'static str,
    /// Source of the metric's value: a rate counted during the run, or a computation after it.
    pub of: PrimaryOf,
    /// Direction in which the metric is better: higher, lower or neither.
    pub better: Direction,
}

/// Source of a primary metric's value: a rate counted during the run, or a computation after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrimaryOf {
    /// A rate that is counted during the run.
    Rate {
        /// Indexes of the transaction types whose commits are counted, at least one; not used if
        /// `metric` is given.
        kinds: Vec<KindIndex>,
        /// Index of the custom metric that is counted instead of commits, from 0; `None` to count
        /// commits.
        metric: Option<u16>,
        /// Period to which the rate refers, in nanoseconds: 60 s for a rate per minute. If one
        /// commit stands for n counted things, such as records, the period is n times as long.
        per_ns: u64,
    },
    /// A value that the workload computes after the run
    /// ([`Workload::computed`](crate::Workload::computed)).
    Computed,
}

/// Totals of one transaction type over all clients of a group, in the measured phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindTotals {
    /// Number of finished transactions: committed, or rolled back by design.
    pub finished: u64,
    /// Number of transactions that failed in all attempts.
    pub failed: u64,
    /// Shortest response time of finished transactions, in nanoseconds; 0 if there are none.
    pub min_ns: u64,
    /// Longest response time of finished transactions, in nanoseconds; 0 if there are none.
    pub max_ns: u64,
    /// Sum of the response times of finished transactions, in nanoseconds; saturates.
    pub sum_ns: u64,
}

impl KindTotals {
    /// Adds the totals of another client of the same group and transaction type.
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

/// A primary metric that its workload computed after the run, or the reason why it has no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComputedFigure {
    /// Name of the primary metric, such as `records_per_s`.
    pub name: String,
    /// Value of the metric; `None` if it has none, in which case `reason` tells why.
    pub value: Option<f64>,
    /// Reason why the metric has no value, as a clause; `None` if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ComputedFigure {
    /// Creates the metric's result from its value, or from the reason why there is none. An
    /// infinite value or NaN counts as missing.
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
