//! Histograms of durations: `Histogram` of fixed size, made to record in, and `Sparse` for few
//! values. Both have the same buckets and the same exact moments.
//!
//! Buckets are those of HdrHistogram (G. Tene, hdrhistogram.org) with three significant digits and
//! unit 1: values below 2048 are exact, above that a bucket is at most 1/1024 of its values wide.
//! They do not depend on the range, so histograms of any range merge bucket by bucket. Not here:
//! the error of quantiles (`dependence`), and quantiles with lost work (`quantile`).

use std::collections::BTreeMap;
use std::fmt;

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use crate::Moments;
use crate::order_statistics::rank;

/// Number of significant decimal digits that a bucket preserves.
const DIGITS: u8 = 3;

/// Number of bits up to which each value has its own bucket: 2^11 is the first power of two above
/// `2 * 10^DIGITS`, as HdrHistogram chooses it.
const EXACT_BITS: u32 = 11;

/// Largest value allowed as the end of a histogram's range: 2^62 ns (146 years). It keeps all
/// arithmetic on values in 64 bits.
pub const HIGHEST_NS_MAX: u64 = 1 << 62;

/// Smallest end of a histogram's range that HdrHistogram accepts, in nanoseconds.
const HIGHEST_NS_MIN: u64 = 2;

/// Limit on the samples in a histogram (35 years of a million a second); further ones are ignored.
/// With this limit, `rank - 1/2` and all counts are exact in a float.
const COUNT_MAX: u64 = 1 << 50;

/// First byte of a stored histogram: the version of its format.
const VERSION: u8 = 1;

/// Length of the header of HdrHistogram's V2 format, in bytes.
const V2_HEADER_BYTES: usize = 40;
/// Magic number (cookie) with which the header of HdrHistogram's V2 format begins.
const V2_COOKIE: u32 = 0x1c84_9313;

/// Largest size of the stored buckets: 9 bytes for each of the 54 * 1024 buckets of the highest
/// range.
const PAYLOAD_BYTES_MAX: usize = V2_HEADER_BYTES + 9 * 54 * 1024;

/// Returns the lowest value of the bucket that holds `value`.
pub(crate) fn bucket_low(value: u64) -> u64 {
    let shift = bucket_shift(value);
    value >> shift << shift
}

/// Returns the highest value of the bucket that holds `value`.
fn bucket_high(value: u64) -> u64 {
    value | ((1 << bucket_shift(value)) - 1)
}

/// Returns the number of low bits of `value` that its bucket does not distinguish.
fn bucket_shift(value: u64) -> u32 {
    (u64::BITS - EXACT_BITS).saturating_sub(value.leading_zeros())
}

/// Range of the values that a histogram distinguishes: from 0 to the end of the bucket of
/// `highest_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Highest value of the range, in nanoseconds, at least 2 and at most [`HIGHEST_NS_MAX`]; a
    /// value outside of these limits counts as the nearer one. Samples beyond the range are counted
    /// as overflow.
    pub highest_ns: u64,
}

impl Default for Range {
    /// Returns a range of one hour, for which a histogram takes 264 KiB.
    fn default() -> Range {
        Range { highest_ns: 3_600_000_000_000 }
    }
}

/// A histogram of fixed size: recording neither allocates nor fails.
///
/// Count, extremes, sum and sum of squares are exact; quantiles are within 0.1 %. Samples above the
/// range are in the highest bucket, in the exact moments, and counted in `overflow`; a quantile
/// that falls among them is given as the maximum.
#[derive(Clone)]
pub struct Histogram {
    range: Range,
    /// Highest value of the highest bucket, in nanoseconds.
    top: u64,
    buckets: hdrhistogram::Histogram<u64>,
    moments: Moments,
    overflow: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new(Range::default())
    }
}

impl Histogram {
    /// Creates an empty histogram, and allocates all memory that it will ever use.
    pub fn new(range: Range) -> Histogram {
        let highest_ns = range.highest_ns.clamp(HIGHEST_NS_MIN, HIGHEST_NS_MAX);
        Histogram {
            range: Range { highest_ns },
            top: bucket_high(highest_ns),
            buckets: hdrhistogram::Histogram::new_with_max(highest_ns, DIGITS)
                .expect("a range clamped to 2..=2^62 is valid"),
            moments: Moments::default(),
            overflow: 0,
        }
    }

