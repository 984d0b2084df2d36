//! A server's own counters: how to query them, and what their numbers mean.
//!
//! A capability that a driver fills in. Not here: the reader that queries once per second (app).

/// Interpretation of a server's number: cumulative or current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Cumulative since the server's start: its rate is reported.
    Total,
    /// Current value, up or down: reported as it is.
    Level,
}

/// A number that a server reports about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The server's name for it, such as `Innodb_rows_read`.
    pub name: &'static str,
    /// Interpretation of the number: cumulative or current.
    pub reading: Reading,
    /// Unit of the reported value: of the rate if cumulative (`1/s`, `B/s`, `ms/s`), else of the
    /// number itself.
    pub unit: &'static str,
    /// Explanation in one sentence.
    pub help: &'static str,
}

/// Access to the counters of a running server.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Returns the queries for the counters with these names, or for all counters if `names` is
    /// empty. Each row has a name and a value, as number or text; a row without a number is
    /// skipped. A query that this version of the server does not know fails as missing; the others
    /// still count. No queries if the driver counts for itself
    /// ([`Database::counted`](crate::Database::counted)).
    pub ask: fn(names: &[&str]) -> Vec<String>,
    /// Counters that are read by default, the most informative first.
    pub chosen: &'static [Counter],
    /// Returns interpretation and unit of a counter that is not in `chosen`, from its name.
    pub reading: fn(name: &str) -> (Reading, &'static str),
}
