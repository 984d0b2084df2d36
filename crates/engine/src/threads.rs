//! The threads on which clients live, by the kernel's numbers, for whoever reads what the kernel
//! keeps of them. Not here: reading it, which needs files (app).

use std::sync::{Arc, Mutex, PoisonError};

use rustix::thread::gettid;

/// A thread with clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientThread {
    /// Which event loop it is; none where it is a client's own.
    pub loop_index: Option<u32>,
    /// The kernel's number of it.
    pub thread: u32,
}

/// The threads of a run, as they come. Copies are the same list.
#[derive(Clone, Debug, Default)]
pub struct ClientThreads(Arc<Mutex<Vec<ClientThread>>>);

impl ClientThreads {
    /// The calling thread is one of them.
    pub(crate) fn enter(&self, loop_index: Option<u32>) {
        let thread = gettid().as_raw_nonzero().get() as u32;
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(ClientThread { loop_index, thread });
    }

    /// Those that have come so far, event loops in their order.
    pub fn list(&self) -> Vec<ClientThread> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        list.sort_unstable();
        list
    }
}
