//! Error of the mean of an autocorrelated series, estimated from its slowest waves (the low end of
//! its spectrum).
//!
//! Not here: what the series consists of. A rate is a mean of counts (`rate`), a quantile is a mean
//! of how many samples lie above a value (`dependence`).

use std::f64::consts::PI;

use crate::course::{Course, Left};
use crate::mean::{students_t_density, students_t_tail};

/// Limit on the number of a series' slowest waves (cosine components) from which the error of its
/// mean is estimated: those of up to 40 half periods in the series. More would include changes
/// faster than a fortieth of the series, which do not contribute to the error of the mean.
const WAVES_MAX: usize = 40;

/// Approximate number of values to which a longer series is reduced, by sums of neighbours, before
/// its slowest waves (cosine components) are computed. That is enough, because the fastest of these
/// waves is a twentieth of the series long.
const VALUES_KEPT: usize = 800;

/// Smallest number of values of a series from which the error of its mean is estimated. With fewer,
/// [`mean_error`] returns `None`.
pub(crate) const VALUES_MIN: usize = 10;

/// Assumed falls of the spectrum of a series towards frequency 0: with a fall of -0.8, a fifth of
/// the level at high frequencies is left. The spectrum falls if a shortfall in one part of the
/// series is made up in the next, as in closed load, or with arrivals at equal distances.
pub(crate) const FALLS: [f64; 3] = [-0.5, -0.8, -0.95];
pub(crate) const FALLS_BELOW: [(f64, f64); 3] = [(2.0, 1.0), (5.0, 1.0), (15.0, 1.0)];

/// Prior probability that the spectrum of a series falls towards frequency 0, by one of [`FALLS`].
const FALLING: f64 = 0.15;

/// Assumptions about the spectrum of a series before its waves are known.
pub(crate) struct Assumed {
    /// Prior probability that the spectrum is flat; if it does not fall either, it rises.
    flat: f64,
    /// Assumed rises of the spectrum towards frequency 0: with a rise r, the spectrum at 0 is 1 + r
    /// times its level at high frequencies. All have the same prior probability. Smaller rises are
    /// hardly visible, and would widen every interval a little.
    rises: &'static [f64],
    /// Possible places of a rise of the spectrum, each with its relative prior probability. A place
    /// is the number of the wave (cosine component) at which half of the rise is reached: a change
    /// that takes a tenth of the series rises from the third wave. A rise below the second wave is
    /// hardly visible in one run, so it has the larger prior probability.
    rises_below: [(f64, f64); 6],
    /// Degrees of freedom that each wave (cosine component) adds which shows how high a rise of the
    /// spectrum is. Infinite if the mixture of shapes of the spectrum alone accounts for the
    /// uncertainty of the height.
    freedom_of_rise: f64,
    /// Factor on the probability that the mixture of shapes of the spectrum may have outside of a
    /// confidence interval. Shapes with slow changes have some probability in all runs, even if the
    /// spectrum is flat: with this factor, 95 % intervals contain the truth in 97 of 100 runs with
    /// a flat spectrum (`docs/explanation/intervals.md`).
    outside: f64,
}

/// Assumptions about counts over time, such as commits: slow changes of the speed may be far larger
/// than the noise of single counts, and a few waves show their size badly. Intervals contain the
/// truth in 86 to 93 % of runs as long as three time constants of such changes, and in 95 to 97 %
/// at six.
pub(crate) const OF_RATES: Assumed = Assumed {
    flat: 0.35,
    rises: &[3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0],
    rises_below: [(0.5, 3.0), (1.0, 3.0), (2.0, 2.0), (4.0, 1.5), (8.0, 1.5), (15.0, 1.5)],
    freedom_of_rise: 1.6,
    outside: 1.3,
};

/// Assumptions about samples above a value, such as response times. Their share is between 0 and 1,
/// so it varies less; too few independent episodes are a separate reason for having no interval
/// (`dependence`).
pub(crate) const OF_TIMES: Assumed = Assumed {
    flat: 0.25,
    rises: &[3.0, 10.0, 30.0, 100.0],
    rises_below: [(0.5, 3.0), (1.0, 3.0), (2.0, 2.0), (4.0, 1.0), (8.0, 1.0), (15.0, 1.0)],
    freedom_of_rise: f64::INFINITY,
    outside: 1.6,
};

/// Number of the wave (cosine component; 0 is the slowest) below which a rise of the spectrum means
/// that the error comes from a few waves only, whose heights vary widely between runs.
const FEW_WAVES: f64 = 5.0;

