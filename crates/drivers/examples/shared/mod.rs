//! What the examples lean on: a clock that stands still, and driving what blocks instead of
//! waiting. Not here: what they measure.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use model::{Clock, Placement, Woken};

/// Time stands still: a driver waits for its server only. On a thread whatever is waited for is
/// due at once; on an event loop it never is, since what waits there for the clock is a limit.
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

/// Drives what never waits otherwise than by blocking.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("on a thread nothing is pending"),
    }
}
