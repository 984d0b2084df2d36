//! Sockets whose waits block on a thread, and return `Pending` on an event loop.
//!
//! Sending never blocks, so that replies can be read while a long batch is being sent; if client
//! and server both only wrote, they would wait for each other forever. Not here: TLS.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use event_loop::Watched;
use model::ReplyLags;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketAddrUnix, SocketFlags,
    SocketType,
};

use super::deadline::Deadline;
use super::reply_lag::Probe;

/// Event for which a receiver waits on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Waits until bytes arrive from the server.
    Bytes,
    /// Waits until bytes arrive from the server, or the socket has space to send more.
    BytesOrRoom,
    /// Does not wait: receives only bytes that have already arrived. On an event loop, these are
    /// the bytes that the loop has noticed, which saves a system call.
    Nothing,
    /// Does not wait, and asks the kernel for bytes that have already arrived, even those that the
    /// event loop has not noticed yet.
    NothingAsked,
}

/// Event that ended a wait on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Got {
    /// Number of received bytes; 0 if the other side has closed the connection.
    Bytes(usize),
    /// The socket has space to send more.
    Room,
    /// No bytes had arrived, and the caller wanted no wait ([`Wait::Nothing`]).
    Nothing,
    /// Nothing arrived before the time limit. Occurs only if the session blocks its thread.
    Silence,
}

pub(super) struct Socket {
    descriptor: Arc<OwnedFd>,
    /// Registration with an event loop; `None` if the socket blocks its thread.
    watched: Option<Watched>,
    /// Time limit of each wait to receive, for a session that blocks its thread; `None` for no
    /// limit.
    receive_timeout: Option<Duration>,
    /// Instant at which all waits end while connecting and signing in, for a session that blocks
    /// its thread; `None` if there is no such limit.
    deadline: Option<Deadline>,
    /// Measurement of reply lags (times from the arrival of a reply to its reading); `None` if they
    /// are not measured.
    probe: Option<Probe>,
}

/// Time without any packet after which the kernel probes whether the server's host is reachable.
/// With these probes, the loss of a host is noticed after half a minute.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(5);
const KEEPALIVE_COUNT: u32 = 3;

