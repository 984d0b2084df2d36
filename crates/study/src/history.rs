//! History of a figure over the builds of a database: the changes of its level, and a judgement of
//! the last build.
//!
//! A build is all runs with one value of a label; builds have an order. Each point has its own
//! series with one value per build, the geometric mean of its runs. Levels are found on logarithms
//! (`stats::levels`), so that changes are ratios. Another machine or setting begins a new series,
//! and only the last series of a point is judged. All points are judged together: the more points,
//! the clearer a change has to be. Everything is a pure function of reports. Not here: the choice
//! of runs (app), and pages (render).

mod elsewhere;
mod environment;
mod judge;
mod order;
mod regressions;
mod run;
mod series;

use analysis::figures::{Figure, direction_in, units_in};
use analysis::report::{Named, Report};
pub use model::Acknowledged;
use model::Imported;
use serde::{Deserialize, Serialize};
use stats::SERIES_MIN;

use crate::comparison::{
    Difference, Judge, LOST_UNEVEN, NotCounted, Side, lost_words, matters, whys_in_words,
};
use crate::environment::Environment;
use model::Direction;

pub use environment::Start;
pub use judge::{JUDGED_FROM, SIZE_MOST};
use order::Dated;
pub use order::{Order, Ordered, commits_of};
pub use run::{HistoryRun, figures_of, setup_of};
use run::{likes, scene_of};
use series::{Series, follow};

/// Name and version of the JSON schema of [`HistoryReport`].
pub const SCHEMA: &str = "dbdyno.history/1";
/// Error rate of a history: the probability, over all points, that a change of level is reported
/// where there is none, and that an unchanged last build is reported outside of its expected range.
pub const ERROR: f64 = 0.005;
/// Largest number of builds in a running mean: the current build and up to nine before it.
pub(crate) const OF_LAST: usize = 10;
/// Smallest detectable deterioration, as a share, from which on the series of a history counts as
/// noisy: most regressions are smaller, so that a last build within its expected range shows
/// nothing. If the minimum effect is larger, it is used instead.
const NOISY_FROM: f64 = 0.1;
/// Number of builds between the present level of a figure and the earlier level with which it is
/// compared, to find a slow fall.
const RECENT: usize = 10;
/// Largest distance, in builds, between a change of level and the build at which the user
/// acknowledged it. As more builds are measured, the change may be found at another build.
const NEAR: usize = 2;

/// Relative difference below which two values count as equal, because of rounded logarithms.
const ROUNDING: f64 = 1e-9;
/// Names of labels that sentences use as nouns for a build, such as `release` in `the last
/// release`.
const NOUNS: [&str; 8] =
    ["commit", "date", "day", "kernel", "night", "release", "revision", "version"];
/// Labels that every run has and whose values are versions.
const OF_VERSIONS: [&str; 2] = ["database", "dbdyno"];
/// Number of builds in a year for the rate of false alarms: one per working day.
const YEAR: u32 = 250;

/// The options with which a user requests a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Name of the run label whose values are the builds.
    pub by: String,
    /// The figure to judge, and the minimum effect.
    pub judge: Judge,
    /// The order of the builds; `None` to derive it from their names.
    pub order: Option<Order>,
    /// A pinned build, with which the last build is compared in addition to the builds before it;
    /// `None` if there is none.
    pub baseline: Option<String>,
    /// Changes of level that the user has acknowledged as accepted. They raise no alarm.
    pub acknowledged: Vec<Acknowledged>,
    /// Figures from imported files, each with a column named `by` that has the builds.
    pub imported: Vec<Imported>,
}

impl Question {
    /// Creates a request for the history of the figure in `judge` over the values of the label
    /// `by`, without a given order, baseline, acknowledgements or imported figures.
    pub fn new(by: impl Into<String>, judge: Judge) -> Question {
        let (acknowledged, imported) = (Vec::new(), Vec::new());
        Question { by: by.into(), judge, order: None, baseline: None, acknowledged, imported }
    }
}

