//! Address of a database server: host and port, or a Unix socket. Not here: connecting to it
//! (connect).

use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// Server at a host (name or IP address) and TCP port.
    Host(String, u16),
    /// Server on this machine, by the path of its Unix socket.
    Socket(PathBuf),
}

impl Address {
    /// Returns the host's name or IP address, against which TLS verifies the server's certificate;
    /// `localhost` for a Unix socket.
    pub(super) fn host(&self) -> &str {
        match self {
            Address::Host(host, _) => host,
            Address::Socket(_) => "localhost",
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Host(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Host(host, port) => write!(f, "{host}:{port}"),
            Address::Socket(path) => path.display().fmt(f),
        }
    }
}
