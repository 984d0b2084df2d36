//! How long the beginning of a series differs from the rest of it.
//!
//! Not here: a trend over the whole series (`trend`), and changes of level within it (`change`).

use crate::waves::mean_error;

/// Values are averaged in batches of this many before the beginning is looked for: the 5 of MSER-5.
const BATCH: usize = 5;

/// At most this share of a series is its beginning: a change in its midst is another matter.
const SHARE_MAX: f64 = 0.5;

/// How many standard errors the beginning and the rest must differ by. The beginning is chosen to
/// differ most, so that this is more than the two of a fixed one: steady series exceed it in less
/// than 2 % (`tests`).
const SCORE_MIN: f64 = 5.0;

/// The beginning of a series that differs from the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// How many values it has.
    pub length: usize,
    /// Their mean.
    pub first: f64,
    /// The mean of the rest.
    pub rest: f64,
}

/// The beginning of a series that differs from the rest by more than chance and by more than a
/// share of `effect_min` of it; none if there is none, or the series is too short to tell.
///
/// Where it ends is chosen by MSER-5: so that the rest has the smallest marginal standard error
/// (White, Simulation 69, 323, 1997; White, Cobb and Spratt, Winter Simulation Conference 2000).
/// Whether it differs is judged with the rest's own error, which knows how neighbours resemble each
/// other.
pub fn warm_up(series: &[f64], effect_min: f64) -> Option<WarmUp> {
    let batches: Vec<f64> =
        series.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let errors = marginal_errors(&batches);
    let cut = (1..=(batches.len() as f64 * SHARE_MAX) as usize)
        .min_by(|a, b| errors[*a].total_cmp(&errors[*b]))?;
    let (first, rest) = batches.split_at(cut);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (first, rest_mean) = (mean(first), mean(rest));
    let around: Vec<f64> = rest.iter().map(|value| value - rest_mean).collect();
    let error = mean_error(&around, 0.95)?;
    let per_batch = error.variance * rest.len() as f64;
    let variance = per_batch / cut as f64 + error.variance;
    let difference = (first - rest_mean).abs();
    let is_beyond_chance = difference > SCORE_MIN * variance.sqrt();
    let matters = difference > effect_min * rest_mean.abs();
    (is_beyond_chance && matters).then_some(WarmUp { length: cut * BATCH, first, rest: rest_mean })
}

/// The marginal standard error of MSER, squared, of what begins at each value, from the last one
/// backwards (Welford, Technometrics 4, 419, 1962).
fn marginal_errors(values: &[f64]) -> Vec<f64> {
    let mut errors = vec![0.0; values.len()];
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for (value, error) in values.iter().zip(&mut errors).rev() {
        n += 1.0;
        let away = value - mean;
        mean += away / n;
        squares += away * (value - mean);
        *error = squares / (n * n);
    }
    errors
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    /// Values around 1,000 with a spread of 50, a share of whose variance changes slowly, the first
    /// of which are lower by a share that fades.
    fn series(
        random: &mut Xoshiro256PlusPlus,
        n: usize,
        slow: f64,
        (depth, fades_in): (f64, f64),
    ) -> Vec<f64> {
        let phi = 0.98_f64;
        let mut state = normal(&mut || random.next_u64());
        let mut value = |index: usize| {
            let noise = (1.0 - slow).sqrt() * normal(&mut || random.next_u64());
            let drift = slow.sqrt() * state;
            state = phi * state + (1.0 - phi * phi).sqrt() * normal(&mut || random.next_u64());
            let cold = 1.0 - depth * (-(index as f64) / fades_in).exp();
            1000.0 * cold + 50.0 * (noise + drift)
        };
        (0..n).map(&mut value).collect()
    }

    #[test]
    fn a_steady_series_has_no_warm_up() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        for (n, slow) in [(200, 0.0), (600, 0.0), (600, 0.05), (3_000, 0.05), (600, 0.3)] {
            let mut is_found =
                |_: &u32| warm_up(&series(&mut random, n, slow, (0.0, 1.0)), 0.01).is_some();
            let found = (0..300).filter(|nth| is_found(nth)).count();
            assert!(found <= 6, "{n} {slow}: {found} of 300");
        }
    }

    #[test]
    fn a_warm_up_is_found_with_its_length() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        for (depth, fades_in) in [(0.5, 30.0), (0.3, 60.0), (0.2, 50.0)] {
            let mut lengths = Vec::new();
            for _ in 0..100 {
                let series = series(&mut random, 600, 0.0, (depth, fades_in));
                lengths.extend(warm_up(&series, 0.01).map(|found| found.length));
            }
            lengths.sort_unstable();
            let typical = lengths[lengths.len() / 2] as f64 / fades_in;
            assert!(lengths.len() >= 95, "{depth} {fades_in}: {}", lengths.len());
            assert!((1.0..5.0).contains(&typical), "{depth} {fades_in}: {typical}");
        }
    }

    #[test]
    fn errors_of_what_is_left_are_those_of_the_definition() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];
        for (begin, error) in marginal_errors(&values).into_iter().enumerate() {
            let rest = &values[begin..];
            let n = rest.len() as f64;
            let mean = rest.iter().sum::<f64>() / n;
            let squares: f64 = rest.iter().map(|value| (value - mean).powi(2)).sum();
            assert!((error - squares / (n * n)).abs() < 1e-12, "{begin}: {error}");
        }
    }

    #[test]
    fn too_short_a_series_has_nothing_to_tell() {
        assert_eq!(warm_up(&[], 0.01), None);
        assert_eq!(warm_up(&[1.0; 40], 0.01), None);
        assert_eq!(warm_up(&[7.0; 400], 0.01), None);
    }
}
