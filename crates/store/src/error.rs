//! What the store says when it cannot. Not here: when it says so.

use std::fmt;
use std::path::Path;

use rusqlite::ErrorCode;

/// What kind of trouble it is: what a caller branches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such file.
    Missing,
    /// It is a directory, no SQLite file, or a database of somebody else's.
    NotAStore,
    /// A newer dbdyno has written it.
    Newer {
        /// The version of its format.
        found: u32,
        /// The newest version that is known here.
        known: u32,
    },
    /// It is damaged.
    Corrupt,
    /// It may only be read, or not even that.
    ReadOnly,
    /// No space is left for it.
    DiskFull,
    /// Another process holds it for longer than we wait.
    Busy,
    /// A process that lives makes the trials of the experiment.
    Taken,
    /// A run or an experiment goes on, and what is asked for has to wait for its end.
    UnderWay,
    /// No run is called that.
    UnknownRun,
    /// More than one run is called that.
    AmbiguousRun,
    /// Anything else.
    Other,
}

impl StoreErrorKind {
    /// Whether the mistake is in the name of a run or of a file, and not in the store.
    pub fn is_wrong_name(self) -> bool {
        use StoreErrorKind::{AmbiguousRun, Missing, NotAStore, UnknownRun};
        matches!(self, UnknownRun | AmbiguousRun | Missing | NotAStore)
    }
}

/// What went wrong with the store, in one sentence that names the file and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// For whoever branches.
    pub kind: StoreErrorKind,
    /// For whoever reads.
    pub message: String,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {}

/// What to do about a damaged store.
const RESTORE: &str = "restore it from a copy, or move it away to start a new one";
/// What to do about a damaged file that somebody has sent.
const SEND_AGAIN: &str = "have it sent again, or exported again";

impl StoreError {
    pub(super) fn new(kind: StoreErrorKind, message: String) -> StoreError {
        StoreError { kind, message }
    }

    pub(super) fn damaged(path: &Path, what: impl fmt::Display) -> StoreError {
        let message = format!("the store {} is damaged ({what}): {RESTORE}", path.display());
        StoreError::new(StoreErrorKind::Corrupt, message)
    }

    /// The same error about a file that somebody has sent: it has no copy to restore.
    pub(super) fn of_sent(self, path: &Path) -> StoreError {
        let name = path.display();
        let message = self.message.replace(RESTORE, SEND_AGAIN);
        let message = message.replace(&format!("the store {name}"), &name.to_string());
        StoreError { message, ..self }
    }

    /// A file between stores that is not as it was written.
    pub(super) fn damaged_file(path: &Path, what: impl fmt::Display) -> StoreError {
        let message = format!("{} is damaged ({what}): {SEND_AGAIN}", path.display());
        StoreError::new(StoreErrorKind::Corrupt, message)
    }

    /// A newer format, or an event that only a newer dbdyno knows.
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

    /// An older format, where it cannot be brought to ours.
    pub(super) fn older(path: &Path, found: u32, known: u32) -> StoreError {
        let message = format!(
            "the store {} has version {found}, and is read-only, so it cannot be upgraded to \
             version {known}: copy it to a writable folder",
            path.display()
        );
        StoreError::new(StoreErrorKind::ReadOnly, message)
    }

    /// A log that cannot be read, and may hold the newest runs.
    pub(super) fn of_log(path: &Path) -> StoreError {
        let store = path.display();
        let message = format!(
            "the log {store}-wal of the store {store} cannot be read in a read-only folder: copy \
             both to a writable folder"
        );
        StoreError::new(StoreErrorKind::ReadOnly, message)
    }

    /// What SQLite said, in our words.
    pub(super) fn of(path: &Path, error: &rusqlite::Error) -> StoreError {
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

    /// What the file system said when a file was made.
    pub(super) fn of_new(path: &Path, error: &std::io::Error) -> StoreError {
        use std::io::ErrorKind;
        let code = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => rusqlite::ffi::SQLITE_FULL,
            _ => rusqlite::ffi::SQLITE_CANTOPEN,
        };
        let failure = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        StoreError::of(path, &failure)
    }

    /// The same of the file `theirs`, of which the one at `ours` is a copy or will be one.
    pub(super) fn at(self, ours: &Path, theirs: &Path) -> StoreError {
        let (ours, theirs) = (ours.display().to_string(), theirs.display().to_string());
        StoreError { message: self.message.replace(&ours, &theirs), ..self }
    }

    /// What the file system said when the store's folder was made.
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

/// Whether the disk of a file has no room for what SQLite keeps beside it while it reads: 32 KiB
/// (https://www.sqlite.org/walformat.html, the WAL-index file).
fn is_full(path: &Path) -> bool {
    const ROOM: u64 = 32 * 1024;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let room = rustix::fs::statvfs(folder.unwrap_or(Path::new(".")));
    room.is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) < ROOM)
}

/// Whether a file, or the log beside it, has grown to what this process may write.
fn is_at_limit(path: &Path) -> bool {
    /// What is written at once: a page.
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
            let error = StoreError::of(Path::new("/data/runs.sqlite"), &failure);
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
