//! A series of builds (versions of the measured software), each with the mean of its runs, and the
//! variance between and within builds.
//!
//! Builds differ by more than their runs do: the mean of n runs has the variance between + within /
//! n. Not here: where the level of a series changes (change), and the comparison of its last build
//! (latest_build).

use crate::mean::students_t;

/// Results of the runs of one build (version) of the measured software, summarized. Callers take
/// logarithms of the results where ratios matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Build {
    /// Mean of the results of the build's runs.
    pub mean: f64,
    /// Number of runs that were made with this build.
    pub count: usize,
    /// Sum of the squared differences of the runs' results from their mean.
    pub squares: f64,
}

impl Build {
    /// Creates a build from the results of its runs. Its mean is NaN if there are none.
    pub fn from_figures(figures: &[f64]) -> Build {
        let count = figures.len();
        let mean = figures.iter().sum::<f64>() / count as f64;
        let squares = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        Build { mean, count, squares }
    }

    /// Creates a build from the mean of its runs, their number, and the half-width of the 95 %
    /// confidence interval of the mean.
    pub fn summarized(mean: f64, count: usize, half_width: f64) -> Build {
        let freedom = count.saturating_sub(1);
        let variance_of_mean = match freedom {
            0 => 0.0,
            _ => (half_width / students_t(0.975, freedom)).powi(2),
        };
        Build { mean, count, squares: variance_of_mean * count as f64 * freedom as f64 }
    }
}

/// Returns the variance between runs of the same build, pooled over all builds, and the degrees of
/// freedom of that variance; both are 0 if no build has two runs.
pub(crate) fn within(series: &[Build]) -> (f64, f64) {
    let freedom: usize = series.iter().map(|build| build.count.saturating_sub(1)).sum();
    let squares: f64 = series.iter().map(|build| build.squares).sum();
    if freedom == 0 { (0.0, 0.0) } else { (squares / freedom as f64, freedom as f64) }
}

/// Returns which share of the variance of a single run is left in the mean of a build: 1 / runs,
/// averaged over builds.
pub(crate) fn share_within(series: &[Build]) -> f64 {
    series.iter().map(|build| 1.0 / build.count as f64).sum::<f64>() / series.len() as f64
}

/// Returns the weights of builds, scaled to a mean of 1: the reciprocal of the variance between
/// builds plus that within a build divided by its number of runs. The variance between builds is
/// estimated from differences of neighbours, which occasional changes of level hardly affect.
pub(crate) fn weights(series: &[Build]) -> Vec<f64> {
    let (within, _) = within(series);
    if series.windows(2).all(|two| two[0].count == two[1].count) {
        return vec![1.0; series.len()];
    }
    let steps = series.windows(2).map(|two| two[1].mean - two[0].mean).collect();
    let between = (variance_of_steps(steps) / 2.0 - within * share_within(series)).max(0.0);
    let variance = |build: &Build| between + within / build.count as f64;
    let all: Vec<f64> = series.iter().map(|build| 1.0 / variance(build)).collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    match mean.is_finite() && mean > 0.0 {
        true => all.into_iter().map(|weight| weight / mean).collect(),
        false => vec![1.0; series.len()],
    }
}

/// Limit on the difference of neighbouring builds, in robust standard deviations. Larger
/// differences are clamped to it.
const STEP_MAX: f64 = 3.0;

/// Returns the mean square of differences between builds. A few far larger differences are clamped
/// to [`STEP_MAX`].
pub(crate) fn variance_of_steps(steps: Vec<f64>) -> f64 {
    let n = steps.len() as f64;
    let scale = spread(steps.iter().map(|step| step.abs()).collect());
    let most = if scale > 0.0 { STEP_MAX * scale } else { f64::INFINITY };
    steps.into_iter().map(|step| step.abs().min(most).powi(2)).sum::<f64>() / n
}

/// Estimates the standard deviation of normally distributed values from the median of their
/// absolute distances from the mean. Up to half of the values may be outliers (F. R. Hampel, J. Am.
/// Stat. Assoc. 69, 383, 1974).
pub(crate) fn spread(mut distances: Vec<f64>) -> f64 {
    const OF_NORMAL: f64 = 1.482_602_218_505_602;
    OF_NORMAL * middle(&mut distances)
}

/// Increase of variance within a series of builds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noisier {
    /// Index of the first build of the part of the series that varies more.
    pub(crate) at: usize,
    /// Ratio of the variance of residuals from `at` on to that before.
    pub(crate) times: f64,
    /// Whether the increase of variance is significant, and not only likely enough to be taken into
    /// account.
    pub(crate) is_sure: bool,
}

