//! Estimate, with a confidence interval, of the load at which a ratio that rises with the load
//! crosses its limit of 1.
//!
//! Each point is a measurement: a load (x), such as the logarithm of a rate, and a ratio of a
//! measured to an allowed value. The ratio is linear in counts: the share of requests slower than a
//! bound over the share allowed, or a mean over its bound. Such a ratio is nearly unbiased however
//! its samples depend on each other, while the logarithm of a quantile is biased low. So the curve
//! is fitted to means: by quasi-likelihood (R. W. M. Wedderburn, Biometrika 61, 439, 1974), with a
//! link and a variance function chosen by what grows ([`Grows`]), and a dispersion from the points
//! themselves.
//!
//! The interval contains every load where a curve that crosses there has a deviance of at most the
//! least one plus dispersion times t squared (D. A. Williams, Biometrics 42, 641, 1986): it is as
//! asymmetric as counts are, and unbounded if the slope may be zero. Not here: which points are
//! close enough for one curve.

use crate::students_t;

/// Smallest number of measurements for a fit whose dispersion can be estimated. With fewer,
/// [`Crossing::fit`] returns `None`.
const POINTS_MIN: usize = 4;
/// Limit on the absolute value of the link function in a fit. Beyond it, the ratio is as good as 0
/// or infinite.
const LINK_MOST: f64 = 30.0;
/// Limit on the number of Newton steps of a fit, after which the curve found so far is used. Six
/// are usual; more are needed if the points are separated, so that any slope fits.
const STEPS_MOST: usize = 60;
/// Number of times that a search halves an interval or a step, to less than a billionth of its
/// initial length.
const HALVINGS: usize = 40;
/// Largest distance between the crossing and an end of its interval, in standard deviations of the
/// points' loads; an end beyond it is infinite.
const FAR: f64 = 64.0;
/// Largest distance of a point's fitted ratio from 1, on the scale of the link function, at which
/// the point's `error_at_bound` is used.
const NEAR_BOUND: f64 = 1.5;
/// Largest correction for the bias that the curvature of the link function causes, on the scale of
/// that function. A larger correction is reduced to it.
const BIAS_MOST: f64 = 0.5;
/// Largest correction for the bias of the crossing, in the unit of [`RatioPoint::x`]. A larger
/// correction is reduced to it.
const BIAS_FAR: f64 = 0.01;

/// Ratio of a queue's response time to its bound from which the response time is treated as
/// infinite.
const ENDLESS: f64 = 100.0;
/// Smallest ratio of a queue's response time to its bound that a fit distinguishes; smaller ratios
/// are raised to it.
const TIME_LEAST: f64 = 1e-3;

/// Type of the quantity that grows with the load, which determines the link and variance functions
/// with which [`Crossing::fit`] fits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grows {
    /// Share of requests that are slower than a bound; the value is the allowed share p. The link
    /// is logistic. The variance for an expected ratio m is m (1 - p m) (1 + m), since slow
    /// requests come in clusters that grow with their number.
    Share(f64),
    /// A time that grows as a power of the load, such as a response time in closed load with the
    /// number of clients. The link is logarithmic, the variance m (1 + m) for an expected ratio m.
    Time,
    /// A time that grows without limit as the load approaches a capacity, such as the response time
    /// of a queue. The link is reciprocal, the variance m^3 for an expected ratio m, which is close
    /// to that of mean times of a queue (inverse Gaussian; M. C. K. Tweedie, Ann. Math. Stat. 28,
    /// 362, 1957).
    TimeOfQueue,
}

/// A measurement at one load: the ratio of the measured to the allowed value, with its weight and
/// error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioPoint {
    /// Load of the measurement, on any scale, such as the logarithm of a rate.
    pub x: f64,
    /// Measured value divided by the allowed one: 1 at the limit, higher when the limit is
    /// exceeded.
    pub ratio: f64,
    /// Weight of the measurement in the fit, such as its duration, in any unit.
    pub weight: f64,
    /// Standard error of the ratio, from the variation within the measurement; `None` if unknown.
    pub error: Option<f64>,
    /// Standard error that the ratio would have if it were 1 instead of the measured one; `None` if
    /// unknown.
    pub error_at_bound: Option<f64>,
}

