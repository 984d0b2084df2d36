//! The report of an experiment: each figure with its error at each point (combination of varied
//! parameters), and curves over a varied parameter.
//!
//! The report is a pure function of the experiment and the reports of its runs. Not here: the
//! execution of trials (app), and pages (render).

use analysis::figures::{
    Figure, better, direction_in, figure_of, number, resolve, samples_lacking, times_of, units_in,
    value_of,
};
use analysis::findings::{judge_kernels, judge_order};
use analysis::report::{Named, Report, Status};
use model::{Direction, Experiment, Finding, Imported, Load, is_arrival_rate, short_axis};
use serde::{Deserialize, Serialize};
use stats::{Mean, NoFit, NoPeak, Scalability};

use crate::environment::each;
use crate::execution_times::{ExecutionTime, execution_times};
use crate::repeats::{
    LevelsReport, Measured, StopReport, levels, mean_of, stop_report, trials_of_points,
};
use crate::seek::{achieved, keeps_up};
use crate::shown_figures::{figures_of, primary_of, reasons, samples_needed};
use crate::trials::{
    RunNote, TrialReport, case_ranges, cases, counts, is_settled, notes, warnings,
    why_not_in_short, why_not_mainly,
};

/// Name and version of the JSON schema of [`ExperimentReport`].
pub const SCHEMA: &str = "dbdyno.experiment/1";
/// Largest root mean square of the residuals, as a share of the throughput, at which the Universal
/// Scalability Law counts as a fit.
pub const RESIDUAL_MOST: f64 = 0.10;

/// The report of an experiment: figures at each combination of varied values, and what follows from
/// them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentReport {
    /// Name of the schema, [`SCHEMA`].
    pub schema: String,
    pub id: String,
    pub name: String,
    /// Start of the experiment, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// Status of the experiment, such as still running; null if not known.
    #[serde(default)]
    pub status: Option<model::Status>,
    pub axes: Vec<model::Axis>,
    /// Order in which the trials are made.
    pub order: model::Order,
    /// Policy for the data between trials, such as keeping them.
    pub data: model::DataPolicy,
    /// Number of planned trials. Of points (combinations of varied parameters) that satisfy a stop
    /// rule, only the trials that they needed to satisfy the rule count.
    pub trials: u64,
    /// Number of valid trials: their runs completed, and no finding makes them invalid.
    pub trials_done: u64,
    /// Physical cores of the load generator's machine; null if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    /// Name of the figure by which points are judged, such as `tps`, or `p99_ms` if every trial has
    /// open load.
    pub primary: String,
    /// Direction in which the primary figure improves: higher, lower or neither.
    #[serde(default)]
    pub better: Direction,
    /// Units of figures by figure name, except for names that state it, such as `p99_ms`.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub units: Named<String>,
    pub points: Vec<PointReport>,
    /// Summary of the primary figure along the varied parameter; null unless exactly one is varied
    /// and its values are numbers.
    pub curve: Option<Curve>,
    /// The highest arrival rate with which the database kept up; null if the rate is not varied, or
    /// unless lower values of the primary figure are better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateReport>,
    /// The Universal Scalability Law, fitted to throughput over clients; null unless clients are
    /// the only varied parameter, all load is closed, and the law can be fitted.
    pub scalability: Option<ScalabilityReport>,
    /// Reason why the Universal Scalability Law cannot be fitted; null if it was fitted or does not
    /// apply.
    pub no_scalability: Option<String>,
    /// Findings on the order of trials and on differences between their machines' kernels.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Ids of the runs whose stored reports are damaged, which the report leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// Figures from imported files, which charts and tables show beside the measured ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<Imported>,
    /// The plan that repeats the experiment, with its axes, in TOML; null if there is none.
    #[serde(default)]
    pub plan: Option<String>,
    /// Result of the stop rule that ends repeats; null if the number of repeats is fixed.
    #[serde(alias = "until", default, skip_serializing_if = "Option::is_none")]
    pub stop_condition: Option<StopReport>,
    /// Limits that were set on the points or sides of the experiment, with their outcomes; empty
    /// if none was judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<model::JudgedLimit>,
    /// Variation between builds, starts and runs; null if only runs are repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<LevelsReport>,
}

