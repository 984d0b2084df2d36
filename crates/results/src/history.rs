//! A figure over the builds of what is measured: where its level has changed, and the last one.
//!
//! Runs that bear a label are put by its values, in the order of versions. Each point has a series
//! of its own, one figure a build: the geometric mean of its runs. Levels are found on logarithms
//! (`stats::change_points`), so that changes are ratios. A pure function of reports. Not here:
//! which runs there are (lab), and how it looks (render).

use serde::{Deserialize, Serialize};
use stats::{ChangePoint, SERIES_MAX, SERIES_MIN, change_points, newcomer};

use crate::comparison::{Judge, Side, SidePoint, is_worse, matters, values_of};
use crate::experiment::{Figure, figure, is_time};
use crate::report::{Named, Report};

/// The schema of [`HistoryReport`].
pub const SCHEMA: &str = "dbdyno.history/1";
/// The chance that a change of level is told where there is none.
const ERROR: f64 = 0.01;
/// Of the interval in which the last figure of a short series is expected.
const CONFIDENCE: f64 = 0.99;
/// A running mean is of so many builds.
const OF_LAST: usize = 10;
/// Where the last build could be so much worse and still be as expected, that it is so says
/// nothing: a tenth is more than most regressions that people look for. Not below the floor.
const NOISY_FROM: f64 = 0.1;
/// A change counts as a regression while it is no older than so many builds.
const RECENT: usize = 10;

/// The history of a label's values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// The label whose values are the builds.
    pub by: String,
    /// The figure.
    pub figure: String,
    /// The change from which on a change matters, as a share.
    pub floor: f64,
    /// A series for each point.
    pub points: Vec<PointHistory>,
    /// Builds of which no run counts, in the order of versions.
    pub left_out: Vec<LeftOut>,
    /// Runs that are left out, since their reports are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// A build without a run that counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The label's value.
    pub build: String,
    /// Its runs: not completed, found invalid, or damaged.
    pub runs_not_counted: u64,
    /// Whether all others are older: there is no telling how the last build does.
    pub is_last: bool,
}

/// A series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointHistory {
    /// Which point; empty where there is one.
    pub values: Named<String>,
    /// Its builds, in the order of versions.
    pub builds: Vec<BuildReport>,
    /// Where the level changed by as much as matters; null of a series that is too short.
    pub changes: Option<Vec<Change>>,
    /// The last build against the ones before it, of the same level where levels are known.
    pub last: Option<Last>,
    /// The last of all builds, where it has no run that counts at this point.
    pub lacks: Option<LeftOut>,
    /// The last build is worse than it should be: a recent change for the worse, or outside of
    /// what was expected.
    pub has_regressed: bool,
}

/// A build at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildReport {
    /// The label's value.
    pub build: String,
    /// Its runs.
    pub runs: Vec<String>,
    /// The figure over its runs.
    pub figure: Figure,
    /// The geometric mean of its runs: its place in the series. A time that lost work has made
    /// infinite has none; in JSON it is null.
    pub value: f64,
    /// The mean of it and up to nine before it.
    pub mean_of_ten: f64,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The first build of the new level.
    pub build: String,
    /// Its index in the series.
    pub at: usize,
    /// The level before.
    pub before: f64,
    /// The level from here on.
    pub after: f64,
    /// The new level over the old one.
    pub ratio: f64,
    /// Whether it is for the worse.
    pub is_worse: bool,
    /// The share of random orders of the same figures that can be divided as well.
    pub p: f64,
}

/// The last build of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Last {
    /// The geometric mean of the ones before.
    pub before: f64,
    /// Where it was to be expected, with 99 %.
    pub expected: (f64, f64),
    /// It over the mean before; in JSON null where it is infinite.
    pub ratio: f64,
    /// Whether it lies outside, by as much as matters.
    pub is_outside: bool,
    /// Whether it lies on the worse side.
    pub is_worse: bool,
    /// How much worse than the mean before it had to be to be told, as a share.
    pub seen_from: f64,
    /// Whether that is so much that a last build as expected says nothing.
    pub is_noisy: bool,
}

