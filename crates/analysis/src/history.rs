//! A figure over the builds of what is measured: where its level has changed, and the last one.
//!
//! Runs that bear a label are put by its values, in an order. Each point has a series of its own,
//! one figure a build: the geometric mean of its runs. Levels are found on logarithms
//! (`stats::levels`), so that changes are ratios. Another machine or setting begins a series again,
//! and only the last of these is judged. What is judged in all points is judged together: the more
//! points, the clearer a change must be. A pure function of reports. Not here: which runs there are
//! (app), and how it looks (render).

mod elsewhere;
mod environment;
mod judge;
mod order;
mod series;

pub use model::Acknowledged;
use model::Imported;
use serde::{Deserialize, Serialize};
use stats::SERIES_MIN;

use crate::comparison::{
    Difference, Judge, LOST_UNEVEN, NotCounted, Side, lost_words, matters, values_of,
};
use crate::environment::Environment;
use crate::figures::{Direction, Figure, direction, units_in};
use crate::report::{Named, Report};

pub use environment::Start;
pub use judge::SIZE_MOST;
use order::Dated;
pub use order::{Order, Ordered, commits_of};
use series::{Series, follow};

/// The schema of [`HistoryReport`].
pub const SCHEMA: &str = "dbdyno.history/1";
/// The chance that any point has a change of level told where there is none; and the same for a
/// last build that is reported to lie outside.
pub const ERROR: f64 = 0.005;
/// A running mean is of so many builds.
pub(crate) const OF_LAST: usize = 10;
/// Where the last build could be so much worse and still be as expected, that it is so says
/// nothing: a tenth is more than most regressions that people look for. Not below the minimum
/// effect.
const NOISY_FROM: f64 = 0.1;
/// The present level is held against that of so many builds ago.
const RECENT: usize = 10;
/// A change may be placed this many builds from where it came, once more of them are known.
const NEAR: usize = 2;

/// Values that differ by less than this share are equal: their logarithms are rounded.
const ROUNDING: f64 = 1e-9;
/// Labels whose values sentences call by the label's name.
const NOUNS: [&str; 8] =
    ["commit", "date", "day", "kernel", "night", "release", "revision", "version"];
/// What every run has of which the values are versions.
const OF_VERSIONS: [&str; 2] = ["database", "dbdyno"];
/// Builds of a year: one on each working day.
const YEAR: u32 = 250;

/// What is asked of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The label whose values are the builds.
    pub by: String,
    /// The figure, and from where on a change matters.
    pub judge: Judge,
    /// What orders the builds; decided by their names if nothing is said.
    pub order: Option<Order>,
    /// A build that the last one is held against besides.
    pub baseline: Option<String>,
    /// Changes that are no alarms.
    pub acknowledged: Vec<Acknowledged>,
    /// Figures that were measured elsewhere, whose builds are the values of the column `by`.
    pub imported: Vec<Imported>,
}

impl Question {
    /// That of a label, and nothing besides.
    pub fn of(by: impl Into<String>, judge: Judge) -> Question {
        let (acknowledged, imported) = (Vec::new(), Vec::new());
        Question { by: by.into(), judge, order: None, baseline: None, acknowledged, imported }
    }
}

/// The history of a label's values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// The label whose values are the builds.
    pub by: String,
    /// What orders the builds.
    #[serde(default)]
    pub ordered: Ordered,
    /// The figure.
    pub figure: String,
    /// Its unit, by its name, where the name does not tell it.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub units: Named<String>,
    /// The change from which on a change matters, as a share.
    pub min_effect: f64,
    /// How often there are alarms where nothing has changed.
    #[serde(default)]
    pub false_alarms: FalseAlarms,
    /// The build that the last one is held against besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// What its runs measured, on what and when; null where there are none.
    pub scene: Option<Environment>,
    /// Runs that are left out, since they do not have the figure.
    #[serde(default)]
    pub without_figure: u64,
    /// A series for each point.
    pub points: Vec<PointHistory>,
    /// Where the imported series among these come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<ImportedFrom>,
    /// Builds of which no run counts, in the order of the builds.
    pub left_out: Vec<LeftOut>,
    /// Builds that the list of commits does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<String>,
    /// The build that was measured last, if the order ends with another one: it is not judged. It
    /// may be one of `unlisted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_last: Option<String>,
    /// Builds that are still being measured. Their runs that have ended count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<String>,
    /// Runs that are left out, since their reports are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// Where imported series come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedFrom {
    /// What they are called together.
    pub name: String,
    /// Where they were measured, in words; or nothing.
    pub source: String,
}