/// Factor by which the data must make rises of the spectrum below wave [`FEW_WAVES`] more probable,
/// relative to a flat spectrum, for such a rise to count as seen. One in ten flat spectra reaches
/// it.
const SEEN: f64 = 1.5;

/// Kurtosis of the heights of waves, relative to the spectrum, above which a few waves stand out.
/// Normally distributed heights have a kurtosis of 3; in one of a hundred series they have twice
/// that.
const PEAKED: f64 = 5.0;

/// Factor on the prior probability of rises among waves that the plan hides: a plan that changes as
/// slowly as the series is long hides the slowest waves, and a rise among them cannot be ruled out.
/// Without the factor, intervals of steady systems would be twice as wide as necessary. With it,
/// intervals of systems whose speed varies by 10 %, with a time constant of a twentieth of the
/// series, contain the truth in about 90 %.
const HIDDEN: f64 = 0.4;

/// Smallest number of waves (cosine components) that must be left beside the effects of a plan for
/// an estimate of the error of a mean.
const FREEDOM_MIN: usize = 5;

/// Smallest probability of an assumed shape of the spectrum, relative to that of the most likely
/// shape, at which the shape is used.
const CHANCE_MIN: f64 = 1e-4;

/// Distance from the mean, in its standard errors, at which the search for the end of a confidence
/// interval begins.
const HALF_WIDTH_FIRST: f64 = 2.0;

/// Limit on the Newton steps in the search for the end of a confidence interval; three or four are
/// usual.
const STEPS_MAX: usize = 50;

/// Error of the mean of autocorrelated values, such as of a rate over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanError {
    /// Half-width of the confidence interval, in the unit of the values.
    pub(crate) half_width: f64,
    /// Square of the standard error of the mean.
    pub(crate) variance: f64,
    /// Variance of the mean, if it decreases as the run gets longer; `None` if the error seems to
    /// come from a few slow waves only.
    pub(crate) lasting: Option<f64>,
    /// Skewness of the mean, which follows from that of the values and from their autocorrelation.
    pub(crate) skew: f64,
}

/// Returns the error of the mean of consecutive values; `None` for fewer than [`VALUES_MIN`].
///
/// The variance of a mean is the spectrum at frequency 0. It is extrapolated from the slowest waves
/// of the series (Heidelberger and Welch, Communications of the ACM 24, 233, 1981), whose squared
/// heights are independent and vary around the spectrum (Whittle, Arkiv för Matematik 2, 423, 1953;
/// cosines as in Müller, Journal of Business and Economic Statistics 32, 311, 2014). The spectrum
/// is flat, or rises or falls towards frequency 0 as that of a first-order process in noise does.
/// Its shape is not known, so each of those assumed is weighted by how well it explains the waves.
/// Given a shape, the mean has Student's distribution; the interval is that of the mixture.
///
/// Lengthening batches until they show no significant correlation would stop too early: a slow
/// component that makes up a twentieth of the variance is not significant in any pair of
/// neighbours, and still causes most of the error of the mean. Two or three batch sizes with a t of
/// few degrees of freedom contain the truth as often as this, but their intervals vary twice as
/// much.
pub(crate) fn mean_error(values: &[f64], assumed: &Assumed, confidence: f64) -> Option<MeanError> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let waves: Vec<(usize, f64)> = waves(values).into_iter().enumerate().collect();
    Some(of_waves(values, (&waves, waves.len()), assumed, confidence))
}

/// Returns the error of a mean, as [`mean_error`] does, after removing the effects of the plan
/// (`course`); `None` also if too few waves remain. If a few values contain most of the variation,
/// the waves count as fewer independent ones.
pub(crate) fn mean_error_beside(
    values: &[f64],
    course: &Course,
    assumed: &Assumed,
    confidence: f64,
) -> Option<MeanError> {
    if course.is_empty() || values.len() < VALUES_MIN {
        return mean_error(values, assumed, confidence);
    }
    let Left { values, waves, freedom } = course.left(values);
    let freedom = (freedom.round() as usize).max(2).min(waves.len());
    let is_enough = waves.len() >= FREEDOM_MIN;
    is_enough.then(|| of_waves(&values, (&waves, freedom), assumed, confidence))
}

