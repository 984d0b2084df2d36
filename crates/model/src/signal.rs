//! A counter that wakes waiting tasks when it is incremented. Not here: the data that it announces.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A counter whose increments wake waiters on threads, on event loops and in virtual time.
///
/// A waiter reads the count, looks for work, and if there is none waits until the count differs
/// from the one it has read, so that it misses no increment in between.
#[derive(Debug, Default)]
pub struct Signal {
    state: Mutex<State>,
    raised: Condvar,
}

#[derive(Debug, Default)]
struct State {
    count: u64,
    wakers: Vec<Waker>,
}

impl Signal {
    /// Returns the number of times that the signal was raised.
    pub fn count(&self) -> u64 {
        self.lock().count
    }

    /// Increments the count and wakes all waiters.
    pub fn raise(&self) {
        let mut state = self.lock();
        state.count += 1;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.raised.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns `Ready` if the count differs from `seen`, the count that the caller read last;
    /// otherwise `Pending`, and the task is woken when the count changes.
    pub fn poll(&self, seen: u64, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.count != seen {
            return Poll::Ready(());
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Blocks the thread until the count differs from `seen`, the count that the caller read last,
    /// or `is_over` returns true. Calls `is_over` first and after each increment.
    pub fn block(&self, seen: u64, is_over: impl Fn() -> bool) {
        let mut state = self.lock();
        while state.count == seen && !is_over() {
            state = self.raised.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_task_is_woken_once_by_what_it_has_not_seen() {
        let (signal, woken) = (Signal::default(), Arc::new(Woken::default()));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let seen = signal.count();
        assert!(signal.poll(seen, &mut context).is_pending());
        assert!(signal.poll(seen, &mut context).is_pending());
        signal.raise();
        signal.raise();
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
        assert!(signal.poll(seen, &mut context).is_ready());
        assert!(signal.poll(signal.count(), &mut context).is_pending());
    }

    #[test]
    fn a_thread_waits_for_another_one() {
        let signal = Signal::default();
        let seen = signal.count();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| signal.block(seen, || false));
            signal.raise();
            waiting.join().expect("it ends");
        });
        signal.block(signal.count(), || true);
    }
}