    /// Records one value, in nanoseconds.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_n(value_ns, 1);
    }

    /// Records `n` samples of the same value, which is in nanoseconds.
    #[inline]
    pub fn record_n(&mut self, value_ns: u64, n: u64) {
        let n = n.min(COUNT_MAX - self.moments.count);
        self.place(value_ns, n);
        self.moments.record_n(value_ns, n);
    }

    /// Counts `n` samples of a value in its bucket, and as overflow if the value is above the
    /// range. The exact moments are not changed.
    #[inline]
    fn place(&mut self, value_ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        let recorded = self.buckets.record_n(value_ns.min(self.top), n);
        debug_assert!(recorded.is_ok(), "a value clamped to the range has a bucket");
        if value_ns > self.top {
            self.overflow += n;
        }
    }

    /// Adds all samples of another histogram.
    ///
    /// Exact when the ranges are equal. Otherwise samples above the range of `other` count as its
    /// maximum, since their values are not known.
    pub fn add(&mut self, other: &Histogram) {
        let fits = self.fits(&other.moments);
        if fits && self.range == other.range {
            let added = self.buckets.add(&other.buckets);
            debug_assert!(added.is_ok(), "equal ranges have equal buckets");
            self.overflow += other.overflow;
            self.moments.add(&other.moments);
        } else {
            self.add_recorded(other.recorded(), &other.moments, fits);
        }
    }

    /// Adds all samples of a sparse histogram, with the same result as recording them here one by
    /// one.
    pub fn add_sparse(&mut self, other: &Sparse) {
        let fits = self.fits(&other.moments);
        self.add_recorded(other.recorded(), &other.moments, fits);
    }

    /// Whether the samples of `other` can be added without exceeding the limit [`COUNT_MAX`].
    fn fits(&self, other: &Moments) -> bool {
        other.count <= COUNT_MAX - self.moments.count
    }

    /// Adds samples, given as (value, count) per bucket. If all fit into the limit of samples
    /// (`fits`), their exact moments are added too; otherwise they are recorded up to that limit,
    /// by bucket.
    fn add_recorded(
        &mut self,
        recorded: impl Iterator<Item = (u64, u64)>,
        moments: &Moments,
        fits: bool,
    ) {
        if fits {
            recorded.for_each(|(value_ns, n)| self.place(value_ns, n));
            self.moments.add(moments);
        } else {
            recorded.for_each(|(value_ns, n)| self.record_n(value_ns, n));
        }
    }

    /// Removes all samples, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.buckets.reset();
        self.moments = Moments::default();
        self.overflow = 0;
    }

    /// Whether the histogram contains no samples.
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// Returns the range of values for which the histogram has buckets.
    pub fn range(&self) -> Range {
        self.range
    }

    /// Returns count, extremes, sum and sum of squares of the samples, which are exact.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Returns the number of samples, which is exact.
    pub fn count(&self) -> u64 {
        self.moments.count
    }

    /// Returns the number of samples above the histogram's range.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// Returns the smallest sample, which is exact; 0 if there are no samples.
    pub fn min(&self) -> u64 {
        self.moments.min
    }

    /// Returns the largest sample, which is exact; 0 if there are no samples.
    pub fn max(&self) -> u64 {
        self.moments.max
    }

    /// Returns the sum of the samples, which is exact.
    pub fn sum(&self) -> u128 {
        self.moments.sum
    }

    /// Returns the mean of the samples, computed from the exact sum; NaN if there are no samples.
    pub fn mean(&self) -> f64 {
        self.moments.mean()
    }

    /// Returns the sample standard deviation, computed from the exact sums; NaN for fewer than two
    /// samples.
    pub fn sd(&self) -> f64 {
        self.moments.sd()
    }

    /// Returns the smallest value with at least a share `q` of the samples at or below it, rounded
    /// up to the end of its bucket but within minimum and maximum; `None` when there is no sample.
    ///
    /// A `q` outside 0..=1 counts as the nearer end.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.is_empty() { None } else { self.value_at_rank(rank(q, self.count())) }
    }

    /// Returns the `rank`-th smallest sample, counted from 1, rounded up to the end of its bucket;
    /// the smallest and the largest are exact. `None` if there are fewer samples.
    pub fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let Moments { count, min, max, .. } = self.moments;
        if rank == 0 || rank > count {
            return None;
        }
        if rank == 1 {
            return Some(min);
        }
        if rank == count || rank > count - self.overflow {
            return Some(max);
        }
        // Halfway between two ranks: with fewer than 2^50 samples no rounding reaches another.
        let value = self.buckets.value_at_quantile((rank as f64 - 0.5) / count as f64);
        Some(value.clamp(min, max))
    }

    /// Returns the number of samples at or below `value_ns`, including all samples in the same
    /// bucket.
    pub fn count_at_or_below(&self, value_ns: u64) -> u64 {
        self.counts_at_or_below(&[value_ns])[0]
    }

    /// Returns the numbers of samples at or below several values, as
    /// [`Histogram::count_at_or_below`] does for one, in one pass over the buckets.
    pub fn counts_at_or_below(&self, values_ns: &[u64]) -> Vec<u64> {
        let mut rising: Vec<usize> = (0..values_ns.len()).collect();
        rising.sort_by_key(|index| values_ns[*index]);
        let mut counts = vec![0; values_ns.len()];
        let (mut counted, mut from) = (0, 0);
        for index in rising {
            let value_ns = values_ns[index];
            counts[index] = if self.is_empty() || value_ns < self.min() {
                0
            } else if value_ns >= self.max() {
                self.count()
            } else {
                let high = bucket_high(value_ns.min(self.top));
                if high >= from {
                    counted += self.buckets.count_between(from, high);
                    from = high + 1;
                }
                if high == self.top { counted - self.overflow } else { counted }
            };
        }
        counts
    }

    /// Returns the number of samples below `value_ns`, without those in the same bucket, which
    /// count as equal to it.
    pub fn count_below(&self, value_ns: u64) -> u64 {
        if !self.is_empty() && value_ns > self.max() {
            return self.count();
        }
        bucket_low(value_ns).checked_sub(1).map_or(0, |below| self.count_at_or_below(below))
    }

    /// Returns the recorded values in rising order, as pairs of value and count. A value is the
    /// upper end of its bucket, within minimum and maximum. Samples above the range come last, all
    /// with the maximum as their value.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let Moments { min, max, .. } = self.moments;
        let beyond = (self.overflow > 0).then_some((max, self.overflow));
        let within = self.buckets.iter_recorded().filter_map(move |step| {
            let high = bucket_high(step.value_iterated_to());
            let beyond = if high == self.top { self.overflow } else { 0 };
            let n = step.count_at_value() - beyond;
            (n > 0).then(|| (high.clamp(min, max), n))
        });
        within.chain(beyond)
    }

    /// Converts the histogram into bytes: a version, then range, overflow and exact moments as
    /// big-endian integers, then the buckets in HdrHistogram's V2 format.
    ///
    /// The buckets are not deflated, so that `from_bytes` can check them before it trusts them: 2
    /// to 5 kB for 5000 samples, of which deflating would save half. A store of many histograms may
    /// deflate them together.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Moments { count, min, max, sum, sum_sq } = self.moments;
        let mut bytes = vec![VERSION];
        for number in [self.range.highest_ns, self.overflow, count, min, max] {
            bytes.extend(number.to_be_bytes());
        }
        for number in [sum, sum_sq] {
            bytes.extend(number.to_be_bytes());
        }
        V2Serializer::new()
            .serialize(&self.buckets, &mut bytes)
            .expect("counts below 2^50 can be written, and a Vec takes all");
        bytes
    }

    /// Reads a histogram from bytes that `to_bytes` wrote.
    ///
    /// Fails with [`Malformed`] for any other bytes, since they come from databases and other
    /// processes. At most 0.5 MB is allocated, whatever they contain.
    pub fn from_bytes(bytes: &[u8]) -> Result<Histogram, Malformed> {
        let rest = &mut &bytes[..];
        let [version] = take(rest)?;
        if version != VERSION {
            return Err(Malformed("its version is not known here"));
        }
        let mut next = || take(rest).map(u64::from_be_bytes);
        let (highest_ns, overflow) = (next()?, next()?);
        let (count, min, max) = (next()?, next()?, next()?);
        let mut next = || take(rest).map(u128::from_be_bytes);
        let (sum, sum_sq) = (next()?, next()?);
        if !(HIGHEST_NS_MIN..=HIGHEST_NS_MAX).contains(&highest_ns) {
            return Err(Malformed("its range is out of bounds"));
        }
        let histogram = Histogram {
            range: Range { highest_ns },
            top: bucket_high(highest_ns),
            buckets: buckets_from_payload(rest, highest_ns)?,
            moments: Moments { count, min, max, sum, sum_sq },
            overflow,
        };
        histogram.check()?;
        Ok(histogram)
    }

    /// Checks that buckets, moments and overflow are consistent, so that the same samples can have
    /// led to them.
    fn check(&self) -> Result<(), Malformed> {
        let Moments { count, min, max, sum, sum_sq } = self.moments;
        if count > COUNT_MAX || self.buckets.len() != count {
            return Err(Malformed("its buckets do not add up to its count"));
        }
        if count == 0 {
            let blank = self.moments == Moments::default() && self.overflow == 0;
            return if blank { Ok(()) } else { Err(Malformed("it is empty, yet has sums")) };
        }
        let lowest = self.buckets.lowest_equivalent(self.buckets.min());
        let highest = self.buckets.lowest_equivalent(self.buckets.max());
        let extremes = min <= max
            && lowest == bucket_low(min.min(self.top))
            && highest == bucket_low(max.min(self.top));
        if !extremes {
            return Err(Malformed("its extremes are not in its buckets"));
        }
        let all_above = if min > self.top { count } else { 0 };
        let possible = if max > self.top {
            (all_above.max(1)..=self.buckets.count_at(self.top)).contains(&self.overflow)
        } else {
            self.overflow == 0
        };
        if !possible {
            return Err(Malformed("its overflow is not in its highest bucket"));
        }
        let n = u128::from(count);
        let (min, max) = (u128::from(min), u128::from(max));
        let sums = (n * min..=n * max).contains(&sum)
            && ((min * min).saturating_mul(n)..=(max * max).saturating_mul(n)).contains(&sum_sq);
        if sums { Ok(()) } else { Err(Malformed("its sums are not between its extremes")) }
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        self.range == other.range
            && self.overflow == other.overflow
            && self.moments == other.moments
            && self.buckets == other.buckets
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("highest_ns", &self.range.highest_ns)
            .field("count", &self.count())
            .field("min", &self.min())
            .field("p50", &self.quantile(0.5))
            .field("max", &self.max())
            .field("overflow", &self.overflow)
            .finish()
    }
}