fn of_waves(
    values: &[f64],
    (waves, freedom): (&[(usize, f64)], usize),
    assumed: &Assumed,
    confidence: f64,
) -> MeanError {
    if is_level(values, waves.iter().map(|(_, height)| *height)) {
        return MeanError { half_width: 0.0, variance: 0.0, lasting: Some(0.0), skew: 0.0 };
    }
    let likely = likely(waves, freedom as f64, assumed);
    let outside = (1.0 - confidence) * assumed.outside;
    let half_width = half_width(&likely, outside);
    let variance = likeliest_variance(&likely);
    let lasting = lasting(&likely, assumed).filter(|_| !is_peaked(waves, &likely));
    MeanError { half_width, variance, lasting, skew: skew(values, variance) }
}

/// Returns the geometric mean of the variances of the mean under the likely shapes of the spectrum,
/// weighted by their probabilities.
fn likeliest_variance(likely: &[Likely]) -> f64 {
    likely.iter().map(|one| one.chance * one.variance.ln()).sum::<f64>().exp()
}

/// Returns the variance of the mean under those shapes of the spectrum that do not rise at the
/// slowest few waves only; `None` if such rises are much more likely than a flat spectrum.
fn lasting(likely: &[Likely], assumed: &Assumed) -> Option<f64> {
    let Assumed { flat, rises_below, .. } = assumed;
    let is_few = |one: &&Likely| one.rise > 0.0 && one.below < FEW_WAVES;
    let chance_beforehand: f64 = rises_below.iter().map(|(_, chance)| chance).sum();
    let few = rises_below.iter().filter(|(below, _)| *below < FEW_WAVES);
    let few: f64 = few.map(|(_, chance)| chance / chance_beforehand).sum();
    let of_few: f64 = likely.iter().filter(is_few).map(|one| one.chance).sum();
    let of_flat: f64 = likely.iter().filter(|one| one.rise == 0.0).map(|one| one.chance).sum();
    // Products, since the chance of flat shapes may be 0.
    let is_seen = of_few * flat > SEEN * few * (1.0 - flat - FALLING) * of_flat;
    let rest = likely.iter().filter(|one| !is_few(one));
    let (chance, variance) = rest.fold((0.0, 0.0), |(chance, variance), one| {
        (chance + one.chance, variance + one.chance * one.variance)
    });
    (!is_seen && chance > 0.0).then(|| variance / chance)
}

/// Whether a few waves (frequency components, as pairs of index and height) stand out from the
/// likeliest shape of the spectrum, as those of periodic stalls or checkpoints do. Then the error
/// of the series' mean does not decrease with the square root of its length.
fn is_peaked(waves: &[(usize, f64)], likely: &[Likely]) -> bool {
    let likeliest = likely.iter().max_by(|a, b| a.chance.total_cmp(&b.chance));
    let (rise, below) = likeliest.map_or((0.0, 1.0), |one| (one.rise, one.below));
    let n = waves.len() as f64;
    let (squares, fourths) = waves.iter().fold((0.0, 0.0), |(squares, fourths), (index, wave)| {
        let square = wave * wave / level(*index, rise, below);
        (squares + square, fourths + square * square)
    });
    n * fourths > PEAKED * squares * squares
}

/// Returns the skewness of the mean of values, given the variance of the mean. If `d` neighbours
/// are alike, the variance of a sum is `d` times that of independent values, and its third moment
/// `d²` times.
fn skew(values: &[f64], variance: f64) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let moment = |power| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / n;
    let alone = moment(2);
    let alike = (n * variance / alone).max(1.0);
    if alone > 0.0 { moment(3) / alone.powf(1.5) * (alike / n).sqrt() } else { 0.0 }
}

/// Whether all values are equal, so that the heights of their waves are only rounding errors.
pub(crate) fn is_level(values: &[f64], waves: impl Iterator<Item = f64>) -> bool {
    let sum_of_squares: f64 = waves.map(|wave| wave * wave).sum();
    let mean_square = values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64;
    sum_of_squares <= 1e-24 * mean_square
}

/// Returns the heights of the slowest waves of a series (cosines), the slowest first. They are
/// scaled so that for a flat spectrum the square of each is on average the variance of the mean.
pub(crate) fn waves(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let width = values.len().div_ceil(VALUES_KEPT);
    let sums: Vec<(f64, f64)> = values
        .chunks(width)
        .enumerate()
        .map(|(index, chunk)| {
            let middle = (index * width) as f64 + chunk.len() as f64 / 2.0;
            (middle / n, chunk.iter().map(|value| value - mean).sum())
        })
        .collect();
    let mut heights = vec![0.0; WAVES_MAX.min(values.len() - 1)];
    for (at, sum) in &sums {
        // cos((k + 1) x) = 2 cos(x) cos(k x) - cos((k - 1) x).
        let first = (PI * at).cos();
        let (mut before, mut cosine) = (1.0, first);
        for height in &mut heights {
            *height += sum * cosine;
            (before, cosine) = (cosine, 2.0 * first * cosine - before);
        }
    }
    heights.iter().map(|height| height * 2.0_f64.sqrt() / n).collect()
}