/// The history of a figure over builds of a database, which are the values of one label of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryReport {
    /// Name of the schema, [`SCHEMA`].
    pub schema: String,
    /// Name of the run label whose values are the builds, such as `build`.
    pub by: String,
    /// Order of the builds in every series, such as by version or by time.
    #[serde(default)]
    pub ordered: Ordered,
    pub figure: String,
    /// Direction in which the figure improves: higher or lower.
    #[serde(default)]
    pub better: Direction,
    /// Unit of the figure, by its name; empty if the name states the unit, as `p99_ms` does.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub units: Named<String>,
    /// The minimum effect, as a share: smaller changes do not matter.
    pub min_effect: f64,
    /// Expected frequency of false alarms of this history, over all of its points together.
    #[serde(default)]
    pub false_alarms: FalseAlarms,
    /// The pinned build, with which the last build is compared in addition to the builds before it;
    /// null if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Workloads, databases, loads and machines of the runs; null if there are no runs.
    pub scene: Option<Environment>,
    /// Number of runs that are left out because they lack the figure.
    #[serde(default)]
    pub without_figure: u64,
    /// Series of the figure over the builds: one for each point (combination of varied parameters)
    /// of the runs, and for each point of the imported figures.
    pub points: Vec<PointHistory>,
    /// Names and sources of the series that were imported from files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<ImportedFrom>,
    /// Builds without a valid run, in the order of the builds.
    pub left_out: Vec<LeftOut>,
    /// Builds that are left out because the user ordered the builds by a list of commits that lacks
    /// them; empty for other orders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<String>,
    /// The build that was measured last, if another build is last in the order and is judged
    /// instead; null otherwise. It may be one of `unlisted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_last: Option<String>,
    /// Builds with runs or experiments in progress. Their completed runs count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<String>,
    /// Ids of the runs that are left out because their stored reports are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// Name and source of series that were imported from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedFrom {
    /// Name of the file's set of results, which all of its series share.
    pub name: String,
    /// Origin of the figures in words; may be empty.
    pub source: String,
}

impl ImportedFrom {
    /// Returns the name, followed by the source if it is known.
    pub fn with_source(&self) -> String {
        match self.source.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, self.source),
        }
    }
}

/// Expected frequency of false alarms, over all points of a history together, if no build changes
/// anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FalseAlarms {
    /// Upper bound of the share of builds that raise a false alarm, from 0 to 1.
    pub share: f64,
    /// Number of builds per year that is assumed for `expected`.
    pub builds: u32,
    /// Upper bound of the expected number of false alarms per year.
    pub expected: f64,
}

/// A build without a valid run, which a history leaves out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    pub build: String,
    /// Number of runs that are damaged, did not complete, or are invalid.
    pub runs_not_counted: u64,
    /// True if this build is the last one in the order of builds. The last build can then not be
    /// judged.
    pub is_last: bool,
    /// Reasons why the build's runs do not count, such as `failed, overloaded (3)`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl LeftOut {
    /// Returns the reasons of `why` in brackets for a sentence, such as
    /// ` (failed, overloaded (3))`; empty if they are not known.
    fn because(&self) -> String {
        if self.why.is_empty() { String::new() } else { format!(" ({})", self.why) }
    }
}

/// Label whose values are the builds, unless the user names another one by `--by`.
const BUILD: &str = "build";

/// The series of a figure over builds at one point (combination of varied parameters).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointHistory {
    /// Values of the varied parameters at the point, by parameter; empty if there is only one
    /// point.
    pub values: Named<String>,
    /// Values of the fewest varied parameters that distinguish the series from all others.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub told: Named<String>,
    /// Name of the imported figures; null for a series of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<String>,
    /// The builds of the series, in order.
    pub builds: Vec<BuildReport>,
    /// Builds at which the machine or settings changed, so that a new series begins there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Start>,
    /// Changes of level: builds from which on the figure stays higher or lower, by more than the
    /// minimum effect. Null if the series is too short.
    pub changes: Option<Vec<Change>>,
    /// A slow deterioration over the last ten builds; null if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fall: Option<Fall>,
    /// Comparison of the last build with the builds before it at the same level; null if these are
    /// too few.
    pub last: Option<Last>,
    /// Comparison of the last build with the pinned build; null if none is pinned, the series lacks
    /// it, or too few builds show how much builds vary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Last>,
    /// True if a simulated database drew the same random numbers for all runs of the present
    /// series, because they have the same seed. Then the variation between builds is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_one_seed: bool,
    /// The last build of the history, if it has no valid run at this point but has one at another
    /// point; null otherwise.
    pub lacks: Option<LeftOut>,
    /// Description of invalid runs of the last build, if they are so many that its valid runs may
    /// be a biased sample; otherwise empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lost: String,
    /// Acknowledgements of changes that cannot be seen in the series. With later builds, or for
    /// another figure, such a change may be no more than noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Acknowledged>,
    /// True if the last build is worse, and the user has not accepted that. The build is worse if
    /// it ends a slow fall, or if its figure is outside of the expected range or of the range
    /// around the pinned build.
    pub has_regressed: bool,
}

