//! A run second by second, in bounded memory. Not here: whole phases, which are sums of their own.
//!
//! A second is the sum of its parts, and a part may come long after its second: in an overloaded
//! open load what was intended at second 5 ends at second 60. A quantile of what had come first
//! would show the fast ones only, so the response times of a second are kept until late parts
//! are impossible:
//! - the [`WHOLE_MOST`] seconds that were touched last, as histograms (264 KiB each);
//! - the last [`KEPT_SECONDS`], packed (some kB each), and whole again when a part comes;
//! - older ones as three quantiles, which are withdrawn if a part comes even so.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use model::{Counts, Second, Traffic};
use stats::{Histogram, Packed};

/// Number of seconds of a group with an open histogram: the present one, and those that receive
/// late parts.
const WHOLE_MOST: usize = 12;

/// Number of seconds of a group whose histogram is kept: half an hour, about 7 MB.
const KEPT_SECONDS: i64 = 1800;

/// Quantiles of the response times of a second, in nanoseconds.
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

/// The response times of a second, as far as they are kept.
#[derive(Clone, Debug)]
enum Kept {
    Times(Packed),
    Settled(Quantiles),
    /// Unknown, because further times came after it was settled.
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

/// A second of a group.
#[derive(Clone, Debug, Default)]
pub struct SecondTally {
    /// Outcomes of the transactions intended in it.
    pub counts: Counts,
    /// Commits in the second, by type.
    pub commits_by_kind: Vec<u64>,
    /// Commits in the second, by tenth.
    pub tenths: [u32; 10],
    /// Traffic of the transactions that ended in it.
    pub traffic: Traffic,
    /// Longest response time of the transactions intended in it, in nanoseconds; 0 without any.
    pub max_ns: u64,
    /// Number of transactions that waited for a free client at its end; `None` except in open load.
    pub waiting: Option<u64>,
    response: Kept,
}

impl SecondTally {
    /// Returns the commits in the second.
    pub fn commits(&self) -> u64 {
        self.commits_by_kind.iter().sum()
    }

    /// Returns the response times of finished transactions intended in it; `None` if there are
    /// none, or they are no longer kept.
    pub fn response(&self) -> Option<Cow<'_, Histogram>> {
        self.response.histogram()
    }

    /// Returns quantiles of the response times; `None` if there are none, or they are no longer
    /// known.
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
        self.waiting = match (self.waiting, part.waiting) {
            (Some(mine), Some(other)) => Some(mine + other),
            (mine, other) => mine.or(other),
        };
    }
}

/// The seconds of a group, including ramp-up (negative) and drain phase.
#[derive(Clone, Debug, Default)]
pub struct Series {
    seconds: BTreeMap<i64, SecondTally>,
    /// Seconds with an open histogram; the last one used is at the end.
    whole: VecDeque<i64>,
    /// Every second before this one is settled.
    settled_before: Option<i64>,
    /// Sums of wait and service times, by the first second of their window.
    windows: BTreeMap<i64, (u128, u128)>,
}

impl Series {
    /// Returns a second, if anything happened in it.
    pub fn get(&self, second: i64) -> Option<&SecondTally> {
        self.seconds.get(&second)
    }

    /// Returns all seconds in which anything happened, in the order of time.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &SecondTally)> {
        self.seconds.iter().map(|(second, tally)| (*second, tally))
    }

    pub fn first(&self) -> Option<i64> {
        self.seconds.keys().next().copied()
    }

    pub fn last(&self) -> Option<i64> {
        self.seconds.keys().next_back().copied()
    }

    /// Returns the sums of wait and service times, in nanoseconds, of the windows of `length`
    /// seconds between `from` and `to`. `None` if no transaction can wait, or if windows would have
    /// to be divided.
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

/// Returns true if `part` has data of its own second; a part that only begins a window of service,
/// wait and lag has none.
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
