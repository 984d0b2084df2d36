//! Comparison of sides with a baseline: differences in setup, and changes of figures.
//!
//! A side is a set of runs at one point or several; the first side is the baseline. At each point
//! of each other side, the primary figure gets a verdict: one of [`Verdict::ALL`].
//!
//! - Two tests have to agree (`stats::Comparison`). They compare the logarithms of whole runs, so a
//!   difference is the ratio of two geometric means, which are shown beside it. The error within a
//!   run does not contain the variation between runs, and is not used.
//! - If the sides were interleaved in enough repeats, runs of the same repeat are pairs, so that a
//!   drift cancels out. If they were not, a difference that a drift explains is no verdict.
//! - "Better" and "worse" need a corrected p-value below 5 % and a ratio beyond the minimum effect.
//!   The p-values of all headlines are corrected together over sides, points and figures (Hommel);
//!   those of all other figures are a second family.
//! - Lost transactions make a time infinite, which ranks last.
//!
//! A pure function of reports. Not here: the choice of runs (app), and pages (render).

mod beside;
mod differences;
mod durability;
mod each_transaction;
mod gate;
mod median_run;
mod naming;
mod pairs;
mod verdicts;

use std::collections::BTreeSet;

use analysis::figures::{
    Figure, check_name, direction_in, figure, resolve, title, units_in, value_of,
};
use analysis::report::{Named, Report};
use jiff::Timestamp;
use model::numbers::count;
use model::{Direction, Imported};
use serde::{Deserialize, Serialize};
use stats::pairs_needed;

use crate::experiment::{Curve, curve_of};
use crate::shown_figures::{are_builds, known_by, primary_of};

use crate::environment::Environment;
pub use beside::GaugeChange;
pub use differences::{Difference, Mixed};
pub use differences::{between, telling};
pub use durability::unequally_durable;
pub use each_transaction::{EachTransaction, EachTransactionAt, figure_title};
pub(crate) use gate::percent_of;
pub use gate::{Gate, GatePlace, GateResult, Passed, TooFew, UndecidedBy, Worst};
pub use median_run::MedianRun;
use median_run::median_run;
use naming::apart;
pub(crate) use pairs::held_against;
use pairs::{JudgedFigures, pair};
use verdicts::judge_all;
pub use verdicts::{Verdict, beside};

/// The schema of [`ComparisonReport`].
pub const SCHEMA: &str = "dbdyno.comparison/1";
/// Confidence of intervals; the remainder is the error rate of verdicts.
const CONFIDENCE: f64 = 0.95;
/// Probability that any side is declared different over all points if none is.
const FIRST: f64 = 0.04;
/// Probability that more is declared different for sides that do not differ over all points.
const SECOND: f64 = 0.01;
/// p-value from which a difference between blocks may be explained by a drift.
const BESIDE_DRIFT: f64 = 0.03;
/// Default minimum effect: the relative change that matters.
pub const MIN_EFFECT: f64 = 0.01;
/// Age in seconds from which runs are called old: an earlier step of a pipeline may have failed.
const OLD_S: u64 = 3600;
/// Figures that are judged for builds of data, in the order of the page.
const OF_BUILDS: [&str; 6] = [
    "build.rows_per_s",
    "build.bytes_per_s",
    "build.elapsed_s",
    "build.load_s",
    "build.index_s",
    "build.analyse_s",
];

/// Figures judged after the workload's primary figure, for runs that have them, in the order of the
/// page.
pub const FIGURES: [&str; 4] = ["tps", "p50_ms", "p95_ms", "p99_ms"];

/// A side of a comparison: runs that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    pub name: String,
    pub points: Vec<SidePoint>,
    /// Runs that were left out: not completed, or invalid.
    pub not_counted: Vec<NotCounted>,
    /// IDs of runs in progress, or of the experiment with trials in progress.
    pub running: Vec<String>,
    /// The plan that repeats its runs, if all have the same.
    pub plan: Option<String>,
    /// True if the name is a run's id, which does not describe the side.
    pub is_unnamed: bool,
}

impl Side {
    /// Makes a side without runs.
    pub fn named(name: String) -> Side {
        let (points, not_counted, running) = (Vec::new(), Vec::new(), Vec::new());
        Side { name, points, not_counted, running, plan: None, is_unnamed: false }
    }
}

