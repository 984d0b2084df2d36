//! Where a server is, and how one gets there. Not here: bytes (socket), TLS itself (tls).

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::{Refusal, RefusalKind, Target};

use super::tls::Tls;

/// One place where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A host (name or number) and a port.
    Host(String, u16),
    /// A socket in the file system.
    Socket(PathBuf),
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

/// How connections are made: the places of a target, and what holds for all of them.
pub(crate) struct Connector {
    places: Vec<Known>,
    /// How connections are secured.
    pub(crate) tls: Tls,
    /// How long connecting and signing in may take, each wait by itself.
    pub(crate) timeout: Duration,
}

struct Known {
    address: Address,
    /// What its name stood for when it was last asked; asked again when no connection is made.
    resolved: Mutex<Vec<SocketAddr>>,
}

impl Connector {
    /// A connector to one or several places; clients are spread over them.
    pub(crate) fn new(addresses: Vec<Address>, tls: Tls, timeout: Duration) -> Connector {
        assert!(!addresses.is_empty(), "a target has a place");
        let known = |address| Known { address, resolved: Mutex::default() };
        Connector { places: addresses.into_iter().map(known).collect(), tls, timeout }
    }

    /// The places that a target names: its socket where it has one, else its hosts.
    pub(crate) fn addresses(
        target: &Target,
        socket: Option<PathBuf>,
        default_port: u16,
    ) -> Vec<Address> {
        if let Some(path) = socket {
            return vec![Address::Socket(path)];
        }
        let of = |host: &model::Host| {
            Address::Host(host.name.clone(), host.port.unwrap_or(default_port))
        };
        match target.hosts.as_slice() {
            [] => vec![Address::Host("localhost".to_owned(), default_port)],
            hosts => hosts.iter().map(of).collect(),
        }
    }

    /// How many places there are.
    pub(crate) fn n_places(&self) -> usize {
        self.places.len()
    }

    /// The place of a client.
    pub(crate) fn place_of(&self, client: u32) -> usize {
        client as usize % self.places.len()
    }

    /// The address of a place.
    pub(crate) fn address(&self, place: usize) -> &Address {
        &self.places[place].address
    }

    /// What to connect to for a place that is a host, in the order in which to try.
    pub(super) fn resolve(&self, place: usize) -> Result<Vec<SocketAddr>, Refusal> {
        let Known { address, resolved } = &self.places[place];
        let Address::Host(host, port) = address else { return Ok(Vec::new()) };
        let mut resolved = resolved.lock().unwrap_or_else(PoisonError::into_inner);
        if resolved.is_empty() {
            let found = (host.as_str(), *port).to_socket_addrs();
            *resolved = found.map_err(|error| unknown_host(host, &error))?.collect();
        }
        if resolved.is_empty() {
            return Err(unknown_host(host, &"it has no address"));
        }
        Ok(resolved.clone())
    }

    /// Forgets what a name stood for.
    pub(super) fn forget(&self, place: usize) {
        self.places[place].resolved.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn unknown_host(host: &str, why: &dyn fmt::Display) -> Refusal {
    let message = format!("the host '{host}' cannot be found: {why}; is it spelled right?");
    Refusal::new(RefusalKind::ConnectionLost, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_spread_over_the_hosts() {
        let target = Target::parse("mariadb://a@h1,h2:7,[::1]/d").expect("valid");
        let addresses = Connector::addresses(&target, None, 3306);
        let shown: Vec<String> = addresses.iter().map(Address::to_string).collect();
        assert_eq!(shown, ["h1:3306", "h2:7", "[::1]:3306"]);
        let connector = Connector::new(addresses, Tls::disabled(), Duration::from_secs(1));
        let places: Vec<usize> = (0..5).map(|client| connector.place_of(client)).collect();
        assert_eq!(places, [0, 1, 2, 0, 1]);
    }
}
