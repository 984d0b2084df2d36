//! Figures of transactions by the time at which they ended, as other programs count them: intervals
//! of some seconds, and the whole run.
//!
//! Not here: the tally, in which a transaction belongs to the second in which it was intended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use analysis::Tally;
use engine::{Recorded, RecordedAs, SampleHook};
use model::{DbErrorKind, Event, KindIndex, NS_PER_S, Outcome, Phase, Traffic};
use stats::{Histogram, Moments};

/// Number of separately locked parts, over which clients are spread.
const N_SHARDS: usize = 8;

/// Figures of the transactions that ended within some time.
#[derive(Clone, Default)]
pub struct Ended {
    /// Response times of those that finished, in nanoseconds: from the intended start.
    pub response: Histogram,
    /// Delays from the intended start to the first request of those that finished, in nanoseconds.
    pub lag: Moments,
    /// Number of those that failed, by client, transaction type and error.
    pub failures: BTreeMap<(u32, KindIndex, DbErrorKind), u64>,
    /// Number of those that were retried, and of their retries, by transaction type.
    pub retried: BTreeMap<KindIndex, (u64, u64)>,
    /// Number of those that were not executed, because they had waited too long.
    pub skipped: u64,
    /// Statements of all of them.
    pub traffic: Traffic,
    /// For each client, the number of those that finished, and their response times in nanoseconds.
    pub clients: BTreeMap<u32, (u64, u64)>,
}

impl Ended {
    /// Adds a transaction that has ended, or an attempt that is retried. `before` is the traffic of
    /// its earlier attempts, which were added before.
    fn record(&mut self, recorded: &Recorded<'_>, before: Traffic) {
        let Recorded { client, sample, .. } = recorded;
        self.traffic += sample.traffic - before;
        match recorded.recorded_as {
            RecordedAs::Ended => {}
            RecordedAs::Retried => return,
            RecordedAs::Skipped => {
                self.skipped += 1;
                return;
            }
        }
        if sample.retries > 0 {
            let (count, retries) = self.retried.entry(sample.kind).or_default();
            (*count, *retries) = (*count + 1, *retries + u64::from(sample.retries));
        }
        let error = match sample.outcome {
            Outcome::Committed | Outcome::RolledBack | Outcome::Ignored(_) => None,
            Outcome::Failed(error) => Some(error),
            Outcome::Unknown => Some(DbErrorKind::UnknownCommit),
        };
        if let Some(error) = error {
            *self.failures.entry((*client, sample.kind, error)).or_default() += 1;
            return;
        }
        let response_ns = sample.response_ns();
        self.response.record(response_ns);
        self.lag.record(sample.wait_ns() + sample.lag_ns());
        let (count, sum_ns) = self.clients.entry(*client).or_default();
        (*count, *sum_ns) = (*count + 1, *sum_ns + response_ns);
    }

    fn add(&mut self, other: &Ended) {
        self.response.add(&other.response);
        self.lag.add(&other.lag);
        for (of, count) in &other.failures {
            *self.failures.entry(*of).or_default() += count;
        }
        for (kind, (count, retries)) in &other.retried {
            let mine = self.retried.entry(*kind).or_default();
            *mine = (mine.0 + count, mine.1 + retries);
        }
        self.skipped += other.skipped;
        self.traffic += other.traffic;
        for (client, (count, sum_ns)) in &other.clients {
            let mine = self.clients.entry(*client).or_default();
            *mine = (mine.0 + count, mine.1 + sum_ns);
        }
    }
}

/// Returns the second with which an event ends the figures of a run so far, by the time at which
/// transactions end; `None` if it ends none, such as in the drain.
pub fn ended_with(event: &Event, tally: &Tally) -> Option<i64> {
    let is_draining = tally.phases.last().is_some_and(|(phase, _)| *phase == Phase::Drain);
    match event {
        Event::Second(part) if !is_draining => Some(part.second + 1),
        _ => None,
    }
}

/// Clients that are collected together.
#[derive(Default)]
struct Shard {
    /// Intervals that were not taken yet, by their index.
    intervals: BTreeMap<u64, Ended>,
    /// Traffic of the attempts so far of transactions that are tried again, by client.
    attempts: BTreeMap<u32, Traffic>,
}

/// Collector of transactions of a run by the time at which they ended. Those that ended before the
/// measured phase are left out. The traffic of an attempt that is retried belongs to the interval
/// in which that attempt ended.
pub struct ByEnd {
    /// Length of an interval in nanoseconds.
    every_ns: u64,
    shards: [Mutex<Shard>; N_SHARDS],
    /// Sum of the intervals that were taken.
    taken: Mutex<Ended>,
}

impl ByEnd {
    /// Creates a collector with intervals of `every_s` seconds; with a single one if that is
    /// `None`.
    pub fn new(every_s: Option<u64>) -> Arc<ByEnd> {
        let every_ns = every_s.map_or(u64::MAX, |every_s| every_s.saturating_mul(NS_PER_S));
        Arc::new(ByEnd { every_ns, shards: Default::default(), taken: Mutex::default() })
    }

