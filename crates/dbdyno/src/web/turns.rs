//! Turns of requests that read the reports of many runs: one at a time, so that threads and memory
//! are left for others, and interrupted when the client is gone.
//!
//! Not here: the choice of these requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The current turn and the queue.
pub(super) struct Turns(Arc<Semaphore>);

/// A turn, which ends on drop.
pub(super) struct Turn {
    is_gone: Arc<AtomicBool>,
    _permit: OwnedSemaphorePermit,
}

/// A client that waits for a response; drop means that it is gone.
pub(super) struct Waiting(Arc<AtomicBool>);

impl Default for Turns {
    fn default() -> Turns {
        Turns(Arc::new(Semaphore::new(1)))
    }
}

impl Turns {
    /// Waits for a turn, until the request is dropped.
    pub(super) async fn take(&self) -> (Waiting, Turn) {
        let is_gone = Arc::new(AtomicBool::new(false));
        let waiting = Waiting(Arc::clone(&is_gone));
        let permit = Arc::clone(&self.0).acquire_owned().await.expect("it is never closed");
        (waiting, Turn { is_gone, _permit: permit })
    }
}

impl Turn {
    /// Returns a function that says whether the client is gone.
    pub(super) fn is_gone(&self) -> impl Fn() -> bool + Send + 'static {
        let is_gone = Arc::clone(&self.is_gone);
        move || is_gone.load(Ordering::Relaxed)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn one_reads_at_a_time_and_learns_that_nobody_waits() {
        let turns = Turns::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = pin!(turns.take());
        let Poll::Ready((waiting, turn)) = first.as_mut().poll(&mut context) else {
            panic!("nobody else reads")
        };
        let mut second = pin!(turns.take());
        assert!(second.as_mut().poll(&mut context).is_pending());
        let is_gone = turn.is_gone();
        assert!(!is_gone());
        drop(waiting);
        assert!(is_gone());
        assert!(second.as_mut().poll(&mut context).is_pending(), "it has not ended yet");
        drop(turn);
        assert!(second.as_mut().poll(&mut context).is_ready());
    }
}
