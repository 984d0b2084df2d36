//! Conversion of SQLite's result codes to database errors. Not here: paths, which are added to an
//! error where a file is opened.

use model::{DbError, DbErrorKind};
use rusqlite::{Error, ffi};

/// Converts an error of SQLite to a database error.
#[cold]
pub(super) fn db_error(error: Error) -> DbError {
    let (code, message) = match error {
        Error::SqliteFailure(failure, words) => {
            (failure.extended_code, words.unwrap_or_else(|| failure.to_string()))
        }
        Error::SqlInputError { error, msg, .. } => (error.extended_code, msg),
        other => (0, other.to_string()),
    };
    let kind = kind(code, &message);
    DbError { kind, code: i64::from(code), sqlstate: String::new(), message }
}

/// Classifies an error of SQLite by its extended result code, or else by its primary code
/// (<https://www.sqlite.org/rescode.html>).
fn kind(code: i32, message: &str) -> DbErrorKind {
    match code {
        ffi::SQLITE_BUSY_SNAPSHOT => return DbErrorKind::Serialization,
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_ROWID => return DbErrorKind::Duplicate,
        // The index of the log cannot grow for lack of space.
        ffi::SQLITE_IOERR_SHMSIZE => return DbErrorKind::DiskFull,
        _ => {}
    }
    match code & 0xff {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => DbErrorKind::Busy,
        ffi::SQLITE_CONSTRAINT => DbErrorKind::Constraint,
        ffi::SQLITE_FULL => DbErrorKind::DiskFull,
        ffi::SQLITE_READONLY => DbErrorKind::ReadOnly,
        ffi::SQLITE_INTERRUPT => DbErrorKind::Cancelled,
        ffi::SQLITE_NOTADB | ffi::SQLITE_CORRUPT => DbErrorKind::Corrupt,
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM | ffi::SQLITE_AUTH => DbErrorKind::Denied,
        // SQLite has one code for all errors in a statement.
        ffi::SQLITE_ERROR if is_missing(message) => DbErrorKind::Missing,
        ffi::SQLITE_ERROR if message.ends_with(" already exists") => DbErrorKind::Exists,
        _ => DbErrorKind::Other,
    }
}

fn is_missing(message: &str) -> bool {
    message.starts_with("no such ") || message.contains(" has no column named ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_kinds() {
        let check = |code: i32, expect: DbErrorKind| assert_eq!(kind(code, ""), expect, "{code}");
        check(ffi::SQLITE_BUSY, DbErrorKind::Busy);
        check(ffi::SQLITE_BUSY_RECOVERY, DbErrorKind::Busy);
        check(ffi::SQLITE_BUSY_SNAPSHOT, DbErrorKind::Serialization);
        check(ffi::SQLITE_LOCKED_SHAREDCACHE, DbErrorKind::Busy);
        check(ffi::SQLITE_CONSTRAINT_UNIQUE, DbErrorKind::Duplicate);
        check(ffi::SQLITE_CONSTRAINT_NOTNULL, DbErrorKind::Constraint);
        check(ffi::SQLITE_FULL, DbErrorKind::DiskFull);
        check(ffi::SQLITE_READONLY_DBMOVED, DbErrorKind::ReadOnly);
        check(ffi::SQLITE_CORRUPT_VTAB, DbErrorKind::Corrupt);
        check(ffi::SQLITE_IOERR_SHMSIZE, DbErrorKind::DiskFull);
        check(ffi::SQLITE_IOERR_WRITE, DbErrorKind::Other);
        check(ffi::SQLITE_CANTOPEN_ISDIR, DbErrorKind::Denied);
    }
}
