//! Non-blocking sockets of the path, which send at once.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketFlags, SocketType,
    accept_with, bind, connect, getsockname, listen, recv, send, shutdown, socket_with, sockopt,
};

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
/// Limit on connections that wait to be accepted: more than connect at once.
const WAITING_MAX: i32 = 4_096;

/// Listens on the loopback address, at any free port; returns the port too.
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

/// Starts to connect to a server.
pub(crate) fn begin_connect(to: SocketAddr) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &SocketAddrAny::from(to)) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// Whether the connection was established.
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

/// Writes as much as fits; fails if the other side no longer reads.
pub(crate) fn write(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        result => result,
    }
}

/// Shuts down writing. An error means that the connection is broken already.
pub(crate) fn end(socket: &OwnedFd) {
    let _broken = shutdown(socket.as_fd(), Shutdown::Write);
}
