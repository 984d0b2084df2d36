//! Log of a build of data in progress: rows, bytes, committed chunks, and errors. A run that
//! measures the build reads it.
//!
//! Not here: the evaluation (run), and the build itself (build, load).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use model::{DbError, Traffic, Value};
use monitor::wall_clock;

/// Log in which the loaders of a build count rows and report events, so that the build can be
/// measured and stored like a run.
pub(crate) struct BuildLog {
    /// Start of the build, from which all times of the log are measured.
    began: Instant,
    rows: AtomicU64,
    bytes: AtomicU64,
    events: Mutex<Vec<BuildEvent>>,
}

/// An event that a loader of a build reports.
#[derive(Clone, Debug)]
pub(crate) enum BuildEvent {
    /// The rows of a chunk and its mark in `dbdyno_meta` were committed.
    Chunk(ChunkDone),
    /// A loader received this database error, at this time in nanoseconds since the start of the
    /// build.
    Refused(u64, DbError),
}

/// A chunk of rows that a loader committed, with its times and traffic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkDone {
    /// Index of the chunk's table in the workload's list of tables.
    pub(crate) table: usize,
    /// Start of the first attempt, in nanoseconds since the start of the build.
    pub(crate) started_ns: u64,
    /// Time of the commit, in nanoseconds since the start of the build.
    pub(crate) finished_ns: u64,
    /// Number of attempts at loading the chunk after the first one.
    pub(crate) retries: u32,
    /// Statements, round trips and bytes of the loader's connection while it loaded the chunk.
    pub(crate) traffic: Traffic,
}

impl BuildLog {
    pub(crate) fn begin() -> BuildLog {
        let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        BuildLog { began: wall_clock::now(), rows, bytes, events: Mutex::default() }
    }

    /// Returns the nanoseconds since the start of the build.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the number of rows sent to the database, including those of failed attempts.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the values of all rows in [`BuildLog::rows`], as counted by
    /// [`value_bytes`].
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts rows that were sent to the database, and the bytes of their values.
    pub(crate) fn add(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, event: BuildEvent) {
        self.lock().push(event);
    }

    /// Removes and returns the events that were reported since the last call.
    pub(crate) fn take(&self) -> Vec<BuildEvent> {
        std::mem::take(&mut *self.lock())
    }

    /// Locks the list of events, even if a thread has panicked while it held the lock: the events
    /// are consistent then too.
    fn lock(&self) -> MutexGuard<'_, Vec<BuildEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the size of a value in bytes, independent of any wire protocol: the length of text and
/// bytes, 8 for numbers and timestamps, 4 for dates, 0 for NULL.
pub(crate) fn value_bytes(value: &Value<'_>) -> u64 {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Float(_) | Value::Decimal { .. } | Value::Timestamp(_) => 8,
        Value::Date(_) => 4,
        Value::Text(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
    }
}
