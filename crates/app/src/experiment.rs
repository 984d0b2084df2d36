//! Runs experiments: several repeats (trials) of each planned point, each trial an ordinary run.
//!
//! An experiment is stored before its first trial, and every trial refers to it, so it can be
//! resumed after a crash. Not here: the evaluation of the figures (study), and running one trial
//! (trial_runner).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::findings::judge_labels;
use engine::Stop;
use model::numbers::count;
use model::{Experiment, Plan, Target, format_duration};
use monitor::wall_clock;
use plan::{Draft, Varied, varied_to_toml};
use store::{Store, TrialRow};
use study::ExperimentReport;
use study::matrix::Matrices;
use study::repeats::not_fixed;
use study::trials::TrialReport;

use crate::error::Error;
use crate::grid::Grid;
use crate::imported;
use crate::open::{can_have_tables, is_apart_from};
use crate::trial_runner::{ExperimentOptions, ExperimentWatcher, TrialRunner};
use crate::trials::{Trials, WalkResult, forget_unbegun, status, trials};

/// An experiment that can be run: its description, and a complete plan for each point, which is a
/// combination of the varied values.
pub struct Planned {
    pub experiment: Experiment,
    /// Complete plan of each point (combination of varied values). Passwords are only in these
    /// plans, not in `experiment`.
    pub plans: Vec<Plan>,
}

/// Creates an experiment with a new id and this seed from a plan with varied values (`varied`).
/// `labels` are set on all its runs. Reads the file of reference figures if the plan names one, but
/// stores nothing. Fails if a workload needs tables and the database of its target keeps none.
pub fn plan(varied: Varied, seed: u64, labels: Vec<(String, String)>) -> Result<Planned, Error> {
    let id = uuid::Uuid::now_v7().to_string();
    let reference = varied.reference.as_deref().map(imported::read_reference).transpose()?;
    let (experiment, plans) = varied.into_experiment(id, wall_clock::unix_ms(), seed, labels);
    plans.iter().try_for_each(can_have_tables)?;
    Ok(Planned { experiment: Experiment { reference, ..experiment }, plans })
}

/// Stores a new experiment and runs its trials.
pub fn run(
    planned: Planned,
    options: &ExperimentOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn ExperimentWatcher,
) -> Result<WalkResult<ExperimentReport>, Error> {
    for plan in &planned.plans {
        is_apart_from(Some(&options.store), &plan.target)?;
    }
    let store = Store::open(&options.store)?;
    store.add_experiment(&planned.experiment)?;
    let experiment = planned.experiment.clone();
    let files = planned.plans.iter().filter_map(|plan| drivers::file_of(&plan.target));
    let absent: Vec<PathBuf> = files.filter(|file| !file.exists()).collect();
    let result = resume(planned, options, stop, watcher);
    if result.is_err() {
        // Report the first error, not that of the removal.
        let _ = forget_unbegun(&store, &experiment);
        if store.find_experiment(&experiment.id).is_err() {
            remove_opened(&absent);
        }
    }
    result
}

/// Removes database files that were created only because they were opened: no trial has begun that
/// would have built data in them.
fn remove_opened(files: &[PathBuf]) {
    for file in files {
        for suffix in ["", "-wal", "-shm"] {
            let mut name = file.clone().into_os_string();
            name.push(suffix);
            // It may not exist.
            let _ = std::fs::remove_file(name);
        }
    }
}

/// Continues a stored experiment: runs those of its trials that have no valid run yet.
pub fn resume(
    planned: Planned,
    options: &ExperimentOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn ExperimentWatcher,
) -> Result<WalkResult<ExperimentReport>, Error> {
    let Planned { experiment, plans } = planned;
    let mut runner = TrialRunner::new(options, experiment.clone(), plans)?;
    let ended = match runner.has_trials_left() {
        false => {
            watcher.note("all trials have run: there is nothing to resume");
            Ok(false)
        }
        true => runner.rehearse(stop, watcher).and_then(|()| {
            runner.place(stop, watcher)?;
            let mut grid = Grid::new(runner.experiment.rounds());
            runner.walk(&mut grid, stop, watcher)
        }),
    };
    runner.end(&ended, stop, watcher);
    let is_interrupted = ended?;
    let store = Store::open_existing(&options.store)?;
    let report = report(&store, &experiment)?;
    let is_good = report.trials_done == report.trials;
    Ok(WalkResult { report, is_good, is_interrupted })
}

/// Returns the report of a stored experiment, judged by the primary metric of its workload.
pub fn report(store: &Store, experiment: &Experiment) -> Result<ExperimentReport, Error> {
    report_by(store, experiment, None)
}

