//! The time of day and of waiting, for what is reported and never for what is measured.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// An instant, to tell how long something took.
#[expect(clippy::disallowed_methods, reason = "builds are timed for people, outside any run")]
pub fn now() -> Instant {
    Instant::now()
}

/// Waits at most so long, beside any run; it may be less.
pub fn rest_ms(ms: u64) {
    std::thread::park_timeout(std::time::Duration::from_millis(ms));
}

/// Milliseconds since 1970-01-01T00:00:00Z.
#[expect(clippy::disallowed_methods, reason = "a run is dated once, when it begins")]
pub fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// Nanoseconds from one instant to another; negative if that was before.
pub fn since(start: Instant, instant: Instant) -> i64 {
    match instant.checked_duration_since(start) {
        Some(after) => after.as_nanos() as i64,
        None => -(start.duration_since(instant).as_nanos() as i64),
    }
}