impl Socket {
    /// Creates a TCP socket that is not connected yet; see [`Socket::connect_tcp`].
    pub(super) fn tcp(address: &SocketAddr) -> io::Result<Socket> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let descriptor = new_descriptor(family)?;
        sockopt::set_tcp_nodelay(&descriptor, true)?;
        sockopt::set_socket_keepalive(&descriptor, true)?;
        sockopt::set_tcp_keepidle(&descriptor, KEEPALIVE_IDLE)?;
        sockopt::set_tcp_keepintvl(&descriptor, KEEPALIVE_EVERY)?;
        sockopt::set_tcp_keepcnt(&descriptor, KEEPALIVE_COUNT)?;
        Ok(Socket::from_descriptor(descriptor))
    }

    /// Creates a Unix socket that is not connected yet; see [`Socket::connect_unix`].
    pub(super) fn unix() -> io::Result<Socket> {
        let descriptor = new_descriptor(AddressFamily::UNIX)?;
        Ok(Socket::from_descriptor(descriptor))
    }

    fn from_descriptor(descriptor: OwnedFd) -> Socket {
        Socket {
            descriptor: Arc::new(descriptor),
            watched: None,
            receive_timeout: None,
            deadline: None,
            probe: None,
        }
    }

    /// Starts to measure reply lags (times from arrival to reading) and to report them to `lags`.
    /// Reports instead that they are not measured if the kernel cannot, as on Unix sockets.
    pub(super) fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        let domain = sockopt::socket_domain(&self.descriptor);
        if domain.is_ok_and(|domain| domain == AddressFamily::UNIX) {
            lags.unavailable("the kernel does not timestamp data received on a Unix socket");
        } else {
            self.probe = Probe::new(&self.descriptor, lags);
        }
    }

    /// Starts the measurement of a reply's lag, after a request was sent. Does nothing if lags are
    /// not measured.
    #[inline]
    pub(super) fn begin_reply(&mut self) {
        if let Some(probe) = &mut self.probe {
            probe.begin(&self.descriptor);
        }
    }

    #[inline]
    pub(super) fn end_reply(&mut self) {
        if let Some(probe) = &mut self.probe {
            probe.end(&self.descriptor);
        }
    }

    pub(super) fn descriptor(&self) -> &Arc<OwnedFd> {
        &self.descriptor
    }

    /// Starts to connect to a TCP address without waiting; [`Socket::poll_connected`] waits for the
    /// result.
    pub(super) fn connect_tcp(&self, address: &SocketAddr) -> io::Result<()> {
        begun(rustix::net::connect(&self.descriptor, &SocketAddrAny::from(*address)))
    }

    /// Connects to the Unix socket at `path`. The error `WouldBlock` means that the server's queue
    /// of connections is full, so the caller should try again.
    pub(super) fn connect_unix(&self, path: &Path) -> io::Result<()> {
        let address = SocketAddrUnix::new(path)?;
        begun(rustix::net::connect(&self.descriptor, &address))
    }

    /// Registers the socket with this thread's event loop, so that its waits no longer block the
    /// thread.
    pub(super) fn watch(&mut self) -> io::Result<()> {
        self.watched = Some(Watched::new(Arc::clone(&self.descriptor))?);
        Ok(())
    }

    /// Waits until connecting succeeds or fails; for at most `timeout` if the socket blocks its
    /// thread.
    pub(super) fn poll_connected(
        &self,
        context: &mut Context<'_>,
        timeout: Duration,
    ) -> Poll<io::Result<()>> {
        match &self.watched {
            Some(watched) => ready!(watched.poll_writable(context)),
            None => self.wait(PollFlags::OUT, Some(timeout)).map(drop)?,
        }
        Poll::Ready(match sockopt::socket_error(&self.descriptor)? {
            Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        })
    }

    /// Sends the first bytes of a connection without waiting, since the socket's send buffer is
    /// empty and has space for them. Fails if not all are sent.
    pub(super) fn greet(&mut self, bytes: &[u8]) -> io::Result<()> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match rustix::net::send(&self.descriptor, bytes, flags)? {
            n_sent if n_sent == bytes.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    /// Sets the time limit of each wait to receive, after which a blocking wait ends with
    /// [`Got::Silence`]; `None` for no limit. Has no effect on an event loop.
    pub(super) fn set_receive_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if self.watched.is_none() {
            (self.receive_timeout, self.deadline) = (timeout, None);
            rustix::io::ioctl_fionbio(&self.descriptor, false)?;
            sockopt::set_socket_timeout(&self.descriptor, Timeout::Recv, timeout)?;
        }
        Ok(())
    }

    /// Sets the instant at which every blocking wait to receive ends with [`Got::Silence`]. Has no
    /// effect on an event loop.
    pub(super) fn set_deadline(&mut self, deadline: Deadline) -> io::Result<()> {
        if self.watched.is_none() {
            rustix::io::ioctl_fionbio(&self.descriptor, false)?;
            self.deadline = Some(deadline);
        }
        Ok(())
    }

    /// Sets the time limit for connecting to a Unix socket, which blocks the thread.
    pub(super) fn set_connect_timeout(&self, timeout: Duration) -> io::Result<()> {
        rustix::io::ioctl_fionbio(&self.descriptor, false)?;
        Ok(sockopt::set_socket_timeout(&self.descriptor, Timeout::Send, Some(timeout))?)
    }

    /// Sends as many of `bytes` as possible without waiting, and returns their number; 0 if the
    /// socket has no space. On an event loop the task is then woken when there is space.
    #[inline]
    pub(super) fn send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> io::Result<usize> {
        if let Some(watched) = &self.watched {
            return watched.send(context, bytes);
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        loop {
            match rustix::net::send(&self.descriptor, bytes, flags) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(0),
                result => return Ok(result?),
            }
        }
    }

    /// Waits for the event that `wait` names, and receives bytes into `room`.
    #[inline]
    pub(super) fn poll_receive(
        &mut self,
        context: &mut Context<'_>,
        room: &mut [u8],
        wait: Wait,
    ) -> Poll<io::Result<Got>> {
        let Some(watched) = &self.watched else {
            return Poll::Ready(self.receive_here(room, wait));
        };
        let is_sampling = self.probe.as_ref().is_some_and(|probe| probe.is_sampling);
        let receive = |descriptor: &OwnedFd, room: &mut [u8]| {
            receive(descriptor, &mut self.probe, room, RecvFlags::DONTWAIT)
        };
        let received = match wait {
            Wait::Nothing => watched.receive_noticed(room, receive)?,
            Wait::NothingAsked => watched.receive_asked(room, receive)?,
            Wait::Bytes | Wait::BytesOrRoom if is_sampling => {
                Some(ready!(watched.poll_receive_with(context, room, receive))?)
            }
            Wait::Bytes | Wait::BytesOrRoom => Some(ready!(watched.poll_receive(context, room))?),
        };
        Poll::Ready(Ok(received.map_or(Got::Nothing, Got::Bytes)))
    }

    fn receive_here(&mut self, room: &mut [u8], wait: Wait) -> io::Result<Got> {
        if let Some(deadline) =
            self.deadline.filter(|_| !matches!(wait, Wait::Nothing | Wait::NothingAsked))
        {
            let Ok(left) = deadline.left() else { return Ok(Got::Silence) };
            self.receive_timeout = Some(left);
            sockopt::set_socket_timeout(&self.descriptor, Timeout::Recv, Some(left))?;
        }
        let flags = match wait {
            Wait::Bytes => RecvFlags::empty(),
            Wait::Nothing | Wait::NothingAsked => RecvFlags::DONTWAIT,
            Wait::BytesOrRoom => {
                match self.wait(PollFlags::IN | PollFlags::OUT, self.receive_timeout) {
                    Ok(flags) if flags.contains(PollFlags::IN) => RecvFlags::DONTWAIT,
                    Ok(_) => return Ok(Got::Room),
                    Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                        return Ok(Got::Silence);
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        match receive(&self.descriptor, &mut self.probe, room, flags) {
            Ok(n_bytes) => Ok(Got::Bytes(n_bytes)),
            Err(Errno::AGAIN) if wait == Wait::Bytes => Ok(Got::Silence),
            Err(Errno::AGAIN) => Ok(Got::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    fn wait(&self, flags: PollFlags, timeout: Option<Duration>) -> io::Result<PollFlags> {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        loop {
            let mut polled = [PollFd::new(&self.descriptor, flags)];
            match poll(&mut polled, timeout.as_ref()) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => return Ok(polled[0].revents()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn new_descriptor(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(family, SocketType::STREAM, flags, None)?)
}

fn begun(result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[inline]
fn receive(
    descriptor: &OwnedFd,
    probe: &mut Option<Probe>,
    room: &mut [u8],
    flags: RecvFlags,
) -> Result<usize, Errno> {
    if let Some(probe) = probe.as_mut().filter(|probe| probe.is_sampling) {
        return probe.receive(descriptor, room, flags);
    }
    loop {
        match rustix::net::recv(descriptor, &mut *room, flags) {
            Err(Errno::INTR) => {}
            result => return result.map(|(n_bytes, _)| n_bytes),
        }
    }
}

/// Shuts down a connection, from any thread. A wait for bytes on it in another thread then ends.
pub(super) fn shut_down(descriptor: &OwnedFd) {
    // It may not be connected any more.
    let _ = rustix::net::shutdown(descriptor.as_fd(), Shutdown::Both);
}
