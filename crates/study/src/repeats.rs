//! Repeats of an experiment: whether there are enough of them, and how much builds, server starts
//! and runs vary.
//!
//! Only repeats of the highest level are independent of each other. Runs of one start of a server,
//! or of one build of the data, count as their mean. If a stop rule ends the repeats, intervals are
//! those of a sequential method in `stats`, which is valid at every look. All functions are pure
//! functions of trials, so an experiment that resumes after a crash stops where it would have
//! stopped. Not here: the execution of trials (app), and pages (render).

use analysis::figures::{direction_in, value_of};
use analysis::report::{Named, Report};
use model::{Direction, Experiment, FactValue, Goal, Level, StopRule};
use serde::{Deserialize, Serialize};
use stats::{Components, Mean, Nested};

use crate::shown_figures::{figures_of, primary_of};
use crate::trials::{TrialReport, counts};

/// Confidence of intervals. The error rate of decisions between points is 1 minus it.
const CONFIDENCE: f64 = 0.95;
/// Differences between two points, as shares, for which the report advises numbers of repeats.
const DIFFERENCES: [f64; 3] = [0.01, 0.02, 0.05];
/// Subject of facts about the time that a trial took to restart the server or rebuild the data.
pub const TRIAL: &str = "trial";
/// Name of the fact with the seconds that the restart of the server before a trial took.
pub const RESTART_S: &str = "restart_s";
/// Name of the fact with the seconds that the rebuild of the data before a trial took.
pub const REBUILD_S: &str = "rebuild_s";

/// Figures and duration of a valid trial, from which stop rules and levels of variation are
/// computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    point: u32,
    repeat: u32,
    figures: Vec<(String, f64)>,
    /// Name of the figure that would be primary if the trial's run were the only one.
    primary: String,
    /// Names of the figures that are better if they are lower.
    less_is_better: Vec<String>,
    /// Squared relative standard error of the run's TPS, estimated from the scatter within the run;
    /// `None` if not known.
    within: Option<f64>,
    /// Seconds that the run, the restart and the rebuild took; 0 for one that did not take place.
    spent_s: [f64; 3],
    /// Names of the percentiles that have no confidence interval within the run.
    uncertain: Vec<String>,
}

impl Measured {
    /// Reads the figures and duration from a trial's report; `also` names a further figure to keep.
    pub fn from_report(point: u32, repeat: u32, report: &Report, also: Option<&str>) -> Measured {
        let block = &report.block;
        let within = block.tps.zip(block.tps_ci95.as_ref()).map(|(tps, interval)| {
            // There are so many slots of 100 ms that Student's t is nearly normal.
            (interval.half_width / stats::students_t(0.975, 1_000) / tps).powi(2)
        });
        let of_trial =
            |name: &str| report.fact(TRIAL, name).and_then(FactValue::as_seconds).unwrap_or(0.0);
        let primary = primary_of(&[report]);
        let mut figures = figures_of(report, also.as_slice());
        if figures.iter().all(|(name, _)| *name != primary) {
            figures.extend(value_of(report, &primary).map(|value| (primary.clone(), value)));
        }
        let is_less_better = |name: &&String| direction_in(name, [report]) == Direction::Lower;
        let names = figures.iter().map(|(name, _)| name);
        let less_is_better = names.filter(is_less_better).cloned().collect();
        let run_s = report.elapsed_seconds.unwrap_or(0.0);
        Measured {
            point,
            repeat,
            figures,
            primary,
            less_is_better,
            within: within.filter(|within| within.is_finite()),
            spent_s: [run_s, of_trial(RESTART_S), of_trial(REBUILD_S)],
            uncertain: block
                .offered_ms
                .interval_reasons
                .iter()
                .map(|(name, _)| name.to_owned())
                .collect(),
        }
    }

    /// Reads the figures and durations of all valid trials of an experiment.
    pub fn of_all(experiment: &Experiment, trials: &[TrialReport]) -> Vec<Measured> {
        let also = experiment.stop.as_ref().and_then(|rule| rule.figure.as_deref());
        let counted = trials.iter().filter(|trial| counts(&trial.report));
        let to_measured = |trial: &TrialReport| {
            Measured::from_report(trial.point, trial.repeat, &trial.report, also)
        };
        counted.map(to_measured).collect()
    }

    fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Returns the name of the figure whose precision ends the repeats: that of the rule, or else the
/// primary one.
fn looked_at<'r>(rule: &'r StopRule, measured: &'r [Measured]) -> &'r str {
    rule.figure.as_deref().unwrap_or_else(|| primary(measured))
}

/// Name of the primary figure of trials that all have open load.
const OPEN: &str = "p99_ms";

/// Returns the name of the experiment's primary figure: `p99_ms` if all trials have open load,
/// otherwise the first primary figure of a trial that is neither `p99_ms` nor `tps`, or else `tps`.
fn primary(measured: &[Measured]) -> &str {
    let mut others = measured.iter().map(|one| one.primary.as_str()).filter(|name| *name != OPEN);
    match measured.iter().all(|one| one.primary == OPEN) {
        true if !measured.is_empty() => OPEN,
        _ => others.find(|name| *name != "tps").unwrap_or("tps"),
    }
}

/// Returns the mean of each repeat of the highest repeated level (builds, else starts, else runs),
/// in order. Each given figure comes with the number of that repeat.
fn means(figures: impl Iterator<Item = (u32, f64)>) -> Vec<(u32, f64)> {
    let mut all: Vec<(u32, Vec<f64>)> = Vec::new();
    for (unit, figure) in figures {
        match all.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, values)) => values.push(figure),
            None => all.push((unit, vec![figure])),
        }
    }
    all.sort_by_key(|(unit, _)| *unit);
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    all.into_iter().map(|(unit, values)| (unit, mean(values))).collect()
}

fn means_at(
    experiment: &Experiment,
    measured: &[Measured],
    (point, name, units): (u32, &str, u32),
) -> Vec<(u32, f64)> {
    let here = measured.iter().filter(|one| one.point == point);
    let by_unit = here.filter_map(|one| Some((experiment.unit_of(one.repeat), one.figure(name)?)));
    means(by_unit.filter(|(unit, _)| *unit < units))
}

/// Returns the mean of a figure at a point, given its value in each run, preceded by the index of
/// the repeat. The confidence interval is valid although a stop rule may have ended the repeats.
/// `None` without figures.
pub(crate) fn mean_of(experiment: &Experiment, figures: &[(u32, f64)]) -> Option<Mean> {
    let by_unit = figures.iter().map(|(repeat, figure)| (experiment.unit_of(*repeat), *figure));
    let values: Vec<f64> = means(by_unit).into_iter().map(|(_, mean)| mean).collect();
    match experiment.stop.as_ref().map(|rule| rule.goal) {
        None => stats::mean(&values, CONFIDENCE),
        Some(Goal::Precise { .. }) => stats::precise(&values),
        Some(Goal::Decided { .. }) => stats::anytime(&values, CONFIDENCE),
    }
}

/// Verdict on a point of an experiment, compared with its baseline: the point that has the first
/// value of the first varied parameter and the same values of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairVerdict {
    Better,
    Worse,
    /// The difference from the baseline is smaller than the minimum effect, with confidence.
    Equivalent,
    /// There are not yet enough repeats to decide whether the point differs from its baseline.
    Undecided,
}

impl PairVerdict {
    /// Returns the name of the verdict as pages show it.
    pub fn name(self) -> &'static str {
        match self {
            PairVerdict::Better => "better",
            PairVerdict::Worse => "worse",
            PairVerdict::Equivalent => "equivalent",
            PairVerdict::Undecided => "undecided",
        }
    }
}

/// A decision about a point of an experiment, compared with its baseline: the point that has the
/// first value of the first varied parameter and the same values of all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairDecision {
    /// Values of the varied parameters at the point, by parameter, such as `8` for `clients`.
    pub values: Named<String>,
    /// Values of the varied parameters at the point that is the baseline, by parameter.
    pub baseline: Named<String>,
    /// The point's figure divided by its baseline's: geometric mean over the repeats that both
    /// have. Null if there is none.
    pub ratio: Option<f64>,
    /// Confidence interval of the ratio, which is valid after any number of repeats; null if there
    /// are too few.
    pub interval: Option<(f64, f64)>,
    /// Confidence of the interval. It is so high that all pairs together have 95 %.
    pub confidence: f64,
    /// Number of repeats that both points have, counted on the highest repeated level: builds of
    /// the data, else server starts, else runs.
    pub repeats: u64,
    pub verdict: PairVerdict,
}