/// Removes the first `N` bytes from `rest` and returns them; fails if there are fewer.
fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (head, tail) = rest.split_first_chunk().ok_or(Malformed("it is cut off"))?;
    *rest = tail;
    Ok(*head)
}

/// Reads the buckets of a stored histogram. Everything that could make the library allocate too
/// much or panic is checked before: lengths, range, digits, and the number i64::MIN, which cannot
/// be negated.
fn buckets_from_payload(
    payload: &[u8],
    highest_ns: u64,
) -> Result<hdrhistogram::Histogram<u64>, Malformed> {
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(Malformed("its payload is longer than any histogram"));
    }
    let rest = &mut &payload[..];
    let mut next = || take(rest).map(u32::from_be_bytes);
    let (cookie, length, offset, digits) = (next()?, next()?, next()?, next()?);
    let mut next = || take(rest).map(u64::from_be_bytes);
    let (lowest, highest, ratio) = (next()?, next()?, next()?);
    let expected = cookie == V2_COOKIE
        && length as usize == rest.len()
        && (offset, digits) == (0, u32::from(DIGITS))
        && (lowest, highest, ratio) == (1, highest_ns, 1.0_f64.to_bits());
    if !expected {
        return Err(Malformed("its payload is not of its range"));
    }
    // Nine bytes of ones are i64::MIN, a run of empty buckets that cannot be negated; valid
    // counts never hold them, because a shorter number does not end in ones.
    if rest.windows(9).any(|window| window == [0xff; 9]) {
        return Err(Malformed("its payload holds an impossible number"));
    }
    Deserializer::new()
        .deserialize(&mut &payload[..])
        .map_err(|_| Malformed("its payload is damaged"))
}