impl ImportedFrom {
    /// The name, with the source if that is known.
    pub fn with_source(&self) -> String {
        match self.source.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, self.source),
        }
    }
}

/// How often there is an alarm, over all points together, where nothing has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FalseAlarms {
    /// The share of builds with an alarm, at most.
    pub share: f64,
    /// Builds of a year.
    pub builds: u32,
    /// Alarms to be expected in these, at most.
    pub expected: f64,
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
    /// The values that distinguish it from the other series; empty where all are needed.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub told: Named<String>,
    /// Of which imported figures it is; null of our own runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<String>,
    /// Its builds, in their order.
    pub builds: Vec<BuildReport>,
    /// Where a new series begins, on another machine or with other settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Start>,
    /// Where the level changed by as much as matters; null of a series that is too short.
    pub changes: Option<Vec<Change>>,
    /// The present level against that of ten builds ago, where it is worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fall: Option<Fall>,
    /// The last build against the ones before it, of the same level where levels are known.
    pub last: Option<Last>,
    /// The last build against the pinned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Last>,
    /// Whether a simulated database drew the same random numbers for all runs of the present
    /// series, since they have one seed: how much builds vary is not known then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_one_seed: bool,
    /// The last of all builds, where it has no run that counts at this point.
    pub lacks: Option<LeftOut>,
    /// Runs of its last build that do not count, in words, where they are so many that the others
    /// may be the better ones; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lost: String,
    /// Acknowledged changes that its levels do not have: with the builds since then, or with
    /// another figure, they are no more than noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Acknowledged>,
    /// The last build is worse than it should be: a recent change for the worse, or outside of
    /// what was expected; and nobody has acknowledged that.
    pub has_regressed: bool,
}

/// A build at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildReport {
    /// The label's value.
    pub build: String,
    /// Its runs; of an imported series none are known.
    pub runs: Vec<String>,
    /// The figure over its runs.
    pub figure: Figure,
    /// The geometric mean of its runs: its place in the series. A time that lost work has made
    /// infinite has none; in JSON it is null.
    pub value: f64,
    /// The mean of it and up to nine before it, of the same series.
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
    /// The chance of as clear a change where there is none.
    pub p: f64,
    /// What else is different from the build before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Difference>,
    /// Why it is no alarm, where somebody has acknowledged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<String>,
}

/// The present level, which is worse than that of ten builds ago.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fall {
    /// The build whose level it is held against.
    pub since: String,
    /// The level there.
    pub before: f64,
    /// The present one.
    pub now: f64,
    /// It over the one before.
    pub ratio: f64,
    /// The chance that two levels lie as far apart if they are one.
    pub p: f64,
}

/// The last build of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Last {
    /// The geometric mean of the ones before, or the pinned build's.
    pub before: f64,
    /// Where it was to be expected, all points together, with 99.5 %.
    pub expected: (f64, f64),
    /// It over the mean before; in JSON null where it is infinite.
    pub ratio: f64,
    /// Whether it lies outside, by as much as matters.
    pub is_outside: bool,
    /// Whether it lies on the worse side.
    pub is_worse: bool,
    /// How much worse than the mean before it had to be to be reported, as a share.
    pub seen_from: f64,
    /// Whether that is so much that a last build as expected says nothing.
    pub is_noisy: bool,
    /// Whether it is held against the level before its own, of which too few builds are known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_former_level: bool,
    /// The build from which on figures vary more than before, where it is held against these alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies_more_since: Option<String>,
    /// Why it is no alarm, where somebody has acknowledged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<String>,
}

impl PointHistory {
    /// Which series it is, as people read it; empty where there is one of our own.
    pub fn name(&self) -> String {
        let values = if self.told.is_empty() { &self.values } else { &self.told };
        let set = values.0.iter().filter(|(_, value)| value != "none");
        let values = Named(set.cloned().collect()).pairs(" ");
        match &self.imported {
            None => values,
            Some(name) => format!("{values} (imported: {name})").trim_start().to_owned(),
        }
    }

