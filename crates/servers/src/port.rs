//! Reservation of a TCP port of 127.0.0.1 for a server.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt,
};

/// A TCP port reserved for a server by a bound socket that never listens. Linux gives the port
/// neither to a process that asks for any free port nor to an outgoing connection. The server may
/// listen on the port, also after a restart, because it sets SO_REUSEADDR, as MariaDB, MySQL and
/// PostgreSQL do.
pub(crate) struct Port {
    number: u16,
    _socket: OwnedFd,
}

impl Port {
    pub(crate) fn reserve() -> rustix::io::Result<Port> {
        let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &any)?;
        let bound = SocketAddr::try_from(getsockname(&socket)?)?;
        assert_ne!(bound.port(), 0, "a bound socket has a port");
        Ok(Port { number: bound.port(), _socket: socket })
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_reserved_port_is_given_to_nobody_else() {
        let ports: Vec<Port> = (0..500).map(|_| Port::reserve().expect("a port")).collect();
        let numbers: BTreeSet<u16> = ports.iter().map(Port::number).collect();
        assert_eq!(numbers.len(), ports.len());
        for _ in 0..500 {
            let other = TcpListener::bind("127.0.0.1:0").expect("another port");
            assert!(!numbers.contains(&other.local_addr().expect("bound").port()));
        }
    }

    #[test]
    fn a_server_may_listen_on_it_again_and_again() {
        let port = Port::reserve().expect("a port");
        for _ in 0..3 {
            // The standard library sets SO_REUSEADDR, as the servers do.
            let listener = TcpListener::bind(("127.0.0.1", port.number())).expect("ours");
            TcpStream::connect(("127.0.0.1", port.number())).expect("connected");
            drop(listener);
        }
    }
}
