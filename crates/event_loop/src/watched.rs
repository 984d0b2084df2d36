//! File descriptors that an event loop watches, and whether they can be read and written.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rustix::event::epoll::{self, EventFlags};
use slab::Slab;

thread_local! {
    /// File descriptors that the event loop of this thread watches.
    static CURRENT: RefCell<Weak<Sources>> = const { RefCell::new(Weak::new()) };
}

/// All descriptors watched by one event loop, with their readiness.
pub(crate) struct Sources {
    epoll: OwnedFd,
    all: RefCell<Slab<Source>>,
}

impl Sources {
    /// Creates the set of file descriptors that this thread's event loop watches. From now on, new
    /// [`Watched`] descriptors of the thread are added to it.
    pub(crate) fn enter(epoll: OwnedFd) -> Rc<Sources> {
        let sources = Rc::new(Sources { epoll, all: RefCell::default() });
        CURRENT.set(Rc::downgrade(&sources));
        sources
    }

    pub(crate) fn epoll(&self) -> &OwnedFd {
        &self.epoll
    }

    /// Updates the readiness of the descriptor with this key after an event, and wakes the tasks
    /// that wait for it. Does nothing if the descriptor is no longer watched.
    pub(crate) fn happened(&self, key: usize, flags: EventFlags) {
        if let Some(source) = self.all.borrow_mut().get_mut(key) {
            source.happened(flags);
        }
    }
}

/// Marks this thread as having no event loop, so that nothing can be watched any more.
pub(crate) fn leave() {
    // A thread that is about to end may have none already.
    let _ = CURRENT.try_with(|current| current.replace(Weak::new()));
}

/// Readiness of one descriptor for reads and writes.
struct Source {
    readable: Direction,
    writable: Direction,
}

#[derive(Default)]
struct Direction {
    /// Whether reads (or writes) of the descriptor may succeed: an event reported so, and no read
    /// (or write) has blocked since.
    is_ready: bool,
    /// Whether a task waits until the descriptor can be read (or written); `waker` wakes that task.
    is_awaited: bool,
    /// Waker of the last task that waited. It is kept because the next task to wait is mostly the
    /// same.
    waker: Option<Waker>,
}

impl Direction {
    fn set_ready(&mut self) {
        self.is_ready = true;
        if std::mem::take(&mut self.is_awaited)
            && let Some(waker) = &self.waker
        {
            waker.wake_by_ref();
        }
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.is_ready {
            return Poll::Ready(());
        }
        let is_same = self.waker.as_ref().is_some_and(|kept| kept.will_wake(context.waker()));
        if !is_same {
            self.waker = Some(context.waker().clone());
        }
        self.is_awaited = true;
        Poll::Pending
    }
}

impl Source {
    /// Records that an event has made the descriptor readable or writable. Errors and the end of a
    /// connection do both, so that a read or write encounters them.
    fn happened(&mut self, flags: EventFlags) {
        let is_over = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        if is_over || flags.intersects(EventFlags::IN | EventFlags::RDHUP) {
            self.readable.set_ready();
        }
        if is_over || flags.contains(EventFlags::OUT) {
            self.writable.set_ready();
        }
    }
}

/// A file descriptor that the event loop of this thread watches until this value is dropped.
///
/// Events are edge-triggered: after a read or write that is incomplete or fails with `EAGAIN`, call
/// [`Watched::clear_readable`] or [`Watched::clear_writable`]; otherwise the next wait returns at
/// once.
pub struct Watched {
    sources: Rc<Sources>,
    key: usize,
    descriptor: Arc<OwnedFd>,
}

impl Watched {
    /// Starts to watch a descriptor, which must be non-blocking. Fails if `epoll` cannot watch it;
    /// panics if the thread has no event loop.
    pub fn new(descriptor: Arc<OwnedFd>) -> io::Result<Watched> {
        let sources = CURRENT.with_borrow(Weak::upgrade).expect("this thread has an event loop");
        let source = Source { readable: Direction::default(), writable: Direction::default() };
        let key = sources.all.borrow_mut().insert(source);
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let data = epoll::EventData::new_u64(key as u64);
        if let Err(error) = epoll::add(&sources.epoll, &descriptor, data, flags) {
            sources.all.borrow_mut().remove(key);
            return Err(error.into());
        }
        Ok(Watched { sources, key, descriptor })
    }

    /// Waits until a read may succeed. Returns at once unless [`Watched::clear_readable`] was
    /// called after the last event.
    #[inline]
    pub fn poll_readable(&self, context: &Context<'_>) -> Poll<()> {
        self.with(|source| source.readable.poll(context))
    }

    /// Waits until a write may succeed. Returns at once unless [`Watched::clear_writable`] was
    /// called after the last event.
    #[inline]
    pub fn poll_writable(&self, context: &Context<'_>) -> Poll<()> {
        self.with(|source| source.writable.poll(context))
    }

    /// Records that a read would block, so that [`Watched::poll_readable`] waits for the next
    /// event.
    #[inline]
    pub fn clear_readable(&self) {
        self.with(|source| source.readable.is_ready = false);
    }

    /// Records that a write would block, so that [`Watched::poll_writable`] waits for the next
    /// event.
    #[inline]
    pub fn clear_writable(&self) {
        self.with(|source| source.writable.is_ready = false);
    }

    #[inline]
    fn with<T>(&self, act: impl FnOnce(&mut Source) -> T) -> T {
        act(&mut self.sources.all.borrow_mut()[self.key])
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // The descriptor may be closed already, so an error is ignored.
        let _ = epoll::delete(&self.sources.epoll, &self.descriptor);
        let source = self.sources.all.borrow_mut().try_remove(self.key);
        drop(source);
    }
}
