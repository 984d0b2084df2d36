//! Comparison of sides with a baseline: differences in setup, and changes of figures.
//!
//! A side is a set of runs at one or more points, which are combinations of varied values; the
//! first side is the baseline. At each point, the primary figure of each other side gets a verdict,
//! one of [`Verdict::ALL`].
//!
//! - A test of ranks and a test of means have to agree (`stats::Comparison`). They compare the
//!   logarithms of whole runs, so a difference is a ratio of two geometric means, and both means
//!   are shown beside it. Errors within a run are not used, because they do not contain the
//!   variation between runs.
//! - If the sides alternated in enough repeats, runs of the same repeat are compared as pairs, so
//!   that a drift of the machine cancels out. If they did not alternate, a difference that a drift
//!   explains gets no verdict of better or worse.
//! - "Better" and "worse" need a corrected p-value below 5 % and a ratio beyond the minimum effect.
//!   The p-values of all headlines are corrected together over sides, points and figures (Hommel);
//!   the p-values of all other figures are corrected together as a second family.
//! - A percentile among lost transactions is infinite, and ranks last.
//!
//! A pure function of reports. Not here: the choice of runs (app), and pages (render).

mod beside;
mod compared;
mod differences;
mod durability;
mod each_transaction;
mod executions;
mod gate;
mod isolation;
mod median_run;
mod naming;
mod not_counted;
mod pairs;
mod runs_trend;
mod verdicts;

use std::collections::BTreeSet;

use analysis::figures::{Figure, check_name, direction_in, figure, resolve, units_in, value_of};
use analysis::report::{Named, Report};
use jiff::Timestamp;
use model::{Direction, Imported};
use serde::{Deserialize, Serialize};
use stats::pairs_needed;

use crate::environment::Environment;
use crate::experiment::{Curve, curve_of};
use crate::shown_figures::{are_builds, known_by, primaries_of_sequences, primary_of};
use crate::trials::RunNote;
pub use beside::GaugeChange;
use compared::shared;
pub use differences::{Difference, Mixed, are_stated, between, telling};
pub use durability::unequally_durable;
pub use each_transaction::{EachTransaction, EachTransactionAt, figure_title};
pub use executions::ExecutionChange;
pub(crate) use gate::percent_of;
pub use gate::{Gate, GatePlace, GateResult, Passed, TooFew, UndecidedBy, Worst};
pub use median_run::MedianRun;
use median_run::median_run;
use naming::apart;
pub use not_counted::NotCounted;
use not_counted::{in_words, running_words, whys};
pub(crate) use not_counted::{lost_words, whys_in_words};
pub use pairs::RunPairs;
pub(crate) use pairs::held_against;
use pairs::{JudgedFigures, pair};
pub use runs_trend::RunsTrend;
use verdicts::judge_all;
pub use verdicts::{Verdict, beside};

/// Name and version of the JSON schema of [`ComparisonReport`].
pub const SCHEMA: &str = "dbdyno.comparison/1";
/// Confidence of intervals; 1 minus it is the error rate of all verdicts together.
const CONFIDENCE: f64 = 0.95;
/// Error rate of overall verdicts: the largest probability that any side is declared different from
/// the baseline over all points, if no side differs.
const FIRST: f64 = 0.04;
/// Error rate of verdicts on single points of sides without an overall difference: the largest
/// probability that any such point is declared different, if none differs.
const SECOND: f64 = 0.01;
/// p-value of a difference, adjusted for a linear drift of the machine, from which on such a drift
/// may explain the difference, if runs of the two sides did not alternate.
const BESIDE_DRIFT: f64 = 0.03;
/// Default minimum effect, as a share: smaller relative changes do not matter.
pub const MIN_EFFECT: f64 = 0.01;
/// Age in seconds from which the report calls runs old: an earlier step of a pipeline may have
/// failed and made no new runs.
const OLD_S: u64 = 3600;
/// Figures by which runs that build data are judged, in the order of the comparison page.
const OF_BUILDS: [&str; 6] = [
    "build.rows_per_s",
    "build.bytes_per_s",
    "build.elapsed_s",
    "build.load_s",
    "build.index_s",
    "build.analyse_s",
];

