//! What a store has of an experiment's trials. Not here: how they are made (trial_runner).

use analysis::figures::{OF_RUN, all_of, check_bound, compared, known, short, value_as_written};
use analysis::report::Report;
use analysis::trials::Trialled;
use model::{Experiment, ReportField, RunId, Status};
use store::{Figures, Filter, Store};

use crate::error::Error;

/// Removes an experiment of which no trial was begun: there is nothing to go on with.
pub(crate) fn forget_unbegun(store: &Store, experiment: &Experiment) -> Result<(), Error> {
    match store.trials(experiment)?.is_empty() {
        true => store.remove_experiment(experiment).map_err(Error::from),
        false => Ok(()),
    }
}

/// Whether an experiment's trials are being made, and how that ended; none of one of which the
/// store does not know it.
pub fn status(store: &Store, experiment: &Experiment) -> Result<Option<Status>, Error> {
    let walked = store.walked(experiment)?;
    Ok(walked.map(|walked| walked.status))
}

/// The trials that have ended, with what they measured; damaged ones are left out.
pub fn trialled(store: &Store, experiment: &Experiment) -> Result<Vec<Trialled>, Error> {
    Ok(trials(store, experiment)?.ended)
}

/// The trials of an experiment.
pub(crate) struct Trials {
    /// Those that have ended, with what they measured.
    pub(crate) ended: Vec<Trialled>,
    /// The runs whose report cannot be read: one of them does not take the others away.
    pub(crate) damaged: Vec<String>,
}

pub(crate) fn trials(store: &Store, experiment: &Experiment) -> Result<Trials, Error> {
    let mut trials = Trials { ended: Vec::new(), damaged: Vec::new() };
    for row in store.trials(experiment)? {
        let text = store.report_json(&row.run.run)?;
        match Kept::of(text) {
            Kept::Not => {}
            Kept::Report(report) => {
                let (point, repeat, report) = (row.point, row.repeat, *report);
                trials.ended.push(Trialled { point, repeat, report });
            }
            Kept::Damaged => trials.damaged.push(row.run.run.0),
        }
    }
    Ok(trials)
}

/// The report of a run that has ended, with all that was read around it.
pub fn read_report(store: &Store, run: &RunId) -> Result<Option<Report>, Error> {
    let Some(report) = kept_report(store, run)? else { return Ok(None) };
    let (gauges, readings) = store.readings(run)?;
    let n_lost = store.row(run)?.map_or(0, |row| row.events_lost);
    Ok(Some(report.with_points(&gauges, &readings).with_lost(n_lost)))
}

/// The report of a run as it was kept: of the gauges their means alone. None of one that has not
/// ended.
fn kept_report(store: &Store, run: &RunId) -> Result<Option<Report>, Error> {
    parsed(run, store.report_json(run)?)
}

/// A report as it was kept, or why there is none.
pub(crate) enum Kept {
    Report(Box<Report>),
    /// The run has not ended.
    Not,
    /// It cannot be read.
    Damaged,
}

impl Kept {
    fn of(text: Option<String>) -> Kept {
        match text.map(|text| serde_json::from_str(&text)) {
            None => Kept::Not,
            Some(Ok(report)) => Kept::Report(Box::new(report)),
            Some(Err(_)) => Kept::Damaged,
        }
    }
}

/// The same with some of its fields empty.
pub(crate) fn kept_report_but(
    store: &Store,
    run: &RunId,
    emptied: &[ReportField],
) -> Result<Kept, Error> {
    match store.report_json_but(run, emptied) {
        // The store itself reads what is to be emptied.
        Err(_) if is_damaged(store, run) => Ok(Kept::Damaged),
        Err(error) => Err(error.into()),
        Ok(text) => Ok(Kept::of(text)),
    }
}

/// The figures of stored reports, for conditions on runs and for their order.
pub const FIGURES: Figures = Figures {
    may_be: |name| known(name).is_ok(),
    check: |bound| check_bound(bound),
    value: |json, name| value_as_written(&report_in(json)?, name),
    compared: |json, name, bound| compared(&report_in(json)?, name, bound),
};

fn report_in(json: &str) -> Option<Report> {
    serde_json::from_str(json).ok()
}

/// Names of figures to choose from: what every run may have, and what a run has, by default the
/// last one that has ended.
pub fn figure_names(store: &Store, run: Option<&RunId>) -> Result<Vec<String>, Error> {
    let newest = || -> Result<Option<RunId>, Error> {
        let ended = Filter { status: Some(Status::Completed), limit: Some(1), ..Filter::default() };
        Ok(store.list(&ended)?.into_iter().next().map(|row| row.run))
    };
    let run = match run {
        Some(run) => Some(run.clone()),
        None => newest()?,
    };
    let text = run.map(|run| store.report_json(&run)).transpose()?.flatten();
    let mut names: Vec<String> = OF_RUN.iter().map(|one| short(one.name).to_owned()).collect();
    if let Kept::Report(report) = Kept::of(text) {
        let named = all_of(&report).into_iter().map(|one| short(&one.name).to_owned());
        let more: Vec<String> = named.filter(|name| !names.contains(name)).collect();
        names.extend(more);
    }
    Ok(names)
}

fn is_damaged(store: &Store, run: &RunId) -> bool {
    let text = store.report_json(run).ok().flatten();
    text.is_some_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err())
}

fn parsed(run: &RunId, text: Option<String>) -> Result<Option<Report>, Error> {
    let read = |text: String| serde_json::from_str(&text);
    text.map(read).transpose().map_err(|error| {
        Error::Failed(format!(
            "the report of run {run} is damaged ({error}): 'dbdyno runs rm {run}' removes it"
        ))
    })
}
