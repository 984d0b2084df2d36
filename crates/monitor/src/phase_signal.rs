//! What background work waits for: the beginning of the measured phase, an instant, and the end of
//! the load. Not here: what it does.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::wall_clock;

#[derive(Default)]
struct State {
    /// The beginning of the measured phase, as soon as it is known.
    start: Option<Instant>,
    is_over: bool,
}

/// Between the load and what works beside it.
#[derive(Default)]
pub struct PhaseSignal {
    state: Mutex<State>,
    changed: Condvar,
    n_server_actions: AtomicU32,
}

/// Why somebody woke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// What was waited for has happened.
    Done,
    /// The instant has come.
    Due,
    /// The load is over.
    Over,
}

impl PhaseSignal {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The measured phase begins at `start`.
    pub fn begin(&self, start: Instant) {
        self.state().start = Some(start);
        self.changed.notify_all();
    }

    /// The load is over.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Whether the load is over.
    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Somebody waits for something that has happened now.
    pub fn wake(&self) {
        // Held for a moment, so that nobody is between looking and waiting.
        drop(self.state());
        self.changed.notify_all();
    }

    /// Nanoseconds from the beginning of the measured phase; 0 if there was none.
    pub fn now_ns(&self) -> i64 {
        self.state().start.map_or(0, |start| wall_clock::since(start, wall_clock::now()))
    }

    /// The beginning of the measured phase, as soon as it is known; none if the load is over.
    pub fn wait_for_start(&self) -> Option<Instant> {
        let mut state = self.state();
        while state.start.is_none() && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.start.filter(|_| !state.is_over)
    }

    /// Waits until `is_done`, until an instant, or until the load is over.
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

    /// How often somebody began or ended doing something to the server.
    pub fn n_server_actions(&self) -> u32 {
        self.n_server_actions.load(Ordering::Acquire)
    }

    /// Somebody begins or ends doing something to the server.
    pub fn count_server_action(&self) {
        self.n_server_actions.fetch_add(1, Ordering::AcqRel);
    }
}