/// A build in a series of a history, with its runs and the value of the figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildReport {
    pub build: String,
    /// Ids of the build's runs; empty for an imported series.
    pub runs: Vec<String>,
    /// Mean and error of the figure over the build's runs.
    pub figure: Figure,
    /// Geometric mean of the figure over the build's runs; null in JSON if lost transactions make
    /// it infinite.
    pub value: f64,
    /// Mean of `value` over this build and up to nine builds before it in the same series.
    pub mean_of_ten: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Name of the first build at the new level of the figure.
    pub build: String,
    /// Position in the series of the first build at the new level, from 0.
    pub at: usize,
    pub before: f64,
    /// Level of the figure from this build on, in the unit of the figure.
    pub after: f64,
    /// The new level of the figure divided by the old one.
    pub ratio: f64,
    /// True if the new level is worse than the old one.
    pub is_worse: bool,
    /// p-value of the hypothesis that the level did not change.
    pub p: f64,
    /// Settings, facts and plan values in which the build differs from the one before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Difference>,
    /// Reason for which the user has accepted the change; null if not acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<String>,
}

/// A slow fall: the present level is worse than the level of ten builds ago.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fall {
    /// Name of the earlier build whose level is compared with the present one.
    pub since: String,
    /// Level of the figure at the earlier build, in the unit of the figure.
    pub before: f64,
    pub now: f64,
    /// The present level of the figure divided by the earlier one.
    pub ratio: f64,
    /// p-value of the hypothesis that both levels are the same.
    pub p: f64,
}

/// Comparison of the last build of a series with earlier builds or with a pinned one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Last {
    /// Geometric mean of the figure over the earlier builds, or the value of the pinned build.
    pub before: f64,
    /// Range in which the last build was expected, with a confidence of 99.5 % over all points
    /// together.
    pub expected: (f64, f64),
    /// The last build's figure divided by `before`; null in JSON if it is infinite.
    pub ratio: f64,
    /// True if the last build is outside of the expected range by more than the minimum effect.
    pub is_outside: bool,
    /// True if the last build is worse than `before`, in or out of the expected range.
    pub is_worse: bool,
    /// Smallest deterioration of the last build that would be reported, as a share such as 0.05.
    pub seen_from: f64,
    /// True if `seen_from` is so large that a last build within the expected range proves nothing.
    pub is_noisy: bool,
    /// True if the last build is compared with the level before its own, because its own level has
    /// too few builds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_former_level: bool,
    /// First of the builds with which the last one is compared, if earlier builds of the level are
    /// left out because the later ones vary more; null otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies_more_since: Option<String>,
    /// The acknowledged build that begins the level with which the last build is compared, if the
    /// level has too few builds to be found without the acknowledgement; null otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_since: Option<String>,
    /// Reason for which the user has accepted the last build's change; null if not acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<String>,
}

impl PointHistory {
    /// Returns the parameter values that distinguish the series from the others, such as
    /// `clients=8`, and the name of imported figures; empty if it is the only series and not
    /// imported.
    pub fn name(&self) -> String {
        let values = if self.told.is_empty() { &self.values } else { &self.told };
        let set = values.0.iter().filter(|(_, value)| value != "none");
        let values = Named(set.cloned().collect()).pairs(" ");
        match &self.imported {
            None => values,
            Some(name) => format!("{values} (imported: {name})").trim_start().to_owned(),
        }
    }

