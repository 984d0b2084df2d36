//! Traces of single transactions: statements, replies, bytes and times.
//!
//! Not here: recording (engine), and display (render).

use crate::{SentStatement, Traffic};

/// A request of a traced transaction and its reply. This is one round trip, unless the driver needs
/// several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Statements of the request; several if they were sent together as a batch.
    pub statements: Vec<SentStatement>,
    /// Time at which the request was sent, in nanoseconds from the start of its transaction.
    pub started_ns: u64,
    /// Time from sending until the whole reply was read, in nanoseconds.
    pub elapsed_ns: u64,
    /// Statements, round trips, rows and bytes that this request cost.
    pub traffic: Traffic,
    /// Number of rows that the reply contained.
    pub rows: u64,
    /// Number of rows that the request changed, as the database reports it.
    pub affected: u64,
    /// Values of the first rows of the reply, formatted for display.
    pub first_rows: Vec<Vec<String>>,
    /// Column names of the reply, taken from its first row; empty if the database does not report
    /// them.
    pub columns: Vec<String>,
    /// Error message of the database; `None` if the request succeeded.
    pub error: Option<String>,
}

/// The outcome of a traced transaction: committed, rolled back or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceOutcome {
    /// The traced transaction was committed, so its effects are permanent.
    Committed,
    /// The traced transaction was rolled back by design of the workload.
    RolledBack,
    /// The traced transaction failed, with this error message.
    Failed(String),
}

/// A traced transaction, from its first request to its last reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionTrace {
    /// Name of the traced transaction's type, such as `new_order`.
    pub transaction: String,
    /// Index of the transaction among those of its client, from 0. Together with the seed it
    /// determines type and inputs.
    pub number: u64,
    /// Whether the traced transaction was committed, rolled back or failed.
    pub outcome: TraceOutcome,
    /// Duration from the first request to the last reply, in nanoseconds, including the client's
    /// own time between requests.
    pub elapsed_ns: u64,
    /// Statements, round trips, rows and bytes of all requests.
    pub traffic: Traffic,
    /// Requests with their replies, in order.
    pub exchanges: Vec<Exchange>,
}

/// Traces of transactions of one workload, which show each request and reply, together with the
/// parameters and the seed that are needed to repeat them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// URL of the database, without its password.
    pub target: String,
    /// Product and version of the database.
    pub database: String,
    /// Name of the workload whose transactions were traced.
    pub workload: String,
    /// All parameters of the workload, as pairs of name and value.
    pub parameters: Vec<(String, String)>,
    /// Seed from which the transactions' inputs were drawn.
    pub seed: u64,
    /// Number of transactions of the same type that were executed on the connection before each
    /// traced one, so that caches are warm.
    pub warm_up: u32,
    /// The traced transactions, in order.
    pub transactions: Vec<TransactionTrace>,
    /// Stored routines that the transactions call, as pairs of name and definition.
    pub routines: Vec<(String, String)>,
}
