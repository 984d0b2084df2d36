//! What an experiment has shown: a figure with its error for each point, and curves over an axis.
//!
//! A pure function of the experiment and the reports of its runs. Not here: how it is walked
//! (app), and how it looks (render).

use model::{Experiment, Finding, Load, is_arrival_rate, short_axis};
use serde::{Deserialize, Serialize};
use stats::{Mean, NoFit, NoPeak, Scalability};

use crate::findings::{in_short, judge_order};
use crate::repeats::{
    LevelsReport, Measured, UntilReport, levels, mean_of, trials_of_points, until,
};
use crate::report::{Latency, Named, Report, Status};
use crate::seek::{achieved, keeps_up};
use crate::store;

/// The schema of [`ExperimentReport`].
pub const SCHEMA: &str = "dbdyno.experiment/1";
/// Of the intervals between trials.
const CONFIDENCE: f64 = 0.95;
/// Above this the law's residuals say that it does not fit.
pub(crate) const RESIDUAL_MOST: f64 = 0.10;

/// What a reason says of a figure that some runs have, after how many of how many.
const IN_SOME: &str = "runs have it";

/// How many of a point's runs have a figure that is not the point's, as its reason tells.
pub(crate) fn have_it(reason: &str) -> Option<&str> {
    reason.split_once(IN_SOME).map(|(share, _)| share.trim_end())
}

/// A trial that has a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Trialled {
    /// Which point.
    pub point: u32,
    /// Which of its trials.
    pub repeat: u32,
    /// What was measured.
    pub report: Report,
}

/// The report of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// When it was begun, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// Whether its trials are being made, and how that ended; null where that is not known.
    #[serde(default)]
    pub status: Option<store::Status>,
    /// What was varied.
    pub axes: Vec<model::Axis>,
    /// In which order trials are made.
    pub order: model::Order,
    /// What becomes of the data between trials.
    pub data: model::DataPolicy,
    /// Trials that are to be made.
    pub trials: u64,
    /// Trials that count: completed, and not found invalid.
    pub trials_done: u64,
    /// The figure by which points are judged: `nopm` or `tps`, the highest first; where users
    /// arrive at a rate in every trial `p99_ms`, the lowest first.
    pub primary: String,
    /// The points.
    pub points: Vec<PointReport>,
    /// The primary figure over the axis, if there is one axis and it is of numbers.
    pub curve: Option<Curve>,
    /// Up to where a rate is kept, where it is varied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateReport>,
    /// The law that throughput over clients follows, where that is the axis.
    pub scalability: Option<ScalabilityReport>,
    /// Why no law is fitted, where clients are the axis.
    pub no_scalability: Option<String>,
    /// What is to be thought of the way in which it was walked.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Runs that are left out, since their reports are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// The plan with its axes that makes it once more, in TOML; null where there is none.
    #[serde(default)]
    pub plan: Option<String>,
    /// What became of the rule that ends its repeats; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilReport>,
    /// Where the variation is; absent where no level above runs is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<LevelsReport>,
}

/// A point and what was measured there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointReport {
    /// Its values, by axis.
    pub values: Named<String>,
    /// The runs that count, in the order of their repeats.
    pub runs: Vec<String>,
    /// Trials that were begun and do not count.
    pub runs_not_counted: u64,
    /// What was measured, by name.
    pub figures: Named<Figure>,
    /// Why a figure is not among them, by its name: a time may have too few samples, in all of the
    /// runs that count or in some. The mean over others would be another point's.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub reasons: Named<String>,
    /// Findings of at least a warning, by id, and in how many runs.
    pub findings: Named<u64>,
    /// By id what was measured in the first of these runs, in a sentence.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub cases: Named<String>,
}

/// Up to where a rate of arrivals is kept. Times tell nothing of that: they are least at the least
/// rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateReport {
    /// The axis.
    pub axis: String,
    /// The point, from 0, with the highest rate at which every run has finished what was offered
    /// while it was; null if there is none.
    pub kept: Option<usize>,
}