/// A rising curve fitted to ratios over the load, and the load at which it crosses the limit of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Load at which the curve is 1, on the scale of [`RatioPoint::x`]; meaningless if the slope is
    /// not significant.
    pub at: f64,
    /// Slope of the curve on the scale of the link function, which near a ratio of 1 is about the
    /// logarithm of the ratio.
    pub slope: f64,
    /// Variance of a measurement with expected ratio 1 and weight 1: estimated from the scatter
    /// between measurements, or from the errors within them if these are larger.
    pub dispersion: f64,
    /// Degrees of freedom: the number of points minus the two parameters of the curve.
    pub freedom: usize,
    /// Confidence interval of `at`, low and high. An end that is not bounded is infinite.
    pub interval: (f64, f64),
    grows: Grows,
}

impl Grows {
    fn allowed(self) -> f64 {
        match self {
            Grows::Share(allowed) => allowed,
            Grows::Time | Grows::TimeOfQueue => 0.0,
        }
    }

    /// Returns the variance of a measured ratio whose expectation is `mean`, in units of the
    /// dispersion.
    fn variance(self, mean: f64) -> f64 {
        match self {
            Grows::TimeOfQueue => mean.powi(3),
            _ => self.growth(mean) * (1.0 + mean),
        }
    }

    /// Returns the derivative of the expected ratio with respect to the link function, at the ratio
    /// `mean`.
    fn growth(self, mean: f64) -> f64 {
        match self {
            Grows::TimeOfQueue => mean * mean,
            _ => mean * (1.0 - self.allowed() * mean),
        }
    }

    /// Returns the second derivative of the expected ratio with respect to the link function,
    /// relative to the first, at a ratio of 1.
    fn bend(self) -> f64 {
        match self {
            Grows::TimeOfQueue => 2.0,
            _ => 1.0,
        }
    }

    /// Returns the expected ratio at a value of the link function; 1 for a value of 0.
    fn ratio_of(self, link: f64) -> f64 {
        let allowed = self.allowed();
        let odds = || link.clamp(-LINK_MOST, LINK_MOST).exp();
        match self {
            Grows::TimeOfQueue => 1.0 / (1.0 - link).max(1.0 / ENDLESS),
            _ => odds() / (1.0 - allowed + allowed * odds()),
        }
    }

    /// Returns the deviance of a measured ratio r from its expectation `mean`, per unit of weight:
    /// twice the integral of (r - t) / V(t) over t, from the expectation to r, where V is the
    /// variance.
    fn deviance(self, ratio: f64, mean: f64) -> f64 {
        if self == Grows::TimeOfQueue {
            return (ratio - mean).powi(2) / (mean * mean * ratio);
        }
        let allowed = self.allowed();
        let whole = 1.0 + allowed;
        // The limit of x ln x is 0.
        let times = |seen: f64, ln: f64| if seen > 0.0 { seen * ln } else { 0.0 };
        let others = |t: f64| (1.0 - allowed * t).max(f64::MIN_POSITIVE);
        let beyond = times(ratio, (ratio / mean).ln());
        let within = times(1.0 - allowed * ratio, (others(ratio) / others(mean)).ln()) / whole;
        let clusters = (1.0 + ratio) / whole * ((1.0 + ratio) / (1.0 + mean)).ln();
        2.0 * (beyond + within - clusters).max(0.0)
    }
}

/// Measurements with their loads relative to the weighted mean load, in units of the standard
/// deviation.
struct Scaled {
    /// Scaled load, ratio and weight of each measurement.
    points: Vec<(f64, f64, f64)>,
    centre: f64,
    spread: f64,
    grows: Grows,
}

impl Scaled {
    fn from_points(points: &[RatioPoint], grows: Grows) -> Option<Scaled> {
        let is_sound = |point: &RatioPoint| {
            (point.x + point.ratio + point.weight).is_finite() && point.weight > 0.0
        };
        if points.len() < POINTS_MIN || !points.iter().all(is_sound) {
            return None;
        }
        let weight: f64 = points.iter().map(|point| point.weight).sum();
        let centre = points.iter().map(|point| point.weight * point.x).sum::<f64>() / weight;
        let square = |point: &RatioPoint| point.weight * (point.x - centre).powi(2);
        let spread = (points.iter().map(square).sum::<f64>() / weight).sqrt();
        if spread <= 1e-9 * centre.abs().max(1.0) {
            return None;
        }
        let (least, most) = match grows {
            Grows::Share(allowed) if allowed > 0.0 => (0.0, 1.0 / allowed),
            Grows::TimeOfQueue => (TIME_LEAST, f64::INFINITY),
            _ => (0.0, f64::INFINITY),
        };
        let scaled = |point: &RatioPoint| {
            ((point.x - centre) / spread, point.ratio.clamp(least, most), point.weight)
        };
        let points = points.iter().map(scaled).collect();
        Some(Scaled { points, centre, spread, grows })
    }

