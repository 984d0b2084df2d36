//! Reliable delivery over a broker that may lose, repeat or reorder messages: each message arrives
//! once and in order. Parts have sequence numbers. The sender keeps them until they are
//! acknowledged, and retransmits after a gap or a timeout (Go-Back-N).
//!
//! Not here: the connection to the broker, and a clock.

use std::collections::VecDeque;

use app::run::MESSAGE_BYTES_MAX;
use model::{NS_PER_MS, NS_PER_S};

use crate::frame::{Frame, PART_BYTES_MAX};

/// Largest number of unacknowledged bytes in flight. A broker disconnects a receiver that is 64 MiB
/// behind.
const IN_FLIGHT_BYTES_MAX: usize = 4 << 20;
/// Retransmission timeout: time without an acknowledgement.
const RETRANSMIT_AFTER_NS: u64 = 500 * NS_PER_MS;
/// Interval of heartbeats, which also repeat the last acknowledgement.
const HEARTBEAT_EVERY_NS: u64 = NS_PER_S;

/// Sending side of a conversation.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Unacknowledged parts, in order; the first one has the sequence number `first`.
    parts: VecDeque<(bool, Vec<u8>)>,
    first: u64,
    /// Number of the part to send next, at least `first`.
    next: u64,
    /// Sum of the bytes in `parts`.
    unacked_bytes: usize,
    unacked_bytes_max: usize,
    in_flight_bytes: usize,
    /// Time of the last acknowledgement, or of the first unacknowledged part.
    progress_ns: u64,
}

/// The outbox cannot keep a further message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Outbox {
    /// Creates an outbox that keeps at most this number of unacknowledged bytes.
    pub(crate) fn new(unacked_bytes_max: usize) -> Outbox {
        Outbox {
            parts: VecDeque::new(),
            first: 0,
            next: 0,
            unacked_bytes: 0,
            unacked_bytes_max,
            in_flight_bytes: 0,
            progress_ns: 0,
        }
    }

    /// Adds a message, to be sent by [`Outbox::take`]. Fails if it would be too much to keep. A
    /// message alone is always kept.
    pub(crate) fn push(&mut self, message: &[u8], now_ns: u64) -> Result<(), Full> {
        if !self.parts.is_empty() && self.unacked_bytes + message.len() > self.unacked_bytes_max {
            return Err(Full);
        }
        if self.parts.is_empty() {
            self.progress_ns = now_ns;
        }
        self.unacked_bytes += message.len();
        let mut chunks = message.chunks(PART_BYTES_MAX).peekable();
        if chunks.peek().is_none() {
            self.parts.push_back((true, Vec::new()));
        }
        while let Some(chunk) = chunks.next() {
            self.parts.push_back((chunks.peek().is_none(), chunk.to_vec()));
        }
        Ok(())
    }

    /// Returns the next part to send now; `None` if all are sent, or too many bytes are in flight.
    pub(crate) fn take(&mut self) -> Option<Frame> {
        let (is_last, bytes) = self.parts.get((self.next - self.first) as usize)?;
        if self.in_flight_bytes > 0 && self.in_flight_bytes + bytes.len() > IN_FLIGHT_BYTES_MAX {
            return None;
        }
        let frame = Frame::Part { number: self.next, is_last: *is_last, bytes: bytes.clone() };
        self.in_flight_bytes += bytes.len();
        self.next += 1;
        Some(frame)
    }

    /// Drops all parts before `next`, which have arrived. Ignores an impossible number.
    pub(crate) fn acknowledge(&mut self, next: u64, now_ns: u64) {
        if next <= self.first || next > self.first + self.parts.len() as u64 {
            return;
        }
        while self.first < next {
            let (_, bytes) = self.parts.pop_front().expect("as many parts as were counted");
            self.unacked_bytes -= bytes.len();
            if self.first < self.next {
                self.in_flight_bytes -= bytes.len();
            }
            self.first += 1;
        }
        self.next = self.next.max(self.first);
        self.progress_ns = now_ns;
    }

    /// Makes [`Outbox::take`] return all unacknowledged parts again, such as after a reconnection.
    pub(crate) fn retransmit(&mut self, now_ns: u64) {
        (self.next, self.in_flight_bytes, self.progress_ns) = (self.first, 0, now_ns);
    }

    /// Retransmits if nothing was acknowledged for half a second.
    pub(crate) fn tick(&mut self, now_ns: u64) {
        if self.next > self.first && now_ns.saturating_sub(self.progress_ns) >= RETRANSMIT_AFTER_NS
        {
            self.retransmit(now_ns);
        }
    }

    /// Whether all messages are acknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Receiving side of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Number of the next part.
    next: u64,
    /// Bytes of the message whose last part has not arrived.
    begun: Vec<u8>,
    /// Whether the present gap was reported, so that it is reported once a second.
    has_nacked: bool,
    heartbeat_ns: u64,
}

/// Effect of a received part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Last part of this message, which is complete. The receiver acknowledges it.
    Message(Vec<u8>),
    /// Part of a message that is not complete. The receiver acknowledges it.
    Incomplete,
    /// Retransmitted part that had arrived. The receiver acknowledges it again.
    Duplicate,
    /// Part after a gap. The receiver sends [`Inbox::nack`].
    Gap,
    /// The message is larger than 256 MiB.
    TooLarge,
}

