//! The seconds of a group, in bounded memory. Not here: sums over whole phases (group).
//!
//! A second is the sum of its parts, and a part may arrive long after its second: in an overloaded
//! open load, a transaction intended in second 5 may end in second 60. Quantiles of the first parts
//! would show fast transactions only, so the response times of a second are kept until no more
//! parts can be expected:
//! - as open histograms (264 KiB each) for the [`WHOLE_MOST`] seconds that were changed last;
//! - packed (some kB) for the last [`KEPT_SECONDS`], and opened again when a part arrives;
//! - as three quantiles for older seconds. These are dropped if a part arrives nevertheless.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use model::{Counts, Second, Traffic};
use stats::{Histogram, Packed};

/// Largest number of seconds of a group whose histograms are kept unpacked: the current second, and
/// earlier ones that still receive late figures.
const WHOLE_MOST: usize = 12;

/// Number of latest seconds of a group whose histograms are kept: half an hour, about 7 MB. Of
/// older seconds, only quantiles are kept.
const KEPT_SECONDS: i64 = 1800;

/// Quantiles of the response times of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiles {
    pub p50_ns: u64,
    pub p95_ns: u64,
    pub p99_ns: u64,
}

impl Quantiles {
    /// Returns the quantiles of `histogram`; `None` if it is empty.
    pub fn from_histogram(histogram: &Histogram) -> Option<Quantiles> {
        Some(Quantiles {
            p50_ns: histogram.quantile(0.50)?,
            p95_ns: histogram.quantile(0.95)?,
            p99_ns: histogram.quantile(0.99)?,
        })
    }
}

/// Response times of a second, in the form in which they are kept.
#[derive(Clone, Debug)]
enum Kept {
    Times(Packed),
    Settled(Quantiles),
    /// Nothing is kept, because more times arrived after the histogram had been replaced by
    /// quantiles.
    Unknown,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept::Times(Packed::Empty)
    }
}

impl Kept {
    fn histogram(&self) -> Option<Cow<'_, Histogram>> {
        match self {
            Kept::Times(times) => times.histogram(),
            Kept::Settled(_) | Kept::Unknown => None,
        }
    }

    fn add(&mut self, other: &Histogram) {
        match self {
            Kept::Times(times) => times.add(other),
            Kept::Settled(_) | Kept::Unknown => *self = Kept::Unknown,
        }
    }

    fn pack(&mut self) {
        if let Kept::Times(times) = self {
            times.pack();
        }
    }

    fn settle(&mut self) {
        let quantiles = self.histogram().and_then(|times| Quantiles::from_histogram(&times));
        if let Some(quantiles) = quantiles {
            *self = Kept::Settled(quantiles);
        }
    }
}

/// Sums of one second of one group.
#[derive(Clone, Debug, Default)]
pub struct SecondTally {
    /// Outcomes of the transactions intended in this second.
    pub counts: Counts,
    /// Commits that finished in this second, by index of the transaction type.
    pub commits_by_kind: Vec<u64>,
    /// Commits that finished in each tenth of this second.
    pub tenths: [u32; 10],
    /// Statements, round trips, rows and bytes of the transactions that ended in this second.
    pub traffic: Traffic,
    /// Longest response time of the finished transactions intended in this second, in nanoseconds;
    /// 0 if there are none.
    pub max_ns: u64,
    /// Number of transactions that waited for a free client at the end of this second; `None`
    /// except in open load.
    pub waiting: Option<u64>,
    /// Number of transactions that clients were executing at the end of this second; `None` except
    /// in open load, and in older runs.
    pub running: Option<u64>,
    response: Kept,
}

impl SecondTally {
    /// Returns the commits of all types that finished in this second.
    pub fn commits(&self) -> u64 {
        self.commits_by_kind.iter().sum()
    }

