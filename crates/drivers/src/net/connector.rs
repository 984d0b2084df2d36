//! The hosts of a target or its Unix socket, called places, and their assignment to clients. Not
//! here: transfer of bytes (socket), and TLS itself (tls).

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use model::{DbError, DbErrorKind, Host, PathEntrance, Target};

use super::address::Address;
use super::hosts::Spread;
use super::tls::Tls;
use crate::kept::KEPT_MOST;

/// Limit on the number of hosts added to a target while it is open; adding a further one fails. A
/// removed host keeps its index and still counts.
const ADDED_MAX: usize = 64;

/// Value of `n_lost_flights` once several commands sent together were answered, which proves that
/// the server and any proxies in front of it support such commands.
const ARRIVED: u32 = u32::MAX;
/// Number of consecutive connections lost with several unanswered commands from which dbdyno
/// suspects a proxy that takes only one command at a time.
const LOST_FLIGHTS: u32 = 2;

/// The hosts of a target (or its Unix socket), the assignment of clients to them, and the
/// parameters of all connections. A host is identified by its index, called place.
pub(crate) struct Connector {
    /// Hosts by index: those in the target's URL, those added later, and empty slots for more.
    places: Box<[OnceLock<Arc<KnownHost>>]>,
    spread: Mutex<Spread>,
    /// Number of times that hosts were added or removed since the target was opened.
    n_changes: AtomicU64,
    /// Index of the host that last responded to an auxiliary session (one that loads, checks or
    /// queries).
    desk_place: AtomicUsize,
    /// Indexes of the hosts that have failed to respond to an auxiliary session (one that loads,
    /// checks or queries).
    silent: Mutex<BTreeSet<usize>>,
    /// Number of consecutive connections that were lost with several unanswered commands, by which
    /// dbdyno suspects a proxy; [`ARRIVED`] once several commands sent together were answered.
    n_lost_flights: AtomicU32,
    /// Entrance of the simulated network through which clients connect; `None` if they connect
    /// directly.
    entrance: Mutex<Option<PathEntrance>>,
    /// Number of statements that a session keeps prepared at most.
    statements_kept: AtomicUsize,
    default_port: u16,
    pub(crate) tls: Tls,
    /// Time limit for connecting and signing in together (option `connect_timeout`).
    pub(crate) timeout: Duration,
}

struct KnownHost {
    address: Address,
    resolved: Mutex<Resolved>,
}

/// IP addresses of a host name, and whether it is being resolved.
#[derive(Default)]
struct Resolved {
    /// IP addresses from the last successful resolution of the name; empty if there was none.
    addresses: Vec<SocketAddr>,
    /// Whether a thread in the background is resolving the name.
    is_asked: bool,
}

impl Connector {
    /// Creates a connector to one or several hosts, over which clients will be spread evenly.
    pub(crate) fn new(addresses: Vec<Address>, tls: Tls, timeout: Duration) -> Connector {
        let n_places = addresses.len();
        let known = addresses.into_iter().map(|address| OnceLock::from(KnownHost::new(address)));
        let room = (0..ADDED_MAX).map(|_| OnceLock::new());
        Connector {
            places: known.chain(room).collect(),
            spread: Mutex::new(Spread::over(n_places)),
            n_changes: AtomicU64::new(0),
            desk_place: AtomicUsize::new(0),
            silent: Mutex::default(),
            n_lost_flights: AtomicU32::new(0),
            entrance: Mutex::default(),
            statements_kept: AtomicUsize::new(KEPT_MOST),
            default_port: 0,
            tls,
            timeout,
        }
    }

    /// Sets the port for hosts that are added later without a port.
    pub(crate) fn with_default_port(self, default_port: u16) -> Connector {
        Connector { default_port, ..self }
    }

    /// Returns the addresses to connect to: `socket` if there is one, otherwise the target's hosts,
    /// or `localhost` if it names none.
    pub(crate) fn addresses(
        target: &Target,
        socket: Option<PathBuf>,
        default_port: u16,
    ) -> Vec<Address> {
        if let Some(path) = socket {
            return vec![Address::Socket(path)];
        }
        let to_address = |host: &model::Host| {
            Address::Host(host.name.clone(), host.port.unwrap_or(default_port))
        };
        match target.hosts.as_slice() {
            [] => vec![Address::Host("localhost".to_owned(), default_port)],
            hosts => hosts.iter().map(to_address).collect(),
        }
    }

    /// Limits the number of statements that each session opened from now on keeps prepared.
    pub(crate) fn keep_statements(&self, most: usize) {
        self.statements_kept.store(most, Ordering::Relaxed);
    }

    /// Returns the number of statements that a session keeps prepared at most.
    pub(crate) fn statements_kept(&self) -> usize {
        self.statements_kept.load(Ordering::Relaxed)
    }