/// The precision of a figure at a point, compared with the one that a stop rule requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointPrecision {
    /// Values of the varied parameters at the point, by parameter, such as `8` for `clients`.
    pub values: Named<String>,
    /// Number of repeats that have the figure, counted on the highest repeated level: builds of the
    /// data, else server starts, else runs.
    pub repeats: u64,
    /// Half the width of the confidence interval, as a share of the mean; null if not known.
    pub half_width_share: Option<f64>,
    /// True if the confidence interval is as narrow as the stop rule demands, and the rule's
    /// minimum of repeats is made.
    pub is_reached: bool,
}

/// The result of the stop rule that ends an experiment's repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopReport {
    /// The stop rule as users write it, with its maximum: `until=2%,min=4,max=20`.
    pub rule: String,
    /// The figure that has to become precise or decided.
    pub figure: String,
    /// Statistical method whose confidence holds however often the results are looked at, in words.
    pub method: String,
    /// True if the goal of the stop rule is reached: the figure is precise or decided at every
    /// point.
    pub is_reached: bool,
    /// Number of repeats that were made at the point with the most, counted on the highest repeated
    /// level: builds of the data, else server starts, else runs.
    pub repeats: u64,
    /// Largest number of repeats that the stop rule allows, counted on the highest repeated level:
    /// builds of the data, else server starts, else runs.
    pub repeats_most: u64,
    /// Time that all valid trials took in seconds, with restarts and rebuilds.
    pub spent_s: f64,
    /// Precision of each point, if precision is the goal of the rule; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointPrecision>,
    /// Decision about each point but the baselines, if decisions are the goal of the rule;
    /// otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairDecision>,
    /// Warning about an error that more repeats do not reduce; null if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
}

fn values_of(experiment: &Experiment, point: u32) -> Named<String> {
    Named(experiment.trial((point, 0)).values)
}

fn precision(
    experiment: &Experiment,
    measured: &[Measured],
    (point, name, units): (u32, &str, u32),
    rule: &StopRule,
    share: f64,
) -> PointPrecision {
    let means = means_at(experiment, measured, (point, name, units));
    let values: Vec<f64> = means.into_iter().map(|(_, mean)| mean).collect();
    let found = stats::precise(&values);
    let width = found.and_then(|mean| Some(mean.half_width? / mean.value.abs()));
    let width = width.filter(|width| width.is_finite());
    PointPrecision {
        values: values_of(experiment, point),
        repeats: values.len() as u64,
        half_width_share: width,
        is_reached: values.len() >= rule.min as usize && width.is_some_and(|width| width <= share),
    }
}

/// Returns the pairs of points that an experiment compares, by their indices. The first of a pair
/// has another than the first value of the first varied parameter; the second, its baseline, has
/// this first value, and the same values of all other parameters.
fn pairs(experiment: &Experiment) -> Vec<(u32, u32)> {
    let Some(first) = experiment.axes.first().and_then(|axis| axis.values.first()) else {
        return Vec::new();
    };
    let values = |point: u32| &experiment.points[point as usize].values;
    let all = 0..experiment.points.len() as u32;
    let is_baseline = |point: &u32| values(*point).first() == Some(first);
    let with_baseline = |point: u32| {
        let mut same = (0..experiment.points.len() as u32).filter(is_baseline);
        Some((point, same.find(|base| values(*base)[1..] == values(point)[1..])?))
    };
    all.filter(|point| !is_baseline(point)).filter_map(with_baseline).collect()
}

