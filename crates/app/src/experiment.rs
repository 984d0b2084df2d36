//! An experiment: its points tried again and again, each trial an ordinary run.
//!
//! It is stored before its first trial, and every trial names it; so whoever comes after a crash
//! knows what is left. Not here: what follows from the figures (analysis), and how one trial is
//! made (trial_runner).

use std::path::Path;
use std::sync::Arc;

use analysis::ExperimentReport;
use analysis::findings::judge_labels;
use analysis::matrix::Matrices;
use analysis::repeats::not_fixed;
use analysis::trials::TrialReport;
use engine::Stop;
use model::numbers::count;
use model::{Experiment, Plan, Target, format_duration};
use monitor::wall_clock;
use plan::{Draft, Varied, varied_to_toml};
use store::{Store, TrialRow};

use crate::error::Error;
use crate::imported;
use crate::open::is_apart_from;
use crate::trial_runner::{ExperimentOptions, ExperimentWatcher, TrialRunner};
use crate::trials::{Trials, forget_unbegun, status, trials};

/// An experiment that has come to its end, or was interrupted.
pub struct ExperimentResult {
    /// What it has shown so far.
    pub report: ExperimentReport,
    /// Whether every trial counts.
    pub is_good: bool,
    /// Whether somebody interrupted it.
    pub is_interrupted: bool,
}

/// An experiment's plans, by point.
pub struct Planned {
    /// The experiment.
    pub experiment: Experiment,
    /// A plan for each of its points; passwords are in these alone.
    pub plans: Vec<Plan>,
}

/// Makes an experiment of what was decided, whose runs have these labels, and reads the figures
/// that are shown beside its own.
pub fn plan(varied: Varied, seed: u64, labels: Vec<(String, String)>) -> Result<Planned, Error> {
    let id = uuid::Uuid::now_v7().to_string();
    let reference = varied.reference.as_deref().map(imported::read_reference).transpose()?;
    let (experiment, plans) = varied.into_experiment(id, wall_clock::unix_ms(), seed, labels);
    Ok(Planned { experiment: Experiment { reference, ..experiment }, plans })
}

/// Stores a new experiment and makes its trials.
pub fn run(
    planned: Planned,
    options: &ExperimentOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn ExperimentWatcher,
) -> Result<ExperimentResult, Error> {
    for plan in &planned.plans {
        is_apart_from(Some(&options.store), &plan.target)?;
    }
    let store = Store::open(&options.store)?;
    store.add_experiment(&planned.experiment)?;
    let experiment = planned.experiment.clone();
    let result = resume(planned, options, stop, watcher);
    if result.is_err() {
        // Why it was refused matters more than whether it is forgotten.
        let _ = forget_unbegun(&store, &experiment);
    }
    result
}

/// Makes the trials of a stored experiment that do not count yet.
pub fn resume(
    planned: Planned,
    options: &ExperimentOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn ExperimentWatcher,
) -> Result<ExperimentResult, Error> {
    let Planned { experiment, plans } = planned;
    let mut runner = TrialRunner::new(options, experiment.clone(), plans)?;
    let ended = runner.rehearse(stop, watcher).and_then(|()| {
        runner.place(stop, watcher)?;
        runner.all(stop, watcher)
    });
    runner.end(&ended, stop, watcher);
    let is_interrupted = ended?;
    let store = Store::open_existing(&options.store)?;
    let report = report(&store, &experiment)?;
    let is_good = report.trials_done == report.trials;
    Ok(ExperimentResult { report, is_good, is_interrupted })
}

/// The report of a stored experiment, judged by the figure of its workload.
pub fn report(store: &Store, experiment: &Experiment) -> Result<ExperimentReport, Error> {
    report_by(store, experiment, None)
}

/// The report of a stored experiment, judged by a figure.
pub fn report_by(
    store: &Store,
    experiment: &Experiment,
    figure: Option<&str>,
) -> Result<ExperimentReport, Error> {
    let Trials { ended, damaged } = trials(store, experiment)?;
    let mut shown = judged(experiment, &ended, figure).map_err(Error::Usage)?;
    let rows = store.trials(experiment)?;
    let counts =
        |row: &&TrialRow| shown.points.iter().any(|point| point.runs.contains(&row.run.run.0));
    let labels: Vec<&[(String, String)]> =
        rows.iter().filter(counts).map(|row| &row.run.labels[..]).collect();
    let keys: Vec<&str> = experiment.labels.iter().map(|(key, _)| key.as_str()).collect();
    shown.findings.extend(judge_labels(&keys, &labels));
    let (status, plan) = (status(store, experiment)?, varied_to_toml(experiment));
    Ok(ExperimentReport { status, damaged, plan, ..shown })
}

