//! Comparison of the last build of a series with the builds before it.
//!
//! The comparison is Student's prediction interval, with the variance between builds and that
//! between the runs of a build. Real builds may lie far from the others more often than normal
//! values would. So each earlier build is compared with the others in the same way, and if these
//! are farther off than normal values would be, the last build is judged by a Student tail fitted
//! to them, separately above and below. Not here: where the level changes (change).

use statrs::distribution::{Continuous, ContinuousCDF, FisherSnedecor, Normal, StudentsT};

use crate::comparison::hommel;
use crate::mean::students_t_tail;
use crate::series::{Build, middle, noisier_from, share_within, within};

/// Smallest number of earlier builds from which the variation between builds is estimated.
const BEFORE_MIN: usize = 3;
/// Smallest degrees of freedom of the variance between builds with which the last build is judged:
/// those of [`BEFORE_MIN`] builds.
const FREEDOM_MIN: f64 = (BEFORE_MIN - 1) as f64;
/// Largest number of outliers among the builds right before the last one that are excluded from the
/// comparison.
const STRANGE_MAX: usize = 2;
/// p-value below which a build just before the last one counts as an outlier and is excluded from
/// the comparison.
const STRANGE: f64 = 0.002;
/// Limit on the number of earlier builds that are used, the last ones before the judged build,
/// because builds drift.
const BEFORE_MAX: usize = 50;
/// Degrees of freedom that are tried when Student's distribution is fitted to a tail of scores. A
/// normal tail has infinitely many.
const TAILS: [f64; 8] = [2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 15.0, 30.0];
/// p-value of the F test for equal variances, below which builds of earlier levels are not used to
/// estimate how much builds vary.
const ALIKE: f64 = 0.05;
/// p-value of the F test for equal variances, below which builds of earlier levels are not used,
/// for a level of two or three builds, which often vary more by chance.
const ALIKE_OF_FEW: f64 = 0.01;
/// Degrees of freedom below which a level counts as having only two or three builds.
const FREEDOM_OF_FEW: f64 = 3.0;
/// Smallest number of scores of past builds, above or below, for a fit of that tail. With fewer,
/// one outlier would make the tail too heavy for any alarm.
const SCORES_MIN: usize = 6;
/// Twice the log likelihood ratio above which a Student tail is used instead of a normal one. A
/// wrong Student tail costs some power; a wrong normal one causes many false alarms.
const BELIEVED: f64 = 3.0;
/// Limit on the absolute normal score; beyond it, differences of probabilities do not matter.
const DEVIATIONS_MAX: f64 = 7.5;

/// Result of comparing the last build of a series with those before it, by [`latest_builds`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatestBuild {
    /// Mean with which the last build was compared: that of the builds before it, or that of
    /// [`Held::pinned`].
    pub before: f64,
    /// Interval, low and high, in which the last build is expected if nothing has changed.
    pub expected: (f64, f64),
    /// p-value of the distance of the last build from `before` if nothing has changed, corrected
    /// for all builds that are judged together.
    pub p: f64,
    /// Whether the mean of the last build lies outside of `expected`.
    pub is_outside: bool,
    /// Number of builds right before the last one that vary significantly more than earlier ones.
    /// The last build is then compared only with these. `None` if no builds vary more.
    pub varies_more_for: Option<usize>,
}

/// A series of builds whose last one is judged, with the builds to compare it with.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Earlier builds at the current level, oldest first, without the last one. Their values are
    /// logarithms, so that high and low levels vary alike.
    pub before: Vec<Build>,
    /// Builds of earlier levels, one list per level. They serve only to estimate how much builds
    /// vary.
    pub earlier: Vec<Vec<Build>>,
    /// The last build of the series, which is judged.
    pub last: Build,
    /// Baseline with which the last build is compared instead of the mean of `before`; `None` if no
    /// build is pinned. With a baseline, `before` only serves to estimate how much builds vary.
    pub pinned: Option<Build>,
}

