//! Non-blocking TCP sockets of a network path, which send without delay (TCP_NODELAY).

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketFlags, SocketType,
    accept_with, bind, connect, getsockname, listen, recv, send, shutdown, socket_with, sockopt,
};

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
/// Limit on the connections that wait to be accepted; more than clients connect at once.
const WAITING_MAX: i32 = 4_096;

/// Listens on any free port of the loopback address. Returns the socket and the port.
pub(crate) fn listen_here() -> io::Result<(OwnedFd, u16)> {
    let listener = socket_with(AddressFamily::INET, SocketType::STREAM, FLAGS, None)?;
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    listen(&listener, WAITING_MAX)?;
    let port = SocketAddr::try_from(getsockname(&listener)?)?.port();
    Ok((listener, port))
}

/// Accepts a client's connection; `None` if no client is waiting.
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

/// Starts to connect to the server at `to`, without waiting for the outcome.
pub(crate) fn begin_connect(to: SocketAddr) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &SocketAddrAny::from(to)) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// Whether a connection that was started is established; false if connecting failed.
pub(crate) fn is_connected(socket: &OwnedFd) -> bool {
    matches!(sockopt::socket_error(socket), Ok(Ok(())))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    /// Number of bytes that were read.
    Bytes(usize),
    /// The peer has closed its end, or the connection is broken.
    End,
    /// No bytes can be read from the socket now.
    Nothing,
}

/// Reads the bytes that have arrived into `room`, without waiting.
pub(crate) fn read(socket: &OwnedFd, room: &mut [u8]) -> Got {
    match recv(socket, room, RecvFlags::DONTWAIT) {
        Ok((0, _)) => Got::End,
        Ok((n_bytes, _)) => Got::Bytes(n_bytes),
        Err(Errno::AGAIN | Errno::INTR) => Got::Nothing,
        // A broken connection sends no more either.
        Err(_) => Got::End,
    }
}

/// Writes as many of `bytes` as fit into the socket, and returns their number. Fails if the peer no
/// longer reads.
pub(crate) fn write(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        result => result,
    }
}

/// Closes the sending direction of a connection. Errors are ignored, since they mean that the
/// connection is already broken.
pub(crate) fn end(socket: &OwnedFd) {
    let _broken = shutdown(socket.as_fd(), Shutdown::Write);
}
