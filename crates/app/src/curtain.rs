//! What those wait for who work beside the load: the beginning of the measured phase, their time,
//! and the end. Not here: what they do.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::wall;

#[derive(Default)]
struct Scene {
    /// The beginning of the measured phase, as soon as it is known.
    start: Option<Instant>,
    is_over: bool,
}

/// Between the load and those who work beside it.
#[derive(Default)]
pub(crate) struct Curtain {
    scene: Mutex<Scene>,
    changed: Condvar,
    n_server_deeds: AtomicU32,
}

/// Why somebody woke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// What was waited for has happened.
    Done,
    /// The instant has come.
    Due,
    /// The load is over.
    Over,
}

impl Curtain {
    fn scene(&self) -> MutexGuard<'_, Scene> {
        self.scene.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The measured phase begins at `start`.
    pub(crate) fn rise(&self, start: Instant) {
        self.scene().start = Some(start);
        self.changed.notify_all();
    }

    /// The load is over.
    pub(crate) fn fall(&self) {
        self.scene().is_over = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.scene().is_over
    }

    /// Somebody waits for something that has happened now.
    pub(crate) fn wake(&self) {
        // Held for a moment, so that nobody is between looking and waiting.
        drop(self.scene());
        self.changed.notify_all();
    }

    /// Nanoseconds from the beginning of the measured phase; 0 if there was none.
    pub(crate) fn now_ns(&self) -> i64 {
        self.scene().start.map_or(0, |start| since(start, wall::now()))
    }

    /// The beginning of the measured phase, as soon as it is known; none if the load is over.
    pub(crate) fn wait_to_rise(&self) -> Option<Instant> {
        let mut scene = self.scene();
        while scene.start.is_none() && !scene.is_over {
            scene = self.changed.wait(scene).unwrap_or_else(PoisonError::into_inner);
        }
        scene.start.filter(|_| !scene.is_over)
    }

    /// Waits until `is_done`, until an instant, or until the load is over.
    pub(crate) fn wait(&self, until: Option<Instant>, is_done: &dyn Fn() -> bool) -> Woken {
        let mut scene = self.scene();
        loop {
            if is_done() {
                return Woken::Done;
            }
            if scene.is_over {
                return Woken::Over;
            }
            let left = until.map(|until| until.saturating_duration_since(wall::now()));
            scene = match left {
                Some(Duration::ZERO) => return Woken::Due,
                Some(left) => {
                    let woken = self.changed.wait_timeout(scene, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(scene).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// How often somebody began or ended doing something to the server.
    pub(crate) fn n_server_deeds(&self) -> u32 {
        self.n_server_deeds.load(Ordering::Acquire)
    }

    pub(crate) fn count_server_deed(&self) {
        self.n_server_deeds.fetch_add(1, Ordering::AcqRel);
    }
}

/// Nanoseconds from one instant to another; negative if that was before.
pub(crate) fn since(start: Instant, instant: Instant) -> i64 {
    match instant.checked_duration_since(start) {
        Some(after) => after.as_nanos() as i64,
        None => -(start.duration_since(instant).as_nanos() as i64),
    }
}
