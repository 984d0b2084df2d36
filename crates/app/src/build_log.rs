//! What a build has done until now, for whoever measures it beside: rows, bytes and chunks, and
//! what was refused.
//!
//! Not here: what becomes of that (run), and the build itself (build, load).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use model::{DbError, Traffic, Value};
use monitor::wall_clock;

/// What a build has done. Its loaders write, others read.
pub(crate) struct BuildLog {
    /// The instant that it counts from.
    began: Instant,
    rows: AtomicU64,
    bytes: AtomicU64,
    events: Mutex<Vec<BuildEvent>>,
}

/// Something that happened in a build.
#[derive(Clone, Debug)]
pub(crate) enum BuildEvent {
    /// A chunk and its mark are committed.
    Chunk(ChunkDone),
    /// The database refused something, at so many nanoseconds.
    Refused(u64, DbError),
}

/// A chunk that is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkDone {
    /// Of which table, by its place.
    pub(crate) table: usize,
    /// When it was begun, in nanoseconds from the beginning of the build.
    pub(crate) started_ns: u64,
    /// When it was committed.
    pub(crate) finished_ns: u64,
    /// Attempts beyond the first.
    pub(crate) retries: u32,
    /// What its loader's connection has moved for it.
    pub(crate) traffic: Traffic,
}

impl BuildLog {
    /// Of a build that begins now.
    pub(crate) fn begin() -> BuildLog {
        let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        BuildLog { began: wall_clock::now(), rows, bytes, events: Mutex::default() }
    }

    /// Nanoseconds since its beginning.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Rows handed to the database, those of attempts that failed too.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// The bytes of their values: text as it is, numbers and instants with eight.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts rows with the bytes of their values.
    pub(crate) fn add(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, event: BuildEvent) {
        self.lock().push(event);
    }

    /// What happened since this was asked last.
    pub(crate) fn take(&self) -> Vec<BuildEvent> {
        std::mem::take(&mut *self.lock())
    }

    /// No panic can leave the list half changed.
    fn lock(&self) -> MutexGuard<'_, Vec<BuildEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many bytes a value has, however a protocol writes it.
pub(crate) fn value_bytes(value: &Value<'_>) -> u64 {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Float(_) | Value::Decimal { .. } | Value::Timestamp(_) => 8,
        Value::Date(_) => 4,
        Value::Text(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
    }
}
