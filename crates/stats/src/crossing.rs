//! Where a straight line through noisy points crosses zero, and how well that is known.
//!
//! Least squares, and Fieller's interval for the crossing (E. C. Fieller, J. R. Stat. Soc. B 16,
//! 175, 1954): the set of x at which the line may be zero, from Student's t of the points'
//! residuals. These need not be of the same size everywhere: each counts with its own, as if its
//! point had been left out of the fit (MacKinnon and White, J. Econometrics 29, 305, 1985: HC3).
//! It asks nothing of the errors within a point, so points that are each a whole run tell what
//! samples of one run, which depend on each other, cannot. Not here: which points are near enough
//! for a line.

use crate::students_t;

/// Fewer points than this leave too little to know residuals from.
const POINTS_MIN: usize = 4;
/// A point that decides the line nearly alone has no residual of its own that could be scaled up.
const LEVER_LEFT_LEAST: f64 = 0.3;

/// A line and where it crosses zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Where the line is zero; beyond all reason where the slope is not significant.
    pub at: f64,
    /// How steep the line is.
    pub slope: f64,
    /// The standard error of the slope.
    pub slope_error: f64,
    /// The standard deviation of the residuals.
    pub residual: f64,
    /// Points less the two parameters of the line.
    pub freedom: usize,
    /// Fieller's interval; none where it is not bounded, which is where the slope may be zero.
    pub interval: Option<(f64, f64)>,
}

impl Crossing {
    /// The line through points of x and y, with an interval of `confidence`. None of fewer than
    /// four points, or where all have the same x.
    pub fn fit(points: &[(f64, f64)], confidence: f64) -> Option<Crossing> {
        assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
        let count = points.len() as f64;
        if points.len() < POINTS_MIN || points.iter().any(|(x, y)| !(x + y).is_finite()) {
            return None;
        }
        let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
        let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
        let spread: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
        if spread <= count * (1e-9 * mean_x.abs().max(1.0)).powi(2) {
            return None;
        }
        let product = |&(x, y): &(f64, f64)| (x - mean_x) * (y - mean_y);
        let slope = points.iter().map(product).sum::<f64>() / spread;
        let left = |&(x, y): &(f64, f64)| (y - mean_y - slope * (x - mean_x)).powi(2);
        let freedom = points.len() - 2;
        let residual = (points.iter().map(left).sum::<f64>() / freedom as f64).sqrt();
        // With d = x - mean_x: (mean_y + slope d)^2 <= t^2 (level + 2 d both + d^2 tilt).
        let (mut level, mut both, mut tilt) = (0.0, 0.0, 0.0);
        for &(x, y) in points {
            let d = x - mean_x;
            let lever = 1.0 / count + d * d / spread;
            let error = (y - mean_y - slope * d) / (1.0 - lever).max(LEVER_LEFT_LEAST);
            level += (error / count).powi(2);
            both += d * error * error / (count * spread);
            tilt += (d * error / spread).powi(2);
        }
        let t_square = students_t(1.0 - (1.0 - confidence) / 2.0, freedom).powi(2);
        let square = slope * slope - t_square * tilt;
        let linear = mean_y * slope - t_square * both;
        let constant = mean_y * mean_y - t_square * level;
        let interval = (square > 0.0).then(|| {
            let root = (linear * linear - square * constant).max(0.0).sqrt();
            (mean_x + (-linear - root) / square, mean_x + (-linear + root) / square)
        });
        let at = mean_x - mean_y / slope;
        let slope_error = tilt.sqrt();
        Some(Crossing { at, slope, slope_error, residual, freedom, interval })
    }

    /// Whether the line rises, with less than a chance of `error` that it only seems to.
    pub fn rises(&self, error: f64) -> bool {
        self.slope > self.slope_error * students_t(1.0 - error, self.freedom)
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::unit;

    #[test]
    fn a_line_without_noise_crosses_where_it_does() {
        let points: Vec<(f64, f64)> =
            (0..6).map(|x| (f64::from(x), 3.0 * f64::from(x) - 7.5)).collect();
        let found = Crossing::fit(&points, 0.9).unwrap();
        assert!((found.at - 2.5).abs() < 1e-12 && (found.slope - 3.0).abs() < 1e-12);
        let (low, high) = found.interval.unwrap();
        assert!((low - 2.5).abs() < 1e-6 && (high - 2.5).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn the_interval_holds_the_truth_as_often_as_it_says() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let (n, mut held, mut bounded) = (2000, 0, 0);
        for _ in 0..n {
            let mut normal = || (0..12).map(|_| unit(random.next_u64())).sum::<f64>() - 6.0;
            let points: Vec<(f64, f64)> = (0..15)
                .map(|i| f64::from(i) / 14.0 - 0.3)
                .map(|x| (x, 2.0 * x - 0.4 + 0.3 * (1.0 + x) * normal()))
                .collect();
            let found = Crossing::fit(&points, 0.9).unwrap();
            if let Some((low, high)) = found.interval {
                bounded += 1;
                held += i32::from(low <= 0.2 && 0.2 <= high);
            }
        }
        // Four standard errors of 90 % of 2,000.
        assert!((held - n * 9 / 10).abs() < 54, "{held} of {n}");
        assert_eq!(bounded, n);
    }

    #[test]
    fn a_flat_line_has_no_interval_and_does_not_rise() {
        let points = [(0.0, 0.1), (1.0, -0.1), (2.0, 0.12), (3.0, -0.11), (4.0, 0.1)];
        let found = Crossing::fit(&points, 0.9).unwrap();
        assert!(found.interval.is_none() && !found.rises(0.01));
    }

    #[test]
    fn too_few_points_or_one_place_are_no_line() {
        assert_eq!(Crossing::fit(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)], 0.9), None);
        assert_eq!(Crossing::fit(&[(5.8, 0.1); 6], 0.9), None);
        assert_eq!(Crossing::fit(&[(0.0, f64::INFINITY); 6], 0.9), None);
    }
}
