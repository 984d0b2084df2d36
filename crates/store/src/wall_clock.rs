//! Wall clock of the machine, for heartbeats and time stamps.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a time, in milliseconds since 1970, as text in UTC, such as `2026-01-31 12:00:00`.
pub fn utc(unix_ms: i64) -> String {
    let instant = Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    instant.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Returns the milliseconds since 1970-01-01T00:00:00Z, by the machine's clock.
#[expect(clippy::disallowed_methods, reason = "heartbeats are compared between processes")]
pub(super) fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