/// Shape of the spectrum near frequency 0 that is likely enough to be used.
struct Likely {
    /// Probability of this shape of the spectrum; those of all likely shapes add up to 1.
    chance: f64,
    rise: f64,
    below: f64,
    /// Variance that the mean of the series has under this shape of the spectrum; its degrees of
    /// freedom are in `freedom`.
    variance: f64,
    freedom: f64,
}

/// Returns the likely shapes of the spectrum, given the waves as pairs of number (from 0) and
/// height.
fn likely(waves: &[(usize, f64)], freedom: f64, assumed: &Assumed) -> Vec<Likely> {
    let n = waves.len() as f64;
    let first = waves.first().map_or(0, |(number, _)| *number) as f64;
    let by_shape = |(chance, rise, below): (f64, f64, f64)| {
        let (mut squares, mut logs) = (0.0, 0.0);
        for (index, wave) in waves {
            let spectrum = level(*index, rise, below);
            squares += wave * wave / spectrum;
            logs += spectrum.ln();
        }
        let is_hidden = rise > 0.0 && below <= first;
        let chance = if is_hidden { HIDDEN * chance } else { chance };
        let log = chance.ln() - 0.5 * logs - 0.5 * n * squares.ln();
        let variance = squares / n * (1.0 + rise * in_mean(rise, below));
        let freedom = match rise > 0.0 {
            true => (assumed.freedom_of_rise * waves_of_rise(below)).min(freedom),
            false => freedom,
        };
        Likely { chance: log, rise, below, variance, freedom }
    };
    let mut all: Vec<Likely> = shapes(assumed).map(by_shape).collect();
    let most = all.iter().map(|one| one.chance).fold(f64::NEG_INFINITY, f64::max);
    all.iter_mut().for_each(|one| one.chance = (one.chance - most).exp());
    all.retain(|one| one.chance > CHANCE_MIN);
    let total: f64 = all.iter().map(|one| one.chance).sum();
    all.iter_mut().for_each(|one| one.chance /= total);
    all
}

/// Returns the approximate number of waves that show how high a rise of the spectrum is, if half of
/// the rise is reached at wave `below`. The number grows faster than `below`, because a prior of
/// all heights helps less there.
fn waves_of_rise(below: f64) -> f64 {
    0.75 + below * below
}

/// Returns the share of a rise of the spectrum that is in the variance of the mean, if half of the
/// rise is reached at wave `below`. A change as slow as the series is long is in part its mean,
/// which varies less than the spectrum at frequency 0. The share is that of a first-order process,
/// whose rise is at its half at the wave of its time constant.
fn in_mean(rise: f64, below: f64) -> f64 {
    let constant = 1.0 / (PI * below);
    if rise > 0.0 { 1.0 + constant * (-1.0 / constant).exp_m1() } else { 1.0 }
}

/// Returns the spectrum at one of the slowest waves (`index`, from 0), relative to its level at
/// fast waves. `rise` is that of the spectrum towards frequency 0, and `below` the wave at which
/// half of this rise is reached.
pub(crate) fn level(index: usize, rise: f64, below: f64) -> f64 {
    1.0 + rise / (1.0 + ((index + 1) as f64 / below).powi(2))
}

/// Returns all assumed shapes of the spectrum. Each has a prior probability, the rise towards
/// frequency 0 (a fall if negative), and the number of the wave at which half of the rise is
/// reached.
fn shapes(assumed: &Assumed) -> impl Iterator<Item = (f64, f64, f64)> {
    fn pairs<'a>(
        chance: f64,
        rises: &'a [f64],
        below: &'a [(f64, f64)],
    ) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
        let all: f64 = below.iter().map(|(_, weight)| weight).sum();
        let each = chance / (rises.len() as f64 * all);
        rises.iter().flat_map(move |rise| {
            below.iter().map(move |(below, weight)| (each * weight, *rise, *below))
        })
    }
    let Assumed { flat, rises, rises_below, .. } = assumed;
    let rising = pairs(1.0 - flat - FALLING, rises, rises_below);
    std::iter::once((*flat, 0.0, 1.0)).chain(pairs(FALLING, &FALLS, &FALLS_BELOW)).chain(rising)
}