fn decision(
    experiment: &Experiment,
    measured: &[Measured],
    ((point, base), name, units): ((u32, u32), &str, u32),
    rule: &StopRule,
    (min_effect, confidence): (f64, f64),
) -> PairDecision {
    let [side, baseline] =
        [point, base].map(|point| means_at(experiment, measured, (point, name, units)));
    let ratio = |(unit, mean): &(u32, f64)| {
        let (_, other) = baseline.iter().find(|(known, _)| known == unit)?;
        Some((mean / other).ln()).filter(|ratio| ratio.is_finite())
    };
    let ratios: Vec<f64> = side.iter().filter_map(ratio).collect();
    let found = stats::anytime(&ratios, confidence);
    let ends = found.and_then(|mean| Some((mean.value, mean.half_width?)));
    let ends = ends.filter(|(_, half_width)| half_width.is_finite());
    let interval = ends.map(|(mean, half_width)| (mean - half_width, mean + half_width));
    let min_effect = min_effect.ln_1p();
    let verdict = match (ends, interval) {
        (Some((mean, _)), Some((low, high))) if ratios.len() >= rule.min as usize => {
            let is_less_better =
                measured.iter().any(|one| one.less_is_better.iter().any(|known| known == name));
            let is_better = (mean < 0.0) == is_less_better;
            match (low > 0.0 || high < 0.0) && mean.abs() > min_effect {
                _ if low >= -min_effect && high <= min_effect => PairVerdict::Equivalent,
                true if is_better => PairVerdict::Better,
                true => PairVerdict::Worse,
                false => PairVerdict::Undecided,
            }
        }
        _ => PairVerdict::Undecided,
    };
    PairDecision {
        values: values_of(experiment, point),
        baseline: values_of(experiment, base),
        ratio: found.map(|mean| mean.value.exp()),
        interval: interval.map(|(low, high)| (low.exp(), high.exp())),
        confidence,
        repeats: ratios.len() as u64,
        verdict,
    }
}

/// Decides about all points of an experiment but the baselines, by the first `units` repeats. All
/// confidence intervals together have the confidence [`CONFIDENCE`].
fn decisions(
    experiment: &Experiment,
    measured: &[Measured],
    rule: &StopRule,
    (min_effect, units): (f64, u32),
) -> Vec<PairDecision> {
    let (name, pairs) = (looked_at(rule, measured), pairs(experiment));
    let confidence = 1.0 - (1.0 - CONFIDENCE) / pairs.len().max(1) as f64;
    let to_decision = |pair| {
        let place = (pair, name, units);
        decision(experiment, measured, place, rule, (min_effect, confidence))
    };
    pairs.into_iter().map(to_decision).collect()
}

/// Returns true if the goal of the stop rule is reached, at `point` or at all points, by the first
/// `units` repeats of the highest repeated level (builds, else starts, else runs). A goal of
/// decisions always concerns all points. False without a rule.
pub fn is_reached(
    experiment: &Experiment,
    measured: &[Measured],
    point: Option<u32>,
    units: u32,
) -> bool {
    let Some(rule) = experiment.stop.as_ref().filter(|rule| units >= rule.min) else {
        return false;
    };
    match rule.goal {
        Goal::Precise { share } => {
            let name = looked_at(rule, measured);
            let mut points = 0..experiment.points.len() as u32;
            points.all(|at| {
                let is_asked = point.is_none_or(|point| point == at);
                let place = (at, name, units);
                !is_asked || precision(experiment, measured, place, rule, share).is_reached
            })
        }
        Goal::Decided { min_effect } => {
            let all = decisions(experiment, measured, rule, (min_effect, units));
            all.iter().all(|pair| pair.verdict != PairVerdict::Undecided)
        }
    }
}

/// Returns the number of planned trials of each point. If some of a point's trials already satisfy
/// the stop rule, only these count.
pub(crate) fn trials_of_points(experiment: &Experiment, measured: &[Measured]) -> Vec<u64> {
    let most = experiment.units();
    let of_unit = u64::from(experiment.repeats / most.max(1));
    let units_of = |point: Option<u32>| {
        let enough = (1..most).find(|units| is_reached(experiment, measured, point, *units));
        u64::from(enough.unwrap_or(most)) * of_unit
    };
    let n_points = experiment.points.len() as u32;
    match experiment.order {
        model::Order::Sequential => (0..n_points).map(|point| units_of(Some(point))).collect(),
        _ => vec![units_of(None); n_points as usize],
    }
}