    /// Returns the index of the last build if it is outside of its expected range, otherwise
    /// `None`.
    fn last_outside(&self) -> Option<usize> {
        let is_outside = self.last.as_ref().is_some_and(|last| last.is_outside);
        if is_outside { self.builds.len().checked_sub(1) } else { None }
    }
}

impl Last {
    /// Returns the expected range of the last build; `None` if all earlier builds are equal, so
    /// that their variation is not known.
    pub fn expected(&self) -> Option<(f64, f64)> {
        let (low, high) = self.expected;
        let is_known = high - low > self.before.abs() * ROUNDING;
        is_known.then_some((low, high))
    }

    /// Returns true if the last build's figure is equal to `before`, except for rounding.
    pub fn is_equal(&self) -> bool {
        (self.ratio - 1.0).abs() <= ROUNDING
    }

    fn is_alarm(&self) -> bool {
        self.is_outside && self.is_worse && self.acknowledged.is_none()
    }
}

impl HistoryReport {
    /// Creates the history of a figure over builds, given in any order, and over imported figures,
    /// which are judged separately. `bits` returns random numbers, for p-values. Returns an error
    /// if there is no valid run, the figure is unknown or neither of its directions is better, or a
    /// requested build or commit does not exist.
    pub fn new<R: HistoryRun>(
        question: &Question,
        builds: &[Side<R>],
        bits: &mut dyn FnMut() -> u64,
    ) -> Result<HistoryReport, String> {
        let by = &question.by;
        let runs = builds.iter().flat_map(|b| &b.points).flat_map(|point| &point.reports);
        let runs: Vec<&dyn HistoryRun> = runs.map(|run| run as &dyn HistoryRun).collect();
        let all = likes(&runs);
        if all.is_empty() && question.imported.is_empty() {
            return Err(format!("no run with the label {by} counts: none completed and valid"));
        }
        let primary = primary(question, &all, &runs)?;
        let better = direction_in(&primary, all.iter().copied());
        if better == Direction::Neither {
            return Err(format!(
                "{primary} has no better direction: a history needs a figure that has one"
            ));
        }
        let own = Part::of_runs(question, builds, (&primary, better), bits)?;
        let parts: Vec<Part> = question
            .imported
            .iter()
            .map(|imported| {
                let figure = (primary.as_str(), better);
                Part::of_imported(question, imported, figure, all.is_empty(), bits)
            })
            .collect::<Result<_, String>>()?;
        let parts: Vec<Part> = own.into_iter().chain(parts).collect();
        let n_judged = if question.baseline.is_some() { 3.0 } else { 2.0 };
        let share = n_judged * ERROR * parts.len() as f64;
        let mut units = units_in(std::iter::once(primary.as_str()), all.iter().copied());
        if units.is_empty() {
            let mut values = question.imported.iter().flat_map(|imported| &imported.values);
            let with_unit = values.find(|value| value.figure == primary && !value.unit.is_empty());
            with_unit.into_iter().for_each(|value| units.push(&primary, value.unit.clone()));
        }
        let from =
            |one: &Imported| ImportedFrom { name: one.name.clone(), source: one.source.clone() };
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
            without_figure: runs.iter().copied().filter(has_none(&primary)).count() as u64,
            scene: (!all.is_empty()).then(|| scene_of(&all, &runs)),
            figure: primary,
            better,
            points,
            imported: question.imported.iter().map(from).collect(),
            left_out,
            unlisted,
            measured_last,
            running: Vec::new(),
            damaged: Vec::new(),
        })
    }

    /// Returns the number of points at which the last build cannot be judged, because of too few
    /// builds before it, too much noise, or many invalid runs. Imported series and points without
    /// the last build do not count.
    pub fn n_undecided(&self) -> usize {
        let is_undecided = |point: &&PointHistory| {
            let is_own = point.imported.is_none() && point.lacks.is_none();
            let last = point.last.as_ref();
            let is_open = last.is_none_or(|judged| judged.is_noisy && !judged.is_outside);
            is_own && !point.has_regressed && (is_open || !point.lost.is_empty())
        };
        self.points.iter().filter(is_undecided).count()
    }

    /// Returns the last build whose measurement is in progress, so that it cannot be judged yet;
    /// `None` if all builds in progress are older than the last build of a series.
    pub fn measured_now(&self) -> Option<&str> {
        let of_runs = || self.points.iter().filter(|point| point.imported.is_none());
        let is_older = |build: &&String| {
            let builds = of_runs().flat_map(|point| point.builds.split_last());
            builds.flat_map(|(_, older)| older).any(|older| older.build == **build)
        };
        self.running.iter().rfind(|build| !is_older(build)).map(String::as_str)
    }

    /// Returns the name of each point as users write it, such as `clients=8`; empty for a point
    /// without values.
    pub fn point_names(&self) -> Vec<String> {
        self.points.iter().map(|point| point.values.pairs(" ")).collect()
    }

    /// Returns the changed builds of a point, or of all points if `point` is empty: the first build
    /// of each new level, and the last build if it is outside of its expected range.
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

    /// Returns the change of level that is nearest to `build`, at most two builds away, over all
    /// points or at the one named `point`: the first build of the new level, and the absolute
    /// logarithm of the ratio of the levels. `None` if there is none.
    pub fn change_at(&self, build: &str, point: &str) -> Option<(String, f64)> {
        let of_point = |point: &PointHistory| {
            let at = point.builds.iter().position(|known| known.build == build)?;
            let last = point.last_outside().zip(point.last.as_ref());
            let last = last.map(|(index, last)| (index, last.ratio));
            let begun = point.changes.iter().flatten().map(|change| (change.at, change.ratio));
            let is_near = |(index, _): &(usize, f64)| index.abs_diff(at) <= NEAR;
            // A last build outside its interval is usually part of a change just before it.
            let begun = begun.filter(is_near).min_by_key(|(index, _)| index.abs_diff(at));
            let (index, ratio) = begun.or(last.filter(is_near))?;
            Some((index.abs_diff(at), point.builds[index].build.clone(), ratio.ln().abs()))
        };
        let nearest = self.points_at(point).filter_map(of_point).min_by_key(|(far, ..)| *far);
        nearest.map(|(_, build, size)| (build, size))
    }

    fn points_at<'h>(&'h self, point: &'h str) -> impl Iterator<Item = &'h PointHistory> {
        let is_here = move |one: &&PointHistory| point.is_empty() || one.values.pairs(" ") == point;
        self.points.iter().filter(is_here)
    }

    /// Returns the noun for the builds in sentences, such as `commit` or `version`.
    pub fn noun(&self) -> &'static str {
        noun_of(&self.by)
    }

    /// Returns the confidence of the expected ranges, over all points together, as a share: 0.995.
    pub fn confidence(&self) -> f64 {
        1.0 - ERROR
    }
}

