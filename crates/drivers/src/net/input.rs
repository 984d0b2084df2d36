//! Received bytes of a connection that are not parsed yet, in one buffer.
//!
//! A connection has a buffer only while something in it is unread, because most of ten thousand
//! clients are idle, and those of one event loop are read one after the other. Not here: receiving
//! (stream), and parsing (protocols).

use std::cell::RefCell;

use model::{DbError, DbErrorKind};

/// Initial size of a receive buffer, in bytes. Most replies fit into it.
const BYTES_FIRST: usize = 16 << 10;
/// Size of a receive buffer, in bytes, beyond which its memory is freed instead of reused.
const BYTES_KEPT: usize = 1 << 20;
/// Limit on the empty receive buffers that a thread keeps for its connections; further ones are
/// freed. Usually one is in use at a time; others hold half-received messages, or decompressed
/// data.
const SPARE_MAX: usize = 4;

thread_local! {
    /// Empty receive buffers, shared by all connections that are read on this thread.
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Receive buffer of a connection: bytes that were received and are not parsed yet. It grows up to
/// a limit.
pub(crate) struct Input {
    /// Buffer whose bytes from `start` to `end` are unread. It has no memory while nothing is
    /// unread.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    limit_bytes: usize,
}

impl Input {
    /// Creates an empty receive buffer that grows until it holds a message of `limit_bytes`.
    pub(crate) fn new(limit_bytes: usize) -> Input {
        Input { buffer: Vec::new(), start: 0, end: 0, limit_bytes }
    }

    /// Returns the bytes that are not parsed yet.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Removes the first `n_bytes` from the buffer, after they were parsed.
    #[inline]
    pub(crate) fn consume(&mut self, n_bytes: usize) {
        assert!(n_bytes <= self.end - self.start, "no more is read than has come");
        self.start += n_bytes;
        self.rest();
    }

    /// Returns the buffer's memory to the other connections of this thread, if all bytes in it are
    /// parsed.
    #[inline]
    pub(crate) fn rest(&mut self) {
        if self.start < self.end || self.buffer.is_empty() {
            return;
        }
        (self.start, self.end) = (0, 0);
        let buffer = std::mem::take(&mut self.buffer);
        if (BYTES_FIRST..=BYTES_KEPT).contains(&buffer.len()) {
            // A thread that is ending keeps nothing.
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < SPARE_MAX {
                    spare.push(buffer);
                }
            });
        }
    }

    /// Returns the free space behind the unread bytes, for receiving more; call [`Input::filled`]
    /// afterwards. Fails if the size limit is reached, because the server's message is too long.
    pub(crate) fn room(&mut self) -> Result<&mut [u8], DbError> {
        if self.buffer.is_empty() {
            self.buffer = self.first();
        }
        if self.end == self.buffer.len() {
            self.make_room()?;
        }
        Ok(&mut self.buffer[self.end..])
    }

    /// Adds to the unread bytes the `n_bytes` that were received into the space from
    /// [`Input::room`].
    #[inline]
    pub(crate) fn filled(&mut self, n_bytes: usize) {
        assert!(n_bytes <= self.buffer.len() - self.end, "no more has come than there was room");
        self.end += n_bytes;
    }

    /// Appends bytes that do not come from a socket, such as decompressed ones. Fails if the buffer
    /// would exceed its limit.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<(), DbError> {
        while !bytes.is_empty() {
            let room = self.room()?;
            let n_bytes = room.len().min(bytes.len());
            room[..n_bytes].copy_from_slice(&bytes[..n_bytes]);
            self.filled(n_bytes);
            bytes = &bytes[n_bytes..];
        }
        Ok(())
    }

    fn first(&self) -> Vec<u8> {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        match spare {
            Some(spare) if spare.len() <= self.limit_bytes => spare,
            _ => vec![0; BYTES_FIRST.min(self.limit_bytes)],
        }
    }

    #[cold]
    fn make_room(&mut self) -> Result<(), DbError> {
        // Moving bytes pays off from half a buffer; below, the same bytes would move again and
        // again.
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
                "the server sent a message of more than {} bytes, the limit of this connection; \
                 raise max_packet in the target's URL",
                self.limit_bytes
            );
            return Err(DbError::new(DbErrorKind::ConnectionLost, message));
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
        assert_eq!(input.buffer.capacity(), 0);
        input.push(&[1]).expect("within the limit");
        assert!(input.buffer.len() <= BYTES_KEPT);
    }

    #[test]
    fn those_in_which_nothing_lies_share_a_buffer() {
        let mut all: Vec<Input> = (0..100).map(|_| Input::new(1 << 20)).collect();
        for input in &mut all {
            input.push(&[1, 2]).expect("within the limit");
            input.consume(1);
            assert_eq!(input.bytes(), [2]);
            input.consume(1);
            // Nothing came, though there was room for it.
            assert!(input.room().is_ok_and(|room| room.len() >= BYTES_FIRST));
            input.rest();
        }
        assert!(all.iter().all(|input| input.buffer.capacity() == 0));
        assert_eq!(SPARE.with(|spare| spare.borrow().len()), 1);
    }
}
