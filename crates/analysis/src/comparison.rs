//! Sides held against each other: what differs between them, and what that did to the figures.
//!
//! A side is some runs of a point or of several; the first is the baseline. Of each other side and
//! point one figure, the primary, is judged: better, worse, too small to matter, differs by an
//! unknown size, no evidence, or cannot be judged. Two tests have to agree (`stats::Comparison`),
//! on the logarithms of what whole runs have measured, so that differences are ratios; the error
//! within a run says nothing of how runs differ and is not used. Where sides took turns in enough
//! repeats, runs of the same repeat are held against each other, so that a drift is no part of it.
//! Better or worse takes both: a chance below 5 % that figures lie so if nothing differs, and a
//! ratio beyond the minimum effect. The p-values of all that headlines state are corrected together
//! over sides, points and figures (Hommel), and those of all other figures as a family of their
//! own. Where runs did not take turns, a difference that a drift explains is no verdict on a side.
//! Work that was lost makes a time infinite: it has its rank as any other. A pure function of
//! reports. Not here: which runs make a side (app), and how it looks (render).

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

use jiff::Timestamp;
use model::Imported;
use model::numbers::count;
use serde::{Deserialize, Serialize};
use stats::pairs_needed;

use crate::experiment::{Curve, curve_of};
use crate::figures::{
    Figure, are_builds, check_name, figure, is_less_better, known_by, primary_of, resolve, title,
    units_in, value_of,
};
use crate::report::{Named, Report};

use crate::environment::Environment;
pub use beside::GaugeChange;
pub use differences::{Difference, Mixed};
pub use differences::{between, telling};
pub use durability::unequally_durable;
pub use each_transaction::{EachTransaction, EachTransactionAt, figure_title};
pub use gate::{Gate, GatePlace, GateResult, Passed, UndecidedBy};
pub use median_run::MedianRun;
use median_run::median_run;
use naming::apart;
pub(crate) use pairs::held_against;
use pairs::pair;
pub use verdicts::beside;
use verdicts::judge_all;

/// The schema of [`ComparisonReport`].
pub const SCHEMA: &str = "dbdyno.comparison/1";
/// Of the intervals, and what is left of it is the chance of error of a verdict.
const CONFIDENCE: f64 = 0.95;
/// The chance that any side is said to differ on the whole if none does.
const FIRST: f64 = 0.04;
/// The chance that more is said to differ of sides of which the whole is not.
const SECOND: f64 = 0.01;
/// A difference in blocks that is likelier than this beside a drift may be one.
const BESIDE_DRIFT: f64 = 0.03;
/// The ratio from which on a difference matters, unless told otherwise: 1 %.
pub const MIN_EFFECT: f64 = 0.01;
/// Runs are said to be old from an hour on: a step of a pipeline before may have failed.
const OLD_S: u64 = 3600;
/// What is judged of builds of data, in the order of the page.
const OF_BUILDS: [&str; 6] = [
    "build.rows_per_s",
    "build.bytes_per_s",
    "build.elapsed_s",
    "build.load_s",
    "build.index_s",
    "build.analyse_s",
];

/// Figures judged after the workload's primary figure where runs have them, in the order of the
/// page.
pub const FIGURES: [&str; 4] = ["tps", "p50_ms", "p95_ms", "p99_ms"];

/// Runs that belong together, as they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// Its points.
    pub points: Vec<SidePoint>,
    /// Runs that were left out: not completed, or found invalid.
    pub not_counted: Vec<NotCounted>,
    /// IDs of runs in progress, or of the experiment with trials in progress.
    pub running: Vec<String>,
    /// The plan that makes its runs once more, where there is one of them all.
    pub plan: Option<String>,
    /// Whether its name is a run's id, and tells nobody what it is.
    pub is_unnamed: bool,
}

impl Side {
    /// One without any run yet.
    pub fn named(name: String) -> Side {
        let (points, not_counted, running) = (Vec::new(), Vec::new(), Vec::new());
        Side { name, points, not_counted, running, plan: None, is_unnamed: false }
    }
}