    fn deviance(&self, level: f64, slope: f64) -> f64 {
        let deviance_of = |&(x, ratio, weight): &(f64, f64, f64)| {
            weight * self.grows.deviance(ratio, self.grows.ratio_of(level + slope * x))
        };
        self.points.iter().map(deviance_of).sum()
    }

    /// Returns the sums for a Newton step of the fit: of the weighted residuals times powers 0 and
    /// 1 of the scaled load, and of the information times powers 0, 1 and 2.
    fn sums(&self, level: f64, slope: f64) -> ([f64; 2], [f64; 3]) {
        let (mut left, mut known) = ([0.0; 2], [0.0; 3]);
        for &(x, ratio, weight) in &self.points {
            let mean = self.grows.ratio_of(level + slope * x);
            let by = weight * self.grows.growth(mean) / self.grows.variance(mean);
            left[0] += by * (ratio - mean);
            left[1] += by * (ratio - mean) * x;
            let by = by * self.grows.growth(mean);
            known[0] += by;
            known[1] += by * x;
            known[2] += by * x * x;
        }
        (left, known)
    }

    /// Returns level and slope of the curve with the least deviance, found by Newton's method with
    /// step halving. The deviance is convex in both.
    fn best(&self) -> (f64, f64) {
        let (mut level, mut slope) = (0.0, 0.0);
        let mut least = self.deviance(level, slope);
        for _ in 0..STEPS_MOST {
            let (left, v) = self.sums(level, slope);
            let determinant = v[0] * v[2] - v[1] * v[1];
            if determinant <= 1e-12 * v[0] * v[2] || !determinant.is_finite() {
                break;
            }
            let by_level = (v[2] * left[0] - v[1] * left[1]) / determinant;
            let by_slope = (v[0] * left[1] - v[1] * left[0]) / determinant;
            let (mut step, before) = (1.0, least);
            for _ in 0..HALVINGS {
                let next = self.deviance(level + step * by_level, slope + step * by_slope);
                if next <= least {
                    (level, slope) = (level + step * by_level, slope + step * by_slope);
                    least = next;
                    break;
                }
                step /= 2.0;
            }
            if before - least <= 1e-12 * before.max(1e-9) {
                break;
            }
        }
        (level, slope)
    }

    /// Returns the least deviance among all curves that do not fall and have a ratio of 1 at the
    /// scaled load `x`.
    fn held_at(&self, x: f64) -> f64 {
        let mut slope = 0.0;
        let mut least = self.deviance(0.0, 0.0);
        for _ in 0..STEPS_MOST {
            let (left, v) = self.sums(-slope * x, slope);
            let (gradient, curvature) =
                (left[1] - x * left[0], v[2] - 2.0 * x * v[1] + x * x * v[0]);
            if curvature <= 0.0 || !curvature.is_finite() {
                break;
            }
            let (by, mut step, before) = (gradient / curvature, 1.0, least);
            for _ in 0..HALVINGS {
                let next_slope = (slope + step * by).max(0.0);
                let next = self.deviance(-next_slope * x, next_slope);
                if next <= least {
                    (slope, least) = (next_slope, next);
                    break;
                }
                step /= 2.0;
            }
            if before - least <= 1e-12 * before.max(1e-9) {
                break;
            }
        }
        least
    }

    /// Returns one end of the confidence interval, in a direction (1 or -1) from the scaled load
    /// `x`: the last load at which [`Scaled::held_at`] is at most `most`. Infinite beyond [`FAR`].
    fn end(&self, x: f64, direction: f64, most: f64) -> f64 {
        let mut inside = 0.0;
        let mut outside = 1e-3;
        while self.held_at(x + direction * outside) <= most {
            (inside, outside) = (outside, outside * 2.0);
            if outside > FAR {
                return direction * f64::INFINITY;
            }
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(inside, outside);
            match self.held_at(x + direction * middle) <= most {
                true => inside = middle,
                false => outside = middle,
            }
        }
        x + direction * outside
    }
}