impl Inbox {
    /// Takes a part of a message.
    pub(crate) fn take(&mut self, number: u64, is_last: bool, bytes: &[u8]) -> Taken {
        match number.cmp(&self.next) {
            std::cmp::Ordering::Less => return Taken::Duplicate,
            std::cmp::Ordering::Greater => return Taken::Gap,
            std::cmp::Ordering::Equal => {}
        }
        if self.begun.len() + bytes.len() > MESSAGE_BYTES_MAX {
            return Taken::TooLarge;
        }
        (self.next, self.has_nacked) = (self.next + 1, false);
        self.begun.extend_from_slice(bytes);
        match is_last {
            true => Taken::Message(std::mem::take(&mut self.begun)),
            false => Taken::Incomplete,
        }
    }

    /// Returns the acknowledgement of all parts so far.
    pub(crate) fn ack(&self) -> Frame {
        Frame::Ack { next: self.next }
    }

    /// Returns the request to retransmit; `None` if the gap was reported less than a second ago.
    pub(crate) fn nack(&mut self) -> Option<Frame> {
        let has_nacked = std::mem::replace(&mut self.has_nacked, true);
        (!has_nacked).then_some(Frame::Nack { next: self.next })
    }

    /// Returns the heartbeat that is due every second, which is an acknowledgement.
    pub(crate) fn tick(&mut self, now_ns: u64) -> Option<Frame> {
        if now_ns.saturating_sub(self.heartbeat_ns) < HEARTBEAT_EVERY_NS {
            return None;
        }
        (self.heartbeat_ns, self.has_nacked) = (now_ns, false);
        Some(self.ack())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Two sides and a broker that does to each frame what `fates` say: deliver, lose, repeat, or
    /// hold it back behind later ones.
    fn deliver(messages: &[Vec<u8>], fates: &[u8]) -> Vec<Vec<u8>> {
        let (mut outbox, mut inbox) = (Outbox::new(usize::MAX), Inbox::default());
        let mut fates = fates.iter().copied().chain(std::iter::repeat(0));
        let mut got = Vec::new();
        let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
        let mut carry = |queue: &mut VecDeque<Frame>, frame: Frame| match fates.next() {
            Some(1) => {}
            Some(2) => queue.extend([frame.clone(), frame]),
            Some(3) => queue.push_front(frame),
            _ => queue.push_back(frame),
        };
        messages.iter().for_each(|message| outbox.push(message, 0).unwrap());
        for step in 0..10_000 {
            let now_ns = step * 100 * NS_PER_MS;
            while let Some(frame) = outbox.take() {
                carry(&mut there, frame);
            }
            while let Some(frame) = there.pop_front() {
                let Frame::Part { number, is_last, bytes } = frame else { unreachable!() };
                let taken = inbox.take(number, is_last, &bytes);
                let answer = match taken {
                    Taken::Message(message) => {
                        got.push(message);
                        Some(inbox.ack())
                    }
                    Taken::Incomplete | Taken::Duplicate => Some(inbox.ack()),
                    Taken::Gap => inbox.nack(),
                    Taken::TooLarge => None,
                };
                answer.into_iter().for_each(|frame| carry(&mut back, frame));
            }
            inbox.tick(now_ns).into_iter().for_each(|frame| carry(&mut back, frame));
            while let Some(frame) = back.pop_front() {
                match frame {
                    Frame::Ack { next } => outbox.acknowledge(next, now_ns),
                    Frame::Nack { next } => {
                        outbox.acknowledge(next, now_ns);
                        outbox.retransmit(now_ns);
                    }
                    _ => unreachable!(),
                }
            }
            outbox.tick(now_ns);
            if outbox.is_empty() {
                break;
            }
        }
        assert!(outbox.is_empty() && outbox.unacked_bytes == 0 && outbox.in_flight_bytes == 0);
        got
    }

    proptest! {
        #[test]
        fn each_message_arrives_once_and_in_order_whatever_the_broker_does(
            sizes in vec(0_usize..700_000, 0..12),
            fates in vec(0_u8..4, 0..80),
        ) {
            let message = |(nth, size): (usize, &usize)| vec![nth as u8; *size];
            let messages: Vec<_> = sizes.iter().enumerate().map(message).collect();
            prop_assert_eq!(deliver(&messages, &fates), messages);
        }
    }

    #[test]
    fn no_more_is_kept_than_allowed_and_no_more_is_on_its_way_than_a_broker_takes() {
        let mut outbox = Outbox::new(10);
        assert_eq!(outbox.push(&[0; 20], 0), Ok(()), "alone");
        assert_eq!(outbox.push(&[0; 1], 0), Err(Full));
        outbox.take().unwrap();
        outbox.acknowledge(1, 1);
        assert_eq!((outbox.push(&[0; 6], 1), outbox.push(&[0; 5], 1)), (Ok(()), Err(Full)));

        let mut outbox = Outbox::new(usize::MAX);
        outbox.push(&vec![0; 3 * IN_FLIGHT_BYTES_MAX], 0).unwrap();
        let sent = std::iter::from_fn(|| outbox.take()).count();
        assert_eq!(sent, IN_FLIGHT_BYTES_MAX / PART_BYTES_MAX);
        outbox.acknowledge(1, 1);
        assert_eq!(std::iter::from_fn(|| outbox.take()).count(), 1);
    }

    #[test]
    fn a_confirmation_that_cannot_be_true_changes_nothing() {
        let mut outbox = Outbox::new(100);
        outbox.push(&[1], 0).unwrap();
        outbox.take().unwrap();
        outbox.acknowledge(9, 5);
        outbox.acknowledge(0, 5);
        assert!(!outbox.is_empty());
        outbox.tick(RETRANSMIT_AFTER_NS);
        assert!(outbox.take().is_some(), "sent again");
    }
}
