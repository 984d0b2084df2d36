//! Confidence intervals for repeats whose number was not fixed beforehand, but depended on their
//! results.
//!
//! A procedure that looks after each run, and stops when Student's interval is narrow or excludes
//! zero, has an interval that contains the truth less often than stated. Two methods keep the
//! stated confidence however often one looks:
//!
//! - [`precise`], for stopping when the interval is narrow enough: Student's intervals of
//!   [`LOOK_CONFIDENCE`] instead of 95 % (Y. S. Chow and H. Robbins, Ann. Math. Stat. 36, 457,
//!   1965; N. Starr, Ann. Math. Stat. 37, 36, 1966). For normally distributed results the width is
//!   independent of the mean, so that the only error is to stop early if results happen to be close
//!   together. The constant compensates for that, at any scatter (examples/sequential.rs).
//! - [`anytime`], for stopping when a difference is decided, by whatever rule: the confidence
//!   sequence of the t statistic, mixed over a normal effect (T. L. Lai, Ann. Stat. 4, 265, 1976;
//!   H. Wang and A. Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with
//!   unknown variance", Sequential Analysis 44, 2025). The probability that it ever excludes the
//!   truth, at any look, is at most 1 - confidence.
//!
//! Both assume that results are independent and normally distributed. Not here: what a result is,
//! and when to stop.

use crate::{Mean, mean, students_t};

/// Smallest number of repeats after which a stop rule may end them: the standard deviation of three
/// results is hardly known, and correcting for that would need many more repeats.
pub const FIGURES_MIN: usize = 4;
/// Confidence of the Student interval that is computed after each repeat. It is chosen so that the
/// interval at the moment of stopping contains the truth with at least 95 %, from [`FIGURES_MIN`]
/// results on and at any scatter.
pub const LOOK_CONFIDENCE: f64 = 0.977;
/// Variance of the effects over which the t statistic is mixed to obtain [`anytime`], relative to
/// the variance of a result. With this value the interval is narrowest at about six results, and
/// little wider than the best one at thirty.
const EFFECT_VARIANCE: f64 = 7.0;

/// Returns the mean, with its 95 % interval, of the results of an experiment that was repeated
/// until this interval was narrow enough. `None` without results. Callers must not stop before
/// [`FIGURES_MIN`] results, even if there is an interval.
pub fn precise(figures: &[f64]) -> Option<Mean> {
    mean(figures, LOOK_CONFIDENCE)
}

/// Returns the mean of results that were examined after each repeat, with an interval that stays
/// valid however often that is done: with probability `confidence` it contains the truth at all
/// numbers of results. The interval is infinite for too few results; `None` without results.
pub fn anytime(figures: &[f64], confidence: f64) -> Option<Mean> {
    let found = mean(figures, confidence)?;
    let half_width = found.half_width.map(|_| match anytime_t(figures.len(), 1.0 - confidence) {
        Some(t) => t * found.sd / (figures.len() as f64).sqrt(),
        None => f64::INFINITY,
    });
    Some(Mean { half_width, ..found })
}

/// Returns the distance of the mean of `n` normally distributed results from the truth, in standard
/// errors, that is not exceeded at any n with a probability of `1 - error`; `None` if n is too
/// small.
///
/// The mixture is √(1 / (1 + n g)) ((1 + t²/ν) / (1 + t²/(ν (1 + n g))))^(n/2) with ν = n - 1 and g
/// = [`EFFECT_VARIANCE`]; by Ville's inequality it ever exceeds 1 / error with a probability of at
/// most `error`.
fn anytime_t(n: usize, error: f64) -> Option<f64> {
    let (count, freedom) = (n as f64, n as f64 - 1.0);
    let widened = 1.0 + count * EFFECT_VARIANCE;
    let most = (widened.sqrt() / error).powf(2.0 / count);
    (n > 1 && most < widened).then(|| {
        let square = (most - 1.0) / (1.0 - most / widened);
        (freedom * square).sqrt()
    })
}