impl Crossing {
    /// Fits a rising curve to measurements. `confidence` is that of the interval of the crossing.
    /// `None` for fewer than four measurements, measurements at a single load, one that is not
    /// finite or has no weight, or if no finite level and slope fit best.
    pub fn fit(points: &[RatioPoint], grows: Grows, confidence: f64) -> Option<Crossing> {
        assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
        assert!((0.0..1.0).contains(&grows.allowed()), "a share lies between 0 and 1");
        let scaled = Scaled::from_points(points, grows)?;
        let (level, slope) = scaled.best();
        if !(level.is_finite() && slope.is_finite()) {
            return None;
        }
        let freedom = points.len() - 2;
        let dispersion = dispersion(points, &scaled, (level, slope), freedom);
        let (_, v) = scaled.sums(level, slope);
        let at = -level / slope;
        // Variance of the link at the crossing, from the inverse of the information.
        let known = (v[0] * v[2] - v[1] * v[1]).max(f64::MIN_POSITIVE);
        let link_variance = dispersion * (v[2] - 2.0 * at * v[1] + at * at * v[0]) / known;
        let bias = (grows.bend() * link_variance / 2.0).min(BIAS_MOST) / slope;
        let t = students_t(1.0 - (1.0 - confidence) / 2.0, freedom);
        let interval = match at.is_finite() && slope > 0.0 {
            true => {
                let most = scaled.held_at(at) + (dispersion * t * t).max(1e-9);
                (scaled.end(at, -1.0, most), scaled.end(at, 1.0, most))
            }
            false => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let place = |x: f64| scaled.centre + scaled.spread * x;
        Some(Crossing {
            at: place(at) - (bias * scaled.spread).min(BIAS_FAR),
            slope: slope / scaled.spread,
            dispersion,
            freedom,
            interval: (place(interval.0), place(interval.1)),
            grows,
        })
    }

    /// Returns the value of the link function at load `x`: 0 at the crossing, and about the
    /// logarithm of the expected ratio near it.
    pub fn link_at(&self, x: f64) -> f64 {
        self.slope * (x - self.at)
    }

    /// Returns the variance of a measured ratio whose expectation is `mean`, in units of dispersion
    /// over weight.
    pub fn variance_at(&self, mean: f64) -> f64 {
        self.grows.variance(mean)
    }
}

/// Returns the dispersion of a fit: the largest of Pearson's estimate from the scatter between
/// measurements, and those from the errors within measurements and from their errors at the limit.
fn dispersion(
    points: &[RatioPoint],
    scaled: &Scaled,
    (level, slope): (f64, f64),
    freedom: usize,
) -> f64 {
    let (mut between, mut within, mut known) = (0.0, 0.0, 0.0);
    let mut at_bound: Vec<(f64, f64)> = Vec::new();
    for (point, &(x, ratio, weight)) in points.iter().zip(&scaled.points) {
        let mean = scaled.grows.ratio_of(level + slope * x);
        let by = weight / scaled.grows.variance(mean).max(1e-3);
        between += by * (ratio - mean).powi(2);
        if let Some(error) = point.error {
            within += by * error * error;
            known += 1.0;
        }
        if let Some(error) = point.error_at_bound {
            let far = (level + slope * x).abs();
            at_bound.push((far, weight * error * error / scaled.grows.variance(1.0)));
        }
    }
    let within = if known > 0.0 { within / known } else { 0.0 };
    (between / freedom as f64).max(within).max(median_near(at_bound))
}

/// Returns the median dispersion of the measurements near the limit, or of the three nearest if
/// fewer are within [`NEAR_BOUND`]; 0 without measurements. `known` has pairs of the distance from
/// the limit, on the scale of the link function, and the dispersion.
fn median_near(mut known: Vec<(f64, f64)>) -> f64 {
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n_near = known.iter().filter(|(far, _)| *far <= NEAR_BOUND).count();
    known.truncate(n_near.max(3));
    let values: Vec<f64> = known.into_iter().map(|(_, value)| value).collect();
    crate::median(&values, 0.9).map_or(0.0, |median| median.value)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::exponential;

    /// Draws the total size of clusters of late requests: their number is Poisson with this mean,
    /// and each has an exponential size of mean 1.
    fn clusters(mean: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
        let (mut left, mut sum) = (mean, 0.0);
        loop {
            left -= exponential(random.next_u64());
            if left < 0.0 {
                return sum;
            }
            sum += exponential(random.next_u64());
        }
    }

    fn point(x: f64, ratio: f64) -> RatioPoint {
        RatioPoint { x, ratio, weight: 1.0, error: None, error_at_bound: None }
    }

    #[test]
    fn the_deviance_is_the_integral_that_defines_it() {
        let shares = [(2.0, 0.5, Grows::Share(0.01)), (0.3, 1.2, Grows::Share(0.5))];
        let times = [(5.0, 1.0, Grows::Time), (5.0, 1.0, Grows::TimeOfQueue)];
        for (ratio, mean, grows) in shares.into_iter().chain(times) {
            let n = 20_000;
            let step = (ratio - mean) / f64::from(n);
            let integrand = |index: i32| {
                let t = mean + step * (f64::from(index) + 0.5);
                (ratio - t) / grows.variance(t)
            };
            let integral = 2.0 * step * (0..n).map(integrand).sum::<f64>();
            let found = grows.deviance(ratio, mean);
            assert!((found / integral - 1.0).abs() < 1e-6, "{found} {integral}");
        }
    }

    #[test]
    fn a_curve_without_noise_crosses_where_it_does() {
        let all = [Grows::Time, Grows::Share(0.01), Grows::Share(0.5), Grows::TimeOfQueue];
        for grows in all {
            let points: Vec<RatioPoint> = (0..9)
                .map(|n| 5.7 + 0.01 * f64::from(n))
                .map(|x| point(x, grows.ratio_of(20.0 * (x - 5.743))))
                .collect();
            let found = Crossing::fit(&points, grows, 0.9).unwrap();
            assert!((found.at - 5.743).abs() < 1e-6, "{grows:?}: {found:?}");
            assert!((found.slope - 20.0).abs() < 1e-3, "{grows:?}: {found:?}");
            let (low, high) = found.interval;
            assert!(low <= 5.743 && high >= 5.743 && high - low < 1e-3, "{low} {high}");
        }
    }

    #[test]
    fn the_interval_of_clustered_counts_holds_the_truth_as_often_as_it_says() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let (n, mut held, mut sum) = (400, 0, 0.0);
        for _ in 0..n {
            let points: Vec<RatioPoint> = (0..16)
                .map(|index| f64::from(index % 8) / 28.0 - 0.125)
                .map(|x| point(x, clusters(2.0 * (12.0 * x).exp(), &mut random) / 2.0))
                .collect();
            let found = Crossing::fit(&points, Grows::Share(0.01), 0.9).unwrap();
            held += i32::from(found.interval.0 <= 0.0 && 0.0 <= found.interval.1);
            sum += found.at;
        }
        assert!(held >= n * 85 / 100, "{held} of {n}");
        assert!((sum / f64::from(n)).abs() < 0.01, "{}", sum / f64::from(n));
    }

