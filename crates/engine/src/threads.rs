//! Threads that run clients, by kernel thread ID, for reading the kernel's statistics of them. Not
//! here: the reading, which needs files (app).

use std::sync::{Arc, Mutex, PoisonError};

use rustix::thread::gettid;

/// A thread that runs clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientThread {
    /// Index of the event loop; `None` for the thread of a single client.
    pub loop_index: Option<u32>,
    /// Kernel thread ID (TID).
    pub thread: u32,
}

/// The client threads of a run, added as they start. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct ClientThreads(Arc<Mutex<Vec<ClientThread>>>);

impl ClientThreads {
    /// Adds the calling thread to the list.
    pub(crate) fn enter(&self, loop_index: Option<u32>) {
        let thread = gettid().as_raw_nonzero().get() as u32;
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(ClientThread { loop_index, thread });
    }

    /// Returns the threads so far, event loops in their order.
    pub fn list(&self) -> Vec<ClientThread> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        list.sort_unstable();
        list
    }
}
