//! A hand on a session for other threads: it cancels, and it hands over turns in the queue.
//!
//! A cancel must reach a session wherever it is: in a statement (SQLite is interrupted, and asks
//! the sticky flag now and then, since an interrupt between two statements is lost), waiting for
//! its turn, or waiting for another process's lock. Not here: the queue itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::Cancel;
use rusqlite::InterruptHandle;

/// What other threads know of a session.
#[derive(Default)]
pub(super) struct Handle {
    cancelled: AtomicBool,
    interrupt: Mutex<Option<InterruptHandle>>,
    /// Whether the turn that the session waits for has been handed to it.
    turn: Mutex<bool>,
    changed: Condvar,
}

impl Handle {
    /// Whether it was cancelled, for good.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// As if the interrupt had come between two statements.
    #[cfg(test)]
    pub(super) fn cancel_without_interrupt(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Names the connection that a cancel interrupts.
    pub(super) fn watch(&self, interrupt: InterruptHandle) {
        *lock(&self.interrupt) = Some(interrupt);
    }

    /// Forgets a turn of the past, before a new wait.
    pub(super) fn expect_turn(&self) {
        *lock(&self.turn) = false;
    }

    /// Hands over the turn.
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
        // Who has looked at the flag but does not sleep yet holds this lock.
        drop(lock(&self.turn));
        self.changed.notify_all();
    }
}

/// No panic can leave these values half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