/// A run that was left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotCounted {
    /// Id of the run.
    pub run: String,
    /// Values of its point, if known.
    pub values: Option<Named<String>>,
    pub why: String,
}

/// The runs of a side at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct SidePoint {
    /// Values by axis; points with equal values are compared.
    pub values: Named<String>,
    /// Reports of the valid runs.
    pub reports: Vec<Report>,
    /// Repeat of each run: runs with equal numbers at all points make one figure.
    pub repeats: Vec<u32>,
}

/// The settings for judging a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Judge {
    /// The primary figure; `None` for that of the workload.
    pub primary: Option<String>,
    /// The minimum effect, as a share.
    pub min_effect: f64,
    /// Further figures to be judged, for limits.
    pub also: Vec<String>,
}

impl Judge {
    /// Parses the settings: a figure by name, and the minimum effect in percent such as `2%`. An
    /// `Err` begins with the invalid one.
    pub fn asked(figure: Option<&str>, min_effect: Option<&str>) -> Result<Judge, String> {
        let named = |name: &str| match check_name(name) {
            Ok(()) => Ok(name.trim().to_owned()),
            Err(why) => Err(format!("figure '{name}': {why}")),
        };
        let share = |text: &str| {
            // A bare 0.05 is ambiguous: it could be 5 % or 0.05 %.
            let number = text.trim().strip_suffix('%').map(|number| number.trim().parse::<f64>());
            let number = number.and_then(Result::ok);
            let percent = number.filter(|percent| (0.0..=100.0).contains(percent));
            let is_negative = number.is_some_and(|percent| percent < 0.0);
            let why = if is_negative { " is below zero" } else { "" };
            let bad = || format!("min-effect {text}{why}: write a share such as 2%");
            percent.map(|percent| percent / 100.0).ok_or_else(bad)
        };
        let primary = figure.map(named).transpose()?;
        Ok(Judge {
            primary,
            min_effect: min_effect.map_or(Ok(MIN_EFFECT), share)?,
            also: Vec::new(),
        })
    }

    /// Returns the primary figure. An `Err` says that no run has the requested one.
    pub(crate) fn primary_of(&self, reports: &[&Report]) -> Result<String, String> {
        match &self.primary {
            Some(name) => resolve(name, reports.iter().copied()),
            None => Ok(primary_of(reports)),
        }
    }

    /// Returns the primary figure; falls back to that of a limit if the user named none and the
    /// default one is missing on some side.
    fn primary_in_all(&self, sides: &[Side], reports: &[&Report]) -> Result<String, String> {
        let primary = self.primary_of(reports)?;
        let is_in_all = |name: &String| sides.iter().all(|side| has_figure(side, name));
        if self.primary.is_some() || is_in_all(&primary) {
            return Ok(primary);
        }
        if self.also.is_empty() {
            return Ok(primary);
        }
        let also = self.also.iter().filter_map(|name| resolve(name, reports.iter().copied()).ok());
        // Every load has this one, so that a limit on a figure with too few samples is undecided.
        let also = also.chain(["tps".to_owned()]);
        Ok(also.into_iter().find(is_in_all).unwrap_or(primary))
    }