/// A figure over a point's runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The mean over runs.
    pub mean: f64,
    /// Half the width of its 95 % interval; null of one run. It is that of repeats of the highest
    /// level: of restarts or rebuilds, where these are repeated. Where a rule ends repeats, it is
    /// that of its sequential method.
    pub half_width: Option<f64>,
    /// The lowest of a run.
    pub min: f64,
    /// The highest of a run.
    pub max: f64,
    /// Runs that have the figure.
    pub count: u64,
}

impl Figure {
    /// Whether the intervals of two means meet; one run has none.
    pub(crate) fn reaches(&self, other: &Figure) -> bool {
        let apart = (self.mean - other.mean).abs();
        let both = self.half_width.zip(other.half_width);
        both.is_some_and(|(mine, theirs)| apart <= mine + theirs)
    }
}

/// The primary figure along an axis of numbers: what a reader asks of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Of what.
    pub figure: String,
    /// Over what.
    pub axis: String,
    /// Where the axis begins.
    pub first: f64,
    /// The mean over the points.
    pub mean: f64,
    /// The best: the highest, or of times the lowest.
    pub best: f64,
    /// Where that is.
    pub best_at: String,
    /// Other points whose 95 % intervals reach the best's: it may as well be there.
    pub best_also: Vec<String>,
    /// Where the axis ends.
    pub last: f64,
}

/// The Universal Scalability Law of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalabilityReport {
    /// What one client gets, with its 90 % interval.
    pub lambda: [f64; 3],
    /// Contention: value, low and high.
    pub sigma: [f64; 3],
    /// Coherency: value, low and high.
    pub kappa: [f64; 3],
    /// Clients at the highest throughput; null where that is not known.
    pub peak_clients: Option<f64>,
    /// Its 90 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_clients_interval: Option<(f64, f64)>,
    /// The throughput there.
    pub peak: Option<f64>,
    /// Its 90 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_interval: Option<(f64, f64)>,
    /// Why there is no peak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_peak: Option<String>,
    /// Root mean square of the residuals, as a share.
    pub residual: f64,
    /// The largest residual as a share, and at how many clients.
    pub worst: (f64, u32),
    /// False: the residuals are too large to believe it.
    pub fits: bool,
    /// The chance that points lie as far from the law, against how repeats scatter, if it holds;
    /// null without repeats. Below 0.01 intervals are as wide as the points' own distance from the
    /// law makes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack_of_fit: Option<f64>,
}

impl ScalabilityReport {
    /// The law's throughput at so many clients.
    pub fn throughput(&self, clients: f64) -> f64 {
        let [[lambda, ..], [sigma, ..], [kappa, ..]] = [self.lambda, self.sigma, self.kappa];
        Scalability::throughput_of([lambda, sigma, kappa], clients)
    }
}

/// The times of a run that are judged: of all that was offered, so that what was lost counts. A
/// database that refuses what it is slow at gets no better by it.
fn times_of(report: &Report) -> &Latency {
    &report.block.offered_ms
}

/// Why quantiles are not known, by the names of their figures.
pub(crate) fn reasons(times: &Latency) -> Named<String> {
    let named = [("p50_ms", "p50"), ("p95_ms", "p95"), ("p99_ms", "p99")].into_iter();
    let why = |(name, q): (&str, &str)| Some((name.to_owned(), times.reasons.get(q)?.clone()));
    Named(named.filter_map(why).collect())
}

/// Why a run does not have a figure, where it says so.
pub(crate) fn why_none(report: &Report, name: &str) -> Option<String> {
    let is_known = figures_of(report).iter().any(|(known, _)| *known == name);
    reasons(times_of(report)).get(name).filter(|_| !is_known).cloned()
}