/// Returns the result of the stop rule that ends an experiment's repeats; `None` for an experiment
/// without a stop rule.
pub(crate) fn stop_report(experiment: &Experiment, measured: &[Measured]) -> Option<StopReport> {
    let rule = experiment.stop.as_ref()?;
    let most = experiment.units();
    let n_points = experiment.points.len() as u32;
    let made = measured.iter().map(|one| experiment.unit_of(one.repeat) + 1).max().unwrap_or(0);
    let name = looked_at(rule, measured);
    let (points, pairs, method) = match rule.goal {
        Goal::Precise { share } => {
            let at_point = |at| precision(experiment, measured, (at, name, most), rule, share);
            let method = format!(
                "Student's t at {} % after each repeat, which keeps 95 % at the stop (Chow and \
                 Robbins 1965, constant by simulation)",
                stats::LOOK_CONFIDENCE * 100.0
            );
            ((0..n_points).map(at_point).collect(), Vec::new(), method)
        }
        Goal::Decided { min_effect } => {
            let pairs = decisions(experiment, measured, rule, (min_effect, most));
            let method = "anytime-valid confidence sequence of the t statistic over ratios of \
                          repeats of the same number (Lai 1976; Wang and Ramdas 2025), all pairs \
                          together at 95 %";
            (Vec::new(), pairs, method.to_owned())
        }
    };
    let is_reached = points.iter().all(|point: &PointPrecision| point.is_reached)
        && pairs.iter().all(|pair| pair.verdict != PairVerdict::Undecided);
    Some(StopReport {
        rule: format!("{rule},max={most}"),
        figure: name.to_owned(),
        method,
        is_reached,
        repeats: made.into(),
        repeats_most: most.into(),
        spent_s: measured.iter().flat_map(|one| one.spent_s).sum(),
        points,
        pairs,
        caution: too_short_for(name, measured),
    })
}

/// Warns that a percentile is biased low, if most runs are too short for its confidence interval:
/// longer runs contain more of the rare slow periods. `None` if they are long enough, or the figure
/// is not a percentile.
fn too_short_for(figure: &str, measured: &[Measured]) -> Option<String> {
    let quantile = figure.strip_suffix("_ms")?;
    let is_uncertain = |one: &&Measured| one.uncertain.iter().any(|name| name == quantile);
    let n = measured.iter().filter(is_uncertain).count();
    (2 * n > measured.len()).then(|| {
        format!(
            "{n} of {} runs are too short for an interval of their own {quantile}: the mean over \
             short runs is below the {quantile} of a long one (by 5 % in runs of 10 s of a queue \
             at 80 % load), which no number of repeats mends. Run longer.",
            measured.len()
        )
    })
}

/// Beginning of the reason of [`not_fixed`] if a stop rule decided the number of repeats.
pub(crate) const ENDED_BY_RESULTS: &str = "The results decided the number of repeats";

/// Returns the reason why comparisons are too certain about this experiment: its runs are not
/// independent, or a stop rule decided their number. `None` if neither is true.
pub fn not_fixed(experiment: &Experiment) -> Option<String> {
    let show = format!("dbdyno experiments show {}", experiment.id);
    if let Some(rule) = &experiment.stop {
        let most = experiment.units();
        return Some(format!(
            "{ENDED_BY_RESULTS} of {} ({rule},max={most}): these intervals \
             are too narrow, and verdicts too confident. Those that hold: {show}.",
            experiment.name
        ));
    }
    (experiment.level() != Level::Run && experiment.runs_together() > 1).then(|| {
        format!(
            "Runs of {} are nested in {}s and not independent: intervals here are too narrow, and \
             verdicts too confident. For intervals between {}s: {show}.",
            experiment.name,
            experiment.level().name(),
            experiment.level().name()
        )
    })
}

/// Variation of a figure that one level of repeats (builds of the data, server starts or runs)
/// adds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelReport {
    pub level: Level,
    /// Standard deviation that the level adds, in percent of the mean.
    pub sd_percent: f64,
    /// Share of the level in the total variance of a single run, from 0 to 1.
    pub share: f64,
    /// Degrees of freedom of the estimate. With only one or two, the variation is hardly known.
    pub freedom: u64,
    /// True if the estimated variance is negative and so reported as 0, because lower levels of
    /// repeats explain all variation.
    pub is_negative: bool,
}

