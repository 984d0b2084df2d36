//! Statements that a workload declares before it runs. Not here: their execution.

use serde::{Deserialize, Serialize};

use crate::{DbError, DbErrorKind};

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

/// How a statement reaches the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sent {
    /// Prepared once a session, with its values apart; or however the target's options say.
    Prepared,
    /// As text at each call, its values written into it.
    Text,
}

/// A statement's place in the list that was declared at connect, or the number that a session
/// gave to one prepared at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementId(pub u16);

impl StatementId {
    /// Begins a transaction that may write, as a call of a batch: its first.
    pub const BEGIN: StatementId = StatementId(u16::MAX);
    /// Begins a transaction that only reads, as a call of a batch: its first.
    pub const BEGIN_READ_ONLY: StatementId = StatementId(u16::MAX - 1);
    /// Commits, as a call of a batch: its last.
    pub const COMMIT: StatementId = StatementId(u16::MAX - 2);

    /// The statement at `place` of those that a session knows. Refused where the numbers end.
    pub fn numbered(place: usize) -> Result<StatementId, DbError> {
        let id = u16::try_from(place).ok().map(StatementId).filter(|id| !id.is_control());
        id.ok_or_else(|| {
            let n_most = StatementId::COMMIT.0;
            let message = format!("a session can have at most {n_most} statements");
            DbError::new(DbErrorKind::Unsupported, message)
        })
    }

    /// Whether it is no statement of anybody's, but begins or ends a transaction.
    pub fn is_control(self) -> bool {
        self.0 >= StatementId::COMMIT.0
    }
}

/// A statement as its workload declares it, in the words of one dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its name in messages, such as `stock by key`.
    pub name: &'static str,
    /// How it is counted.
    pub kind: StatementKind,
    /// Its text, with the dialect's placeholders.
    pub sql: String,
    /// How it is sent.
    pub sent: Sent,
}

impl Statement {
    /// A statement that is prepared.
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
