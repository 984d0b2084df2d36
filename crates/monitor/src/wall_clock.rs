//! Wall clock for reports and waits, never for measurements.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Returns the current instant, for durations in reports and for waits.
#[expect(clippy::disallowed_methods, reason = "builds are timed for people, outside any run")]
pub fn now() -> Instant {
    Instant::now()
}

/// Sleeps for at most `ms` milliseconds, outside of any run. The sleep may end early.
pub fn rest_ms(ms: u64) {
    std::thread::park_timeout(std::time::Duration::from_millis(ms));
}

pub fn unix_ms() -> i64 {
    (unix_ns() / 1_000_000) as i64
}

/// Returns the time of day in nanoseconds since 1970, for dates and the comparison of clocks.
#[expect(clippy::disallowed_methods, reason = "a run is dated once, when it begins")]
pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// Returns the nanoseconds from `start` to `instant`; negative if `instant` is before `start`.
pub fn since(start: Instant, instant: Instant) -> i64 {
    match instant.checked_duration_since(start) {
        Some(after) => after.as_nanos() as i64,
        None => -(start.duration_since(instant).as_nanos() as i64),
    }
}
