//! A server's own totals by statement, wait event or table, as tables over the measured phase.
//!
//! Not here: reading them (monitor), and display (render).

use serde::{Deserialize, Serialize};

use crate::choice;

/// Grouping of the totals in a summary of what a server did, such as by statement, wait event or
/// table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryOf {
    /// Totals by statement, normalized: statements that differ only in their values are the same.
    Statements,
    /// Totals by wait event, from waits that the server itself counts.
    Waits,
    /// Totals by state of the server's sessions, such as executing or waiting for a lock, from
    /// samples that dbdyno takes of the sessions.
    Samples,
    /// Totals by table, with the waits for its table locks.
    Locks,
    /// Totals by table or index, with the accesses to it.
    Tables,
    /// Totals of reads and writes on the sockets of client connections.
    Connections,
}

choice!(SummaryOf {
    Statements = "statements",
    Waits = "waits",
    Samples = "samples",
    Locks = "locks",
    Tables = "tables",
    Connections = "connections",
});

/// Declaration of a numeric column in the result of a [`SummaryQuery`], made by a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryColumn {
    /// Name of the column in reports: `count`, `time`, `bytes_sent`.
    pub name: &'static str,
    /// Unit of the column in reports: `s`, `B`, or empty for a plain number.
    pub unit: &'static str,
    /// Factor that converts the server's number to `unit`, such as 1e-12 for picoseconds.
    pub scale: f64,
}

/// A query, supplied by a driver, that reads totals which the server keeps, such as time by
/// statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryQuery {
    /// Grouping of the rows: by statement, wait event, table...
    pub of: SummaryOf,
    /// Name of the server's view that the query reads.
    pub source: &'static str,
    /// Query for the totals. Each row has its key and then one number per column. The numbers never
    /// decrease until the server restarts.
    pub sql: &'static str,
    /// Numeric columns of the query. Rows are sorted by how much the first column with a time has
    /// grown, or else the first column.
    pub columns: &'static [SummaryColumn],
    /// Advice if the query returns nothing, as a sentence that begins with a verb: how to make the
    /// server collect these totals.
    pub remedy: &'static str,
    /// Query for totals that each session keeps until it ends, to be added to those of `sql`.
    /// `None` if `sql` returns the totals of all sessions.
    pub of_sessions: Option<SessionsQuery>,
    /// Query that returns why the server's totals are empty, as advice to be shown instead of
    /// `remedy`, or null for no advice. Empty if there is no such query.
    pub why_empty: &'static str,
}

/// Query for totals that each session keeps for itself, filled in by a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionsQuery {
    /// Name of the server's view that the query reads.
    pub source: &'static str,
    /// Query for the totals. Each row has an identifier, which is unique as long as the session
    /// lives, and then the columns of the [`SummaryQuery`] to which it belongs.
    pub sql: &'static str,
}

/// A numeric column of a stored summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryColumnKept {
    /// Name of the column: `count`, `time`, `bytes_sent`.
    pub name: String,
    /// Unit of the column: `s`, `B`, or empty for a plain number.
    pub unit: String,
}

/// A row of a stored summary: the totals of one statement, wait event, session state or table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// State of the sessions, if the rows come from sampled sessions; `None` if the server itself
    /// keeps the totals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Text of the statement, or name of the wait event, session state or table, whose totals the
    /// row has.
    pub what: String,
    /// Increase of the server's totals over the measured phase, in the order and units of the
    /// summary's columns.
    pub values: Vec<f64>,
}

/// Summary of what a server did during the load, as it was read from the server's own totals or
/// sampled from its sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerSummary {
    /// Grouping of the rows: by statement, wait event, table...
    pub of: SummaryOf,
    /// Name of the server's view; for sampled sessions, the text of
    /// [`ServerSummary::source_of_samples`].
    pub source: String,
    /// Start of the time that the summary covers, in nanoseconds from the start of the measured
    /// phase.
    pub from_ns: i64,
    /// End of the time that the summary covers, in nanoseconds from the start of the measured
    /// phase.
    pub to_ns: i64,
    /// Names and units of the numbers that each row has.
    pub columns: Vec<SummaryColumnKept>,
    /// Rows whose numbers have grown most, in descending order: at most 40, or 60 of sampled
    /// sessions. `others` has the sum of the rest.
    pub rows: Vec<SummaryRow>,
    /// Sum of the rows that were left out of `rows`; `None` if none was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<SummaryRow>,
}

impl ServerSummary {
    /// Returns the index of the numeric column with this name; `None` if there is none.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the sum of a column over all rows, including those left out; `None` if there is no
    /// such column.
    pub fn total(&self, name: &str) -> Option<f64> {
        let column = self.column(name)?;
        let values = self.rows.iter().chain(&self.others).filter_map(|row| row.values.get(column));
        Some(values.sum())
    }

    /// Returns the text that stands for the source of a summary made of sampled session states,
    /// with the numbers of samples taken and samples due: `sessions, 58 of 60 samples`.
    pub fn source_of_samples(n_seen: u32, n_due: u32) -> String {
        format!("sessions, {n_seen} of {n_due} samples")
    }

    /// Returns the number of samples from which the summary is made; `None` if it is not made of
    /// sampled session states.
    pub fn samples(&self) -> Option<u64> {
        let counts = self.source.strip_prefix("sessions, ")?.strip_suffix(" samples")?;
        counts.split_once(" of ")?.0.parse().ok()
    }

    /// Returns the length of the time that the summary covers, in seconds.
    pub fn seconds(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / crate::NS_PER_S as f64
    }
}
