//! Non-blocking sockets of the path, which send without delay (TCP_NODELAY).

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketFlags, SocketType,
    accept_with, bind, connect, getsockname, listen, recv, send, shutdown, socket_with, sockopt,
};

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
/// Largest number of connections that wait to be accepted: more than clients connect at once.
const WAITING_MAX: i32 = 4_096;

/// Listens on the loopback address, at any free port; returns the socket and the port.
pub(crate) fn listen_here() -> io::Result<(OwnedFd, u16)> {
    let listener = socket_with(AddressFamily::INET, SocketType::STREAM, FLAGS, None)?;
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    listen(&listener, WAITING_MAX)?;
    let port = SocketAddr::try_from(getsockname(&listener)?)?.port();
    Ok((listener, port))
}

/// Accepts a client; `None` if none is waiting.
pub(crate) fn accept(listener: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    match accept_with(listener, FLAGS) {
        Ok(socket) => {
            sockopt::set_tcp_nodelay(&socket, true)?;
            Ok(Some(socket))
        }
        Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Starts to connect to a server, without waiting for the outcome.
pub(crate) fn begin_connect(to: SocketAddr) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &SocketAddrAny::from(to)) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// Whether a connection that was started is established; false if it failed.
pub(crate) fn is_connected(socket: &OwnedFd) -> bool {
    matches!(sockopt::socket_error(socket), Ok(Ok(())))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    /// Number of bytes that were read.
    Bytes(usize),
    /// The other side has finished sending, or the connection is broken.
    End,
    /// No bytes are available now.
    Nothing,
}

/// Reads available bytes into `room`.
pub(crate) fn read(socket: &OwnedFd, room: &mut [u8]) -> Got {
    match recv(socket, room, RecvFlags::DONTWAIT) {
        Ok((0, _)) => Got::End,
        Ok((n_bytes, _)) => Got::Bytes(n_bytes),
        Err(Errno::AGAIN | Errno::INTR) => Got::Nothing,
        // A broken connection sends no more either.
        Err(_) => Got::End,
    }
}

/// Writes as many bytes as fit and returns their number; fails if the other side no longer reads.
pub(crate) fn write(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        result => result,
    }
}

/// Shuts down sending. An error means that the connection is broken already, and is ignored.
pub(crate) fn end(socket: &OwnedFd) {
    let _broken = shutdown(socket.as_fd(), Shutdown::Write);
}