    /// The index of the last build, if it lies outside of what was expected.
    fn last_outside(&self) -> Option<usize> {
        let is_outside = self.last.as_ref().is_some_and(|last| last.is_outside);
        if is_outside { self.builds.len().checked_sub(1) } else { None }
    }
}

impl Last {
    /// Where it was to be expected; none where those before are all equal, which says nothing of
    /// how much they vary.
    pub fn expected(&self) -> Option<(f64, f64)> {
        let (low, high) = self.expected;
        let is_known = high - low > self.before.abs() * ROUNDING;
        is_known.then_some((low, high))
    }

    /// Whether it is what it is held against, but for rounding.
    pub fn is_equal(&self) -> bool {
        (self.ratio - 1.0).abs() <= ROUNDING
    }

    fn is_alarm(&self) -> bool {
        self.is_outside && self.is_worse && self.acknowledged.is_none()
    }
}

impl HistoryReport {
    /// The history of builds that are given as sides, in whatever order, and of imported figures,
    /// which are judged apart. `bits` are random and decide nothing but p-values. A `Err` says in
    /// a sentence why there is none.
    pub fn new(
        question: &Question,
        builds: &[Side],
        bits: &mut dyn FnMut() -> u64,
    ) -> Result<HistoryReport, String> {
        let by = &question.by;
        let reports = || builds.iter().flat_map(|b| &b.points).flat_map(|point| &point.reports);
        let all: Vec<&Report> = reports().collect();
        if all.is_empty() && question.imported.is_empty() {
            return Err(format!("no run with the label {by} counts: none completed and valid"));
        }
        let primary = primary(question, &all)?;
        if direction(&primary) == Direction::Neither {
            return Err(format!(
                "{primary} has no better direction: a history needs a figure that has one"
            ));
        }
        let own = Part::of_runs(question, builds, &primary, bits)?;
        let parts: Vec<Part> = question
            .imported
            .iter()
            .map(|imported| Part::of_imported(question, imported, &primary, all.is_empty(), bits))
            .collect::<Result<_, String>>()?;
        let parts: Vec<Part> = own.into_iter().chain(parts).collect();
        let n_judged = if question.baseline.is_some() { 3.0 } else { 2.0 };
        let share = n_judged * ERROR * parts.len() as f64;
        let mut units = units_in(std::iter::once(primary.as_str()), all.iter().copied());
        if units.is_empty() {
            let mut values = question.imported.iter().flat_map(|imported| &imported.values);
            let of = values.find(|value| value.figure == primary && !value.unit.is_empty());
            of.into_iter().for_each(|value| units.push(&primary, value.unit.clone()));
        }
        let from =
            |of: &Imported| ImportedFrom { name: of.name.clone(), source: of.source.clone() };
        let ordered = parts.first().map_or(Ordered::default(), |part| part.ordered);
        let measured_last = parts.first().and_then(|part| part.measured_last.clone());
        let mut points = Vec::new();
        let (mut left_out, mut unlisted) = (Vec::new(), Vec::new());
        for part in parts {
            points.extend(part.points);
            left_out.extend(part.left_out);
            unlisted.extend(part.unlisted);
        }
        Ok(HistoryReport {
            schema: SCHEMA.to_owned(),
            by: by.clone(),
            ordered,
            units,
            min_effect: question.judge.min_effect,
            false_alarms: FalseAlarms { share, builds: YEAR, expected: share * f64::from(YEAR) },
            baseline: question.baseline.clone(),
            without_figure: all.iter().copied().filter(has_none(&primary)).count() as u64,
            scene: (!all.is_empty()).then(|| Environment::of(&all)),
            figure: primary,
            points,
            imported: question.imported.iter().map(from).collect(),
            left_out,
            unlisted,
            measured_last,
            running: Vec::new(),
            damaged: Vec::new(),
        })
    }

    /// Whether the last build is worse than it should be at some point, or has no run that counts
    /// although it was tried: everywhere, or at a point that builds before had.
    pub fn has_regressed(&self) -> bool {
        !self.regressions().is_empty()
    }

