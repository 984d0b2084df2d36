//! Tests whether a series follows a pattern, or begins at a different level, although neighbouring
//! values may be correlated.
//!
//! Not here: the choice of the pattern or of the beginning (`trend`, `warm_up`), and which effects
//! matter.

use crate::mean::{normal_score, students_t_tail};
use crate::waves::{FALLS, FALLS_BELOW, VALUES_MIN, is_level, level, waves};

/// Assumed rises of the noise spectrum towards low frequencies, relative to its level at high ones.
/// They are larger than those assumed for the error of a mean (`waves`), because noise that is most
/// easily mistaken for a trend changes as slowly as the series is long.
const RISES: [f64; 4] = [30.0, 100.0, 300.0, 1000.0];
/// Assumed numbers of the wave (cosine component of a series) at which half of a rise of the noise
/// spectrum is reached.
const RISES_BELOW: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 15.0];

/// Prior probability that the noise spectrum is flat. The choice matters little: with 0.25 to 0.8
/// and rises from 10 or 30 on, tests with the same rate of false alarms find a decline of 10 % in a
/// minute about equally often.
const FLAT: f64 = 0.5;
/// Prior probability that the noise spectrum falls towards low frequencies. If it is neither flat
/// nor falling, it rises.
const FALLING: f64 = 0.25;

/// Smallest sum of squares of the residuals beside a pattern, as a share of the sum of squares of
/// the series. A smaller one consists of rounding errors, since the series is the pattern itself.
const ROUNDING: f64 = 1e-18;

/// Tests whether a series follows a pattern, and returns the normal score (z): positive if it
/// follows the pattern, negative if it follows the opposite. 0 for fewer than [`VALUES_MIN`]
/// values, or if all are equal.
///
/// Series and pattern are represented by the heights (coefficients) of their slowest waves, which
/// are independent. For each assumed shape of the noise spectrum, the share of the pattern is
/// estimated by generalized least squares (Aitken, Proceedings of the Royal Society of Edinburgh
/// 55, 42, 1935), with Student's t around 0. Shapes are weighted by how well they explain the waves
/// without the pattern (Harville, Biometrika 61, 383, 1974). So noise that changes as slowly as the
/// pattern counts as noise, even if neighbouring values are hardly correlated.
pub(crate) fn pattern_score(values: &[f64], pattern: &[f64]) -> f64 {
    assert_eq!(values.len(), pattern.len(), "a pattern is as long as its series");
    let (heights, pattern) = (waves(values), waves(pattern));
    if values.len() < VALUES_MIN || is_level(values, heights.iter().copied()) {
        return 0.0;
    }
    let freedom = heights.len() as f64 - 1.0;
    let weigh = |(chance, rise, below): (f64, f64, f64)| {
        let levels: Vec<f64> = (0..heights.len()).map(|at| level(at, rise, below)).collect();
        let sum = |a: &[f64], b: &[f64]| {
            let both = a.iter().zip(b).zip(&levels);
            both.map(|((a, b), level)| a * b / level).sum::<f64>()
        };
        let (whole, squares) = (sum(&heights, &heights), sum(&pattern, &pattern));
        let share = sum(&heights, &pattern) / squares;
        let rest = (whole - share * share * squares).max(ROUNDING * whole);
        let logs: f64 = levels.iter().map(|level| level.ln()).sum();
        let log = chance.ln() - 0.5 * (logs + squares.ln() + freedom * rest.ln());
        (log, share / (rest / freedom / squares).sqrt())
    };
    score(&shapes().map(weigh).collect::<Vec<(f64, f64)>>(), freedom)
}

/// Tests whether the `n_before` values before a series are at the same level as the series, given
/// that their mean exceeds that of the series by `above`. Returns the normal score (z), with the
/// sign of `above`: 0 for fewer than [`VALUES_MIN`] values or no difference, infinite if the values
/// are equal.
///
/// The noise is estimated from the series only, because values that approach a level are no noise
/// around it. For each assumed shape of the noise spectrum, the variance of a mean of n values
/// follows from the spectrum at a wave with a period of 2 n values.
pub(crate) fn beginning_score(series: &[f64], n_before: usize, above: f64) -> f64 {
    let heights = waves(series);
    if series.len() < VALUES_MIN || above == 0.0 {
        return 0.0;
    }
    if is_level(series, heights.iter().copied()) {
        return f64::INFINITY.copysign(above);
    }
    let freedom = heights.len() as f64;
    let times_as_long = series.len() as f64 / n_before as f64;
    let weigh = |(chance, rise, below): (f64, f64, f64)| {
        let levels: Vec<f64> = (0..heights.len()).map(|at| level(at, rise, below)).collect();
        let whole: f64 = heights.iter().zip(&levels).map(|(h, level)| h * h / level).sum();
        let logs: f64 = levels.iter().map(|level| level.ln()).sum();
        let of_mean = |times: f64| times * (1.0 + rise / (1.0 + (0.5 * times / below).powi(2)));
        let variance = whole / freedom * (of_mean(1.0) + of_mean(times_as_long));
        (chance.ln() - 0.5 * (logs + freedom * whole.ln()), above / variance.sqrt())
    };
    score(&shapes().map(weigh).collect::<Vec<(f64, f64)>>(), freedom)
}