impl PointHistory {
    /// The last change of level, if it is recent and for the worse.
    pub fn recent_regression(&self) -> Option<&Change> {
        let last = self.changes.iter().flatten().last();
        last.filter(|change| change.is_worse && change.at + RECENT >= self.builds.len())
    }
}

impl HistoryReport {
    /// The history of builds that are given as sides, in whatever order; runs of builds that say
    /// the same as versions stand by their time. `bits` are random and decide nothing but
    /// p-values. A `Err` says in a sentence why there is none.
    pub fn new(
        by: &str,
        builds: &[Side],
        judge: &Judge,
        bits: &mut dyn FnMut() -> u64,
    ) -> Result<HistoryReport, String> {
        let all: Vec<&Report> = builds
            .iter()
            .flat_map(|build| &build.points)
            .flat_map(|point| &point.reports)
            .collect();
        if all.is_empty() {
            return Err(format!("no run with the label {by} counts: none completed and valid"));
        }
        let primary = judge.primary_of(&all);
        let mut points: Vec<&Named<String>> = Vec::new();
        for point in builds.iter().flat_map(|build| &build.points) {
            if !points.contains(&&point.values) {
                points.push(&point.values);
            }
        }
        let mut builds: Vec<&Side> = builds.iter().collect();
        builds.sort_by(|a, b| in_order(&place_of(a), &place_of(b)));
        let history = |values: &Named<String>| {
            let told = told(values, series(&builds, values, &primary), &primary, judge.floor, bits);
            told.map(|point| PointHistory { lacks: lacks(&point, builds.last()), ..point })
        };
        let points: Vec<PointHistory> = points.into_iter().filter_map(history).collect();
        if points.is_empty() {
            return Err(format!("no run with the label {by} has the figure {primary}"));
        }
        Ok(HistoryReport {
            schema: SCHEMA.to_owned(),
            by: by.to_owned(),
            figure: primary,
            floor: judge.floor,
            points,
            left_out: left_out(&builds),
            damaged: Vec::new(),
        })
    }

    /// Whether the last build is worse than it should be at some point, or has no run that counts
    /// although it was tried: everywhere, or at a point that builds before had.
    pub fn has_regressed(&self) -> bool {
        let is_lost = |point: &PointHistory| {
            point.lacks.as_ref().is_some_and(|build| build.runs_not_counted > 0)
        };
        self.points.iter().any(|point| point.has_regressed || is_lost(point))
            || self.left_out.iter().any(|build| build.is_last)
    }
}

/// The builds of which no run counts, of all in their order.
fn left_out(builds: &[&Side]) -> Vec<LeftOut> {
    let lost = builds.iter().enumerate().filter(|(_, build)| build.points.is_empty());
    lost.map(|(index, build)| left_out_of(build, index + 1 == builds.len())).collect()
}

/// The last of all builds, if it has runs that count, and none at a point.
fn lacks(point: &PointHistory, newest: Option<&&Side>) -> Option<LeftOut> {
    let newest = newest.filter(|newest| !newest.points.is_empty())?;
    let is_here = point.builds.last().is_some_and(|build| build.build == newest.name);
    (!is_here).then(|| left_out_of(newest, true))
}

fn left_out_of(build: &Side, is_last: bool) -> LeftOut {
    LeftOut { build: build.name.clone(), runs_not_counted: build.not_counted.len() as u64, is_last }
}

/// A build by its version and the time of its first run.
type Place<'s> = (&'s str, &'s str);

fn in_order(a: &Place<'_>, b: &Place<'_>) -> std::cmp::Ordering {
    libversion::version_compare2(a.0, b.0).then_with(|| a.1.cmp(b.1))
}

fn place_of(build: &Side) -> Place<'_> {
    let all = build.points.iter().flat_map(|point| &point.reports);
    (&build.name, all.map(|report| report.started.as_str()).min().unwrap_or_default())
}

/// The builds that have the figure at a point.
fn series<'s>(
    builds: &[&'s Side],
    values: &Named<String>,
    primary: &str,
) -> Vec<(&'s str, &'s SidePoint, Vec<f64>)> {
    let at = |build: &&'s Side| {
        let point = build.points.iter().find(|point| point.values == *values)?;
        let figures = values_of(&point.reports, primary);
        let is_known = !figures.is_empty() && figures.iter().all(|value| !value.is_nan());
        is_known.then_some((build.name.as_str(), point, figures))
    };
    builds.iter().filter_map(at).collect()
}

