//! A coarse histogram as the value of a fact: how many numbers fell between a few bounds.
//!
//! Not here: histograms of times, which are fine enough for percentiles (`stats`).

use std::fmt;

/// Coarse histogram that is the value of a `Fact`: how many numbers fell between rising bounds. The
/// last bucket has no upper bound. The unit of the bounds is the last word of the fact's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketCounts {
    /// Upper bound of each bucket, rising, with the count of numbers below it and not below the
    /// previous bound.
    below: Vec<(u64, u64)>,
    /// Number of counted values at or above the last bound.
    beyond: u64,
}

/// Limit on the number of buckets that are parsed from a text, since a table could not show more. A
/// text with more buckets is not read as a histogram.
const BUCKETS_MAX: usize = 100;
/// Separator between the buckets of a coarse histogram in its text form.
const BETWEEN: &str = ", ";

impl BucketCounts {
    /// Creates a histogram from pairs of upper bound and count, in rising order, and the count of
    /// numbers at or above the last bound.
    pub fn new(below: impl IntoIterator<Item = (u64, u64)>, beyond: u64) -> BucketCounts {
        let below: Vec<(u64, u64)> = below.into_iter().collect();
        debug_assert!(is_rising(&below), "{below:?}");
        BucketCounts { below, beyond }
    }

    /// Parses a text such as `<10: 5, <100: 2, >=100: 1`, which [`fmt::Display`] writes; `None` if
    /// the text does not have this form.
    pub(crate) fn parse(text: &str) -> Option<BucketCounts> {
        let (below, beyond) = text.rsplit_once(BETWEEN)?;
        let bucket = |text: &str, sign| -> Option<(u64, u64)> {
            let (bound, count) = text.strip_prefix(sign)?.split_once(": ")?;
            Some((bound.parse().ok()?, count.parse().ok()?))
        };
        let below: Vec<(u64, u64)> =
            below.split(BETWEEN).map(|text| bucket(text, "<")).collect::<Option<_>>()?;
        let (last, beyond) = bucket(beyond, ">=")?;
        let ends = below.last().is_some_and(|(bound, _)| *bound == last);
        let is_whole = is_rising(&below) && ends && below.len() <= BUCKETS_MAX;
        is_whole.then_some(BucketCounts { below, beyond })
    }

    /// Returns how many numbers were counted, summed over all buckets.
    pub fn total(&self) -> u64 {
        self.below.iter().fold(self.beyond, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Returns each bound with the percentage of all numbers that are below it; empty if nothing
    /// was counted.
    pub fn percent_below(&self) -> Vec<(u64, f64)> {
        let total = self.total();
        let mut sum = 0_u64;
        let mut percent = |(bound, count): &(u64, u64)| {
            sum = sum.saturating_add(*count);
            (*bound, sum as f64 * 100.0 / total as f64)
        };
        if total == 0 { Vec::new() } else { self.below.iter().map(&mut percent).collect() }
    }

    /// Adds two histograms bucket by bucket, and returns the sum; `None` if their bounds differ.
    pub fn plus(&self, other: &BucketCounts) -> Option<BucketCounts> {
        let both = || self.below.iter().zip(&other.below);
        let is_same = self.below.len() == other.below.len() && both().all(|(a, b)| a.0 == b.0);
        let below = both().map(|(a, b)| (a.0, a.1.saturating_add(b.1)));
        is_same.then(|| BucketCounts::new(below, self.beyond.saturating_add(other.beyond)))
    }
}

fn is_rising(below: &[(u64, u64)]) -> bool {
    !below.is_empty() && below.windows(2).all(|two| two[0].0 < two[1].0)
}

impl fmt::Display for BucketCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (bound, count) in &self.below {
            write!(f, "<{bound}: {count}{BETWEEN}")?;
        }
        let last = self.below.last().map_or(0, |(bound, _)| *bound);
        write!(f, ">={last}: {}", self.beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_below_bounds_add_up_and_the_text_is_read_as_it_was_written() {
        let counts = BucketCounts::new([(1, 1), (40, 0), (100, 2)], 1);
        assert_eq!(counts.to_string(), "<1: 1, <40: 0, <100: 2, >=100: 1");
        assert_eq!(counts.percent_below(), [(1, 25.0), (40, 25.0), (100, 75.0)]);
        assert_eq!(BucketCounts::parse(&counts.to_string()), Some(counts.clone()));
        let twice = counts.plus(&counts).expect("the same bounds");
        assert_eq!(twice.to_string(), "<1: 2, <40: 0, <100: 4, >=100: 2");
        assert_eq!(counts.plus(&BucketCounts::new([(1, 1), (50, 0), (100, 2)], 1)), None);
        assert_eq!(BucketCounts::new([(1, 0)], 0).percent_below(), []);
    }

    #[test]
    fn what_is_not_counts_by_rising_bounds_is_text() {
        for text in [
            "",
            ">=10: 1",
            "<1: 1",
            "<1: 1, <3: 2",
            "<3: 1, <1: 2, >=1: 0",
            "<1: 1, >=3: 2",
            "<1: -1, >=1: 2",
            "<1 : 1, >=1: 2",
            "28.6 % below 40 ms; by ms: 0 to 1: 1",
        ] {
            assert_eq!(BucketCounts::parse(text), None, "{text}");
        }
        // An imported file may contain any counts.
        let large = format!("<1: {0}, <2: {0}, >=2: {0}", u64::MAX);
        let large = BucketCounts::parse(&large).expect("counts");
        assert_eq!(large.percent_below(), [(1, 100.0), (2, 100.0)]);
        assert_eq!(large.plus(&large).map(|both| both.total()), Some(u64::MAX));
    }
}
