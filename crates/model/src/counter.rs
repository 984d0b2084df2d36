//! A server's own counters: how to query them, and what their numbers mean. Each driver fills this
//! in.
//!
//! Not here: the reader that queries them once per second (monitor, app).

/// Meaning of a number that the server reports: a total since its start, or a current value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A total since the server's start, such as rows read. Reports show its growth per second.
    Total,
    /// A current value that rises and falls, such as open connections. Reports show the value
    /// itself.
    Level,
}

/// A counter that a database server keeps about itself, such as rows read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name of the counter in the server's spelling, such as `Innodb_rows_read`.
    pub name: &'static str,
    /// Meaning of the number: a total since the server's start, or a current value.
    pub reading: Reading,
    /// Unit of the value in reports. For a total this is the unit of its growth per second (`1/s`,
    /// `B/s`, `ms/s`), for a current value that of the number itself.
    pub unit: &'static str,
    /// Explanation of the counter in one sentence.
    pub help: &'static str,
}

/// Queries and descriptions by which dbdyno reads the counters of a running server, filled in by a
/// driver.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Returns the queries for the counters with these names, or for all counters if `names` is
    /// empty. Each row of their results is a counter's name and its value, as number or text; rows
    /// without a number are skipped. If this version of the server rejects a query, the results of
    /// the others still count. Empty if the driver itself counts
    /// ([`Database::counted`](crate::Database::counted)).
    pub ask: fn(names: &[&str]) -> Vec<String>,
    /// Counters that dbdyno reads unless the user asks for all, the most informative first.
    pub chosen: &'static [Counter],
    /// Returns meaning and unit of a counter that is not in `chosen`, guessed from its name, such
    /// as `Total` and `B/s`.
    pub reading: fn(name: &str) -> (Reading, &'static str),
}