/// Figures judged after the workload's primary figure, in the order of the comparison page.
pub const FIGURES: [&str; 4] = ["tps", "p50_ms", "p95_ms", "p99_ms"];

/// A side of a comparison: runs under one name, such as those of a build or an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Side<R = Report> {
    pub name: String,
    pub points: Vec<SidePoint<R>>,
    /// Runs of this side that the comparison leaves out: they did not complete or are invalid.
    pub not_counted: Vec<NotCounted>,
    /// Ids of runs, or of experiments with trials, in progress. The comparison leaves them out.
    pub running: Vec<String>,
    /// The plan (TOML) that repeats all runs of the side; `None` if they have different plans.
    pub plan: Option<String>,
    /// True if `name` is only a run's id. The report then shows differences between sides instead.
    pub is_unnamed: bool,
}

impl<R> Side<R> {
    /// Creates a side of a comparison with this name and no runs.
    pub fn named(name: String) -> Side<R> {
        let (points, not_counted, running) = (Vec::new(), Vec::new(), Vec::new());
        Side { name, points, not_counted, running, plan: None, is_unnamed: false }
    }
}

/// The valid runs of a side at one point, which is one combination of the varied parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SidePoint<R = Report> {
    /// Values of the varied parameters, by name. Sides are compared at points with equal values.
    pub values: Named<String>,
    pub reports: Vec<R>,
    /// Index (from 0) of the repeat to which each of `reports` belongs, in the same order. For
    /// overall figures, the runs of all points with the same index are combined.
    pub repeats: Vec<u32>,
}

/// Settings of a comparison: the figures to judge, and the minimum effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Judge {
    /// Name of the figure to judge first; `None` for the default of the runs, such as `tps`.
    pub primary: Option<String>,
    /// The minimum effect, as a share such as 0.01 for 1 %.
    pub min_effect: f64,
    /// Names of further figures to judge, because `--fail-if` sets a limit on their change.
    pub also: Vec<String>,
}

impl Judge {
    /// Parses a figure's name and a minimum effect such as `2%`; `None` stands for the default of
    /// each. An `Err` is a message that names the invalid argument.
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

    /// Returns the name of the primary figure of these runs: the one that the user named, or the
    /// default of the runs. An `Err` says that no run has the figure that the user named.
    pub(crate) fn primary_of(&self, reports: &[&Report]) -> Result<String, String> {
        match &self.primary {
            Some(name) => resolve(name, reports.iter().copied()),
            None => Ok(primary_of(reports)),
        }
    }