/// Compares the last build of each of several series with those before it at the same level. If
/// nothing has changed, the probability that any of them is reported as outside of its expected
/// interval is at most `error`. `None` for a series in which too few builds show how much they
/// vary: fewer than three before, or before and earlier together. Means may be infinite.
pub fn latest_builds(all: &[Held], error: f64) -> Vec<Option<LatestBuild>> {
    let held: Vec<Option<Against>> = all.iter().map(held).collect();
    let past: Vec<f64> =
        held.iter().flatten().flat_map(|against| scores_within(against.before)).collect();
    let below = Tail::fit(past.iter().filter(|score| **score < 0.0).map(|score| -score));
    let above = Tail::fit(past.iter().filter(|score| **score > 0.0).copied());
    let p = |away: &Away| if away.t < 0.0 { below.p(-away.score()) } else { above.p(away.score()) };
    let p_values: Vec<f64> = held.iter().flatten().map(|against| p(&against.away)).collect();
    let mut judged = hommel(&p_values).into_iter().zip(p_values);
    let one = |held: Option<Against>| {
        let Against { away, varies_more_for, .. } = held?;
        let (corrected, p) = judged.next()?;
        // The correction for all builds, applied to the error instead of the p-value.
        let error_alone = error * p / corrected;
        let ends = [-away.at(below.score(error_alone)), away.at(above.score(error_alone))];
        let [low, high] = ends.map(|end| away.mean + end * away.error);
        let is_outside = corrected < error;
        let before = away.mean;
        Some(LatestBuild {
            before,
            expected: (low, high),
            p: corrected,
            is_outside,
            varies_more_for,
        })
    };
    held.into_iter().map(one).collect()
}

/// Earlier builds with which the last build of a series is compared, and the distance of the last
/// one from them.
struct Against<'h> {
    before: &'h [Build],
    away: Away,
    varies_more_for: Option<usize>,
}

fn held(one: &Held) -> Option<Against<'_>> {
    let mut before = &one.before[one.before.len().saturating_sub(BEFORE_MAX)..];
    let mut earlier = &one.earlier[..];
    // Fewer builds vary by chance only.
    let noisier = noisier(before, earlier).filter(|_| before.len() >= BEFORE_MIN);
    if let Some((n_builds, _)) = noisier {
        before = &before[before.len().saturating_sub(n_builds.max(BEFORE_MIN))..];
        earlier = &[];
    }
    let is_strange = |away: Away| 2.0 * students_t_tail(away.t.abs(), away.freedom) < STRANGE;
    // The first of two outliers must not be hidden by the second.
    for n_strange in (1..=STRANGE_MAX.min(before.len())).rev() {
        let (rest, strange) = before.split_at(before.len() - n_strange);
        if Away::from_builds(rest, &strange[0], None, &[]).is_some_and(is_strange) {
            before = rest;
            break;
        }
    }
    let away = Away::from_builds(before, &one.last, one.pinned.as_ref(), earlier)?;
    let varies_more_for = noisier.filter(|(_, is_sure)| *is_sure).map(|(n_builds, _)| n_builds);
    Some(Against { before, away, varies_more_for })
}

/// Returns the number of builds at the end of `before` that vary more than those before them and
/// than earlier levels, and whether that is significant; `None` if there are none.
fn noisier(before: &[Build], earlier: &[Vec<Build>]) -> Option<(usize, bool)> {
    let levels = earlier.iter().map(Vec::as_slice).chain([before]);
    let around = |level: &[Build]| {
        let mut means: Vec<f64> = level.iter().map(|build| build.mean).collect();
        let middle = middle(&mut means);
        level.iter().map(|build| build.mean - middle).collect::<Vec<f64>>()
    };
    let noise: Vec<f64> = levels.flat_map(around).collect();
    let found = noisier_from(&noise)?;
    Some(((noise.len() - found.at).min(before.len()), found.is_sure))
}

/// Distance of a build from the mean of other builds, with the error of that distance.
#[derive(Clone, Copy)]
struct Away {
    /// Mean of the other builds, or of the pinned build.
    mean: f64,
    /// Standard deviation of the distance between the build and the mean if nothing has changed.
    error: f64,
    /// Distance of the build from the mean, in units of `error`; negative if it is below.
    t: f64,
    freedom: f64,
}