fn told(
    values: &Named<String>,
    series: Vec<(&str, &SidePoint, Vec<f64>)>,
    primary: &str,
    floor: f64,
    bits: &mut dyn FnMut() -> u64,
) -> Option<PointHistory> {
    let mut builds: Vec<BuildReport> = Vec::new();
    // Of the builds that have one: index and logarithm.
    let mut finite: Vec<(usize, f64)> = Vec::new();
    for (index, (build, point, figures)) in series.into_iter().enumerate() {
        let sum = figures.iter().map(|value| value.ln()).sum::<f64>();
        let logarithm = sum / figures.len() as f64;
        if logarithm.is_finite() {
            finite.push((index, logarithm));
        }
        let value = logarithm.exp();
        let before = &builds[builds.len().saturating_sub(OF_LAST - 1)..];
        let sum = before.iter().map(|build| build.value).sum::<f64>() + value;
        builds.push(BuildReport {
            build: build.to_owned(),
            runs: point.reports.iter().map(|report| report.run_id.clone()).collect(),
            figure: figure(&figures)?,
            value,
            mean_of_ten: sum / (before.len() + 1) as f64,
        });
    }
    let newest = builds.last()?;
    let change = |found: ChangePoint| {
        let ratio = (found.after - found.before).exp();
        let at = finite[found.at].0;
        Change {
            build: builds[at].build.clone(),
            at,
            before: found.before.exp(),
            after: found.after.exp(),
            ratio,
            is_worse: is_worse(primary, ratio),
            p: found.p,
        }
    };
    let logarithms: Vec<f64> = finite.iter().map(|(_, logarithm)| *logarithm).collect();
    let found = changes_in(&logarithms, SERIES_MAX, bits);
    let since = found.iter().flatten().last().map_or(0, |change| change.at);
    let last = last(newest.value.ln(), &logarithms[since..], primary, floor);
    let changes = found.map(|found| {
        found
            .into_iter()
            .map(change)
            .filter(|change| matters(change.ratio, floor))
            .collect::<Vec<_>>()
    });
    let is_last_worse = last.as_ref().is_some_and(|last| last.is_outside && last.is_worse);
    let values = values.clone();
    let lacks = None;
    let mut point =
        PointHistory { values, builds, changes, last, lacks, has_regressed: is_last_worse };
    point.has_regressed |= point.recent_regression().is_some();
    Some(point)
}

/// The last build, by its logarithm, against those of its level, it among them if it is finite.
/// Up to two right before it that are as strange are not what it is held against: a change of
/// level is found from three builds on.
fn last(newest: f64, level: &[f64], primary: &str, floor: f64) -> Option<Last> {
    let mut before = if newest.is_finite() { level.split_last()?.1 } else { level };
    for _ in 0..2 {
        match before.split_last() {
            Some((one, rest))
                if newcomer(rest, *one, CONFIDENCE).is_some_and(|one| one.is_outside) =>
            {
                before = rest;
            }
            _ => break,
        }
    }
    let known = newcomer(before, newest, CONFIDENCE)?;
    let ratio = (newest - known.before).exp();
    // A rise of times, a fall of rates.
    let worst = if is_time(primary) { known.expected.1 } else { known.expected.0 };
    let seen_from = (worst - known.before).exp_m1().abs().max(floor);
    Some(Last {
        before: known.before.exp(),
        expected: (known.expected.0.exp(), known.expected.1.exp()),
        ratio,
        is_outside: known.is_outside && matters(ratio, floor),
        is_worse: is_worse(primary, ratio),
        seen_from,
        is_noisy: seen_from > NOISY_FROM.max(floor),
    })
}

/// The changes of level in the last `most` figures of a series: what came before is history.
fn changes_in(
    series: &[f64],
    most: usize,
    bits: &mut dyn FnMut() -> u64,
) -> Option<Vec<ChangePoint>> {
    let n_passed = series.len().saturating_sub(most);
    let found = change_points(&series[n_passed..], ERROR, bits).ok()?;
    Some(found.into_iter().map(|one| ChangePoint { at: one.at + n_passed, ..one }).collect())
}

