//! State of a session that other threads change: they cancel it, or let it go on after it has
//! queued for the database.
//!
//! A cancel must reach a session that executes a statement, waits in the queue, or waits for
//! another process's lock. A statement is interrupted, and also checks a permanent flag now and
//! then, since an interrupt between two statements is lost. Not here: the queue itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use model::Cancel;
use rusqlite::InterruptHandle;

use crate::embedded::lock;

/// State of a session with which other threads can cancel it, or let it go on after it has queued
/// for the database.
#[derive(Default)]
pub(super) struct Handle {
    cancelled: AtomicBool,
    interrupt: Mutex<Option<InterruptHandle>>,
    /// Whether the session, after queueing, may now use the database.
    turn: Mutex<bool>,
    changed: Condvar,
}

impl Handle {
    /// Whether the session was cancelled. A cancelled session never becomes usable again.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Cancels the session without interrupting SQLite, for tests: as if the interrupt had come
    /// between two statements and been lost.
    #[cfg(test)]
    pub(super) fn cancel_without_interrupt(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Sets the interrupt handle of the session's connection, with which a cancel stops the running
    /// statement.
    pub(super) fn watch(&self, interrupt: InterruptHandle) {
        *lock(&self.interrupt) = Some(interrupt);
    }

    /// Prepares to queue for the database, so that [`Handle::wait_for_turn`] waits until the
    /// session may use it.
    pub(super) fn expect_turn(&self) {
        *lock(&self.turn) = false;
    }

    /// Lets the queued session use the database, and wakes it.
    pub(super) fn grant_turn(&self) {
        *lock(&self.turn) = true;
        self.changed.notify_all();
    }

    /// Blocks the queued session until it may use the database. Returns false if it was cancelled
    /// instead.
    pub(super) fn wait_for_turn(&self) -> bool {
        let mut granted = lock(&self.turn);
        while !*granted && !self.is_cancelled() {
            granted = self.changed.wait(granted).unwrap_or_else(PoisonError::into_inner);
        }
        !self.is_cancelled()
    }

    /// Sleeps for `duration`, or until the session is cancelled. Returns false if it was cancelled.
    pub(super) fn sleep(&self, duration: Duration) -> bool {
        let guard = lock(&self.turn);
        let awake = self.changed.wait_timeout_while(guard, duration, |_| !self.is_cancelled());
        drop(awake);
        !self.is_cancelled()
    }
}

impl Cancel for Handle {
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        if let Some(interrupt) = lock(&self.interrupt).as_ref() {
            interrupt.interrupt();
        }
        // A session that has checked the flag but does not sleep yet holds this lock.
        drop(lock(&self.turn));
        self.changed.notify_all();
    }
}