impl Away {
    fn from_builds(
        others: &[Build],
        one: &Build,
        pinned: Option<&Build>,
        earlier: &[Vec<Build>],
    ) -> Option<Away> {
        let n = others.len() as f64;
        let (mean, own) = around_mean(others);
        let (squares, freedom) = scatter((own, n - 1.0), earlier);
        if others.is_empty() || freedom < FREEDOM_MIN {
            return None;
        }
        let (within, of_within) = within(others);
        let share = share_within(others);
        // Means of builds vary at least as much as their runs imply.
        let between = (squares / freedom).max(within * share);
        // The mean of fewer runs varies more; a mean of more runs is treated as one of as many.
        let more = |build: &Build| within * (1.0 / build.count as f64 - share).max(0.0);
        // The last build varies as one build does, and the mean of n builds less.
        let (mean, times) = pinned.map_or((mean, 1.0 + 1.0 / n), |pinned| (pinned.mean, 2.0));
        let more = more(one) + pinned.map_or(0.0, more);
        let between = between * times;
        let variance = between + more;
        // F. E. Satterthwaite, Biometrics Bull. 2, 110, 1946.
        let freedom = match more > 0.0 {
            true => variance.powi(2) / (between.powi(2) / freedom + more.powi(2) / of_within),
            false => freedom,
        };
        let error = variance.sqrt();
        let distance = one.mean - mean;
        let t = if distance == 0.0 { 0.0 } else { distance / error };
        Some(Away { mean, error, t, freedom })
    }

    /// Returns the distance of the build as a normal score (z), negative if the build is below the
    /// others.
    fn score(&self) -> f64 {
        let beyond = students_t_tail(self.t.abs(), self.freedom);
        (-normal().inverse_cdf(beyond)).min(DEVIATIONS_MAX).copysign(self.t)
    }

    /// Returns the absolute distance, in units of `error`, that corresponds to this normal score.
    fn at(&self, score: f64) -> f64 {
        let beyond = normal().sf(score.min(DEVIATIONS_MAX));
        -StudentsT::new(0.0, 1.0, self.freedom).map_or(f64::NAN, |t| t.inverse_cdf(beyond))
    }
}

/// Returns the mean of builds, and the sum of their squared distances from the mean.
fn around_mean(builds: &[Build]) -> (f64, f64) {
    let mean = builds.iter().map(|build| build.mean).sum::<f64>() / builds.len() as f64;
    (mean, builds.iter().map(|build| (build.mean - mean).powi(2)).sum())
}

/// Pools the sum of squares and degrees of freedom of a level (`own`) with those of earlier levels.
/// Returns only those of the level if it varies significantly more, or if no earlier level has two
/// builds.
fn scatter(own: (f64, f64), earlier: &[Vec<Build>]) -> (f64, f64) {
    let levels = earlier.iter().filter(|level| level.len() > 1);
    let levels = levels.map(|level| (around_mean(level).1, level.len() as f64 - 1.0));
    let (squares, freedom) = levels.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if freedom == 0.0 {
        return own;
    }
    if own.1 == 0.0 {
        return (squares, freedom);
    }
    // Builds that are all equal are taken to vary as little as other equal ones.
    if squares == 0.0 && own.0 == 0.0 {
        return (0.0, own.1 + freedom);
    }
    let least = if own.1 < FREEDOM_OF_FEW { ALIKE_OF_FEW } else { ALIKE };
    let ratio = (own.0 / own.1) / (squares / freedom);
    let is_alike = FisherSnedecor::new(own.1, freedom).is_ok_and(|f| f.sf(ratio) >= least);
    if is_alike { (own.0 + squares, own.1 + freedom) } else { own }
}

/// Returns the normal score (z) of the distance of each build from all other builds in the list.
fn scores_within(builds: &[Build]) -> Vec<f64> {
    let one = |at: usize| {
        let others = [&builds[..at], &builds[at + 1..]].concat();
        Some(Away::from_builds(&others, &builds[at], None, &[])?.score())
    };
    (0..builds.len()).filter_map(one).collect()
}

fn normal() -> Normal {
    Normal::standard()
}

/// Distribution of normal scores above or below 0: normal, or Student's with a heavier tail.
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// Degrees of freedom and scale of Student's distribution; `None` for the normal one.
    student: Option<(f64, f64)>,
}

impl Tail {
    /// Fits the most likely tail to the absolute scores above or below 0. Returns the normal one
    /// for fewer than [`SCORES_MIN`] scores.
    fn fit(scores: impl Iterator<Item = f64>) -> Tail {
        let scores: Vec<f64> = scores.collect();
        if scores.len() < SCORES_MIN {
            return Tail { student: None };
        }
        let as_normal: f64 = scores.iter().map(|score| normal().ln_pdf(*score)).sum();
        let fitted = TAILS.iter().map(|&freedom| {
            let scale = scale(&scores, freedom);
            let student = StudentsT::new(0.0, scale, freedom).ok()?;
            let likelihood: f64 = scores.iter().map(|score| student.ln_pdf(*score)).sum();
            Some((likelihood, (freedom, scale)))
        });
        let best = fitted.flatten().max_by(|a, b| a.0.total_cmp(&b.0));
        let is_believed = |best: &(f64, (f64, f64))| 2.0 * (best.0 - as_normal) > BELIEVED;
        Tail { student: best.filter(is_believed).map(|best| best.1) }
    }