/// A run that was left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotCounted {
    /// Which.
    pub run: String,
    /// Its point, where it is known.
    pub values: Option<Named<String>>,
    /// Why, in words.
    pub why: String,
}

/// The runs of a side at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct SidePoint {
    /// Where it is, by axis; points of equal values are held against each other.
    pub values: Named<String>,
    /// The runs that count.
    pub reports: Vec<Report>,
    /// Which repeat each of them is: those of equal number at all points make a figure together.
    pub repeats: Vec<u32>,
}

/// How it is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judge {
    /// The figure that is judged; that of the workload if none is named.
    pub primary: Option<String>,
    /// The ratio from which on a difference matters, as a share.
    pub min_effect: f64,
    /// Figures that are judged besides, for limits.
    pub also: Vec<String>,
}

impl Judge {
    /// What is asked for in words: a figure by name, and the minimum effect in percent such as
    /// `2%`. An `Err` begins with which of the two is wrong.
    pub fn asked(figure: Option<&str>, min_effect: Option<&str>) -> Result<Judge, String> {
        let named = |name: &str| match check_name(name) {
            Ok(()) => Ok(name.trim().to_owned()),
            Err(why) => Err(format!("figure '{name}': {why}")),
        };
        let share = |text: &str| {
            // Whether 0.05 is to be 5 % or a twentieth of one, nobody can know.
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

    /// The figure that is judged. An `Err` says that no run has the one that is asked for.
    pub(crate) fn primary_of(&self, reports: &[&Report]) -> Result<String, String> {
        match &self.primary {
            Some(name) => resolve(name, reports.iter().copied()),
            None => Ok(primary_of(reports)),
        }
    }

    /// Falls back to the figure of a limit if the user named no figure and the default one is
    /// missing on some side.
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

    /// All that is judged besides `primary`, where runs have it.
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

/// Whether a ratio lies beyond the minimum effect.
pub(crate) fn matters(ratio: f64, min_effect: f64) -> bool {
    ratio.ln().abs() > (1.0 + min_effect).ln()
}

/// Whether a figure that has changed by a ratio has changed for the worse.
pub(crate) fn is_worse(figure: &str, ratio: f64) -> bool {
    (ratio > 1.0) == is_less_better(figure)
}

/// What is to be thought of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is better than the baseline.
    Better,
    /// It is worse.
    Worse,
    /// It is more than of the baseline, and neither is better.
    Higher,
    /// It is less, and neither is better.
    Lower,
    /// If it differs, then surely by less than matters.
    BelowMinEffect,
    /// It differs, and perhaps by less than matters.
    SizeNotKnown,
    /// A difference, or a drift of the machine: the runs did not take turns, and a drift as fast as
    /// that within the sides explains it.
    DiffersOrDrifted,
    /// The runs do not show that it differs.
    NoEvidence,
    /// The runs could not have shown anything.
    CannotJudge,
}

impl Verdict {
    /// All, in the order in which they are reported.
    pub const ALL: [Verdict; 9] = [
        Verdict::Better,
        Verdict::Worse,
        Verdict::Higher,
        Verdict::Lower,
        Verdict::SizeNotKnown,
        Verdict::DiffersOrDrifted,
        Verdict::BelowMinEffect,
        Verdict::NoEvidence,
        Verdict::CannotJudge,
    ];

    /// As it is read.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Higher => "higher",
            Verdict::Lower => "lower",
            Verdict::BelowMinEffect => "too small to matter",
            Verdict::SizeNotKnown => "differs, size not known",
            Verdict::DiffersOrDrifted => "differs, or the machine drifted",
            Verdict::NoEvidence => "no evidence",
            Verdict::CannotJudge => "undecided",
        }
    }
}

