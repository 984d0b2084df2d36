//! A server's own totals by statement, event or table, as a table of a run over its measured phase.
//!
//! Not here: reading (monitor), and display (render).

use serde::{Deserialize, Serialize};

use crate::choice;

/// The key by which a server sums up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryOf {
    /// Statements, normalized: those that differ in values only are one.
    Statements,
    /// Wait events, as the server counts them.
    Waits,
    /// Session states, as sampled.
    Samples,
    /// Waits for locks, by table.
    Locks,
    /// Tables, or indexes of tables.
    Tables,
    /// Reads and writes on client connections.
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

/// A number in a server's summary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryColumn {
    /// Name: `count`, `time`, `bytes_sent`.
    pub name: &'static str,
    /// Unit: `s`, `B`, or empty.
    pub unit: &'static str,
    /// Factor from the server's number to this unit, such as 1e-12 for picoseconds.
    pub scale: f64,
}

/// Query for a summary, filled in by a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryQuery {
    /// Key of the rows.
    pub of: SummaryOf,
    /// Name of the view that it reads.
    pub source: &'static str,
    /// The query. Each row has its key, then a number per column. All numbers only grow until the
    /// server restarts.
    pub sql: &'static str,
    /// Numbers of each row. Rows are sorted by the growth of the first one that is a time, or else
    /// of the first.
    pub columns: &'static [SummaryColumn],
    /// Remedy if the summary is empty: how to make the server collect it, as a sentence that begins
    /// with a verb.
    pub remedy: &'static str,
    /// Totals that sessions keep themselves and lose when they end, if `sql` lacks those.
    pub of_sessions: Option<SessionsQuery>,
    /// Query for a text that replaces `remedy`, if the server itself knows why the summary is
    /// empty, or null. Empty if there is none.
    pub why_empty: &'static str,
}

/// Query for totals of single sessions, filled in by a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionsQuery {
    /// Name of the view that it reads.
    pub source: &'static str,
    /// The query. Each row has an identifier that is unique as long as its session lives, then the
    /// columns of the summary's query.
    pub sql: &'static str,
}

/// A column of a stored summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryColumnKept {
    /// Name: `count`, `time`, `bytes_sent`.
    pub name: String,
    /// Unit: `s`, `B`, or empty.
    pub unit: String,
}

/// A row of a stored summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// State of the sampled sessions; `None` if the server itself sums up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Key: a statement, an event, a table.
    pub what: String,
    /// Growth of each number, in the order of the columns.
    pub values: Vec<f64>,
}

/// A server's totals over the time of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerSummary {
    /// Key of the rows.
    pub of: SummaryOf,
    /// Name of the source.
    pub source: String,
    /// Start, in nanoseconds from the start of the measured phase.
    pub from_ns: i64,
    /// End, in nanoseconds from the start of the measured phase.
    pub to_ns: i64,
    /// Names and units of the numbers.
    pub columns: Vec<SummaryColumnKept>,
    /// Rows with the largest growth, in descending order.
    pub rows: Vec<SummaryRow>,
    /// Sum of the rows left out, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<SummaryRow>,
}

impl ServerSummary {
    /// Returns the index of the column with this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the sum of a column over all rows; `None` if there is no such column.
    pub fn total(&self, name: &str) -> Option<f64> {
        let column = self.column(name)?;
        let values = self.rows.iter().chain(&self.others).filter_map(|row| row.values.get(column));
        Some(values.sum())
    }

    /// Returns the source of sampled summaries: the number of samples taken and due.
    pub fn source_of_samples(n_seen: u32, n_due: u32) -> String {
        format!("sessions, {n_seen} of {n_due} samples")
    }

    /// Returns the number of samples, parsed from the source; `None` for summaries without samples.
    pub fn samples(&self) -> Option<u64> {
        let counts = self.source.strip_prefix("sessions, ")?.strip_suffix(" samples")?;
        counts.split_once(" of ")?.0.parse().ok()
    }

    /// Returns the seconds that it covers.
    pub fn seconds(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / crate::NS_PER_S as f64
    }
}
