//! List of the threads that run clients, by their kernel thread IDs, from which the kernel's
//! statistics about them can be found. Not here: reading these statistics, which needs files (app).

use std::sync::{Arc, Mutex, PoisonError};

use rustix::thread::gettid;

/// A thread of this process that runs one or more clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientThread {
    /// Index of the event loop on this thread, from 0; `None` if the thread serves a single client.
    pub loop_index: Option<u32>,
    /// Kernel thread ID (TID) of a client thread.
    pub thread: u32,
}

/// List of a run's client threads, to which each adds itself when it starts. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct ClientThreads(Arc<Mutex<Vec<ClientThread>>>);

impl ClientThreads {
    /// Adds the calling thread to the list of client threads. `loop_index` is `None` for the thread
    /// of a single client.
    pub(crate) fn enter(&self, loop_index: Option<u32>) {
        let thread = gettid().as_raw_nonzero().get() as u32;
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(ClientThread { loop_index, thread });
    }

    /// Returns the client threads that have started so far. Threads of event loops are in the order
    /// of their indexes.
    pub fn list(&self) -> Vec<ClientThread> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        list.sort_unstable();
        list
    }
}
