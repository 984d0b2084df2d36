//! Variance and autocorrelation of a series, and the error of a ratio by the method of batch means.
//! Not here: the error of a mean (`waves`).

/// Largest number of batches into which a series is divided to estimate the error of a ratio. In a
/// shorter series each value is a batch.
const BATCHES: usize = 20;

/// Smallest number of values from which the error of a ratio is estimated. With fewer,
/// [`ratio_error`] returns `None`.
const RATIO_VALUES_MIN: usize = 8;

/// Length, sample variance and lag-1 autocorrelation of a series of values.
pub(crate) struct Scatter {
    n: usize,
    pub(crate) variance: f64,
    lag_1: f64,
}

impl Scatter {
    pub(crate) fn from_series(series: &[f64]) -> Scatter {
        let n = series.len();
        let mean = series.iter().sum::<f64>() / n as f64;
        let squares: f64 = series.iter().map(|x| (x - mean).powi(2)).sum();
        let products: f64 = series.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
        let lag_1 = if squares > 0.0 { products / squares } else { 0.0 };
        Scatter { n, variance: squares / (n as f64 - 1.0), lag_1 }
    }

    /// Returns the lag-1 autocorrelation r, corrected for its bias of -(1 + 3 r) / n and limited to
    /// 0..=0.95, so that a negative one does not narrow an interval. 0 if the values do not vary.
    pub(crate) fn lag_1_unbiased(&self) -> f64 {
        let bias = (1.0 + 3.0 * self.lag_1.max(0.0)) / self.n as f64;
        if self.variance > 0.0 { (self.lag_1 + bias).clamp(0.0, 0.95) } else { 0.0 }
    }
}

/// Returns the standard error of a ratio, the sum of hits over the sum of counts, given consecutive
/// (hits, count). `None` for fewer than eight values, or if nothing was counted.
///
/// The residuals hits - ratio × count are summed in up to 20 batches. The autocorrelation r that is
/// left between batches raises the variance by (1 + r) / (1 - r), with r corrected for its bias
/// (Law and Carson, Operations Research 27, 1011, 1979; Marriott and Pope, Biometrika 41, 390,
/// 1954).
pub fn ratio_error(series: &[(f64, f64)]) -> Option<f64> {
    let (hits, count) = series.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if series.len() < RATIO_VALUES_MIN || count <= 0.0 {
        return None;
    }
    let ratio = hits / count;
    let n = series.len().min(BATCHES);
    let batch = |index: usize| {
        let batch = &series[index * series.len() / n..(index + 1) * series.len() / n];
        batch.iter().map(|(hits, count)| hits - ratio * count).sum::<f64>()
    };
    let scatter = Scatter::from_series(&(0..n).map(batch).collect::<Vec<_>>());
    let correlation = scatter.lag_1_unbiased();
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    Some((n as f64 * scatter.variance * inflation).sqrt() / count)
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
