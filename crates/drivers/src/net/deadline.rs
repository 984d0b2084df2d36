//! A limit of real time over several waits of a thread, such as those of one connection attempt.
//! Not here: event loops, which have a clock.

use std::io;
use std::time::{Duration, Instant};

/// When one has no patience any more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Instant);

impl Deadline {
    /// So long from now on.
    #[expect(clippy::disallowed_methods, reason = "the kernel waits in real time")]
    pub(super) fn after(limit: Duration) -> Deadline {
        let now = Instant::now();
        // Nobody waits for a year; an instant beyond the clock's end is none.
        Deadline(now.checked_add(limit).unwrap_or(now + Duration::from_secs(365 * 86_400)))
    }

    /// What is left of it; an error if nothing is.
    #[expect(clippy::disallowed_methods, reason = "the kernel waits in real time")]
    pub(super) fn left(self) -> io::Result<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        // The kernel takes a timeout of less than a microsecond for none.
        match left < Duration::from_micros(1) {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }
}
