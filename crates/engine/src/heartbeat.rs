//! A heartbeat on each event loop: a timer that does nothing, so that its lateness is the loop's
//! own.
//!
//! While a loop works for other clients, is stopped or has no CPU, replies wait unnoticed in their
//! sockets; the heartbeat shows this. Not here: the kernel's statistics of the loop's thread.

use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Clock, NS_PER_MS};
use stats::Histogram;

use crate::clock::until;
use crate::stop::{NEVER, RUNNING, Stop};

/// Interval of heartbeats: a timer and its wake-up cost some 5 µs, a two-thousandth of it.
const INTERVAL_NS: u64 = 10 * NS_PER_MS;

/// Lateness of one loop's heartbeats in the measured phase; in a run that ends with a count, until
/// the coordinator notices that it is reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heartbeats {
    /// Lateness of each heartbeat, including missed ones: a loop that was away for 50 ms has missed
    /// five.
    pub(crate) lag: Histogram,
    /// Due time of the latest heartbeat; meaningless if there is none.
    pub(crate) latest_due_ns: u64,
    /// Due time of the next heartbeat; [`NEVER`] before the measured phase.
    next_ns: u64,
}

impl Heartbeats {
    /// Records all heartbeats that were due by `now_ns`, before the window's end.
    fn see(&mut self, now_ns: u64, end_ns: u64) {
        while self.next_ns <= now_ns && self.next_ns < end_ns {
            let late_ns = now_ns - self.next_ns;
            if self.lag.is_empty() || late_ns > self.lag.max() {
                self.latest_due_ns = self.next_ns;
            }
            self.lag.record(late_ns);
            self.next_ns += INTERVAL_NS;
        }
    }
}

/// Ends the heartbeats: the loop's clients are done, so that it may block.
pub(crate) fn end(heartbeats: &Mutex<Heartbeats>, now_ns: u64, end_ns: u64) {
    let mut heartbeats = lock(heartbeats);
    heartbeats.see(now_ns, end_ns);
    heartbeats.next_ns = NEVER;
}

/// Heartbeats of all loops of a run, in their order.
#[derive(Clone, Default)]
pub(crate) struct AllHeartbeats(Arc<Mutex<Vec<Arc<Mutex<Heartbeats>>>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AllHeartbeats {
    /// Adds the heartbeats of another loop.
    pub(crate) fn of_next_loop(&self) -> Arc<Mutex<Heartbeats>> {
        let heartbeats = Heartbeats { next_ns: NEVER, ..Heartbeats::default() };
        let heartbeats = Arc::new(Mutex::new(heartbeats));
        lock(&self.0).push(Arc::clone(&heartbeats));
        heartbeats
    }

    /// Returns the heartbeats of each loop until `now_ns`. A loop that has not come back is late by
    /// now.
    pub(crate) fn read(&self, now_ns: u64, end_ns: u64) -> Vec<Heartbeats> {
        let all = lock(&self.0);
        let read = |one: &Arc<Mutex<Heartbeats>>| {
            let mut one = lock(one);
            one.see(now_ns, end_ns);
            one.clone()
        };
        all.iter().map(read).collect()
    }
}

/// Runs a loop's heartbeat from the start of the measured phase to its end.
pub(crate) async fn beat(
    clock: Rc<dyn Clock>,
    stop: Arc<Stop>,
    heartbeats: Arc<Mutex<Heartbeats>>,
) {
    lock(&heartbeats).next_ns = stop.measure_start_ns();
    loop {
        let next_ns = lock(&heartbeats).next_ns;
        if stop.word() != RUNNING || next_ns >= stop.end_ns() {
            return;
        }
        until(clock.as_ref(), next_ns).await;
        lock(&heartbeats).see(clock.now(), stop.end_ns());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_was_away_is_late_for_every_heartbeat_that_it_missed() {
        let ms = |ms: u64| ms * NS_PER_MS;
        let mut heartbeats = Heartbeats { next_ns: ms(100), ..Heartbeats::default() };
        heartbeats.see(ms(99), ms(1_000));
        assert!(heartbeats.lag.is_empty());
        heartbeats.see(ms(100), ms(1_000));
        heartbeats.see(ms(161), ms(1_000));
        let late: Vec<u64> = (1..=7)
            .filter_map(|rank| heartbeats.lag.value_at_rank(rank))
            .map(|ns| ns / ms(1))
            .collect();
        assert_eq!(late, [0, 1, 11, 21, 31, 41, 51]);
        assert_eq!((heartbeats.latest_due_ns, heartbeats.next_ns), (ms(110), ms(170)));
        // The window ends: what is due later is not counted.
        heartbeats.see(ms(2_000), ms(175));
        assert_eq!((heartbeats.lag.count(), heartbeats.lag.max()), (8, ms(1_830)));
    }
}
