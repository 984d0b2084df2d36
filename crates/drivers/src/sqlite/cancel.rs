//! Access to a session for other threads: cancels it, and passes turns in the queue to it.
//!
//! A cancel must reach a session wherever it is: in a statement (SQLite is interrupted, and checks
//! the permanent flag now and then, since an interrupt between two statements is lost), waiting for
//! its turn, or waiting for another process's lock. Not here: the queue itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::Cancel;
use rusqlite::InterruptHandle;

/// State of a session that is shared with other threads.
#[derive(Default)]
pub(super) struct Handle {
    cancelled: AtomicBool,
    interrupt: Mutex<Option<InterruptHandle>>,
    /// The turn that the session waits for was passed to it.
    turn: Mutex<bool>,
    changed: Condvar,
}

impl Handle {
    /// Whether it was cancelled, permanently.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Cancels as if the interrupt had come between two statements.
    #[cfg(test)]
    pub(super) fn cancel_without_interrupt(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Sets the connection that a cancel interrupts.
    pub(super) fn watch(&self, interrupt: InterruptHandle) {
        *lock(&self.interrupt) = Some(interrupt);
    }

    /// Resets the turn before a new wait.
    pub(super) fn expect_turn(&self) {
        *lock(&self.turn) = false;
    }

    /// Passes the turn to the session.
    pub(super) fn grant_turn(&self) {
        *lock(&self.turn) = true;
        self.changed.notify_all();
    }

    /// Waits for the turn; false if it was cancelled instead.
    pub(super) fn wait_for_turn(&self) -> bool {
        let mut granted = lock(&self.turn);
        while !*granted && !self.is_cancelled() {
            granted = self.changed.wait(granted).unwrap_or_else(PoisonError::into_inner);
        }
        !self.is_cancelled()
    }

    /// Sleeps; false if it was cancelled meanwhile.
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

/// Locks, ignoring poisoning: no panic can leave these values half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
