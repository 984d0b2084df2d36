//! How sure the mean of a series is whose neighbours resemble each other: from its slowest waves.
//!
//! Not here: what the series is made of. A rate is a mean of counts (`rate`), a quantile is a mean
//! of how many samples lie above a value (`dependence`).

use std::f64::consts::PI;

use crate::mean::{students_t_density, students_t_tail};
use crate::students_t;

/// So many of a series' slowest waves tell its error: those of up to 40 half periods in its length.
/// More would bring what happens faster than a fortieth of the series, and that is no part of the
/// error of the mean.
const WAVES_MAX: usize = 40;

/// A longer series is added up to about as many values first: waves are as long as a twentieth.
const VALUES_KEPT: usize = 800;

/// The fewest values with an error.
pub(crate) const VALUES_MIN: usize = 10;

/// How a spectrum may rise towards slow waves: by how much more than its level (1 + this, at
/// frequency nothing), with the same chance each beforehand. Less than this is hardly seen, and
/// would widen every interval a little.
const RISES: [f64; 6] = [3.0, 6.0, 12.0, 25.0, 50.0, 100.0];

/// From which wave on the rise is below its half: what takes a tenth of the series to change rises
/// from the third.
const RISES_BELOW: [f64; 7] = [1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0];

/// How it may fall, where what one stretch has less the next one has more: a closed load, or
/// arrivals at equal distances.
const FALLS: [f64; 3] = [-0.5, -0.8, -0.95];
const FALLS_BELOW: [f64; 3] = [2.0, 5.0, 15.0];

/// The chances beforehand that the spectrum is flat, and that it falls; else it rises. Of 0.1 to
/// 0.5 each these came nearest to 95 % over arrivals at random, slow components, two-state loads,
/// stalls and queues (`docs/measuring.md`).
const FLAT: f64 = 0.25;
const FALLING: f64 = 0.25;

/// A spectrum below so much of the likeliest one's chance has no say.
const CHANCE_MIN: f64 = 1e-4;

/// Newton's method takes three or four.
const STEPS_MAX: usize = 50;

/// The error of a mean of dependent values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanError {
    /// Half the width of the interval, in the unit of the values.
    pub(crate) half_width: f64,
    /// The square of the standard error of the mean.
    pub(crate) variance: f64,
}

/// The error of the mean of consecutive values; none of fewer than [`VALUES_MIN`].
///
/// The variance of a mean is the spectrum at frequency nothing. It is extrapolated from the slowest
/// waves of the series (Heidelberger and Welch, Communications of the ACM 24, 233, 1981), whose
/// squared heights are independent and vary around the spectrum (Whittle, Arkiv för Matematik 2,
/// 423, 1953; cosines as in Müller, Journal of Business and Economic Statistics 32, 311, 2014). The
/// spectrum is flat, or rises or falls towards slow waves as that of a first-order process in
/// noise does; how, is not known, so each of 52 shapes has the weight that the waves give it. With
/// a shape alone the mean is Student's; the interval is that of their mixture.
///
/// To lengthen batches until they show no significant correlation stops too early: a slow component
/// that makes up a twentieth of the variance is not significant in any pair of neighbours and still
/// most of the error of the mean. Two or three batch sizes with a t of few degrees of freedom hold
/// the truth as often as this, but their intervals vary twice as much.
pub(crate) fn mean_error(values: &[f64], confidence: f64) -> Option<MeanError> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let waves = waves(values);
    let sum_of_squares: f64 = waves.iter().map(|wave| wave * wave).sum();
    let mean_square = values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64;
    // Equal values have waves of what sums have lost.
    if sum_of_squares <= 1e-24 * mean_square {
        return Some(MeanError { half_width: 0.0, variance: 0.0 });
    }
    let likely = likely(&waves);
    let total: f64 = likely.iter().map(|(chance, _)| chance).sum();
    let log: f64 = likely.iter().map(|(chance, variance)| chance * variance.ln()).sum();
    let half_width = half_width(&likely, waves.len(), (1.0 - confidence) * total);
    Some(MeanError { half_width, variance: (log / total).exp() })
}

