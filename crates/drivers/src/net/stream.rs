//! A connection as bytes go through it: a socket, with TLS over it once that has begun.

use std::io::{self, Read, Write};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use model::{Refusal, RefusalKind, ReplyLags};
use rustls::ClientConnection;

use super::input::Input;
use super::socket::{Got, Socket, Wait};
use super::tls::{self, TlsMode};

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
    tls: Option<Box<ClientConnection>>,
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
    pub(super) fn begin_tls(&mut self, connection: ClientConnection) {
        self.tls = Some(Box::new(connection));
    }

    /// Drives TLS's handshake to its end; then the server's certificate, where it has one.
    pub(super) fn poll_handshake(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Vec<u8>>, Refusal>> {
        let Stream { socket, tls, bytes_out, bytes_in } = self;
        let tls = tls.as_mut().expect("TLS has begun");
        loop {
            let all_sent = send_records(tls, socket, context, bytes_out).map_err(refusal)?;
            if !tls.is_handshaking() && all_sent {
                let chain = tls.peer_certificates().unwrap_or_default();
                return Poll::Ready(Ok(chain.first().map(|first| first.to_vec())));
            }
            let wait = if all_sent { Wait::Bytes } else { Wait::BytesOrRoom };
            match ready!(read_records(tls, socket, context, wait, bytes_in))? {
                Got::Bytes(0) => return Poll::Ready(Err(ended())),
                Got::Silence => return Poll::Ready(Err(silent())),
                Got::Bytes(_) | Got::Room | Got::Nothing => {}
            }
        }
    }

    /// Sends what goes without waiting; whether all is on its way.
    #[inline]
    pub(super) fn send(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
        n_sent: &mut usize,
    ) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else {
            loop {
                let n_bytes = self.socket.send(context, &bytes[*n_sent..])?;
                self.bytes_out += n_bytes as u64;
                *n_sent += n_bytes;
                // Whoever is to be woken when there is room must have met the lack of it.
                if n_bytes == 0 || *n_sent == bytes.len() {
                    return Ok(n_bytes > 0);
                }
            }
        };
        loop {
            if !send_records(tls, &mut self.socket, context, &mut self.bytes_out)? {
                return Ok(false);
            }
            if *n_sent == bytes.len() {
                return Ok(true);
            }
            // TLS takes in a bounded amount at a time.
            *n_sent += tls.writer().write(&bytes[*n_sent..])?;
        }
    }

    /// Receives what has come into `input`, after a wait. The end is a refusal.
    #[inline]
    pub(super) fn poll_receive(
        &mut self,
        context: &mut Context<'_>,
        input: &mut Input,
        wait: Wait,
    ) -> Poll<Result<Got, Refusal>> {
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
    ) -> Poll<Result<Got, Refusal>> {
        if let Some(tls) = &mut self.tls {
            let (socket, bytes_in) = (&mut self.socket, &mut self.bytes_in);
            return receive_plain(tls, socket, context, room, wait, bytes_in);
        }
        let got = ready!(self.socket.poll_receive(context, room, wait)).map_err(refusal)?;
        if let Got::Bytes(n_bytes) = got {
            self.bytes_in += n_bytes as u64;
        }
        Poll::Ready(Ok(got))
    }
}

fn receive_plain(
    tls: &mut ClientConnection,
    socket: &mut Socket,
    context: &mut Context<'_>,
    room: &mut [u8],
    wait: Wait,
    bytes_in: &mut u64,
) -> Poll<Result<Got, Refusal>> {
    loop {
        match tls.reader().read(room) {
            Ok(n_bytes) => return Poll::Ready(Ok(Got::Bytes(n_bytes))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Poll::Ready(Err(refusal(error))),
        }
        match ready!(read_records(tls, socket, context, wait, bytes_in))? {
            Got::Bytes(0) => return Poll::Ready(Ok(Got::Bytes(0))),
            // Records may carry nothing for us yet.
            Got::Bytes(_) => {}
            got => return Poll::Ready(Ok(got)),
        }
    }
}

/// Sends what TLS has to say; whether all is on its way.
fn send_records(
    tls: &mut ClientConnection,
    socket: &mut Socket,
    context: &mut Context<'_>,
    bytes_out: &mut u64,
) -> io::Result<bool> {
    while tls.wants_write() {
        let mut out = Out { socket: &mut *socket, context: &mut *context };
        match tls.write_tls(&mut out) {
            Ok(n_bytes) => *bytes_out += n_bytes as u64,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn read_records(
    tls: &mut ClientConnection,
    socket: &mut Socket,
    context: &mut Context<'_>,
    wait: Wait,
    bytes_in: &mut u64,
) -> Poll<Result<Got, Refusal>> {
    let mut source = In { socket, context, wait, got: Got::Nothing };
    let result = tls.read_tls(&mut source);
    let got = source.got;
    match result {
        Ok(n_bytes) => {
            *bytes_in += n_bytes as u64;
            tls.process_new_packets().map_err(|error| tls::refusal(&error))?;
            Poll::Ready(Ok(Got::Bytes(n_bytes)))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => match (got, wait) {
            (Got::Nothing, Wait::Bytes | Wait::BytesOrRoom) => Poll::Pending,
            (got, _) => Poll::Ready(Ok(got)),
        },
        Err(error) => Poll::Ready(Err(refusal(error))),
    }
}

/// The socket as TLS writes to it.
struct Out<'s, 'c, 'w> {
    socket: &'s mut Socket,
    context: &'c mut Context<'w>,
}

impl Write for Out<'_, '_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.socket.send(self.context, bytes)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            n_bytes => Ok(n_bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The socket as TLS reads from it.
struct In<'s, 'c, 'w> {
    socket: &'s mut Socket,
    context: &'c mut Context<'w>,
    wait: Wait,
    got: Got,
}

impl Read for In<'_, '_, '_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self.socket.poll_receive(self.context, room, self.wait) {
            Poll::Ready(Ok(Got::Bytes(n_bytes))) => Ok(n_bytes),
            Poll::Ready(Ok(got)) => {
                self.got = got;
                Err(io::ErrorKind::WouldBlock.into())
            }
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

/// The connection was ended by the other side.
pub(super) fn ended() -> Refusal {
    Refusal::new(RefusalKind::ConnectionLost, "the server closed the connection")
}

/// Nothing came in time.
pub(super) fn silent() -> Refusal {
    refusal(io::ErrorKind::TimedOut.into())
}

/// A connection that broke.
pub(super) fn refusal(error: io::Error) -> Refusal {
    let message = match error.kind() {
        io::ErrorKind::TimedOut => {
            let advice = "check scheme, host and port, or raise connect_timeout";
            format!("the server does not answer in time; {advice}")
        }
        _ => format!("the connection failed: {error}"),
    };
    Refusal::new(RefusalKind::ConnectionLost, message)
}
