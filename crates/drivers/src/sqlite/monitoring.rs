//! Counters of SQLite: those of the page caches, summed over all sessions, and the sizes of the
//! database files.
//!
//! A connection's counters can be read only on the thread that uses it, so each session adds them
//! to the sums now and then, between two requests. Source:
//! sqlite.org/c3ref/c_dbstatus_options.html. Not here: page caches of connections outside of
//! dbdyno.

use std::sync::atomic::{AtomicU64, Ordering};

use model::{Counter, Counters, Monitoring, Reading};
use rusqlite::{Connection, ffi};

use crate::embedded::location::{FILE_SIZES, Location};

/// Number of requests after which a session adds its connection's counters to the sums. Doing so
/// takes tenths of a microsecond, so hundredths per request.
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

const CHOSEN: &[Counter] = &[
    pages("cache_hits", "Pages found in the page caches of the sessions."),
    pages(
        "cache_misses",
        "Pages read because they were not in the page caches, from the system's cache or from \
         disk.",
    ),
    pages("cache_writes", "Pages written from the caches, to the log or the file."),
    pages("cache_spills", "Pages written during a transaction because the cache was full."),
    FILE_SIZES[0],
    FILE_SIZES[1],
];

/// Numbers by which SQLite identifies the first four counters in [`CHOSEN`], in the same order.
const OPERATIONS: [i32; 4] = [
    ffi::SQLITE_DBSTATUS_CACHE_HIT,
    ffi::SQLITE_DBSTATUS_CACHE_MISS,
    ffi::SQLITE_DBSTATUS_CACHE_WRITE,
    ffi::SQLITE_DBSTATUS_CACHE_SPILL,
];

/// Sums of the page cache counters over all sessions, such as cache hits, in the order of
/// [`OPERATIONS`].
#[derive(Debug, Default)]
pub(super) struct Caches([AtomicU64; 4]);

impl Caches {
    fn add(&self, connection: &Connection) {
        for (sum, operation) in self.0.iter().zip(OPERATIONS) {
            sum.fetch_add(taken(connection, operation), Ordering::Relaxed);
        }
    }

    /// Returns all counters as pairs of name and value: page cache counters summed over all
    /// sessions, and the sizes of the database files that exist, in bytes.
    pub(super) fn counters(&self, location: &Location) -> Vec<(&'static str, f64)> {
        let sums = self.0.iter().map(|sum| sum.load(Ordering::Relaxed) as f64);
        let names = CHOSEN.iter().map(|counter| counter.name);
        let mut shown: Vec<(&'static str, f64)> = names.zip(sums).collect();
        // Journal modes other than `wal` have no log.
        shown.extend(location.file_sizes("-wal"));
        shown
    }
}

/// Number of requests of a session since it last added its connection's counters to the sums.
#[derive(Debug, Default)]
pub(super) struct Turns(u32);

impl Turns {
    /// Counts a request of a session. At every 16th request, adds the counters of `connection` to
    /// the sums in `caches`.
    #[inline]
    pub(super) fn count(&mut self, caches: &Caches, connection: &Connection) {
        self.0 += 1;
        if self.0 >= REQUESTS_BETWEEN {
            self.0 = 0;
            caches.add(connection);
        }
    }
}

/// Returns the value of a connection's counter and resets it to 0. `operation` is SQLite's number
/// of the counter.
#[allow(unsafe_code)]
fn taken(connection: &Connection, operation: i32) -> u64 {
    let (mut current, mut highest) = (0_i64, 0_i64);
    // SAFETY: the handle belongs to an open connection that is lent to us, so no other thread uses
    // it; both variables are ours during the call.
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
        // Increments already reported are not reported again.
        caches.add(&connection);
        assert_eq!(caches.counters(&location), shown);
        let memory = Location::Memory(0);
        assert_eq!(caches.counters(&memory).len(), OPERATIONS.len());
    }
}
