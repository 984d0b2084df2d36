//! Comparison of two systems that were measured in two blocks of runs, one after the other: whether
//! they differ by more than a linear drift over all runs explains.
//!
//! Not here: the difference without a drift (comparison).

use crate::batches::Scatter;
use crate::mean::{students_t, students_t_tail};

/// Smallest number of values for a fit of mean, drift and shift that leaves residuals.
const FIGURES_MIN: usize = 5;
/// Degrees of freedom that the fit of mean, drift and shift uses up.
const LOST: usize = 3;
/// Smallest sum of squares that is left of the indicator of the second block (0 or 1 for each
/// value) after a fit of mean and drift. Below it, only rounding errors are left, and a shift
/// cannot be separated from the drift.
const LEFT_MIN: f64 = 1e-9;

/// Tests whether two systems differ by more than a linear drift over all runs explains. `figures`
/// are the results of runs in the order of time, each with whether it belongs to the second system;
/// `shift` is the difference, second minus first, that was found without regard to a drift. Returns
/// the two-sided p-value; 1 if the shift beside the drift has the opposite sign of `shift` or
/// cannot be separated from the drift, or if a result is not finite.
///
/// The shift is that of an analysis of covariance with time (Fisher, Statistical Methods for
/// Research Workers, 1932). Autocorrelation r of the residuals raises its variance by
/// `(1 + r) / (1 - r)`, because slow variation is not a linear drift.
pub fn shift_beside_drift(figures: &[(f64, bool)], shift: f64) -> f64 {
    match Beside::from_figures(figures) {
        None => 1.0,
        Some(beside) if beside.shift * shift <= 0.0 => 1.0,
        Some(Beside { error: 0.0, .. }) => 0.0,
        Some(beside) => 2.0 * students_t_tail(beside.shift.abs() / beside.error, beside.freedom),
    }
}

/// Returns one-sided bounds, lower and upper, of the shift (second system minus first) beside a
/// linear drift, each with this confidence. `figures` are as in [`shift_beside_drift`]. `None` if
/// the shift cannot be separated from the drift, or a result is not finite.
pub fn bounds_beside_drift(figures: &[(f64, bool)], confidence: f64) -> Option<(f64, f64)> {
    let beside = Beside::from_figures(figures)?;
    let away = students_t(confidence, figures.len() - LOST) * beside.error;
    Some((beside.shift - away, beside.shift + away))
}

/// Shift between two systems beside a linear drift, with its standard error and degrees of freedom.
struct Beside {
    shift: f64,
    error: f64,
    freedom: f64,
}

impl Beside {
    fn from_figures(figures: &[(f64, bool)]) -> Option<Beside> {
        let n = figures.len() as f64;
        if figures.len() < FIGURES_MIN || !figures.iter().all(|(figure, _)| figure.is_finite()) {
            return None;
        }
        let times: Vec<f64> = (0..figures.len()).map(|at| at as f64 - (n - 1.0) / 2.0).collect();
        let sides = figures.iter().map(|(_, second)| f64::from(u8::from(*second)));
        let sides: Vec<f64> = beside(&sides.collect::<Vec<f64>>(), &times);
        let figures: Vec<f64> = figures.iter().map(|(figure, _)| *figure).collect();
        let figures = beside(&figures, &times);
        let squares = product(&sides, &sides);
        if squares < LEFT_MIN {
            return None;
        }
        let shift = product(&sides, &figures) / squares;
        let left: Vec<f64> = figures.iter().zip(&sides).map(|(y, x)| y - shift * x).collect();
        let r = Scatter::from_series(&left).lag_1_unbiased();
        let freedom = n - LOST as f64;
        let variance = product(&left, &left) / freedom / squares * (1.0 + r) / (1.0 - r);
        Some(Beside { shift, error: variance.sqrt(), freedom })
    }
}

