//! Heartbeats, which measure how late an event loop notices events: on each loop, a timer without
//! any task expires every 10 ms, and its lateness is recorded.
//!
//! While a loop works for other clients, is stopped or has no CPU, replies wait unnoticed in their
//! sockets; the heartbeat shows that. Not here: the kernel's statistics about the loop's thread.

use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Clock, NS_PER_MS};
use stats::Histogram;

use crate::clock::until;
use crate::stop::{NEVER, RUNNING, Stop};

/// Interval of heartbeats, in nanoseconds. One takes about 5 µs of CPU time, so those of one event
/// loop take 0.05 % of a CPU.
const INTERVAL_NS: u64 = 10 * NS_PER_MS;

/// Lateness of an event loop's heartbeats: wake-ups every 10 ms in the measured phase, which come
/// late if the loop is too busy or its thread gets no CPU. In a run that ends after a number of
/// transactions, heartbeats end when the coordinator notices that this number is reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heartbeats {
    /// Lateness of each heartbeat, in nanoseconds. Missed ones are included: a loop that was busy
    /// for 50 ms has missed five.
    pub(crate) lag: Histogram,
    /// Due time of the heartbeat that was late by the most, in nanoseconds of the run's clock;
    /// meaningless while `lag` is empty.
    pub(crate) most_delayed_due_ns: u64,
    /// Due time of the next heartbeat, in nanoseconds of the run's clock; [`NEVER`] before the
    /// measured phase and after its end.
    next_ns: u64,
}

impl Heartbeats {
    /// Records the lateness of all heartbeats that were due up to `now_ns` and are not recorded
    /// yet, except those due at or after `end_ns`, the end of the measured window.
    fn see(&mut self, now_ns: u64, end_ns: u64) {
        while self.next_ns <= now_ns && self.next_ns < end_ns {
            let late_ns = now_ns - self.next_ns;
            if self.lag.is_empty() || late_ns > self.lag.max() {
                self.most_delayed_due_ns = self.next_ns;
            }
            self.lag.record(late_ns);
            self.next_ns += INTERVAL_NS;
        }
    }
}

/// Records the heartbeats until `now_ns` and records none after it, because the loop has no clients
/// any more and may block.
pub(crate) fn end(heartbeats: &Mutex<Heartbeats>, now_ns: u64, end_ns: u64) {
    let mut heartbeats = lock(heartbeats);
    heartbeats.see(now_ns, end_ns);
    heartbeats.next_ns = NEVER;
}

/// Heartbeats of all event loops of a run, by index of the loop.
#[derive(Clone, Default)]
pub(crate) struct AllHeartbeats(Arc<Mutex<Vec<Arc<Mutex<Heartbeats>>>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AllHeartbeats {
    /// Adds heartbeats for one more event loop, and returns them.
    pub(crate) fn of_next_loop(&self) -> Arc<Mutex<Heartbeats>> {
        let heartbeats = Heartbeats { next_ns: NEVER, ..Heartbeats::default() };
        let heartbeats = Arc::new(Mutex::new(heartbeats));
        lock(&self.0).push(Arc::clone(&heartbeats));
        heartbeats
    }

    /// Returns the heartbeats of each loop. Those that were due by `now_ns` but have not expired,
    /// because the loop is still busy, are included as late.
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

/// Waits for each heartbeat of an event loop and records its lateness, from the start of the
/// measured phase to its end.
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
        assert_eq!((heartbeats.most_delayed_due_ns, heartbeats.next_ns), (ms(110), ms(170)));
        // The measured window ends: heartbeats that are due later are not counted.
        heartbeats.see(ms(2_000), ms(175));
        assert_eq!((heartbeats.lag.count(), heartbeats.lag.max()), (8, ms(1_830)));
    }
}
