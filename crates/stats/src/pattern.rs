//! The significance of a pattern in a series, or of a different level at its beginning, if
//! neighbouring values are correlated.
//!
//! Not here: the choice of the pattern or beginning (`trend`, `warm_up`), and which effects matter.

use crate::mean::{normal_score, students_t_tail};
use crate::waves::{FALLS, FALLS_BELOW, VALUES_MIN, is_level, level, waves};

/// Rises of the noise's spectrum towards slow waves. The error of a mean needs smaller rises
/// (`waves`); a slope looks most like wandering as slow as the series is long, whose rise is steep
/// and below its slowest wave.
const RISES: [f64; 4] = [30.0, 100.0, 300.0, 1000.0];
const RISES_BELOW: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 15.0];

/// The chances beforehand that the spectrum is flat, and that it falls; else it rises. With flat
/// ones at 0.25 to 0.8 and rises from 10 or 30 on, the power to find a tenth less in a minute is
/// much the same where as few steady wanders are taken for a slope.
const FLAT: f64 = 0.5;
const FALLING: f64 = 0.25;

/// Rounding error of a series that is the pattern itself, as a share of its square.
const ROUNDING: f64 = 1e-18;

/// The normal score of the pattern having no part in a series: above 0 the series follows it, below
/// 0 it follows its opposite. 0 of fewer than [`VALUES_MIN`] values, or of equal ones.
///
/// Series and pattern are seen by their slowest waves, whose heights are independent. By each shape
/// of the noise's spectrum the pattern's share is that of generalized least squares (Aitken,
/// Proceedings of the Royal Society of Edinburgh 55, 42, 1935), and Student's around zero; a shape
/// has the weight that the waves give it once the pattern is taken out of them (Harville,
/// Biometrika 61, 383, 1974). So a wander as slow as the pattern counts as noise, though
/// neighbours tell little of it.
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

/// Returns the normal score of the hypothesis that `n_before` values before a series are of its
/// level, if their mean is `above` that of the series. 0 for fewer than [`VALUES_MIN`] values; for
/// equal ones every difference is beyond chance.
///
/// Noise is estimated from the series only: values that approach a level are none of it. For each
/// shape of its spectrum, the variance of a mean of n values is given by the spectrum at a wave of
/// 2 n.
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

/// Returns the normal score of a mixture of Student's t, given the logarithms of their weights.
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

/// Returns the prior probability of each shape, its rise and where the rise ends.
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

    /// Share of 1,000 series of noise that `score` places beyond 2 by chance; each value keeps the
    /// share `keeps` of the one before.
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