/// A point of an experiment, with the figures of its valid runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointReport {
    /// Values of the varied parameters at the point, by parameter, such as `8` for `clients`.
    pub values: Named<String>,
    /// Ids of the valid runs, in the order of their repeats.
    pub runs: Vec<String>,
    /// Number of trials at the point that are invalid.
    pub runs_not_counted: u64,
    /// Number of invalid trials for each reason.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub why_not_counted: Named<u64>,
    /// True if the point has no valid trial because the queue of waiting arrivals became full in at
    /// least one of its trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_queue_full: bool,
    pub figures: Named<Figure>,
    /// Geometric means of `figures`, which a comparison of points is made of, with half-widths that
    /// reach at least to the farther end of the 95 % CI; without figures that are zero, negative
    /// or infinite in a run.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub geometric: Named<Figure>,
    /// Times of the transactions of a fixed sequence, such as the queries of tpch; absent for other
    /// loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<ExecutionTime>,
    /// Reasons why the point lacks figures, by figure name: some or all valid runs have too few
    /// samples for a percentile, and a mean over the other runs would be biased.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub reasons: Named<String>,
    /// Number of samples that a run needs for each figure that the point lacks, by figure name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub samples_needed: Named<u64>,
    /// Number of valid runs that have a figure, by figure name, for figures that other valid runs
    /// lack.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub runs_with: Named<u64>,
    /// Number of valid runs with each finding of severity warning or invalid, by finding id.
    pub findings: Named<u64>,
    /// Text of each finding of severity warning or invalid in the first run with it, by finding id.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub cases: Named<String>,
    /// Texts of each finding of severity warning or invalid over all valid runs, merged with a
    /// range for each number (`41 to 72 %`), by finding id. Findings whose texts differ in more
    /// than numbers are left out.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub case_ranges: Named<String>,
    /// Findings of severity note of the valid runs, by finding id.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub notes: Named<RunNote>,
    /// Main reason why no trial counts, that of the last attempt that nobody interrupted; absent if
    /// a trial counts, or there is no such attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_none_counts: Option<String>,
}

/// The highest arrival rate of an experiment with which the database kept up. Response times do not
/// show it, because they are lowest at the lowest rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateReport {
    pub axis: String,
    /// Index of the point with the highest rate at which every valid run finished its offered
    /// transactions within the measured window; null if there is none.
    pub kept: Option<usize>,
}

/// Summary of a figure along a varied parameter whose values are numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    pub figure: String,
    /// Direction in which the figure improves: higher, lower or neither.
    #[serde(default)]
    pub better: Direction,
    pub axis: String,
    /// Mean of the figure at the first value of the varied parameter.
    pub first: f64,
    /// Mean of the figure over all points of the curve.
    pub mean: f64,
    /// The best mean of the figure: the lowest if lower is better, otherwise the highest.
    pub best: f64,
    /// Value of the varied parameter at which the figure is best.
    pub best_at: String,
    /// Other values of the varied parameter at which the 95 % confidence interval of the figure
    /// overlaps that of the best: one of these may be the best.
    pub best_also: Vec<String>,
    /// Mean of the figure at the last value of the varied parameter.
    pub last: f64,
}

/// The Universal Scalability Law, fitted to the throughput of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalabilityReport {
    /// Throughput of a single client, λ of the Universal Scalability Law, in transactions per
    /// second: value, lower and upper end of the 90 % confidence interval.
    pub lambda: [f64; 3],
    /// Contention, σ of the Universal Scalability Law: value, lower and upper end of the 90 %
    /// confidence interval.
    pub sigma: [f64; 3],
    /// Coherency cost, κ of the Universal Scalability Law: value, lower and upper end of the 90 %
    /// confidence interval.
    pub kappa: [f64; 3],
    /// Number of clients at which the throughput of the fitted Universal Scalability Law is
    /// highest; null if there is no such number, or the law does not fit.
    pub peak_clients: Option<f64>,
    /// The 90 % confidence interval of the number of clients at the highest throughput; null
    /// without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_clients_interval: Option<(f64, f64)>,
    /// The highest throughput of the fitted Universal Scalability Law; null if there is none, or
    /// the law does not fit.
    pub peak: Option<f64>,
    /// The 90 % confidence interval of the highest throughput; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_interval: Option<(f64, f64)>,
    /// Reason why the fitted Universal Scalability Law has no highest throughput; null if it has
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_peak: Option<String>,
    /// Root mean square of the residuals between the measured throughputs and the fitted Universal
    /// Scalability Law, as a share.
    pub residual: f64,
    /// Largest residual of a point, as a share of the throughput by the fitted Universal
    /// Scalability Law, and the point's number of clients.
    pub worst: (f64, u32),
    /// False if the Universal Scalability Law does not describe the measurements: residuals are too
    /// large, or larger than the scatter of repeats explains.
    pub fits: bool,
    /// p-value of the F test of lack of fit, which compares the distance of the points from the
    /// Universal Scalability Law with the scatter of repeats; null without repeats. If the p-value
    /// is below 0.01, the confidence intervals are widened to that distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack_of_fit: Option<f64>,
}

