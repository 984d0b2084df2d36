//! A connection as bytes go through it: a socket, with TLS over it once that has begun.

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

/// What a sign-in must know of the connection that it goes through.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// What is wanted of TLS here.
    pub(crate) tls_mode: TlsMode,
    /// Whether TLS is on.
    pub(crate) is_tls: bool,
    /// A Unix socket: nobody listens in.
    pub(crate) is_local: bool,
    /// The server's certificate (DER), once TLS is on; for channel binding.
    pub(crate) certificate: Option<Vec<u8>>,
}

/// A connection.
pub(super) struct Stream {
    socket: Socket,
    tls: Option<Secured>,
    /// What has gone through the socket.
    pub(super) bytes_out: u64,
    /// What has come through the socket.
    pub(super) bytes_in: u64,
}

impl Stream {
    /// Bare, without TLS.
    pub(super) fn new(socket: Socket) -> Stream {
        Stream { socket, tls: None, bytes_out: 0, bytes_in: 0 }
    }

    /// On a thread: after how long a wait there is [`Got::Silence`]; none is never.
    pub(super) fn set_receive_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_receive_timeout(timeout)
    }

    /// On a thread: until when all waits together end with [`Got::Silence`].
    pub(super) fn set_deadline(&mut self, deadline: Deadline) -> io::Result<()> {
        self.socket.set_deadline(deadline)
    }

    /// From now on measures how long replies lie in the socket before they are read.
    pub(super) fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        self.socket.measure_reply_lag(lags);
    }

    /// A request went out, and its reply is waited for.
    #[inline]
    pub(super) fn begin_reply(&mut self) {
        self.socket.begin_reply();
    }

    /// The reply is complete.
    #[inline]
    pub(super) fn end_reply(&mut self) {
        self.socket.end_reply();
    }

    /// TLS from here on, of which not a byte has come yet.
    pub(super) fn begin_tls(&mut self, secured: Secured) {
        self.tls = Some(secured);
    }

    /// Drives TLS's handshake to its end; then the server's certificate, where it has one.
    pub(super) fn poll_handshake(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Vec<u8>>, DbError>> {
        let tls = self.tls.as_mut().expect("TLS has begun");
        tls.poll_handshake(&mut self.socket, context, &mut self.bytes_out, &mut self.bytes_in)
    }

    /// Sends what goes without waiting; whether all is on its way.
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
            // Whoever is to be woken when there is room must have met the lack of it.
            if n_bytes == 0 || *n_sent == bytes.len() {
                return Ok(n_bytes > 0);
            }
        }
    }

    /// Receives what has come into `input`, after a wait. The end is a database error.
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
            // Who waits needs no room meanwhile.
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