/// Returns the approximate number of results after which the interval of [`precise`] has a
/// half-width of `half_width`, given their standard deviation; at most `most`.
pub fn precise_needs(sd: f64, half_width: f64, most: usize) -> usize {
    let tail = f64::midpoint(1.0, LOOK_CONFIDENCE);
    let is_enough = |n: &usize| students_t(tail, n - 1) * sd <= half_width * (*n as f64).sqrt();
    (FIGURES_MIN..most).find(is_enough).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    /// Draws a result with mean 1 and this coefficient of variation: normal, lognormal, or
    /// Student's t of three degrees of freedom.
    fn figure(model: usize, cv: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
        let mut draw = || normal(&mut || random.next_u64());
        match model {
            0 => 1.0 + cv * draw(),
            1 => {
                let variance = (1.0 + cv * cv).ln();
                (variance.sqrt() * draw() - variance / 2.0).exp()
            }
            _ => {
                let chi_square: f64 = (0..3).map(|_| draw().powi(2)).sum();
                1.0 + cv * draw() / chi_square.sqrt()
            }
        }
    }

    #[test]
    fn an_interval_that_was_waited_for_holds_at_its_level() {
        const SEEDS: u64 = 500;
        for model in 0..3 {
            for (cv, most) in [(0.002, 30), (0.013, 30), (0.027, 30), (0.027, 9), (0.045, 200)] {
                let (mut held, mut n_all) = (0, 0);
                for seed in 0..SEEDS {
                    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                    let mut figures = Vec::new();
                    loop {
                        figures.push(figure(model, cv, &mut random));
                        let found = precise(&figures).expect("there are some");
                        let half_width = found.half_width.unwrap_or(f64::INFINITY);
                        let is_narrow = figures.len() >= FIGURES_MIN && half_width <= 0.02;
                        if is_narrow || figures.len() == most {
                            held += u64::from((found.value - 1.0).abs() <= half_width);
                            n_all += figures.len();
                            break;
                        }
                    }
                }
                // 475 of 500, less two standard errors of a binomial count.
                assert!(held >= 465, "{held} of {SEEDS}: model {model}, cv {cv}, at most {most}");
                let n = n_all as f64 / SEEDS as f64;
                let expect = precise_needs(cv, 0.02, most) as f64;
                assert!(n <= expect * 1.25 && n >= expect * 0.6, "{n} for {expect}");
            }
        }
    }

    #[test]
    fn a_sequence_leaves_out_the_truth_at_no_look() {
        for model in 0..3 {
            let mut n_left_out = 0;
            for seed in 0..500 {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(1_000 + seed);
                let mut figures = Vec::new();
                n_left_out += u64::from((0..100).any(|_| {
                    let draw_log = |random: &mut _| figure(model, 0.02, random).ln();
                    figures.push(draw_log(&mut random) - draw_log(&mut random));
                    let found = anytime(&figures, 0.95).expect("there are some");
                    found.value.abs() > found.half_width.unwrap_or(f64::INFINITY)
                }));
            }
            // At most 25 of 500 are expected, plus three standard errors.
            assert!(n_left_out <= 25 + 15, "{n_left_out} of 500: model {model}");
        }
    }

    #[test]
    fn a_sequence_is_as_wide_as_its_formula() {
        // n = 5, g = 7: K = (6 / 0.05)^0.4 = 6.787; t² / 4 = 5.787 / (1 - 6.787 / 36).
        assert!((anytime_t(5, 0.05).expect("enough") - 5.3405).abs() < 1e-3);
        assert_eq!(anytime_t(1, 0.05), None);
        assert_eq!(anytime_t(2, 0.05), None);
        let few = anytime(&[1.0, 2.0], 0.95).expect("two");
        assert_eq!(few.half_width, Some(f64::INFINITY));
        assert_eq!(anytime(&[1.0], 0.95).expect("one").half_width, None);
        assert_eq!(anytime(&[], 0.95), None);
    }

    #[test]
    fn how_many_figures_it_takes_is_known_beforehand() {
        assert_eq!(precise_needs(0.01, 0.02, 30), 5);
        assert_eq!(precise_needs(0.002, 0.02, 30), 4);
        assert_eq!(precise_needs(0.2, 0.02, 30), 30);
    }
}