    #[test]
    fn what_is_known_within_points_is_the_least_error() {
        let points: Vec<RatioPoint> = (0..8)
            .map(|n| 0.02 * f64::from(n) - 0.07)
            .map(|x| RatioPoint { error: Some(0.6), ..point(x, (20.0 * x).exp()) })
            .collect();
        let found = Crossing::fit(&points, Grows::Time, 0.9).unwrap();
        let sure: Vec<RatioPoint> =
            points.iter().map(|point| RatioPoint { error: None, ..*point }).collect();
        let sure = Crossing::fit(&sure, Grows::Time, 0.9).unwrap();
        let width = |crossing: &Crossing| crossing.interval.1 - crossing.interval.0;
        assert!(width(&found) > 10.0 * width(&sure), "{found:?} {sure:?}");
    }

    #[test]
    fn a_flat_curve_has_no_end() {
        let flat = [1.1, 0.9, 1.12, 0.89, 1.1, 0.92];
        let points: Vec<RatioPoint> =
            flat.iter().enumerate().map(|(x, ratio)| point(x as f64, *ratio)).collect();
        if let Some(found) = Crossing::fit(&points, Grows::Share(0.01), 0.9) {
            let (low, high) = found.interval;
            assert!(low.is_infinite() && high.is_infinite(), "{found:?}");
        }
    }

    #[test]
    fn too_few_points_or_one_place_are_no_curve() {
        let three = [point(0.0, 0.1), point(1.0, 1.0), point(2.0, 3.0)];
        assert_eq!(Crossing::fit(&three, Grows::Share(0.01), 0.9), None);
        assert_eq!(Crossing::fit(&[point(5.8, 1.1); 6], Grows::Share(0.01), 0.9), None);
        assert_eq!(Crossing::fit(&[point(5.8, f64::INFINITY); 6], Grows::Share(0.01), 0.9), None);
    }
}
