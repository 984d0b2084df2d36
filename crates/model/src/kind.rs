//! Transaction types of a workload, and what is measured and counted of them.

use serde::{Deserialize, Serialize};

use crate::Direction;

/// Index of a transaction type in its workload's list.
pub type KindIndex = u16;

/// A transaction type, as its workload declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Name in reports, such as `new_order`.
    pub name: &'static str,
    /// Relative frequency: the share is this over the sum of all weights.
    pub weight: u64,
    /// Keying time before a transaction in key/think load, in nanoseconds.
    pub keying_ns: u64,
    /// Mean think time after a transaction in key/think load, in nanoseconds.
    pub thinking_ns: u64,
}

/// Aggregation of a custom metric: a distribution or a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomMetricKind {
    /// Distribution of values, such as the age of events.
    Histogram,
    /// Sum only, such as rows or bytes.
    Counter,
}

/// A custom metric of a workload, recorded beside its response times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomMetric {
    /// Name, such as `lines_delivered`.
    pub name: &'static str,
    /// Unit, such as `rows`.
    pub unit: &'static str,
    /// Aggregation: a distribution or a sum.
    pub kind: CustomMetricKind,
    /// Which way its rate, its mean and its quantiles are better: lower for faults and times.
    pub better: Direction,
}

/// A primary metric of a workload, such as records per second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimaryMetric {
    /// Key in JSON, such as `records_per_s`.
    pub name: &'static str,
    /// Name on the page, with its unit if the name does not tell it.
    pub title: &'static str,
    /// Source of the value.
    pub of: PrimaryOf,
    /// Which way it is better.
    pub better: Direction,
}

/// The source of a primary metric's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrimaryOf {
    /// A rate, counted while the run goes on.
    Rate {
        /// Transaction types whose commits are counted.
        kinds: Vec<KindIndex>,
        /// Index of a custom metric that is counted instead of commits.
        metric: Option<u16>,
        /// Period of the rate, in nanoseconds. If a commit stands for n of what is counted, such as
        /// records, the period is n times as long.
        per_ns: u64,
    },
    /// Computed by the workload after the run ([`Workload::computed`](crate::Workload::computed)).
    Computed,
}

/// Totals of one transaction type over the clients of a group, in the measured phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindTotals {
    /// Number of finished transactions: committed, or rolled back by design.
    pub finished: u64,
    /// Number of failed transactions.
    pub failed: u64,
    /// Shortest response time of the finished ones, in nanoseconds; 0 if there are none.
    pub min_ns: u64,
    /// Longest response time of the finished ones, in nanoseconds.
    pub max_ns: u64,
    /// Sum of the response times of the finished ones, in nanoseconds; saturates.
    pub sum_ns: u64,
}

impl KindTotals {
    /// Adds the totals of another client.
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

/// A primary metric that its workload computed after the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComputedFigure {
    /// Name of the primary metric.
    pub name: String,
    /// Value; `None` if `reason` tells why there is none.
    pub value: Option<f64>,
    /// Reason for a missing value, in a clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ComputedFigure {
    /// Makes the figure from its value, or from the reason why there is none. A value that is not
    /// finite counts as missing.
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
