//! What one transaction and its database said to each other: statements, replies, bytes and times.
//!
//! Not here: who listens (engine), and how it is shown (render).

use crate::{SentStatement, Traffic};

/// One request and its reply: one round trip, unless the driver needs several for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// What was sent: several statements where they were sent together.
    pub statements: Vec<SentStatement>,
    /// How long after the beginning of the transaction it was sent.
    pub started_ns: u64,
    /// How long it took until the whole reply was read.
    pub elapsed_ns: u64,
    /// Statements, round trips and bytes.
    pub traffic: Traffic,
    /// Rows of the reply.
    pub rows: u64,
    /// Rows changed, as the database says.
    pub affected: u64,
    /// The first rows, each with its values.
    pub first_rows: Vec<Vec<String>>,
    /// The names of the columns of the first row, where the database tells them.
    pub columns: Vec<String>,
    /// Why the database refused it, if it did.
    pub error: Option<String>,
}

/// How a transaction ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceOutcome {
    /// Committed.
    Committed,
    /// Rolled back, as the workload wants it in this case.
    RolledBack,
    /// Refused, for this reason.
    Failed(String),
}

/// One transaction, from its first request to its last reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionTrace {
    /// Its type.
    pub transaction: String,
    /// Its number in the sequence of a client's transactions, from 0: inputs follow from seed and
    /// number.
    pub number: u64,
    /// How it ended.
    pub outcome: TraceOutcome,
    /// How long it took, the client's own time between requests included.
    pub elapsed_ns: u64,
    /// Statements, round trips and bytes of all requests.
    pub traffic: Traffic,
    /// The requests, in order.
    pub exchanges: Vec<Exchange>,
}

/// One transaction of some types of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The database's URL, without its password.
    pub target: String,
    /// Product and version.
    pub database: String,
    /// The workload.
    pub workload: String,
    /// Its parameters, all of them.
    pub parameters: Vec<(String, String)>,
    /// The seed of the inputs.
    pub seed: u64,
    /// Transactions of the same type that the connection executed before each of these.
    pub warm_up: u32,
    /// The transactions.
    pub transactions: Vec<TransactionTrace>,
    /// Procedures and functions that they call: the name and the definition.
    pub routines: Vec<(String, String)>,
}
