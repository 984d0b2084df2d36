//! What a server counts itself: how it is asked, and what its numbers mean.
//!
//! A capability that a driver fills. Not here: who asks once a second (app).

/// Whether a server's number grows or stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It only grows, until the server is restarted: what is reported is its rate.
    Total,
    /// It goes up and down: what is reported is itself.
    Level,
}

/// A number that a server tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its name there, such as `Innodb_rows_read`.
    pub name: &'static str,
    /// Whether it grows or stands.
    pub reading: Reading,
    /// The unit of what is reported: of its rate where it grows (`1/s`, `B/s`, `ms/s`), else its
    /// own.
    pub unit: &'static str,
    /// What it means, in a sentence.
    pub help: &'static str,
}

/// How a server's own numbers are read while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// The queries for the numbers of these names, or for all that there are if none is named.
    /// Each row: a name, and its number as a number or as text; a row without a number is passed
    /// over. A query that a server of another version does not know is refused as missing, and
    /// the others stand for themselves. No queries where the driver counts for itself
    /// ([`Database::counted`](crate::Database::counted)).
    pub ask: fn(names: &[&str]) -> Vec<String>,
    /// Those that are read unless all are asked for, the most telling ones first.
    pub chosen: &'static [Counter],
    /// How a number that is not among the chosen ones is read, and its unit, by its name.
    pub reading: fn(name: &str) -> (Reading, &'static str),
}
