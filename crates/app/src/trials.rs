//! Creates, loads and stores experiments whose points are added one by one, reads the stored trials
//! of all, and the figures by which stored runs are selected and sorted. Not here: running trials
//! (trial_runner).

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use analysis::figures::{
    OF_RUN, all_of, beside_bound_as_written, check_bound, compared, known, names_of_run, quotients,
    short, spellings, unit, value_as_written,
};
use analysis::report::Report;
use model::{
    Axis, DataPolicy, Experiment, Nesting, Order, Plan, Point, RunId, Status, Walk, did_you_mean,
};
use monitor::wall_clock;
use plan::{Draft, read_toml, to_toml};
use store::{Figures, Filter, HasFigures, Query, Sort, Store};
use study::trials::TrialReport;

use crate::error::Error;
use crate::figure_names::{is_of_other, of_all_workloads};
use crate::stored_report::{Kept, kept_report};

/// Result of an experiment, a search or a tuner that is complete, or was interrupted.
pub struct WalkResult<R> {
    /// Report on the trials so far.
    pub report: R,
    /// True if it has the result that was asked for: all planned trials of an experiment are valid,
    /// a search has confirmed its answer, or a tuner has a verdict.
    pub is_good: bool,
    pub is_interrupted: bool,
}

/// Purpose for which a stored search or tuner is loaded.
#[derive(Clone, Copy)]
pub enum Use<'d> {
    /// Its results are reported, without access to the database.
    ToReport,
    /// It is continued. As in [`planned`](crate::experiment::planned), shell commands are only
    /// allowed if they are also in the plan that was named on the command line.
    ToGoOn(Option<&'d Draft>),
}

/// Returns the draft of the plan with which a stored search or tuner began.
pub(crate) fn first_draft(
    store: &Path,
    experiment: &Experiment,
    use_of: Use<'_>,
) -> Result<Draft, Error> {
    let place = format!("{}, experiment {}", store.display(), experiment.id);
    let first = experiment.points.first();
    let first = first.ok_or_else(|| Error::Failed(format!("{place} has no plan")))?;
    let mut draft = read_toml(&place, &first.plan)?;
    match use_of {
        Use::ToReport => draft.at.clear(),
        Use::ToGoOn(named) => draft.allow_commands_of(named)?,
    }
    Ok(draft)
}

/// Creates an experiment with a new id whose `walk` adds points to one with this plan. It keeps the
/// data, and has neither pauses nor a condition for which trials wait.
pub(crate) fn begun(
    plan: &Plan,
    (axes, values): (Vec<Axis>, Vec<String>),
    walk: Walk,
    labels: Vec<(String, String)>,
) -> Experiment {
    Experiment {
        id: uuid::Uuid::now_v7().to_string(),
        name: plan.name.clone(),
        started_unix_ms: wall_clock::unix_ms(),
        axes,
        points: vec![Point { values, plan: to_toml(plan) }],
        repeats: 1,
        nesting: Nesting::default(),
        stop: None,
        order: Order::Sequential,
        data: DataPolicy::Keep,
        pause_ns: 0,
        wait_until: None,
        seed: plan.seed,
        walk,
        labels,
        reference: None,
    }
}

/// Runs trials of a stored experiment. One that `is_new` is stored first, and removed from the
/// store if it fails before its first run.
pub(crate) fn in_store<T>(
    path: &Path,
    experiment: &Experiment,
    is_new: bool,
    run: impl FnOnce(&Store) -> Result<T, Error>,
) -> Result<T, Error> {
    let store = Store::open(path)?;
    if is_new {
        store.add_experiment(experiment)?;
    }
    let result = run(&store);
    if is_new && result.is_err() {
        // Report the first error, not a failed removal.
        let _ = forget_unbegun(&store, experiment);
    }
    result
}

/// Removes an experiment from the store if it has no trials, since there is nothing to resume.
pub(crate) fn forget_unbegun(store: &Store, experiment: &Experiment) -> Result<(), Error> {
    match store.trials(experiment)?.is_empty() {
        true => store.remove_experiment(experiment).map_err(Error::from),
        false => Ok(()),
    }
}

/// Returns the status of an experiment: in progress, or how it ended; `None` if the store does not
/// know it.
pub fn status(store: &Store, experiment: &Experiment) -> Result<Option<Status>, Error> {
    let walked = store.experiment_lock_row(experiment)?;
    Ok(walked.map(|walked| walked.status))
}

/// Reads the reports of an experiment's ended trials. Leaves out those that cannot be read.
pub fn trial_reports(store: &Store, experiment: &Experiment) -> Result<Vec<TrialReport>, Error> {
    Ok(trials(store, experiment)?.ended)
}

/// Ended trials of an experiment, as read from the store.
pub(crate) struct Trials {
    /// Ended trials whose report could be read.
    pub(crate) ended: Vec<TrialReport>,
    /// Ids of runs whose report is damaged and cannot be read.
    pub(crate) damaged: Vec<String>,
}