    /// Returns the figures that are judged besides `primary`, if runs have them.
    fn others(&self, primary: &str, reports: &[&Report]) -> Vec<String> {
        let also = self.also.iter().filter_map(|name| resolve(name, reports.iter().copied()).ok());
        let mut all: Vec<String> = Vec::new();
        let (known_by, shown): (_, &[&str]) = match are_builds(reports) {
            true => (None, &OF_BUILDS),
            false => (known_by(reports), &FIGURES),
        };
        let shown = shown.iter().map(|name| (*name).to_owned());
        for name in known_by.into_iter().chain(shown).chain(also) {
            if name != primary && !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }
}

/// Returns true if a ratio exceeds the minimum effect.
pub(crate) fn matters(ratio: f64, min_effect: f64) -> bool {
    ratio.ln().abs() > (1.0 + min_effect).ln()
}

/// Returns true if a change by this ratio is for the worse.
pub(crate) fn is_worse(better: Direction, ratio: f64) -> bool {
    (ratio > 1.0) == (better == Direction::Lower)
}

/// The comparison of sides with the first one, the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonReport {
    /// Name of the schema, [`SCHEMA`].
    pub schema: String,
    pub primary: String,
    /// Direction in which it is better.
    #[serde(default)]
    pub better: Direction,
    /// Units of the judged primary and custom metrics and gauges, by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub units: Named<String>,
    /// The minimum effect, as a share.
    pub min_effect: f64,
    /// The environment of the runs.
    pub scene: Environment,
    /// The command that repeats this comparison, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Time of the request in milliseconds since 1970, from which the age of the runs follows;
    /// `None` for stored pages.
    #[serde(skip)]
    pub seen_unix_ms: Option<i64>,
    /// The sides, the baseline first.
    pub sides: Vec<SideReport>,
    /// Differences between the sides besides the figures.
    pub differences: Vec<Difference>,
    /// Differences between runs of a side that make one figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<Mixed>,
    /// Comparison of each other side with the baseline.
    pub pairs: Vec<PairReport>,
    /// Runs that are left out because their reports are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// Imported figures, which charts show too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<Imported>,
    /// Reasons why intervals and verdicts may be too certain: the way in which runs were repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideReport {
    pub name: String,
    /// Ids of the valid runs.
    pub runs: Vec<String>,
    /// The run with the median of the primary figure, at the first point that all sides have:
    /// charts draw it over those of the other sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_run: Option<MedianRun>,
    /// Number of runs that were left out: not completed, or invalid.
    pub runs_not_counted: u64,
    /// Number of distinct seeds: runs with one seed replay the same inputs.
    #[serde(default)]
    pub seeds: u64,
    /// The runs that were left out, with reasons.
    pub not_counted: Vec<NotCounted>,
    /// Ids of runs in progress, or of the experiment with trials in progress; only ended runs are
    /// compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<String>,
    /// The plan that repeats its runs, in TOML; null if not known.
    pub plan: Option<String>,
    /// The primary figure over the axis, if there is one axis of numbers.
    pub curve: Option<Curve>,
    /// Findings with at least a warning, by id, and the number of runs with each.
    pub findings: Named<u64>,
    /// Observation in the first of these runs, by id.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub cases: Named<String>,
    /// Observations in all of these runs, with a range for each number; without those whose words
    /// differ.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub case_ranges: Named<String>,
    /// Largest share of offered transactions that failed or were dropped in a run, in percent.
    #[serde(default)]
    pub lost_percent: f64,
    /// Modes that all its runs have in common, such as `synchronous=full`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// Start of its first valid run, in RFC 3339.
    #[serde(default)]
    pub begun: String,
}

/// The comparison of a side with the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    /// Name of the side.
    pub side: String,
    /// True if runs of both alternated; if not, a drift of the machine counts as a difference.
    pub is_interleaved: bool,
    /// Sentence on the side that may lose commits which the other keeps; `None` if both are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// Number of seeds that runs of both have, if a simulated database drew the same random numbers
    /// for them and the runs are not judged in pairs: they are then not independent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seeds_shared: u64,
    /// The primary figure over all points, if there are several: the geometric mean, one per
    /// repeat.
    pub overall: Option<Judged>,
    /// The other figures over all points.
    pub overall_others: Vec<Judged>,
    /// The primary figure of each of several workloads, over all of its points. Then there is no
    /// `overall`: different transactions have no common figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_workload: Vec<WorkloadPair>,
    /// Repeats of either side that `overall` leaves out, because a point lacks them.
    pub repeats_left_out: u64,
    /// Comparison at each point.
    pub points: Vec<PointPair>,
    /// Points at which only one of the two has a valid run.
    pub points_unpaired: Vec<UnpairedPoint>,
    /// Figures per transaction on both sides, without verdicts; the ones that explain most of a
    /// difference come first.
    #[serde(default)]
    pub each_transaction: Vec<EachTransactionAt>,
    /// The gauges that changed most, the clearest change first; they are not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gauges_changed: Vec<GaugeChange>,
}

