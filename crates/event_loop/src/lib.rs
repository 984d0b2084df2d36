//! An event loop on one thread, which polls tasks and waits for file descriptors with `epoll` or
//! `io_uring`.
//!
//! Its CPU time is part of each measurement, so it does as little as possible: waking a task pushes
//! it onto a queue; waiting for a descriptor sets a flag and compares the stored waker. Nothing is
//! allocated once a task has waited for each of its descriptors. Not here: clocks (engine) and
//! what bytes mean (drivers).

#![warn(missing_docs)]

mod ready;
mod ring;
mod tasks;
mod watched;

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use slab::Slab;

use ready::{Handle, Remote};
use tasks::Task;
use watched::Sources;

pub use tasks::{Join, Panicked, yield_now};
pub use watched::{Backend, Timer, Watched};

/// Executor of async tasks on one thread, which waits for file descriptors. A thread has at most
/// one `EventLoop` at a time.
pub struct EventLoop {
    remote: Arc<Remote>,
    tasks: RefCell<Slab<Task>>,
    sources: Rc<Sources>,
}

impl EventLoop {
    /// Creates the event loop of this thread, which waits through `backend`.
    ///
    /// # Errors
    ///
    /// Fails if the kernel refuses to create or watch the file descriptors of the loop, or to wait
    /// through `backend`.
    ///
    /// # Panics
    ///
    /// Panics if the thread already has an event loop.
    pub fn new(backend: Backend) -> io::Result<EventLoop> {
        let remote = Remote::new()?;
        ready::claim(remote.id());
        // From here on, what is claimed is given up when the loop is dropped.
        let sources = match Sources::enter(backend, remote.descriptor()) {
            Ok(sources) => sources,
            Err(error) => {
                ready::give_up();
                return Err(error);
            }
        };
        Ok(EventLoop { remote: Arc::new(remote), tasks: RefCell::default(), sources })
    }

    /// Returns the interface by which the loop waits.
    pub fn backend(&self) -> Backend {
        self.sources.backend()
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
    /// task is ready. Panics if the kernel fails to wait.
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

    /// Takes what has happened to the file descriptors and wakes the tasks that wait for it. Blocks
    /// until something happens if no task is ready.
    fn wait(&self) {
        match self.sources.wait(ready::is_empty()) {
            Ok(true) => self.remote.hand_over(),
            Ok(false) => {}
            Err(error) => panic!("an event loop cannot wait any more: {error}"),
        }
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
