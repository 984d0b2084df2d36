//! How connections are made: the places of a target, and who uses which. Not here: bytes (socket),
//! TLS itself (tls).

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

/// How many hosts a run may add: each keeps its place for good.
const ADDED_MAX: usize = 64;

/// Commands that were sent together have arrived: whatever is between takes them.
const ARRIVED: u32 = u32::MAX;
/// So many losses in a row are no coincidence.
const LOST_FLIGHTS: u32 = 2;

/// How connections are made: the places of a target, and what holds for all of them.
pub(crate) struct Connector {
    /// Those that are known come first; the others are room for more.
    places: Box<[OnceLock<Arc<KnownHost>>]>,
    spread: Mutex<Spread>,
    /// How often the places that clients use were changed.
    n_changes: AtomicU64,
    /// The place that answered last to somebody who builds, checks or asks.
    desk_place: AtomicUsize,
    silent: Mutex<BTreeSet<usize>>,
    /// Losses of commands that were sent together; [`ARRIVED`] once some have arrived.
    n_lost_flights: AtomicU32,
    /// Where clients enter the way to the servers; none where they connect directly.
    entrance: Mutex<Option<PathEntrance>>,
    default_port: u16,
    /// How connections are secured.
    pub(crate) tls: Tls,
    /// How long connecting and signing in may take in all.
    pub(crate) timeout: Duration,
}

struct KnownHost {
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
            default_port: 0,
            tls,
            timeout,
        }
    }

    /// The port of a host that is added without one.
    pub(crate) fn with_default_port(self, default_port: u16) -> Connector {
        Connector { default_port, ..self }
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

    /// The places that clients use now.
    pub(crate) fn used(&self) -> Vec<usize> {
        lock(&self.spread).used().to_vec()
    }

    /// How many those are.
    pub(crate) fn n_places(&self) -> usize {
        lock(&self.spread).used().len()
    }

    /// The place of a client that was refused so many times before.
    pub(crate) fn place_of(&self, client: u32, n_refused: usize) -> usize {
        let mut spread = lock(&self.spread);
        let home = spread.home(client);
        // Whoever was refused at all of them begins again.
        (0..n_refused % spread.used().len()).fold(home, |place, _| spread.after(place, client))
    }

    /// Where a client that found nobody at `place` tries next.
    pub(crate) fn place_after(&self, place: usize, client: Option<u32>) -> usize {
        lock(&self.spread).after(place, client.unwrap_or(0))
    }

    /// How often the places that clients use were changed.
    #[inline]
    pub(crate) fn n_changes(&self) -> u64 {
        self.n_changes.load(Ordering::Relaxed)
    }

    /// The places for somebody who builds, checks or asks, in the order in which to try: the one
    /// that answered last comes first.
    pub(crate) fn admin_places(&self) -> Vec<usize> {
        let mut places = self.used();
        let last = self.desk_place.load(Ordering::Relaxed);
        let at = places.iter().position(|place| *place == last);
        places.rotate_left(at.unwrap_or(0));
        places
    }

    /// Remembers who answered to somebody who builds, checks or asks, and who did not.
    pub(crate) fn note_answer(&self, place: usize, has_answered: bool) {
        if has_answered {
            self.desk_place.store(place, Ordering::Relaxed);
        } else {
            lock(&self.silent).insert(place);
        }
    }

    /// Commands that were sent together were answered.
    #[inline]
    pub(super) fn note_flight(&self) {
        if self.n_lost_flights.load(Ordering::Relaxed) != ARRIVED {
            self.n_lost_flights.store(ARRIVED, Ordering::Relaxed);
        }
    }

    /// The connection broke while commands that were sent together had no answer; whether that is
    /// what always becomes of them.
    pub(super) fn note_lost_flight(&self) -> bool {
        let add = |n_lost| (n_lost != ARRIVED).then(|| LOST_FLIGHTS.min(n_lost + 1));
        let before = self.n_lost_flights.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        before.is_ok_and(|n_lost| n_lost + 1 >= LOST_FLIGHTS)
    }

    /// From now on clients enter here; whether the places are hosts.
    pub(super) fn enter_through(&self, entrance: Option<PathEntrance>) -> bool {
        *lock(&self.entrance) = entrance;
        self.used().into_iter().all(|place| matches!(self.address(place), Address::Host(..)))
    }

    /// Where clients enter the way to the servers.
    pub(super) fn entrance(&self) -> Option<PathEntrance> {
        *lock(&self.entrance)
    }

    /// The address of a place.
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

    /// As [`model::Hosts::list`] tells it.
    pub(super) fn hosts(&self, places: impl IntoIterator<Item = usize>) -> Vec<Host> {
        let host = |place: usize| match self.address(place) {
            Address::Host(name, port) => Host { name: name.clone(), port: Some(*port) },
            Address::Socket(path) => Host { name: path.display().to_string(), port: None },
        };
        places.into_iter().map(host).collect()
    }

    /// As [`model::Hosts::silent`] tells it.
    pub(super) fn silent(&self) -> Vec<Host> {
        let silent = lock(&self.silent).clone();
        self.hosts(silent)
    }

    /// As [`model::Hosts::add`] does it.
    pub(super) fn add(&self, host: &Host) -> Result<usize, String> {
        let address = self.address_of(host);
        let mut spread = lock(&self.spread);
        let place = match self.find(&address) {
            Some(place) => place,
            None => {
                let known = KnownHost::new(address);
                // Now, so that no event loop must wait for it.
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

    /// As [`model::Hosts::remove`] does it.
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

    /// The place of a host that is not in use; none if it is.
    pub(super) fn place_left(&self, host: &Host) -> Option<usize> {
        let place = self.find(&self.address_of(host))?;
        (!lock(&self.spread).used().contains(&place)).then_some(place)
    }

    /// What to connect to for a place that is a host, in the order in which to try. The first time
    /// that may take as long as the system's resolver takes.
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

    /// The same without ever waiting: who is not known yet is looked up for the next attempt.
    pub(super) fn resolved(&self, place: usize) -> Result<Vec<SocketAddr>, DbError> {
        let known = self.known(place);
        let addresses = known.resolved().addresses.clone();
        if addresses.is_empty() {
            self.doubt(place);
            return Err(unknown_host(known.address.host(), &"its name is being resolved"));
        }
        Ok(addresses)
    }

    /// Looks every host up, so that no event loop must wait for that. Who is not found now may be
    /// found when a client wants to connect to it.
    pub(super) fn resolve_all(&self) {
        for place in self.used() {
            let _ = self.resolve(place);
        }
    }

    /// No connection is made to what a name stood for: asks again, aside, and keeps what is known
    /// until there is an answer.
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

    /// No panic can leave it half changed.
    fn resolved(&self) -> MutexGuard<'_, Resolved> {
        lock(&self.resolved)
    }

    /// Whether there is nothing to look up.
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

/// No panic can leave these values half changed.
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
