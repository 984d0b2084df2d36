//! The error of a share (or another ratio of sums) along a series whose neighbours depend on each
//! other, from means of batches.
//!
//! Not here: rates of events over time (rate), and what differs between runs.

use crate::rate::Scatter;

/// Batches of a series: about as many as a correlation can still be seen in, each as long as can be
/// (A. M. Law and J. S. Carson, Oper. Res. 27, 1011, 1979).
const BATCHES: usize = 20;
/// Fewer values than this tell nothing of an error.
const VALUES_MIN: usize = 8;

/// The standard error of the sum of `hits` over the sum of `counts`, of consecutive (hits, counts).
///
/// Residuals hits - ratio count are added up in about 20 batches, and what correlation neighbouring
/// batches still have widens the error by the AR(1) factor (1 + r) / (1 - r), with r corrected for
/// its bias. None of fewer than eight values, or of nothing counted.
pub fn ratio_error(series: &[(f64, f64)]) -> Option<f64> {
    let (hits, count) = series.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if series.len() < VALUES_MIN || count <= 0.0 {
        return None;
    }
    let ratio = hits / count;
    let n = series.len().min(BATCHES);
    let batch = |index: usize| {
        let batch = &series[index * series.len() / n..(index + 1) * series.len() / n];
        batch.iter().map(|(hits, count)| hits - ratio * count).sum::<f64>()
    };
    let scatter = Scatter::of(&(0..n).map(batch).collect::<Vec<_>>());
    let r = scatter.lag_1_unbiased();
    let variance = scatter.variance() * n as f64 * (1.0 + r) / (1.0 - r);
    Some(variance.max(0.0).sqrt() / count)
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
