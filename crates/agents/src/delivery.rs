//! Delivery of messages over a broker that may lose, repeat or reorder what it carries: each
//! arrives once and in order. Parts are numbered, kept until the other side has confirmed them, and
//! sent again when one is missing or nothing is confirmed for a while ("go back n").
//!
//! Not here: the connection to the broker, and a clock.

use std::collections::VecDeque;

use model::{NS_PER_MS, NS_PER_S};

use crate::frame::{Frame, PART_BYTES_MAX};

/// Largest number of bytes that are on their way and not confirmed. A broker disconnects a receiver
/// that is 64 MiB behind.
const ON_THE_WAY_BYTES_MAX: usize = 4 << 20;
/// Time after which parts that are not confirmed are sent again.
const AGAIN_AFTER_NS: u64 = 500 * NS_PER_MS;
/// Interval of signs of life.
const SIGN_EVERY_NS: u64 = NS_PER_S;
/// Largest size of a received message; a larger one ends the conversation.
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Sending side of a conversation.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Parts that are not confirmed, in order; the first one has the number `first`.
    parts: VecDeque<(bool, Vec<u8>)>,
    first: u64,
    /// Number of the part to send next, at least `first`.
    next: u64,
    /// Sum of the bytes in `parts`.
    kept_bytes: usize,
    kept_bytes_max: usize,
    on_the_way_bytes: usize,
    /// Time of the last confirmation, or of the first part that is not confirmed.
    progress_ns: u64,
}

/// The outbox cannot keep a further message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Outbox {
    /// Creates an outbox that keeps at most this number of bytes that are not confirmed.
    pub(crate) fn new(kept_bytes_max: usize) -> Outbox {
        Outbox {
            parts: VecDeque::new(),
            first: 0,
            next: 0,
            kept_bytes: 0,
            kept_bytes_max,
            on_the_way_bytes: 0,
            progress_ns: 0,
        }
    }

    /// Adds a message, to be sent by [`Outbox::take`]. Fails if it would be too much to keep. A
    /// message alone is always kept.
    pub(crate) fn push(&mut self, message: &[u8], now_ns: u64) -> Result<(), Full> {
        if !self.parts.is_empty() && self.kept_bytes + message.len() > self.kept_bytes_max {
            return Err(Full);
        }
        if self.parts.is_empty() {
            self.progress_ns = now_ns;
        }
        self.kept_bytes += message.len();
        let mut chunks = message.chunks(PART_BYTES_MAX).peekable();
        if chunks.peek().is_none() {
            self.parts.push_back((true, Vec::new()));
        }
        while let Some(chunk) = chunks.next() {
            self.parts.push_back((chunks.peek().is_none(), chunk.to_vec()));
        }
        Ok(())
    }

    /// Returns the next part to send now; `None` if all are sent, or too many are on their way.
    pub(crate) fn take(&mut self) -> Option<Frame> {
        let (is_last, bytes) = self.parts.get((self.next - self.first) as usize)?;
        if self.on_the_way_bytes > 0 && self.on_the_way_bytes + bytes.len() > ON_THE_WAY_BYTES_MAX {
            return None;
        }
        let frame = Frame::Part { number: self.next, is_last: *is_last, bytes: bytes.clone() };
        self.on_the_way_bytes += bytes.len();
        self.next += 1;
        Some(frame)
    }

    /// Notes that all parts before `next` have arrived. Ignores a number that cannot be true.
    pub(crate) fn confirm(&mut self, next: u64, now_ns: u64) {
        if next <= self.first || next > self.first + self.parts.len() as u64 {
            return;
        }
        while self.first < next {
            let (_, bytes) = self.parts.pop_front().expect("as many parts as were counted");
            self.kept_bytes -= bytes.len();
            if self.first < self.next {
                self.on_the_way_bytes -= bytes.len();
            }
            self.first += 1;
        }
        self.next = self.next.max(self.first);
        self.progress_ns = now_ns;
    }

    /// Makes all parts that are not confirmed be sent again, such as after a reconnection.
    pub(crate) fn send_again(&mut self, now_ns: u64) {
        (self.next, self.on_the_way_bytes, self.progress_ns) = (self.first, 0, now_ns);
    }

    /// Sends parts again that were not confirmed for half a second.
    pub(crate) fn tick(&mut self, now_ns: u64) {
        if self.next > self.first && now_ns.saturating_sub(self.progress_ns) >= AGAIN_AFTER_NS {
            self.send_again(now_ns);
        }
    }

    /// Whether everything that was sent is confirmed.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Receiving side of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Number of the next part.
    next: u64,
    /// Parts of the message that has not arrived as a whole.
    begun: Vec<u8>,
    /// A missing part was asked for, so it is not asked for again until it, or a second passes.
    has_asked: bool,
    sign_ns: u64,
}

