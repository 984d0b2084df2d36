//! An event loop on one thread, which polls tasks and waits for file descriptors with `epoll`.
//!
//! Its CPU time is part of each measurement, so it does as little as possible: waking a task pushes
//! it onto a queue; waiting for a descriptor sets a flag and compares the stored waker. Nothing is
//! allocated once a task has waited for each of its descriptors. Not here: clocks (engine) and
//! bytes (drivers).

#![warn(missing_docs)]

mod ready;
mod tasks;
mod watched;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use slab::Slab;

use ready::{Handle, Remote, THE_REMOTE};
use tasks::Task;
use watched::Sources;

pub use tasks::{Join, Panicked, yield_now};
pub use watched::Watched;

/// Limit on the events that one `epoll_wait` returns; further events come with the next call. The
/// limit is low, so that the tasks of the first events run soon.
const EVENTS_MAX: usize = 64;

/// Executor of async tasks on one thread, which waits for file descriptors with `epoll`. A thread
/// has at most one `EventLoop` at a time.
pub struct EventLoop {
    remote: Arc<Remote>,
    tasks: RefCell<Slab<Task>>,
    sources: Rc<Sources>,
    events: Cell<Vec<epoll::Event>>,
}

impl EventLoop {
    /// Creates the event loop of this thread.
    ///
    /// # Errors
    ///
    /// Fails if the kernel refuses to create or watch the file descriptors of the loop.
    ///
    /// # Panics
    ///
    /// Panics if the thread already has an event loop.
    pub fn new() -> io::Result<EventLoop> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let remote = Remote::new()?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(THE_REMOTE);
        epoll::add(&epoll, remote.descriptor(), data, flags)?;
        ready::claim(remote.id());
        Ok(EventLoop {
            remote: Arc::new(remote),
            tasks: RefCell::default(),
            sources: Sources::enter(epoll),
            events: Cell::new(Vec::with_capacity(EVENTS_MAX)),
        })
    }

    /// Adds a task to the loop, and returns a future of its result. The task is polled while
    /// [`EventLoop::block_on`] runs, and dropped with the loop.
    pub fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> Join<T> {
        let (join, future) = tasks::joined(future);
        let mut tasks = self.tasks.borrow_mut();
        let entry = tasks.vacant_entry();
        let handle = Handle::new(entry.key(), Arc::clone(&self.remote));
        entry.insert(Task::new(future, handle));
        join
    }

    /// Polls the future and all tasks until the future is done. Waits for file descriptors while no
    /// task is ready. Panics if `epoll` fails.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let handle = Arc::new(Handle::new(ready::THE_FUTURE, Arc::clone(&self.remote)));
        let waker = Waker::from(Arc::clone(&handle));
        waker.wake_by_ref();
        let mut turn = Vec::new();
        loop {
            ready::take(&mut turn);
            let mut keys = turn.drain(..);
            while let Some(key) = keys.next() {
                if key != ready::THE_FUTURE {
                    self.poll(key);
                    continue;
                }
                handle.begin();
                let context = &mut Context::from_waker(&waker);
                if let Poll::Ready(value) = future.as_mut().poll(context) {
                    ready::put_back(keys);
                    return value;
                }
            }
            drop(keys);
            self.wait();
        }
    }

    /// Polls the task with this key, and removes it when it is done. Does nothing if there is no
    /// such task.
    fn poll(&self, key: usize) {
        let taken = self.tasks.borrow_mut().get_mut(key).and_then(Task::take);
        // The task had ended already, and a late wake-up queued its key again.
        let Some(mut work) = taken else { return };
        match work.poll() {
            // The task is removed before its work is dropped, because that may access the tasks.
            Poll::Ready(()) => drop(self.tasks.borrow_mut().try_remove(key)),
            Poll::Pending => {
                if let Some(task) = self.tasks.borrow_mut().get_mut(key) {
                    task.give_back(work);
                }
            }
        }
    }

    /// Reads events of the file descriptors and wakes the tasks that wait for them. Blocks until
    /// there is an event if no task is ready.
    fn wait(&self) {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = (!ready::is_empty()).then_some(&now);
        let mut events = self.events.take();
        events.clear();
        match epoll::wait(self.sources.epoll(), spare_capacity(&mut events), timeout) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => panic!("an event loop cannot wait any more: {error}"),
        }
        for event in &events {
            match event.data.u64() {
                THE_REMOTE => self.remote.hand_over(),
                key => self.sources.happened(key as usize, event.flags),
            }
        }
        self.events.set(events);
    }
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        watched::leave();
        ready::give_up();
    }
}

#[cfg(test)]
mod tests;
