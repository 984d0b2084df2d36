//! Limits the rate of password attempts per address. The time is an argument.
//!
//! Not here: comparing passwords (auth).

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Number of failed attempts to sign in from which on a client must wait before the next attempt.
const FREE: u32 = 3;
/// First wait before a client may try to sign in again. Each further failure doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait before a client may try to sign in again, so that another user of the same address
/// is not locked out.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Time without failed attempts after which those of an address are forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
/// Maximum number of addresses whose failed attempts to sign in are remembered, which take 100 KiB.
/// Beyond it, the address that failed longest ago is removed.
const PEERS_MAX: usize = 1000;

/// Failed attempts to sign in, by address of the client.
#[derive(Debug, Default)]
pub(super) struct Throttle(HashMap<IpAddr, Failures>);

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Throttle {
    /// Returns the time that the client at `peer` must still wait before it tries to sign in;
    /// `None` if it may try now.
    pub(super) fn wait(&self, peer: IpAddr, now: Instant) -> Option<Duration> {
        let failures = self.0.get(&who(peer))?;
        let beyond = failures.count.checked_sub(FREE)?;
        let wait = FIRST_WAIT.saturating_mul(2u32.saturating_pow(beyond)).min(WAIT_MAX);
        let left = wait.saturating_sub(now.saturating_duration_since(failures.last));
        (!left.is_zero()).then_some(left)
    }

    /// Counts a failed attempt of the client at `peer` to sign in.
    pub(super) fn failed(&mut self, peer: IpAddr, now: Instant) {
        self.0.retain(|_, known| now.saturating_duration_since(known.last) < FORGOTTEN_AFTER);
        let who = who(peer);
        if self.0.len() >= PEERS_MAX && !self.0.contains_key(&who) {
            let oldest = self.0.iter().min_by_key(|(_, known)| known.last).map(|(peer, _)| *peer);
            oldest.map(|oldest| self.0.remove(&oldest));
        }
        let failures = self.0.entry(who).or_insert(Failures { count: 0, last: now });
        *failures = Failures { count: failures.count.saturating_add(1), last: now };
    }

    /// Forgets the failed attempts of the client at `peer` after it has given the right password.
    pub(super) fn succeeded(&mut self, peer: IpAddr) {
        self.0.remove(&who(peer));
    }
}

/// Returns the address under which the attempts of a client are counted. IPv6 addresses count by
/// their /64 network, which has one owner (RFC 6177).
pub(super) fn who(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(peer) => IpAddr::V4(peer),
        IpAddr::V6(peer) => IpAddr::V6((peer.to_bits() & !u128::from(u64::MAX)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "an instant cannot be made otherwise")]
    fn start() -> Instant {
        Instant::now()
    }

    #[test]
    fn whoever_fails_again_and_again_waits_twice_as_long_each_time() {
        let (mut throttle, now) = (Throttle::default(), start());
        let peer: IpAddr = "192.0.2.1".parse().unwrap();
        let mut waits = Vec::new();
        for _ in 0..12 {
            throttle.failed(peer, now);
            waits.push(throttle.wait(peer, now).map_or(0, |wait| wait.as_secs()));
        }
        assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
        assert_eq!(throttle.wait(peer, now + WAIT_MAX), None);
        assert_eq!(throttle.wait("192.0.2.2".parse().unwrap(), now), None);
        throttle.succeeded(peer);
        assert_eq!(throttle.wait(peer, now), None);
    }

    #[test]
    fn a_network_of_version_6_is_one_and_many_addresses_are_not_remembered() {
        let (mut throttle, now) = (Throttle::default(), start());
        for last in 0..5u16 {
            throttle.failed(IpAddr::V6([0x2001, 0xdb8, 0, 0, 0, 0, 0, last].into()), now);
        }
        assert!(throttle.wait("2001:db8::ffff".parse().unwrap(), now).is_some());
        assert_eq!(throttle.wait("2001:db8:1::1".parse().unwrap(), now), None);
        for peer in 0..5000u32 {
            throttle.failed(IpAddr::V4(peer.into()), now + Duration::from_secs(1));
        }
        assert!(throttle.0.len() <= PEERS_MAX);
    }
}