/// What sides, held against the first, have shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// The figure that is judged.
    pub primary: String,
    /// Units of the figures of primary and custom metrics and gauges among those that are
    /// judged, by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub units: Named<String>,
    /// The ratio from which on a difference matters, as a share.
    pub min_effect: f64,
    /// What was measured, on what and when.
    pub scene: Environment,
    /// The command that makes this comparison again, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Time of the request in milliseconds since 1970, from which the age of the runs follows; none
    /// for pages that are kept.
    #[serde(skip)]
    pub seen_unix_ms: Option<i64>,
    /// The sides, the baseline first.
    pub sides: Vec<SideReport>,
    /// What differs between them besides the figures.
    pub differences: Vec<Difference>,
    /// What differs between runs of a side that make one figure together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<Mixed>,
    /// Each other side against the baseline.
    pub pairs: Vec<PairReport>,
    /// Runs that are left out, since their reports are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// Figures that were measured elsewhere, which its charts show too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<Imported>,
    /// Why intervals and verdicts hold less often than they say: how runs were repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<String>,
}

/// A side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideReport {
    /// What it is called.
    pub name: String,
    /// Its runs that count.
    pub runs: Vec<String>,
    /// The run with the median of the primary figure, at the first point that all sides have: it
    /// is drawn over those of the other sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_run: Option<MedianRun>,
    /// Runs that were left out: not completed, or found invalid.
    pub runs_not_counted: u64,
    /// How many different seeds its runs have: those of one seed replay the same inputs.
    #[serde(default)]
    pub seeds: u64,
    /// Which these are, and why.
    pub not_counted: Vec<NotCounted>,
    /// IDs of runs in progress, or of the experiment with trials in progress; only ended runs are
    /// compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<String>,
    /// The plan that makes its runs once more, in TOML; null where it is not known.
    pub plan: Option<String>,
    /// The primary figure over the axis, where there is one and it is of numbers.
    pub curve: Option<Curve>,
    /// Findings of at least a warning, by id, and in how many runs.
    pub findings: Named<u64>,
    /// By id what was measured in the first of these runs, in a sentence.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub cases: Named<String>,
    /// The same of all of these runs, with a range for each number; without those whose words
    /// differ.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub case_ranges: Named<String>,
    /// What failed or was dropped of all that was offered, in percent: the most of one run.
    #[serde(default)]
    pub lost_percent: f64,
    /// The modes that all its runs have in common, such as `synchronous=full`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// When the first of its runs that count began, in RFC 3339.
    #[serde(default)]
    pub begun: String,
}

/// A side against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    /// Which side, by name.
    pub side: String,
    /// Whether runs of both took turns; if not, a drift of the machine counts as a difference.
    pub is_interleaved: bool,
    /// Sentence on the side that may lose commits which the other keeps; none if both are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// How many seeds runs of both have, where a simulated database drew the same random numbers
    /// of them and the runs are not judged in pairs: then they are not independent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seeds_shared: u64,
    /// All points together, where there are several: the geometric mean over them, one figure a
    /// repeat.
    pub overall: Option<Judged>,
    /// The other figures, in the same way.
    pub overall_others: Vec<Judged>,
    /// Repeats of either side that some point lacks, and `overall` therefore leaves out.
    pub repeats_left_out: u64,
    /// Point by point.
    pub points: Vec<PointPair>,
    /// Points of which only one of the two has a run that counts.
    pub points_unpaired: Vec<UnpairedPoint>,
    /// What a transaction takes on both sides, what explains most of a difference first; nothing of
    /// it is judged.
    #[serde(default)]
    pub each_transaction: Vec<EachTransactionAt>,
    /// The gauges that changed most, the clearest change first; nothing of it is judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gauges_changed: Vec<GaugeChange>,
}

/// A point that only one of two sides has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpairedPoint {
    /// Where, by axis.
    pub values: Named<String>,
    /// The side that has a run there that counts.
    pub side: String,
    /// Whether the other one was tried there, and no run of it counts.
    pub is_lost: bool,
}

impl PairReport {
    /// What the side is on the whole: over all points, or at the only one.
    fn on_the_whole(&mut self) -> Option<&mut Judged> {
        match &mut self.points[..] {
            [point] if self.overall.is_none() => Some(&mut point.primary),
            _ => self.overall.as_mut(),
        }
    }

    /// The points that were tried with the side, and at which it has no run that counts although
    /// the baseline has.
    pub fn lost(&self) -> impl Iterator<Item = &UnpairedPoint> {
        self.points_unpaired.iter().filter(|point| point.is_lost && point.side != self.side)
    }
}