impl ScalabilityReport {
    /// Returns the throughput that the fitted Universal Scalability Law predicts for a number of
    /// clients.
    pub fn throughput(&self, clients: f64) -> f64 {
        let [[lambda, ..], [sigma, ..], [kappa, ..]] = [self.lambda, self.sigma, self.kappa];
        Scalability::throughput_of([lambda, sigma, kappa], clients)
    }
}

impl ExperimentReport {
    /// Creates the report of the trials that have ended so far. `asked` names the primary figure;
    /// for `None`, it is the default one of the runs. `bits` returns random numbers, from which the
    /// confidence intervals of the Universal Scalability Law are computed (bootstrap). An `Err`
    /// says that no run has the figure in `asked`.
    pub fn new(
        experiment: &Experiment,
        trials: &[TrialReport],
        asked: Option<&str>,
        bits: &mut dyn FnMut() -> u64,
    ) -> Result<ExperimentReport, String> {
        let reports: Vec<&Report> = trials.iter().map(|trial| &trial.report).collect();
        let primary = match asked {
            Some(name) => resolve(name, reports.iter().copied())?,
            None => primary_of(&reports),
        };
        let primary = primary.as_str();
        let imported: Vec<Imported> = experiment
            .reference
            .iter()
            .map(|reference| as_named(&reference.figures, &reports))
            .collect();
        let others = imported.iter().flat_map(Imported::figures).filter(|name| *name != primary);
        let shown: Vec<&str> = std::iter::once(primary).chain(others).collect();
        let points: Vec<PointReport> = (0..experiment.points.len() as u32)
            .map(|point| point_report(experiment, point, trials, &shown))
            .collect();
        let measured = Measured::of_all(experiment, trials);
        let better = direction_in(primary, reports.iter().copied());
        let curve = curve(experiment, &points, (primary, better));
        let rate = if better == Direction::Lower { rate_kept(experiment, trials) } else { None };
        let law = scalability(experiment, trials, (primary, better), bits);
        let (scalability, no_scalability) = match law {
            None => (None, None),
            Some(Ok(law)) => (Some(law), None),
            Some(Err(why)) => (None, Some(why)),
        };
        Ok(ExperimentReport {
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
            better,
            units: units_in(shown.iter().copied(), reports.iter().copied()),
            cores: trials.iter().find_map(|trial| trial.report.fact("cpu", "cores")?.count()),
            points,
            curve,
            rate,
            scalability,
            no_scalability,
            findings: judge_order(experiment.order, experiment.points.len(), experiment.repeats)
                .into_iter()
                .chain(judge_kernels(&kernels(&reports)))
                .collect(),
            damaged: Vec::new(),
            imported,
            plan: None,
            stop_condition: stop_report(experiment, &measured),
            limits: Vec::new(),
            levels: levels(experiment, &measured),
        })
    }
}

impl ExperimentReport {
    /// Returns the index of the varied parameter along which curves are drawn; `None` if none has
    /// several values. A parameter of numbers is preferred, then clients or a rate, then the one
    /// with the most values.
    pub fn main_axis(&self) -> Option<usize> {
        let is_load = |name: &str| short_axis(name) == "clients" || is_arrival_rate(name);
        let rank = |axis: &usize| {
            let model::Axis { name, values } = &self.axes[*axis];
            let are_numbers = values.iter().all(|value| number(value).is_some());
            (are_numbers, is_load(name), values.len())
        };
        let has_values = |axis: &usize| self.axes[*axis].values.len() > 1;
        // Of equal ones the first.
        (0..self.axes.len()).filter(has_values).rev().max_by_key(rank)
    }
}

