//! Descriptors that a loop watches: whether they can be read and written without a wait.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rustix::event::epoll::{self, EventFlags};
use slab::Slab;

thread_local! {
    /// The event loop of this thread.
    static CURRENT: RefCell<Weak<Sources>> = const { RefCell::new(Weak::new()) };
}

/// What a loop watches.
pub(crate) struct Sources {
    epoll: OwnedFd,
    all: RefCell<Slab<Source>>,
}

impl Sources {
    /// Of this thread's loop: from now on, what the thread watches is among them.
    pub(crate) fn enter(epoll: OwnedFd) -> Rc<Sources> {
        let sources = Rc::new(Sources { epoll, all: RefCell::default() });
        CURRENT.set(Rc::downgrade(&sources));
        sources
    }

    pub(crate) fn epoll(&self) -> &OwnedFd {
        &self.epoll
    }

    /// What the kernel says of one of them; it may be gone by now.
    pub(crate) fn happened(&self, key: usize, flags: EventFlags) {
        if let Some(source) = self.all.borrow_mut().get_mut(key) {
            source.happened(flags);
        }
    }
}

/// This thread has no event loop any more.
pub(crate) fn leave() {
    // A thread that is about to end may have none already.
    let _ = CURRENT.try_with(|current| current.replace(Weak::new()));
}

/// A descriptor as its loop knows it.
struct Source {
    readable: Direction,
    writable: Direction,
}

#[derive(Default)]
struct Direction {
    /// No call has said otherwise since the kernel said so.
    is_ready: bool,
    /// Somebody waits for it: the waker below.
    is_awaited: bool,
    /// Who waited last; kept, since it is mostly the same task again.
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
    /// What the kernel says. An end or an error is found by reading or writing.
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

/// A descriptor that is watched by the event loop of this thread, until this is dropped.
///
/// The kernel says once that there is something: who then reads or writes all that goes, or is
/// refused (`EAGAIN`), must say so ([`Watched::clear_readable`]), or it does not wait for more.
pub struct Watched {
    sources: Rc<Sources>,
    key: usize,
    descriptor: Arc<OwnedFd>,
}

impl Watched {
    /// Watches a descriptor, which must not block.
    ///
    /// # Errors
    /// The kernel cannot watch it.
    ///
    /// # Panics
    /// This thread has no event loop.
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

    /// Waits until there may be something to read.
    #[inline]
    pub fn poll_readable(&self, context: &Context<'_>) -> Poll<()> {
        self.with(|source| source.readable.poll(context))
    }

    /// Waits until there may be room to write.
    #[inline]
    pub fn poll_writable(&self, context: &Context<'_>) -> Poll<()> {
        self.with(|source| source.writable.poll(context))
    }

    /// There is nothing more to read now.
    #[inline]
    pub fn clear_readable(&self) {
        self.with(|source| source.readable.is_ready = false);
    }

    /// There is no more room to write now.
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
        // A descriptor that is watched no more needs no further word.
        let _ = epoll::delete(&self.sources.epoll, &self.descriptor);
        let source = self.sources.all.borrow_mut().try_remove(self.key);
        drop(source);
    }
}
