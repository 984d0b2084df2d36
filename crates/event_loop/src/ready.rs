//! Who is to be polled next: a queue for each thread, and a way into it for other threads.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use rustix::event::{EventfdFlags, eventfd};

/// The key of what `block_on` was given.
pub(crate) const THE_FUTURE: usize = usize::MAX;
/// What `epoll` says when another thread has woken somebody.
pub(crate) const THE_REMOTE: u64 = u64::MAX;

/// The queue of a thread's event loop.
struct Ready {
    /// Which loop; 0 where there is none.
    id: u64,
    keys: Vec<usize>,
}

thread_local! {
    static READY: RefCell<Ready> = const { RefCell::new(Ready { id: 0, keys: Vec::new() }) };
}

/// From now on this thread's queue is that of loop `id`.
pub(crate) fn claim(id: u64) {
    READY.with_borrow_mut(|ready| {
        assert_eq!(ready.id, 0, "a thread has one event loop at a time");
        *ready = Ready { id, keys: Vec::new() };
    });
}

/// This thread has no event loop any more.
pub(crate) fn give_up() {
    // A thread that is about to end may have no queue already.
    let _ = READY.try_with(|ready| ready.replace(Ready { id: 0, keys: Vec::new() }));
}

/// Takes all who are ready, in the order in which they were woken; `room` is empty.
pub(crate) fn take(room: &mut Vec<usize>) {
    READY.with_borrow_mut(|ready| std::mem::swap(room, &mut ready.keys));
}

/// Puts back who was taken and has not had a turn.
pub(crate) fn put_back(keys: impl Iterator<Item = usize>) {
    READY.with_borrow_mut(|ready| drop(ready.keys.splice(..0, keys)));
}

/// Whether nobody is ready.
pub(crate) fn is_empty() -> bool {
    READY.with_borrow(|ready| ready.keys.is_empty())
}

/// What wakes a task.
pub(crate) struct Handle {
    key: usize,
    /// It is in a queue already.
    is_queued: AtomicBool,
    /// The loop of `remote`.
    id: u64,
    remote: Arc<Remote>,
}

impl Handle {
    pub(crate) fn new(key: usize, remote: Arc<Remote>) -> Handle {
        Handle { key, is_queued: AtomicBool::new(false), id: remote.id, remote }
    }

    /// It has its turn: whoever wakes it from now on queues it again.
    pub(crate) fn begin(&self) {
        self.is_queued.store(false, Ordering::Release);
    }
}

impl Wake for Handle {
    fn wake(self: Arc<Handle>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Handle>) {
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        // A thread that is about to end has no loop any more.
        let is_here = READY.try_with(|ready| {
            let mut ready = ready.borrow_mut();
            let is_here = ready.id == self.id;
            if is_here {
                ready.keys.push(self.key);
            }
            is_here
        });
        if !is_here.unwrap_or(false) {
            self.remote.push(self.key);
        }
    }
}

/// What other threads know of a loop.
pub(crate) struct Remote {
    id: u64,
    keys: Mutex<Vec<usize>>,
    descriptor: OwnedFd,
}

impl Remote {
    pub(crate) fn new() -> io::Result<Remote> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Remote { id, keys: Mutex::default(), descriptor })
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    /// Another thread has woken this one.
    fn push(&self, key: usize) {
        self.keys().push(key);
        // A counter that is full has woken the loop already.
        let _ = rustix::io::write(&self.descriptor, &1u64.to_ne_bytes());
    }

    /// Queues who was woken by other threads. On the loop's own thread.
    pub(crate) fn hand_over(&self) {
        let _ = rustix::io::read(&self.descriptor, &mut [0u8; 8]);
        let woken = std::mem::take(&mut *self.keys());
        READY.with_borrow_mut(|ready| ready.keys.extend(woken));
    }

    /// No panic can leave the list half changed.
    fn keys(&self) -> MutexGuard<'_, Vec<usize>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
