//! A connection together with its protocol: sends the protocol's output, and passes received bytes
//! to it.
//!
//! Not here: the session (session), and connecting (connect).

use std::task::{Context, Poll, Waker, ready};

use model::{DbError, DbErrorKind, Traffic};

use super::broken;
use super::input::Input;
use super::socket::{Got, Wait};
use super::stream::Stream;
use super::{Protocol, Step};

/// Limit on the reads for a server's last message, which gives the reason for closing the
/// connection and arrives in few pieces. Bytes after these reads are ignored.
const LAST_READS_MAX: u32 = 16;

pub(super) struct Line<P> {
    pub(super) protocol: P,
    pub(super) stream: Stream,
    pub(super) input: Input,
    pub(super) out: Vec<u8>,
    /// Number of bytes at the start of the output buffer that are already sent.
    n_sent: usize,
    /// Whether any part of the current request was sent, so that the server may have executed it.
    pub(super) has_sent: bool,
    /// Whether anything was sent since the last wait for a reply, so that the next wait counts as a
    /// round trip.
    is_unanswered: bool,
    round_trips: u64,
    /// Check whether the server still responds, to be made when it was silent for long; `None` if
    /// silence is an error.
    pub(super) read_watchdog: Option<ReadWatchdog>,
}

/// Check whether a server that was silent for long still responds. `Ok` continues the wait for its
/// reply; an error ends the wait.
pub(super) type ReadWatchdog = Box<dyn Fn() -> Result<(), DbError>>;

impl<P> Line<P> {
    pub(super) fn new(protocol: P, stream: Stream, input: Input, out: Vec<u8>) -> Line<P> {
        Line {
            protocol,
            stream,
            input,
            out,
            n_sent: 0,
            has_sent: false,
            is_unanswered: false,
            round_trips: 0,
            read_watchdog: None,
        }
    }

    /// Replaces the protocol of this connection, such as that of the sign-in by that of requests.
    pub(super) fn with<Q>(self, protocol: Q) -> Line<Q> {
        let Line { stream, input, out, n_sent, has_sent, is_unanswered, .. } = self;
        let Line { round_trips, read_watchdog, .. } = self;
        Line {
            protocol,
            stream,
            input,
            out,
            n_sent,
            has_sent,
            is_unanswered,
            round_trips,
            read_watchdog,
        }
    }

    pub(super) fn begin(&mut self) {
        self.has_sent = false;
    }

    /// Sends as much of the output buffer as possible without waiting. Returns whether all is sent.
    #[inline]
    fn send(&mut self, context: &mut Context<'_>) -> Result<bool, DbError> {
        if self.out.is_empty() {
            return Ok(true);
        }
        let n_before = self.n_sent;
        let all_sent = self.stream.send(context, &self.out, &mut self.n_sent);
        let all_sent = all_sent.map_err(broken::db_error)?;
        if self.n_sent > n_before {
            (self.has_sent, self.is_unanswered) = (true, true);
        }
        if all_sent {
            self.out.clear();
            self.n_sent = 0;
        }
        Ok(all_sent)
    }

