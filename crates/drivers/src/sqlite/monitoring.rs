//! What SQLite counts by connection, added up over all sessions: their page caches. And how large
//! the files are.
//!
//! A connection's numbers can be asked for by its own thread alone, so each session tells them now
//! and then, between two requests. Source: sqlite.org/c3ref/c_dbstatus_options.html. Not here: the
//! pages of connections that are not sessions of this target.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Counter, Counters, Monitoring, Reading};
use rusqlite::{Connection, ffi};

use super::location::Location;

/// A session tells its numbers after so many requests: each time costs some tenths of a
/// microsecond, so a request some hundredths.
const REQUESTS_BETWEEN: u32 = 16;

pub(super) const MONITORING: Monitoring = Monitoring {
    counters: Some(Counters {
        ask: |_| Vec::new(),
        chosen: CHOSEN,
        reading: |_| (Reading::Total, "1/s"),
    }),
    ..Monitoring::NONE
};

const fn pages(name: &'static str, help: &'static str) -> Counter {
    Counter { name, reading: Reading::Total, unit: "1/s", help }
}

const fn bytes(name: &'static str, help: &'static str) -> Counter {
    Counter { name, reading: Reading::Level, unit: "B", help }
}

const CHOSEN: &[Counter] = &[
    pages("cache_hits", "Pages found in the page caches of the sessions."),
    pages(
        "cache_misses",
        "Pages read because they were not in the page caches, from the system's cache or from \
         disk.",
    ),
    pages("cache_writes", "Pages written from the caches, to the log or the file."),
    pages("cache_spills", "Pages written during a transaction because the cache was full."),
    bytes("wal_bytes", "The size of the write-ahead log's file."),
    bytes("file_bytes", "The size of the database's file."),
];

/// In the order of the first of [`CHOSEN`].
const OPERATIONS: [i32; 4] = [
    ffi::SQLITE_DBSTATUS_CACHE_HIT,
    ffi::SQLITE_DBSTATUS_CACHE_MISS,
    ffi::SQLITE_DBSTATUS_CACHE_WRITE,
    ffi::SQLITE_DBSTATUS_CACHE_SPILL,
];

/// What all sessions have reported.
#[derive(Debug, Default)]
pub(super) struct Caches([AtomicU64; 4]);

impl Caches {
    fn add(&self, connection: &Connection) {
        for (sum, operation) in self.0.iter().zip(OPERATIONS) {
            sum.fetch_add(taken(connection, operation), Ordering::Relaxed);
        }
    }

    /// By name, with the sizes of the files of a database that is one.
    pub(super) fn counters(&self, location: &Location) -> Vec<(&'static str, f64)> {
        let sums = self.0.iter().map(|sum| sum.load(Ordering::Relaxed) as f64);
        let names = CHOSEN.iter().map(|counter| counter.name);
        let mut shown: Vec<(&'static str, f64)> = names.zip(sums).collect();
        if let Location::File(path) = location {
            let mut log = path.as_os_str().to_owned();
            log.push("-wal");
            for (name, path) in [("wal_bytes", Path::new(&log)), ("file_bytes", path)] {
                // There is no log in other journal modes.
                shown.extend(fs::metadata(path).ok().map(|found| (name, found.len() as f64)));
            }
        }
        shown
    }
}

/// When a session tells its numbers.
#[derive(Debug, Default)]
pub(super) struct Turns(u32);

impl Turns {
    /// A request was carried out on a session's connection.
    #[inline]
    pub(super) fn count(&mut self, caches: &Caches, connection: &Connection) {
        self.0 += 1;
        if self.0 >= REQUESTS_BETWEEN {
            self.0 = 0;
            caches.add(connection);
        }
    }
}

/// What a connection has counted since this was asked last.
#[allow(unsafe_code)]
fn taken(connection: &Connection, operation: i32) -> u64 {
    let (mut current, mut highest) = (0_i64, 0_i64);
    // SAFETY: the handle is that of a connection which is open and lent to us, so no other thread
    // uses it; both places are our own for the time of the call.
    let code = unsafe {
        ffi::sqlite3_db_status64(connection.handle(), operation, &mut current, &mut highest, 1)
    };
    if code == ffi::SQLITE_OK { u64::try_from(current).unwrap_or(0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_once_and_reported_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE t (a)").unwrap();
        let (caches, mut turns) = (Caches::default(), Turns::default());
        for n in 0..REQUESTS_BETWEEN {
            connection.execute("INSERT INTO t VALUES (?)", [n]).unwrap();
            turns.count(&caches, &connection);
        }
        let location = Location::File(path);
        let shown = caches.counters(&location);
        let value = |name: &str| shown.iter().find(|(known, _)| *known == name).map(|(_, n)| *n);
        assert!(value("cache_hits") > Some(0.0), "{shown:?}");
        assert!(value("cache_writes") >= Some(f64::from(REQUESTS_BETWEEN)), "{shown:?}");
        assert_eq!(value("cache_spills"), Some(0.0));
        assert!(value("wal_bytes") > Some(0.0) && value("file_bytes") > Some(0.0), "{shown:?}");
        // What was reported is not reported again.
        caches.add(&connection);
        assert_eq!(caches.counters(&location), shown);
        let memory = Location::Memory("/x".to_owned());
        assert_eq!(caches.counters(&memory).len(), OPERATIONS.len());
    }
}
