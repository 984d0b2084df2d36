//! A limit of real time over several waits of a thread, such as those of one connection attempt.
//! Not here: event loops, which have a clock.

use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// When one has no patience any more, on the kernel's monotonic clock, in which it waits too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Duration);

impl Deadline {
    /// So long from now on.
    pub(super) fn after(limit: Duration) -> Deadline {
        Deadline(now().saturating_add(limit))
    }

    /// What is left of it; an error if nothing is.
    pub(super) fn left(self) -> io::Result<Duration> {
        let left = self.0.saturating_sub(now());
        // The kernel takes a timeout of less than a microsecond for none.
        match left < Duration::from_micros(1) {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }
}

fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
