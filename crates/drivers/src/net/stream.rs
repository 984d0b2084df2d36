//! A connection to a server: a socket, with TLS once that has begun.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use model::{DbError, ReplyLags};

use super::broken::{db_error, ended};
use super::deadline::Deadline;
use super::input::Input;
use super::socket::{Got, Socket, Wait};
use super::tls_client::Secured;
use super::tls_mode::TlsMode;

/// Properties of a connection that decide what a sign-in may send: TLS, and whether others can
/// eavesdrop.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// TLS mode that the target's URL requests.
    pub(crate) tls_mode: TlsMode,
    /// Whether the connection begins with TLS, without asking the server first.
    pub(crate) is_direct: bool,
    /// Whether this connection already uses TLS.
    pub(crate) is_tls: bool,
    /// Whether the connection is a Unix socket, on which nobody can eavesdrop.
    pub(crate) is_local: bool,
    /// The server's certificate (DER), for channel binding, which ties a sign-in to the TLS
    /// connection; `None` without TLS.
    pub(crate) certificate: Option<Vec<u8>>,
}

pub(super) struct Stream {
    socket: Socket,
    tls: Option<Secured>,
    /// Number of bytes written to the socket so far.
    pub(super) bytes_out: u64,
    /// Number of bytes read from the socket so far.
    pub(super) bytes_in: u64,
}

impl Stream {
    /// Creates a stream that sends and receives over `socket`, at first without TLS.
    pub(super) fn new(socket: Socket) -> Stream {
        Stream { socket, tls: None, bytes_out: 0, bytes_in: 0 }
    }

    /// Sets the time limit of each wait to receive, after which a blocking wait ends with
    /// [`Got::Silence`]; `None` for no limit. Has no effect on an event loop.
    pub(super) fn set_receive_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_receive_timeout(timeout)
    }

    /// Sets the instant at which every blocking wait to receive ends with [`Got::Silence`]. Has no
    /// effect on an event loop.
    pub(super) fn set_deadline(&mut self, deadline: Deadline) -> io::Result<()> {
        self.socket.set_deadline(deadline)
    }

    pub(super) fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        self.socket.measure_reply_lag(lags);
    }

    /// Starts the measurement of a reply's lag, after a request was sent. Does nothing if lags are
    /// not measured.
    #[inline]
    pub(super) fn begin_reply(&mut self) {
        self.socket.begin_reply();
    }

    #[inline]
    pub(super) fn end_reply(&mut self) {
        self.socket.end_reply();
    }

    /// Switches the stream to TLS; the caller then completes the handshake with
    /// [`Stream::poll_handshake`].
    pub(super) fn begin_tls(&mut self, secured: Secured) {
        self.tls = Some(secured);
    }

    /// Completes the TLS handshake, and returns the server's certificate (DER); `None` if the
    /// server has none.
    pub(super) fn poll_handshake(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Vec<u8>>, DbError>> {
        let tls = self.tls.as_mut().expect("TLS has begun");
        tls.poll_handshake(&mut self.socket, context, &mut self.bytes_out, &mut self.bytes_in)
    }

    /// Sends `bytes` from the index `n_sent` on, as far as possible without waiting, and increases
    /// `n_sent` by the number of bytes sent. Returns whether all are sent.
    #[inline]
    pub(super) fn send(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
        n_sent: &mut usize,
    ) -> io::Result<bool> {
        if let Some(tls) = &mut self.tls {
            return tls.send(&mut self.socket, context, bytes, n_sent, &mut self.bytes_out);
        }
        loop {
            let n_bytes = self.socket.send(context, &bytes[*n_sent..])?;
            self.bytes_out += n_bytes as u64;
            *n_sent += n_bytes;
            // To be woken when there is room, the socket must have been full.
            if n_bytes == 0 || *n_sent == bytes.len() {
                return Ok(n_bytes > 0);
            }
        }
    }

    /// Waits for the event that `wait` names, and receives bytes into `input`. Fails if the server
    /// has closed the connection.
    #[inline]
    pub(super) fn poll_receive(
        &mut self,
        context: &mut Context<'_>,
        input: &mut Input,
        wait: Wait,
    ) -> Poll<Result<Got, DbError>> {
        let got = self.poll_room(context, input.room()?, wait);
        match got {
            Poll::Ready(Ok(Got::Bytes(0))) => return Poll::Ready(Err(ended())),
            Poll::Ready(Ok(Got::Bytes(n_bytes))) => input.filled(n_bytes),
            // A waiting connection needs no buffer.
            Poll::Ready(_) | Poll::Pending => input.rest(),
        }
        got
    }

    #[inline]
    fn poll_room(
        &mut self,
        context: &mut Context<'_>,
        room: &mut [u8],
        wait: Wait,
    ) -> Poll<Result<Got, DbError>> {
        if let Some(tls) = &mut self.tls {
            let (socket, bytes_in) = (&mut self.socket, &mut self.bytes_in);
            return tls.poll_receive(socket, context, room, wait, bytes_in);
        }
        let got = ready!(self.socket.poll_receive(context, room, wait)).map_err(db_error)?;
        if let Got::Bytes(n_bytes) = got {
            self.bytes_in += n_bytes as u64;
        }
        Poll::Ready(Ok(got))
    }
}