/// The figures of a run, by name, as an experiment shows them.
pub(crate) fn figures_of(report: &Report) -> Vec<(&'static str, f64)> {
    let block = &report.block;
    let is_open = matches!(report.load, Some(Load::Open { .. }));
    let times = times_of(report);
    let counts = &block.counts;
    let offered = counts.offered.max(1) as f64;
    let errors = (counts.failed + counts.dropped) as f64 / offered * 100.0;
    let time = |name: &str, value: Option<f64>| match value {
        None if times.is_among_lost(name) => Some(f64::INFINITY),
        value => value,
    };
    let wait = block.wait_ms.mean.zip(block.response_ms.mean).filter(|_| is_open);
    let all = [
        ("nopm", block.nopm),
        ("tps", block.tps),
        ("p50_ms", time("p50", times.p50)),
        ("p95_ms", time("p95", times.p95)),
        ("p99_ms", time("p99", times.p99)),
        ("wait_percent", wait.map(|(wait, response)| wait / response * 100.0)),
        ("errors_percent", Some(errors)),
        ("unfinished", Some(counts.unfinished as f64)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Whether a trial counts.
pub fn counts(report: &Report) -> bool {
    let is_invalid = |finding: &model::Finding| finding.severity == model::Severity::Invalid;
    report.status == Status::Completed && !report.findings.iter().any(is_invalid)
}

/// Whether a trial that does not count would end in the same way again: the plan lets a full queue
/// end it.
pub fn is_settled(report: &Report) -> bool {
    report.status == Status::QueueFull
}

/// What was found that keeps a trial from counting.
fn against(report: &Report) -> impl Iterator<Item = &Finding> {
    let is_against = |finding: &&Finding| {
        finding.severity == model::Severity::Invalid || finding.id == report.status.name()
    };
    report.findings.iter().filter(is_against)
}

/// Why a trial does not count, in the words of what was found.
pub fn why_not(report: &Report) -> String {
    let told: Vec<&str> = against(report).map(|finding| finding.text.as_str()).collect();
    match told.is_empty() {
        true => format!("it is {}", report.status.name()),
        false => told.join(" "),
    }
}

/// The same in a few words that are the same for all runs of the kind.
pub fn why_not_in_short(report: &Report) -> String {
    match against(report).next() {
        Some(finding) => in_short(&finding.id),
        None => format!("it is {}", report.status.name()),
    }
}

impl ExperimentReport {
    /// What the trials so far have shown; whether there will be more, the store knows. `bits` draw
    /// the resamples of the law's intervals.
    pub fn new(
        experiment: &Experiment,
        trials: &[Trialled],
        bits: &mut dyn FnMut() -> u64,
    ) -> ExperimentReport {
        let points: Vec<PointReport> = (0..experiment.points.len() as u32)
            .map(|point| point_report(experiment, point, trials))
            .collect();
        let measured = Measured::of_all(trials);
        let primary = primary_of(&trials.iter().map(|trial| &trial.report).collect::<Vec<_>>());
        let curve = curve(experiment, &points, primary);
        let rate = if is_time(primary) { rate_kept(experiment, trials) } else { None };
        let law = scalability(experiment, trials, primary, bits);
        let (scalability, no_scalability) = match law {
            None => (None, None),
            Some(Ok(law)) => (Some(law), None),
            Some(Err(why)) => (None, Some(why)),
        };
        ExperimentReport {
            schema: SCHEMA.to_owned(),
            id: experiment.id.clone(),
            name: experiment.name.clone(),
            started_unix_ms: experiment.started_unix_ms,
            status: None,
            axes: experiment.axes.clone(),
            order: experiment.order,
            data: experiment.data,
            trials: trials_of_points(experiment, &measured).iter().sum(),
            trials_done: points.iter().map(|point| point.runs.len() as u64).sum(),
            primary: primary.to_owned(),
            points,
            curve,
            rate,
            scalability,
            no_scalability,
            findings: judge_order(experiment.order, experiment.points.len(), experiment.repeats)
                .into_iter()
                .collect(),
            damaged: Vec::new(),
            plan: None,
            until: until(experiment, &measured),
            levels: levels(experiment, &measured),
        }
    }
}

/// The figure by which runs are judged: where users arrive at a rate in all of them `p99_ms`, else
/// `nopm` where any has it, else `tps`.
pub(crate) fn primary_of(reports: &[&Report]) -> &'static str {
    let is_open = |report: &&Report| matches!(report.load, Some(Load::Open { .. }));
    match reports.iter().any(|report| report.block.nopm.is_some()) {
        _ if !reports.is_empty() && reports.iter().all(is_open) => "p99_ms",
        true => "nopm",
        false => "tps",
    }
}

/// Findings of at least a warning, by id, and in how many of the runs.
pub(crate) fn warnings<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<u64> {
    let mut found = Named::default();
    warned(reports).for_each(|finding| found.count(&finding.id, 1));
    found
}

/// What was measured in the first run with each of these findings: its first sentence, which the
/// advice follows.
pub(crate) fn cases<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<String> {
    let mut found = Named::default();
    for finding in warned(reports) {
        if found.get(&finding.id).is_none() {
            let first = finding.text.split_once(". ").map_or(&*finding.text, |(first, _)| first);
            found.push(&finding.id, first.trim_end_matches('.').to_owned());
        }
    }
    found
}

fn warned<'r>(reports: impl Iterator<Item = &'r Report>) -> impl Iterator<Item = &'r Finding> {
    let all = reports.flat_map(|report| &report.findings);
    all.filter(|finding| finding.severity != model::Severity::Note)
}

