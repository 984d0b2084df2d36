//! Exact first and second moments of integer samples, such as response times. They are kept for
//! each client and transaction type, and in every histogram.
//!
//! Not here: the shape of the distribution (see `Histogram`). The sums are integers, so merging is
//! exact and associative, in any order and over any number of processes.

/// Count, extremes, sum and sum of squares of integer samples, usually nanoseconds.
///
/// All fields are 0 if there are no samples. Sums stop at 2^128 - 1 instead of overflowing; this
/// takes 2.6e13 samples of one hour each (in ns).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Number of samples that were added; 0 at first.
    pub count: u64,
    /// Smallest sample; 0 if there are none.
    pub min: u64,
    /// Largest sample; 0 if there are none.
    pub max: u64,
    /// Sum of all samples.
    pub sum: u128,
    /// Sum of the squares of all samples.
    pub sum_sq: u128,
}

impl Moments {
    /// Adds one sample, usually in nanoseconds.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Adds `n` samples of the same value.
    #[inline]
    pub fn record_n(&mut self, value: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count = self.count.saturating_add(n);
        let (wide, n) = (u128::from(value), u128::from(n));
        self.sum = self.sum.saturating_add(wide * n);
        self.sum_sq = self.sum_sq.saturating_add((wide * wide).saturating_mul(n));
    }

    /// Adds all samples of `other` to these moments.
    pub fn add(&mut self, other: &Moments) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_sq = self.sum_sq.saturating_add(other.sum_sq);
    }

    /// Whether there are no samples, since none was added.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the arithmetic mean, in the unit of the samples; NaN if there are none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.sum as f64 / self.count as f64 }
    }

    /// Returns the sample standard deviation (divisor n - 1), in the unit of the samples.
    ///
    /// NaN for fewer than two samples; infinite if the sum of squares has saturated. Differences
    /// are taken in integers around the whole part m of the mean, `S = sum_sq - m sum - m r` with
    /// `sum = m n + r`, so that a small deviation around a large mean is not lost in rounding; then
    /// `variance = (S - r^2 / n) / (n - 1)`.
    pub fn sd(&self) -> f64 {
        if self.count < 2 {
            return f64::NAN;
        }
        if self.sum_sq == u128::MAX {
            return f64::INFINITY;
        }
        let n = u128::from(self.count);
        let (mean_whole, rest) = (self.sum / n, self.sum % n);
        let around_whole = self
            .sum_sq
            .saturating_sub(mean_whole.saturating_mul(self.sum))
            .saturating_sub(mean_whole.saturating_mul(rest));
        let around_mean = around_whole as f64 - (rest * rest) as f64 / n as f64;
        (around_mean.max(0.0) / (n - 1) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moments_of(values: &[u64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|&value| moments.record(value));
        moments
    }

    #[test]
    fn nothing_has_no_mean_and_one_sample_no_deviation() {
        assert!(Moments::default().mean().is_nan());
        assert!(Moments::default().sd().is_nan());
        assert_eq!(moments_of(&[7]).mean(), 7.0);
        assert!(moments_of(&[7]).sd().is_nan());
    }

    #[test]
    fn a_small_deviation_around_a_large_mean_is_kept() {
        let base = 3_600_000_000_000_u64;
        let moments = moments_of(&[base, base + 1, base + 2]);
        assert_eq!(moments.mean(), base as f64 + 1.0);
        assert_eq!(moments.sd(), 1.0);
    }

    #[test]
    fn extreme_samples_saturate_and_say_so() {
        let moments = moments_of(&[u64::MAX, u64::MAX, 0]);
        assert_eq!(moments.sum_sq, u128::MAX);
        assert_eq!(moments.sd(), f64::INFINITY);
        assert_eq!((moments.min, moments.max), (0, u64::MAX));
    }

    proptest! {
        #[test]
        fn merging_equals_recording_all(
            left in prop::collection::vec(any::<u64>(), 0..20),
            right in prop::collection::vec(any::<u64>(), 0..20),
        ) {
            let mut merged = moments_of(&left);
            merged.add(&moments_of(&right));
            prop_assert_eq!(merged, moments_of(&[left, right].concat()));
        }

        #[test]
        fn many_at_once_equal_one_by_one(value in any::<u64>(), n in 0_u64..50) {
            let mut at_once = Moments::default();
            at_once.record_n(value, n);
            prop_assert_eq!(at_once, moments_of(&vec![value; n as usize]));
        }

        #[test]
        fn mean_and_deviation_match_the_textbook(
            values in prop::collection::vec(0_u64..1_000_000, 2..100),
        ) {
            let n = values.len() as f64;
            let mean = values.iter().map(|&v| v as f64).sum::<f64>() / n;
            let sq = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>();
            let sd = (sq / (n - 1.0)).sqrt();
            let moments = moments_of(&values);
            prop_assert!((moments.mean() - mean).abs() <= 1e-9 * mean.max(1.0));
            prop_assert!((moments.sd() - sd).abs() <= 1e-9 * sd.max(1.0));
        }
    }
}