    /// Returns the name of the primary figure. If the user named none and a side lacks the default
    /// one, it is the first figure of `also` that all sides have, or else `tps`.
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
        // Every load has `tps`, so that a limit on a figure with too few samples is undecided.
        let also = also.chain(["tps".to_owned()]);
        Ok(also.into_iter().find(is_in_all).unwrap_or(primary))
    }

    /// Returns the names of the other figures to judge: the usual ones, such as [`FIGURES`], or of
    /// fixed sequences of transactions their primary metrics, and `also`, without `primary`.
    fn others(&self, primary: &str, reports: &[&Report]) -> Vec<String> {
        let also = self.also.iter().filter_map(|name| resolve(name, reports.iter().copied()).ok());
        let mut all: Vec<String> = Vec::new();
        let (known_by, shown): (Vec<String>, &[&str]) = match primaries_of_sequences(reports) {
            Some(primaries) => (primaries, &[]),
            None if are_builds(reports) => (Vec::new(), &OF_BUILDS),
            None => (known_by(reports).into_iter().collect(), &FIGURES),
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

/// Returns true if a ratio differs from 1 by more than the share `min_effect`, up or down.
pub(crate) fn matters(ratio: f64, min_effect: f64) -> bool {
    ratio.ln().abs() > (1.0 + min_effect).ln()
}

/// Returns true if a change by the factor `ratio` is worse: a rise if lower is better, else a fall.
pub(crate) fn is_worse(better: Direction, ratio: f64) -> bool {
    (ratio > 1.0) == (better == Direction::Lower)
}

/// The comparison of several sides with the first one, the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonReport {
    /// Name of the schema, [`SCHEMA`].
    pub schema: String,
    pub primary: String,
    /// Direction in which the primary figure improves: higher, lower or neither.
    #[serde(default)]
    pub better: Direction,
    /// Units of figures by name, without those whose names state the unit, such as `p99_ms`.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub units: Named<String>,
    /// The minimum effect, as a share: smaller changes do not matter.
    pub min_effect: f64,
    /// Workloads, databases, loads and machines of all compared runs.
    pub scene: Environment,
    /// The command line that repeats this comparison; null if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Time at which the comparison was requested, in milliseconds since 1970, to state the age of
    /// the runs; `None` for stored pages.
    #[serde(skip)]
    pub seen_unix_ms: Option<i64>,
    /// All sides of the comparison (named sets of runs); the baseline is the first.
    pub sides: Vec<SideReport>,
    /// Settings, facts and plan values that differ between the sides of the comparison.
    pub differences: Vec<Difference>,
    /// Settings, facts and plan values that differ between runs that count as repeats: runs of one
    /// side of the comparison at one point (combination of varied parameters).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<Mixed>,
    /// Result for each side of the comparison but the first, which is the baseline.
    pub pairs: Vec<PairReport>,
    /// Ids of the runs that are left out because their stored reports are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// Figures from imported files, which charts show beside the measured ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<Imported>,
    /// Sentences on why verdicts may be too certain: runs shared a server start or a data build, or
    /// their number depended on results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<String>,
    /// What the stop rule of the compared experiment says about its two sides, with the interval
    /// that holds although the results ended the repeats; absent without such a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_rule: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideReport {
    pub name: String,
    /// Ids of the valid runs at points that are compared.
    pub runs: Vec<String>,
    /// Number of valid runs at all points, also those that the other sides do not have.
    #[serde(skip)]
    n_valid: u64,
    /// Run with the median of the primary figure, at the first point that all sides have; null
    /// without the figure. Charts draw the median runs of all sides over each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_run: Option<MedianRun>,
    /// Number of this side's runs that the comparison leaves out: not completed, or invalid.
    pub runs_not_counted: u64,
    /// Number of distinct seeds of the valid runs. Runs with the same seed have the same inputs.
    #[serde(default)]
    pub seeds: u64,
    /// The runs of this side that the comparison leaves out, each with the reason.
    pub not_counted: Vec<NotCounted>,
    /// Ids of runs in progress, or the id of an experiment with trials in progress; the comparison
    /// leaves all of them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<String>,
    /// The plan that repeats the runs of this side of the comparison, in TOML; null if not known.
    pub plan: Option<String>,
    /// Summary of the primary figure along the varied parameter; null unless exactly one is varied
    /// and its values are numbers.
    pub curve: Option<Curve>,
    /// Number of valid runs with each finding of severity warning or invalid, by finding id.
    pub findings: Named<u64>,
    /// Text of each finding of severity warning or invalid in the first run with it, by finding id.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub cases: Named<String>,
    /// Texts of each finding of severity warning or invalid, by finding id, merged over all runs
    /// with a range for each number (`41 to 72 %`); without those that differ in more than numbers.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub case_ranges: Named<String>,
    /// Findings of severity note of the valid runs, by finding id.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub notes: Named<RunNote>,
    /// Largest share of offered transactions that failed or were dropped in a run, in percent.
    #[serde(default)]
    pub lost_percent: f64,
    /// Database modes, such as `synchronous=full`, that all compared runs of the side have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// True if the side's runs have different modes, which `modes` leaves out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modes_vary: bool,
    /// Start of the first valid run; null without one.
    #[serde(default)]
    pub begun: Option<Timestamp>,
    /// Trend of the primary figure from run to run of the side; null if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<RunsTrend>,
}

/// The comparison of one set of runs (a side) with the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    /// Name of the side that is compared with the baseline.
    pub side: String,
    /// True if runs of baseline and compared side alternated in time at every point. If not, a
    /// drift of the machine looks like a difference.
    pub is_interleaved: bool,
    /// Sentence that names the side of the comparison which may lose commits in a crash while the
    /// other keeps them, or says that two different products keep them equally; null if this is not
    /// known, or for sides of one product that are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// Sentence that names the isolation levels of baseline and compared side; null if they are the
    /// same or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<String>,
    /// Number of seeds that both sides share, the largest over all points: simulated databases then
    /// drew the same random numbers, and the runs are not independent. 0 for runs in pairs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seeds_shared: u64,
    /// The primary figure over all points: per repeat, the geometric mean over the points. Null if
    /// there is only one point, or several workloads.
    pub overall: Option<Judged>,
    /// Comparisons of the other figures over all points, each by the same means as `overall`.
    pub overall_others: Vec<Judged>,
    /// The primary figure of each workload over all of its points, if there are several workloads.
    /// There is no `overall` then, because different transactions have no common figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_workload: Vec<WorkloadPair>,
    /// Number of repeats of either side that `overall` leaves out: a point has no valid run there.
    pub repeats_left_out: u64,
    /// Comparison at each point (combination of varied parameters) that both sides have.
    pub points: Vec<PointPair>,
    /// Points at which only one of the two compared sides has a valid run.
    pub points_unpaired: Vec<UnpairedPoint>,
    /// Figures of the average transaction, such as its lock time, for baseline and compared side,
    /// by point, without verdicts. The figures that explain most of a difference come first.
    #[serde(default)]
    pub each_transaction: Vec<EachTransactionAt>,
    /// Times of the transactions of fixed sequences, such as the queries of tpch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<ExecutionChange>,
    /// The gauges that changed most between the sides, without verdicts; the change that stands out
    /// most from the variation between runs comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gauges_changed: Vec<GaugeChange>,
}

