//! Shares of samples below bounds that are named when the run is over: "99 % below 20 ms".
//!
//! A report keeps the share at each bound of two significant digits (1.1 ms, 25 ms, 300 ms), and
//! how strongly samples are autocorrelated, for the confidence interval. Not here: how a bound is
//! written (figures).

use serde::{Deserialize, Serialize};
use stats::{Dispersion, Histogram, dispersion_at, share_dispersions, share_interval};

use super::times::{Order, known, no_interval};

const CONFIDENCE: f64 = 0.95;

/// Smallest number of two digits. Shares are kept below bounds of two digits: 10 to 99, times
/// powers of ten.
const TWO_DIGITS: u64 = 10;

/// Shares of response times or of recorded values below bounds, with what their confidence
/// intervals need.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Number of samples. Of transactions, all that were offered count: failed, dropped and
    /// unfinished ones are below no bound.
    pub count: u64,
    /// Bounds, rising, and the percentage of samples below each; a bound with the same percentage
    /// as the one before is left out. Bounds of times are in nanoseconds, others in the unit of the
    /// custom metric. A sample that the histogram cannot distinguish from the bound (0.1 %) is not
    /// below it.
    pub below: Vec<(u64, f64)>,
    /// Factors by which autocorrelation increases the variance of a share, as pairs of share in
    /// percent and factor. A share between two of these has the larger of their factors. Empty if
    /// `reason` says why.
    pub dispersion: Vec<(f64, f64)>,
    /// Reason why shares have no confidence interval within the run; absent if they have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Shares {
    /// Returns the shares below bounds among `count` samples. `values` has the known ones, and the
    /// others, such as failed transactions, are below no bound. `order` is needed for confidence
    /// intervals.
    pub(super) fn from_values(values: &Histogram, count: u64, order: Order) -> Shares {
        let found = match order {
            Order::Known(in_time) => {
                share_dispersions(in_time, CONFIDENCE).map_err(|why| no_interval(why, in_time))
            }
            Order::Unknown(why) => Err(why.to_owned()),
        };
        let percent = |dispersion: Dispersion| {
            Some((known(dispersion.share * 100.0)?, known(dispersion.factor)?))
        };
        let (dispersion, reason) = match found {
            Ok(found) => (found.into_iter().filter_map(percent).collect(), None),
            Err(why) => (Vec::new(), Some(why)),
        };
        Shares { count, below: below(values, count), dispersion, reason }
    }

    /// Returns true if nothing was recorded, or if an older version made the run.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the percentage of samples below a bound; `None` if there are no samples.
    pub fn percent_below(&self, bound: u64) -> Option<f64> {
        let first_above = self.below.partition_point(|(known, _)| *known <= bound);
        let at = first_above.checked_sub(1).map_or(0.0, |index| self.below[index].1);
        (!self.is_empty()).then_some(at)
    }

    /// Returns the 95 % CI of the percentage of samples below a bound, within the run; `None` if it
    /// is not known.
    pub fn interval_below(&self, bound: u64) -> Option<(f64, f64)> {
        let share = self.percent_below(bound)? / 100.0;
        if self.dispersion.is_empty() {
            return None;
        }
        let seen = self.dispersion.iter();
        let seen: Vec<Dispersion> =
            seen.map(|&(percent, factor)| Dispersion { share: percent / 100.0, factor }).collect();
        let n_effective = self.count as f64 / dispersion_at(&seen, share);
        let (low, high) = share_interval(share, n_effective, CONFIDENCE);
        Some((low * 100.0, high * 100.0))
    }
}

/// Returns the bounds of two digits at which the percentage of samples below them changes, with
/// that percentage.
fn below(values: &Histogram, count: u64) -> Vec<(u64, f64)> {
    let mut all: Vec<(u64, f64)> = Vec::new();
    if values.is_empty() {
        return all;
    }
    let mut recorded = values.recorded().peekable();
    let (mut n_below, mut tens, mut digits) = (0, 1, 1);
    // Bounds of one digit are reached only in the first decade.
    loop {
        let bound = digits * tens;
        while let Some((_, n)) = recorded.next_if(|(value, _)| *value < bound) {
            n_below += n;
        }
        let percent = known(n_below as f64 / count as f64 * 100.0).unwrap_or_default();
        if percent > all.last().map_or(0.0, |(_, last)| *last) {
            all.push((bound, percent));
        }
        if recorded.peek().is_none() {
            return all;
        }
        digits += 1;
        if digits == 10 * TWO_DIGITS {
            let Some(next) = 10_u64.checked_mul(tens) else { return all };
            (tens, digits) = (next, TWO_DIGITS);
        }
    }
}

