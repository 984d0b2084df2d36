//! What drivers of databases in this process share: the location of a database, the statements of a
//! session, and their text with literals.
//!
//! Not here: any call of a database's library.

pub(crate) mod location;
pub(crate) mod pieces;
pub(crate) mod statements;
#[cfg(feature = "duckdb")]
pub(crate) mod values;

use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{DbError, DbErrorKind, StatementId};

/// Request to begin or end a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Begin,
    BeginReadOnly,
    Commit,
    Rollback,
}

impl Control {
    /// Returns what a statement stands for that is a [control](StatementId::is_control) of a batch.
    pub(crate) fn from_statement(statement: StatementId) -> Control {
        match statement {
            StatementId::BEGIN => Control::Begin,
            StatementId::BEGIN_READ_ONLY => Control::BeginReadOnly,
            _ => Control::Commit,
        }
    }
}

/// Makes the error that every request of a cancelled session returns.
pub(crate) fn cancelled() -> DbError {
    DbError::new(DbErrorKind::Cancelled, "cancelled")
}

/// Makes the error for a statement that was given the wrong number of values.
#[cold]
pub(crate) fn wrong_number(wanted: usize, got: usize) -> DbError {
    let message = format!("the statement takes {wanted} values, {got} were given");
    DbError::new(DbErrorKind::Shape, message)
}

/// Locks a mutex and ignores poisoning, since a panic cannot leave the guarded values half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