/// Smallest number of builds in a series before an increase of variance that is looked for.
const CALM_MIN: usize = 6;
/// Smallest number of builds in a series after an increase of variance that is looked for.
const NOISY_MIN: usize = 2;
/// Twice the log likelihood ratio above which an increase of variance is taken into account. With
/// 4.5, 6.5 or 10, changes of level are found equally soon; with 10, a series whose noise has
/// trebled has a third more false alarms than with 4.5.
const NOISIER: f64 = 7.5;
/// Twice the log likelihood ratio above which an increase of variance is significant.
const NOISIER_SURELY: f64 = 12.0;
/// Smallest ratio of the variance after an increase to that before, without the largest residual
/// after it: a single large one is an outlier.
const OTHERS_TIMES_MIN: f64 = 4.0;
/// Limit on a residual, in robust standard deviations. Larger residuals are clamped to it, because
/// outliers are not noise.
const NOISE_MAX: f64 = 4.0;

/// Returns the most likely index from which a series of builds varies more than before, given its
/// residuals; `None` if the variance does not increase. Several residuals with the same sign are a
/// change of level, not noise, so the variance from that index on is taken around their own mean or
/// around 0, whichever is smaller.
pub(crate) fn noisier_from(noise: &[f64]) -> Option<Noisier> {
    let n = noise.len();
    let most = NOISE_MAX * spread(noise.iter().map(|one| one.abs()).collect());
    let clamped = |one: &f64| if most > 0.0 { one.clamp(-most, most) } else { *one };
    let noise: Vec<f64> = noise.iter().map(clamped).collect();
    let squares: f64 = noise.iter().map(|one| one * one).sum();
    let (mut sum_now, mut squares_now, mut largest) = (0.0, 0.0, 0.0_f64);
    let mut found: Option<(f64, Noisier)> = None;
    for at in (CALM_MIN..n).rev() {
        sum_now += noise[at];
        squares_now += noise[at] * noise[at];
        largest = largest.max(noise[at] * noise[at]);
        let (n_calm, n_now) = (at as f64, (n - at) as f64);
        let around_own = (squares_now - sum_now * sum_now / n_now) / (n_now - 1.0);
        let (calm, now) = ((squares - squares_now) / n_calm, around_own.min(squares_now / n_now));
        let others = (squares_now - largest) / (n_now - 1.0);
        let is_noise = now > calm && others > OTHERS_TIMES_MIN * calm;
        if n - at < NOISY_MIN || calm <= 0.0 || !is_noise {
            continue;
        }
        let both = (n_calm * calm + n_now * now) / n as f64;
        let evidence = n as f64 * both.ln() - n_calm * calm.ln() - n_now * now.ln();
        if evidence > found.map_or(NOISIER, |best| best.0) {
            let is_sure = evidence > NOISIER_SURELY;
            found = Some((evidence, Noisier { at, times: now / calm, is_sure }));
        }
    }
    found.map(|(_, noisier)| noisier)
}

/// Returns the median of `figures`, which are reordered; NaN if there are none.
pub(crate) fn middle(figures: &mut [f64]) -> f64 {
    let n = figures.len();
    if n == 0 {
        return f64::NAN;
    }
    let (below, upper, _) = figures.select_nth_unstable_by(n / 2, f64::total_cmp);
    let upper = *upper;
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if n % 2 == 1 { upper } else { f64::midpoint(lower, upper) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_noisier_from_where_it_varies_more_and_not_from_an_outlier() {
        let calm: Vec<f64> = (0..20).map(|at| [0.5, -1.0, 1.2, -0.4, -0.8, 0.7][at % 6]).collect();
        assert_eq!(noisier_from(&calm), None);
        let followed_by = |more: &[f64]| noisier_from(&[&calm[..], more].concat());
        let found = followed_by(&[3.5, -3.4, 2.5, -4.0]).expect("it varies more");
        assert!(found.at == 20 && found.times > 8.0 && found.is_sure, "{found:?}");
        assert_eq!(followed_by(&[0.3, -9.0, 0.5, 0.2]), None);
        assert_eq!(followed_by(&[-9.0]), None);
        // A series that grows calmer is not reported.
        assert_eq!(followed_by(&[0.1; 12]), None);
        assert_eq!(noisier_from(&[0.0; 20]), None);
        assert_eq!(noisier_from(&[]), None);
    }

    #[test]
    fn a_build_of_which_mean_count_and_error_are_known_is_the_same() {
        let figures = [10.0, 11.5, 9.25, 10.75, 12.0];
        let build = Build::from_figures(&figures);
        let sd = (build.squares / 4.0).sqrt();
        let half_width = students_t(0.975, 4) * sd / 5.0_f64.sqrt();
        let known = Build::summarized(build.mean, 5, half_width);
        assert_eq!((known.mean, known.count), (build.mean, build.count));
        assert!((known.squares - build.squares).abs() < 1e-9, "{known:?} {build:?}");
        assert_eq!(Build::summarized(10.0, 1, 2.0).squares, 0.0);
    }
}