/// Returns the normal score (z) of a mixture of Student's t values, given as (logarithm of the
/// weight, t).
fn score(weighed: &[(f64, f64)], freedom: f64) -> f64 {
    let most = weighed.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
    // Both tails, so that neither is lost beside the other.
    let (mut all, mut below, mut above) = (0.0, 0.0, 0.0);
    for (log, t) in weighed {
        let weight = (log - most).exp();
        all += weight;
        below += weight * students_t_tail(*t, freedom);
        above += weight * students_t_tail(-t, freedom);
    }
    let beyond = |tail: f64| normal_score((tail / all).max(f64::MIN_POSITIVE));
    if below < above { beyond(below) } else { -beyond(above) }
}

/// Returns all assumed shapes of the noise spectrum. Each has a prior probability, the rise towards
/// low frequencies (a fall if negative), and the number of the wave at which half of the rise is
/// reached.
fn shapes() -> impl Iterator<Item = (f64, f64, f64)> {
    let rising = (1.0 - FLAT - FALLING) / (RISES.len() * RISES_BELOW.len()) as f64;
    let falling = FALLING / (FALLS.len() * FALLS_BELOW.len()) as f64;
    let rises = RISES.iter().flat_map(move |rise| RISES_BELOW.map(|below| (rising, *rise, below)));
    let fallen = move |fall: &f64| FALLS_BELOW.map(|(below, _)| (falling, *fall, below));
    let falls = FALLS.iter().flat_map(fallen);
    std::iter::once((FLAT, 0.0, 1.0)).chain(falls).chain(rises)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    /// Returns the share of 1,000 series of pure noise with a `score` beyond ±2. In the noise, each
    /// value is `keeps` times the previous one plus a random number.
    fn share(keeps: f64, score: impl Fn(&[f64]) -> f64) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(41);
        let n_rounds = 1_000;
        let mut is_above = |_: &u32| {
            let mut state = 0.0;
            let mut next = |_| {
                state = keeps * state + normal(&mut || random.next_u64());
                state
            };
            let values: Vec<f64> = (0..140).map(&mut next).skip(60).collect();
            score(&values).abs() > 2.0
        };
        (0..n_rounds).filter(&mut is_above).count() as f64 / f64::from(n_rounds)
    }

    #[test]
    fn noise_follows_no_pattern_however_it_depends_on_itself() {
        let line: Vec<f64> = (0..80).map(f64::from).collect();
        for keeps in [-0.5, 0.0, 0.5, 0.9] {
            let of_line = share(keeps, |values| pattern_score(values, &line));
            let of_beginning = share(keeps, |values| {
                let (first, rest) = values.split_at(10);
                let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
                beginning_score(rest, 10, mean(first) - mean(rest))
            });
            // 4.6 % of a normal score.
            assert!(of_line < 0.05 && of_beginning < 0.06, "{keeps}: {of_line} {of_beginning}");
        }
    }

    #[test]
    fn a_pattern_has_the_sign_of_its_share() {
        let line: Vec<f64> = (0..40).map(f64::from).collect();
        let values: Vec<f64> = (0..40).map(|i| f64::from(2 * i + i * 7 % 5)).collect();
        let back: Vec<f64> = values.iter().map(|value| -value).collect();
        let (up, down) = (pattern_score(&values, &line), pattern_score(&back, &line));
        assert!(up > 5.0 && (up + down).abs() < 1e-6, "{up} {down}");
        assert_eq!(pattern_score(&[0.1; 40], &line), 0.0);
        assert_eq!(beginning_score(&[0.1; 40], 5, -1.0), f64::NEG_INFINITY);
        assert_eq!(pattern_score(&values[..9], &line[..9]), 0.0);
    }
}
