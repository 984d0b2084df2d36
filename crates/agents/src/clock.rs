//! The time of this host, for certificates and the comparison of clocks.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time in nanoseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "certificates expire by the clock of the host")]
pub(crate) fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// Returns the time in seconds since 1970.
pub(crate) fn unix_s() -> u64 {
    unix_ns() / model::NS_PER_S
}