/// A point of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointPair {
    /// Where, by axis.
    pub values: Named<String>,
    /// The primary figure.
    pub primary: Judged,
    /// The others.
    pub others: Vec<Judged>,
    /// Figures without a value, of which runs have too few samples: limits on them are undecided.
    #[serde(skip)]
    lacking: Vec<Judged>,
}

/// A figure of a side against the baseline's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Which.
    pub figure: String,
    /// The baseline's, over its runs.
    pub baseline: Option<Figure>,
    /// The side's.
    pub side: Option<Figure>,
    /// The medians over the runs of the baseline and of the side.
    #[serde(default)]
    pub medians: [Option<f64>; 2],
    /// The side's over the baseline's; null where it cannot be judged, but for one run a side,
    /// where it has no interval.
    pub ratio: Option<Ratio>,
    /// The chance that ranks lie so or farther apart if nothing differs.
    pub p: Option<f64>,
    /// The same, corrected for everything that is judged beside it.
    pub p_corrected: Option<f64>,
    /// The ratio, as a share above 1, that would have been found in four of five such comparisons
    /// if nothing else that is judged beside it differed; null where that takes more runs.
    pub detectable: Option<f64>,
    /// What is to be thought of it.
    pub verdict: Verdict,
    /// Why, where it is not plain.
    pub why: Option<String>,
    /// Whether runs of the same repeat were held against each other, and not all against all.
    #[serde(default)]
    pub is_within_repeats: bool,
    /// Whether means alone were tested, at a stricter level: the runs are too few for ranks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_by_means: bool,
    /// Difference adjusted for a drift through all runs, where the sides did not take turns.
    #[serde(skip)]
    beside_drift: Option<BesideDrift>,
    /// Logarithms of the figures of the baseline's runs and of the side's.
    #[serde(skip)]
    of_runs: [Vec<f64>; 2],
    /// Whether some runs do not have the figure.
    #[serde(skip)]
    is_lacking: bool,
    /// What these differ by within each repeat, where that is judged.
    #[serde(skip)]
    within: Option<Vec<f64>>,
    /// One-sided 95 % bounds of the ratio, for limits on a change.
    #[serde(skip)]
    bounds: Option<(f64, f64)>,
    /// Of how many pairs of runs these are; none where runs did not take turns.
    #[serde(skip)]
    n_pairs: Option<usize>,
}

impl Judged {
    /// Whether runs did not take turns, and a drift would explain what they differ by.
    fn may_be_drift(&self) -> bool {
        // No drift loses work.
        let is_finite = self.ratio.is_none_or(|ratio| ratio.value.is_finite());
        is_finite && self.beside_drift.is_some_and(|beside| beside.p >= BESIDE_DRIFT)
    }

    /// One-sided 95 % bounds of the ratio beside a drift, where runs did not take turns.
    fn bounds_beside_drift(&self) -> Option<(f64, f64)> {
        self.beside_drift?.bounds
    }
}

/// A difference of two sides, adjusted for a drift through all runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BesideDrift {
    /// The chance of such a difference if the sides are equal.
    p: f64,
    /// One-sided 95 % bounds of the ratio; none where work was lost, which no drift does.
    bounds: Option<(f64, f64)>,
}

/// A ratio with its interval. In JSON an infinite one is null.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median over all pairs of runs.
    pub value: f64,
    /// The interval's ends; null of one run a side.
    pub interval: Option<(f64, f64)>,
    /// The interval's confidence: with few runs more than the 95 % that are asked for.
    pub confidence: Option<f64>,
}

/// Above this difference between the sides' shares of excluded runs, the change itself may be the
/// reason why runs are excluded.
pub(crate) const LOST_UNEVEN: f64 = 0.25;

impl SideReport {
    /// The share of runs that do not count, from 0 to 1.
    fn lost_share(&self) -> f64 {
        let lost = self.runs_not_counted as f64;
        lost / (lost + self.runs.len() as f64)
    }

