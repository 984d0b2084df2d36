//! Errors of the store: their kinds, by which callers branch, and their messages, which name a
//! remedy.

use std::fmt;
use std::path::Path;

use rusqlite::ErrorCode;

/// Kind of a store error, for callers that branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The file of the store, or a file to import, does not exist.
    Missing,
    /// The path is not a store of dbdyno: a directory, a file that is not SQLite's, or another
    /// program's database.
    NotAStore,
    /// The file to import is the store itself.
    ItsOwn,
    /// The store was written by a newer dbdyno.
    Newer {
        /// Format version of the store that was opened.
        found: u32,
        /// Newest format version that this program can read.
        known: u32,
    },
    Corrupt,
    /// The file of the store cannot be written, or cannot even be read.
    ReadOnly,
    DiskFull,
    /// Another process holds the lock of the store's file for longer than the time-out.
    Busy,
    /// Another living process runs the trials of the same experiment, and holds its lock.
    Taken,
    /// A run or an experiment is still running, so that the requested operation is not possible
    /// yet.
    UnderWay,
    /// No run or experiment matches the name that the user gave.
    UnknownRun,
    /// Several runs or experiments match the name that the user gave.
    AmbiguousRun,
    Other,
}

impl StoreErrorKind {
    /// Returns true if the user named a run or file that does not exist, is ambiguous, or is no
    /// store. Errors of other kinds are not the user's mistake.
    pub fn is_wrong_name(self) -> bool {
        use StoreErrorKind::{AmbiguousRun, ItsOwn, Missing, NotAStore, UnknownRun};
        matches!(self, UnknownRun | AmbiguousRun | ItsOwn | Missing | NotAStore)
    }
}

/// An error of the store, with a sentence that names the file and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// Kind of the error, by which callers decide how to react.
    pub kind: StoreErrorKind,
    /// Sentence for the user, with the file and the remedy.
    pub message: String,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {}

/// Last part of the messages on a damaged store: the remedy.
const RESTORE: &str = "restore it from a copy, or move it away to start a new one";
/// Last part of the messages on a damaged file that was received from someone else: the remedy.
const SEND_AGAIN: &str = "have it sent again, or exported again";

impl StoreError {
    pub(super) fn new(kind: StoreErrorKind, message: String) -> StoreError {
        StoreError { kind, message }
    }

    pub(super) fn damaged(path: &Path, what: impl fmt::Display) -> StoreError {
        let message = format!("the store {} is damaged ({what}): {RESTORE}", path.display());
        StoreError::new(StoreErrorKind::Corrupt, message)
    }

    /// Replaces the remedy in the message of an error in a received file: the user has no copy to
    /// restore it from, but can have the file sent again.
    pub(super) fn of_sent(self, path: &Path) -> StoreError {
        let name = path.display();
        let message = self.message.replace(RESTORE, SEND_AGAIN);
        let message = message.replace(&format!("the store {name}"), &name.to_string());
        StoreError { message, ..self }
    }

    /// Returns the error for an exported file that does not match its checksum or format.
    pub(super) fn damaged_file(path: &Path, what: impl fmt::Display) -> StoreError {
        let message = format!("{} is damaged ({what}): {SEND_AGAIN}", path.display());
        StoreError::new(StoreErrorKind::Corrupt, message)
    }

    /// Returns the error for a store of format version `found`, which is above `known`. A version
    /// that no dbdyno writes is reported as damage.
    pub(super) fn newer(path: &Path, found: u32, known: u32) -> StoreError {
        let signed = found.cast_signed();
        if signed < 0 {
            let message = format!(
                "the store {} has version {signed}, which no dbdyno writes: restore it from a copy",
                path.display()
            );
            return StoreError::new(StoreErrorKind::Corrupt, message);
        }
        let message = format!(
            "the store {} has version {found}, and this dbdyno supports versions up to {known}: \
             use a newer dbdyno",
            path.display()
        );
        StoreError::new(StoreErrorKind::Newer { found, known }, message)
    }

    /// Returns the error for a store of an older format that cannot be upgraded, because it is
    /// read-only.
    pub(super) fn older(path: &Path, found: u32, known: u32) -> StoreError {
        let message = format!(
            "the store {} has version {found}, and is read-only, so it cannot be upgraded to \
             version {known}: copy it to a writable folder",
            path.display()
        );
        StoreError::new(StoreErrorKind::ReadOnly, message)
    }

    /// Returns the error for a write-ahead log (WAL) of a store that cannot be read, and may
    /// contain the newest runs.
    pub(super) fn of_log(path: &Path) -> StoreError {
        let store = path.display();
        let message = format!(
            "the log {store}-wal of the store {store} cannot be read in a read-only folder: copy \
             both to a writable folder"
        );
        StoreError::new(StoreErrorKind::ReadOnly, message)
    }