/// Returns the noun for a label's values in sentences: `version` for the labels of versions, the
/// label's own name if it is such a noun, otherwise `build`.
pub fn noun_of(label: &str) -> &'static str {
    match NOUNS.iter().find(|noun| **noun == label) {
        Some(noun) => noun,
        None if OF_VERSIONS.contains(&label) => "version",
        None => "build",
    }
}

/// Returns the name of the figure to judge: the requested or default figure of the runs, or that of
/// imported figures if there are no runs or none has it. An `Err` says that nothing has the
/// requested figure.
fn primary(
    question: &Question,
    reports: &[&Report],
    runs: &[&dyn HistoryRun],
) -> Result<String, String> {
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
            let of_runs = question.judge.primary_of(reports).map(|name| {
                // Unless the user names the figure, it is one that all runs have.
                let is_own = question.judge.primary.is_none() && runs.iter().any(has_none(&name));
                if is_own && !runs.iter().any(has_none("tps")) { "tps".to_owned() } else { name }
            });
            of_runs.or_else(|why| of_imported.ok_or(why))
        }
    }
}

/// Returns a filter that keeps the runs that lack the figure `name`.
fn has_none<'r>(name: &str) -> impl Fn(&&'r dyn HistoryRun) -> bool {
    move |run| run.value(name).is_none()
}

/// Series of a history that are judged together: all those of runs, or all those of one imported
/// file.
struct Part {
    points: Vec<PointHistory>,
    ordered: Ordered,
    left_out: Vec<LeftOut>,
    unlisted: Vec<String>,
    measured_last: Option<String>,
}

