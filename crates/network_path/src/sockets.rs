//! Sockets of the path: what never blocks, and sends at once.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketFlags, SocketType,
    accept_with, bind, connect, getsockname, listen, recv, send, shutdown, socket_with, sockopt,
};

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
/// Connections that may wait to be accepted: more clients than connect at once.
const WAITING_MAX: i32 = 4_096;

/// Listens on this machine alone, at any port that is free.
pub(crate) fn listen_here() -> io::Result<(OwnedFd, u16)> {
    let listener = socket_with(AddressFamily::INET, SocketType::STREAM, FLAGS, None)?;
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    listen(&listener, WAITING_MAX)?;
    let port = SocketAddr::try_from(getsockname(&listener)?)?.port();
    Ok((listener, port))
}

/// A client that has connected; none if nobody waits.
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

/// Begins to connect to a server.
pub(crate) fn begin_connect(to: SocketAddr) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &SocketAddrAny::from(to)) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// Whether the connection was made.
pub(crate) fn is_connected(socket: &OwnedFd) -> bool {
    matches!(sockopt::socket_error(socket), Ok(Ok(())))
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    /// So many bytes.
    Bytes(usize),
    /// The other side sends no more.
    End,
    /// Nothing is there.
    Nothing,
}

/// Reads into `room` what is there.
pub(crate) fn read(socket: &OwnedFd, room: &mut [u8]) -> Got {
    match recv(socket, room, RecvFlags::DONTWAIT) {
        Ok((0, _)) => Got::End,
        Ok((n_bytes, _)) => Got::Bytes(n_bytes),
        Err(Errno::AGAIN | Errno::INTR) => Got::Nothing,
        // Whoever breaks a connection sends no more either.
        Err(_) => Got::End,
    }
}

/// Writes what there is room for; an `Err` says that nobody reads any more.
pub(crate) fn write(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        result => result,
    }
}

/// Says that no more bytes will come. One that is broken knows already.
pub(crate) fn end(socket: &OwnedFd) {
    let _broken = shutdown(socket.as_fd(), Shutdown::Write);
}