/// Returns a copy of `imported` in which figures have the full names of the runs' figures, such as
/// `p99_ms` for `p99`. Names that no run has stay as they are.
fn as_named(imported: &Imported, reports: &[&Report]) -> Imported {
    let mut imported = imported.clone();
    for value in &mut imported.values {
        if let Ok(name) = resolve(&value.figure, reports.iter().copied()) {
            value.figure = name;
        }
    }
    imported
}

/// Returns the distinct operating system kernels of the valid trials, in the order of the trials.
fn kernels(reports: &[&Report]) -> Vec<String> {
    let counted: Vec<&Report> = reports.iter().copied().filter(|report| counts(report)).collect();
    each(&counted, |report| Some(report.fact("os", "kernel_release")?.text()?.to_owned()))
}

fn point_report(
    experiment: &Experiment,
    point: u32,
    trials: &[TrialReport],
    shown: &[&str],
) -> PointReport {
    let mut here: Vec<&TrialReport> = trials.iter().filter(|trial| trial.point == point).collect();
    here.sort_by_key(|trial| trial.repeat);
    let (counted, not_counted): (Vec<&TrialReport>, Vec<&TrialReport>) =
        here.into_iter().partition(|trial| counts(&trial.report));
    let figures = PointFigures::from_trials(experiment, &counted, shown);
    let to_figure = |name: &String| Some((name.clone(), figures.figure(experiment, name)?));
    let to_geometric = |name: &String| Some((name.clone(), figures.geometric(experiment, name)?));
    let values = experiment.axes.iter().map(|axis| axis.name.clone());
    let values = values.zip(experiment.points[point as usize].values.iter().cloned());
    PointReport {
        values: Named(values.collect()),
        runs: counted.iter().map(|trial| trial.report.run_id.clone()).collect(),
        runs_not_counted: not_counted.len() as u64,
        why_not_counted: whys(&not_counted),
        is_queue_full: counted.is_empty()
            && not_counted.iter().any(|trial| is_settled(&trial.report)),
        figures: Named(figures.names.iter().filter_map(to_figure).collect()),
        geometric: Named(figures.names.iter().filter_map(to_geometric).collect()),
        executions: execution_times(experiment, &counted),
        reasons: figures.reasons(),
        samples_needed: figures.samples_needed(shown),
        runs_with: Named(figures.runs_with()),
        findings: warnings(counted.iter().map(|trial| &trial.report)),
        cases: cases(counted.iter().map(|trial| &trial.report)),
        case_ranges: case_ranges(counted.iter().map(|trial| &trial.report)),
        notes: notes(counted.iter().map(|trial| &trial.report)),
        why_none_counts: not_counted
            .iter()
            .rev()
            .find(|trial| trial.report.status != Status::Interrupted && counted.is_empty())
            .map(|trial| why_not_mainly(&trial.report)),
    }
}

/// The figures of the valid trials at one point (combination of varied parameters) of an
/// experiment.
struct PointFigures<'t> {
    counted: &'t [&'t TrialReport],
    by_trial: Vec<Vec<(String, f64)>>,
    /// Names of all figures, each once, in the order of the trials that first have them.
    names: Vec<String>,
}

