//! Cancellation of sessions from other threads: makes the server stop the session's work, and shuts
//! the socket down.
//!
//! A server does not read the socket while it executes a statement, so the cancel request needs
//! another connection. A connection pooler cannot relay the request before the statement has
//! reached the server, nor after the socket is closed. So the request is repeated until the session
//! has noticed the cancel, and only then the socket is shut down. One thread per target does this
//! for all its cancelled sessions. Not here: the cancel request itself (each driver's
//! `Server::end`).

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use model::Cancel;

use super::socket::shut_down;
use super::{CancelKey, Server};

/// State of a session through which another thread can cancel the session, or break its connection
/// after its host was removed from those that clients use.
pub(super) struct Handle<S> {
    flags: Arc<Flags>,
    held: Mutex<Held>,
    canceller: Option<Arc<Canceller<S>>>,
}

/// Flags that a session reads and writes with each request, together in one cache line.
#[derive(Default)]
pub(super) struct Flags {
    cancelled: AtomicBool,
    /// Whether the session has sent a request whose reply is not complete.
    busy: AtomicBool,
}

impl Flags {
    /// Whether the session was cancelled. A cancelled session never becomes usable again.
    #[inline]
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Sets whether a request of the session is in progress, so that a cancel must also stop the
    /// server's work.
    #[inline]
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Release);
    }
}

#[derive(Default)]
struct Held {
    socket: Option<Arc<OwnedFd>>,
    /// Index of the host to which the session is connected, and the key by which the server can
    /// cancel it; `None` while the session is not signed in.
    key: Option<(usize, CancelKey)>,
}

impl<S: Server> Handle<S> {
    pub(super) fn new(canceller: Option<Arc<Canceller<S>>>) -> Handle<S> {
        Handle { flags: Arc::default(), held: Mutex::default(), canceller }
    }

    pub(super) fn flags(&self) -> &Arc<Flags> {
        &self.flags
    }

    /// Whether the session was cancelled. A cancelled session never becomes usable again.
    pub(super) fn is_cancelled(&self) -> bool {
        self.flags.is_cancelled()
    }

    /// Registers the new socket of the session before it is connected, so that a cancel can shut
    /// the socket down. Does so at once if the session is already cancelled.
    pub(super) fn watch(&self, socket: &Arc<OwnedFd>) {
        *lock(&self.held) = Held { socket: Some(Arc::clone(socket)), key: None };
        // An earlier cancel came before this socket existed.
        if self.is_cancelled() {
            shut_down(socket);
        }
    }

    /// Stores that the session is signed in at the host with the index `place`, and the `key` by
    /// which a cancel request there stops the session's work.
    pub(super) fn know(&self, place: usize, key: CancelKey) {
        lock(&self.held).key = Some((place, key));
    }

    /// Stores that the session has no connection now, so that a cancel has nothing to stop.
    pub(super) fn forget(&self) {
        *lock(&self.held) = Held::default();
        self.flags.set_busy(false);
    }
}

impl<S> Handle<S> {
    /// Whether the session is signed in at the host with the index `place`.
    pub(super) fn is_at(&self, place: usize) -> bool {
        lock(&self.held).key.as_ref().is_some_and(|(at, _)| *at == place)
    }

    /// Shuts the session's connection down if it is signed in at the host with the index `place`,
    /// and returns whether it was. The session notices a lost connection, and may reconnect to
    /// another host.
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
        self.flags.cancelled.store(true, Ordering::SeqCst);
        let mut held = lock(&self.held);
        let Some(socket) = held.socket.take() else { return };
        match (held.key.take(), &self.canceller) {
            (Some((place, key)), Some(canceller)) if self.flags.busy.load(Ordering::Acquire) => {
                let flags = Arc::clone(&self.flags);
                canceller.cancel(place, Cancelled { key, flags, socket });
            }
            _ => shut_down(&socket),
        }
    }
}

