//! Effects of a plan that changes the load on a series of values, such as the mean response times
//! of stretches (equal parts of a run).
//!
//! Response times depend on the planned rate in an unknown way. So any sum of some patterns counts
//! as an effect of the plan: waves with the period of the planned rates if these repeat, otherwise
//! piecewise linear functions of the rate of a stretch and of the previous one. Such effects are
//! not errors: the error is estimated from the slowest waves without them. Not here: the error
//! (`waves`).

use std::f64::consts::{PI, TAU};

/// Limit on the number of slowest waves (cosines over the run) from which the error is estimated;
/// faster waves are not used.
const WAVES_MAX: usize = 40;

/// Smallest number of slow waves (cosines) that must be left after removing the effects of the
/// plan. With fewer, changes of the system cannot be distinguished from these effects.
const WAVES_LEFT_MIN: usize = 8;

/// Smallest share of a wave that must be left after removing the patterns of the plan for the wave
/// to be used.
const WAVE_LEFT_MIN: f64 = 0.4;
/// Smallest share of the variance of a wave's height that must be left after removing the patterns
/// of the plan for the wave to be used.
const HEIGHT_LEFT_MIN: f64 = 0.3;

/// Smallest share of a new pattern of the plan that earlier patterns must not explain. With less,
/// the pattern is left out.
const NEW_MIN: f64 = 0.05;

/// Smallest relative standard deviation of a planned rate between stretches. With less, the rate
/// counts as constant.
const VARIES_MIN: f64 = 0.01;

/// Smallest number of periods of a plan within the series for the plan to count as repeating.
const PERIODS_MIN: f64 = 2.0;

/// Limit on the number of bends of a piecewise linear function that approximates the effect of a
/// rate. A short series gets fewer: see [`STRETCHES_PER_BEND`].
const BENDS_MAX: usize = 5;
/// Number of stretches that are required for each bend of a piecewise linear function.
const STRETCHES_PER_BEND: usize = 8;

/// Mean squared difference between a planned rate and the same rate some slots later, relative to
/// that of independent values, below which both count as equal. The number of slots may then be the
/// rate's period.
const EQUAL: f64 = 0.05;
/// Mean squared difference, relative to that of independent values, by which a planned rate must
/// first differ from the same rate some slots later. The rate's period is looked for beyond that
/// number of slots; a rate that never differs as much has no period.
const UNEQUAL: f64 = 0.2;

/// Smallest effective number of stretches over which the remaining variation must be spread if the
/// plan does not repeat. With fewer, the variation comes from one event of the plan, such as the
/// queue after a burst.
const STRETCHES_LEFT_MIN: f64 = 8.0;

/// Effects that a planned load may have on a series of measured values, one for each stretch (equal
/// part) of a run. Response times follow the planned rate, which is no error of measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Orthonormal patterns with one value for each stretch, which are also orthogonal to a
    /// constant. Any sum of them counts as an effect of the plan.
    patterns: Vec<Vec<f64>>,
    /// Slowest waves (cosines over the run) after removing the patterns of the plan, each with its
    /// number, which is 0 for the slowest.
    waves: Vec<(usize, Vec<f64>)>,
    repeats: bool,
    n: usize,
}

/// A series of values after the effects of the plan were removed.
pub(crate) struct Left {
    /// Values after the effects of the plan were removed, one for each stretch.
    pub(crate) values: Vec<f64>,
    /// Heights (coefficients) of the slowest waves in the values, each with the number of its wave,
    /// which is 0 for the slowest.
    pub(crate) waves: Vec<(usize, f64)>,
    /// Approximate number of independent values. It is lower if a few stretches contain most of the
    /// variation.
    pub(crate) freedom: f64,
}