impl<'t> PointFigures<'t> {
    fn from_trials(
        experiment: &Experiment,
        counted: &'t [&'t TrialReport],
        shown: &[&str],
    ) -> PointFigures<'t> {
        let is_rate = experiment.axes.iter().any(|axis| is_arrival_rate(&axis.name));
        let by_trial = counted.iter().map(|trial| {
            let kept = achieved(&trial.report).filter(|_| is_rate).map(|share| share * 100.0);
            let kept = kept.map(|percent| ("achieved_percent".to_owned(), percent));
            figures_of(&trial.report, shown).into_iter().chain(kept).collect()
        });
        let by_trial: Vec<Vec<(String, f64)>> = by_trial.collect();
        let mut names: Vec<String> = Vec::new();
        for (name, _) in by_trial.iter().flatten() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        PointFigures { counted, by_trial, names }
    }

    fn values_of(&self, name: &str) -> Vec<f64> {
        let all = self.by_trial.iter().flatten();
        all.filter(|(n, _)| *n == name).map(|(_, value)| *value).collect()
    }

    /// Returns true if every valid trial at the point has the figure.
    fn is_whole(&self, name: &str) -> bool {
        self.values_of(name).len() == self.counted.len()
    }

    /// Returns the mean of a figure over the valid trials, with its error; `None` unless all of
    /// them have it.
    fn figure(&self, experiment: &Experiment, name: &str) -> Option<Figure> {
        let values = Some(self.values_of(name)).filter(|_| self.is_whole(name))?;
        Some(figure_of(&values, mean_of(experiment, &self.by_repeat(&values))?))
    }

    /// Returns the geometric mean of a figure over the valid trials, with its error; `None` unless
    /// all of them have it, as a finite number above 0.
    fn geometric(&self, experiment: &Experiment, name: &str) -> Option<Figure> {
        let values = Some(self.values_of(name)).filter(|_| self.is_whole(name))?;
        let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        if !logarithms.iter().all(|logarithm| logarithm.is_finite()) {
            return None;
        }
        let mean = mean_of(experiment, &self.by_repeat(&logarithms))?;
        let value = mean.value.exp();
        // Of both ends of the interval, the upper one is farther away.
        let half_width = mean.half_width.map(|half_width| value * half_width.exp_m1());
        Some(figure_of(&values, Mean { value, half_width, ..mean }))
    }

    fn by_repeat(&self, values: &[f64]) -> Vec<(u32, f64)> {
        let repeats = self.counted.iter().map(|trial| trial.repeat);
        repeats.zip(values.iter().copied()).collect()
    }

    /// Returns the names of the figures that some valid trials have and others lack, each with the
    /// number of trials that have it.
    fn runs_with(&self) -> Vec<(String, u64)> {
        let in_some = self.names.iter().filter(|name| !self.is_whole(name));
        in_some.map(|name| (name.clone(), self.values_of(name).len() as u64)).collect()
    }

    /// Returns the valid trials whose percentiles are shown: those that execute no fixed sequence.
    fn with_percentiles(&self) -> impl Iterator<Item = &TrialReport> {
        self.counted.iter().copied().filter(|trial| !trial.report.is_sequence())
    }

    /// Returns the reasons why all or some valid trials lack a figure, by the name of the figure.
    fn reasons(&self) -> Named<String> {
        let shown = self.with_percentiles();
        let reasons: Vec<Named<String>> =
            shown.map(|trial| reasons(times_of(&trial.report))).collect();
        let in_none = reasons.first().map(|first| first.0.clone()).unwrap_or_default();
        let in_none = in_none.into_iter().filter(|(name, _)| !self.names.contains(name));
        let in_some = self.runs_with().into_iter().map(|(name, have)| {
            let why = reasons.iter().find_map(|reasons| reasons.get(&name));
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            (name, format!("only {have} of {} runs{why}", self.counted.len()))
        });
        Named(in_none.chain(in_some).collect())
    }

    /// Returns the number of samples that each figure missing in a valid trial needs, by name.
    /// `shown` are further figures to check.
    fn samples_needed(&self, shown: &[&str]) -> Named<u64> {
        let lacking = |trial: &TrialReport| {
            let named =
                |name: &&str| Some((name.to_string(), samples_lacking(&trial.report, name)?));
            let of_times = samples_needed(times_of(&trial.report)).0;
            of_times.into_iter().chain(shown.iter().filter_map(named)).collect::<Vec<_>>()
        };
        let mut needed: Named<u64> = Named::default();
        for (name, n) in self.with_percentiles().flat_map(lacking) {
            if !self.is_whole(&name) && needed.get(&name).is_none() {
                needed.push(name, n);
            }
        }
        needed
    }
}

fn whys(not_counted: &[&TrialReport]) -> Named<u64> {
    let mut found = Named::default();
    for trial in not_counted {
        found.count(&why_not_in_short(&trial.report), 1);
    }
    found
}

fn curve(
    experiment: &Experiment,
    points: &[PointReport],
    (primary, better): (&str, Direction),
) -> Option<Curve> {
    let [axis] = &experiment.axes[..] else { return None };
    let measured: Vec<(String, Figure)> = points
        .iter()
        .zip(&axis.values)
        .filter_map(|(point, value)| Some((value.clone(), *point.figures.get(primary)?)))
        .collect();
    curve_of(&axis.name, &measured, (primary, better))
}