/// Numbers of repeats with which a difference between two points would be found with a power of 80
/// %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Size of the difference between two points that is to be found, in percent.
    pub difference_percent: f64,
    /// Number of runs per start of the server, or per build if starts are not repeated.
    pub runs: u64,
    /// Number of server starts per build of the data; null if starts are not repeated.
    pub restarts: Option<u64>,
    /// Number of builds of the data; null if builds are not repeated.
    pub rebuilds: Option<u64>,
    /// Time that these repeats take at each point, in seconds; null if not known.
    pub seconds: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelsReport {
    pub figure: String,
    /// Variation added by each level that is repeated, the highest first: builds, starts, runs.
    pub levels: Vec<LevelReport>,
    /// Variance within a run divided by the variance between runs; null if not known. Longer runs
    /// reduce the variance within a run. If the quotient is above 1, that variance explains all
    /// variation between runs.
    pub within_run: Option<f64>,
    /// Numbers of repeats that are needed to find a difference of 1, 2 or 5 % between points.
    pub advice: Vec<Advice>,
}

/// Returns the variation of the primary figure by level; `None` if only runs are repeated.
pub(crate) fn levels(experiment: &Experiment, measured: &[Measured]) -> Option<LevelsReport> {
    if experiment.level() == Level::Run {
        return None;
    }
    let name = primary(measured);
    let of_point = |point: u32| -> Vec<Nested> {
        let here = measured.iter().filter(|one| one.point == point);
        let nested = |one: &Measured| {
            let (build, restart) = experiment.build_and_start(one.repeat);
            Some(Nested { build, restart, figure: one.figure(name).filter(|x| x.is_finite())? })
        };
        here.filter_map(nested).collect()
    };
    let points: Vec<Vec<Nested>> = (0..experiment.points.len() as u32).map(of_point).collect();
    let found = stats::components(&points);
    let total: f64 = found.iter().flatten().map(|component| component.variance).sum();
    let level = |(level, component): (Level, Option<stats::Component>)| {
        let component = component?;
        Some(LevelReport {
            level,
            sd_percent: component.variance.sqrt() * 100.0,
            share: if total > 0.0 { component.variance / total } else { 0.0 },
            freedom: component.freedom as u64,
            is_negative: component.is_negative,
        })
    };
    let of_levels = Level::ALL.into_iter().zip(found).rev();
    let levels: Vec<LevelReport> = of_levels.filter_map(level).collect();
    let within: Vec<f64> = measured.iter().filter_map(|one| one.within).collect();
    let of_runs = found[0].map(|component| component.variance);
    let is_rate = name != OPEN;
    let within_run = of_runs.filter(|variance| *variance > 0.0 && is_rate && !within.is_empty());
    let within_run =
        within_run.map(|variance| within.iter().sum::<f64>() / within.len() as f64 / variance);
    let advice = DIFFERENCES.into_iter().filter_map(|difference| {
        advice(experiment, &found, costs(experiment, measured), difference)
    });
    Some(LevelsReport { figure: name.to_owned(), levels, within_run, advice: advice.collect() })
}

/// Returns the mean seconds that a run with its pause, a restart and a rebuild take; 0 for each of
/// these that the experiment does not make.
fn costs(experiment: &Experiment, measured: &[Measured]) -> [f64; 3] {
    let mean = |level: usize| {
        let spent = measured.iter().map(|one| one.spent_s[level]).filter(|s| *s > 0.0);
        let (n, sum) = spent.fold((0, 0.0), |(n, sum), s| (n + 1, sum + s));
        if n == 0 { 0.0 } else { sum / f64::from(n) }
    };
    [mean(0) + experiment.pause_ns as f64 / 1e9, mean(1), mean(2)]
}

fn advice(
    experiment: &Experiment,
    found: &Components,
    costs: [f64; 3],
    difference: f64,
) -> Option<Advice> {
    let design = stats::design_for(found, costs, difference)?;
    let nesting = experiment.nesting;
    let seconds = stats::cost_of(design, costs);
    Some(Advice {
        difference_percent: difference * 100.0,
        runs: design[0] as u64,
        restarts: nesting.restarts.map(|_| design[1] as u64),
        rebuilds: nesting.rebuilds.map(|_| design[2] as u64),
        seconds: Some(seconds).filter(|seconds| *seconds > 0.0),
    })
}

#[cfg(test)]
mod tests;
