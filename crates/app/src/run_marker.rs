//! Marks a database file as used by a run, so that other runs notice it, also those with another
//! store.
//!
//! The mark is a lock on a separate file, since closing SQLite's own file would release SQLite's
//! locks. The lock ends with the process; the last process removes the file. Each run writes a line
//! into the file, so that a run that goes on longer still knows of those that have ended. Not here:
//! runs of the same store, which are known from its rows (others), and servers (database_mark).

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Suffix that turns the name of a database file into that of the file that marks it as in use.
const SUFFIX: &str = "-dbdyno-run";

/// Largest number of bytes that are read of the file that marks a database as in use: the lines of
/// 10,000 runs. The rest is ignored.
const LINES_MAX: u64 = 1 << 20;

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
        RunMarker::with_suffix(file, SUFFIX)
    }

    /// Marks the tables of a workload in the database in `file`, into which only one run may write.
    /// `None` if the mark cannot be created.
    pub(crate) fn of_tables(file: &Path, workload: &str) -> Option<RunMarker> {
        RunMarker::with_suffix(file, &format!("{SUFFIX}-{workload}"))
    }

    fn with_suffix(file: &Path, suffix: &str) -> Option<RunMarker> {
        let mut name = OsString::from(file.canonicalize().unwrap_or_else(|_| file.to_owned()));
        name.push(suffix);
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&path).ok()?;
        // Only a run that is alone can lock the file exclusively. Afterwards the lock is shared, so
        // that the next run notices.
        let is_alone = match file.try_lock() {
            // Lines of a killed run may be left.
            Ok(()) => file.set_len(0).map(|()| true).ok()?,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => return None,
        };
        file.lock_shared().ok()?;
        Some(RunMarker { file, path, is_alone })
    }

    /// Returns true if no other run used the database when this run started.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Writes `value` for the run with id `run`, in place of an earlier one. Returns the id and the
    /// last value of each run that has used the database since it was last unused.
    pub(crate) fn exchange(&self, run: &str, value: &str) -> io::Result<Vec<(String, String)>> {
        let mut file = &self.file;
        // One write at the end of the file is not torn by those of other processes.
        file.write_all(format!("{run} {value}\n").as_bytes())?;
        file.seek(SeekFrom::Start(0))?;
        let mut text = String::new();
        file.take(LINES_MAX).read_to_string(&mut text)?;
        let mut all: Vec<(String, String)> = Vec::new();
        for (run, value) in text.lines().filter_map(|line| line.split_once(' ')) {
            all.retain(|(earlier, _)| earlier != run);
            all.push((run.to_owned(), value.to_owned()));
        }
        Ok(all)
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

    #[test]
    fn only_one_run_is_alone_in_the_tables_of_a_workload() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("a.db");
        File::create(&database).expect("a file");
        let mark = |workload| RunMarker::of_tables(&database, workload).expect("it is marked");
        let first = mark("tpch");
        assert!(first.is_alone() && mark("events").is_alone() && !mark("tpch").is_alone());
        assert!(RunMarker::beside(&database).is_some_and(|mark| mark.is_alone()));
        drop(first);
        assert!(mark("tpch").is_alone());
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_run_knows_of_those_that_ended_before_it_but_of_none_before_it_was_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("a.db");
        File::create(&database).expect("a file");
        let left = folder.path().join("a.db-dbdyno-run");
        std::fs::write(&left, "killed 0 1\n").expect("a mark that was left");
        let mark = || RunMarker::beside(&database).expect("it is marked");
        let say = |mark: &RunMarker, run, value| {
            let all = mark.exchange(run, value).expect("it can be written");
            all.iter().map(|(run, value)| format!("{run} {value}")).collect::<Vec<_>>()
        };
        let long = mark();
        assert_eq!(say(&long, "long", "1 9"), ["long 1 9"]);
        let short = mark();
        assert_eq!(say(&short, "short", "2 8"), ["long 1 9", "short 2 8"]);
        assert_eq!(say(&short, "short", "2 3"), ["long 1 9", "short 2 3"]);
        drop(short);
        assert_eq!(say(&long, "long", "1 4"), ["short 2 3", "long 1 4"]);
    }
}
