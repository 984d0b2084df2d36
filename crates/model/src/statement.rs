//! Statements that a workload declares before it runs. Not here: their execution.

use serde::{Deserialize, Serialize};

/// How a statement is counted: reads, writes and other statements apart, as sysbench does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// Returns rows and changes nothing.
    Read,
    /// Changes rows.
    Write,
    /// Anything else: transaction control, DDL.
    Other,
}

/// A statement's place in the list that was declared at connect, or the number that a session
/// gave to one prepared at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementId(pub u16);

/// A statement as its workload declares it, in the words of one dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its name in messages, such as `stock by key`.
    pub name: &'static str,
    /// How it is counted.
    pub kind: StatementKind,
    /// Its text, with the dialect's placeholders.
    pub sql: String,
}