/// What a received part means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It ends this message. The other side is to be told.
    Message(Vec<u8>),
    /// It belongs to a message that is not whole.
    Begun,
    /// It has arrived before. The other side is to be told.
    Repeated,
    /// An earlier part has not arrived. The other side is to be told, unless it was.
    Early,
    /// The message is larger than 256 MiB.
    TooLarge,
}

impl Inbox {
    /// Takes a part of a message.
    pub(crate) fn take(&mut self, number: u64, is_last: bool, bytes: &[u8]) -> Taken {
        match number.cmp(&self.next) {
            std::cmp::Ordering::Less => return Taken::Repeated,
            std::cmp::Ordering::Greater => return Taken::Early,
            std::cmp::Ordering::Equal => {}
        }
        if self.begun.len() + bytes.len() > MESSAGE_BYTES_MAX {
            return Taken::TooLarge;
        }
        (self.next, self.has_asked) = (self.next + 1, false);
        self.begun.extend_from_slice(bytes);
        match is_last {
            true => Taken::Message(std::mem::take(&mut self.begun)),
            false => Taken::Begun,
        }
    }

    /// Returns the frame that tells the other side what has arrived.
    pub(crate) fn arrived(&self) -> Frame {
        Frame::Arrived { next: self.next }
    }

    /// Returns the frame that asks for a missing part; `None` if it was asked for.
    pub(crate) fn missing(&mut self) -> Option<Frame> {
        let has_asked = std::mem::replace(&mut self.has_asked, true);
        (!has_asked).then_some(Frame::Missing { next: self.next })
    }

    /// Returns the sign of life that is due every second, which also repeats what has arrived.
    pub(crate) fn tick(&mut self, now_ns: u64) -> Option<Frame> {
        if now_ns.saturating_sub(self.sign_ns) < SIGN_EVERY_NS {
            return None;
        }
        (self.sign_ns, self.has_asked) = (now_ns, false);
        Some(self.arrived())
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
                        Some(inbox.arrived())
                    }
                    Taken::Repeated => Some(inbox.arrived()),
                    Taken::Early => inbox.missing(),
                    Taken::Begun | Taken::TooLarge => None,
                };
                answer.into_iter().for_each(|frame| carry(&mut back, frame));
            }
            inbox.tick(now_ns).into_iter().for_each(|frame| carry(&mut back, frame));
            while let Some(frame) = back.pop_front() {
                match frame {
                    Frame::Arrived { next } => outbox.confirm(next, now_ns),
                    Frame::Missing { next } => {
                        outbox.confirm(next, now_ns);
                        outbox.send_again(now_ns);
                    }
                    _ => unreachable!(),
                }
            }
            outbox.tick(now_ns);
            if outbox.is_empty() {
                break;
            }
        }
        assert!(outbox.is_empty() && outbox.kept_bytes == 0 && outbox.on_the_way_bytes == 0);
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
        outbox.confirm(1, 1);
        assert_eq!((outbox.push(&[0; 6], 1), outbox.push(&[0; 5], 1)), (Ok(()), Err(Full)));

        let mut outbox = Outbox::new(usize::MAX);
        outbox.push(&vec![0; 3 * ON_THE_WAY_BYTES_MAX], 0).unwrap();
        let sent = std::iter::from_fn(|| outbox.take()).count();
        assert_eq!(sent, ON_THE_WAY_BYTES_MAX / PART_BYTES_MAX);
        outbox.confirm(1, 1);
        assert_eq!(std::iter::from_fn(|| outbox.take()).count(), 1);
    }

    #[test]
    fn a_confirmation_that_cannot_be_true_changes_nothing() {
        let mut outbox = Outbox::new(100);
        outbox.push(&[1], 0).unwrap();
        outbox.take().unwrap();
        outbox.confirm(9, 5);
        outbox.confirm(0, 5);
        assert!(!outbox.is_empty());
        outbox.tick(AGAIN_AFTER_NS);
        assert!(outbox.take().is_some(), "sent again");
    }
}