/// A combination of varied parameters at which only one of two compared sides has a valid run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpairedPoint {
    /// Values of the varied parameters at the point, by parameter, such as `8` for `clients`.
    pub values: Named<String>,
    /// Name of the side that has a valid run at the point.
    pub side: String,
    /// True if the other side was measured at the point too, but has only invalid runs there.
    pub is_lost: bool,
}

impl PairReport {
    /// Returns the results that the headline states, so that they can be changed: the primary
    /// figure over all points, or at the only point, or that of each workload if there are several.
    fn on_the_whole(&mut self) -> Vec<&mut Judged> {
        match &mut self.points[..] {
            _ if !self.by_workload.is_empty() => {
                self.by_workload.iter_mut().map(|workload| &mut workload.primary).collect()
            }
            [point] if self.overall.is_none() => vec![&mut point.primary],
            _ => self.overall.iter_mut().collect(),
        }
    }

    /// Returns the points at which the baseline has valid runs and the compared side only invalid.
    pub fn lost(&self) -> impl Iterator<Item = &UnpairedPoint> {
        self.points_unpaired.iter().filter(|point| point.is_lost && point.side != self.side)
    }
}

/// One of several workloads in a comparison, judged by its own primary figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadPair {
    pub workload: String,
    /// Comparison of the primary figure of this workload over all of its points.
    pub primary: Judged,
}

/// Comparison of a side with the baseline at one point (combination of varied parameters).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointPair {
    /// Values of the varied parameters at the point, by parameter, such as `8` for `clients`.
    pub values: Named<String>,
    pub primary: Judged,
    pub others: Vec<Judged>,
    /// Figures without a value: runs have too few samples. A limit on such a figure is undecided.
    #[serde(skip)]
    lacking: Vec<Judged>,
}