fn point_report(experiment: &Experiment, point: u32, trials: &[Trialled]) -> PointReport {
    let mut here: Vec<&Trialled> = trials.iter().filter(|trial| trial.point == point).collect();
    here.sort_by_key(|trial| trial.repeat);
    let (counted, not_counted): (Vec<&Trialled>, Vec<&Trialled>) =
        here.into_iter().partition(|trial| counts(&trial.report));
    let mut names: Vec<&'static str> = Vec::new();
    let is_rate = experiment.axes.iter().any(|axis| is_arrival_rate(&axis.name));
    let figures = counted.iter().map(|trial| {
        let kept = achieved(&trial.report).filter(|_| is_rate).map(|share| share * 100.0);
        let kept = kept.map(|percent| ("achieved_percent", percent));
        figures_of(&trial.report).into_iter().chain(kept).collect()
    });
    let figures: Vec<Vec<(&'static str, f64)>> = figures.collect();
    for (name, _) in figures.iter().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let values_of = |name: &str| -> Vec<f64> {
        figures.iter().flatten().filter(|(n, _)| *n == name).map(|(_, value)| *value).collect()
    };
    let is_whole = |name: &str| values_of(name).len() == counted.len();
    let of = |name: &&'static str| {
        let values = Some(values_of(name)).filter(|_| is_whole(name))?;
        let repeats = counted.iter().map(|trial| trial.repeat);
        let by_repeat: Vec<(u32, f64)> = repeats.zip(values.iter().copied()).collect();
        let figure = figure_of(&values, mean_of(experiment, &by_repeat)?);
        Some(((*name).to_owned(), figure))
    };
    let values = experiment.axes.iter().map(|axis| axis.name.clone());
    let values = values.zip(experiment.points[point as usize].values.iter().cloned());
    let reasons: Vec<Named<String>> =
        counted.iter().map(|trial| reasons(times_of(&trial.report))).collect();
    let in_none = reasons.first().map(|first| first.0.clone()).unwrap_or_default();
    let in_none = in_none.into_iter().filter(|(name, _)| !names.contains(&name.as_str()));
    let in_some = names.iter().filter(|name| !is_whole(name)).map(|name| {
        let why = reasons.iter().find_map(|reasons| reasons.get(name));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        let (have, of) = (values_of(name).len(), counted.len());
        ((*name).to_owned(), format!("{have} of {of} {IN_SOME}{why}"))
    });
    PointReport {
        values: Named(values.collect()),
        runs: counted.iter().map(|trial| trial.report.run_id.clone()).collect(),
        runs_not_counted: not_counted.len() as u64,
        figures: Named(names.iter().filter_map(of).collect()),
        reasons: Named(in_none.chain(in_some).collect()),
        findings: warnings(counted.iter().map(|trial| &trial.report)),
        cases: cases(counted.iter().map(|trial| &trial.report)),
    }
}

pub(crate) fn figure(values: &[f64]) -> Option<Figure> {
    Some(figure_of(values, stats::mean(values, CONFIDENCE)?))
}

