//! Quantiles of the response times of offered work, including work that was lost or did not finish.
//!
//! Not here: the variation between runs, which no single run shows, and the choice of quantiles to
//! print.

use std::borrow::Cow;

use crate::Histogram;
use crate::histogram::bucket_low;
use crate::order_statistics::{Ranks, rank};

/// All work that was offered in a run, finished or not, so that quantiles show response times as
/// users experience them.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// Response times of the work that finished.
    pub finished: &'a Histogram,
    /// Ages of unfinished work at the end of the run, which are lower bounds of its response times.
    pub unfinished: &'a Histogram,
    /// Number of dropped and failed transactions, whose response time counts as infinite.
    pub lost: u64,
}

/// A quantile of the response times of offered work, to the resolution of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferedQuantile {
    /// There is no quantile, because nothing was offered.
    Empty,
    /// The quantile in nanoseconds, whatever the response times of unfinished work will be.
    Exact(u64),
    /// A lower bound of the quantile in nanoseconds. It is the value if unfinished work had ended
    /// at its present age; the quantile may be any higher value.
    AtLeast(u64),
    /// The quantile is infinite, because it falls among dropped or failed transactions.
    Infinite,
}

/// Confidence interval, in nanoseconds, of a latency quantile over all offered transactions,
/// including those that were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedInterval {
    /// Lower end of the interval, in nanoseconds; `None` if it is infinite.
    pub low: Option<u64>,
    /// Upper end of the interval, in nanoseconds; `None` if it is infinite.
    pub high: Option<u64>,
}

impl Offered<'_> {
    /// Returns the number of offered transactions: finished, unfinished and lost.
    pub fn count(&self) -> u64 {
        self.finished.count() + self.unfinished.count() + self.lost
    }

    /// Returns the quantile `q` of the response times of all offered work.
    ///
    /// It is computed twice: with unfinished work at its present age, and with unfinished work as
    /// infinite. The true quantile lies between the two, and is exact if both fall into one bucket.
    pub fn quantile(&self, q: f64) -> OfferedQuantile {
        let count = self.count();
        if count == 0 {
            return OfferedQuantile::Empty;
        }
        let rank = rank(q, count);
        let ceiling = self.finished.value_at_rank(rank);
        let floor = self.at_their_age().value_at_rank(rank);
        match (floor, ceiling) {
            (None, _) => OfferedQuantile::Infinite,
            (Some(floor), Some(ceiling)) if bucket_low(floor) >= bucket_low(ceiling) => {
                OfferedQuantile::Exact(ceiling)
            }
            (Some(floor), _) => OfferedQuantile::AtLeast(floor),
        }
    }

    /// Returns the response times at two ranks among all offered work, the ends of an interval.
    /// Lost work counts as infinite, unfinished work with its age at the lower end and as infinite
    /// at the upper one, so that the interval is valid whenever that work ends.
    pub fn between(&self, ranks: Ranks) -> OfferedInterval {
        let ages = self.at_their_age();
        OfferedInterval {
            low: ages.value_at_rank(ranks.low).map(|value| outer_low(&ages, value)),
            high: self.finished.value_at_rank(ranks.high),
        }
    }

    /// Returns the response times of finished work, together with the ages of unfinished work.
    fn at_their_age(&self) -> Cow<'_, Histogram> {
        let mut all = Cow::Borrowed(self.finished);
        if !self.unfinished.is_empty() {
            all.to_mut().add(self.unfinished);
        }
        all
    }
}