/// Returns the distance from the mean beyond which the mixture of the likely shapes of the spectrum
/// has the probability `outside`. That probability is convex in the distance, so Newton's steps
/// overshoot at most once and then converge from below.
fn half_width(likely: &[Likely], outside: f64) -> f64 {
    let mean: f64 = likely.iter().map(|one| one.chance * one.variance).sum();
    let mut end = HALF_WIDTH_FIRST * mean.sqrt();
    let at_middle: Vec<f64> =
        likely.iter().map(|one| students_t_density(0.0, one.freedom)).collect();
    for _ in 0..STEPS_MAX {
        let (mut beyond, mut density) = (0.0, 0.0);
        for (Likely { chance, variance, freedom, .. }, at_middle) in likely.iter().zip(&at_middle) {
            let sd = variance.sqrt();
            let t = end / sd;
            beyond += 2.0 * chance * students_t_tail(t, *freedom);
            let shape = (1.0 + t * t / freedom).powf(-(freedom + 1.0) / 2.0);
            density += 2.0 * chance * at_middle * shape / sd;
        }
        let step = (beyond - outside) / density;
        end += step.max(-0.9 * end);
        if step.abs() <= 1e-4 * end {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    /// Simulates 1,000 series with a true mean of 0. Returns the share of their confidence
    /// intervals that contain 0, and the 90th percentile of the widths of these intervals, as
    /// multiples of the width that the true error gives.
    fn coverage(mut series: impl FnMut(&mut dyn FnMut() -> f64) -> Vec<f64>) -> (f64, f64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(29);
        let mut draw = || normal(&mut || random.next_u64());
        let runs: Vec<(f64, f64)> = (0..1_000)
            .map(|_| {
                let values = series(&mut draw);
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                (mean, mean_error(&values, &OF_RATES, 0.95).expect("long enough").half_width)
            })
            .collect();
        let n = runs.len() as f64;
        let held = runs.iter().filter(|(mean, half)| mean.abs() <= *half).count() as f64 / n;
        let sd = (runs.iter().map(|(mean, _)| mean * mean).sum::<f64>() / n).sqrt();
        let mut widths: Vec<f64> = runs.iter().map(|(_, half)| half / (1.96 * sd)).collect();
        widths.sort_by(f64::total_cmp);
        (held, widths[widths.len() * 9 / 10])
    }

    #[test]
    fn noise_alone_has_intervals_near_their_nominal_and_of_much_the_same_width() {
        for n in [20, 60, 600, 2_000] {
            let (held, wide) = coverage(|draw| (0..n).map(|_| draw()).collect());
            assert!((0.95..=0.985).contains(&held), "{n}: {held}");
            assert!(wide < 2.9, "{n}: {wide}");
        }
    }

    #[test]
    fn a_slow_component_is_in_the_interval() {
        // 5 % of the variance, with a correlation over a third, a sixth and less of the values.
        let slow = |n: usize| {
            move |draw: &mut dyn FnMut() -> f64| {
                let (phi, spread) = ((-1.0_f64 / 50.0).exp(), (0.05_f64 / 0.95).sqrt());
                let mut level = draw();
                let mut next = || {
                    level = phi * level + (1.0 - phi * phi).sqrt() * draw();
                    spread * level + draw()
                };
                (0..n).map(|_| next()).collect::<Vec<f64>>()
            }
        };
        for (n, least) in [(150, 0.84), (300, 0.88), (600, 0.915), (3_000, 0.94)] {
            let (held, wide) = coverage(slow(n));
            assert!((least..=0.99).contains(&held), "{n}: {held}");
            assert!(wide < 4.0, "{n}: {wide}");
        }
    }

    #[test]
    fn a_wander_a_sixth_as_long_as_the_series_is_in_the_interval_however_strong() {
        let wander = |n: usize, strength: f64| {
            move |draw: &mut dyn FnMut() -> f64| {
                let phi = (-6.0 / n as f64).exp();
                let mut level = draw();
                let mut next = || {
                    level = phi * level + (1.0 - phi * phi).sqrt() * draw();
                    strength * level + draw()
                };
                (0..n).map(|_| next()).collect::<Vec<f64>>()
            }
        };
        for (n, strength) in [(600, 0.3), (600, 0.6), (600, 1.2), (60, 3.0)] {
            let (held, _) = coverage(wander(n, strength));
            assert!((0.92..=0.98).contains(&held), "{n} {strength}: {held}");
        }
    }

    #[test]
    fn nothing_is_known_of_a_longer_run_where_a_period_makes_the_error() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(43);
        let mut swings = |_: &i32| {
            let swing = |slot: i32| f64::from(u8::from(slot % 150 < 30));
            let noise = |slot: i32| swing(slot) + 0.2 * normal(&mut || random.next_u64());
            let values: Vec<f64> = (0..600).map(noise).collect();
            mean_error(&values, &OF_RATES, 0.95).expect("long enough").lasting.is_some()
        };
        let known = (0..50).filter(|nth| swings(nth)).count();
        assert!(known <= 5, "{known} of 50");
    }

    #[test]
    fn what_a_longer_run_would_have_is_known_unless_a_few_waves_make_the_error() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(37);
        let mut draw = || normal(&mut || random.next_u64());
        let (mut known, mut right, mut few, mut strong) = (0, 0, 0, 0);
        for _ in 0..300 {
            let noise: Vec<f64> = (0..600).map(|_| draw()).collect();
            if let Some(variance) =
                mean_error(&noise, &OF_RATES, 0.95).and_then(|error| error.lasting)
            {
                known += 1;
                right += u32::from((0.5..=2.0).contains(&(variance * 600.0)));
            }
            let mut level = 0.0;
            let levels: Vec<f64> = (0..600)
                .map(|_| {
                    level = 0.99 * level + 0.05 * draw();
                    level
                })
                .collect();
            let is_few = |strength: f64| {
                let add = |(level, noise): (&f64, &f64)| strength * level + noise;
                let values: Vec<f64> = levels.iter().zip(&noise).map(add).collect();
                u32::from(mean_error(&values, &OF_RATES, 0.95).expect("long").lasting.is_none())
            };
            few += is_few(1.0);
            // A rise so strong that no flat spectrum is likely.
            strong += is_few(30.0);
        }
        assert!(strong > 290, "{strong}");
        assert!(known > 240 && right * 10 > known * 8, "{right} of {known}");
        assert!(few > 190, "{few}");
    }

    #[test]
    fn the_mean_of_skewed_values_is_less_skewed_and_more_where_they_are_alike() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(39);
        let alone: Vec<f64> =
            (0..6_000).map(|_| crate::exponential(random.next_u64()) - 1.0).collect();
        let alike: Vec<f64> = alone.iter().flat_map(|value| [*value; 10]).collect();
        // Skewness with the variance that the mean of these values has.
        let skew = |values: &[f64]| skew(values, 1.0 / 6_000.0) * 6_000_f64.sqrt();
        // The skewness of an exponential is 2.
        assert!((1.5..2.5).contains(&skew(&alone)), "{}", skew(&alone));
        assert!((1.3..2.7).contains(&skew(&alike)), "{}", skew(&alike));
    }

    #[test]
    fn what_evens_itself_out_has_a_narrow_interval() {
        // Each value takes back 0.9 of what the one before had: a hundredth of the variance.
        let even = |draw: &mut dyn FnMut() -> f64| {
            let mut before = draw();
            let mut next = || {
                let now = draw();
                let value = now - 0.9 * before;
                before = now;
                value
            };
            (0..600).map(|_| next()).collect::<Vec<f64>>()
        };
        let (held, wide) = coverage(even);
        assert!(held >= 0.94 && wide < 3.0, "{held} {wide}");
    }

    #[test]
    fn few_values_have_no_error_and_equal_ones_none_to_speak_of() {
        assert_eq!(mean_error(&[1.0; 9], &OF_RATES, 0.95), None);
        assert_eq!(
            mean_error(&[0.0; 30], &OF_RATES, 0.95).map(|error| error.half_width),
            Some(0.0)
        );
        assert_eq!(
            mean_error(&[0.1; 30], &OF_RATES, 0.95).map(|error| error.half_width),
            Some(0.0)
        );
    }

    #[test]
    fn a_long_series_has_the_error_that_it_has_when_added_up() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(31);
        let values: Vec<f64> = (0..8_003).map(|_| normal(&mut || random.next_u64())).collect();
        let tens: Vec<f64> =
            values.chunks_exact(10).map(|ten| ten.iter().sum::<f64>() / 10.0).collect();
        let [long, short] = [&values, &tens]
            .map(|values| mean_error(values, &OF_RATES, 0.95).expect("long enough"));
        assert!((long.half_width / short.half_width - 1.0).abs() < 0.02, "{long:?} {short:?}");
    }
}
