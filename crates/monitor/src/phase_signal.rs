//! Signal for work in the background: the start of the measured phase, and the end of the load. Not
//! here: the work.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::wall_clock;

#[derive(Default)]
struct State {
    /// Start of the measured phase; `None` while it is not known.
    start: Option<Instant>,
    is_over: bool,
}

/// Signal by which a run tells threads in the background, such as the monitor's, when the measured
/// phase begins and when the load is over.
#[derive(Default)]
pub struct PhaseSignal {
    state: Mutex<State>,
    changed: Condvar,
    n_server_actions: AtomicU32,
}

/// Reason why [`PhaseSignal::wait`] returned: the awaited condition, the awaited instant, or the
/// end of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The condition that the caller waited for has become true.
    Done,
    /// The instant until which the caller wanted to wait has come.
    Due,
    /// The load of the run is over, so that background work should end.
    Over,
}

impl PhaseSignal {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the start of the measured phase, which may be in the future, and wakes all waiting
    /// threads.
    pub fn begin(&self, start: Instant) {
        self.state().start = Some(start);
        self.changed.notify_all();
    }

    /// Signals that the load is over, which ends all waits.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Makes all threads in [`PhaseSignal::wait`] check their conditions again.
    pub fn wake(&self) {
        // Locked for a moment, so that no waiter is between its check and its wait.
        drop(self.state());
        self.changed.notify_all();
    }

    /// Returns the nanoseconds since the start of the measured phase, negative before it; 0 while
    /// the start is not known.
    pub fn now_ns(&self) -> i64 {
        self.state().start.map_or(0, |start| wall_clock::since(start, wall_clock::now()))
    }

    /// Waits until the start of the measured phase is known, and returns it; `None` if the load is
    /// over.
    pub fn wait_for_start(&self) -> Option<Instant> {
        let mut state = self.state();
        while state.start.is_none() && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.start.filter(|_| !state.is_over)
    }

    /// Waits until `is_done` returns true, until the instant `until` if it is given, or until the
    /// load is over. Returns which of them happened.
    pub fn wait(&self, until: Option<Instant>, is_done: &dyn Fn() -> bool) -> Woken {
        let mut state = self.state();
        loop {
            if is_done() {
                return Woken::Done;
            }
            if state.is_over {
                return Woken::Over;
            }
            let left = until.map(|until| until.saturating_duration_since(wall_clock::now()));
            state = match left {
                Some(Duration::ZERO) => return Woken::Due,
                Some(left) => {
                    let woken = self.changed.wait_timeout(state, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Returns how many starts and ends of actions on the server, such as a restart, were counted
    /// so far. If two results differ, an action took place in between.
    pub fn n_server_actions(&self) -> u32 {
        self.n_server_actions.load(Ordering::Acquire)
    }

    /// Counts the start or the end of an action on the server, such as a restart.
    pub fn count_server_action(&self) {
        self.n_server_actions.fetch_add(1, Ordering::AcqRel);
    }
}
