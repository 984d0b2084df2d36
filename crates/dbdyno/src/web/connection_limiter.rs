//! Open connections of the web service, and the choice of one to close if there is no room for
//! another, so that idle clients do not block others. Ages are counted in turns, not in time.
//!
//! Not here: the limit, and accepting connections (`serve`).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::throttle::who;

/// Address of the client that sent a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Limiter of open connections: it knows those of all clients and their states, and closes one on
/// request to make room for another.
#[derive(Debug, Default)]
pub(super) struct ConnectionLimiter(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    /// Counter that orders changes: each new connection, and each change of a connection's state,
    /// takes the next number.
    turn: u64,
    all: HashMap<u64, One>,
}

#[derive(Debug)]
struct One {
    from: IpAddr,
    state: State,
    /// Number, by the counter of [`Open`], of the last change of `state`, or of the connection's
    /// beginning.
    turn: u64,
    gives_way: Arc<Notify>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Connection that has sent no request yet.
    Silent,
    /// Connection whose last request was answered, and that may send another one.
    Idle,
    /// Connection that waits for the answer to its request.
    Asking,
}

/// Open connection that the limiter counts. Dropping this value removes it from the limiter.
#[derive(Debug)]
pub(super) struct Guest {
    limiter: Arc<ConnectionLimiter>,
    id: u64,
    gives_way: Arc<Notify>,
}

impl ConnectionLimiter {
    /// Adds a new connection from this address to those that are limited.
    pub(super) fn enter(self: &Arc<ConnectionLimiter>, peer: IpAddr) -> Guest {
        let gives_way = Arc::new(Notify::new());
        let mut open = self.held();
        open.turn += 1;
        let id = open.turn;
        let one = One {
            from: who(peer),
            state: State::Silent,
            turn: id,
            gives_way: Arc::clone(&gives_way),
        };
        open.all.insert(id, one);
        Guest { limiter: Arc::clone(self), id, gives_way }
    }

    /// Closes one connection on which no request is being answered, if there is one. It is a
    /// connection of the address with the most connections: preferably one that has sent no
    /// request, then the one that was answered longest ago.
    pub(super) fn give_way(&self) {
        let mut open = self.held();
        let mut n_from: HashMap<IpAddr, usize> = HashMap::new();
        for one in open.all.values() {
            *n_from.entry(one.from).or_default() += 1;
        }
        let may = open.all.iter().filter(|(_, one)| one.state != State::Asking);
        let first = may.min_by_key(|(_, one)| (Reverse(n_from[&one.from]), one.state, one.turn));
        let Some(id) = first.map(|(id, _)| *id) else { return };
        let one = open.all.remove(&id).expect("it was found there");
        one.gives_way.notify_one();
    }

    fn held(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Marks that a request is being answered. The limiter does not close the connection until the
    /// returned value is dropped.
    pub(super) fn asks(&self) -> Answering<'_> {
        self.is_now(State::Asking);
        Answering(self)
    }

    /// Returns true if the connection is open and has sent a request.
    pub(super) fn has_asked(&self) -> bool {
        self.limiter.held().all.get(&self.id).is_some_and(|one| one.state != State::Silent)
    }

    /// Waits until the limiter chooses this connection to be closed.
    pub(super) async fn gives_way(&self) {
        self.gives_way.notified().await;
    }

    fn is_now(&self, state: State) {
        let mut open = self.limiter.held();
        open.turn += 1;
        let turn = open.turn;
        if let Some(one) = open.all.get_mut(&self.id) {
            (one.state, one.turn) = (state, turn);
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.limiter.held().all.remove(&self.id);
    }
}

pub(super) struct Answering<'g>(&'g Guest);

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.is_now(State::Idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(limiter: &Arc<ConnectionLimiter>, guests: &[Guest]) -> Vec<usize> {
        let open = limiter.held();
        (0..guests.len()).filter(|index| open.all.contains_key(&guests[*index].id)).collect()
    }

    #[test]
    fn who_says_nothing_gives_way_first_and_who_is_answered_never() {
        let limiter = Arc::new(ConnectionLimiter::default());
        let peer: IpAddr = "127.0.0.1".parse().unwrap();
        let guests: Vec<Guest> = (0..5).map(|_| limiter.enter(peer)).collect();
        let answering = guests[0].asks();
        drop(guests[3].asks());
        drop(guests[1].asks());
        let mut gone = Vec::new();
        for _ in 0..6 {
            let before = left(&limiter, &guests);
            limiter.give_way();
            let after = left(&limiter, &guests);
            gone.extend(before.into_iter().filter(|index| !after.contains(index)));
        }
        assert_eq!(gone, [2, 4, 3, 1]);
        drop(answering);
        limiter.give_way();
        assert_eq!(left(&limiter, &guests), Vec::<usize>::new());
    }

    #[test]
    fn an_address_with_many_connections_takes_none_from_others() {
        let limiter = Arc::new(ConnectionLimiter::default());
        let enter = |peer: &str| limiter.enter(peer.parse().unwrap());
        let quiet = enter("192.0.2.1");
        let many: Vec<Guest> = (1..=9).map(|n| enter(&format!("2001:db8::{n}"))).collect();
        for _ in 0..8 {
            limiter.give_way();
        }
        assert_eq!(left(&limiter, &[quiet]), [0]);
        assert_eq!(left(&limiter, &many), [8]);
    }
}