    /// Returns the indexes of the hosts that clients currently use.
    pub(crate) fn used(&self) -> Vec<usize> {
        lock(&self.spread).used().to_vec()
    }

    /// Returns the number of hosts that clients currently use.
    pub(crate) fn n_places(&self) -> usize {
        lock(&self.spread).used().len()
    }

    /// Returns the index of the host to which a client connects: its assigned host or, after
    /// `n_refused` consecutive failures, as many hosts further.
    pub(crate) fn place_of(&self, client: u32, n_refused: usize) -> usize {
        let mut spread = lock(&self.spread);
        let home = spread.home(client);
        // After failures at all hosts, starts again with the first.
        (0..n_refused % spread.used().len()).fold(home, |place, _| spread.after(place, client))
    }

    /// Returns the index of the host that a client tries next if the one at `place` does not
    /// respond. `client` is `None` for a session that is no client.
    pub(crate) fn place_after(&self, place: usize, client: Option<u32>) -> usize {
        lock(&self.spread).after(place, client.unwrap_or(0))
    }

    /// Returns how often hosts were added or removed. Sessions compare this to an earlier value, to
    /// notice that their host may have changed.
    #[inline]
    pub(crate) fn n_changes(&self) -> u64 {
        self.n_changes.load(Ordering::Relaxed)
    }

    /// Returns the indexes of the hosts in the order in which an auxiliary session (one that loads,
    /// checks or queries) tries them. The host that responded last comes first.
    pub(crate) fn admin_places(&self) -> Vec<usize> {
        let mut places = self.used();
        let last = self.desk_place.load(Ordering::Relaxed);
        let at = places.iter().position(|place| *place == last);
        places.rotate_left(at.unwrap_or(0));
        places
    }

    /// Stores whether the host at the index `place` responded to an auxiliary session (one that
    /// loads, checks or queries).
    pub(crate) fn note_answer(&self, place: usize, has_answered: bool) {
        if has_answered {
            self.desk_place.store(place, Ordering::Relaxed);
        } else {
            lock(&self.silent).insert(place);
        }
    }

    /// Stores that several commands sent together were answered, so that the server and any proxies
    /// in front of it are known to support such commands.
    #[inline]
    pub(super) fn note_flight(&self) {
        if self.n_lost_flights.load(Ordering::Relaxed) != ARRIVED {
            self.n_lost_flights.store(ARRIVED, Ordering::Relaxed);
        }
    }

    /// Counts a connection that broke before several commands sent together were answered. Returns
    /// true if a proxy is to be suspected: this has happened before, and such commands were never
    /// answered.
    pub(super) fn note_lost_flight(&self) -> bool {
        let add = |n_lost| (n_lost != ARRIVED).then(|| LOST_FLIGHTS.min(n_lost + 1));
        let before = self.n_lost_flights.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        before.is_ok_and(|n_lost| n_lost + 1 >= LOST_FLIGHTS)
    }

    /// Sets the entrance of a simulated network, through which clients then connect; `None` for
    /// direct connections. Returns false if one of the hosts is a Unix socket, to which clients
    /// still connect directly.
    pub(super) fn enter_through(&self, entrance: Option<PathEntrance>) -> bool {
        *lock(&self.entrance) = entrance;
        self.used().into_iter().all(|place| matches!(self.address(place), Address::Host(..)))
    }

    /// Returns the entrance of the simulated network; `None` if clients connect directly.
    pub(super) fn entrance(&self) -> Option<PathEntrance> {
        *lock(&self.entrance)
    }

    pub(crate) fn address(&self, place: usize) -> &Address {
        &self.known(place).address
    }

    fn known(&self, place: usize) -> &Arc<KnownHost> {
        self.places[place].get().expect("a place in use is known")
    }

    fn address_of(&self, host: &Host) -> Address {
        Address::Host(host.name.clone(), host.port.unwrap_or(self.default_port))
    }

    fn find(&self, address: &Address) -> Option<usize> {
        let known = self.places.iter().map_while(OnceLock::get);
        known.into_iter().position(|known| known.address == *address)
    }

    /// Returns names and ports of the hosts with these indexes, for [`model::Hosts::list`].
    pub(super) fn hosts(&self, places: impl IntoIterator<Item = usize>) -> Vec<Host> {
        let host = |place: usize| match self.address(place) {
            Address::Host(name, port) => Host { name: name.clone(), port: Some(*port) },
            Address::Socket(path) => Host { name: path.display().to_string(), port: None },
        };
        places.into_iter().map(host).collect()
    }

    /// Returns the hosts that failed to respond to an auxiliary session (one that loads, checks or
    /// queries), for [`model::Hosts::silent`].
    pub(super) fn silent(&self) -> Vec<Host> {
        let silent = lock(&self.silent).clone();
        self.hosts(silent)
    }