/// Worker that asks a target's servers to stop the work of cancelled sessions. Its thread exists
/// only while there are cancelled sessions.
pub(super) struct Canceller<S> {
    server: Arc<S>,
    waiting: Mutex<Waiting>,
    is_done: Condvar,
}

/// Limit on the time that closing a target waits until its servers were asked to stop the work of
/// cancelled sessions, since a server that hangs never answers.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time after a cancel at which the session's socket is shut down, even if the server has not
/// stopped its work.
const SHUT_DOWN_AFTER: Duration = Duration::from_millis(300);
/// Pause between two cancel requests for the same session.
const TELL_EVERY: Duration = Duration::from_millis(20);

#[derive(Default)]
struct Waiting {
    cancelled: BTreeMap<usize, Vec<Cancelled>>,
    is_swept: bool,
}

/// A session that was cancelled while a request of it was in progress.
struct Cancelled {
    key: CancelKey,
    flags: Arc<Flags>,
    socket: Arc<OwnedFd>,
}

impl<S: Server> Canceller<S> {
    pub(super) fn new(server: Arc<S>) -> Canceller<S> {
        Canceller { server, waiting: Mutex::default(), is_done: Condvar::new() }
    }

    fn cancel(self: &Arc<Self>, place: usize, cancelled: Cancelled) {
        let mut waiting = lock(&self.waiting);
        waiting.cancelled.entry(place).or_default().push(cancelled);
        if waiting.is_swept {
            return;
        }
        let canceller = Arc::clone(self);
        let spawned = thread::Builder::new().name("cancel".to_owned()).spawn(move || {
            while let Some((place, cancelled)) = canceller.next() {
                canceller.end(place, &cancelled);
            }
        });
        waiting.is_swept = spawned.is_ok();
        if !waiting.is_swept {
            // If the thread cannot be started, the server completes work whose result nobody needs.
            std::mem::take(&mut waiting.cancelled).values().for_each(|all| shut_all_down(all));
        }
    }

    /// Repeats the cancel request to the server with the index `place` until none of the
    /// `cancelled` sessions has a request in progress, or for [`SHUT_DOWN_AFTER`]; then shuts their
    /// sockets down.
    fn end(&self, place: usize, cancelled: &[Cancelled]) {
        let (knows, known) = mpsc::channel::<()>();
        let is_shut = AtomicBool::new(false);
        thread::scope(|scope| {
            let is_shut = &is_shut;
            scope.spawn(move || {
                // However the wait ends, the sockets must be shut down.
                let _ = known.recv_timeout(SHUT_DOWN_AFTER);
                is_shut.store(true, Ordering::Release);
                shut_all_down(cancelled);
            });
            loop {
                let waits = |one: &&Cancelled| one.flags.busy.load(Ordering::Acquire);
                let keys: Vec<CancelKey> =
                    cancelled.iter().filter(waits).map(|one| one.key.clone()).collect();
                if keys.is_empty() {
                    break;
                }
                self.server.end(place, &keys);
                if is_shut.load(Ordering::Acquire) {
                    break;
                }
                thread::park_timeout(TELL_EVERY);
            }
            drop(knows);
        });
    }

    fn next(&self) -> Option<(usize, Vec<Cancelled>)> {
        let mut waiting = lock(&self.waiting);
        let next = waiting.cancelled.pop_first();
        waiting.is_swept = next.is_some();
        if next.is_none() {
            self.is_done.notify_all();
        }
        next
    }
}

fn shut_all_down(cancelled: &[Cancelled]) {
    cancelled.iter().for_each(|one| shut_down(&one.socket));
}

impl<S> Canceller<S> {
    /// Waits until the servers have been asked to stop the work of all cancelled sessions, at most
    /// [`PATIENCE`].
    pub(super) fn wait(&self) {
        let waiting = lock(&self.waiting);
        // However the wait ends, nothing more can be done.
        let _ = self.is_done.wait_timeout_while(waiting, PATIENCE, |waiting| waiting.is_swept);
    }
}

/// Locks a mutex and ignores poisoning, since a panic cannot leave the guarded values half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