    /// Returns the two-sided p-value of an absolute normal score.
    fn p(&self, score: f64) -> f64 {
        let as_normal = 2.0 * normal().sf(score);
        let p_of = |(freedom, scale): (f64, f64)| 2.0 * students_t_tail(score / scale, freedom);
        self.student.map_or(as_normal, |student| p_of(student).max(as_normal))
    }

    /// Returns the absolute normal score whose two-sided p-value is `p`.
    fn score(&self, p: f64) -> f64 {
        let as_normal = -normal().inverse_cdf(p / 2.0);
        let score_of = |(freedom, scale)| {
            let student = StudentsT::new(0.0, scale, freedom);
            student.map_or(f64::INFINITY, |student| -student.inverse_cdf(p / 2.0))
        };
        self.student.map_or(as_normal, |student| score_of(student).max(as_normal))
    }
}

/// Returns the most likely scale of values that have Student's distribution (K. L. Lange, R. J. A.
/// Little and J. M. G. Taylor, J. Am. Stat. Assoc. 84, 881, 1989).
fn scale(figures: &[f64], freedom: f64) -> f64 {
    let mut square = 1.0;
    for _ in 0..30 {
        let weighed = |figure: &f64| {
            let figure = figure.powi(2);
            (freedom + 1.0) / (freedom + figure / square) * figure
        };
        square = figures.iter().map(weighed).sum::<f64>() / figures.len() as f64;
    }
    square.sqrt()
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;
    use crate::students_t;

    fn builds(figures: &[f64]) -> Vec<Build> {
        figures.iter().map(|figure| Build::from_figures(&[*figure])).collect()
    }

    /// Makes a series of builds at one level only, for tests; the last of them is the one that is
    /// judged.
    fn alone(before: Vec<Build>) -> Held {
        let last = *before.last().expect("some");
        Held { before, earlier: Vec::new(), last, pinned: None }
    }

    /// Returns for how many of 2,000 series the last build is reported as lower. It is lower by the
    /// share `fall`, and comes after 30 builds at one of `levels` and `n_before` at the other,
    /// whose noise is `noise` times larger.
    fn n_below(levels: (f64, f64), n_before: usize, fall: f64, noise: f64, seed: u64) -> usize {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bits = || source.next_u64();
        let mut build = |level: f64, noise: f64| {
            Build::from_figures(&[level.ln() + 0.008 * noise * normal(&mut bits)])
        };
        let is_below = |_: &i32| {
            let earlier = vec![(0..30).map(|_| build(levels.0, 1.0)).collect()];
            let before: Vec<Build> = (0..n_before).map(|_| build(levels.1, noise)).collect();
            let last = build(levels.1 * (1.0 - fall), noise);
            let held = Held { last, earlier, ..alone(before) };
            latest_builds(&[held], 0.005)[0]
                .is_some_and(|one| one.is_outside && one.before > last.mean)
        };
        (0..2_000).filter(is_below).count()
    }

    #[test]
    fn levels_of_builds_that_are_all_equal_are_held_against_each_other() {
        // As those of a simulated database with one seed are.
        let held = Held { earlier: vec![builds(&[7.0; 30])], ..alone(builds(&[6.5; 4])) };
        let last = latest_builds(&[held], 0.005)[0].expect("four before it");
        assert!(!last.is_outside && last.before == 6.5, "{last:?}");
    }

    #[test]
    fn earlier_levels_show_how_much_builds_vary() {
        // Figures are logarithms: near 1 ms or 1 TPS they are near 0.
        for levels in [(1_000.0, 880.0), (1.001, 1.25), (1.25, 1.001), (0.8, 1.3)] {
            // Half of five thousandths of 2,000 are 5.
            let n = n_below(levels, 4, 0.0, 1.0, 11);
            assert!(n <= 14, "{n} of 2000 where nothing changed, of {levels:?}");
            let n = n_below(levels, 4, 0.05, 1.0, 12);
            assert!(n >= 1_780, "{n} of 2000 falls by 5 %, six deviations, of {levels:?}");
            for noise in [1.5, 3.0] {
                let n = n_below(levels, 4, 0.0, noise, 13);
                assert!(n <= 60, "{n} of 2000 of a level with {noise} times the noise");
            }
        }
    }

    #[test]
    fn a_level_that_has_only_begun_is_judged_by_the_noise_of_earlier_ones() {
        for n_before in [1, 2] {
            let n = n_below((1_000.0, 880.0), n_before, 0.0, 1.0, 14);
            assert!(n <= 14, "{n} of 2000 where nothing changed, after {n_before}");
            // A build is compared with one, not with a mean: less power.
            let n = n_below((1_000.0, 880.0), n_before, 0.05, 1.0, 15);
            assert!(n >= 1_600, "{n} of 2000 falls by 5 %, after {n_before}");
        }
        // One build says nothing on its own, and neither do two.
        for before in [&[7.0][..], &[7.0, 7.1]] {
            assert_eq!(latest_builds(&[alone(builds(before))], 0.005), [None]);
        }
    }

    #[test]
    fn few_before_are_held_against_students_prediction() {
        let judge = |last: f64, n: usize| {
            let before = builds(&[9.0, 10.0, 11.0, 12.0, 13.0][..n]);
            latest_builds(&[Held { last: Build::from_figures(&[last]), ..alone(before) }], 0.05)
                .pop()
                .expect("one")
        };
        let same = judge(14.0, 5).expect("five");
        // t(0.975; 4) = 2.776, times 1.5811, times the root of 1 + 1/5.
        assert!((same.expected.1 - 15.809).abs() < 1e-3 && !same.is_outside, "{same:?}");
        assert!(judge(16.0, 5).expect("five").is_outside);
        assert_eq!(judge(16.0, 2), None);
        assert!(judge(f64::INFINITY, 5).expect("five").is_outside);
        assert!((students_t(0.975, 4) - 2.776).abs() < 1e-3);
    }

    #[test]
    fn the_interval_and_the_verdict_agree() {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut bits = || source.next_u64();
        for round in 0..300 {
            let mut one = |far: f64| {
                let all: Vec<f64> = (0..12).map(|_| normal(&mut bits)).collect();
                Held { last: Build::from_figures(&[all[0] * far]), ..alone(builds(&all[1..])) }
            };
            let all = [one(1.0), one(3.0), one(2.0), one(6.0)];
            for (Held { last, .. }, held) in all.iter().zip(latest_builds(&all, 0.05)) {
                let held = held.expect("eleven");
                let is_within = (held.expected.0..=held.expected.1).contains(&last.mean);
                assert_eq!(is_within, !held.is_outside, "{round}: {last:?} {held:?}");
            }
        }
    }

    #[test]
    fn a_pinned_build_is_as_uncertain_as_any() {
        let before = builds(&[9.0, 10.0, 11.0, 12.0, 13.0]);
        let (last, pinned) = (Build::from_figures(&[16.0]), Some(Build::from_figures(&[12.0])));
        let held = latest_builds(&[Held { last, pinned, ..alone(before) }], 0.05).pop().flatten();
        let held = held.expect("five");
        // 2.776 times 1.5811 times the root of 2.
        assert!((held.expected.1 - 18.208).abs() < 1e-3 && held.before == 12.0, "{held:?}");
    }

    /// Returns in how many of `rounds` any last build is reported as lower although nothing
    /// changed. Each of `points` series has builds of `runs.0` runs, and a last one of `runs.1`
    /// runs.
    fn n_false(points: usize, runs: (usize, usize), seed: u64, heavy: bool, rounds: u32) -> u32 {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bits = || source.next_u64();
        let mut noise = || {
            let figure = normal(&mut bits);
            // Student's with three degrees of freedom, else.
            let square: f64 = (0..3).map(|_| normal(&mut bits).powi(2)).sum();
            if heavy { figure / (square / 3.0).sqrt() } else { figure }
        };
        let mut build = |n: usize| {
            let of_build = 0.3 * noise();
            Build::from_figures(&(0..n).map(|_| of_build + noise()).collect::<Vec<f64>>())
        };
        let mut series = || Held {
            before: (0..20).map(|_| build(runs.0)).collect(),
            last: build(runs.1),
            earlier: Vec::new(),
            pinned: None,
        };
        let mut is_reported = || {
            let all: Vec<_> = (0..points).map(|_| series()).collect();
            let held = latest_builds(&all, 0.005);
            let worse = |(one, held): (&Held, Option<LatestBuild>)| {
                held.is_some_and(|held| held.is_outside && one.last.mean < held.before)
            };
            all.iter().zip(held).any(worse)
        };
        (0..rounds).map(|_| u32::from(is_reported())).sum()
    }

    /// Returns in how many of `rounds` the last build is reported as lower. It is lower by `fall`
    /// standard deviations, and comes after `n` other builds.
    fn n_below_few(n: usize, fall: f64, is_skewed: bool, rounds: usize) -> usize {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(20 + n as u64);
        let mut bits = || source.next_u64();
        let mut noise = || match (normal(&mut bits), is_skewed) {
            (figure, false) => figure,
            (figure, true) => (1.0 - figure * figure) / 2.0_f64.sqrt(),
        };
        let is_below = |_: &usize| {
            let before = (0..n).map(|_| Build::from_figures(&[noise()])).collect();
            let last = Build::from_figures(&[noise() - fall]);
            let held = Held { last, ..alone(before) };
            latest_builds(&[held], 0.005)[0]
                .is_some_and(|one| one.is_outside && one.before > last.mean)
        };
        (0..rounds).filter(is_below).count()
    }

    #[test]
    fn a_large_step_is_seen_after_few_builds() {
        for n in [4, 5, 8, 11] {
            // A quarter of a percent of 4,000 is 10.
            let n_false = n_below_few(n, 0.0, false, 4_000);
            assert!(n_false <= 22, "{n_false} of 4000 where nothing changed, of {n}");
            for is_skewed in [false, true] {
                let n_seen = n_below_few(n, 20.0, is_skewed, 500);
                assert!(n_seen >= 470, "{n_seen} of 500 falls of 20 deviations, of {n}");
            }
        }
        // One of five that lies off by chance.
        let before = builds(&[4_017.0, 4_011.0, 4_010.0, 3_943.0]);
        let held = Held { last: Build::from_figures(&[3_081.0]), ..alone(before) };
        assert!(latest_builds(&[held], 0.005)[0].is_some_and(|one| one.is_outside));
    }

    #[test]
    fn where_noise_has_grown_the_last_build_is_held_against_what_varies_as_much() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let (mut n_false, mut n_told, mut n_found, rounds) = (0, 0, 0, 1000);
        for _ in 0..rounds {
            let mut draw = |sd: f64| Build::from_figures(&[sd * normal(&mut || random.next_u64())]);
            let calm = (0..25).map(|_| draw(1.0)).collect::<Vec<Build>>();
            let noisy = (0..8).map(|_| draw(3.0)).collect::<Vec<Build>>();
            let before = [calm, noisy].concat();
            let last = draw(3.0);
            let held = |last: Build| {
                let one = Held { before: before.clone(), earlier: Vec::new(), last, pinned: None };
                latest_builds(&[one], 0.005)[0].expect("enough")
            };
            let found = held(last);
            n_false += u32::from(found.is_outside);
            n_told += u32::from(found.varies_more_for.is_some_and(|n| (5..=12).contains(&n)));
            n_found += u32::from(held(Build::from_figures(&[last.mean - 30.0])).is_outside);
        }
        // Against all builds: 60.
        assert!(n_false <= 35, "{n_false}");
        assert!(n_told > 300 && n_found > 800, "{n_told} {n_found}");
    }

    #[test]
    fn one_run_after_builds_of_five_is_no_alarm() {
        let n = n_false(1, (5, 1), 6, false, 2000);
        assert!((1..=15).contains(&n), "{n} of 2000");
        assert!(n_false(1, (1, 5), 7, false, 2000) <= 20);
        let n = n_false(1, (5, 1), 8, true, 2000);
        assert!(n <= 30, "{n} of 2000");
    }

    #[test]
    fn forty_series_have_no_more_alarms_than_one() {
        let n = n_false(40, (1, 1), 9, false, 150);
        assert!(n <= 3, "{n} of 150");
        let n = n_false(40, (1, 1), 10, true, 150);
        assert!(n <= 3, "{n} of 150 of heavy tails");
    }
}