/// The figure of these runs, with a mean that may be of repeats of another level.
fn figure_of(values: &[f64], Mean { value, half_width, .. }: Mean) -> Figure {
    Figure {
        mean: value,
        half_width: half_width.filter(|half_width| half_width.is_finite()),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        count: values.len() as u64,
    }
}

fn curve(experiment: &Experiment, points: &[PointReport], primary: &str) -> Option<Curve> {
    let [axis] = &experiment.axes[..] else { return None };
    let measured: Vec<(String, Figure)> = points
        .iter()
        .zip(&axis.values)
        .filter_map(|(point, value)| Some((value.clone(), *point.figures.get(primary)?)))
        .collect();
    curve_of(&axis.name, &measured, primary)
}

/// The figure over an axis; none where its values are not numbers, or fewer than two.
pub(crate) fn curve_of(axis: &str, measured: &[(String, Figure)], primary: &str) -> Option<Curve> {
    if measured.len() < 2 || measured.iter().any(|(value, _)| number(value).is_none()) {
        return None;
    }
    let (first, last) = (measured[0].1, measured[measured.len() - 1].1);
    let (best_at, best) =
        measured.iter().rev().max_by(|a, b| better(primary, &a.1, &b.1)).expect("there are two");
    let also = measured.iter().filter(|(value, figure)| value != best_at && figure.reaches(best));
    Some(Curve {
        figure: primary.to_owned(),
        axis: axis.to_owned(),
        first: first.mean,
        mean: measured.iter().map(|(_, figure)| figure.mean).sum::<f64>() / measured.len() as f64,
        best: best.mean,
        best_at: best_at.clone(),
        best_also: also.map(|(value, _)| value.clone()).collect(),
        last: last.mean,
    })
}

/// Which of two figures is the better one: of times the lower.
pub fn better(name: &str, a: &Figure, b: &Figure) -> std::cmp::Ordering {
    match is_time(name) {
        true => b.mean.total_cmp(&a.mean),
        false => a.mean.total_cmp(&b.mean),
    }
}

/// Whether less of a figure is better.
pub(crate) fn is_time(name: &str) -> bool {
    name.ends_with("_ms")
}

/// A value of an axis, if it is a number.
pub fn number(value: &str) -> Option<f64> {
    value.parse::<f64>().ok().or_else(|| model::parse_count(value).ok().map(|n| n as f64))
}

/// None where no rate is varied, or how it changes is.
fn rate_kept(experiment: &Experiment, trials: &[Trialled]) -> Option<RateReport> {
    let index = experiment.axes.iter().position(|axis| is_arrival_rate(&axis.name))?;
    let rate = |point: u32| {
        let value = &experiment.points[point as usize].values[index];
        model::parse_rate(value).ok()
    };
    let all = (0..experiment.points.len() as u32).map(|point| Some((rate(point)?, point)));
    let all = all.collect::<Option<Vec<(f64, u32)>>>()?;
    let is_kept = |point: u32| {
        let here = |trial: &&Trialled| trial.point == point && counts(&trial.report);
        let mut here = trials.iter().filter(here).peekable();
        here.peek().is_some() && here.all(|trial| keeps_up(&trial.report))
    };
    let kept = all.into_iter().filter(|(_, point)| is_kept(*point));
    let highest = kept.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let axis = experiment.axes[index].name.clone();
    Some(RateReport { axis, kept: highest.map(|(_, point)| point as usize) })
}

