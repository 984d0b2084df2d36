//! Queue of requests that read the reports of many runs. One request reads at a time, so that
//! threads and memory are left for others, and is interrupted when its client is gone.
//!
//! Not here: the choice of these requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Queue of requests that read the reports of many runs: only one request has the turn at a time.
pub(super) struct Turns(Arc<Semaphore>);

/// Turn of a request to read the reports of many runs. The turn ends when this value is dropped.
pub(super) struct Turn {
    is_gone: Arc<AtomicBool>,
    _permit: OwnedSemaphorePermit,
}

/// Client that waits for the response to a request in [`Turns`]. Dropping this value marks the
/// client as gone, so that reading can stop.
pub(super) struct Waiting(Arc<AtomicBool>);

impl Default for Turns {
    fn default() -> Turns {
        Turns(Arc::new(Semaphore::new(1)))
    }
}

impl Turns {
    /// Waits until this request has the turn. The caller keeps the [`Waiting`] as long as its
    /// client waits for a response.
    pub(super) async fn take(&self) -> (Waiting, Turn) {
        let is_gone = Arc::new(AtomicBool::new(false));
        let waiting = Waiting(Arc::clone(&is_gone));
        let permit = Arc::clone(&self.0).acquire_owned().await.expect("it is never closed");
        (waiting, Turn { is_gone, _permit: permit })
    }
}

impl Turn {
    /// Returns a function that returns true if the client of this turn is gone.
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
