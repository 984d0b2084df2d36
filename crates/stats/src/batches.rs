//! How sure the mean of a series is whose neighbours resemble each other: batch means.
//!
//! Not here: what the series is made of. A rate is a mean of counts (`rate`), a quantile is a mean
//! of how many samples lie above a value (`dependence`).

use crate::students_t;

/// A series is averaged in this many batches each. The interval's width is the root mean square of
/// the two, or the wider one where the finer batches resemble their neighbours.
///
/// Few batches see slow changes, many batches have few errors of their own. Of 6 to 30 batches,
/// alone and together, over queues, slow components, stalls and two-state loads, this pair came
/// nearest to 95 % on all of them (`docs/measuring.md` has the table).
const BATCHES: [usize; 2] = [10, 20];

/// Above this correlation of neighbours the finer batches are short beside what they depend on.
const CORRELATION_MAX: f64 = 0.2;

/// The fewest values with an error: one for each batch of the coarser division.
pub(crate) const VALUES_MIN: usize = BATCHES[0];

/// The error of a mean of dependent values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BatchError {
    /// Half the width of the interval, in the unit of the values.
    pub(crate) half_width: f64,
    /// The square of the standard error of the mean.
    pub(crate) variance: f64,
}

/// The error of the mean of consecutive values; none of fewer than [`VALUES_MIN`].
///
/// Batch means with the AR(1) factor (1 + r) / (1 - r) for what correlation is left between the
/// batches, with r corrected for its bias (Law and Carson, Operations Research 27, 1011, 1979;
/// Marriott and Pope, Biometrika 41, 390, 1954). The number of batches is fixed: to lengthen them
/// until they show no significant correlation stops too early, since a slow component that makes
/// up a twentieth of the variance is not significant in any pair of neighbours and still most of
/// the error of the mean.
pub(crate) fn batch_error(values: &[f64], confidence: f64) -> Option<BatchError> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let [coarse, fine] = BATCHES.map(|count| (count <= values.len()).then(|| means(values, count)));
    let coarse = of_batches(&coarse.expect("at least VALUES_MIN"), confidence);
    let Some(fine) = fine else { return Some(coarse) };
    let is_short = Scatter::of(&fine).lag_1 > CORRELATION_MAX;
    let fine = of_batches(&fine, confidence);
    let square = |error: &BatchError| error.half_width.powi(2);
    Some(match is_short {
        true if coarse.half_width > fine.half_width => coarse,
        true => fine,
        false => BatchError {
            half_width: f64::midpoint(square(&coarse), square(&fine)).sqrt(),
            variance: f64::midpoint(coarse.variance, fine.variance),
        },
    })
}

/// Fewer values than this tell nothing of the error of a ratio.
const RATIO_VALUES_MIN: usize = 8;

/// The means of `count` consecutive batches, as equal in length as can be.
fn means(values: &[f64], count: usize) -> Vec<f64> {
    let n = values.len();
    let batch = |index: usize| &values[index * n / count..(index + 1) * n / count];
    let mean = |batch: &[f64]| batch.iter().sum::<f64>() / batch.len() as f64;
    (0..count).map(|index| mean(batch(index))).collect()
}

fn of_batches(batches: &[f64], confidence: f64) -> BatchError {
    let scatter = Scatter::of(batches);
    let correlation = scatter.lag_1_unbiased();
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    let n = batches.len() as f64;
    let variance = scatter.variance / n * inflation;
    // As many degrees of freedom as batches that were independent, less one.
    let freedom = (n / inflation).max(3.0).floor() as usize - 1;
    let t = students_t(1.0 - (1.0 - confidence) / 2.0, freedom);
    BatchError { half_width: t * variance.sqrt(), variance }
}

/// The scatter of a series: its length, sample variance and lag-1 autocorrelation.
pub(crate) struct Scatter {
    n: usize,
    pub(crate) variance: f64,
    lag_1: f64,
}

impl Scatter {
    pub(crate) fn of(series: &[f64]) -> Scatter {
        let n = series.len();
        let mean = series.iter().sum::<f64>() / n as f64;
        let squares: f64 = series.iter().map(|x| (x - mean).powi(2)).sum();
        let products: f64 = series.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
        let lag_1 = if squares > 0.0 { products / squares } else { 0.0 };
        Scatter { n, variance: squares / (n as f64 - 1.0), lag_1 }
    }

    /// The lag-1 autocorrelation raised by its bias of (1 + 3 r) / n, within 0..=0.95: negative
    /// ones are not used to narrow an interval.
    pub(crate) fn lag_1_unbiased(&self) -> f64 {
        let bias = (1.0 + 3.0 * self.lag_1.max(0.0)) / self.n as f64;
        if self.variance > 0.0 { (self.lag_1 + bias).clamp(0.0, 0.95) } else { 0.0 }
    }
}

/// The standard error of the sum of `hits` over the sum of `counts`, of consecutive (hits, counts).
///
/// Residuals hits - ratio count are added up in about 20 batches, and what correlation neighbouring
/// batches still have widens the error as in [`batch_error`]. None of fewer than eight values, or
/// of nothing counted.
pub fn ratio_error(series: &[(f64, f64)]) -> Option<f64> {
    let (hits, count) = series.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if series.len() < RATIO_VALUES_MIN || count <= 0.0 {
        return None;
    }
    let ratio = hits / count;
    let n = series.len().min(BATCHES[1]);
    let batch = |index: usize| {
        let batch = &series[index * series.len() / n..(index + 1) * series.len() / n];
        batch.iter().map(|(hits, count)| hits - ratio * count).sum::<f64>()
    };
    let of_mean = of_batches(&(0..n).map(batch).collect::<Vec<_>>(), 0.95);
    Some(n as f64 * of_mean.variance.sqrt() / count)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::{exponential, students_t};

    #[test]
    fn the_error_of_a_correlated_share_is_held_as_often_as_it_says() {
        // Seconds of 100 requests of which a tenth is late on average, in spells.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let (n, mut held) = (600, 0);
        for _ in 0..n {
            let (mut level, mut series) = (1.0, Vec::new());
            for second in 0..160 {
                // Positive, of mean 1, and with a correlation of 0.6 between neighbours.
                level = 0.6 * level + 0.4 * exponential(random.next_u64());
                if second >= 40 {
                    series.push((10.0 * level, 100.0));
                }
            }
            let share = series.iter().map(|one| one.0).sum::<f64>() / 12_000.0;
            let error = ratio_error(&series).expect("long enough");
            held += i32::from((share - 0.1).abs() <= students_t(0.975, 18) * error);
        }
        assert!((92..=99).contains(&(held * 100 / n)), "{held} of {n}");
    }

    #[test]
    fn few_seconds_or_none_have_no_error() {
        assert_eq!(ratio_error(&[(1.0, 2.0); 7]), None);
        assert_eq!(ratio_error(&[(0.0, 0.0); 30]), None);
        assert_eq!(ratio_error(&[(1.0, 2.0); 30]), Some(0.0));
    }
}