/// Why a series has no levels, in a sentence.
pub fn too_short(n_builds: usize) -> String {
    format!("{n_builds} of the {SERIES_MIN} builds that it takes to find changes of level")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::made;
    use model::{Dice, Stream};

    fn builds(figures: &[(&str, &[f64])]) -> Vec<Side> {
        figures.iter().map(|(name, tps)| made::side(name, &[("8", *tps, 0)])).collect()
    }

    fn history(sides: &[Side]) -> HistoryReport {
        let mut dice = Dice::new(1, Stream::Order, 0);
        let judge = Judge { primary: None, floor: 0.02 };
        HistoryReport::new("build", sides, &judge, &mut || dice.bits()).expect("they have runs")
    }

    #[test]
    fn builds_stand_in_the_order_of_versions() {
        let sides = builds(&[
            ("1.10", &[110.0]),
            ("1.9", &[109.0]),
            ("1.10-rc1", &[108.0]),
            ("1.2", &[100.0, 121.0]),
        ]);
        let told = history(&sides);
        let series = &told.points[0].builds;
        let names: Vec<&str> = series.iter().map(|build| build.build.as_str()).collect();
        assert_eq!(names, ["1.2", "1.9", "1.10-rc1", "1.10"]);
        assert!((series[0].value - 110.0).abs() < 1e-9, "the geometric mean");
        assert!((series[1].mean_of_ten - 109.5).abs() < 1e-9);
    }

    /// Builds `1.0` to `1.n`, from the one at `from` on a tenth slower.
    fn long(n_builds: usize, from: usize) -> Vec<Side> {
        let tps = |n: usize| {
            let level = if n < from { 1000.0 } else { 900.0 };
            level * (1.0 + 0.01 * [0.3, -0.7, 0.9, -0.2, -0.4, 0.6][n % 6])
        };
        let side = |n: usize| made::side(&format!("1.{n}"), &[("8", &[tps(n)], n)]);
        (0..n_builds).map(side).collect()
    }

    #[test]
    fn a_recent_change_for_the_worse_is_a_regression_and_an_old_one_is_not() {
        let told = history(&long(30, 24));
        let changes = told.points[0].changes.as_ref().expect("long enough");
        let [change] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!((change.build.as_str(), change.is_worse), ("1.24", true));
        assert!((change.ratio - 0.9).abs() < 0.01 && told.points[0].has_regressed);
        let old = history(&long(40, 20));
        assert_eq!(old.points[0].changes.as_ref().map(Vec::len), Some(1));
        assert!(!old.points[0].has_regressed);
        assert_eq!(history(&long(30, 30)).points[0].changes, Some(Vec::new()));
    }

    #[test]
    fn levels_of_a_long_series_are_those_of_its_last_builds() {
        let mut dice = Dice::new(1, Stream::Order, 0);
        let level = |n: usize| if (10..50).contains(&n) { 7.0 } else { 6.0 };
        let series: Vec<f64> = (0..60).map(|n| level(n) + 0.01 * (n % 4) as f64).collect();
        let mut at = |most: usize| -> Vec<usize> {
            let found = changes_in(&series, most, &mut || dice.bits()).expect("long enough");
            found.iter().map(|change| change.at).collect()
        };
        assert_eq!(at(60), [10, 50]);
        assert_eq!(at(30), [50]);
    }

    #[test]
    fn the_last_build_of_a_long_series_is_held_against_its_level() {
        // One alone makes no level.
        let point = history(&long(40, 39)).points.swap_remove(0);
        assert_eq!(point.changes.as_deref(), Some(&[][..]));
        assert!(point.has_regressed, "{:?}", point.last);
        // A second one is not held against the first.
        let mut level = vec![7.0, 7.01, 6.99, 7.0, 7.02, 6.98, 5.0, 5.01];
        let last = super::last(5.0, &level, "tps", 0.02).expect("six before");
        assert!(last.is_outside && last.is_worse && (last.before.ln() - 7.0).abs() < 0.01);
        level.truncate(6);
        assert!(super::last(6.98, &level, "tps", 0.02).is_some_and(|last| !last.is_outside));
        let steady = history(&long(40, 40)).points.swap_remove(0);
        assert!(steady.last.is_some_and(|last| !last.is_outside) && !steady.has_regressed);
    }

    #[test]
    fn where_noise_hides_a_tenth_it_is_said_and_else_it_is_not() {
        let last = |spread: f64, figure: &str, floor: f64| {
            let level = [7.0, 7.0 + spread, 7.0 - spread, 7.0, 7.0 + spread, 7.0 - spread, 7.0];
            super::last(7.0, &level, figure, floor).expect("six before")
        };
        let quiet = last(0.01, "tps", 0.01);
        assert!(!quiet.is_noisy && (0.02..0.06).contains(&quiet.seen_from), "{quiet:?}");
        let noisy = last(0.1, "tps", 0.01);
        assert!(noisy.is_noisy && !noisy.is_outside, "{noisy:?}");
        // A rate falls to its lower end, a time rises to its upper one, which is farther.
        assert!((noisy.seen_from - (1.0 - noisy.expected.0 / noisy.before)).abs() < 1e-9);
        assert!(last(0.1, "p99_ms", 0.01).seen_from > noisy.seen_from);
        // What is told from a floor on cannot be seen below it, and nobody asked for it.
        assert_eq!(last(0.01, "tps", 0.2).seen_from, 0.2);
        assert!(!last(0.01, "tps", 0.2).is_noisy);
    }

    #[test]
    fn builds_that_lost_work_or_have_no_run_that_counts_do_not_vanish() {
        let mut sides = long(8, 8);
        for report in &mut sides[7].points[0].reports {
            report.block.offered_ms.p99 = None;
            report.block.offered_ms.infinite = vec!["p99".to_owned()];
        }
        let mut dice = Dice::new(1, Stream::Order, 0);
        let judge = Judge { primary: Some("p99_ms".to_owned()), floor: 0.02 };
        let mut of = |sides: &[Side]| {
            HistoryReport::new("build", sides, &judge, &mut || dice.bits()).expect("runs")
        };
        let told = of(&sides);
        let point = &told.points[0];
        assert!(point.builds.len() == 8 && point.builds[7].value.is_infinite());
        assert!(point.has_regressed && told.has_regressed() && told.left_out.is_empty());
        // Only the last of those that are left out stands in the way.
        sides[7].points.clear();
        sides[7].not_counted = made::lost(5);
        let told = of(&sides);
        assert!(
            told.left_out[0].is_last && told.has_regressed() && told.points[0].builds.len() == 7
        );
        sides.push(made::side("2.0", &[("8", &[1000.0], 9)]));
        let told = of(&sides);
        assert!(!told.left_out[0].is_last && !told.has_regressed());
        // At a point that the last build has lost, too.
        let both: [(&str, &[f64], usize); 2] = [("8", &[1000.0], 9), ("64", &[1000.0], 9)];
        sides.iter_mut().take(7).for_each(|build| *build = made::side(&build.name, &both));
        sides[8].not_counted = made::lost(3);
        let told = of(&sides);
        let lacks: Vec<bool> = told.points.iter().map(|point| point.lacks.is_some()).collect();
        assert_eq!((lacks, told.has_regressed()), (vec![false, true], true));
        sides[8].not_counted = made::lost(0);
        assert!(!of(&sides).has_regressed());
        // A figure that no run has is no series.
        let nopm = Judge { primary: Some("nopm".to_owned()), floor: 0.02 };
        let none = HistoryReport::new("build", &sides, &nopm, &mut || dice.bits());
        assert!(none.expect_err("no new orders").contains("has the figure"));
    }

    #[test]
    fn the_last_build_of_a_short_series_is_held_against_the_ones_before() {
        let told = history(&long(12, 11));
        let point = &told.points[0];
        assert_eq!(point.changes, None);
        let last = point.last.as_ref().expect("eleven before");
        assert!(last.is_outside && point.has_regressed && (last.ratio - 0.9).abs() < 0.02);
        assert!(!history(&long(12, 12)).points[0].has_regressed);
        assert_eq!(history(&long(3, 3)).points[0].last, None);
    }
}
