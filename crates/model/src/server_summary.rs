//! What a server sums up by statement, event or table: as a table of a run, over its measured
//! phase.
//!
//! Not here: who reads it (monitor), and how it is shown (render).

use serde::{Deserialize, Serialize};

use crate::choice;

/// By what a server sums up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryOf {
    /// Statements that differ in their values alone.
    Statements,
    /// Events that sessions waited for, as the server counts them.
    Waits,
    /// What sessions were seen doing, by samples.
    Samples,
    /// Locks, by table.
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

/// A number that a server sums up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryColumn {
    /// Its name: `count`, `time`, `bytes_sent`.
    pub name: &'static str,
    /// Its unit: `s`, `B`, or empty.
    pub unit: &'static str,
    /// What the server's number is multiplied by to have that unit, such as 1e-12 for picoseconds.
    pub scale: f64,
}

/// How a summary is read, filled by a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryQuery {
    /// By what.
    pub of: SummaryOf,
    /// Where it comes from: a view's name.
    pub source: &'static str,
    /// The query. Each row: what it is of, then a number for each column. All of them only grow
    /// until the server is restarted.
    pub sql: &'static str,
    /// Its numbers. What grew most in the first of them that is a time, or else in the first, is
    /// shown first.
    pub columns: &'static [SummaryColumn],
    /// What makes the server sum it up, where it is empty without: a sentence that begins with a
    /// verb.
    pub remedy: &'static str,
    /// What sessions sum up themselves and forget when they end, where the query above lacks it.
    pub of_sessions: Option<SessionsQuery>,
    /// A query for the same, where the server itself knows better why it is empty: a text, or null.
    /// Empty if there is none.
    pub why_empty: &'static str,
}

/// How sums of single sessions are read, filled by a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionsQuery {
    /// Where they come from: a view's name.
    pub source: &'static str,
    /// The query. Each row: what tells it apart for as long as its session lives, then the columns
    /// of the summary's query.
    pub sql: &'static str,
}

/// A column of a summary as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryColumnKept {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
}

/// A row of a summary as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// The state of sessions in which it was seen; none where the server sums up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What it is of: a statement, an event, a table.
    pub what: String,
    /// By how much each number grew.
    pub values: Vec<f64>,
}

/// What a server summed up while a load ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerSummary {
    /// By what.
    pub of: SummaryOf,
    /// Where it comes from.
    pub source: String,
    /// From this instant of the measured phase on, in nanoseconds.
    pub from_ns: i64,
    /// Until this one.
    pub to_ns: i64,
    /// Its numbers.
    pub columns: Vec<SummaryColumnKept>,
    /// Those that grew most, from the top down.
    pub rows: Vec<SummaryRow>,
    /// The sum of those that are left out, where any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<SummaryRow>,
}

impl ServerSummary {
    /// A column's place by its name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The sum of a column over all rows.
    pub fn total(&self, name: &str) -> Option<f64> {
        let column = self.column(name)?;
        let values = self.rows.iter().chain(&self.others).filter_map(|row| row.values.get(column));
        Some(values.sum())
    }

    /// Where samples of sessions come from: how many were taken of those that were due.
    pub fn source_of_samples(n_seen: u32, n_due: u32) -> String {
        format!("sessions, {n_seen} of {n_due} samples")
    }

    /// How many samples of sessions it sums up, which only its source says; none of other
    /// summaries.
    pub fn samples(&self) -> Option<u64> {
        let counts = self.source.strip_prefix("sessions, ")?.strip_suffix(" samples")?;
        counts.split_once(" of ")?.0.parse().ok()
    }

    /// The seconds that it covers.
    pub fn seconds(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / crate::NS_PER_S as f64
    }
}
