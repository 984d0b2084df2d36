//! Statements that a workload declares before it runs. Not here: their execution.

use serde::{Deserialize, Serialize};

use crate::{DbError, DbErrorKind};

/// Classification of a statement for counting: reads, writes and others, as in sysbench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// Returns rows without changing any.
    Read,
    /// Inserts, updates or deletes rows.
    Write,
    /// Neither: transaction control, DDL.
    Other,
}

/// The way in which a statement is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sent {
    /// Prepared once per session, with separate values, unless the target's options say otherwise.
    Prepared,
    /// Sent as text at each call, with its values as literals.
    Text,
}

/// Index of a statement among those declared at connect, or the number that a session assigned to
/// one prepared at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementId(pub u16);

impl StatementId {
    /// Begins a transaction that may write; only as the first call of a batch.
    pub const BEGIN: StatementId = StatementId(u16::MAX);
    /// Begins a read-only transaction; only as the first call of a batch.
    pub const BEGIN_READ_ONLY: StatementId = StatementId(u16::MAX - 1);
    /// Commits; only as the last call of a batch.
    pub const COMMIT: StatementId = StatementId(u16::MAX - 2);

    /// Returns the identifier of a session's statement at index `place`. Fails if there are too
    /// many.
    pub fn numbered(place: usize) -> Result<StatementId, DbError> {
        let id = u16::try_from(place).ok().map(StatementId).filter(|id| !id.is_control());
        id.ok_or_else(|| {
            let n_most = StatementId::COMMIT.0;
            let message = format!("a session can have at most {n_most} statements");
            DbError::new(DbErrorKind::Unsupported, message)
        })
    }

    /// Whether it begins or commits a transaction, instead of naming a statement.
    pub fn is_control(self) -> bool {
        self.0 >= StatementId::COMMIT.0
    }
}

/// A statement as its workload declares it, in one dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Name in messages, such as `stock by key`.
    pub name: &'static str,
    /// Classification of the statement for counting.
    pub kind: StatementKind,
    /// Text with the dialect's placeholders.
    pub sql: String,
    /// The way in which it is sent.
    pub sent: Sent,
}

impl Statement {
    /// Makes a prepared statement.
    pub fn new(name: &'static str, kind: StatementKind, sql: impl Into<String>) -> Statement {
        Statement { name, kind, sql: sql.into(), sent: Sent::Prepared }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_statement_has_a_number_that_begins_or_ends_a_transaction() {
        assert_eq!(StatementId::numbered(65_532), Ok(StatementId(65_532)));
        for place in [65_533, 65_535, 65_536] {
            let no = StatementId::numbered(place).expect_err("no number is left");
            assert_eq!(no.kind, DbErrorKind::Unsupported);
        }
    }
}