/// Returns the report of a stored experiment, judged by `figure`, or by the primary metric of its
/// workload if that is `None`.
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
    let limits = store.experiment_limits(&experiment.id)?;
    Ok(ExperimentReport { status, damaged, plan, limits, ..shown })
}

/// Tables of an experiment's results that the user requests.
#[derive(Clone, Copy, Debug)]
pub struct AskedTables<'a> {
    /// Varied parameter whose values are the rows; `None` if the user names none.
    pub rows: Option<&'a str>,
    /// Varied parameter whose values are the columns; `None` for a single column.
    pub columns: Option<&'a str>,
    /// Value of a varied parameter whose cells are the baseline of all others; `None` for absolute
    /// figures.
    pub relative_to: Option<&'a str>,
}

impl AskedTables<'_> {
    /// Returns true if the user requests any table.
    pub fn is_any(&self) -> bool {
        [self.rows, self.columns, self.relative_to].iter().any(Option::is_some)
    }
}

/// Returns a figure of a stored experiment as tables over one or two of its varied parameters.
/// Without `figure`, it is the primary metric of the workload.
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

/// Returns the results of an experiment for each of several figures, while the ended trials are
/// read only once. The error of a figure says why no trial has it.
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

/// Loads a stored experiment, and completes the plan of each point (combination of varied values)
/// from the TOML in the store. Shell commands in a stored plan are only allowed if they are also in
/// `named`, the plan that the user named on the command line.
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

/// Number of repeats at which usual differences between points (combinations of varied values) are
/// likely to be seen in spite of noise.
const REPEATS_ADVISED: u32 = 5;
/// Number of repeats advised where points are compared: from six on, the runs of each repeat are
/// compared in pairs.
const REPEATS_IN_PAIRS: u32 = 6;

/// Returns a note for the user if there are too few repeats to compare the points (combinations of
/// varied values), or to show how much the runs of the only point differ; else `None`.
pub fn too_few_repeats(planned: &Planned) -> Option<String> {
    let Experiment { repeats, stop, .. } = &planned.experiment;
    let is_compared = planned.plans.len() > 1;
    let is_very_few = (*repeats as usize) < stats::BOUNDS_MIN;
    let what = match (is_compared, is_very_few) {
        _ if *repeats >= REPEATS_ADVISED || stop.is_some() => return None,
        (true, true) => "can show no difference between points",
        (true, false) => "show only large differences between points",
        // By Student's t, the CI of two runs is 7 times as wide as that of five runs, and that of
        // three runs twice as wide.
        (false, true) => "give a very wide CI of the mean over runs",
        (false, false) => "give a wide CI of the mean over runs",
    };
    let n = count(u64::from(*repeats), "repeat");
    let advised = if is_compared { REPEATS_IN_PAIRS } else { REPEATS_ADVISED };
    let takes = load_of(planned, u64::from(advised));
    Some(format!("{n} {what}: run --repeat {advised} or more ({takes})"))
}

/// Returns the least duration of `repeats` trials at each point (combination of varied values),
/// such as `at least 8m`.
fn load_of(planned: &Planned, repeats: u64) -> String {
    time_of(&planned.plans, repeats, planned.experiment.pause_ns)
}

/// Returns the least duration of `repeats` runs of each plan, with pauses between them.
pub(crate) fn time_of(plans: &[Plan], repeats: u64, pause_ns: u64) -> String {
    let each = |plan: &Plan| plan.phases.ramp_up_ns + plan.phases.measure_ns;
    let load_ns: u64 = plans.iter().map(each).sum::<u64>() * repeats;
    let trials = plans.len() as u64 * repeats;
    let load = format_duration(load_ns + pause_ns * trials.saturating_sub(1));
    match have_virtual_time(plans) {
        true => format!("{load} of virtual time"),
        false => format!("at least {load}"),
    }
}

fn have_virtual_time(plans: &[Plan]) -> bool {
    let is_simulated =
        |plan: &Plan| plan.placement == model::PlacementChoice::Fixed(model::Placement::Simulated);
    plans.iter().all(is_simulated)
}

/// Returns the number of trials and their least duration, such as `12 trials, at least 8m, plus
/// build, settling and checks`.
pub fn forecast(planned: &Planned) -> String {
    let repeats = u64::from(planned.experiment.repeats);
    let trials = planned.plans.len() as u64 * repeats;
    let s = if trials == 1 { "" } else { "s" };
    let most = if planned.experiment.stop.is_some() { "at most " } else { "" };
    let more =
        if have_virtual_time(&planned.plans) { "" } else { ", plus build, settling and checks" };
    format!("{most}{trials} trial{s}, {}{more}", load_of(planned, repeats))
}
