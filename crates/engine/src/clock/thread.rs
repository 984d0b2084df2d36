//! The clock of a thread, which sleeps with an absolute deadline on a futex, the state word of the
//! run.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::task::{Context, Poll};

use model::{Clock, Signal, Woken};
use rustix::thread::futex;

use super::Origin;
use crate::stop::{ABORTED, RUNNING, Stop};

/// Clock of real time for a client that has a thread of its own and blocks it while waiting.
pub struct ThreadClock {
    origin: Origin,
    stop: Arc<Stop>,
}

impl ThreadClock {
    pub(crate) fn new(origin: Origin, stop: Arc<Stop>) -> ThreadClock {
        ThreadClock { origin, stop }
    }

    /// Creates a clock whose time 0 is now, and whose waits are never interrupted by the stop of a
    /// run.
    pub fn unstopped() -> ThreadClock {
        ThreadClock::new(Origin::now(), Arc::new(Stop::default()))
    }

    fn sleep(&self, instant_ns: u64, goes_on: impl Fn(u32) -> bool) -> Woken {
        loop {
            if self.now() >= instant_ns {
                return Woken::Due;
            }
            let word = self.stop.word();
            if !goes_on(word) {
                return Woken::Stopped;
            }
            let deadline = self.origin.timespec(instant_ns);
            // The loop checks again whether the sleep ended by a wake-up, a time-out, a changed
            // word or a signal.
            let _ = futex::wait_bitset(
                self.stop.futex(),
                futex::Flags::PRIVATE,
                word,
                Some(&deadline),
                NonZeroU32::MAX,
            );
        }
    }
}

impl Clock for ThreadClock {
    fn now(&self) -> u64 {
        self.origin.elapsed_ns()
    }

    fn origin_unix_ns(&self) -> u64 {
        self.stop.common_unix_ns(self.origin.unix_ns())
    }

    fn poll_until(&self, instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(self.sleep(instant_ns, |word| word == RUNNING))
    }

    fn poll_signal(&self, signal: &Signal, seen: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        // A stop raises the signal after it sets the word.
        signal.block(seen, || self.stop.word() != RUNNING);
        Poll::Ready(self.stop.woken())
    }

    fn poll_through(&self, instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(self.sleep(instant_ns, |word| word != ABORTED))
    }
}