/// Error for bytes that are not a stored histogram, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is not a stored histogram: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

/// A histogram for few values, without a limit on their range. Its memory grows with the buckets in
/// use, about 50 bytes each. Its moments are exact, as in [`Histogram`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sparse {
    /// Number of samples in each bucket that has any, by the lowest value of the bucket.
    buckets: BTreeMap<u64, u64>,
    moments: Moments,
}

impl Sparse {
    /// Records one value, which is in nanoseconds.
    pub fn record(&mut self, value_ns: u64) {
        *self.buckets.entry(bucket_low(value_ns)).or_default() += 1;
        self.moments.record(value_ns);
    }

    /// Adds all samples of another histogram.
    pub fn add(&mut self, other: &Sparse) {
        for (low, n) in other.recorded() {
            *self.buckets.entry(low).or_default() += n;
        }
        self.moments.add(&other.moments);
    }

    /// Returns the number of samples.
    pub fn count(&self) -> u64 {
        self.moments.count
    }

    /// Whether the histogram contains no samples.
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// Returns count, extremes, sum and sum of squares of the samples, which are exact.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Returns the buckets that contain samples, in rising order, as pairs of lowest value and
    /// count.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().map(|(&low, &n)| (low, n))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: Range = Range { highest_ns: 1_000_000 };

