//! SQLite's result codes as refusals. Not here: paths; who opens a file says which.

use model::{Refusal, RefusalKind};
use rusqlite::{Error, ffi};

/// What SQLite's error means to the one who must go on.
#[cold]
pub(super) fn refusal(error: Error) -> Refusal {
    let (code, message) = match error {
        Error::SqliteFailure(failure, words) => {
            (failure.extended_code, words.unwrap_or_else(|| failure.to_string()))
        }
        Error::SqlInputError { error, msg, .. } => (error.extended_code, msg),
        other => (0, other.to_string()),
    };
    let kind = kind(code, &message);
    Refusal { kind, code: i64::from(code), sqlstate: String::new(), message }
}

/// The refusal of a session that was cancelled.
pub(super) fn cancelled() -> Refusal {
    Refusal::new(RefusalKind::Cancelled, "cancelled")
}

/// Extended codes first, then primary ones (<https://www.sqlite.org/rescode.html>).
fn kind(code: i32, message: &str) -> RefusalKind {
    match code {
        ffi::SQLITE_BUSY_SNAPSHOT => return RefusalKind::Serialization,
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_ROWID => return RefusalKind::Duplicate,
        // The index of the log cannot grow: room is what fails there.
        ffi::SQLITE_IOERR_SHMSIZE => return RefusalKind::DiskFull,
        _ => {}
    }
    match code & 0xff {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => RefusalKind::Busy,
        ffi::SQLITE_CONSTRAINT => RefusalKind::Constraint,
        ffi::SQLITE_FULL => RefusalKind::DiskFull,
        ffi::SQLITE_READONLY => RefusalKind::ReadOnly,
        ffi::SQLITE_INTERRUPT => RefusalKind::Cancelled,
        ffi::SQLITE_NOTADB | ffi::SQLITE_CORRUPT => RefusalKind::Corrupt,
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM | ffi::SQLITE_AUTH => RefusalKind::Denied,
        // SQLite has one number for all that is wrong with a statement.
        ffi::SQLITE_ERROR if is_missing(message) => RefusalKind::Missing,
        ffi::SQLITE_ERROR if message.ends_with(" already exists") => RefusalKind::Exists,
        _ => RefusalKind::Other,
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
        let check = |code: i32, expect: RefusalKind| assert_eq!(kind(code, ""), expect, "{code}");
        check(ffi::SQLITE_BUSY, RefusalKind::Busy);
        check(ffi::SQLITE_BUSY_RECOVERY, RefusalKind::Busy);
        check(ffi::SQLITE_BUSY_SNAPSHOT, RefusalKind::Serialization);
        check(ffi::SQLITE_LOCKED_SHAREDCACHE, RefusalKind::Busy);
        check(ffi::SQLITE_CONSTRAINT_UNIQUE, RefusalKind::Duplicate);
        check(ffi::SQLITE_CONSTRAINT_NOTNULL, RefusalKind::Constraint);
        check(ffi::SQLITE_FULL, RefusalKind::DiskFull);
        check(ffi::SQLITE_READONLY_DBMOVED, RefusalKind::ReadOnly);
        check(ffi::SQLITE_CORRUPT_VTAB, RefusalKind::Corrupt);
        check(ffi::SQLITE_IOERR_SHMSIZE, RefusalKind::DiskFull);
        check(ffi::SQLITE_IOERR_WRITE, RefusalKind::Other);
        check(ffi::SQLITE_CANTOPEN_ISDIR, RefusalKind::Denied);
    }
}