    /// Returns the response times of finished transactions intended in this second, in nanoseconds;
    /// `None` if there are none, or they are no longer kept.
    pub fn response(&self) -> Option<Cow<'_, Histogram>> {
        self.response.histogram()
    }

    /// Returns quantiles of the response times of transactions intended in this second; `None` if
    /// none finished, or the quantiles are not known.
    pub fn quantiles(&self) -> Option<Quantiles> {
        match &self.response {
            Kept::Settled(quantiles) => Some(*quantiles),
            kept => kept.histogram().and_then(|times| Quantiles::from_histogram(&times)),
        }
    }

    fn add(&mut self, part: &Second) {
        for (mine, other) in self.tenths.iter_mut().zip(part.commits_tenths) {
            *mine = mine.saturating_add(other);
        }
        for kind in &part.kinds {
            self.counts.add(&kind.counts);
            self.traffic += kind.traffic;
            let index = usize::from(kind.kind);
            if index >= self.commits_by_kind.len() {
                self.commits_by_kind.resize(index + 1, 0);
            }
            self.commits_by_kind[index] += kind.commits;
            if let Some(response) = &kind.response {
                self.max_ns = self.max_ns.max(response.max());
                self.response.add(response);
            }
        }
        // Each process of clients reads its own queue, once.
        let sum = |mine: Option<u64>, other: Option<u64>| match (mine, other) {
            (Some(mine), Some(other)) => Some(mine + other),
            (mine, other) => mine.or(other),
        };
        self.waiting = sum(self.waiting, part.waiting);
        self.running = sum(self.running, part.running);
    }
}

/// Figures of each second of a group, from the ramp-up (negative seconds) to the drain.
#[derive(Clone, Debug, Default)]
pub struct Series {
    seconds: BTreeMap<i64, SecondTally>,
    /// Seconds whose histograms are not packed yet to save memory, in the order of their last
    /// change.
    whole: VecDeque<i64>,
    /// First second whose histogram is kept; of earlier ones only quantiles are. `None` until a run
    /// has more than [`KEPT_SECONDS`].
    settled_before: Option<i64>,
    /// Sums of wait and service times in nanoseconds, by the first second of the window (usually 10
    /// s) for which they were recorded.
    windows: BTreeMap<i64, (u128, u128)>,
}

impl Series {
    /// Returns the sums of a second; `None` if nothing happened in it.
    pub fn get(&self, second: i64) -> Option<&SecondTally> {
        self.seconds.get(&second)
    }

    /// Returns the seconds in which anything happened, with their sums, in the order of time.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &SecondTally)> {
        self.seconds.iter().map(|(second, tally)| (*second, tally))
    }

    pub fn first(&self) -> Option<i64> {
        self.seconds.keys().next().copied()
    }

    pub fn last(&self) -> Option<i64> {
        self.seconds.keys().next_back().copied()
    }

    /// Returns the sums of wait and service times, in nanoseconds, from second `from` to before
    /// second `to`. They are recorded for windows of `length` seconds. `None` if waits are not
    /// recorded, as in closed load, or if `from` or `to` lies within a window.
    pub fn windows(&self, from: i64, to: i64, length: i64) -> Option<(u128, u128)> {
        let is_whole =
            from % length == 0 && (to % length == 0 || self.seconds.range(to..).next().is_none());
        if self.windows.is_empty() || !is_whole {
            return None;
        }
        let within = self.windows.range(from..to).map(|(_, sums)| *sums);
        Some(within.fold((0, 0), |sum, window| (sum.0 + window.0, sum.1 + window.1)))
    }

    pub(super) fn add(&mut self, part: &Second) {
        for kind in &part.kinds {
            if let (Some(wait), Some(service)) = (&kind.wait, &kind.service) {
                let window = self.windows.entry(part.second).or_default();
                window.0 += wait.sum();
                window.1 += service.sum();
            }
        }
        if !happened(part) {
            return;
        }
        self.seconds.entry(part.second).or_default().add(part);
        self.whole.retain(|second| *second != part.second);
        self.whole.push_back(part.second);
        if self.whole.len() > WHOLE_MOST
            && let Some(oldest) = self.whole.pop_front()
            && let Some(second) = self.seconds.get_mut(&oldest)
        {
            second.response.pack();
        }
        self.settle();
    }

    fn settle(&mut self) {
        let (Some(first), Some(last)) = (self.first(), self.last()) else { return };
        let edge = last - KEPT_SECONDS;
        let from = self.settled_before.unwrap_or(first);
        if from < edge {
            for (_, second) in self.seconds.range_mut(from..edge) {
                second.response.settle();
            }
            self.settled_before = Some(edge);
        }
    }
}

