//! Access of other threads to a session: cancelling it, and granting it a turn in the queue.
//!
//! A cancel must reach a session wherever it is: in a statement, waiting for its turn, or waiting
//! for another process's lock. A statement is interrupted, and also checks a permanent flag now and
//! then, since an interrupt between two statements is lost. Not here: the queue itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::Cancel;
use rusqlite::InterruptHandle;

/// State of a session that other threads need in order to cancel it or to grant it a turn.
#[derive(Default)]
pub(super) struct Handle {
    cancelled: AtomicBool,
    interrupt: Mutex<Option<InterruptHandle>>,
    /// Whether the turn for which the session waits was granted.
    turn: Mutex<bool>,
    changed: Condvar,
}

impl Handle {
    /// Whether the session was cancelled, which is permanent.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Cancels the session as if the interrupt had come between two statements and were lost.
    #[cfg(test)]
    pub(super) fn cancel_without_interrupt(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Sets the connection that a cancel interrupts.
    pub(super) fn watch(&self, interrupt: InterruptHandle) {
        *lock(&self.interrupt) = Some(interrupt);
    }

    /// Notes that the session is about to wait for a turn, which is not granted yet.
    pub(super) fn expect_turn(&self) {
        *lock(&self.turn) = false;
    }

    /// Grants the session its turn, and wakes it.
    pub(super) fn grant_turn(&self) {
        *lock(&self.turn) = true;
        self.changed.notify_all();
    }

    /// Waits until the turn is granted; false if the session was cancelled instead.
    pub(super) fn wait_for_turn(&self) -> bool {
        let mut granted = lock(&self.turn);
        while !*granted && !self.is_cancelled() {
            granted = self.changed.wait(granted).unwrap_or_else(PoisonError::into_inner);
        }
        !self.is_cancelled()
    }

    /// Sleeps for `duration`; false if the session is cancelled, which ends the sleep.
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

/// Locks a mutex and ignores poisoning, since no panic can leave these values half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