impl Course {
    /// Finds the effects of a plan on `n` stretches (equal parts) of a run. `rates` has one series
    /// per load: the planned rate in each time slot, with the same number of slots in each stretch.
    /// The result is empty if no rate changes.
    pub fn from_rates(rates: &[Vec<f64>], n: usize) -> Course {
        let per_stretch: Vec<Vec<f64>> =
            rates.iter().filter(|rate| rate.len() >= n).map(|rate| means(rate, n)).collect();
        let mut course = Course { n, ..Course::default() };
        if n < 2 || per_stretch.len() < rates.len() || !per_stretch.iter().any(|rate| varies(rate))
        {
            return course;
        }
        let period = period(rates).map(|share| share * n as f64);
        let period = period.filter(|period| period * PERIODS_MIN <= n as f64 + 0.5);
        course.repeats = period.is_some();
        for rate in &per_stretch {
            match period {
                // Edges of bursts are faster than the waves.
                Some(_) => {
                    course.add(rate.clone());
                    course.add(before(rate));
                }
                None => {
                    course.add_bent(rate);
                    course.add_bent(&before(rate));
                }
            }
        }
        if let Some(period) = period {
            course.add_waves(period, n);
        }
        course.waves = (0..WAVES_MAX.min(n - 1))
            .filter_map(|number| Some((number, course.left_of_wave(number, n)?)))
            .collect();
        course
    }

    /// Returns the number of stretches of the run for which the effects were found.
    pub fn n_stretches(&self) -> usize {
        self.n
    }

    /// Whether the plan has no effect on the values, because it changes no rate.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether changes of the system itself can be separated from the effects of the plan in
    /// `values`.
    pub(crate) fn is_told(&self, values: &[f64]) -> bool {
        let is_seen = || self.repeats || self.left(values).freedom >= STRETCHES_LEFT_MIN;
        self.is_empty() || (self.waves.len() >= WAVES_LEFT_MIN && is_seen())
    }

    /// Adds cosines and sines to the patterns of the plan, each with `n` values: those with the
    /// period `period`, given in stretches, and with its fractions down to two stretches.
    fn add_waves(&mut self, period: f64, n: usize) {
        let most = (period / 2.0).floor().max(2.0) as usize;
        for turns in 1..=most {
            let at = |index: usize| TAU * turns as f64 * (index as f64 + 0.5) / period;
            self.add((0..n).map(|index| at(index).cos()).collect());
            self.add((0..n).map(|index| at(index).sin()).collect());
        }
    }

    /// Adds piecewise linear functions of `values` to the patterns of the plan. Their sums
    /// approximate any smooth function of the values.
    fn add_bent(&mut self, values: &[f64]) {
        let mut levels = values.to_vec();
        levels.sort_by(f64::total_cmp);
        levels.dedup_by(|a, b| *a - *b <= 1e-9 * a.abs());
        self.add(values.to_vec());
        let most = BENDS_MAX.min(values.len() / STRETCHES_PER_BEND);
        let bends = most.min(levels.len().saturating_sub(2));
        for bend in 1..=bends {
            let at = levels[bend * (levels.len() - 1) / (bends + 1)];
            self.add(values.iter().map(|value| (value - at).max(0.0)).collect());
        }
    }

    fn add(&mut self, mut pattern: Vec<f64>) {
        let n = pattern.len() as f64;
        let mean = pattern.iter().sum::<f64>() / n;
        let whole = dot(&pattern, &pattern);
        pattern.iter_mut().for_each(|value| *value -= mean);
        let size = dot(&pattern, &pattern);
        // Twice, because rounding leaves a little.
        self.take_out(&mut pattern);
        self.take_out(&mut pattern);
        let left = dot(&pattern, &pattern);
        if size > 1e-18 * whole && left > NEW_MIN * NEW_MIN * size {
            pattern.iter_mut().for_each(|value| *value /= left.sqrt());
            self.patterns.push(pattern);
        }
    }

    fn take_out(&self, values: &mut [f64]) {
        for pattern in &self.patterns {
            let much = dot(pattern, values);
            values.iter_mut().zip(pattern).for_each(|(value, height)| *value -= much * height);
        }
    }

    /// Returns the wave with this number (cosines of half periods, as in `waves`) after removing
    /// the patterns of the plan; `None` if too little of it is left.
    fn left_of_wave(&self, number: usize, n: usize) -> Option<Vec<f64>> {
        let at = |index: usize| PI * (number + 1) as f64 * (index as f64 + 0.5) / n as f64;
        let mut wave: Vec<f64> = (0..n).map(|index| at(index).cos()).collect();
        let whole = dot(&wave, &wave);
        self.take_out(&mut wave);
        (dot(&wave, &wave) >= WAVE_LEFT_MIN * whole).then_some(wave)
    }