/// None where clients are not the axis.
fn scalability(
    experiment: &Experiment,
    trials: &[Trialled],
    primary: &str,
    bits: &mut dyn FnMut() -> u64,
) -> Option<Result<ScalabilityReport, String>> {
    let [axis] = &experiment.axes[..] else { return None };
    let is_closed = |trial: &Trialled| trial.report.load == Some(Load::Closed);
    if short_axis(&axis.name) != "clients" || !trials.iter().all(is_closed) {
        return None;
    }
    let throughput = |trial: &Trialled| {
        let found = figures_of(&trial.report).into_iter().find(|(name, _)| *name == primary)?;
        Some((trial.report.clients, found.1))
    };
    // Runs of one start of a server are no repeats of the law's.
    let mut by_unit: Vec<((u32, u32), u32, Vec<f64>)> = Vec::new();
    for trial in trials.iter().filter(|trial| counts(&trial.report)) {
        let Some((clients, figure)) = throughput(trial) else { continue };
        let unit = (trial.point, experiment.unit_of(trial.repeat));
        match by_unit.iter_mut().find(|(known, ..)| *known == unit) {
            Some((.., of)) => of.push(figure),
            None => by_unit.push((unit, clients, vec![figure])),
        }
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let points: Vec<(u32, f64)> =
        by_unit.iter().map(|(_, clients, of)| (*clients, mean(of))).collect();
    Some(match Scalability::fit(&points, bits) {
        Ok(law) => Ok(law_report(&law)),
        Err(NoFit::TooFewPoints(n)) => Err(format!(
            "the scalability law takes at least {} different numbers of clients, and there are {n}",
            Scalability::POINTS_MIN
        )),
        Err(NoFit::NoThroughput) => {
            Err("the scalability law needs throughput at every point".to_owned())
        }
    })
}

fn law_report(law: &Scalability) -> ScalabilityReport {
    let [lambda, sigma, kappa] = law.intervals;
    let fits = law.residual <= RESIDUAL_MOST && !law.lacks_fit();
    let peak = law.peak.ok().filter(|_| fits);
    let no_peak = match law.peak {
        _ if !fits => Some(
            "no peak: the law does not fit; read it off the points, or measure more of them"
                .to_owned(),
        ),
        Ok(_) => None,
        Err(NoPeak::LevelsOff) => {
            Some("no peak: within the error, throughput only levels off".to_owned())
        }
        Err(NoPeak::Beyond(clients)) => Some(format!(
            "no peak within what was measured: the law has one at about {clients:.0} clients; \
             measure there"
        )),
    };
    ScalabilityReport {
        lambda: [law.lambda, lambda.0, lambda.1],
        sigma: [law.sigma, sigma.0, sigma.1],
        kappa: [law.kappa, kappa.0, kappa.1],
        peak_clients: peak.map(|peak| peak.clients),
        peak_clients_interval: peak.map(|peak| peak.clients_interval),
        peak: peak.map(|peak| peak.throughput),
        peak_interval: peak.map(|peak| peak.throughput_interval),
        no_peak,
        residual: law.residual,
        worst: law.worst,
        fits,
        lack_of_fit: law.lack_of_fit,
    }
}

#[cfg(test)]
mod tests {
    use model::{Dice, Severity, Stream};

    use super::*;
    use crate::charts::made::{long_sweep, sweep_of};
    use crate::render;

    fn report(change: impl FnOnce(&mut Vec<Trialled>)) -> ExperimentReport {
        let (experiment, mut trials) = sweep_of([1, 2, 4, 8, 16]);
        change(&mut trials);
        let mut dice = Dice::new(1, Stream::Order, 0);
        ExperimentReport::new(&experiment, &trials, &mut || dice.bits())
    }

    #[test]
    fn a_figure_that_some_runs_of_a_point_lack_is_not_the_points() {
        let why = "n too small: p99 needs 473, has 410";
        let few = report(|trials| {
            let times = &mut trials[1].report.block.offered_ms;
            times.p99 = None;
            times.reasons.push("p99", why.to_owned());
        });
        let [one, two] = [&few.points[0], &few.points[1]];
        assert_eq!(one.figures.get("p99_ms"), None);
        let told = one.reasons.get("p99_ms").map(String::as_str);
        assert_eq!(told, Some(&*format!("2 of 3 runs have it: {why}")));
        assert_eq!(one.figures.get("p50_ms").map(|figure| figure.count), Some(3));
        assert!(two.figures.get("p99_ms").is_some_and(|figure| figure.count == 3));
        let page = render::experiment(&few);
        assert!(page.contains("2 of 3 have it"), "{page}");
        assert!(page.contains("\np99 ms: n too small: p99 needs 473\n"), "{page}");
        assert!(!page.contains("that have it"), "{page}");
        let of_time = Curve { figure: "p99_ms".to_owned(), ..few.curve.clone().expect("an axis") };
        let of_time = ExperimentReport { curve: Some(of_time), ..few.clone() };
        let page = render::experiment(&of_time);
        assert!(page.contains("clients, of the 4 points of 5 that have it: "), "{page}");
        let rows = render::point_rows(&few).json();
        assert!(rows[0]["p99_ms"].is_null() && rows[1]["p99_ms"].is_number(), "{rows}");
    }

    #[test]
    fn a_law_that_does_not_fit_says_why() {
        let (made, trials) = long_sweep();
        let check = |residual: f64, lack_of_fit: Option<f64>, why: Option<&str>| {
            let mut report = made.clone();
            let law = report.scalability.as_mut().expect("six points");
            (law.residual, law.lack_of_fit, law.fits) = (residual, lack_of_fit, why.is_none());
            let page = render::experiment(&report).replace('\n', " ");
            let charts = crate::charts::of_experiment(&report, &trials);
            let chart = charts.into_iter().find(|chart| chart.id == "law").expect("it is drawn");
            let words = why.map(|why| format!("It does not fit: {why}. Do not read the"));
            let words = words.as_deref();
            assert_eq!(chart.note.is_some(), why.is_some());
            for text in [page, chart.note.unwrap_or_default()] {
                assert_eq!(text.contains("It does not fit"), why.is_some(), "{text}");
                assert!(words.is_none_or(|words| text.contains(words)), "{text}");
            }
        };
        let far = "residuals of 20.0 % are too large";
        let lacks = "points lie farther from it than repeats vary (p = 0.0010)";
        check(0.02, Some(0.4), None);
        check(0.02, Some(0.001), Some(lacks));
        check(0.2, None, Some(far));
        check(0.2, Some(0.001), Some(&format!("{far}, and {lacks}")));
    }

    #[test]
    fn warnings_show_what_was_measured_in_the_first_run_that_has_them() {
        let warn = |trials: &mut Vec<Trialled>| {
            for (n, trial) in trials.iter_mut().take(4).enumerate() {
                trial.report.findings.push(Finding {
                    id: "generator_saturated".to_owned(),
                    severity: Severity::Warning,
                    text: format!("Busy for 9{n}.5 % of the time. Use another machine."),
                });
            }
        };
        let report = report(warn);
        let page = render::experiment(&report).replace('\n', " ");
        let words = "4 runs, the first: Busy for 90.5 % of the time (generator_saturated)";
        assert!(page.contains(words), "{page}");
        let cases = report.points.iter().filter_map(|point| point.cases.get("generator_saturated"));
        assert!(cases.count() > 0);
        // Reports that were written before cases were kept have what raises it.
        let mut before = report.clone();
        before.points.iter_mut().for_each(|point| point.cases = Named::default());
        let page = render::experiment(&before).replace('\n', " ");
        assert!(page.contains("(generator_saturated)") && !page.contains("90.5"), "{page}");
    }

    #[test]
    fn trials_that_were_lost_are_told_apart_from_those_that_were_not_made() {
        let page = render::experiment(&report(|_| {}));
        assert!(page.contains("\n5 points, 14 of 15 trials count, 1 not done, inter"), "{page}");
        let lose = |trials: &mut Vec<Trialled>, n: usize| {
            for trial in trials.iter_mut().take(n) {
                trial.report.findings.push(Finding {
                    id: "queue_full".to_owned(),
                    severity: Severity::Invalid,
                    text: "The queue was full.".to_owned(),
                });
            }
        };
        let page = render::experiment(&report(|trials| lose(trials, 4)));
        assert!(page.contains("10 of 15 trials count, 4 do not, 1 not done, "), "{page}");
        // One that was made again is there twice, and counts.
        let again = render::experiment(&report(|trials| {
            let mut again = trials[0].clone();
            lose(trials, 1);
            again.report.run_id.push('2');
            trials.push(again);
        }));
        assert!(again.contains("14 of 15 trials count, 1 not done, "), "{again}");
        assert!(page.lines().all(|line| line.chars().count() <= 96), "{page}");
    }
}