    /// Waits until the output buffer is sent. Bytes that arrive in the meantime are received but
    /// not parsed.
    pub(super) fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        loop {
            if self.send(context)? {
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_receive(context, Wait::BytesOrRoom))?;
        }
    }

    /// Runs an operation of the protocol to its end: sends its output and receives bytes for it.
    /// `advance` calls the protocol with the received bytes, and says with its [`Step`] whether
    /// more bytes are needed.
    #[inline]
    pub(super) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        mut advance: impl FnMut(&mut P, &mut Input, &mut Vec<u8>) -> Result<Step<T>, DbError>,
    ) -> Poll<Result<T, DbError>> {
        // Parse what was received before, and again once everything is sent.
        let mut has_come = true;
        loop {
            let all_sent = match self.send(context) {
                Ok(all_sent) => all_sent,
                Err(no) => return Poll::Ready(self.last_words(context, advance, no)),
            };
            let mut wait = if all_sent { Wait::Bytes } else { Wait::BytesOrRoom };
            if all_sent || has_come {
                match advance(&mut self.protocol, &mut self.input, &mut self.out)? {
                    Step::Done(value) => {
                        self.stream.end_reply();
                        return Poll::Ready(Ok(value));
                    }
                    Step::StartTls => return Poll::Ready(Err(late_tls())),
                    Step::Send if all_sent => wait = Wait::Nothing,
                    Step::Send => {}
                    // The protocol's output must reach the server before it can reply.
                    Step::More if all_sent && !self.out.is_empty() => {
                        has_come = false;
                        continue;
                    }
                    Step::More => {}
                }
            }
            has_come = ready!(self.poll_receive(context, wait))?;
        }
    }

    /// Reads the server's last message after sending has failed with the error `no`, since that
    /// message may give the reason. Returns the operation's result if `advance` finds one in it,
    /// otherwise `no`.
    #[cold]
    fn last_words<T>(
        &mut self,
        context: &mut Context<'_>,
        mut advance: impl FnMut(&mut P, &mut Input, &mut Vec<u8>) -> Result<Step<T>, DbError>,
        no: DbError,
    ) -> Result<T, DbError> {
        for _ in 0..LAST_READS_MAX {
            // Some bytes may have been received before sending failed.
            if !self.input.bytes().is_empty()
                && let Step::Done(value) =
                    advance(&mut self.protocol, &mut self.input, &mut self.out)?
            {
                return Ok(value);
            }
            match self.stream.poll_receive(context, &mut self.input, Wait::NothingAsked) {
                Poll::Ready(Ok(Got::Bytes(_))) => {}
                _ => break,
            }
        }
        Err(no)
    }

    /// Whether the server has closed the connection; checked without waiting. A last message from
    /// the server remains in the receive buffer.
    pub(super) fn has_ended(&mut self) -> bool {
        let context = &mut Context::from_waker(Waker::noop());
        for _ in 0..LAST_READS_MAX {
            match self.stream.poll_receive(context, &mut self.input, Wait::Nothing) {
                Poll::Ready(Ok(Got::Bytes(_))) => {}
                Poll::Ready(Err(_)) => return true,
                Poll::Ready(Ok(_)) | Poll::Pending => return false,
            }
        }
        false
    }

    /// Waits for the event that `wait` names, and receives bytes into the buffer. Returns whether
    /// any bytes were received.
    #[inline]
    pub(super) fn poll_receive(
        &mut self,
        context: &mut Context<'_>,
        wait: Wait,
    ) -> Poll<Result<bool, DbError>> {
        if wait == Wait::Bytes && self.is_unanswered {
            self.is_unanswered = false;
            self.round_trips += 1;
            self.stream.begin_reply();
        }
        let got = ready!(self.stream.poll_receive(context, &mut self.input, wait))?;
        if got == Got::Silence {
            self.look_after_it()?;
        }
        Poll::Ready(Ok(matches!(got, Got::Bytes(_))))
    }

    #[cold]
    fn look_after_it(&self) -> Result<(), DbError> {
        match &self.read_watchdog {
            Some(read_watchdog) => read_watchdog(),
            None => Err(broken::silent()),
        }
    }
}

impl<P: Protocol> Line<P> {
    pub(super) fn traffic(&self) -> Traffic {
        let mut traffic = self.protocol.traffic();
        traffic.round_trips += self.round_trips;
        traffic.bytes_out += self.stream.bytes_out;
        traffic.bytes_in += self.stream.bytes_in;
        traffic
    }

    /// Sends the message by which the protocol ends a session, without waiting.
    pub(super) fn say_goodbye(&mut self) {
        self.protocol.say_goodbye(&mut self.out);
        // If the message is lost, the server only logs a lost connection.
        let _ = self.send(&mut Context::from_waker(Waker::noop()));
    }
}

/// Polls once and returns the result, for a session that blocks its thread instead of returning
/// `Pending`. Panics if it does return `Pending`.
pub(super) fn here<T>(poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> T {
    match poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a session on a thread blocks instead of waiting"),
    }
}

/// Returns the error that every request of a cancelled session returns.
pub(super) fn cancelled() -> DbError {
    DbError::new(DbErrorKind::Cancelled, "cancelled")
}

fn late_tls() -> DbError {
    DbError::new(DbErrorKind::ConnectionLost, "TLS can only begin before the sign-in")
}
