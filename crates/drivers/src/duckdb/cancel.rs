//! Cancelling a session from another thread: a flag that stays, and an interrupt of the running
//! statement. Not here: the statements, which look at the flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use model::Cancel;

use super::ffi::Interrupter;
use crate::embedded::lock;

#[derive(Default)]
pub(super) struct Handle {
    cancelled: AtomicBool,
    interrupter: Mutex<Option<Arc<Interrupter>>>,
}

impl Handle {
    /// Whether the session was cancelled. A cancelled session never becomes usable again.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Sets what interrupts the session's connection.
    pub(super) fn watch(&self, interrupter: Arc<Interrupter>) {
        *lock(&self.interrupter) = Some(interrupter);
    }
}

impl Cancel for Handle {
    fn cancel(&self) {
        // In this order: a statement that starts later sees the flag, one that runs the interrupt.
        self.cancelled.store(true, Ordering::SeqCst);
        if let Some(interrupter) = &*lock(&self.interrupter) {
            interrupter.interrupt();
        }
    }
}