/// Returns the residuals of `values` after a fit of mean and linear trend over `times`, whose mean
/// must be 0.
fn beside(values: &[f64], times: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let slope = product(values, times) / product(times, times);
    values.iter().zip(times).map(|(value, time)| value - mean - slope * time).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::Comparison;
    use crate::draw::normal;

    /// Simulates 3,000 comparisons of two blocks of `n` autocorrelated values each. Returns the
    /// share in which the blocks differ significantly, and the share in which no drift explains the
    /// difference. `keeps` is the autocorrelation, `more` the true difference.
    fn told(n: usize, keeps: f64, more: f64) -> (f64, f64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
        let (mut n_told, mut n_beside, rounds) = (0, 0, 3000);
        for _ in 0..rounds {
            let mut draw = || normal(&mut || random.next_u64());
            let mut state = draw();
            let mut next = |at: usize| {
                state = keeps * state + (1.0 - keeps * keeps).sqrt() * draw();
                state + if at < n { 0.0 } else { more }
            };
            let all: Vec<f64> = (0..2 * n).map(&mut next).collect();
            let found = Comparison::new(&all[..n], &all[n..], 0.95).expect("enough");
            let in_order: Vec<(f64, bool)> =
                all.iter().enumerate().map(|(at, figure)| (*figure, at >= n)).collect();
            n_told += u32::from(found.p < 0.05);
            let is_beside = shift_beside_drift(&in_order, found.shift) < 0.03;
            n_beside += u32::from(found.p < 0.05 && is_beside);
        }
        (f64::from(n_told) / f64::from(rounds), f64::from(n_beside) / f64::from(rounds))
    }

    #[test]
    fn blocks_on_a_machine_that_wanders_rarely_differ_by_more_than_a_drift() {
        for (n, keeps) in [(3, 0.7), (5, 0.7), (6, 0.5), (8, 0.7), (10, 0.8), (15, 0.7)] {
            let (told, beside) = told(n, keeps, 0.0);
            assert!(n == 3 || told > 0.1, "{n} {keeps}: {told}");
            assert!(beside <= 0.05, "{n} {keeps}: {beside} of {told}");
        }
    }

    #[test]
    fn a_difference_that_is_far_beyond_the_noise_is_no_drift() {
        for n in [5, 8] {
            let (_, beside) = told(n, 0.0, 10.0);
            assert!(beside > 0.95, "{n}: {beside}");
        }
    }

    #[test]
    fn a_line_is_a_drift_and_a_step_is_none() {
        let line: Vec<(f64, bool)> = (0..10).map(|at| (f64::from(at), at >= 5)).collect();
        assert!(shift_beside_drift(&line, 5.0) > 0.05);
        let step: Vec<(f64, bool)> =
            (0..10).map(|at| (f64::from(at % 2 + 50 * (at / 5)), at >= 5)).collect();
        assert!(shift_beside_drift(&step, 50.0) < 0.01);
        assert_eq!(shift_beside_drift(&step[..4], 50.0), 1.0);
        assert_eq!(shift_beside_drift(&[(f64::INFINITY, true); 8], 50.0), 1.0);
    }

    /// Simulates 2,000 comparisons of two blocks of `n` values each, with autocorrelation `keeps`.
    /// The second block is higher by `more`, beside a drift of `drift` from the middle of one block
    /// to the next. Returns the share in which the lower bound of the shift is at least -`limit`.
    fn passes(n: usize, limit: f64, (keeps, drift, more): (f64, f64, f64)) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(19);
        let (mut n_passed, rounds) = (0, 2000);
        for _ in 0..rounds {
            let mut draw = || normal(&mut || random.next_u64());
            let mut state = draw();
            let figures = (0..2 * n).map(|at| {
                state = keeps * state + (1.0 - keeps * keeps).sqrt() * draw();
                let drifted = drift * at as f64 / n as f64;
                (state + drifted + if at < n { 0.0 } else { more }, at >= n)
            });
            let bounds = bounds_beside_drift(&figures.collect::<Vec<_>>(), 0.95);
            n_passed += u32::from(bounds.is_some_and(|(least, _)| least >= -limit));
        }
        f64::from(n_passed) / f64::from(rounds)
    }

    #[test]
    fn a_drift_hides_a_shift_at_the_limit_as_rarely_as_no_drift_does() {
        for n in [3, 5, 8, 20] {
            for drift in [0.0, 5.0, 10.0, -5.0] {
                let passed = passes(n, 5.0, (0.0, drift, -5.0));
                assert!(passed <= 0.06, "{n} {drift}: {passed}");
            }
        }
        // The machine's speed also varies slowly.
        for n in [5, 8, 20] {
            let passed = passes(n, 5.0, (0.7, 5.0, -5.0));
            assert!(passed <= 0.1, "{n}: {passed}");
        }
    }

    #[test]
    fn equal_sides_pass_a_limit_that_is_far_beyond_the_noise_whatever_the_drift() {
        for (n, limit, least) in [(5, 5.0, 0.9), (8, 5.0, 0.98), (10, 3.0, 0.88), (20, 3.0, 0.98)] {
            for drift in [0.0, 5.0] {
                let passed = passes(n, limit, (0.0, drift, 0.0));
                assert!(passed >= least, "{n} {limit} {drift}: {passed}");
            }
        }
    }
}