/// A figure of a side, compared with the same figure of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub figure: String,
    /// Direction in which the figure improves: higher, lower or neither.
    #[serde(default)]
    pub better: Direction,
    /// Mean and error of the figure over the baseline's runs; null if not known.
    pub baseline: Option<Figure>,
    /// Mean and error of the figure over the compared side's runs; null if not known.
    pub side: Option<Figure>,
    /// Center (mean or median, see `center`) of the judged runs: of the baseline, then of the
    /// compared side. The second divided by the first is the ratio. Null if not known.
    #[serde(default)]
    pub centers: [Option<f64>; 2],
    /// Kind of the values in `centers`: geometric mean or median.
    #[serde(default)]
    pub center: Center,
    /// Medians of the figure over the baseline's and the compared side's runs; null if not known.
    #[serde(default)]
    pub medians: [Option<f64>; 2],
    /// The compared side's center divided by the baseline's, with its CI. Null if not judged.
    pub ratio: Option<Ratio>,
    /// p-value of the hypothesis that baseline and compared side do not differ, before correction;
    /// null if there are too few runs for a test.
    pub p: Option<f64>,
    /// The p-value corrected for all figures that are judged together (Hommel); null if not tested.
    pub p_corrected: Option<f64>,
    /// Smallest change, as a share, that this comparison would have found with a power of 80 %;
    /// null if there are too few runs.
    pub detectable: Option<f64>,
    pub verdict: Verdict,
    /// Reason for the verdict in words; null if the verdict needs no explanation.
    pub why: Option<String>,
    /// True if runs of the same repeat were compared as pairs; false if all runs of the compared
    /// side were compared with all runs of the baseline.
    #[serde(default)]
    pub is_within_repeats: bool,
    /// True if only the test of means was applied, at a stricter level, because there are too few
    /// runs for a test of ranks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_by_means: bool,
    /// The difference adjusted for a linear drift; `None` if runs alternated or there is no ratio.
    #[serde(skip)]
    beside_drift: Option<BesideDrift>,
    /// Natural logarithms of the figure in each run: of the baseline, then of the compared side.
    #[serde(skip)]
    of_runs: [Vec<f64>; 2],
    /// True if some runs of the baseline or of the compared side lack the figure.
    #[serde(skip)]
    is_lacking: bool,
    /// Logarithm of the ratio of side to baseline for each repeat; `None` if runs are not paired.
    #[serde(skip)]
    within: Option<Vec<f64>>,
    /// Lower and upper one-sided 95 % confidence bound of the ratio, for limits on a change; `None`
    /// if there are too few runs or a figure is infinite.
    #[serde(skip)]
    bounds: Option<(f64, f64)>,
    /// Pairs of runs of the same repeat, if the two sides took turns in at least three repeats;
    /// null otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<RunPairs>,
}

impl Judged {
    /// Returns true if the sides' runs did not alternate, so a drift may explain the difference.
    fn may_be_drift(&self) -> bool {
        // A drift does not lose transactions.
        let is_finite = self.ratio.is_none_or(|ratio| ratio.value.is_finite());
        is_finite && self.beside_drift.is_some_and(|beside| beside.p >= BESIDE_DRIFT)
    }

    /// Returns the lower and upper one-sided 95 % confidence bound of the ratio, adjusted for a
    /// linear drift of the machine; `None` if the runs alternated, or these bounds are not known.
    fn bounds_beside_drift(&self) -> Option<(f64, f64)> {
        self.beside_drift?.bounds
    }
}

/// Test of a difference, adjusted for a linear drift, of sides whose runs did not alternate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BesideDrift {
    /// p-value of the hypothesis that baseline and compared side do not differ beyond the drift.
    p: f64,
    /// Lower and upper one-sided 95 % confidence bound of the ratio. `None` if transactions were
    /// lost: a drift of the machine does not explain losses.
    bounds: Option<(f64, f64)>,
}

