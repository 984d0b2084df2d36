//! Effects of several properties on a result, each beside the others: a linear model by least
//! squares, with Student's confidence intervals.
//!
//! Not here: the difference of two sets alone (comparison).

use crate::mean::students_t;

/// Effect of one property: the difference of the results with and without it, all else equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Estimate of the difference.
    pub shift: f64,
    /// Confidence interval of the difference.
    pub interval: (f64, f64),
}

/// Smallest pivot of the normal equations, relative to the number of results, at which they can be
/// solved: below it, a property depends on others.
const PIVOT_LEAST: f64 = 1e-9;

/// Returns the effect of each property on the results `figures`, given which of them have it. The
/// intervals hold together: with the probability `confidence` all contain their effects
/// (Bonferroni). `None` for a property that all or no results have, or that depends on others; and
/// for all if there are no more results than properties and two.
///
/// Panics if a result does not have one value for each property.
pub fn main_effects(
    properties: &[Vec<bool>],
    figures: &[f64],
    confidence: f64,
) -> Vec<Option<Effect>> {
    let n_properties = properties.first().map_or(0, Vec::len);
    let mut effects = vec![None; n_properties];
    let varies = |at: &usize| {
        let n_with = properties.iter().filter(|has| has[*at]).count();
        (1..properties.len()).contains(&n_with)
    };
    let varied: Vec<usize> = (0..n_properties).filter(varies).collect();
    let n_terms = varied.len() + 1;
    let Some(freedom) = figures.len().checked_sub(n_terms).filter(|freedom| *freedom > 0) else {
        return effects;
    };
    let row = |has: &Vec<bool>| -> Vec<f64> {
        let of_property = varied.iter().map(|at| f64::from(u8::from(has[*at])));
        std::iter::once(1.0).chain(of_property).collect()
    };
    let rows: Vec<Vec<f64>> = properties.iter().map(row).collect();
    let Some(inverse) = inverse(normal(&rows)) else { return effects };
    let products: Vec<f64> = (0..n_terms)
        .map(|term| rows.iter().zip(figures).map(|(row, figure)| row[term] * figure).sum())
        .collect();
    let terms: Vec<f64> = inverse.iter().map(|row| dot(row, &products)).collect();
    let residuals = rows.iter().zip(figures).map(|(row, figure)| figure - dot(row, &terms));
    let variance = residuals.map(|residual| residual * residual).sum::<f64>() / freedom as f64;
    let beyond = (1.0 - confidence) / varied.len().max(1) as f64;
    let t = students_t(1.0 - beyond / 2.0, freedom);
    for (term, at) in (1..).zip(&varied) {
        let half_width = t * (variance * inverse[term][term]).sqrt();
        let shift = terms[term];
        effects[*at] = Some(Effect { shift, interval: (shift - half_width, shift + half_width) });
    }
    effects
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the matrix of the normal equations: the products of all pairs of columns.
fn normal(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = rows.first().map_or(0, Vec::len);
    let product = |a: usize, b: usize| rows.iter().map(|row| row[a] * row[b]).sum();
    (0..n).map(|a| (0..n).map(|b| product(a, b)).collect()).collect()
}

/// Inverts a symmetric matrix by elimination (Gauss and Jordan); `None` if it is singular.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let unit = |row: usize| (0..n).map(|column| f64::from(u8::from(row == column))).collect();
    let mut inverse: Vec<Vec<f64>> = (0..n).map(unit).collect();
    let scale = matrix.iter().enumerate().map(|(at, row)| row[at]).fold(0.0, f64::max);
    for at in 0..n {
        let largest = |row: &usize| matrix[*row][at].abs();
        let pivot = (at..n).max_by(|a, b| largest(a).total_cmp(&largest(b)))?;
        matrix.swap(at, pivot);
        inverse.swap(at, pivot);
        let value = matrix[at][at];
        if value.abs() <= PIVOT_LEAST * scale {
            return None;
        }
        for row in [&mut matrix[at], &mut inverse[at]] {
            row.iter_mut().for_each(|cell| *cell /= value);
        }
        let (pivot_row, pivot_inverse) = (matrix[at].clone(), inverse[at].clone());
        for other in (0..n).filter(|other| *other != at) {
            let factor = matrix[other][at];
            let subtract = |row: &mut Vec<f64>, by: &[f64]| {
                row.iter_mut().zip(by).for_each(|(cell, by)| *cell -= factor * by);
            };
            subtract(&mut matrix[other], &pivot_row);
            subtract(&mut inverse[other], &pivot_inverse);
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal as draw_normal;

    fn properties(n: usize) -> Vec<Vec<bool>> {
        (0..n).map(|at| (0..3).map(|bit| at >> bit & 1 == 1).collect()).collect()
    }

    #[test]
    fn effects_without_noise_are_found_exactly() {
        let properties = properties(8);
        let figure = |has: &Vec<bool>| {
            let part = |at: usize, effect: f64| if has[at] { effect } else { 0.0 };
            3.0 + part(0, 2.0) + part(1, -0.5)
        };
        let figures: Vec<f64> = properties.iter().map(figure).collect();
        let effects = main_effects(&properties, &figures, 0.95);
        let shifts: Vec<f64> = effects.iter().flatten().map(|effect| effect.shift).collect();
        for (shift, expected) in shifts.iter().zip([2.0, -0.5, 0.0]) {
            assert!((shift - expected).abs() < 1e-9, "{shifts:?}");
        }
        assert_eq!(shifts.len(), 3);
    }

    #[test]
    fn what_cannot_be_told_has_no_effect() {
        assert_eq!(main_effects(&properties(4), &[1.0; 4], 0.95)[2], None, "none has the third");
        assert_eq!(main_effects(&properties(3), &[1.0, 2.0, 4.0], 0.95), [None; 3]);
        // The second property is the first.
        let same: Vec<Vec<bool>> = (0..8).map(|at| vec![at % 2 == 0; 2]).collect();
        assert_eq!(main_effects(&same, &[1.0; 8], 0.95), [None; 2]);
        assert_eq!(main_effects(&[], &[], 0.95), []);
    }

    #[test]
    fn all_intervals_hold_together_as_often_as_they_say() {
        let properties: Vec<Vec<bool>> = properties(24);
        let (mut rng, mut n_hold) = (Xoshiro256PlusPlus::seed_from_u64(9), 0);
        let mut bits = || rng.next_u64();
        for _ in 0..1_000 {
            let figures: Vec<f64> = (0..24)
                .map(|at| draw_normal(&mut bits) + if properties[at][1] { 1.0 } else { 0.0 })
                .collect();
            let effects = main_effects(&properties, &figures, 0.95);
            let holds = |(effect, truth): (&Option<Effect>, f64)| {
                effect.is_some_and(|e| e.interval.0 <= truth && truth <= e.interval.1)
            };
            n_hold += usize::from(effects.iter().zip([0.0, 1.0, 0.0]).all(holds));
        }
        assert!((935..=985).contains(&n_hold), "{n_hold} of 1000");
    }
}
