//! Progress of a build for the process that measures it: rows, bytes, chunks, and errors.
//!
//! Not here: the evaluation (run), and the build itself (build, load).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use model::{DbError, Traffic, Value};
use monitor::wall_clock;

/// Progress of a build, written by its loaders.
pub(crate) struct BuildLog {
    /// Start of the build: times are measured from it.
    began: Instant,
    rows: AtomicU64,
    bytes: AtomicU64,
    events: Mutex<Vec<BuildEvent>>,
}

/// An event of a build.
#[derive(Clone, Debug)]
pub(crate) enum BuildEvent {
    /// A chunk and its mark are committed.
    Chunk(ChunkDone),
    /// Database error, with its time in nanoseconds since the start of the build.
    Refused(u64, DbError),
}

/// A chunk whose rows are committed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkDone {
    /// Index of the table.
    pub(crate) table: usize,
    /// Start, in nanoseconds since the start of the build.
    pub(crate) started_ns: u64,
    /// Commit, in nanoseconds since the start of the build.
    pub(crate) finished_ns: u64,
    /// Attempts after the first.
    pub(crate) retries: u32,
    /// Traffic of its loader's connection for it.
    pub(crate) traffic: Traffic,
}

impl BuildLog {
    /// Starts a log now.
    pub(crate) fn begin() -> BuildLog {
        let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        BuildLog { began: wall_clock::now(), rows, bytes, events: Mutex::default() }
    }

    /// Nanoseconds since the start.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Rows sent to the database, including those of failed attempts.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Bytes of the values of these rows: text as it is, numbers and instants with eight.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Adds rows and the bytes of their values.
    pub(crate) fn add(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, event: BuildEvent) {
        self.lock().push(event);
    }

    /// Takes the events since the last call.
    pub(crate) fn take(&self) -> Vec<BuildEvent> {
        std::mem::take(&mut *self.lock())
    }

    /// Locks the events; they are consistent even after a panic.
    fn lock(&self) -> MutexGuard<'_, Vec<BuildEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Size of a value in bytes, independent of a protocol.
pub(crate) fn value_bytes(value: &Value<'_>) -> u64 {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Float(_) | Value::Decimal { .. } | Value::Timestamp(_) => 8,
        Value::Date(_) => 4,
        Value::Text(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
    }
}
