//! A hand on a session for other threads: it shuts the socket down, and sees to it that the
//! server stops what the session had under way.
//!
//! A server does not look at the socket while it works on a statement, so it must be told on
//! another connection. One thread a target does that for all its cancelled sessions. Not here:
//! how it is told (each driver's `Server::end`).

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use model::Cancel;

use super::socket::shut_down;
use super::{CancelKey, Server};

/// What other threads know of a session.
pub(super) struct Handle<S> {
    cancelled: AtomicBool,
    /// Whether the server works for it.
    busy: AtomicBool,
    held: Mutex<Held>,
    sweeper: Option<Arc<Sweeper<S>>>,
}

#[derive(Default)]
struct Held {
    socket: Option<Arc<OwnedFd>>,
    /// Once signed in: the place of the server, and what ends the session's work there.
    key: Option<(usize, CancelKey)>,
}

impl<S: Server> Handle<S> {
    pub(super) fn new(sweeper: Option<Arc<Sweeper<S>>>) -> Handle<S> {
        Handle {
            cancelled: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            held: Mutex::default(),
            sweeper,
        }
    }

    /// Whether it was cancelled, for good.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// A socket that a cancel shuts down, from before it is connected.
    pub(super) fn watch(&self, socket: &Arc<OwnedFd>) {
        *lock(&self.held) = Held { socket: Some(Arc::clone(socket)), key: None };
        // A cancel that came before found no socket.
        if self.is_cancelled() {
            shut_down(socket);
        }
    }

    /// The connection is signed in.
    pub(super) fn know(&self, place: usize, key: CancelKey) {
        lock(&self.held).key = Some((place, key));
    }

    /// The connection is no more.
    pub(super) fn forget(&self) {
        *lock(&self.held) = Held::default();
        self.set_busy(false);
    }

    /// Whether the server works for it from now on.
    #[inline]
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Release);
    }
}

impl<S> Handle<S> {
    /// Whether its connection is one to `place`.
    pub(super) fn is_at(&self, place: usize) -> bool {
        lock(&self.held).key.as_ref().is_some_and(|(at, _)| *at == place)
    }

    /// Shuts the connection down if it is one to `place`; whether it was. Its session finds out,
    /// and may connect anew.
    pub(super) fn cut(&self, place: usize) -> bool {
        let held = lock(&self.held);
        match (&held.key, &held.socket) {
            (Some((at, _)), Some(socket)) if *at == place => {
                shut_down(socket);
                true
            }
            _ => false,
        }
    }
}

impl<S: Server> Cancel for Handle<S> {
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        let mut held = lock(&self.held);
        // The flag is read before the socket goes, since its session may notice at once.
        let was_busy = self.busy.load(Ordering::Acquire);
        if let Some(socket) = held.socket.take() {
            shut_down(&socket);
        }
        if let (true, Some((place, key)), Some(sweeper)) =
            (was_busy, held.key.take(), &self.sweeper)
        {
            sweeper.sweep(place, key);
        }
    }
}

/// Tells servers to stop what cancelled sessions had under way.
pub(super) struct Sweeper<S> {
    server: Arc<S>,
    waiting: Mutex<Waiting>,
    is_done: Condvar,
}

/// How long the end of a target may wait until its servers are told. One that hangs is not told.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Waiting {
    keys: BTreeMap<usize, Vec<CancelKey>>,
    is_swept: bool,
}

impl<S: Server> Sweeper<S> {
    pub(super) fn new(server: Arc<S>) -> Sweeper<S> {
        Sweeper { server, waiting: Mutex::default(), is_done: Condvar::new() }
    }

    fn sweep(self: &Arc<Self>, place: usize, key: CancelKey) {
        let mut waiting = lock(&self.waiting);
        waiting.keys.entry(place).or_default().push(key);
        if waiting.is_swept {
            return;
        }
        let sweeper = Arc::clone(self);
        let spawned = thread::Builder::new().name("cancel".to_owned()).spawn(move || {
            while let Some((place, keys)) = sweeper.next() {
                sweeper.server.end(place, &keys);
            }
        });
        // Without a thread the server goes on until it has done what nobody waits for.
        waiting.is_swept = spawned.is_ok();
    }

    fn next(&self) -> Option<(usize, Vec<CancelKey>)> {
        let mut waiting = lock(&self.waiting);
        let next = waiting.keys.pop_first();
        waiting.is_swept = next.is_some();
        if next.is_none() {
            self.is_done.notify_all();
        }
        next
    }
}

impl<S> Sweeper<S> {
    /// Waits until the servers are told, but not for ever.
    pub(super) fn wait(&self) {
        let waiting = lock(&self.waiting);
        // However it ends, nobody can do more.
        let _ = self.is_done.wait_timeout_while(waiting, PATIENCE, |waiting| waiting.is_swept);
    }
}

/// No panic can leave these values half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