/// Kind of mean by which a set of runs is represented in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Center {
    /// The geometric mean. The ratio of two sides is the quotient of their geometric means.
    #[default]
    GeometricMean,
    /// The median, for runs without a geometric mean: some figure is infinite or zero.
    Median,
}

/// The ratio of a figure to its baseline, with its CI. Infinite values are null in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The compared side's geometric mean divided by the baseline's. If some figure has no
    /// geometric mean, the median of the ratios over all pairs of runs.
    pub value: f64,
    /// Lower and upper end of the confidence interval; null if there are too few runs.
    pub interval: Option<(f64, f64)>,
    /// Confidence of the interval, as a share: 0.95, or more with few runs. Null without interval.
    pub confidence: Option<f64>,
}

/// Smallest difference between two sides' shares of invalid runs that makes comparing only the
/// valid runs unfair: the change under test may itself invalidate runs.
pub(crate) const LOST_UNEVEN: f64 = 0.25;

impl SideReport {
    /// Returns the share of the side's runs that did not complete or are invalid, from 0 to 1.
    fn lost_share(&self) -> f64 {
        let lost = self.runs_not_counted as f64;
        lost / (lost + self.n_valid as f64)
    }

    /// Describes the runs of this side that the comparison leaves out, such as `2 of 5 runs of new
    /// do not count: overloaded (2)`; empty if there are none.
    pub fn lost_words(&self) -> String {
        lost_words(&self.name, &self.not_counted, self.n_valid as usize).unwrap_or_default()
    }

    /// Says that runs of this side of the comparison are in progress, such as `new is still being
    /// measured (01a1ffb6)`; `None` if every run has ended.
    pub fn running_words(&self) -> Option<String> {
        running_words(std::slice::from_ref(&self.name), &self.running)
    }
}

impl ComparisonReport {
    /// Returns the side of the pair whose share of invalid runs is larger than the other's by more
    /// than 0.25: comparing only valid runs favours it. `None` if the shares are similar.
    pub fn unevenly_lost(&self, pair: &PairReport) -> Option<&SideReport> {
        let base = self.sides.first()?;
        let side = self.sides.iter().find(|side| side.name == pair.side)?;
        let more = side.lost_share() - base.lost_share();
        (more.abs() > LOST_UNEVEN).then_some(if more > 0.0 { side } else { base })
    }

    /// Lists the load parameters, such as `clients`, in which the compared side differs from the
    /// baseline, with the values of baseline and side. Parameters that both names state are left
    /// out, because the user then compares them on purpose.
    pub fn load_differs(&self, pair: &PairReport) -> Vec<(String, [String; 2])> {
        self.place_of(pair).map_or_else(Vec::new, |at| {
            differences::of_load(&self.differences, at, self.names_to(at))
        })
    }

    /// Warns that the baseline was measured after the side that is compared with it, since the user
    /// may have swapped them. `None` if it was measured first, or if the names of both state their
    /// difference, such as `clients=8`.
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

    /// Returns the number of repeats from which on interleaved runs are compared as pairs: with
    /// fewer, pairs cannot show a difference.
    pub fn pairs_min(&self) -> usize {
        pairs_min(self.pairs.len())
    }

    /// Returns the newest run's age in seconds; `None` if it is not known or less than an hour.
    pub fn age_s(&self) -> Option<u64> {
        let (_, newest) = self.scene.begun?;
        let age_s = (self.seen_unix_ms? - newest.as_millisecond()) / 1_000;
        u64::try_from(age_s).ok().filter(|age| *age >= OLD_S)
    }

    fn place_of(&self, pair: &PairReport) -> Option<usize> {
        self.sides.iter().position(|side| side.name == pair.side)
    }

