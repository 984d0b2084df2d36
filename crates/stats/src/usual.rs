//! Comparison of a range of values in a series with the usual level of the other values.

use std::ops::Range;

use crate::outstanding::SD_PER_MAD;
use crate::trend::median;

/// Smallest assumed standard deviation of usual values, as a share of their median.
const SPREAD_MIN: f64 = 0.05;

/// Smallest assumed standard deviation of usual values, as a share of the highest value.
const SPREAD_OF_HIGHEST_MIN: f64 = 1e-3;

/// Smallest number of usual ranges (without excluded values) for a comparison. With nine, a value
/// is above all of them by chance with a probability of 1/10.
pub const STRETCHES_MIN: usize = 9;

/// A series of values with a usual level. Some values are excluded from that level, such as those
/// that are to be compared with the others. Values that are not finite are ignored.
#[derive(Clone, Copy, Debug)]
pub struct Usual<'s> {
    values: &'s [f64],
    is_outside: &'s [bool],
}

impl<'s> Usual<'s> {
    /// Creates a [`Usual`] of a series. Values whose `is_outside` is true are excluded from its
    /// usual level.
    pub fn new(values: &'s [f64], is_outside: &'s [bool]) -> Usual<'s> {
        Usual { values, is_outside }
    }

    /// Returns the usual level: the median of the values that are not excluded; NaN if there are
    /// none.
    pub fn median(&self) -> f64 {
        median(self.usual().collect())
    }

    /// Returns the mean of all finite values in a range of indexes; NaN if there are none.
    pub fn mean_within(&self, stretch: Range<usize>) -> f64 {
        let finite = self.values[stretch].iter().filter(|value| value.is_finite());
        let (sum, n) = finite.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
        sum / f64::from(n)
    }

    /// Returns the distance of `value` from the usual level, in robust standard deviations;
    /// negative if it is below.
    pub fn score(&self, value: f64) -> f64 {
        let usual = self.median();
        let spread = SD_PER_MAD * median(self.usual().map(|v| (v - usual).abs()).collect());
        let highest = self.values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let least = (SPREAD_MIN * usual.abs()).max(SPREAD_OF_HIGHEST_MIN * highest);
        (value - usual) / spread.max(least)
    }

    /// Returns how likely a usual range of `length` values has a mean of at least `value` (p-value
    /// of a permutation test): the share of usual ranges that do, counting one more so that it is
    /// never 0. `None` for fewer than [`STRETCHES_MIN`] usual ranges.
    pub fn chance(&self, value: f64, length: usize) -> Option<f64> {
        let means = self.means(length);
        let as_high = means.iter().filter(|mean| **mean >= value).count();
        let is_enough = means.len() >= STRETCHES_MIN;
        is_enough.then_some((as_high + 1) as f64 / (means.len() + 1) as f64)
    }

    /// Whether `value` is above the mean of every usual range (without excluded values) of `length`
    /// values.
    pub fn is_highest(&self, value: f64, length: usize) -> bool {
        self.means(length).iter().all(|mean| *mean < value)
    }

    /// Returns the means of all ranges of `length` values in which no value is excluded or missing.
    pub fn means(&self, length: usize) -> Vec<f64> {
        let is_usual = |start: &usize| !self.is_outside[*start..start + length].contains(&true);
        let starts = (0..(self.values.len() + 1).saturating_sub(length)).filter(is_usual);
        // A stretch with a missing value is skipped.
        let mean =
            |start: usize| self.values[start..start + length].iter().sum::<f64>() / length as f64;
        starts.map(mean).filter(|mean| mean.is_finite()).collect()
    }

    fn usual(&self) -> impl Iterator<Item = f64> + 's {
        let all = self.values.iter().zip(self.is_outside);
        all.filter(|(value, is_outside)| value.is_finite() && !**is_outside).map(|(v, _)| *v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_held_against_the_rest() {
        let mut values: Vec<f64> = (0..30).map(|at| 10.0 + f64::from(at % 3)).collect();
        values[5] = f64::NAN;
        values[20] = 40.0;
        values[21] = 60.0;
        let is_outside: Vec<bool> = (0..30).map(|at| at == 20 || at == 21).collect();
        let usual = Usual::new(&values, &is_outside);
        assert_eq!((usual.median(), usual.mean_within(20..22)), (11.0, 50.0));
        assert_eq!(usual.mean_within(4..6), 11.0);
        assert!((usual.score(50.0) - 39.0 / SD_PER_MAD).abs() < 1e-9);
        // 30 stretches of one value, less two that are outside and one that is missing.
        assert_eq!(usual.chance(50.0, 1), Some(1.0 / 28.0));
        assert_eq!(usual.chance(12.0, 1), Some(9.0 / 28.0));
        assert_eq!(usual.chance(12.0, 20), None);
        assert_eq!(usual.chance(12.0, 31), None);
        assert!(usual.is_highest(12.5, 1) && !usual.is_highest(12.0, 1));
        // A value above nine stretches has a chance of a tenth; eight are too few.
        let chance = |n: usize| Usual::new(&[1.0; 9][..n], &[false; 9][..n]).chance(2.0, 1);
        assert_eq!((chance(9), chance(8)), (Some(0.1), None));
    }
}