/// Returns true if `part` has counts or times of its own second. It may exist only to carry the
/// service, wait and lag times of the window that begins with its second.
fn happened(part: &Second) -> bool {
    let kinds = &part.kinds;
    part.commits_tenths.iter().any(|&n| n > 0)
        || part.waiting.is_some_and(|n| n > 0)
        || kinds.iter().any(|kind| {
            kind.counts.offered() > 0
                || kind.commits > 0
                || kind.traffic.queries() > 0
                || kind.response.is_some()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(second: i64, response_ms: u64) -> Second {
        let mut part = Second::new(0, second);
        let kind = part.kind(0);
        kind.counts.committed = 1;
        let mut histogram = Histogram::default();
        histogram.record(response_ms * 1_000_000);
        kind.response = Some(histogram);
        part
    }

    fn p99_ms(series: &Series, second: i64) -> Option<u64> {
        let quantiles = series.get(second).and_then(SecondTally::quantiles);
        quantiles.map(|q| (q.p99_ns + 500_000) / 1_000_000)
    }

    #[test]
    fn a_part_that_comes_a_minute_late_still_moves_the_quantile() {
        let mut series = Series::default();
        for second in 0..100 {
            series.add(&part(second, 10));
        }
        assert!(series.get(5).is_some_and(|s| matches!(s.response, Kept::Times(Packed::Bytes(_)))));
        assert_eq!(p99_ms(&series, 5), Some(10));
        series.add(&part(5, 90_000));
        assert_eq!(
            series.get(5).map(|s| (s.counts.committed, s.max_ns)),
            Some((2, 90_000_000_000))
        );
        let p99 = p99_ms(&series, 5).expect("kept");
        assert!((89_900..=90_100).contains(&p99), "{p99}");
    }

    #[test]
    fn the_order_of_parts_does_not_matter() {
        let (mut forward, mut backward) = (Series::default(), Series::default());
        for i in 0..200_i64 {
            forward.add(&part(i % 50, 1 + i.unsigned_abs()));
            let i = 199 - i;
            backward.add(&part(i % 50, 1 + i.unsigned_abs()));
        }
        for second in 0..50 {
            assert_eq!(p99_ms(&forward, second), p99_ms(&backward, second));
        }
    }

    #[test]
    fn a_settled_second_says_nothing_rather_than_something_wrong() {
        let mut series = Series::default();
        for second in 0..KEPT_SECONDS + 100 {
            series.add(&part(second, 10));
        }
        assert_eq!(p99_ms(&series, 5), Some(10));
        assert!(series.get(5).is_some_and(|s| s.response().is_none()));
        series.add(&part(5, 90_000));
        assert_eq!(p99_ms(&series, 5), None);
        assert_eq!(
            series.get(5).map(|s| (s.counts.committed, s.max_ns)),
            Some((2, 90_000_000_000))
        );
    }

    #[test]
    fn memory_is_bounded_by_open_histograms() {
        let mut series = Series::default();
        for second in 0..500 {
            series.add(&part(second, 10));
        }
        let open = series
            .iter()
            .filter(|(_, s)| matches!(s.response, Kept::Times(Packed::Open(_))))
            .count();
        assert_eq!(open, WHOLE_MOST);
    }

    #[test]
    fn a_part_that_only_begins_a_window_is_no_second() {
        let mut series = Series::default();
        let mut window = Second::new(0, -10);
        window.lag = Some(Histogram::default());
        series.add(&window);
        assert_eq!(series.first(), None);
    }
}