/// Which tables are asked for.
#[derive(Clone, Copy, Debug)]
pub struct AskedTables<'a> {
    /// The axis of the rows.
    pub rows: Option<&'a str>,
    /// That of the columns.
    pub columns: Option<&'a str>,
    /// The value whose cells others are held against.
    pub relative_to: Option<&'a str>,
}

impl AskedTables<'_> {
    /// Whether there are to be any.
    pub fn is_any(&self) -> bool {
        [self.rows, self.columns, self.relative_to].iter().any(Option::is_some)
    }
}

/// A figure of a stored experiment over two of its axes, as tables.
pub fn matrices(
    store: &Store,
    experiment: &Experiment,
    figure: Option<&str>,
    asked: AskedTables<'_>,
) -> Result<Matrices, Error> {
    let ended = trials(store, experiment)?.ended;
    let flag = if asked.columns.is_some() { "--columns" } else { "--relative-to" };
    let no_rows = || Error::Usage(format!("{flag}: name the --rows too"));
    let rows = asked.rows.ok_or_else(no_rows)?;
    let report = judged(experiment, &ended, figure).map_err(Error::Usage)?;
    let all = Matrices::new(&report, rows, asked.columns).map_err(Error::Usage)?;
    let Some(value) = asked.relative_to else { return Ok(all) };
    let of_value = |why: String| Error::Usage(format!("--relative-to {why}"));
    let mut all = all.relative_to(&report, &ended, value).map_err(of_value)?;
    if let Some(to) = &mut all.relative_to {
        to.repeats = not_fixed(experiment);
    }
    Ok(all)
}

/// What the ended trials of a stored experiment show by each of several figures, of trials that are
/// read once; where no trial has a figure, why.
pub fn points_by(
    store: &Store,
    experiment: &Experiment,
    figures: &[&str],
) -> Result<Vec<Result<ExperimentReport, String>>, Error> {
    let ended = trials(store, experiment)?.ended;
    Ok(figures.iter().map(|figure| judged(experiment, &ended, Some(figure))).collect())
}

fn judged(
    experiment: &Experiment,
    ended: &[TrialReport],
    figure: Option<&str>,
) -> Result<ExperimentReport, String> {
    let mut rng = model::Rng::new(experiment.seed, model::Stream::Order, u64::MAX);
    ExperimentReport::new(experiment, ended, figure, &mut || rng.bits())
}

/// The plans of a stored experiment, decided again from what was stored. Commands are taken from
/// nothing but a plan that was `named` on the command line here.
pub fn planned(
    store: &Path,
    experiment: Experiment,
    named: Option<&Draft>,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<Planned, Error> {
    let place = format!("{}, experiment {}", store.display(), experiment.id);
    let plans = experiment.points.iter().map(|point| {
        let mut draft = plan::read_toml(&place, &point.plan)?;
        draft.allow_commands_of(named)?;
        plan::decide(&draft, default_target)
    });
    let plans = plans.collect::<Result<Vec<Plan>, _>>()?;
    Ok(Planned { experiment, plans })
}

/// Repeats from which on a difference between points of usual noise is likely to be found.
const REPEATS_ADVISED: u32 = 5;

/// A note if there are too few repeats to compare the points, for before the first trial.
pub fn too_few_repeats(planned: &Planned) -> Option<String> {
    let Experiment { repeats, stop, .. } = &planned.experiment;
    let is_compared = planned.plans.len() > 1 && stop.is_none();
    let what = match *repeats {
        REPEATS_ADVISED.. => return None,
        n if (n as usize) < stats::BOUNDS_MIN => "can show no difference between points",
        _ => "show only large differences between points",
    };
    let n = count(u64::from(*repeats), "repeat");
    is_compared.then(|| format!("{n} {what}: run --repeat {REPEATS_ADVISED} or more"))
}

/// The number of trials and the time that they take at least: `12 trials, at least 8m, plus build,
/// settling and checks`.
pub fn forecast(planned: &Planned) -> String {
    let repeats = u64::from(planned.experiment.repeats);
    let trials = planned.plans.len() as u64 * repeats;
    let each = |plan: &Plan| plan.phases.ramp_up_ns + plan.phases.measure_ns;
    let load_ns: u64 = planned.plans.iter().map(each).sum::<u64>() * repeats;
    let pauses_ns = planned.experiment.pause_ns * trials.saturating_sub(1);
    let s = if trials == 1 { "" } else { "s" };
    let most = if planned.experiment.stop.is_some() { "at most " } else { "" };
    let load = format_duration(load_ns + pauses_ns);
    let is_simulated =
        |plan: &Plan| plan.placement == model::PlacementChoice::Fixed(model::Placement::Simulated);
    match planned.plans.iter().all(is_simulated) {
        true => format!("{most}{trials} trial{s}, {load} of virtual time"),
        false => {
            format!("{most}{trials} trial{s}, at least {load}, plus build, settling and checks")
        }
    }
}