    /// The regressions in words: which build is worse or has no valid run, and at which point. A
    /// point without a run of the last build is not judged.
    pub fn regressions(&self) -> Vec<String> {
        let of_point = |point: &PointHistory| {
            let at = match point.name() {
                name if name.is_empty() => name,
                name => format!(" at {name}"),
            };
            match &point.lacks {
                Some(last) if last.runs_not_counted > 0 => {
                    Some(format!("{} has no valid run{at}", last.build))
                }
                Some(_) => None,
                None => {
                    let last = point.builds.last().filter(|_| point.has_regressed)?;
                    Some(format!("{} is worse{at}", last.build))
                }
            }
        };
        let lost = self.left_out.iter().filter(|build| build.is_last);
        let lost = lost.map(|last| format!("{} has no valid run", last.build));
        lost.chain(self.points.iter().filter_map(of_point)).collect()
    }

    /// Of how many points nobody can say whether their last build is worse: too few builds before
    /// it, or too much noise. A point that the last build does not have is not among them.
    pub fn n_undecided(&self) -> usize {
        let is_undecided = |point: &&PointHistory| {
            let is_own = point.imported.is_none() && point.lacks.is_none();
            let last = point.last.as_ref();
            let is_open = last.is_none_or(|of| of.is_noisy && !of.is_outside);
            is_own && !point.has_regressed && (is_open || !point.lost.is_empty())
        };
        self.points.iter().filter(is_undecided).count()
    }

    /// The build that is still being measured, where it is the last one or a new one: nobody can
    /// say yet whether it is worse.
    pub fn measured_now(&self) -> Option<&str> {
        let of_runs = || self.points.iter().filter(|point| point.imported.is_none());
        let is_older = |build: &&String| {
            let builds = of_runs().flat_map(|point| point.builds.split_last());
            builds.flat_map(|(_, older)| older).any(|older| older.build == **build)
        };
        self.running.iter().rfind(|build| !is_older(build)).map(String::as_str)
    }

    /// The points as they are written, such as `clients=8`; an empty one where there is one.
    pub fn point_names(&self) -> Vec<String> {
        self.points.iter().map(|point| point.values.pairs(" ")).collect()
    }

    /// The builds with a change at a point, or at any if that is empty: those where a level begins,
    /// and the last one if it lies outside of what was expected.
    pub fn changed<'h>(&'h self, point: &'h str) -> Vec<&'h str> {
        let all = self.points_at(point).flat_map(|point| {
            let begun = point.changes.iter().flatten().map(|change| change.build.as_str());
            let newest = point.last_outside().map(|at| point.builds[at].build.as_str());
            begun.chain(newest)
        });
        let mut changed: Vec<&str> = Vec::new();
        for build in all {
            if !changed.contains(&build) {
                changed.push(build);
            }
        }
        changed
    }

    /// The change at a build, or so near to it that it is the one that is meant: the build where it
    /// begins, and its size, the logarithm of its ratio without sign. The nearest of all points.
    pub fn change_at(&self, build: &str, point: &str) -> Option<(String, f64)> {
        let of_point = |point: &PointHistory| {
            let at = point.builds.iter().position(|known| known.build == build)?;
            let last = point.last_outside().zip(point.last.as_ref());
            let last = last.map(|(index, last)| (index, last.ratio));
            let begun = point.changes.iter().flatten().map(|change| (change.at, change.ratio));
            let near = begun.chain(last).filter(|(index, _)| index.abs_diff(at) <= NEAR);
            let (index, ratio) = near.min_by_key(|(index, _)| index.abs_diff(at))?;
            Some((index.abs_diff(at), point.builds[index].build.clone(), ratio.ln().abs()))
        };
        let nearest = self.points_at(point).filter_map(of_point).min_by_key(|(far, ..)| *far);
        nearest.map(|(_, build, size)| (build, size))
    }

    fn points_at<'h>(&'h self, point: &'h str) -> impl Iterator<Item = &'h PointHistory> {
        let is_here = move |one: &&PointHistory| point.is_empty() || one.values.pairs(" ") == point;
        self.points.iter().filter(is_here)
    }

