//! A server's own counters: how to query them, and what their numbers mean. Each driver fills this
//! in.
//!
//! Not here: the reader that queries them once per second (monitor, app).

/// Meaning of a number that the server reports: a total since its start, or a current value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A total since the server's start; its growth per second is reported.
    Total,
    /// A current value that rises and falls; it is reported as it is.
    Level,
}

/// A counter that a server keeps about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name of the counter in the server's spelling, such as `Innodb_rows_read`.
    pub name: &'static str,
    /// Meaning of the number: a total since the server's start, or a current value.
    pub reading: Reading,
    /// Unit of the reported value: for a total that of its growth per second (`1/s`, `B/s`,
    /// `ms/s`), otherwise that of the number.
    pub unit: &'static str,
    /// Explanation of the counter in one sentence.
    pub help: &'static str,
}

/// Access to the counters of a running server, filled in by a driver.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Returns the queries for the counters with these names, or for all counters if `names` is
    /// empty. Each row of their results is a counter's name and its value, as number or text; rows
    /// without a number are skipped. If this version of the server rejects a query, the results of
    /// the others still count. Empty if the driver itself counts
    /// ([`Database::counted`](crate::Database::counted)).
    pub ask: fn(names: &[&str]) -> Vec<String>,
    /// Counters that are read by default, the most informative first.
    pub chosen: &'static [Counter],
    /// Returns meaning and unit of a counter that is not in `chosen`, derived from its name.
    pub reading: fn(name: &str) -> (Reading, &'static str),
}
