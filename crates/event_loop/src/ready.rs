//! The queue of ready tasks of each thread, into which other threads can also put tasks.
//!
//! Tasks are identified by keys. Not here: the tasks (`tasks`).

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use rustix::event::{EventfdFlags, eventfd};

/// Key of the future passed to `block_on`, which distinguishes it from tasks in the queue of ready
/// tasks.
pub(crate) const THE_FUTURE: usize = usize::MAX;

/// Queue of the ready tasks of a thread's event loop, which are to be polled; tasks are identified
/// by keys.
struct Ready {
    /// Identifier of the event loop of this thread; 0 if the thread has none.
    id: u64,
    keys: Vec<usize>,
}

thread_local! {
    static READY: RefCell<Ready> = const { RefCell::new(Ready { id: 0, keys: Vec::new() }) };
}

/// Assigns this thread's queue of ready tasks to the loop `id`. Panics if the thread already has a
/// loop.
pub(crate) fn claim(id: u64) {
    READY.with_borrow_mut(|ready| {
        assert_eq!(ready.id, 0, "a thread has one event loop at a time");
        *ready = Ready { id, keys: Vec::new() };
    });
}

/// Marks this thread as having no event loop, and discards its queue of ready tasks.
pub(crate) fn give_up() {
    // A thread that is about to end may have no queue already.
    let _ = READY.try_with(|ready| ready.replace(Ready { id: 0, keys: Vec::new() }));
}

/// Moves the keys of all ready tasks into `room`, which must be empty, in the order of their
/// wake-ups.
pub(crate) fn take(room: &mut Vec<usize>) {
    READY.with_borrow_mut(|ready| std::mem::swap(room, &mut ready.keys));
}

/// Puts keys of tasks that [`take`] returned but that were not polled back at the front of the
/// queue.
pub(crate) fn put_back(keys: impl Iterator<Item = usize>) {
    READY.with_borrow_mut(|ready| drop(ready.keys.splice(..0, keys)));
}

/// Whether no task of this thread's event loop is ready.
pub(crate) fn is_empty() -> bool {
    READY.with_borrow(|ready| ready.keys.is_empty())
}

/// Waker of one task, or of the future of `block_on`, that any thread may use.
pub(crate) struct Handle {
    key: usize,
    /// Whether the task is already in a queue of ready tasks.
    is_queued: AtomicBool,
    /// Identifier of the event loop that runs the task.
    id: u64,
    remote: Arc<Remote>,
}

impl Handle {
    pub(crate) fn new(key: usize, remote: Arc<Remote>) -> Handle {
        Handle { key, is_queued: AtomicBool::new(false), id: remote.id, remote }
    }

    /// Records that a poll of the task begins, so that a wake-up from now on queues the task again.
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

/// Queue through which other threads wake the tasks of an event loop.
pub(crate) struct Remote {
    id: u64,
    keys: Mutex<Vec<usize>>,
    descriptor: Arc<OwnedFd>,
}

impl Remote {
    pub(crate) fn new() -> io::Result<Remote> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Remote { id, keys: Mutex::default(), descriptor: Arc::new(descriptor) })
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn descriptor(&self) -> &Arc<OwnedFd> {
        &self.descriptor
    }

    /// Queues a task for the event loop from another thread, and wakes the loop.
    fn push(&self, key: usize) {
        self.keys().push(key);
        // A counter that is full has woken the loop already.
        let _ = rustix::io::write(&self.descriptor, &1u64.to_ne_bytes());
    }

    /// Moves the tasks that other threads have woken to the queue of ready tasks. Must be called on
    /// the loop's own thread.
    pub(crate) fn hand_over(&self) {
        let _ = rustix::io::read(&self.descriptor, &mut [0u8; 8]);
        let woken = std::mem::take(&mut *self.keys());
        READY.with_borrow_mut(|ready| ready.keys.extend(woken));
    }

    /// Locks the keys of tasks woken by other threads. Poisoning is ignored, because no panic can
    /// leave them half changed.
    fn keys(&self) -> MutexGuard<'_, Vec<usize>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
