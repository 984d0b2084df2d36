//! Statements that a workload declares before its clients connect. Not here: their execution.

use serde::{Deserialize, Serialize};

use crate::{DbError, DbErrorKind};

/// Class of a statement, by which it is counted: reads, writes and others, as in sysbench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// The statement returns rows without changing any.
    Read,
    /// The statement inserts, updates or deletes rows.
    Write,
    /// The statement neither reads nor writes rows: transaction control or DDL.
    Other,
}

/// The way in which a statement is sent: prepared or as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sent {
    /// The statement is prepared once per session and then executed by its identifier; it is sent
    /// as text only if an option of the target says so.
    Prepared,
    /// The statement is sent as text in each call, with its values as literals.
    Text,
}

/// Identifier of a statement within a session: its index among the statements declared on
/// connecting, or a number that the session assigned when it was prepared later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementId(pub u32);

impl StatementId {
    /// Identifier that stands for beginning a transaction that may write. Allowed only as the first
    /// call of a [`Request::Batch`](crate::Request::Batch).
    pub const BEGIN: StatementId = StatementId(u32::MAX);
    /// Identifier that stands for beginning a read-only transaction. Allowed only as the first call
    /// of a [`Request::Batch`](crate::Request::Batch).
    pub const BEGIN_READ_ONLY: StatementId = StatementId(u32::MAX - 1);
    /// Identifier that stands for committing the transaction. Allowed only as the last call of a
    /// [`Request::Batch`](crate::Request::Batch).
    pub const COMMIT: StatementId = StatementId(u32::MAX - 2);

    /// Creates the identifier of the statement with index `place` in a session. Fails if the index
    /// is too large.
    pub fn numbered(place: usize) -> Result<StatementId, DbError> {
        let id = u32::try_from(place).ok().map(StatementId).filter(|id| !id.is_control());
        id.ok_or_else(|| {
            let n_most = StatementId::COMMIT.0;
            let message = format!("a session can have at most {n_most} statements");
            DbError::new(DbErrorKind::Unsupported, message)
        })
    }

    /// Returns the index of the statement in its session.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this identifier stands for BEGIN or COMMIT in a batch, and not for a statement of
    /// the session.
    pub fn is_control(self) -> bool {
        self.0 >= StatementId::COMMIT.0
    }
}

/// A statement that a workload executes, in the SQL dialect of its database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Name of the statement in messages, such as `stock by key`.
    pub name: &'static str,
    /// Class of the statement: read, write or other, by which it is counted.
    pub kind: StatementKind,
    /// SQL text of the statement, with the dialect's placeholders.
    pub sql: String,
    /// Whether the statement is sent as a prepared statement or as text.
    pub sent: Sent,
}

impl Statement {
    /// Creates a statement of a workload that is sent as a prepared statement.
    pub fn new(name: &'static str, kind: StatementKind, sql: impl Into<String>) -> Statement {
        Statement { name, kind, sql: sql.into(), sent: Sent::Prepared }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_statement_has_a_number_that_begins_or_ends_a_transaction() {
        assert_eq!(StatementId::numbered(450_000), Ok(StatementId(450_000)));
        let last = StatementId::COMMIT.index() - 1;
        assert_eq!(StatementId::numbered(last).map(StatementId::index), Ok(last));
        for place in [last + 1, last + 3, last + 4] {
            let no = StatementId::numbered(place).expect_err("no number is left");
            assert_eq!(no.kind, DbErrorKind::Unsupported);
        }
    }
}