    fn histogram_of(range: Range, values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new(range);
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    fn sparse_of(values: &[u64]) -> Sparse {
        let mut sparse = Sparse::default();
        values.iter().for_each(|&value| sparse.record(value));
        sparse
    }

    /// Generates values of every magnitude; many of them are beyond the range of a small histogram.
    fn value() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0_u32..64).prop_map(|(bits, shift)| bits >> shift)
    }

    fn values() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(value(), 0..60)
    }

    fn range() -> impl Strategy<Value = Range> {
        prop_oneof![
            Just(SMALL),
            Just(Range::default()),
            value().prop_map(|v| Range { highest_ns: v })
        ]
    }

    #[test]
    fn an_empty_histogram_has_no_quantile() {
        let histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        assert_eq!(histogram.recorded().count(), 0);
        assert_eq!(histogram.count_at_or_below(u64::MAX), 0);
        assert!(histogram.is_empty() && histogram.mean().is_nan());
    }

    #[test]
    fn zero_is_a_value() {
        let histogram = histogram_of(SMALL, &[0, 0, 5]);
        assert_eq!((histogram.count(), histogram.min(), histogram.sum()), (3, 0, 5));
        assert_eq!(histogram.quantile(0.5), Some(0));
        assert_eq!(histogram.recorded().collect::<Vec<_>>(), [(0, 2), (5, 1)]);
    }

    #[test]
    fn values_above_the_range_are_counted_and_exact_in_the_moments() {
        let histogram = histogram_of(SMALL, &[10, 20, 5_000_000, 7_000_000]);
        assert_eq!((histogram.count(), histogram.overflow()), (4, 2));
        assert_eq!((histogram.max(), histogram.sum()), (7_000_000, 12_000_030));
        assert_eq!(histogram.quantile(0.5), Some(20));
        assert_eq!(histogram.quantile(0.75), Some(7_000_000));
        assert_eq!(histogram.count_at_or_below(6_000_000), 2);
        assert_eq!(histogram.count_at_or_below(7_000_000), 4);
        assert_eq!(histogram.recorded().last(), Some((7_000_000, 2)));
    }

    #[test]
    fn samples_in_the_bucket_of_a_value_are_not_below_it() {
        let range = Range::default();
        let histogram = histogram_of(range, &[19_000_000, 20_000_000, 20_000_001, 21_000_000]);
        for value in [20_000_000, 20_000_001] {
            assert_eq!(histogram.count_below(value), 1);
        }
        let check = |value, below| assert_eq!(histogram.count_below(value), below, "{value}");
        check(0, 0);
        check(19_000_000, 0);
        check(21_000_000, 3);
        check(22_000_000, 4);
        check(u64::MAX, 4);
        assert_eq!(histogram_of(range, &[]).count_below(5), 0);
    }

    #[test]
    fn any_number_of_samples_neither_overflows_nor_panics() {
        let mut histogram = histogram_of(SMALL, &[1]);
        histogram.record_n(7, u64::MAX);
        histogram.record_n(9, u64::MAX);
        histogram.add(&histogram.clone());
        assert_eq!(histogram.count(), COUNT_MAX);
        assert_eq!(histogram.quantile(0.999), Some(7));
        let bytes = histogram.to_bytes();
        assert_eq!(Histogram::from_bytes(&bytes), Ok(histogram));
    }

    #[test]
    fn a_cleared_histogram_equals_a_new_one() {
        let mut histogram = histogram_of(SMALL, &[1, 2, 3_000_000]);
        histogram.clear();
        assert_eq!(histogram, Histogram::new(SMALL));
    }

    #[test]
    fn a_payload_that_promises_gigabytes_is_refused() {
        let good = histogram_of(SMALL, &[1, 2, 3]).to_bytes();
        let payload = good.len() - (V2_HEADER_BYTES + 4);
        for at in [payload - 33, payload + 4, payload + 12, payload + 16, payload + 24] {
            let mut bytes = good.clone();
            bytes[at..at + 4].fill(0x7f);
            assert!(Histogram::from_bytes(&bytes).is_err());
        }
        let mut bytes = good;
        let end = bytes.len();
        bytes.extend([0xff; 40]);
        bytes[payload + 4..payload + 8].copy_from_slice(&44_u32.to_be_bytes());
        assert_eq!(end + 40, bytes.len());
        assert!(Histogram::from_bytes(&bytes).is_err());
    }

    #[test]
    fn a_typical_second_takes_few_bytes() {
        let values: Vec<u64> = (0..5_000_u64)
            .map(|i| crate::exponential_ns(i.wrapping_mul(0x9e37_79b9_7f4a_7c15), 2e6))
            .collect();
        let bytes = histogram_of(Range::default(), &values).to_bytes().len();
        assert!(bytes < 7_000, "{bytes}");
    }

    proptest! {
        #[test]
        fn buckets_are_those_of_hdrhistogram(value in value()) {
            let buckets = hdrhistogram::Histogram::<u64>::new_with_max(1 << 62, DIGITS)
                .expect("a valid range");
            prop_assert_eq!(bucket_low(value), buckets.lowest_equivalent(value));
            if value < 1 << 63 {
                prop_assert_eq!(bucket_high(value), buckets.highest_equivalent(value));
            }
        }

        #[test]
        fn bytes_round_trip(range in range(), values in values()) {
            let histogram = histogram_of(range, &values);
            prop_assert_eq!(Histogram::from_bytes(&histogram.to_bytes()), Ok(histogram));
        }

        #[test]
        fn cut_or_lengthened_bytes_are_malformed(values in values(), cut in any::<usize>()) {
            let bytes = histogram_of(SMALL, &values).to_bytes();
            prop_assert!(Histogram::from_bytes(&bytes[..cut % bytes.len()]).is_err());
            prop_assert!(Histogram::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        }

        #[test]
        fn garbled_bytes_never_panic(
            values in values(),
            garble in prop::collection::vec((any::<usize>(), any::<u8>()), 1..8),
        ) {
            let mut bytes = histogram_of(SMALL, &values).to_bytes();
            let n = bytes.len();
            garble.iter().for_each(|&(at, byte)| bytes[at % n] = byte);
            if let Ok(histogram) = Histogram::from_bytes(&bytes) {
                let _ = (histogram.quantile(0.5), histogram.sd(), histogram.to_bytes());
                let _ = histogram.recorded().count() as u64 + histogram.count_at_or_below(9);
            }
        }

        #[test]
        fn a_garbled_payload_never_panics(
            values in values(),
            tail in prop::collection::vec(prop_oneof![Just(0xff), any::<u8>()], 0..60),
        ) {
            let mut bytes = histogram_of(SMALL, &values).to_bytes();
            let header = 1 + 5 * 8 + 2 * 16;
            bytes.truncate(header + V2_HEADER_BYTES);
            bytes[header + 4..header + 8].copy_from_slice(&(tail.len() as u32).to_be_bytes());
            bytes.extend(tail);
            let _ = Histogram::from_bytes(&bytes);
        }

        #[test]
        fn merging_equals_recording_all(
            range in range(), a in values(), b in values(), c in values(),
        ) {
            let whole = histogram_of(range, &[&a[..], &b, &c].concat());
            let [a, b, c] = [&a, &b, &c].map(|values| histogram_of(range, values));
            let mut left = a.clone();
            left.add(&b);
            left.add(&c);
            let mut right = b;
            right.add(&c);
            let mut outer = a;
            outer.add(&right);
            prop_assert_eq!(&left, &whole);
            prop_assert_eq!(&outer, &whole);
        }

        #[test]
        fn a_wider_histogram_takes_in_a_narrower_one(
            values in prop::collection::vec(0_u64..900_000, 0..50),
        ) {
            let mut wide = Histogram::default();
            wide.add(&histogram_of(SMALL, &values));
            prop_assert_eq!(wide, histogram_of(Range::default(), &values));
        }

        #[test]
        fn a_narrower_histogram_counts_what_it_cannot_place(values in values()) {
            let mut narrow = Histogram::new(SMALL);
            narrow.add(&histogram_of(Range { highest_ns: HIGHEST_NS_MAX }, &values));
            prop_assert_eq!(&narrow, &histogram_of(SMALL, &values));
        }

        #[test]
        fn sparse_equals_dense(range in range(), a in values(), b in values()) {
            let mut sparse = sparse_of(&a);
            sparse.add(&sparse_of(&b));
            let mut dense = Histogram::new(range);
            dense.add_sparse(&sparse);
            prop_assert_eq!(dense, histogram_of(range, &[a, b].concat()));
        }

        #[test]
        fn a_quantile_is_within_a_thousandth(
            mut values in prop::collection::vec(0_u64..3_600_000_000_000, 1..200),
            q in 0.0..=1.0_f64,
        ) {
            let histogram = histogram_of(Range::default(), &values);
            values.sort_unstable();
            let exact = values[rank(q, values.len() as u64) as usize - 1];
            let got = histogram.quantile(q).expect("not empty");
            prop_assert!(got >= exact && got - exact <= exact / 1000 + 1);
            prop_assert_eq!(histogram.quantile(0.0), values.first().copied());
            prop_assert_eq!(histogram.quantile(1.0), values.last().copied());
        }

        #[test]
        fn recorded_values_and_counts_below_agree(range in range(), values in values()) {
            let histogram = histogram_of(range, &values);
            let mut below = 0;
            let recorded: Vec<u64> = histogram.recorded().map(|(value, _)| value).collect();
            // In an order of its own: the last first.
            let (last, rest) = recorded.split_last().map_or((None, &[][..]), |(l, r)| (Some(l), r));
            let asked: Vec<u64> = last.into_iter().chain(rest).copied().collect();
            let one_by_one: Vec<u64> =
                asked.iter().map(|value| histogram.count_at_or_below(*value)).collect();
            prop_assert_eq!(histogram.counts_at_or_below(&asked), one_by_one);
            for (value, n) in histogram.recorded() {
                below += n;
                prop_assert_eq!(histogram.count_at_or_below(value), below);
                prop_assert!(histogram.count_below(value) <= below - n);
                let at_rank = histogram.value_at_rank(below).map(bucket_low);
                prop_assert_eq!(at_rank, Some(bucket_low(value)));
            }
            prop_assert_eq!(below, histogram.count());
        }
    }
}