pub(crate) fn trials(store: &Store, experiment: &Experiment) -> Result<Trials, Error> {
    let mut trials = Trials { ended: Vec::new(), damaged: Vec::new() };
    for row in store.trials(experiment)? {
        match kept_report(store, &row.run, &[])? {
            Kept::Not => {}
            Kept::Report(report) => {
                let (point, repeat, report) = (row.point, row.repeat, *report);
                trials.ended.push(TrialReport { point, repeat, report });
            }
            Kept::Damaged(_) => trials.damaged.push(row.run.run.0),
        }
    }
    Ok(trials)
}

/// Functions with which the store reads figures from stored reports, for conditions (`--where`) and
/// orders.
pub const FIGURES: Figures = Figures {
    may_be: |name| Ok(known(name)?.is_some() || brought(name).is_some()),
    check: |name, bound| {
        let name = beside_bound_as_written(name, bound);
        check_bound(&name, bound, &units(&name))
    },
    read: |json| Some(Arc::new(Read(serde_json::from_str(json).ok()?))),
};

/// Fails if a condition or order names a figure that no workload, monitor or stored run has,
/// because it would find nothing without an explanation.
pub fn check_names(store: &Store, query: Option<&Query>, sort: &Sort) -> Result<(), Error> {
    let asked = query.map(Query::figures).unwrap_or_default();
    for (name, _) in asked.into_iter().chain(sort.figures()) {
        if is_expected(name) || has_any(store, name)? {
            continue;
        }
        let all = of_all_workloads().keys().map(|name| short(name));
        let near = did_you_mean(name, all);
        let lists = "'dbdyno list figures' lists those of every run";
        return Err(Error::Usage(format!("no run has the figure '{name}'{near}; {lists}")));
    }
    Ok(())
}

/// Returns true if some run may have a figure of this name, judged by the name alone.
fn is_expected(name: &str) -> bool {
    let names = spellings(name.trim());
    let is_of_run =
        |name: &str| OF_RUN.iter().any(|figure| figure.name == name) || name.starts_with("below_");
    names.iter().any(|name| is_of_run(name) || is_of_other(name))
        || brought(name).is_some()
        || name.trim() == "rate"
        || quotients(name).any(|(dividend, divisor)| is_expected(dividend) && is_expected(divisor))
}

fn has_any(store: &Store, name: &str) -> Result<bool, Error> {
    let query = Query::parse(&format!("'{name}'"), 0, FIGURES);
    let query = Some(query.map_err(|bad| Error::Usage(bad.to_string()))?);
    let one = Filter { query, limit: Some(1), ..Filter::default() };
    Ok(!store.list(&one)?.is_empty())
}

/// Returns the possible units of a workload's figure by its name as written; `None` if no workload
/// has such a figure.
fn brought(name: &str) -> Option<&'static BTreeSet<String>> {
    let all = of_all_workloads();
    // Names of a group's figures begin with the name of the group.
    let names = spellings(name.trim()).into_iter().chain(spellings_without_group(name));
    names.into_iter().find_map(|name| all.get(&name))
}

fn spellings_without_group(name: &str) -> Vec<String> {
    name.trim().split_once('.').map_or_else(Vec::new, |(_, rest)| spellings(rest))
}

/// Returns the possible units of a figure; empty if they are known only from a run that has it.
fn units(name: &str) -> Vec<&'static str> {
    let known = known(name).ok().flatten();
    let of_run = known
        .filter(|name| OF_RUN.iter().any(|figure| figure.name == *name) || !unit(name).is_empty());
    if let Some(name) = of_run {
        return vec![unit(&name)];
    }
    // A workload may count bytes of its own.
    let names = spellings(name.trim());
    let of_clients = OF_RUN.iter().filter(|figure| names.iter().any(|name| figure.name == name));
    let mut all: Vec<&str> = brought(name).into_iter().flatten().map(String::as_str).collect();
    all.extend(of_clients.map(|figure| figure.unit));
    all
}

struct Read(Report);

impl HasFigures for Read {
    fn value(&self, name: &str) -> Option<f64> {
        value_as_written(&self.0, name)
    }

    fn compared(&self, name: &str, bound: &str) -> Option<Ordering> {
        compared(&self.0, name, bound)
    }
}

/// Returns the names of figures that a user can choose from: those of every run, and those of
/// `run`, by default the last completed one.
pub fn figure_names(store: &Store, run: Option<&RunId>) -> Result<Vec<String>, Error> {
    let row = match run {
        Some(run) => store.row(run)?,
        None => {
            let status = Some(Status::Completed);
            let ended = Filter { status, limit: Some(1), ..Filter::default() };
            store.list(&ended)?.into_iter().next()
        }
    };
    let mut names: Vec<String> = names_of_run().into_iter().map(str::to_owned).collect();
    if let Some(row) = row
        && let Kept::Report(report) = kept_report(store, &row, &[])?
    {
        let named = all_of(&report).into_iter().map(|one| short(&one.name).to_owned());
        let more: Vec<String> = named.filter(|name| !names.contains(name)).collect();
        names.extend(more);
    }
    Ok(names)
}
