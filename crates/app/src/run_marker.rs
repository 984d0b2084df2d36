//! Marks a database file as used by a run, so that other runs notice it, also those with another
//! store.
//!
//! The mark is a lock on a separate file, since closing SQLite's own file would release SQLite's
//! locks. It ends with the process; the last one removes the file. Not here: runs of the same
//! store, which are known from its rows (others), and servers (database_mark).

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// Suffix that turns the name of a database file into that of the file that marks it as in use.
const SUFFIX: &str = "-dbdyno-run";

/// Mark on a database file, held while a run uses it.
pub(crate) struct RunMarker {
    file: File,
    path: PathBuf,
    is_alone: bool,
}

impl RunMarker {
    /// Marks the database in `file`. `None` if the mark cannot be created, since no run should fail
    /// for lack of a mark.
    pub(crate) fn beside(file: &Path) -> Option<RunMarker> {
        let mut name = OsString::from(file.canonicalize().unwrap_or_else(|_| file.to_owned()));
        name.push(SUFFIX);
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path).ok()?;
        // Only a run that is alone can lock the file exclusively. Afterwards the lock is shared, so
        // that the next run notices.
        let is_alone = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => return None,
        };
        file.lock_shared().ok()?;
        Some(RunMarker { file, path, is_alone })
    }

    /// Whether no other run used the database when this one started.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }
}

impl Drop for RunMarker {
    fn drop(&mut self) {
        if self.file.try_lock().is_ok() {
            // If the file cannot be removed, the next run does that; without a lock it marks
            // nothing.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_sees_another_one_and_the_last_removes_the_mark() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("a.db");
        File::create(&database).expect("a file");
        let mark = || RunMarker::beside(&database).expect("it is marked");
        let first = mark();
        let second = mark();
        assert_eq!([first.is_alone(), second.is_alone()], [true, false]);
        drop(first);
        let third = mark();
        assert!(!third.is_alone(), "the second goes on");
        drop((second, third));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
        assert!(mark().is_alone());
        assert!(RunMarker::beside(Path::new("/proc/none/a.db")).is_none());
    }
}