    /// Translates an error of SQLite into an error of the store, whose message has a remedy.
    pub(super) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> StoreError {
        use StoreErrorKind::{Busy, DiskFull, NotAStore, Other, ReadOnly};
        let store = format!("the store {}", path.display());
        let (kind, message) = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (Busy, format!("{store} is locked by another process: retry when it is done"))
            }
            Some(ErrorCode::DiskFull) => (
                DiskFull,
                format!("no disk space is left for {store}: free some, or name another file"),
            ),
            Some(ErrorCode::SystemIoFailure) if is_full(path) => (
                DiskFull,
                format!("no disk space is left beside {store}, which reading needs too: free some"),
            ),
            Some(ErrorCode::SystemIoFailure) if is_at_limit(path) => (
                DiskFull,
                format!("{store} has reached the limit of file sizes (ulimit -f): raise it"),
            ),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => (
                ReadOnly,
                format!("{store} is read-only: make it and its folder writable, or copy it"),
            ),
            Some(ErrorCode::CannotOpen) => (
                ReadOnly,
                format!(
                    "{store} cannot be opened: make it and its folder writable, or copy it to a \
                     writable folder"
                ),
            ),
            Some(ErrorCode::DatabaseCorrupt) => return StoreError::damaged(path, error),
            Some(ErrorCode::NotADatabase) => (
                NotAStore,
                format!("{} is not a store of dbdyno: name another file", path.display()),
            ),
            _ => (Other, format!("{store}: {error}")),
        };
        StoreError::new(kind, message)
    }

    /// Translates an error of the file system at the creation of a store or an export into an error
    /// of the store, whose message has a remedy.
    pub(super) fn of_new(path: &Path, error: &std::io::Error) -> StoreError {
        use std::io::ErrorKind;
        let code = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => rusqlite::ffi::SQLITE_FULL,
            _ => rusqlite::ffi::SQLITE_CANTOPEN,
        };
        let failure = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        StoreError::from_sqlite(path, &failure)
    }

    /// Replaces the path `ours` in the message by `theirs`, the path that the user knows, if the
    /// file at `ours` is a copy or an unfinished version of the file at `theirs`.
    pub(super) fn at(self, ours: &Path, theirs: &Path) -> StoreError {
        let (ours, theirs) = (ours.display().to_string(), theirs.display().to_string());
        StoreError { message: self.message.replace(&ours, &theirs), ..self }
    }

    /// Translates an error of the file system at the creation of the store's folder.
    pub(super) fn of_folder(path: &Path, folder: &Path, error: &std::io::Error) -> StoreError {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreErrorKind::ReadOnly,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreErrorKind::DiskFull,
            _ => StoreErrorKind::Other,
        };
        let is_missing = error.kind() == ErrorKind::NotFound;
        let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
        let remedy = match above.filter(|above| is_missing && !above.exists()) {
            Some(above) => {
                format!(
                    "{} does not exist: mount or create it, or name another file",
                    above.display()
                )
            }
            None => "name another file".to_owned(),
        };
        let message = format!(
            "the folder {} for the store {} cannot be created ({error}): {remedy}",
            folder.display(),
            path.display()
        );
        StoreError::new(kind, message)
    }
}

/// Returns true if the file system has no room for the WAL-index file that SQLite needs to read a
/// store, 32 KiB (https://www.sqlite.org/walformat.html).
fn is_full(path: &Path) -> bool {
    const ROOM: u64 = 32 * 1024;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let room = rustix::fs::statvfs(folder.unwrap_or(Path::new(".")));
    room.is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) < ROOM)
}

/// Returns true if a store, or its WAL, is so large that another write would exceed this process's
/// limit of file sizes.
fn is_at_limit(path: &Path) -> bool {
    /// Distance from this process's limit of file sizes, in bytes, at which a store counts as
    /// having reached the limit.
    const ROOM: u64 = 64 * 1024;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    let bytes = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        std::fs::metadata(name).map_or(0, |file| file.len())
    };
    limit.is_some_and(|limit| ["", "-wal"].iter().any(|end| bytes(end) + ROOM >= limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sqlite_says_is_reported_with_the_file_and_a_remedy() {
        let check = |code: i32, kind: StoreErrorKind| {
            let failure = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let error = StoreError::from_sqlite(Path::new("/data/runs.sqlite"), &failure);
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.message.contains("/data/runs.sqlite"), "{error}");
            assert!(error.message.contains(": "), "no remedy: {error}");
        };
        check(rusqlite::ffi::SQLITE_BUSY, StoreErrorKind::Busy);
        check(rusqlite::ffi::SQLITE_FULL, StoreErrorKind::DiskFull);
        check(rusqlite::ffi::SQLITE_READONLY, StoreErrorKind::ReadOnly);
        check(rusqlite::ffi::SQLITE_CANTOPEN, StoreErrorKind::ReadOnly);
        check(rusqlite::ffi::SQLITE_CORRUPT, StoreErrorKind::Corrupt);
        check(rusqlite::ffi::SQLITE_NOTADB, StoreErrorKind::NotAStore);
        check(rusqlite::ffi::SQLITE_IOERR, StoreErrorKind::Other);
    }
}