/// Returns the summary of a figure along a varied parameter; `None` with fewer than two points, or
/// if values of the parameter are not numbers.
pub(crate) fn curve_of(
    axis: &str,
    measured: &[(String, Figure)],
    (primary, direction): (&str, Direction),
) -> Option<Curve> {
    if measured.len() < 2 || measured.iter().any(|(value, _)| number(value).is_none()) {
        return None;
    }
    let (first, last) = (measured[0].1, measured[measured.len() - 1].1);
    let (best_at, best) =
        measured.iter().rev().max_by(|a, b| better(direction, &a.1, &b.1)).expect("there are two");
    let also = measured.iter().filter(|(value, figure)| value != best_at && figure.reaches(best));
    Some(Curve {
        figure: primary.to_owned(),
        better: direction,
        axis: axis.to_owned(),
        first: first.mean,
        mean: measured.iter().map(|(_, figure)| figure.mean).sum::<f64>() / measured.len() as f64,
        best: best.mean,
        best_at: best_at.clone(),
        best_also: also.map(|(value, _)| value.clone()).collect(),
        last: last.mean,
    })
}

/// Returns the point with the highest arrival rate at which the database kept up, if there is one;
/// `None` if the experiment does not vary the rate, or one of its values is not a rate.
fn rate_kept(experiment: &Experiment, trials: &[TrialReport]) -> Option<RateReport> {
    let index = experiment.axes.iter().position(|axis| is_arrival_rate(&axis.name))?;
    let rate = |point: u32| {
        let value = &experiment.points[point as usize].values[index];
        model::parse_rate(value).ok()
    };
    let all = (0..experiment.points.len() as u32).map(|point| Some((rate(point)?, point)));
    let all = all.collect::<Option<Vec<(f64, u32)>>>()?;
    let is_kept = |point: u32| {
        let here = |trial: &&TrialReport| trial.point == point && counts(&trial.report);
        let mut here = trials.iter().filter(here).peekable();
        here.peek().is_some() && here.all(|trial| keeps_up(&trial.report))
    };
    let kept = all.into_iter().filter(|(_, point)| is_kept(*point));
    let highest = kept.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let axis = experiment.axes[index].name.clone();
    Some(RateReport { axis, kept: highest.map(|(_, point)| point as usize) })
}

/// Fits the Universal Scalability Law; `None` unless clients are the only axis, all load is closed,
/// and higher values of the figure are better. An `Err` says why the law cannot be fitted.
fn scalability(
    experiment: &Experiment,
    trials: &[TrialReport],
    (primary, better): (&str, Direction),
    bits: &mut dyn FnMut() -> u64,
) -> Option<Result<ScalabilityReport, String>> {
    let [axis] = &experiment.axes[..] else { return None };
    let is_closed = |trial: &TrialReport| trial.report.load == Some(Load::Closed);
    let is_rate = better == Direction::Higher;
    if short_axis(&axis.name) != "clients" || !is_rate || !trials.iter().all(is_closed) {
        return None;
    }
    let throughput = |trial: &TrialReport| {
        let found = value_of(&trial.report, primary)?;
        Some((trial.report.clients, found))
    };
    // Runs of one start of a server are not independent repeats for the law.
    let mut by_unit: Vec<((u32, u32), u32, Vec<f64>)> = Vec::new();
    for trial in trials.iter().filter(|trial| counts(&trial.report)) {
        let Some((clients, figure)) = throughput(trial) else { continue };
        let unit = (trial.point, experiment.unit_of(trial.repeat));
        match by_unit.iter_mut().find(|(known, ..)| *known == unit) {
            Some((.., figures)) => figures.push(figure),
            None => by_unit.push((unit, clients, vec![figure])),
        }
    }
    let mean = |figures: &[f64]| figures.iter().sum::<f64>() / figures.len() as f64;
    let points: Vec<(u32, f64)> =
        by_unit.iter().map(|(_, clients, figures)| (*clients, mean(figures))).collect();
    Some(match Scalability::fit(&points, bits) {
        Ok(law) => Ok(law_report(&law)),
        Err(NoFit::TooFewPoints(n)) => Err(format!(
            "the scalability law needs at least {} different numbers of clients, and there are {n}",
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
            "no peak: the law does not fit; use the points, or measure more of them".to_owned(),
        ),
        Ok(_) => None,
        Err(NoPeak::LevelsOff) => {
            Some("no peak: within the error, throughput only levels off".to_owned())
        }
        Err(NoPeak::Beyond(clients)) => Some(format!(
            "no peak within the measured range: the law has one at about {clients:.0} clients; \
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