    /// What sentences call its builds.
    pub fn noun(&self) -> &'static str {
        noun_of(&self.by)
    }

    /// With which chance the last build lies where it was to be expected, as a share.
    pub fn confidence(&self) -> f64 {
        1.0 - ERROR
    }
}

/// What sentences call the values of a label: builds, unless its name is a noun for them.
pub fn noun_of(label: &str) -> &'static str {
    match NOUNS.iter().find(|noun| **noun == label) {
        Some(noun) => noun,
        None if OF_VERSIONS.contains(&label) => "version",
        None => "build",
    }
}

/// The figure that is judged: of runs, if there are any that have it, else of imported figures.
fn primary(question: &Question, runs: &[&Report]) -> Result<String, String> {
    let of_imported = elsewhere::primary(question);
    match (runs.is_empty(), of_imported) {
        (true, Some(name)) => Ok(name),
        (true, None) => {
            let all = question.imported.iter().flat_map(Imported::figures);
            let asked = question.judge.primary.as_deref().unwrap_or_default();
            let all = all.collect::<Vec<&str>>().join(", ");
            Err(format!("no imported figure is called {asked}: choose one of {all}"))
        }
        (false, of_imported) => {
            let of_runs = question.judge.primary_of(runs).map(|name| {
                // Unless it is asked for, it is one that no run is left out for.
                let is_own = question.judge.primary.is_none() && runs.iter().any(has_none(&name));
                if is_own && !runs.iter().any(has_none("tps")) { "tps".to_owned() } else { name }
            });
            of_runs.or_else(|why| of_imported.ok_or(why))
        }
    }
}

/// Which runs do not have a figure.
fn has_none(name: &str) -> impl Fn(&&Report) -> bool {
    move |run| values_of(std::slice::from_ref(*run), name).is_empty()
}

/// The series of our runs, or of one file of imported figures: what is judged together.
struct Part {
    points: Vec<PointHistory>,
    ordered: Ordered,
    left_out: Vec<LeftOut>,
    unlisted: Vec<String>,
    measured_last: Option<String>,
}

impl Part {
    /// Of our runs; none where there are only imported figures.
    fn of_runs(
        question: &Question,
        builds: &[Side],
        primary: &str,
        bits: &mut dyn FnMut() -> u64,
    ) -> Result<Option<Part>, String> {
        if builds.is_empty() {
            return Ok(None);
        }
        let by = &question.by;
        let found = order::in_order(builds, question.order.as_ref());
        is_any_listed(&found)?;
        is_build(question, &found)?;
        let mut points: Vec<&Named<String>> = Vec::new();
        for point in builds.iter().flat_map(|build| &build.points) {
            if !points.contains(&&point.values) {
                points.push(&point.values);
            }
        }
        let all = points.iter().filter_map(|values| Series::of(values, &found.builds, primary));
        let mut all: Vec<Series<'_>> = all.collect();
        if all.is_empty() && question.imported.is_empty() {
            return Err(format!("no run with the label {by} has the figure {primary}"));
        }
        follow(&mut all, &found.builds);
        let mut points = judge::judged(all, question, primary, bits);
        tell_apart(&mut points);
        Ok(Some(Part {
            points,
            ordered: found.ordered,
            left_out: left_out(&found.builds),
            unlisted: found.unlisted,
            measured_last: found.measured_last,
        }))
    }

    /// Of imported figures: what is pinned or acknowledged is so of our runs, unless there are
    /// none.
    fn of_imported(
        question: &Question,
        imported: &Imported,
        primary: &str,
        is_alone: bool,
        bits: &mut dyn FnMut() -> u64,
    ) -> Result<Part, String> {
        let question = match is_alone {
            true => question.clone(),
            false => Question { baseline: None, ..question.clone() },
        };
        let question = Question { acknowledged: Vec::new(), ..question };
        let builds = elsewhere::builds(imported, &question.by, primary)?;
        let found = order::in_order(&builds, question.order.as_ref());
        is_any_listed(&found)?;
        is_build(&question, &found)?;
        let points = elsewhere::points(imported, &question.by, &found.builds);
        let all = elsewhere::series(imported, &question.by, &found.builds, &points);
        let points = judge::judged(all, &question, primary, bits).into_iter();
        let name = |point| PointHistory { imported: Some(imported.name.clone()), ..point };
        Ok(Part {
            points: points.map(name).collect(),
            ordered: found.ordered,
            left_out: Vec::new(),
            unlisted: found.unlisted,
            measured_last: found.measured_last,
        })
    }
}

