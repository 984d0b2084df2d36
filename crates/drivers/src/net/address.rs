//! One place where a server listens. Not here: how one gets there (connector).

use std::fmt;
use std::path::PathBuf;

/// One place where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A host (name or number) and a port.
    Host(String, u16),
    /// A socket in the file system.
    Socket(PathBuf),
}

impl Address {
    /// The name or number of the host.
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
