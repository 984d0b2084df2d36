//! The mark of a run beside a database that is a file: another run sees it, whichever store it
//! writes to.
//!
//! It is a lock on a file of its own, since closing SQLite's own file would let go of SQLite's
//! locks. It ends with the process; whoever is the last removes the file. Not here: runs of the
//! same store, which are known from its rows; servers, whose runs nothing marks.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// What the name of the file ends with.
const SUFFIX: &str = "-dbdyno-run";

/// Held while a run uses the database.
pub(crate) struct RunMarker {
    file: File,
    path: PathBuf,
    is_alone: bool,
}

impl RunMarker {
    /// Marks the database in `file`; none where no file can be made beside it: a mark is a
    /// courtesy, and no run fails for the lack of it.
    pub(crate) fn beside(file: &Path) -> Option<RunMarker> {
        let mut name = OsString::from(file.canonicalize().unwrap_or_else(|_| file.to_owned()));
        name.push(SUFFIX);
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path).ok()?;
        // Who is alone can have it all. Then it is shared, so that the next one sees it.
        let is_alone = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => return None,
        };
        file.lock_shared().ok()?;
        Some(RunMarker { file, path, is_alone })
    }

    /// Whether no other run used the database when this one began.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }
}

impl Drop for RunMarker {
    fn drop(&mut self) {
        if self.file.try_lock().is_ok() {
            // What cannot be removed is found again by the next run, and marks nothing by itself.
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