impl Part {
    /// Returns the judged series of the runs; `None` if there are no builds. An `Err` says that a
    /// requested build or commit does not exist, or that no run has the figure.
    fn of_runs<R: HistoryRun>(
        question: &Question,
        builds: &[Side<R>],
        (primary, better): (&str, Direction),
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
        let all =
            points.iter().filter_map(|values| Series::from_sides(values, &found.builds, primary));
        let mut all: Vec<Series<'_>> = all.collect();
        if all.is_empty() && question.imported.is_empty() {
            return Err(format!("no run with the label {by} has the figure {primary}"));
        }
        follow(&mut all, &found.builds);
        let mut points = judge::judged(all, question, better, bits);
        tell_apart(&mut points);
        Ok(Some(Part {
            points,
            ordered: found.ordered,
            left_out: left_out(&found.builds),
            unlisted: found.unlisted,
            measured_last: found.measured_last,
        }))
    }

    /// Returns the judged series of an imported file. The user's pinned baseline is only used if
    /// the history has no runs of dbdyno (`is_alone`), and changes that the user has accepted never
    /// are. An `Err` says that the file lacks the figure, the builds' column, or a requested build
    /// or commit.
    fn of_imported(
        question: &Question,
        imported: &Imported,
        (primary, better): (&str, Direction),
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
        let points = judge::judged(all, &question, better, bits).into_iter();
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

/// Name of the parameter `workload`, which is part of the name of every series, even if all series
/// have the same workload.
const WORKLOAD: &str = "workload";

/// Sets `told` of each series to the values of the fewest parameters that distinguish it from the
/// others, and of `workload`. Parameters are tried in order; one is used if it separates series
/// that all earlier ones leave alike.
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

/// Returns an error if the user ordered the builds by a list of commits that has none of them.
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

/// Returns an error if the user pinned a build that is not among the builds.
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
        false => format!(
            "no run has the label {by}={name}: name a build that has runs (--baseline \
             {last}), or pin one ('dbdyno history baseline {last}')"
        ),
    })
}

/// Returns the builds without a valid run at any point, in the given order, each with the reasons
/// why its runs do not count.
fn left_out<R>(builds: &[&Side<R>]) -> Vec<LeftOut> {
    let lost = builds.iter().enumerate().filter(|(_, build)| build.points.is_empty());
    lost.map(|(index, build)| left_out_of(build, index + 1 == builds.len())).collect()
}

/// Returns the last build of a history (`newest`), with the reasons why runs of it do not count, if
/// it has no valid run at a certain point but has one at another; `None` otherwise. `last_here` is
/// the name of the last build that has a valid run at the point.
fn lacks<R>(last_here: &str, newest: Option<&&Side<R>>) -> Option<LeftOut> {
    let newest = newest.filter(|newest| !newest.points.is_empty())?;
    (last_here != newest.name).then(|| left_out_of(newest, true))
}

/// Describes the invalid runs of a build at a point, if they are more than a quarter of its runs
/// there; otherwise returns an empty text.
fn lost<R>(build: &Side<R>, values: &Named<String>) -> String {
    let is_here = |run: &&NotCounted| run.values.as_ref().is_none_or(|at| at == values);
    let lost: Vec<NotCounted> = build.not_counted.iter().filter(is_here).cloned().collect();
    let here = build.points.iter().find(|point| point.values == *values);
    let n_counted = here.map_or(0, |point| point.reports.len());
    match lost.len() as f64 > LOST_UNEVEN * (lost.len() + n_counted) as f64 {
        true => lost_words(&build.name, &lost, n_counted).unwrap_or_default(),
        false => String::new(),
    }
}

fn left_out_of<R>(build: &Side<R>, is_last: bool) -> LeftOut {
    LeftOut {
        build: build.name.clone(),
        runs_not_counted: build.not_counted.len() as u64,
        is_last,
        why: whys_in_words(&build.not_counted),
    }
}

/// Returns a sentence that a series of this many builds is too short to find changes of level.
/// `noun` is the word for a build, such as `commit`.
pub fn too_short(n_builds: usize, noun: &str) -> String {
    format!("{n_builds} of the {SERIES_MIN} {noun}s needed to find changes of level")
}

#[cfg(test)]
mod tests;
