//! Where a server is, and how one gets there. Not here: bytes (socket), TLS itself (tls).

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
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

/// How connections are made: the places of a target, and what holds for all of them.
pub(crate) struct Connector {
    places: Vec<Arc<Known>>,
    /// How connections are secured.
    pub(crate) tls: Tls,
    /// How long connecting and signing in may take, each wait by itself.
    pub(crate) timeout: Duration,
}

struct Known {
    address: Address,
    resolved: Mutex<Resolved>,
}

/// What a host's name stands for, as far as is known.
#[derive(Default)]
struct Resolved {
    /// Kept for good, until another answer comes.
    addresses: Vec<SocketAddr>,
    /// Somebody asks already.
    is_asked: bool,
}

impl Connector {
    /// A connector to one or several places; clients are spread over them.
    pub(crate) fn new(addresses: Vec<Address>, tls: Tls, timeout: Duration) -> Connector {
        assert!(!addresses.is_empty(), "a target has a place");
        let known = |address| Arc::new(Known { address, resolved: Mutex::default() });
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

    /// The place of a client that was refused so many times before.
    pub(crate) fn place_of(&self, client: u32, n_refused: usize) -> usize {
        (client as usize).wrapping_add(n_refused) % self.places.len()
    }

    /// The address of a place.
    pub(crate) fn address(&self, place: usize) -> &Address {
        &self.places[place].address
    }

    /// What to connect to for a place that is a host, in the order in which to try. The first time
    /// that may take as long as the system's resolver takes.
    pub(super) fn resolve(&self, place: usize) -> Result<Vec<SocketAddr>, Refusal> {
        let known = &self.places[place];
        let addresses = known.resolved().addresses.clone();
        if !addresses.is_empty() {
            return Ok(addresses);
        }
        let found = known.ask()?;
        found.clone_into(&mut known.resolved().addresses);
        Ok(found)
    }

    /// The same without ever waiting: who is not known yet is looked up for the next attempt.
    pub(super) fn resolved(&self, place: usize) -> Result<Vec<SocketAddr>, Refusal> {
        let known = &self.places[place];
        let addresses = known.resolved().addresses.clone();
        if addresses.is_empty() {
            self.doubt(place);
            return Err(unknown_host(known.address.host(), &"it is being looked up"));
        }
        Ok(addresses)
    }

    /// Looks every host up, so that no event loop must wait for that. Who is not found now may be
    /// found when a client wants to connect to it.
    pub(super) fn resolve_all(&self) {
        for place in 0..self.places.len() {
            let _ = self.resolve(place);
        }
    }

    /// No connection is made to what a name stood for: asks anew, aside, and keeps what is known
    /// until there is an answer.
    pub(super) fn doubt(&self, place: usize) {
        let known = &self.places[place];
        if known.is_number() || std::mem::replace(&mut known.resolved().is_asked, true) {
            return;
        }
        let asking = Arc::clone(known);
        let spawned = thread::Builder::new().name("resolve".to_owned()).spawn(move || {
            let found = asking.ask().unwrap_or_default();
            let mut resolved = asking.resolved();
            resolved.is_asked = false;
            if !found.is_empty() {
                resolved.addresses = found;
            }
        });
        if spawned.is_err() {
            known.resolved().is_asked = false;
        }
    }
}

impl Known {
    /// No panic can leave it half changed.
    fn resolved(&self) -> MutexGuard<'_, Resolved> {
        self.resolved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is nothing to look up.
    fn is_number(&self) -> bool {
        match &self.address {
            Address::Host(host, _) => host.parse::<IpAddr>().is_ok(),
            Address::Socket(_) => true,
        }
    }

    fn ask(&self) -> Result<Vec<SocketAddr>, Refusal> {
        let Address::Host(host, port) = &self.address else { return Ok(Vec::new()) };
        let found = (host.as_str(), *port).to_socket_addrs();
        let found: Vec<SocketAddr> = found.map_err(|error| unknown_host(host, &error))?.collect();
        if found.is_empty() {
            return Err(unknown_host(host, &"it has no address"));
        }
        Ok(found)
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
        let places: Vec<usize> = (0..5).map(|client| connector.place_of(client, 0)).collect();
        assert_eq!(places, [0, 1, 2, 0, 1]);
        assert_eq!(connector.place_of(2, 2), 1);
    }

    #[test]
    fn what_a_name_stood_for_is_kept_while_it_is_asked_anew() {
        let target = Target::parse("mariadb://a@localhost,127.0.0.1/d").expect("valid");
        let addresses = Connector::addresses(&target, None, 3306);
        let connector = Connector::new(addresses, Tls::disabled(), Duration::from_secs(1));
        connector.resolve_all();
        for place in 0..2 {
            connector.doubt(place);
            assert!(!connector.places[place].resolved().addresses.is_empty());
        }
    }
}