    fn is_named_by_difference(&self, side: usize) -> bool {
        differences::are_named_by(&self.differences, side, self.names_to(side))
    }

    /// Returns the names of the baseline and of the side with this index.
    fn names_to(&self, side: usize) -> [&str; 2] {
        [0, side].map(|at| self.sides[at].name.as_str())
    }

    /// Compares each side (a named set of runs) with the first one, the baseline. Returns an error
    /// if there are fewer than two sides, if one has no valid run or lacks the primary figure, or
    /// if a side has no point in common with the baseline.
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
        compared::have_figure(sides, &primary)?;
        let pairs_min = pairs_min(others.len());
        let asked = judge.primary.as_ref().map(|_| primary.as_str());
        let min_effect = judge.min_effect;
        let judged = JudgedFigures { asked, primary: &primary, others: &figures, min_effect };
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
        // Runs at other points say nothing about the figures.
        let (whole, sides) = (sides, &*compared::compared(sides));
        let all: Vec<&Report> = sides.iter().flat_map(reports).collect();
        let reports_shared = |side| shared(sides, side).flat_map(|point| &point.reports);
        let of_sides: Vec<Vec<&Report>> =
            sides.iter().map(|side| reports_shared(side).collect()).collect();
        let first = shared(sides, baseline).next();
        let side_report = |(side, whole): (&Side, &Side)| {
            let points = shared(sides, side).collect::<Vec<_>>();
            let n_valid = reports(whole).count() as u64;
            SideReport { n_valid, ..side_report(side, &points, first, (&primary, better)) }
        };
        let report = ComparisonReport {
            schema: SCHEMA.to_owned(),
            scene: Environment::from_reports(&all),
            command: None,
            seen_unix_ms: None,
            sides: sides.iter().zip(whole).map(side_report).collect(),
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
            by_rule: None,
        };
        Ok(report.with_names(sides).with_guarantees(sides))
    }
}

/// Returns the smallest number of repeats that are compared as pairs, with `n_others` sides besides
/// the baseline.
fn pairs_min(n_others: usize) -> usize {
    pairs_needed(FIRST / n_others as f64)
}

/// Returns an error if a side has no valid run, with the reasons why its runs are left out.
fn have_runs(sides: &[Side]) -> Result<(), String> {
    if let Some(side) = sides.iter().find(|side| reports(side).next().is_none()) {
        if let Some(words) = running_words(std::slice::from_ref(&side.name), &side.running) {
            return Err(format!("{words}, and no run of it that counts has ended"));
        }
        let (name, whys) = (&side.name, in_words(&whys(&side.not_counted)));
        return Err(match whys.is_empty() {
            true => format!("{name} is not compared, because it has no run"),
            false if whys.contains("(interrupted)") => format!(
                "{name} is not compared, because no run of it counts: {whys}; go on with 'dbdyno \
                 experiments resume', or run it again"
            ),
            false => format!("{name} is not compared, because no run of it counts: {whys}"),
        });
    }
    Ok(())
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
    // Other runs of the side are not compared.
    let compared: Vec<&Report> = shared.iter().flat_map(|point| &point.reports).collect();
    let modes = crate::environment::common_modes(&compared);
    SideReport {
        name: side.name.clone(),
        runs: reports(side).map(|report| report.run_id.clone()).collect(),
        n_valid: 0,
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
        notes: crate::trials::notes(reports(side)),
        lost_percent: reports(side)
            .map(|report| report.block.counts.lost_percent())
            .fold(0.0, f64::max),
        modes_vary: compared.iter().any(|report| report.modes.len() > modes.len()),
        modes,
        begun: reports(side).map(|report| report.started).min(),
        trend: side.points.iter().find_map(|point| RunsTrend::find(point, primary)),
    }
}

/// Returns the values of a figure in those runs that have it, in the order of the runs.
pub(crate) fn values_of(reports: &[Report], name: &str) -> Vec<f64> {
    reports.iter().filter_map(|report| value_of(report, name)).collect()
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
