//! Helpers of the workloads' tests: a clock, and execution of futures that never wait.
//!
//! Not here: any database.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use model::{Clock, Number, Target, Woken};

/// A clock that advances by a millisecond each time it is read.
#[derive(Default)]
pub(crate) struct Ticks(Cell<u64>);

impl Clock for Ticks {
    fn now(&self) -> u64 {
        self.0.set(self.0.get() + 1_000_000);
        self.0.get()
    }

    fn poll_until(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(Woken::Due)
    }

    fn poll_through(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(Woken::Due)
    }
}

/// Runs a future that never waits. Panics if it returns `Pending`.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a blocking session is never pending"),
    }
}

pub(crate) fn of_client(client: u32, nth: u64) -> Number {
    Number::OfClient { client, nth }
}

/// Returns the target of a new database of DuckDB in memory, with the library that was fetched for
/// the tests.
pub(crate) fn duckdb_in_memory() -> Target {
    let library = servers::for_tests::fetched("duckdb-1.5/libduckdb.so");
    let target = Target::parse("duckdb::memory:").expect("valid");
    target.with_default("library", &library.to_string_lossy())
}