/// Returns the nearest numbers of two digits times a power of ten below and above a number, such as
/// 120 and 130 for 125; both are the number itself if it is of this form.
pub(crate) fn two_digits(number: u64) -> (u64, u64) {
    let mut tens = 1;
    while number / tens >= 10 * TWO_DIGITS {
        tens *= 10;
    }
    let low = number / tens * tens;
    (low, if low == number { low } else { low.saturating_add(tens) })
}

#[cfg(test)]
mod tests {
    use stats::InTime;

    use super::*;

    fn histogram_of(values: impl IntoIterator<Item = (u64, u64)>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|(value, n)| histogram.record_n(value, n));
        histogram
    }

    fn minute(second: &Histogram, offered: u64) -> InTime {
        let stretch = stats::Stretch { offered, finished: second.clone() };
        InTime { stretches: vec![stretch; 60], width_s: 1, ..InTime::default() }
    }

    #[test]
    fn a_bound_of_two_digits_has_the_exact_share_below_it() {
        let second =
            histogram_of([(900_000, 10), (1_500_000, 20), (20_000_000, 60), (450_000_000, 5)]);
        let mut all = Histogram::default();
        (0..60).for_each(|_| all.add(&second));
        // Five of a hundred were lost.
        let shares = Shares::from_values(&all, 6_000, Order::Known(&minute(&second, 100)));
        let check = |bound: u64, percent: f64| {
            assert_eq!(shares.percent_below(bound), Some(percent), "{bound}");
            assert_eq!(all.count_below(bound) as f64 / 60.0, percent, "{bound}");
        };
        check(1, 0.0);
        check(900_000, 0.0);
        check(910_000, 10.0);
        check(1_500_000, 10.0);
        check(1_600_000, 30.0);
        check(20_000_000, 30.0);
        check(21_000_000, 90.0);
        check(450_000_000, 90.0);
        check(460_000_000, 95.0);
        check(99_000_000_000, 95.0);
        assert_eq!(shares.below.len(), 4, "{:?}", shares.below);
        let (low, high) = shares.interval_below(30_000_000).expect("a minute");
        assert!(low < 90.0 && low > 88.0 && high > 90.0 && high < 92.0, "{low} {high}");
        let (low, high) = shares.interval_below(60_000_000_000).expect("a minute");
        assert!(low < 95.0 && high > 95.0 && high < 96.0, "{low} {high}");
    }

    #[test]
    fn every_bound_of_two_digits_is_counted_as_the_histogram_counts() {
        let spread = (0..4_000_u64).map(|n| (37 * n * n % 1_000_003 * 977 + 1, 1));
        let all = histogram_of(spread);
        let shares = Shares::from_values(&all, 4_000, Order::Unknown("made up"));
        let digits = (1..100_u64).flat_map(|digits| (0..9).map(move |e| digits * 10_u64.pow(e)));
        for bound in digits {
            let percent = all.count_below(bound) as f64 / 40.0;
            assert_eq!(shares.percent_below(bound), Some(percent), "{bound}");
        }
        assert_eq!(shares.interval_below(1_000_000), None);
        assert_eq!(shares.reason.as_deref(), Some("made up"));
    }

    #[test]
    fn nothing_has_no_share_and_all_that_is_lost_is_below_no_bound() {
        let none = Shares::from_values(&Histogram::default(), 0, Order::Unknown("made up"));
        assert!(none.is_empty() && none.percent_below(5).is_none());
        let lost = Shares::from_values(&Histogram::default(), 7, Order::Unknown("made up"));
        assert_eq!(lost.percent_below(u64::MAX), Some(0.0));
    }

    #[test]
    fn bounds_around_a_number_have_two_digits() {
        assert_eq!(two_digits(125), (120, 130));
        assert_eq!(two_digits(99_500), (99_000, 100_000));
        assert_eq!(two_digits(20_000_000), (20_000_000, 20_000_000));
        assert_eq!(two_digits(7), (7, 7));
    }
}
