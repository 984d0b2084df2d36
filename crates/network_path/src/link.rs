//! One direction of a network path, shared by all connections: bytes leave in the order in which
//! they came, no faster than the bandwidth, and arrive after the delay.
//!
//! A pure function of time. Not here: sockets.

use crate::clock::NS_PER_S;

/// Limit on the time for which bytes wait before the link sends them, in nanoseconds. Beyond it, no
/// more bytes are read from connections, so that senders are held up. It is longer than a thread
/// takes to wake up, so that the link never idles while there is something to send.
const BACKLOG_NS_MAX: u64 = 5_000_000;
/// Number of pieces per second in which the link sends at full bandwidth, so that connections take
/// turns.
const PIECES_PER_S: u64 = 1_000;
/// Smallest number of bytes that are read from a connection at once: an Ethernet packet.
const PIECE_BYTES_MIN: u64 = 1_500;
/// Largest number of bytes that are read from a connection at once: the read buffer.
pub(crate) const PIECE_BYTES_MAX: usize = 1 << 16;

#[derive(Clone, Debug)]
pub(crate) struct Link {
    delay_ns: u64,
    bytes_per_s: Option<u64>,
    /// Instant at which the link will have sent all bytes put on it so far, in nanoseconds of the
    /// caller's clock.
    free_ns: u64,
    /// Instant at which all bytes put on the link so far will have arrived, in nanoseconds of the
    /// caller's clock.
    due_ns: u64,
}

impl Link {
    pub(crate) fn new(delay_ns: u64, bytes_per_s: Option<u64>) -> Link {
        Link { delay_ns, bytes_per_s, free_ns: 0, due_ns: 0 }
    }

    /// Changes delay and bandwidth. Bytes already on their way arrive when they would have anyway,
    /// and later bytes do not overtake them.
    pub(crate) fn change(&mut self, delay_ns: u64, bytes_per_s: Option<u64>) {
        (self.delay_ns, self.bytes_per_s) = (delay_ns, bytes_per_s);
    }

    /// Puts bytes on the link now, and returns the instant, in nanoseconds of the caller's clock,
    /// at which all of them arrive at the other end. Bytes that have waited since `since_ns` are
    /// sent as from then on, even if the caller woke up late; but they do not arrive before now
    /// plus the delay, since it is unknown when the last of them came.
    pub(crate) fn send(&mut self, now_ns: u64, since_ns: u64, n_bytes: usize) -> u64 {
        let per_s = |per_s| (n_bytes as u128 * u128::from(NS_PER_S)).div_ceil(u128::from(per_s));
        let sending_ns = self.bytes_per_s.map_or(0, per_s) as u64;
        self.free_ns = self.free_ns.max(since_ns.min(now_ns)) + sending_ns;
        self.due_ns = self.due_ns.max(self.free_ns.max(now_ns) + self.delay_ns);
        self.due_ns
    }

    /// Whether so many bytes wait for the link that no more may be read from connections.
    pub(crate) fn is_full(&self, now_ns: u64) -> bool {
        self.free_ns.saturating_sub(now_ns) > BACKLOG_NS_MAX
    }

    /// Returns the instant, in nanoseconds of the caller's clock, from which more bytes may be read
    /// from connections.
    pub(crate) fn has_room_ns(&self) -> u64 {
        self.free_ns.saturating_sub(BACKLOG_NS_MAX)
    }

    /// Returns the largest number of bytes to read from a connection at once: those that the link
    /// sends in a millisecond, within [`PIECE_BYTES_MIN`] and [`PIECE_BYTES_MAX`].
    pub(crate) fn piece_bytes(&self) -> usize {
        let piece = |per_s: u64| (per_s / PIECES_PER_S).max(PIECE_BYTES_MIN) as usize;
        self.bytes_per_s.map_or(PIECE_BYTES_MAX, piece).min(PIECE_BYTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_in_order_after_the_delay_and_within_the_bandwidth() {
        // 1 MB/s is a byte a microsecond.
        let mut link = Link::new(2_000_000, Some(1_000_000));
        assert_eq!(link.send(0, 0, 1_000), 3_000_000);
        // Bytes that come together leave one after the other; later ones do not wait.
        assert_eq!(link.send(0, 0, 500), 3_500_000);
        assert_eq!(link.send(9_000_000, 9_000_000, 1), 11_001_000);
        let mut endless = Link::new(2_000_000, None);
        assert_eq!([endless.send(5, 5, 1 << 30), endless.send(5, 5, 1)], [2_000_005; 2]);
    }

    #[test]
    fn what_is_under_way_is_not_overtaken_when_the_path_changes() {
        let mut link = Link::new(2_000_000, None);
        assert_eq!(link.send(0, 0, 1), 2_000_000);
        link.change(9_000_000, None);
        assert_eq!(link.send(1_000_000, 1_000_000, 1), 10_000_000);
        link.change(2_000_000, None);
        assert_eq!(link.send(2_000_000, 2_000_000, 1), 10_000_000);
        assert_eq!(link.send(9_000_000, 9_000_000, 1), 11_000_000);
    }

    #[test]
    fn a_late_wake_up_costs_no_bandwidth_and_no_delay() {
        let mut link = Link::new(2_000_000, Some(1_000_000));
        link.send(0, 0, 1_000);
        // The bytes wait from the beginning, and are taken 9 ms after they could have left.
        assert_eq!(link.send(10_000_000, 0, 1_000), 12_000_000);
        assert_eq!(link.send(10_000_000, 0, 9_000), 13_000_000);
    }

    #[test]
    fn no_more_is_taken_than_leaves_within_the_backlog() {
        let mut link = Link::new(0, Some(1_000_000));
        assert!(!link.is_full(0));
        link.send(0, 0, 6_000);
        assert!(link.is_full(0) && link.has_room_ns() == 1_000_000 && !link.is_full(1_000_000));
        assert_eq!(link.piece_bytes(), 1_500);
        assert_eq!(Link::new(0, Some(10_000_000)).piece_bytes(), 10_000);
        assert_eq!(Link::new(0, Some(u64::MAX)).piece_bytes(), PIECE_BYTES_MAX);
    }
}
