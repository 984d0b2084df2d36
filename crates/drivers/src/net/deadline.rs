//! A common time limit, in real time, for several waits of a thread, such as those of one attempt
//! to connect. Not here: event loops, which have a clock.

use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// An instant at which a wait must end, as a time of the kernel's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Duration);

impl Deadline {
    /// Creates a deadline that expires after `limit` from now.
    pub(super) fn after(limit: Duration) -> Deadline {
        Deadline(now().saturating_add(limit))
    }

    /// Returns the time that remains until the deadline. Fails with a timeout if it has passed.
    pub(super) fn left(self) -> io::Result<Duration> {
        let left = self.0.saturating_sub(now());
        // The kernel treats a timeout below a microsecond as none.
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