    /// Returns the function that gets each transaction of the run.
    pub fn hook(self: &Arc<ByEnd>) -> SampleHook {
        let this = Arc::clone(self);
        Arc::new(move |recorded: &Recorded<'_>| this.record(recorded))
    }

    /// Adds a transaction to the interval in which it ended.
    pub fn record(&self, recorded: &Recorded<'_>) {
        let ended_ns = recorded.sample.finished_ns.checked_sub(recorded.measure_start_ns);
        let Some(ended_ns) = ended_ns else { return };
        let shard = &self.shards[recorded.client as usize % N_SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match recorded.recorded_as {
            RecordedAs::Retried => {
                *shard.attempts.entry(recorded.client).or_default() += recorded.sample.traffic;
                Traffic::default()
            }
            RecordedAs::Ended => shard.attempts.remove(&recorded.client).unwrap_or_default(),
            RecordedAs::Skipped => Traffic::default(),
        };
        let interval = shard.intervals.entry(ended_ns / self.every_ns).or_default();
        interval.record(recorded, before);
    }

    /// Returns what ended in interval `nth`, which is over. Intervals are taken in order.
    pub fn take(&self, nth: u64) -> Ended {
        let mut sum = Ended::default();
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let intervals = &mut shard.intervals;
            while let Some(first) = intervals.first_entry().filter(|first| *first.key() <= nth) {
                sum.add(&first.remove());
            }
        }
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).add(&sum);
        sum
    }

    /// Returns all that has ended so far.
    pub fn all(&self) -> Ended {
        self.take(u64::MAX);
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use model::{NS_PER_MS, Number, Sample, Slot};

    use super::*;

    /// Adds a transaction of `client`: its intended start and its end, in milliseconds.
    fn add(by_end: &ByEnd, client: u32, from_ms: u64, to_ms: u64, outcome: Outcome) {
        add_as(by_end, RecordedAs::Ended, client, [from_ms, to_ms], outcome, 3);
    }

    fn add_as(
        by_end: &ByEnd,
        recorded_as: RecordedAs,
        client: u32,
        [from_ms, to_ms]: [u64; 2],
        outcome: Outcome,
        reads: u64,
    ) {
        let begin_ms = 1_000;
        let at_ns = |ms: u64| (begin_ms + ms) * NS_PER_MS;
        let number = Number::Arrival { group: 0, nth: 0 };
        let slot = Slot { number, intended_ns: at_ns(from_ms), claimed_ns: at_ns(to_ms) - 7 };
        let sample = Sample {
            kind: 0,
            slot,
            started_ns: at_ns(to_ms) - 5,
            finished_ns: at_ns(to_ms),
            outcome,
            retries: client,
            traffic: Traffic { reads, ..Traffic::default() },
        };
        let measure_start_ns = begin_ms * NS_PER_MS;
        by_end.record(&Recorded { client, sample: &sample, measure_start_ns, recorded_as });
    }

    #[test]
    fn an_attempt_that_is_retried_counts_when_it_ended() {
        let by_end = ByEnd::new(Some(1));
        let failed = Outcome::Failed(DbErrorKind::Deadlock);
        add_as(&by_end, RecordedAs::Retried, 0, [100, 500], failed, 2);
        add_as(&by_end, RecordedAs::Retried, 0, [100, 1_500], failed, 2);
        let first = by_end.take(0);
        assert_eq!((first.traffic.reads, first.failures.len(), first.response.count()), (2, 0, 0));
        add_as(&by_end, RecordedAs::Ended, 0, [100, 1_900], Outcome::Committed, 7);
        let second = by_end.take(1);
        assert_eq!((second.traffic.reads, second.response.count()), (5, 1));
        assert_eq!(by_end.all().traffic.reads, 7);
    }

    #[test]
    fn a_transaction_belongs_to_the_interval_in_which_it_ended() {
        let by_end = ByEnd::new(Some(1));
        // Of a queue that grows, the later arrivals end ever later.
        add(&by_end, 0, 100, 900, Outcome::Committed);
        add(&by_end, 1, 100, 1_100, Outcome::Committed);
        add(&by_end, 9, 200, 1_400, Outcome::Failed(DbErrorKind::Deadlock));
        add(&by_end, 0, 300, 3_050, Outcome::Committed);
        let first = by_end.take(0);
        assert_eq!((first.response.count(), first.traffic.reads), (1, 3));
        let second = by_end.take(1);
        assert_eq!((second.response.count(), second.failures.len()), (1, 1));
        assert_eq!(second.response.max(), 1_000 * NS_PER_MS);
        assert_eq!(second.lag.max, 1_000 * NS_PER_MS - 5);
        assert!(by_end.take(2).response.is_empty());
        let all = by_end.all();
        assert_eq!((all.response.count(), all.traffic.reads), (3, 12));
        assert_eq!(all.failures, [((9, 0, DbErrorKind::Deadlock), 1)].into());
        assert_eq!(all.retried, [(0, (2, 10))].into());
        let clients: Vec<(u32, (u64, u64))> = all.clients.into_iter().collect();
        let ms = |count: u64, ms: u64| (count, ms * NS_PER_MS);
        assert_eq!(clients, [(0, ms(2, 3_550)), (1, ms(1, 1_000))]);
    }
}
