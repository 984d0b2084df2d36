//! Trace of one transaction: statements, replies, bytes and times.
//!
//! Not here: recording (engine), and display (render).

use crate::{SentStatement, Traffic};

/// A request and its reply: one round trip, unless the driver needs several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Statements of the request; several if they were sent together.
    pub statements: Vec<SentStatement>,
    /// Time of sending, in nanoseconds from the start of the transaction.
    pub started_ns: u64,
    /// Time until the whole reply was read, in nanoseconds.
    pub elapsed_ns: u64,
    /// Statements, round trips and bytes.
    pub traffic: Traffic,
    /// Number of rows in the reply.
    pub rows: u64,
    /// Number of rows changed, as the database reports.
    pub affected: u64,
    /// Formatted values of the first rows.
    pub first_rows: Vec<Vec<String>>,
    /// Column names of the first row, if the database reports them.
    pub columns: Vec<String>,
    /// Error message of the database, if it failed.
    pub error: Option<String>,
}

/// The outcome of a traced transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceOutcome {
    /// Committed: its effects are permanent.
    Committed,
    /// Rolled back by design of the workload.
    RolledBack,
    /// Failed, with the message of the error.
    Failed(String),
}

/// A transaction, from its first request to its last reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionTrace {
    /// Name of the transaction type.
    pub transaction: String,
    /// Number among the client's transactions, from 0. Inputs are a function of seed and number.
    pub number: u64,
    /// Outcome of the transaction.
    pub outcome: TraceOutcome,
    /// Duration in nanoseconds, including the client's own time between requests.
    pub elapsed_ns: u64,
    /// Statements, round trips and bytes of all requests.
    pub traffic: Traffic,
    /// Requests with their replies, in order.
    pub exchanges: Vec<Exchange>,
}

/// Traces of transactions of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// URL of the database, without its password.
    pub target: String,
    /// Product and version of the database.
    pub database: String,
    /// Name of the workload.
    pub workload: String,
    /// All parameters of the workload, as pairs of name and value.
    pub parameters: Vec<(String, String)>,
    /// Seed of the inputs.
    pub seed: u64,
    /// Number of transactions of the same type that ran on the connection before each traced one.
    pub warm_up: u32,
    /// The traced transactions, in order.
    pub transactions: Vec<TransactionTrace>,
    /// Routines that the transactions call, as pairs of name and definition.
    pub routines: Vec<(String, String)>,
}
