//! Conversion of DuckDB's errors to database errors. DuckDB's messages begin with the class of the
//! error, always in English; some of its functions return nothing else. Not here: paths, which are
//! added to an error where a file is opened.

use model::{DbError, DbErrorKind};

use super::ffi::Message;

/// Converts an error message of DuckDB to a database error.
#[cold]
pub(super) fn db_error(message: Message) -> DbError {
    DbError::new(kind(&message), message)
}

/// Whether an error says that no transaction is open, so that there is nothing to roll back.
pub(super) fn is_outside_of_transaction(no: &DbError) -> bool {
    no.message.contains("no transaction is active")
}

/// Beginnings of messages, words in them, and the kind of such errors. The first row that fits
/// decides.
const KINDS: &[(&str, &str, DbErrorKind)] = &[
    ("INTERRUPT Error", "", DbErrorKind::Cancelled),
    ("", "Interrupted!", DbErrorKind::Cancelled),
    // Two transactions changed the same row, key or table.
    ("TransactionContext Error", "onflict", DbErrorKind::Serialization),
    ("", "write-write conflict", DbErrorKind::Serialization),
    // An error of a load or a commit has no class.
    ("", "PRIMARY KEY or UNIQUE constraint", DbErrorKind::Duplicate),
    ("", "Duplicate key", DbErrorKind::Duplicate),
    ("Constraint Error", "", DbErrorKind::Constraint),
    ("", "NOT NULL constraint", DbErrorKind::Constraint),
    ("", "read-only", DbErrorKind::ReadOnly),
    ("Catalog Error", "already exists", DbErrorKind::Exists),
    ("Catalog Error", "does not exist", DbErrorKind::Missing),
    ("Binder Error", "not found", DbErrorKind::Missing),
    ("Binder Error", "does not have a column", DbErrorKind::Missing),
    ("IO Error", "Could not set lock", DbErrorKind::Busy),
    ("IO Error", "No space left", DbErrorKind::DiskFull),
    ("IO Error", "Permission denied", DbErrorKind::Denied),
    ("IO Error", "not a valid DuckDB database file", DbErrorKind::Corrupt),
    ("IO Error", "orrupt", DbErrorKind::Corrupt),
    ("IO Error", "version number", DbErrorKind::Corrupt),
    ("Serialization Error", "", DbErrorKind::Corrupt),
    ("Parameter Not", "", DbErrorKind::Shape),
];

fn kind(message: &str) -> DbErrorKind {
    let fits = |(class, words, _): &&(&str, &str, DbErrorKind)| {
        message.starts_with(class) && message.contains(words)
    };
    KINDS.iter().find(fits).map_or(DbErrorKind::Other, |(_, _, kind)| *kind)
}