/// A point that only one of two sides has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpairedPoint {
    /// Values of the point, by axis.
    pub values: Named<String>,
    /// The side that has a valid run there.
    pub side: String,
    /// True if the other side was tried there, without a valid run.
    pub is_lost: bool,
}

impl PairReport {
    /// Returns the overall figure of the side, over all points or at the only one. Each of several
    /// workloads has its own.
    fn on_the_whole(&mut self) -> Vec<&mut Judged> {
        match &mut self.points[..] {
            _ if !self.by_workload.is_empty() => {
                self.by_workload.iter_mut().map(|of| &mut of.primary).collect()
            }
            [point] if self.overall.is_none() => vec![&mut point.primary],
            _ => self.overall.iter_mut().collect(),
        }
    }

    /// Returns the points at which the baseline has a valid run and the side has invalid ones only.
    pub fn lost(&self) -> impl Iterator<Item = &UnpairedPoint> {
        self.points_unpaired.iter().filter(|point| point.is_lost && point.side != self.side)
    }
}

/// One of several workloads, compared by its primary figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadPair {
    pub workload: String,
    /// Primary figure of the workload, over all of its points.
    pub primary: Judged,
}

/// A point that both sides have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointPair {
    /// Values of the point, by axis.
    pub values: Named<String>,
    pub primary: Judged,
    pub others: Vec<Judged>,
    /// Figures without a value, for lack of samples: limits on them are undecided.
    #[serde(skip)]
    lacking: Vec<Judged>,
}

/// A figure of a side, compared with the baseline's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub figure: String,
    /// Direction in which it is better.
    #[serde(default)]
    pub better: Direction,
    /// The baseline's value over its runs.
    pub baseline: Option<Figure>,
    /// The side's value over its runs.
    pub side: Option<Figure>,
    /// Means of the baseline and of the side over the judged runs; their quotient is the ratio.
    #[serde(default)]
    pub centers: [Option<f64>; 2],
    /// Kind of these means.
    #[serde(default)]
    pub center: Center,
    /// Medians over the runs of the baseline and of the side.
    #[serde(default)]
    pub medians: [Option<f64>; 2],
    /// The side divided by the baseline, without an interval for one run per side; null if it
    /// cannot be judged.
    pub ratio: Option<Ratio>,
    /// Probability that ranks differ as much if there is no difference.
    pub p: Option<f64>,
    /// The same p-value, corrected for everything that is judged with it.
    pub p_corrected: Option<f64>,
    /// The ratio, as a share above 1, that would have been found in four of five such comparisons
    /// if nothing else differed; null if that takes more runs.
    pub detectable: Option<f64>,
    pub verdict: Verdict,
    /// Reason for the verdict, if it needs one.
    pub why: Option<String>,
    /// True if runs of the same repeat were compared with each other, and not all with all.
    #[serde(default)]
    pub is_within_repeats: bool,
    /// True if only means were tested, at a stricter level: ranks need more runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_by_means: bool,
    /// Difference adjusted for a drift through all runs, if the sides did not alternate.
    #[serde(skip)]
    beside_drift: Option<BesideDrift>,
    /// Logarithms of the figures of the baseline's runs and of the side's.
    #[serde(skip)]
    of_runs: [Vec<f64>; 2],
    /// True if some runs do not have the figure.
    #[serde(skip)]
    is_lacking: bool,
    /// Differences of these logarithms within each repeat, if these are judged.
    #[serde(skip)]
    within: Option<Vec<f64>>,
    /// One-sided 95 % bounds of the ratio, for limits on a change.
    #[serde(skip)]
    bounds: Option<(f64, f64)>,
    /// Number of pairs of runs for these bounds; `None` if runs did not alternate.
    #[serde(skip)]
    n_pairs: Option<usize>,
}

impl Judged {
    /// Returns true if runs did not alternate, and a drift would explain their difference.
    fn may_be_drift(&self) -> bool {
        // A drift does not lose transactions.
        let is_finite = self.ratio.is_none_or(|ratio| ratio.value.is_finite());
        is_finite && self.beside_drift.is_some_and(|beside| beside.p >= BESIDE_DRIFT)
    }

    /// Returns one-sided 95 % bounds of the ratio adjusted for a drift, if runs did not alternate.
    fn bounds_beside_drift(&self) -> Option<(f64, f64)> {
        self.beside_drift?.bounds
    }
}

