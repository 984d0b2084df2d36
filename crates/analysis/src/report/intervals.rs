//! The measured phase in intervals of several seconds, as a user watches an open load.
//!
//! Response times are those of all transactions intended in the interval; lost ones count as
//! infinite. Not here: seconds (build), and whole phases (times).

use model::NS_PER_S;
use serde::{Deserialize, Serialize};
use stats::rank;

use super::times::ms;
use crate::tally::{Span, Tally};

/// Figures of an interval of the measured phase, all groups together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalReport {
    /// Start of the interval, in seconds of the measured phase.
    pub from_s: f64,
    /// End of the interval, in seconds of the measured phase.
    pub to_s: f64,
    /// Transactions intended in the interval, per second.
    pub offered_per_second: f64,
    /// Commits that finished in the interval, per second.
    pub tps: f64,
    /// Median response time of all offered transactions; null if it falls among lost ones, or if
    /// the times of these seconds are no longer kept.
    pub p50_ms: Option<f64>,
    /// 95th percentile of the response times of all offered transactions; null if it falls among
    /// lost ones, or if the times of these seconds are no longer kept.
    pub p95_ms: Option<f64>,
    /// 99th percentile of the response times of all offered transactions; null if it falls among
    /// lost ones, or if the times of these seconds are no longer kept.
    pub p99_ms: Option<f64>,
    /// Share of wait in wait and service time of finished transactions, in percent. Null in closed
    /// load, and in older runs if their waits were summed over times that the interval would cut.
    pub wait_percent: Option<f64>,
    /// Mean number of transactions waiting for a free client, from readings at the end of each
    /// second. Null in closed and key/think load, in older runs, and if readings are missing
    /// because the generator was paused.
    pub queue_mean: Option<f64>,
    /// Number of transactions intended in the interval that failed after all attempts.
    pub failed: u64,
    /// Number of arrivals in the interval that never began, because the queue was full.
    pub dropped: u64,
    /// Number of transactions intended in the interval that were queued or running at the end of
    /// the run.
    pub unfinished: u64,
}

/// Divides the measured phase into intervals of `seconds` each; the last may be shorter.
pub(super) fn intervals(tally: &Tally, seconds: i64) -> Vec<IntervalReport> {
    let measured = tally.seconds();
    let starts = measured.clone().step_by(usize::try_from(seconds.max(1)).unwrap_or(1));
    starts.map(|from| interval(tally, from, (from + seconds).min(measured.end))).collect()
}

/// Returns the mean number of waiting transactions over the seconds `from` to `to` (exclusive),
/// from readings at the beginning and end of each. `None` if a second has no reading, since the
/// mean of the others could mislead.
fn queue_mean(tally: &Tally, from: i64, to: i64) -> Option<f64> {
    let over = |second: i64| match (tally.waiting(second - 1), tally.waiting(second)) {
        (Some(before), Some(after)) => Some(f64::midpoint(before as f64, after as f64)),
        (one, other) => one.or(other).map(|n| n as f64),
    };
    let known: Vec<f64> = (from..to).map(over).collect::<Option<_>>()?;
    Some(known.iter().sum::<f64>() / known.len() as f64)
}

fn interval(tally: &Tally, from: i64, to: i64) -> IntervalReport {
    let end_ns = (to as u64 * NS_PER_S).min(tally.measured_ns());
    let length_s = (end_ns as f64 / NS_PER_S as f64 - from as f64).max(f64::MIN_POSITIVE);
    let Span { counts, commits, response, is_whole } = tally.span(from..to);
    let (mut wait_ns, mut service_ns, mut has_windows) = (0u128, 0u128, true);
    let window = tally
        .description
        .as_ref()
        .map_or(model::WINDOW_SECONDS, |described| i64::from(described.window_seconds.max(1)));
    for group in &tally.groups {
        match group.series.windows(from, to, window) {
            Some((wait, service)) => {
                wait_ns += wait;
                service_ns += service;
            }
            None => has_windows = false,
        }
    }
    let quantile = |q: f64| {
        let rank = rank(q, counts.offered().max(1));
        let value = (rank <= response.count()).then(|| response.value_at_rank(rank)).flatten();
        value.filter(|_| is_whole).map(ms)
    };
    let all_ns = wait_ns + service_ns;
    let has_windows = has_windows && all_ns > 0;
    IntervalReport {
        from_s: from as f64,
        to_s: end_ns as f64 / NS_PER_S as f64,
        offered_per_second: counts.offered() as f64 / length_s,
        tps: commits as f64 / length_s,
        p50_ms: quantile(0.50),
        p95_ms: quantile(0.95),
        p99_ms: quantile(0.99),
        wait_percent: has_windows.then(|| wait_ns as f64 / all_ns as f64 * 100.0),
        queue_mean: queue_mean(tally, from, to),
        failed: counts.failed,
        dropped: counts.dropped,
        unfinished: counts.unfinished,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_queue_that_grows_is_reported_as_it_stands() {
        // 500 per second arrive and 400 can be processed; the queue is full at 1,000.
        let tally = fixtures::Made::open_overloaded().tally();
        for seconds in [1, 3, 10] {
            for interval in intervals(&tally, seconds) {
                let queue = interval.queue_mean.expect("an open load has a queue");
                let is_full = interval.from_s >= 10.0;
                assert!(queue == 1000.0 || (!is_full && queue < 1000.0), "{interval:?}");
                let is_whole = seconds == 10 || interval.to_s >= 60.0;
                assert!(is_whole || interval.wait_percent.is_none(), "{interval:?}");
            }
        }
        let mut finer = fixtures::Made::open_overloaded();
        finer.description.window_seconds = 1;
        let finer = finer.tally();
        for seconds in [1, 3, 10] {
            assert!(
                intervals(&finer, seconds).iter().all(|interval| interval.wait_percent.is_some())
            );
        }
        let mut paused = fixtures::Made::open_overloaded();
        for second in &mut paused.seconds {
            second.waiting = second.waiting.filter(|_| !(24..37).contains(&second.second));
        }
        let known = intervals(&paused.tally(), 5)
            .iter()
            .map(|interval| interval.queue_mean.is_some())
            .collect::<Vec<_>>();
        // Of seconds 20 to 25 the last is known from its beginning.
        assert_eq!(
            known,
            [true, true, true, true, true, false, false, false, true, true, true, true]
        );
        let closed = fixtures::Made::closed().tally();
        assert!(intervals(&closed, 10).iter().all(|interval| interval.queue_mean.is_none()));
    }

    #[test]
    fn stretches_add_up_to_the_run() {
        let tally = fixtures::Made::open_overloaded().tally();
        let all = intervals(&tally, 10);
        let offered: f64 = all
            .iter()
            .map(|interval| interval.offered_per_second * (interval.to_s - interval.from_s))
            .sum();
        let within: u64 = tally
            .seconds()
            .flat_map(|second| tally.groups.iter().filter_map(move |g| g.series.get(second)))
            .map(|second| second.counts.offered())
            .sum();
        assert!((offered - within as f64).abs() < 1e-6 * offered, "{offered} and {within}");
        assert!(all.iter().any(|interval| interval.dropped > 0));
        // If more than 1 % is dropped, there is no p99.
        let hopeless =
            all.iter().find(|interval| interval.dropped as f64 > 0.2 * interval.offered_per_second);
        assert!(hopeless.is_some_and(|interval| interval.p99_ms.is_none()));
    }
}