    /// Says how many runs do not count and why: `2 of 5 runs of new do not count: overloaded (2)`.
    pub fn lost_words(&self) -> String {
        lost_words(&self.name, &self.not_counted, self.runs.len()).unwrap_or_default()
    }

    /// Names a run in progress, such as `new is still being measured (01a1ffb6)`; none if every run
    /// has ended.
    pub fn running_words(&self) -> Option<String> {
        running_words(&self.name, &self.running)
    }
}

/// Says how many runs of a side do not count and why, such as `2 of 5 runs of new do not count:
/// overloaded (2)`; none if all count.
pub(crate) fn lost_words(name: &str, lost: &[NotCounted], n_counted: usize) -> Option<String> {
    let verb = if lost.len() == 1 { "does" } else { "do" };
    let (n, all) = (lost.len(), count((lost.len() + n_counted) as u64, "run"));
    let whys = in_words(&whys(lost));
    (n > 0).then(|| format!("{n} of {all} of {name} {verb} not count: {whys}"))
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
    /// The side of a pair that has many more excluded runs than the other: comparing only its
    /// remaining runs favours it (survivorship).
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
    /// none if the names of the sides state their difference, such as `clients=8`.
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

    /// Age of the newest run in seconds, since its start; none below an hour.
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

    /// Holds the sides against the first. A `Err` says in a sentence why that makes no sense.
    pub fn new(sides: &[Side], judge: &Judge) -> Result<ComparisonReport, String> {
        let [baseline, others @ ..] = sides else {
            return Err("nothing to compare: name at least two sides".to_owned());
        };
        if others.is_empty() {
            return Err("nothing to compare: name another side".to_owned());
        }
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
        let pair = |side: &Side| pair(baseline, side, (&primary, &figures), pairs_min);
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
        judge_all(&mut pairs, &primary, judge.min_effect);
        let reports_shared = |side| shared(sides, side).flat_map(|point| &point.reports);
        let of_sides: Vec<Vec<&Report>> =
            sides.iter().map(|side| reports_shared(side).collect()).collect();
        let first = shared(sides, baseline).next();
        let side_report =
            |side| side_report(side, &shared(sides, side).collect::<Vec<_>>(), first, &primary);
        let report = ComparisonReport {
            schema: SCHEMA.to_owned(),
            scene: Environment::of(&all),
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
            min_effect: judge.min_effect,
            pairs,
            damaged: Vec::new(),
            imported: Vec::new(),
            repeats: Vec::new(),
        };
        Ok(report.with_names(sides).with_durability(sides))
    }

    /// Adds the sentences on durability, in which sides stand by their final names.
    fn with_durability(mut self, sides: &[Side]) -> ComparisonReport {
        for (at, pair) in self.pairs.iter_mut().enumerate() {
            let both = [0, at + 1].map(|at| (&*self.sides[at].name, reports(&sides[at])));
            pair.durability = durability::unequal(both);
        }
        self
    }
}

/// Why runs do not count, and how many of them each reason has.
fn whys(runs: &[NotCounted]) -> Named<u64> {
    let mut by_why = Named::default();
    runs.iter().for_each(|run| by_why.count(&run.why, 1));
    by_why
}

/// The points of a side that all sides have; where there is none, all of its own. What other
/// points have would look like a difference between the sides.
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
    primary: &str,
) -> SideReport {
    let is_first = |point: &&&SidePoint| first.is_some_and(|first| first.values == point.values);
    let drawn = shared.iter().find(is_first).or(shared.first());
    let figures = |point: &SidePoint| figure(&values_of(&point.reports, primary));
    let curve = match shared.first().map(|point| &point.values.0[..]) {
        Some([(axis, _)]) => {
            let measured = shared
                .iter()
                .filter_map(|point| Some((point.values.0.first()?.1.clone(), figures(point)?)));
            curve_of(axis, &measured.collect::<Vec<_>>(), primary)
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

/// The figure of each run that has it.
pub(crate) fn values_of(reports: &[Report], name: &str) -> Vec<f64> {
    reports.iter().filter_map(|report| value_of(report, name)).collect()
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