/// What the name of a series begins with, also where it is the same in all of them.
const WORKLOAD: &str = "workload";

/// Names series by as few values as distinguish them: in the order of their values, each that
/// distinguishes some which are the same in those before it.
fn tell_apart(points: &mut [PointHistory]) {
    let Some(first) = points.first() else { return };
    let axes: Vec<String> = first.values.0.iter().map(|(axis, _)| axis.clone()).collect();
    let mut told: Vec<String> = Vec::new();
    for axis in axes {
        let same = |a: &PointHistory, b: &PointHistory| {
            told.iter().all(|name| a.values.get(name) == b.values.get(name))
        };
        let differs = |a: &PointHistory, b: &PointHistory| {
            same(a, b) && a.values.get(&axis) != b.values.get(&axis)
        };
        let mut pairs = (0..points.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        if axis == WORKLOAD || pairs.any(|(a, b)| differs(&points[a], &points[b])) {
            told.push(axis);
        }
    }
    for point in points {
        let is_told = |(axis, _): &&(String, String)| told.contains(axis);
        point.told = Named(point.values.0.iter().filter(is_told).cloned().collect());
    }
}

/// Refuses a list of commits that has none of the builds.
fn is_any_listed<B>(found: &order::InOrder<'_, B>) -> Result<(), String> {
    match found.builds.is_empty() {
        true => Err(format!(
            "the list of commits has none of the builds, such as {}: create it with 'git log \
             --reverse --format=%H'",
            found.unlisted.first().map_or("", String::as_str)
        )),
        false => Ok(()),
    }
}

/// Refuses builds by name that there are not.
fn is_build<B: Dated>(question: &Question, found: &order::InOrder<'_, B>) -> Result<(), String> {
    let Some(name) = &question.baseline else { return Ok(()) };
    if found.builds.iter().any(|build| build.name() == *name) {
        return Ok(());
    }
    let (by, last) = (&question.by, found.builds.last().map_or("", |build| build.name()));
    Err(match found.unlisted.contains(name) {
        true => format!(
            "the baseline {name} is not among these commits: list it too, or compare with one of \
             them (--baseline {last})"
        ),
        false => format!("no run has the label {by}={name}: name a build such as {last}"),
    })
}

/// The builds of which no run counts, of all in their order.
fn left_out(builds: &[&Side]) -> Vec<LeftOut> {
    let lost = builds.iter().enumerate().filter(|(_, build)| build.points.is_empty());
    lost.map(|(index, build)| left_out_of(build, index + 1 == builds.len())).collect()
}

/// The last of all builds, if it has runs that count, and none at a point.
fn lacks(last_here: &str, newest: Option<&&Side>) -> Option<LeftOut> {
    let newest = newest.filter(|newest| !newest.points.is_empty())?;
    (last_here != newest.name).then(|| left_out_of(newest, true))
}

/// How many runs of a build do not count at a point, and why, where these are more than a quarter;
/// empty otherwise.
fn lost(build: &Side, values: &Named<String>) -> String {
    let is_here = |run: &&NotCounted| run.values.as_ref().is_none_or(|at| at == values);
    let lost: Vec<NotCounted> = build.not_counted.iter().filter(is_here).cloned().collect();
    let here = build.points.iter().find(|point| point.values == *values);
    let n_counted = here.map_or(0, |point| point.reports.len());
    match lost.len() as f64 > LOST_UNEVEN * (lost.len() + n_counted) as f64 {
        true => lost_words(&build.name, &lost, n_counted).unwrap_or_default(),
        false => String::new(),
    }
}

fn left_out_of(build: &Side, is_last: bool) -> LeftOut {
    LeftOut { build: build.name.clone(), runs_not_counted: build.not_counted.len() as u64, is_last }
}

/// Why a series has no levels, in a sentence; builds are called by the noun.
pub fn too_short(n_builds: usize, noun: &str) -> String {
    format!("{n_builds} of the {SERIES_MIN} {noun}s needed to find changes of level")
}

#[cfg(test)]
mod tests;
