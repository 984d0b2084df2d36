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

use model::{DbError, DbErrorKind, Place, Placement, StatementId};

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

/// Fails unless clients run on threads, the only placement in which calls of a database in this
/// process may block.
pub(crate) fn check_placement(place: &Place, product: &str) -> Result<(), DbError> {
    if place.placement == Placement::Thread {
        return Ok(());
    }
    let place = place.placement.name();
    let message = format!("{product} does not support placement '{place}': use --placement thread");
    Err(DbError::new(DbErrorKind::Unsupported, message))
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
