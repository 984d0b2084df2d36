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

/// A rate that a workload is known by, such as NOPM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimaryMetric {
    /// Its key in JSON.
    pub name: &'static str,
    /// Its name on the page.
    pub title: &'static str,
    /// The kinds whose commits it counts.
    pub kinds: Vec<KindIndex>,
    /// The counter that it counts in place of commits, by its place among the custom metrics.
    pub metric: Option<u16>,
    /// Per how many nanoseconds it is given. A commit that stands for n of what is counted, such as
    /// records, is given per n times as many.
    pub per_ns: u64,
}
