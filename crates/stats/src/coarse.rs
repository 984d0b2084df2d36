//! A small, coarse histogram of durations, of which many are kept at once: one per client.
//!
//! A bucket is a sixteenth of a power of two, so a quantile lies within 3.2 % of the sample at its
//! rank. Not here: histograms of a whole run, whose buckets are finer (`histogram`).

use crate::order_statistics::rank;

/// Binary logarithm of the number of buckets per power of two.
const STEP_BITS: u32 = 4;
/// Binary logarithm of the lowest duration that has its own bucket, in nanoseconds: 1 µs. Shorter
/// durations share the first bucket.
const LOWEST_BITS: u32 = 10;
/// Binary logarithm of the highest duration that has its own bucket, in nanoseconds: 73 minutes.
/// Longer durations share the last bucket.
const HIGHEST_BITS: u32 = 42;
const BUCKETS: usize = ((HIGHEST_BITS - LOWEST_BITS) << STEP_BITS) as usize;

/// A coarse histogram of durations in nanoseconds, of 2 KiB. Recording neither allocates nor fails.
#[derive(Clone, Debug)]
pub struct CoarseHistogram(Box<[u32; BUCKETS]>);

impl Default for CoarseHistogram {
    fn default() -> CoarseHistogram {
        CoarseHistogram(Box::new([0; BUCKETS]))
    }
}

impl CoarseHistogram {
    /// Counts one duration, given in nanoseconds. The counts stop at their maximum instead of
    /// overflowing.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let count = &mut self.0[bucket_of(ns)];
        *count = count.saturating_add(1);
    }

    /// Returns the non-empty buckets in rising order, as (index of the bucket, count).
    pub fn counts(&self) -> Vec<(u16, u32)> {
        let used = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        used.map(|(bucket, count)| (bucket as u16, *count)).collect()
    }
}

/// Returns the quantile `q` of durations, in nanoseconds, given [`CoarseHistogram::counts`]. It is
/// clamped to `ends_ns`, the shortest and the longest duration. `None` if less than one duration is
/// expected above it.
pub fn coarse_quantile(counts: &[(u16, u32)], q: f64, ends_ns: (u64, u64)) -> Option<f64> {
    let n: u64 = counts.iter().map(|(_, count)| u64::from(*count)).sum();
    if n as f64 * (1.0 - q) < 1.0 - 1e-9 {
        return None;
    }
    let wanted = rank(q, n);
    let mut below = 0;
    let (bucket, _) = counts.iter().find(|(_, count)| {
        below += u64::from(*count);
        below >= wanted
    })?;
    let (low, high) = (ends_ns.0 as f64, ends_ns.1.max(ends_ns.0) as f64);
    Some(middle_of(*bucket).clamp(low, high))
}

#[inline]
fn bucket_of(ns: u64) -> usize {
    let bits = (u64::BITS - 1).saturating_sub(ns.leading_zeros());
    if bits < LOWEST_BITS {
        return 0;
    }
    if bits >= HIGHEST_BITS {
        return BUCKETS - 1;
    }
    let step = (ns >> (bits - STEP_BITS)) as usize & ((1 << STEP_BITS) - 1);
    (((bits - LOWEST_BITS) as usize) << STEP_BITS) | step
}

fn middle_of(bucket: u16) -> f64 {
    let (power, step) = (u32::from(bucket) >> STEP_BITS, bucket & ((1 << STEP_BITS) - 1));
    let steps = f64::from(1 << STEP_BITS);
    f64::from(power + LOWEST_BITS).exp2() * (1.0 + (f64::from(step) + 0.5) / steps)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_quantile_is_near_the_value_at_its_rank(
            mut values in prop::collection::vec(1_100_u64..4_000_000_000_000, 100..300),
            q in prop::sample::select(vec![0.5, 0.95, 0.99]),
        ) {
            let mut histogram = CoarseHistogram::default();
            values.iter().for_each(|value| histogram.record(*value));
            values.sort_unstable();
            let ends = (values[0], values[values.len() - 1]);
            let found = coarse_quantile(&histogram.counts(), q, ends).expect("they are enough");
            let exact = values[rank(q, values.len() as u64) as usize - 1] as f64;
            prop_assert!((found / exact - 1.0).abs() < 0.032, "{} for {}", found, exact);
        }
    }

    #[test]
    fn times_beyond_both_ends_are_counted_and_shown_within_the_extremes() {
        let mut histogram = CoarseHistogram::default();
        [0, 1, u64::MAX, u64::MAX].iter().for_each(|value| histogram.record(*value));
        let counts = histogram.counts();
        assert_eq!(counts, [(0, 2), (BUCKETS as u16 - 1, 2)]);
        assert_eq!(coarse_quantile(&counts, 0.5, (0, 1)), Some(1.0));
        assert_eq!(coarse_quantile(&counts, 0.95, (0, u64::MAX)), None, "20 are needed");
        assert_eq!(coarse_quantile(&[], 0.5, (0, 0)), None);
    }
}
