//! Helpers of the examples: a clock that stands still, and running futures that block. Not here:
//! the measurements.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use model::{Clock, Placement, Woken};

/// A clock that always shows 0, since drivers need it only for time limits. With blocking sessions
/// every wait ends at once; on event loops no wait ever ends, so that no time limit is reached.
pub(crate) struct StillClock(pub(crate) Placement);

impl Clock for StillClock {
    fn now(&self) -> u64 {
        0
    }

    fn poll_until(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(Woken::Due)
    }

    fn poll_through(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        match self.0 {
            Placement::Loop => Poll::Pending,
            Placement::Thread | Placement::Simulated => Poll::Ready(Woken::Due),
        }
    }
}

/// Runs a future of a blocking session to its end. Panics if it returns `Pending`.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("on a thread nothing is pending"),
    }
}