    /// Returns the values without the effects of the plan, and the heights that the slowest waves
    /// would have if no part of them had been removed with the patterns. The removed part is
    /// estimated from the variance of each stretch, which is the square of its residual over the
    /// share of the stretch that the patterns leave (MacKinnon and White, Journal of Econometrics
    /// 29, 305, 1985).
    pub(crate) fn left(&self, values: &[f64]) -> Left {
        let n = values.len() as f64;
        let mut left = values.to_vec();
        self.take_out(&mut left);
        let variance = |(index, value): (usize, &f64)| {
            let taken = self.patterns.iter().map(|pattern| pattern[index].powi(2)).sum::<f64>();
            value * value / (1.0 - taken - 1.0 / n).max(0.1)
        };
        let variances: Vec<f64> = left.iter().enumerate().map(variance).collect();
        let all: f64 = variances.iter().sum();
        let height = |(number, wave): &(usize, Vec<f64>)| {
            let of_wave = |(cosine, variance): (&f64, &f64)| 2.0 * cosine * cosine * variance;
            let share = wave.iter().zip(&variances).map(of_wave).sum::<f64>() / all;
            let height = dot(wave, values) * 2.0_f64.sqrt() / n;
            // If nothing varies, no wave has a height.
            (all == 0.0 || share >= HEIGHT_LEFT_MIN)
                .then(|| (*number, if all == 0.0 { 0.0 } else { height / share.sqrt() }))
        };
        let waves = self.waves.iter().filter_map(height).collect();
        let squares: f64 = left.iter().map(|value| value.powi(2)).sum();
        let fourths: f64 = left.iter().map(|value| value.powi(4)).sum();
        // Three times as much for normal values that vary alike.
        let alike = if fourths > 0.0 { 3.0 * squares * squares / fourths } else { n };
        let freedom = alike * (1.0 - self.patterns.len() as f64 / n);
        Left { values: left, waves, freedom }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns, for each value, the value before it. For the first one, returns that value itself.
fn before(values: &[f64]) -> Vec<f64> {
    values[..1].iter().chain(&values[..values.len() - 1]).copied().collect()
}

/// Returns the means of `n` consecutive parts of a series.
fn means(series: &[f64], n: usize) -> Vec<f64> {
    let edge = |part: usize| part * series.len() / n;
    let mean = |part: usize| {
        let within = &series[edge(part)..edge(part + 1)];
        within.iter().sum::<f64>() / within.len() as f64
    };
    (0..n).map(mean).collect()
}

/// Returns the mean and the population variance (divisor n) of the values.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64)
}

fn varies(rate: &[f64]) -> bool {
    let (mean, variance) = moments(rate);
    variance.sqrt() > VARIES_MIN * mean
}

/// Returns the period that all rates have in common, as a share of their length; `None` if they do
/// not repeat.
fn period(rates: &[Vec<f64>]) -> Option<f64> {
    let rates: Vec<(&Vec<f64>, f64)> = rates
        .iter()
        .map(|rate| (rate, moments(rate).1))
        .filter(|(_, variance)| *variance > 0.0)
        .collect();
    let n = rates.first()?.0.len();
    let most = n / 2;
    // The squared difference of values at this distance, relative to that of independent values.
    let apart = |shift: usize| {
        let one = |(rate, variance): &(&Vec<f64>, f64)| {
            let pairs = rate.iter().zip(&rate[shift..]);
            let squares: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
            squares / (2.0 * variance * (n - shift) as f64)
        };
        rates.iter().map(one).fold(0.0, f64::max)
    };
    let far = (1..=most).find(|shift| apart(*shift) > UNEQUAL)?;
    let mut shift = (far..=most).find(|shift| apart(*shift) < EQUAL)?;
    while shift < most && apart(shift + 1) < apart(shift) {
        shift += 1;
    }
    // Distances of two periods, four and so on determine the period more exactly.
    let mut periods = 1;
    while 2 * shift <= most {
        (periods, shift) = (2 * periods, 2 * shift);
        let near = shift - 2..=(shift + 2).min(most);
        shift = near.min_by(|a, b| apart(*a).total_cmp(&apart(*b)))?;
    }
    Some(shift as f64 / periods as f64 / n as f64)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const SLOTS: usize = 20;

    /// Returns the effects, on `n` seconds, of a plan whose rate is this function of time, for
    /// tests.
    fn course(n: usize, rate: impl Fn(f64) -> f64) -> Course {
        let slots = (0..n * SLOTS).map(|slot| rate((slot as f64 + 0.5) / SLOTS as f64));
        Course::from_rates(&[slots.collect()], n)
    }

    #[test]
    fn a_plan_repeats_after_its_period_whether_or_not_seconds_divide_it() {
        let slots = |rate: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0..1_200).map(|slot| rate((f64::from(slot) + 0.5) / 20.0)).collect()
        };
        let check = |expect: Option<f64>, rate: &dyn Fn(f64) -> f64| {
            let found = period(&[slots(rate)]).map(|share| share * 60.0);
            let is_near = match (found, expect) {
                (Some(found), Some(expect)) => (found / expect - 1.0).abs() < 0.01,
                (found, expect) => found.is_none() && expect.is_none(),
            };
            assert!(is_near, "{found:?} {expect:?}");
        };
        check(Some(20.0), &|at| 1_200.0 + 500.0 * (at / 20.0 * TAU).sin());
        check(Some(7.35), &|at| if at % 7.35 < 1.3 { 900.0 } else { 100.0 });
        check(Some(12.5), &|at| 100.0 + at % 12.5);
        check(None, &|at| 200.0 + 20.0 * at);
        check(None, &|at| if at < 30.0 { 10.0 } else { 90.0 });
        check(None, &|_| 10.0);
        // Two groups repeat together after both have.
        let both = [
            slots(&|at| 50.0 + 10.0 * (at / 4.0 * TAU).sin()),
            slots(&|at| 50.0 + 10.0 * (at / 6.0 * TAU).sin()),
        ];
        let together = period(&both).map(|share| (share * 60.0).round());
        assert_eq!(together, Some(12.0));
    }

    #[test]
    fn a_course_takes_what_follows_the_plan_and_leaves_what_does_not() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(51);
        let noise: Vec<f64> = (0..60).map(|_| crate::normal(&mut || random.next_u64())).collect();
        let check = |follows: &dyn Fn(f64) -> f64, rate: &dyn Fn(f64) -> f64| {
            let course = course(60, rate);
            let mean = (0..60).map(|at| follows(f64::from(at))).sum::<f64>() / 60.0;
            let value = |(at, noise): (usize, &f64)| follows(at as f64) - mean + noise;
            let values: Vec<f64> = noise.iter().enumerate().map(value).collect();
            let (alone, with) = (course.left(&noise), course.left(&values));
            let size = |left: &Left| dot(&left.values, &left.values) / 60.0;
            assert!(size(&with) < 1.3 * size(&alone) + 0.1, "{} {}", size(&with), size(&alone));
            assert!(course.waves.len() > 20 && size(&alone) > 0.5 && course.is_told(&values));
            // The waves that remain are as high as those of noise.
            let squares: f64 = with.waves.iter().map(|(_, height)| 60.0 * height * height).sum();
            let mean = squares / with.waves.len() as f64;
            assert!((0.5..2.0).contains(&mean), "{mean}");
        };
        let sine = |at: f64| 1_200.0 + 500.0 * (at / 15.0 * TAU).sin();
        check(&|at| 40.0 / (2_000.0 - sine(at + 0.5)) * 500.0, &sine);
        check(&|at| if at % 10.0 < 8.0 { 0.0 } else { 30.0 }, &|at| {
            if at % 10.0 < 8.0 { 400.0 } else { 2_200.0 }
        });
        check(&|at| (at / 15.0).exp(), &|at| 200.0 + 25.0 * at);
        check(&|at| if at < 20.0 { 0.0 } else { 9.0 }, &|at| if at < 20.0 { 5.0 } else { 50.0 });
    }

    #[test]
    fn a_plan_that_stands_still_or_hides_all_waves_explains_nothing_or_everything() {
        assert!(course(60, |_| 500.0).is_empty());
        // Each second has a whole period.
        assert!(course(60, |at| 500.0 + 200.0 * (at * TAU).sin()).is_empty());
        assert!(Course::from_rates(&[], 60).is_empty());
        // A single peak a second after a burst is no function of the rate.
        let burst = course(60, |at| if (20.0..24.0).contains(&at) { 2_600.0 } else { 900.0 });
        let queue = |at: usize| if at == 25 { 10.0 } else { (at % 2) as f64 };
        assert!(!burst.is_told(&(0..60).map(queue).collect::<Vec<f64>>()));
        let short = course(12, |at| 100.0 + 50.0 * (at / 6.0 * TAU).sin());
        assert!(!short.is_told(&[0.0; 12]), "{}", short.waves.len());
    }
}