/// A difference of two sides, adjusted for a drift through all runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BesideDrift {
    /// Probability of such a difference if the sides are equal.
    p: f64,
    /// One-sided 95 % bounds of the ratio; `None` if transactions were lost, since a drift loses
    /// none.
    bounds: Option<(f64, f64)>,
}

/// Kind of mean that stands for the runs of a side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Center {
    /// The geometric mean: its quotient is the ratio.
    #[default]
    GeometricMean,
    /// The median, where the figure of some run is infinite or zero: it has no geometric mean.
    Median,
}

/// A ratio with its interval. An infinite one is null in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The quotient of the geometric means; where some figure has none, the median over all pairs
    /// of runs.
    pub value: f64,
    /// Ends of the interval; null with one run per side.
    pub interval: Option<(f64, f64)>,
    /// Confidence of the interval: with few runs it exceeds the 95 % that were requested.
    pub confidence: Option<f64>,
}

/// Difference between the sides' shares of excluded runs above which the change itself may be the
/// reason why runs are excluded.
pub(crate) const LOST_UNEVEN: f64 = 0.25;

impl SideReport {
    /// Returns the share of invalid runs, from 0 to 1.
    fn lost_share(&self) -> f64 {
        let lost = self.runs_not_counted as f64;
        lost / (lost + self.runs.len() as f64)
    }

    /// Describes the invalid runs: `2 of 5 runs of new do not count: overloaded (2)`.
    pub fn lost_words(&self) -> String {
        lost_words(&self.name, &self.not_counted, self.runs.len()).unwrap_or_default()
    }

    /// Names a run in progress, such as `new is still being measured (01a1ffb6)`; `None` if every
    /// run has ended.
    pub fn running_words(&self) -> Option<String> {
        running_words(&self.name, &self.running)
    }
}

/// Describes the invalid runs of a side, such as `2 of 5 runs of new do not count: overloaded (2)`;
/// `None` if all are valid.
pub(crate) fn lost_words(name: &str, lost: &[NotCounted], n_counted: usize) -> Option<String> {
    let verb = if lost.len() == 1 { "does" } else { "do" };
    let (n, all) = (lost.len(), count((lost.len() + n_counted) as u64, "run"));
    let whys = whys_in_words(lost);
    (n > 0).then(|| format!("{n} of {all} of {name} {verb} not count: {whys}"))
}

/// Lists why runs do not count, with numbers of runs, such as `failed, overloaded (3)`.
pub(crate) fn whys_in_words(lost: &[NotCounted]) -> String {
    in_words(&whys(lost))
}