    /// Adds a host and moves an equal share of the clients to it, for [`model::Hosts::add`].
    /// Returns the number of these clients. Fails if the host's name cannot be resolved, or too
    /// many hosts were added.
    pub(super) fn add(&self, host: &Host) -> Result<usize, String> {
        let address = self.address_of(host);
        let mut spread = lock(&self.spread);
        let place = match self.find(&address) {
            Some(place) => place,
            None => {
                let known = KnownHost::new(address);
                // Resolved now, so that no event loop must wait for it.
                let resolved = known.ask().map_err(|db_error| db_error.to_string())?;
                known.resolved().addresses = resolved;
                let place = self.places.iter().position(|place| place.get().is_none());
                let full = || format!("at most {ADDED_MAX} hosts can be added");
                let place = place.ok_or_else(full)?;
                let _ours = self.places[place].set(known);
                place
            }
        };
        let n_moved = match spread.used().contains(&place) {
            true => spread.count(place),
            false => spread.add(place),
        };
        self.n_changes.fetch_add(1, Ordering::Relaxed);
        Ok(n_moved)
    }

    /// Removes a host and moves its clients to the others, for [`model::Hosts::remove`]. Returns
    /// the number of these clients. Fails if the host is not in use, or is the only one.
    pub(super) fn remove(&self, host: &Host) -> Result<usize, String> {
        let address = self.address_of(host);
        let mut spread = lock(&self.spread);
        let place = self.find(&address).filter(|place| spread.used().contains(place));
        let place = place.ok_or_else(|| format!("{address} is not a host of the target"))?;
        let last = || format!("{address} is the only remaining host");
        let n_moved = spread.remove(place).ok_or_else(last)?;
        self.n_changes.fetch_add(1, Ordering::Relaxed);
        Ok(n_moved)
    }

    /// Returns the index of a host that [`Connector::remove`] has removed; `None` if the host is in
    /// use or unknown.
    pub(super) fn place_left(&self, host: &Host) -> Option<usize> {
        let place = self.find(&self.address_of(host))?;
        (!lock(&self.spread).used().contains(&place)).then_some(place)
    }

    /// Returns the IP addresses of the host with the index `place`, in the order in which a client
    /// tries them. Resolves the name first if necessary, which blocks this thread.
    pub(super) fn resolve(&self, place: usize) -> Result<Vec<SocketAddr>, DbError> {
        let known = self.known(place);
        let addresses = known.resolved().addresses.clone();
        if !addresses.is_empty() {
            return Ok(addresses);
        }
        let found = known.ask()?;
        found.clone_into(&mut known.resolved().addresses);
        Ok(found)
    }

    /// Returns the known IP addresses of the host with the index `place`, without blocking. If none
    /// is known, starts to resolve the host's name in the background, and fails.
    pub(super) fn resolved(&self, place: usize) -> Result<Vec<SocketAddr>, DbError> {
        let known = self.known(place);
        let addresses = known.resolved().addresses.clone();
        if addresses.is_empty() {
            self.doubt(place);
            return Err(unknown_host(known.address.host(), &"its name is being resolved"));
        }
        Ok(addresses)
    }

    /// Resolves the names of all hosts in use in advance, so that no event loop must wait for a
    /// name. Failures are ignored, since clients try again when they connect.
    pub(super) fn resolve_all(&self) {
        for place in self.used() {
            let _ = self.resolve(place);
        }
    }

    /// Resolves the name of the host with the index `place` again in the background, because
    /// connecting to it has failed. The known addresses stay in use until then.
    pub(super) fn doubt(&self, place: usize) {
        let known = self.known(place);
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

impl KnownHost {
    fn new(address: Address) -> Arc<KnownHost> {
        Arc::new(KnownHost { address, resolved: Mutex::default() })
    }

    fn resolved(&self) -> MutexGuard<'_, Resolved> {
        lock(&self.resolved)
    }

    /// Whether the address is an IP address or a Unix socket, so that there is no name to resolve.
    fn is_number(&self) -> bool {
        match &self.address {
            Address::Host(host, _) => host.parse::<IpAddr>().is_ok(),
            Address::Socket(_) => true,
        }
    }

    fn ask(&self) -> Result<Vec<SocketAddr>, DbError> {
        let Address::Host(host, port) = &self.address else { return Ok(Vec::new()) };
        let found = (host.as_str(), *port).to_socket_addrs();
        let found: Vec<SocketAddr> = found.map_err(|error| unknown_host(host, &error))?.collect();
        if found.is_empty() {
            return Err(unknown_host(host, &"its name has no address"));
        }
        Ok(found)
    }
}

/// Locks a mutex and ignores poisoning, since a panic cannot leave the guarded values half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unknown_host(host: &str, why: &dyn fmt::Display) -> DbError {
    let message = format!("cannot resolve the host '{host}': {why}; check its spelling");
    DbError::new(DbErrorKind::ConnectionLost, message)
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
            assert!(!connector.known(place).resolved().addresses.is_empty());
        }
    }
}
