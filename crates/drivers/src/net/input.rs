//! What has come from the other side and is not read yet: one buffer, read where it lies.
//!
//! Not here: where it comes from (stream), and what it means (protocols).

use model::{Refusal, RefusalKind};

/// Most answers fit; a thousand clients take 16 MiB.
const BYTES_FIRST: usize = 16 << 10;
/// A buffer that grew beyond this for one answer is given back when that is read.
const BYTES_KEPT: usize = 1 << 20;

/// Bytes that have come. Grows to its limit and no further.
pub(crate) struct Input {
    /// All of it is initialised; unread is what lies between `start` and `end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    limit_bytes: usize,
}

impl Input {
    /// An empty one; no message of the other side may be longer than `limit_bytes`.
    pub(crate) fn new(limit_bytes: usize) -> Input {
        Input { buffer: vec![0; BYTES_FIRST.min(limit_bytes)], start: 0, end: 0, limit_bytes }
    }

    /// What is unread.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Has read the first `n_bytes`.
    #[inline]
    pub(crate) fn consume(&mut self, n_bytes: usize) {
        assert!(n_bytes <= self.end - self.start, "no more is read than has come");
        self.start += n_bytes;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Room for what comes next. A protocol that needs more than fits has a message that is too
    /// long.
    pub(crate) fn room(&mut self) -> Result<&mut [u8], Refusal> {
        if self.end == 0 && self.buffer.len() > BYTES_KEPT {
            self.buffer = vec![0; BYTES_FIRST];
        }
        if self.end == self.buffer.len() {
            self.make_room()?;
        }
        Ok(&mut self.buffer[self.end..])
    }

    /// `n_bytes` have come into the room.
    #[inline]
    pub(crate) fn filled(&mut self, n_bytes: usize) {
        assert!(n_bytes <= self.buffer.len() - self.end, "no more has come than there was room");
        self.end += n_bytes;
    }

    /// Takes in bytes from elsewhere: what a protocol unpacked, recorded transcripts.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<(), Refusal> {
        while !bytes.is_empty() {
            let room = self.room()?;
            let n_bytes = room.len().min(bytes.len());
            room[..n_bytes].copy_from_slice(&bytes[..n_bytes]);
            self.filled(n_bytes);
            bytes = &bytes[n_bytes..];
        }
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) -> Result<(), Refusal> {
        // Half a buffer is worth moving; less would move the same bytes again and again.
        if self.start >= self.buffer.len() / 2 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            return Ok(());
        }
        if self.buffer.len() >= self.limit_bytes {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
                return Ok(());
            }
            let message = format!(
                "the server's answer has a message of more than {} bytes, the limit of this \
                 connection; max_packet in the target's URL raises it",
                self.limit_bytes
            );
            return Err(Refusal::new(RefusalKind::ConnectionLost, message));
        }
        let n_bytes = (self.buffer.len() * 2).min(self.limit_bytes);
        self.buffer.resize(n_bytes, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_the_order_in_which_they_came() {
        let mut input = Input::new(1 << 20);
        let sent: Vec<u8> = (0..100_000u32).map(|n| (n % 251) as u8).collect();
        let mut read = Vec::new();
        for chunk in sent.chunks(7_919) {
            input.push(chunk).expect("within the limit");
            let n_bytes = input.bytes().len() * 2 / 3;
            read.extend_from_slice(&input.bytes()[..n_bytes]);
            input.consume(n_bytes);
        }
        read.extend_from_slice(input.bytes());
        assert!(read == sent);
    }

    #[test]
    fn it_grows_to_its_limit_and_no_further() {
        let mut input = Input::new(40_000);
        input.push(&[1; 40_000]).expect("it fits to the byte");
        assert!(input.push(&[1]).is_err());
        assert!(input.buffer.len() == 40_000);
        input.consume(1);
        input.push(&[1]).expect("what is read makes room");
    }

    #[test]
    fn a_buffer_that_grew_for_one_answer_is_given_back() {
        let mut input = Input::new(64 << 20);
        input.push(&vec![1; 3 << 20]).expect("within the limit");
        input.consume(3 << 20);
        input.push(&[1]).expect("within the limit");
        assert_eq!(input.buffer.len(), BYTES_FIRST);
    }
}