fn running_words(name: &str, running: &[String]) -> Option<String> {
    let more = match running.len() {
        0 => return None,
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    Some(format!("{name} is still being measured ({}{more})", running[0]))
}

/// Lists reasons with their counts, such as `failed, invalid (3)`; a count of 1 is left out.
fn in_words(whys: &Named<u64>) -> String {
    let to_words = |(why, n): (&str, &u64)| {
        if *n == 1 { why.to_owned() } else { format!("{why} ({n})") }
    };
    whys.iter().map(to_words).collect::<Vec<_>>().join(", ")
}

impl ComparisonReport {
    /// Returns the side of a pair that has many more excluded runs than the other: comparing only
    /// its remaining runs favours it (survivorship).
    pub fn unevenly_lost(&self, pair: &PairReport) -> Option<&SideReport> {
        let base = self.sides.first()?;
        let side = self.sides.iter().find(|side| side.name == pair.side)?;
        let more = side.lost_share() - base.lost_share();
        (more.abs() > LOST_UNEVEN).then_some(if more > 0.0 { side } else { base })
    }

    /// Lists the load parameters that differ from the baseline's, such as `clients`, each with the
    /// baseline's value and the side's. Empty if the names of the sides state the difference, which
    /// is then the subject of the comparison.
    pub fn load_differs(&self, pair: &PairReport) -> Vec<(String, [String; 2])> {
        match self.place_of(pair) {
            Some(at) if !self.is_named_by_difference(at) => {
                differences::of_load(&self.differences, at)
            }
            _ => Vec::new(),
        }
    }

    /// Warns that the baseline was measured after the side, so the user may have swapped the two;
    /// `None` if the names of the sides state their difference, such as `clients=8`.
    pub fn reversed_words(&self, pair: &PairReport) -> Option<String> {
        let at = self.place_of(pair)?;
        let [base, side] = [&self.sides[0], &self.sides[at]];
        (base.begun > side.begun && !self.is_named_by_difference(at)).then(|| {
            format!(
                "{} is the baseline, since it is named first, but was measured after {}",
                base.name, side.name
            )
        })
    }

    /// Returns the age of the newest run in seconds, since its start; `None` below an hour.
    pub fn age_s(&self) -> Option<u64> {
        let newest: Timestamp = self.scene.begun.1.parse().ok()?;
        let age_s = (self.seen_unix_ms? - newest.as_millisecond()) / 1_000;
        u64::try_from(age_s).ok().filter(|age| *age >= OLD_S)
    }

    fn place_of(&self, pair: &PairReport) -> Option<usize> {
        self.sides.iter().position(|side| side.name == pair.side)
    }

    fn is_named_by_difference(&self, side: usize) -> bool {
        let names = [0, side].map(|at| self.sides[at].name.as_str());
        differences::are_named_by(&self.differences, side, names)
    }

    /// Compares the sides with the first one. An `Err` says why they cannot be compared.
    pub fn new(sides: &[Side], judge: &Judge) -> Result<ComparisonReport, String> {
        let [baseline, others @ ..] = sides else {
            return Err("nothing to compare: name at least two sides".to_owned());
        };
        if others.is_empty() {
            return Err("nothing to compare: name another side".to_owned());
        }
        have_runs(sides)?;
        let all: Vec<&Report> = sides.iter().flat_map(reports).collect();
        let primary = judge.primary_in_all(sides, &all)?;
        let figures = judge.others(&primary, &all);
        if let Some(side) = sides.iter().find(|side| !has_figure(side, &primary)) {
            let (side, figure) = (&side.name, title(&primary));
            let is_in_all = |name: &&str| sides.iter().all(|side| has_figure(side, name));
            let other = Some("tps").filter(is_in_all).unwrap_or("p50");
            return Err(format!(
                "the runs of {side} have no {figure}: their workload does not have it, or too few \
                 transactions finished; name another figure, such as --figure {other}"
            ));
        }
        let pairs_min = pairs_needed(FIRST / others.len() as f64);
        let asked = judge.primary.as_ref().map(|_| primary.as_str());
        let judged = JudgedFigures { asked, primary: &primary, others: &figures };
        let pair = |side: &Side| pair(baseline, side, &judged, pairs_min);
        let mut pairs: Vec<PairReport> = others.iter().map(pair).collect();
        if let Some(alone) = pairs.iter().find(|pair| pair.points.is_empty()) {
            let other = others.iter().find(|side| side.name == alone.side);
            return Err(format!(
                "{} and {} have no point in common{}: name runs that differ only in what you \
                 compare, by their ids separated by commas",
                baseline.name,
                alone.side,
                other.map_or_else(String::new, |other| apart(baseline, other))
            ));
        }
        let better = direction_in(&primary, all.iter().copied());
        judge_all(&mut pairs, (&primary, better), judge.min_effect);
        let reports_shared = |side| shared(sides, side).flat_map(|point| &point.reports);
        let of_sides: Vec<Vec<&Report>> =
            sides.iter().map(|side| reports_shared(side).collect()).collect();
        let first = shared(sides, baseline).next();
        let side_report = |side| {
            side_report(side, &shared(sides, side).collect::<Vec<_>>(), first, (&primary, better))
        };
        let report = ComparisonReport {
            schema: SCHEMA.to_owned(),
            scene: Environment::from_reports(&all),
            command: None,
            seen_unix_ms: None,
            sides: sides.iter().map(side_report).collect(),
            differences: differences::between(&of_sides),
            mixed: differences::within(sides),
            units: units_in(
                std::iter::once(&primary).chain(&figures).map(String::as_str),
                all.iter().copied(),
            ),
            primary,
            better,
            min_effect: judge.min_effect,
            pairs,
            damaged: Vec::new(),
            imported: Vec::new(),
            repeats: Vec::new(),
        };
        Ok(report.with_names(sides).with_durability(sides))
    }

    /// Adds the sentences on durability, which use the final names of the sides.
    fn with_durability(mut self, sides: &[Side]) -> ComparisonReport {
        for (at, pair) in self.pairs.iter_mut().enumerate() {
            let both = [0, at + 1].map(|at| (&*self.sides[at].name, reports(&sides[at])));
            pair.durability = durability::unequal(both);
        }
        self
    }
}

/// Refuses a side without a run that counts, and says why it has none.
fn have_runs(sides: &[Side]) -> Result<(), String> {
    if let Some(side) = sides.iter().find(|side| reports(side).next().is_none()) {
        if let Some(words) = running_words(&side.name, &side.running) {
            return Err(format!("{words}, and no run of it that counts has ended"));
        }
        let (name, whys) = (&side.name, in_words(&whys(&side.not_counted)));
        return Err(match whys.is_empty() {
            true => format!("{name} is not compared, because it has no run"),
            false => format!("{name} is not compared, because no run of it counts: {whys}"),
        });
    }
    Ok(())
}

/// Counts the reasons why runs are invalid.
fn whys(runs: &[NotCounted]) -> Named<u64> {
    let mut by_why = Named::default();
    runs.iter().for_each(|run| by_why.count(&run.why, 1));
    by_why
}

/// Returns the points of a side that all sides have; if there are none, all of its own. Otherwise
/// values of other points would look like a difference between the sides.
fn shared<'s>(sides: &'s [Side], side: &'s Side) -> impl Iterator<Item = &'s SidePoint> {
    let has = |side: &Side, at: &SidePoint| side.points.iter().any(|p| p.values == at.values);
    let is_shared = move |at: &SidePoint| sides.iter().all(|other| has(other, at));
    let is_any = side.points.iter().any(is_shared);
    side.points.iter().filter(move |at| !is_any || is_shared(at))
}

fn has_figure(side: &Side, name: &str) -> bool {
    side.points.iter().any(|point| !values_of(&point.reports, name).is_empty())
}

fn reports(side: &Side) -> impl Iterator<Item = &Report> {
    side.points.iter().flat_map(|point| &point.reports)
}

fn side_report(
    side: &Side,
    shared: &[&SidePoint],
    first: Option<&SidePoint>,
    (primary, better): (&str, Direction),
) -> SideReport {
    let is_first = |point: &&&SidePoint| first.is_some_and(|first| first.values == point.values);
    let drawn = shared.iter().find(is_first).or(shared.first());
    let figures = |point: &SidePoint| figure(&values_of(&point.reports, primary));
    let curve = match shared.first().map(|point| &point.values.0[..]) {
        Some([(axis, _)]) => {
            let measured = shared
                .iter()
                .filter_map(|point| Some((point.values.0.first()?.1.clone(), figures(point)?)));
            curve_of(axis, &measured.collect::<Vec<_>>(), (primary, better))
        }
        _ => None,
    };
    SideReport {
        name: side.name.clone(),
        runs: reports(side).map(|report| report.run_id.clone()).collect(),
        median_run: drawn.and_then(|point| median_run(point, primary)),
        runs_not_counted: side.not_counted.len() as u64,
        seeds: reports(side).map(|report| report.seed).collect::<BTreeSet<u64>>().len() as u64,
        not_counted: side.not_counted.clone(),
        running: side.running.clone(),
        plan: side.plan.clone(),
        curve,
        findings: crate::trials::warnings(reports(side)),
        cases: crate::trials::cases(reports(side)),
        case_ranges: crate::trials::case_ranges(reports(side)),
        lost_percent: reports(side)
            .map(|report| report.block.counts.lost_percent())
            .fold(0.0, f64::max),
        modes: crate::environment::common_modes(&reports(side).collect::<Vec<_>>()),
        begun: reports(side).map(|report| &report.started).min().cloned().unwrap_or_default(),
    }
}

/// Returns the figure of each run that has it.
pub(crate) fn values_of(reports: &[Report], name: &str) -> Vec<f64> {
    reports.iter().filter_map(|report| value_of(report, name)).collect()
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