/// Returns the lower end of the bucket that contains `value`, but not less than the minimum of the
/// histogram.
fn outer_low(histogram: &Histogram, value: u64) -> u64 {
    bucket_low(value).max(histogram.min())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::order_statistics::{TooFew, interval_ranks};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Interval {
        low: u64,
        high: u64,
    }

    /// Returns the interval of a quantile of independent samples.
    fn order_statistic_interval(
        histogram: &Histogram,
        q: f64,
        confidence: f64,
    ) -> Result<Interval, TooFew> {
        let Ranks { low, high } = interval_ranks(histogram.count(), q, confidence)?;
        let value = |rank: u64| histogram.value_at_rank(rank).expect("a rank in 1..=n");
        Ok(Interval { low: outer_low(histogram, value(low)), high: value(high) })
    }

    fn histogram_of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn a_high_quantile_of_few_samples_has_no_interval() {
        let db_error = order_statistic_interval(&histogram_of(1..=100), 0.99, 0.95);
        assert_eq!(db_error, Err(TooFew { needed: 368, have: 100 }));
        let words = db_error.map_err(|few| few.to_string());
        assert_eq!(words, Err("too few samples: needs at least 368".to_owned()));
        assert!(order_statistic_interval(&histogram_of(1..=367), 0.99, 0.95).is_err());
        assert!(order_statistic_interval(&histogram_of(1..=368), 0.99, 0.95).is_ok());
        assert_eq!(
            order_statistic_interval(&histogram_of(1..=9), 1.0, 0.95),
            Err(TooFew { needed: u64::MAX, have: 9 })
        );
    }

    #[test]
    fn the_interval_of_a_median_is_the_one_in_the_tables() {
        // Conover, table of the binomial: n = 20, ranks 6 and 15 give 95.86 %.
        assert_eq!(
            order_statistic_interval(&histogram_of(1..=20), 0.5, 0.95),
            Ok(Interval { low: 6, high: 15 })
        );
    }

    #[test]
    fn a_95_percent_interval_covers_95_percent_of_the_time() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        for (n, q, trials) in [(100, 0.5, 3_000), (400, 0.9, 2_000), (5_000, 0.99, 1_000)] {
            let truth = -(1.0_f64 - q).ln() * 1e9;
            let mut histogram = Histogram::default();
            let mut covered = 0;
            for _ in 0..trials {
                histogram.clear();
                for _ in 0..n {
                    histogram.record(crate::exponential_ns(random.next_u64(), 1e9));
                }
                let Interval { low, high } =
                    order_statistic_interval(&histogram, q, 0.95).expect("enough samples");
                covered += u32::from(low as f64 <= truth && truth <= high as f64);
            }
            let share = f64::from(covered) / f64::from(trials);
            assert!((0.93..=0.98).contains(&share), "{n} {q}: {share}");
        }
    }

    /// Returns the interval of a quantile of offered work whose samples are independent.
    fn independent(offered: &Offered, q: f64) -> Result<OfferedInterval, TooFew> {
        Ok(offered.between(interval_ranks(offered.count(), q, 0.95)?))
    }

    fn offered(finished: &[u64], ages: &[u64], lost: u64, q: f64) -> OfferedQuantile {
        let finished = histogram_of(finished.iter().copied());
        let unfinished = histogram_of(ages.iter().copied());
        Offered { finished: &finished, unfinished: &unfinished, lost }.quantile(q)
    }

    #[test]
    fn nothing_offered_has_no_quantile() {
        assert_eq!(offered(&[], &[], 0, 0.5), OfferedQuantile::Empty);
    }

    #[test]
    fn without_loss_the_offered_quantile_is_the_finished_one() {
        assert_eq!(offered(&[1, 2, 3, 4], &[], 0, 0.75), OfferedQuantile::Exact(3));
    }

    #[test]
    fn lost_work_counts_as_infinite() {
        assert_eq!(offered(&[1, 2, 3], &[], 1, 0.75), OfferedQuantile::Exact(3));
        assert_eq!(offered(&[1, 2, 3], &[], 1, 0.76), OfferedQuantile::Infinite);
        assert_eq!(offered(&[], &[], 5, 0.0), OfferedQuantile::Infinite);
    }

    #[test]
    fn unfinished_work_counts_at_least_its_age() {
        // The fourth of five is the one that is 50 old, however it ends.
        assert_eq!(offered(&[1, 2, 3, 100], &[50], 0, 0.8), OfferedQuantile::AtLeast(50));
        assert_eq!(offered(&[1, 2, 3, 100], &[50], 0, 0.6), OfferedQuantile::Exact(3));
        assert_eq!(offered(&[1, 2, 3, 100], &[50], 0, 1.0), OfferedQuantile::AtLeast(100));
        assert_eq!(offered(&[1, 2, 3], &[50], 1, 0.8), OfferedQuantile::AtLeast(50));
        assert_eq!(offered(&[1, 2, 3], &[50], 1, 0.9), OfferedQuantile::Infinite);
    }

    #[test]
    fn young_unfinished_work_pulls_no_quantile_down() {
        // If the young one had ended at once, the median were 2; if never, 3.
        assert_eq!(offered(&[1, 2, 3, 4], &[0], 0, 0.5), OfferedQuantile::AtLeast(2));
    }

    #[test]
    fn equal_values_are_exact_though_unfinished_work_is_among_them() {
        assert_eq!(offered(&[7, 7, 7, 7], &[7], 0, 0.5), OfferedQuantile::Exact(7));
        assert_eq!(
            offered(&[1_001_500, 1_001_500, 1_001_500], &[1_001_900], 0, 0.75),
            OfferedQuantile::Exact(1_001_500)
        );
    }

    #[test]
    fn an_interval_of_offered_work_ends_among_what_was_lost() {
        let twenty: Vec<u64> = (1..=20).collect();
        let interval = |finished: &[u64], ages: &[u64], lost| {
            let (finished, unfinished) =
                (histogram_of(finished.to_vec()), histogram_of(ages.to_vec()));
            let offered = Offered { finished: &finished, unfinished: &unfinished, lost };
            independent(&offered, 0.5).map(|OfferedInterval { low, high }| (low, high))
        };
        // Of twenty, ranks 6 and 15 (Conover, as above), however many of them were lost.
        assert_eq!(interval(&twenty, &[], 0), Ok((Some(6), Some(15))));
        assert_eq!(interval(&twenty[..15], &[], 5), Ok((Some(6), Some(15))));
        assert_eq!(interval(&twenty[..14], &[], 6), Ok((Some(6), None)));
        assert_eq!(interval(&twenty[..5], &[], 15), Ok((None, None)));
        // Unfinished samples count with their age at the lower end, as infinite at the upper one.
        assert_eq!(interval(&twenty[..15], &[0; 5], 0), Ok((Some(1), Some(15))));
        assert_eq!(interval(&twenty[..14], &[90; 6], 0), Ok((Some(6), None)));
        assert_eq!(interval(&twenty[..3], &[], 2), Err(TooFew { needed: 6, have: 5 }));
    }

    #[test]
    fn an_interval_of_offered_work_covers_95_percent_of_the_time() {
        // Of an exponential time, what is above the patience is lost or has not ended: one above
        // it is lost in every second case, and had waited for a part of its time in the others.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
        let quantiles = [(0.5, 200), (0.9, 400), (0.95, 1_000), (0.97, 1_000)];
        for (q, n) in quantiles {
            let truth = -(1.0_f64 - q).ln() * 1e9;
            let patience = (-(0.05_f64).ln() * 1e9) as u64;
            let (mut covered, mut infinite, trials) = (0, 0, 2_000);
            for _ in 0..trials {
                let (mut finished, mut unfinished) = <(Histogram, Histogram)>::default();
                let mut lost = 0;
                for _ in 0..n {
                    let time = crate::exponential_ns(random.next_u64(), 1e9);
                    match (time > patience, random.next_u64() % 2) {
                        (false, _) => finished.record(time),
                        (true, 0) => lost += 1,
                        (true, _) => unfinished.record(random.next_u64() % time),
                    }
                }
                let offered = Offered { finished: &finished, unfinished: &unfinished, lost };
                let OfferedInterval { low, high } =
                    independent(&offered, q).expect("enough samples");
                let is_above = low.is_none_or(|low| low as f64 > truth);
                let is_below = high.is_some_and(|high| (high as f64) < truth);
                covered += u32::from(!is_above && !is_below);
                infinite += u32::from(high.is_none());
            }
            let share = f64::from(covered) / f64::from(trials);
            assert!(share >= 0.93, "{q}: {share}");
            // At the edge of what was lost, the upper end is nearly always among it.
            let among = f64::from(infinite) / f64::from(trials);
            match q {
                0.5 | 0.9 => assert!(among < 0.05 && share <= 0.99, "{q}: {share}, {among}"),
                0.95 => assert!(among > 0.9, "{among}"),
                _ => assert_eq!(infinite, trials),
            }
        }
    }

    proptest! {
        #[test]
        fn an_interval_of_offered_work_holds_its_quantile(
            finished in prop::collection::vec(0_u64..2_000, 0..40),
            ages in prop::collection::vec(0_u64..2_000, 0..20),
            lost in 0_u64..9,
            q in 0.2..0.8_f64,
        ) {
            let (finished, unfinished) = (histogram_of(finished), histogram_of(ages));
            let offered = Offered { finished: &finished, unfinished: &unfinished, lost };
            let Ok(OfferedInterval { low, high }) = independent(&offered, q) else {
                return Ok(());
            };
            match offered.quantile(q) {
                OfferedQuantile::Exact(value) => {
                    prop_assert!(low.is_some_and(|low| low <= value));
                    prop_assert!(high.is_none_or(|high| value <= high));
                }
                OfferedQuantile::AtLeast(value) => {
                    prop_assert!(low.is_some_and(|low| low <= value));
                    prop_assert!(high.is_none_or(|high| value <= high));
                }
                OfferedQuantile::Infinite => prop_assert!(high.is_none()),
                OfferedQuantile::Empty => prop_assert!(false),
            }
            if offered.count() == finished.count() {
                let of_finished = order_statistic_interval(&finished, q, 0.95);
                let same = low.zip(high).map(|(low, high)| Interval { low, high });
                prop_assert_eq!(of_finished.ok(), same);
            }
        }

        #[test]
        fn however_unfinished_work_ends_the_offered_quantile_holds(
            finished in prop::collection::vec(0_u64..2_000, 0..20),
            unfinished in prop::collection::vec((0_u64..2_000, 0_u64..2_000), 0..20),
            lost in 0_u64..5,
            q in 0.0..=1.0_f64,
        ) {
            let ages: Vec<u64> = unfinished.iter().map(|&(age, _)| age).collect();
            let mut ends = finished.clone();
            ends.extend(unfinished.iter().map(|&(age, more)| age + more));
            ends.sort_unstable();
            let count = ends.len() as u64 + lost;
            let truth = (count > 0).then(|| ends.get(rank(q, count) as usize - 1));
            match (offered(&finished, &ages, lost, q), truth) {
                (OfferedQuantile::Empty, truth) => prop_assert!(truth.is_none()),
                (OfferedQuantile::Exact(value), truth) => {
                    prop_assert_eq!(truth, Some(Some(&value)));
                }
                (OfferedQuantile::AtLeast(value), Some(Some(&truth))) => {
                    prop_assert!(value <= truth);
                }
                (_, truth) => prop_assert_eq!(truth, Some(None)),
            }
        }
    }
}