/// The heights of the slowest waves, in the unit in which each one's square is as large on average
/// as the variance of the mean, if the spectrum is flat.
fn waves(values: &[f64]) -> Vec<f64> {
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

/// The chance of each shape that the waves leave likely, and the variance of the mean by it.
fn likely(waves: &[f64]) -> Vec<(f64, f64)> {
    let n = waves.len() as f64;
    let of_shape = |(chance, rise, below): (f64, f64, f64)| {
        let (mut squares, mut logs) = (0.0, 0.0);
        for (index, wave) in waves.iter().enumerate() {
            let slowness = 1.0 / (1.0 + ((index + 1) as f64 / below).powi(2));
            let spectrum = (1.0 + rise * slowness) / (1.0 + rise);
            squares += wave * wave / spectrum;
            logs += spectrum.ln();
        }
        (chance.ln() - 0.5 * logs - 0.5 * n * squares.ln(), squares / n)
    };
    let logs: Vec<(f64, f64)> = shapes().map(of_shape).collect();
    let most = logs.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
    let chances = logs.into_iter().map(|(log, variance)| ((log - most).exp(), variance));
    chances.filter(|(chance, _)| *chance > CHANCE_MIN).collect()
}

/// The chance of each shape beforehand, its rise and where that ends.
fn shapes() -> impl Iterator<Item = (f64, f64, f64)> {
    fn pairs<'a>(
        chance: f64,
        rises: &'a [f64],
        below: &'a [f64],
    ) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
        let each = chance / (rises.len() * below.len()) as f64;
        rises.iter().flat_map(move |rise| below.iter().map(move |below| (each, *rise, *below)))
    }
    let rising = pairs(1.0 - FLAT - FALLING, &RISES, &RISES_BELOW);
    std::iter::once((FLAT, 0.0, 1.0)).chain(pairs(FALLING, &FALLS, &FALLS_BELOW)).chain(rising)
}

/// Beyond which distance the mixture has `outside` of its chances. The share beyond is convex, so
/// that Newton's steps pass the end once at most, and then come nearer from below.
fn half_width(likely: &[(f64, f64)], freedom: usize, outside: f64) -> f64 {
    let total: f64 = likely.iter().map(|(chance, _)| chance).sum();
    let mean: f64 = likely.iter().map(|(chance, variance)| chance * variance).sum();
    let mut end = students_t(1.0 - outside / total / 2.0, freedom) * (mean / total).sqrt();
    let freedom = freedom as f64;
    let at_middle = students_t_density(0.0, freedom);
    for _ in 0..STEPS_MAX {
        let (mut beyond, mut density) = (0.0, 0.0);
        for (chance, variance) in likely {
            let sd = variance.sqrt();
            let t = end / sd;
            beyond += 2.0 * chance * students_t_tail(t, freedom);
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

    /// Of many series with a mean of nothing: the share of intervals that hold it, and the width
    /// that one in ten exceeds, in that of the true error.
    fn coverage(mut series: impl FnMut(&mut dyn FnMut() -> f64) -> Vec<f64>) -> (f64, f64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(29);
        let mut draw = || normal(&mut || random.next_u64());
        let runs: Vec<(f64, f64)> = (0..1_000)
            .map(|_| {
                let values = series(&mut draw);
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                (mean, mean_error(&values, 0.95).expect("long enough").half_width)
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
            assert!((0.94..=0.975).contains(&held), "{n}: {held}");
            // Batch means of ten and twenty: 2.5.
            assert!(wide < 2.1, "{n}: {wide}");
        }
    }

    #[test]
    fn a_slow_component_is_in_the_interval() {
        // 5 % of the variance, with a correlation over 50 of 600 and of 3,000 values.
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
        for (n, least) in [(600, 0.915), (3_000, 0.94)] {
            let (held, wide) = coverage(slow(n));
            assert!((least..=0.98).contains(&held), "{n}: {held}");
            assert!(wide < 2.2, "{n}: {wide}");
        }
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
        assert_eq!(mean_error(&[1.0; 9], 0.95), None);
        assert_eq!(mean_error(&[0.0; 30], 0.95).map(|error| error.half_width), Some(0.0));
        assert_eq!(mean_error(&[0.1; 30], 0.95).map(|error| error.half_width), Some(0.0));
    }

    #[test]
    fn a_long_series_has_the_error_that_it_has_when_added_up() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(31);
        let values: Vec<f64> = (0..8_003).map(|_| normal(&mut || random.next_u64())).collect();
        let tens: Vec<f64> =
            values.chunks_exact(10).map(|ten| ten.iter().sum::<f64>() / 10.0).collect();
        let [long, short] =
            [&values, &tens].map(|values| mean_error(values, 0.95).expect("long enough"));
        assert!((long.half_width / short.half_width - 1.0).abs() < 0.02, "{long:?} {short:?}");
    }
}
