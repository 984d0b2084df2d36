//! Experiments in the store, and the runs that are their trials.
//!
//! An experiment is stored before its first trial. A trial is bound to it in the transaction that
//! starts its run. Not here: the evaluation of their figures (study).

use std::collections::{BTreeSet, HashMap};

use model::{Experiment, Status, Trial};
use rusqlite::{
    Connection, OptionalExtension, Transaction, TransactionBehavior, params, params_from_iter,
};

use super::error::{StoreError, StoreErrorKind};
use super::query::Sql;
use super::reader::{LAST, RunRow};
use super::{ExperimentFilter, Filter, Store, codec, experiment_lock};

/// A started trial of an experiment, with the run that it produced.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRow {
    /// Index, from 0, of the trial's point in the experiment's list of points.
    pub point: u32,
    /// Index, from 0, of the trial among the repeated trials of its point.
    pub repeat: u32,
    pub run: RunRow,
}

/// Counts the trials of an experiment that have a completed run. A trial that was run several times
/// counts once.
pub fn trials_completed(trials: &[TrialRow]) -> usize {
    let completed = trials.iter().filter(|trial| trial.run.status == Status::Completed);
    completed.map(|trial| (trial.point, trial.repeat)).collect::<BTreeSet<_>>().len()
}

impl Store {
    pub fn add_experiment(&self, experiment: &Experiment) -> Result<(), StoreError> {
        let body = codec::to_json(experiment)
            .map_err(|why| StoreError::new(StoreErrorKind::Other, format!("experiment: {why}")))?;
        let sql = "INSERT INTO experiment (id, started_unix_ms, name, body) VALUES (?, ?, ?, ?)";
        let Experiment { id, started_unix_ms, name, .. } = experiment;
        let inserted = self.connection.execute(sql, params![id, started_unix_ms, name, body]);
        inserted.map(drop).map_err(|error| self.reader().said(&error))
    }

    /// Lists the experiments that match `filter`, newest first by default.
    pub fn experiments(&self, filter: &ExperimentFilter) -> Result<Vec<Experiment>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let Sql { text, values, .. } =
                filter.to_sql(&experiment_lock::alive(&self.connection)?);
            let mut select = self.connection.prepare(&text)?;
            select.query_map(params_from_iter(values), |row| row.get(0))?.collect()
        };
        let bodies = read().map_err(|error| self.reader().said(&error))?;
        bodies.iter().map(|body| self.read_experiment(body)).collect()
    }

    /// Finds an experiment by `name`: its id, at least four characters of a unique start or end of
    /// its id, the name of its plan if no other experiment has it, or `last`.
    pub fn find_experiment(&self, name: &str) -> Result<Experiment, StoreError> {
        let id = self.reader().find_in("experiment", name)?;
        let sql = "SELECT body FROM experiment WHERE id = ?";
        let body: Result<String, _> = self.connection.query_row(sql, [id], |row| row.get(0));
        self.read_experiment(&body.map_err(|error| self.reader().said(&error))?)
    }

    /// Finds an experiment by a name that the user may also mean for a run. If `name` is [`LAST`],
    /// returns the experiment of the newest run, or a still newer experiment. Fails if the newest
    /// run is newer than all experiments and is no trial.
    pub fn experiment_or_run(&self, name: &str) -> Result<Experiment, StoreError> {
        if name != LAST {
            return self.find_experiment(name);
        }
        let newest = self.find_experiment(LAST)?;
        let run = match self.list(&Filter { limit: Some(1), ..Filter::default() })?.pop() {
            Some(run) if run.started_unix_ms >= newest.started_unix_ms => run,
            _ => return Ok(newest),
        };
        match run.experiment {
            Some(id) => self.find_experiment(&id),
            None => {
                let message = format!("the last run, {}, is no trial of an experiment", run.run);
                Err(StoreError::new(StoreErrorKind::UnknownRun, message))
            }
        }
    }

    fn read_experiment(&self, body: &str) -> Result<Experiment, StoreError> {
        let experiment: Experiment =
            serde_json::from_str(body).map_err(|error| StoreError::damaged(&self.path, error))?;
        let id = &experiment.id;
        let damaged = |why| StoreError::damaged(&self.path, format!("experiment {id}: {why}"));
        experiment.check().map_err(damaged)?;
        Ok(experiment)
    }

    /// Returns the trials of an experiment that were started, with their runs, in the order of
    /// their starts.
    pub fn trials(&self, experiment: &Experiment) -> Result<Vec<TrialRow>, StoreError> {
        let sql = "SELECT run.id, point, repeat FROM trial
                   JOIN experiment ON experiment.number = trial.experiment
                   JOIN run ON run.number = trial.run
                   WHERE experiment.id = ? ORDER BY run.started_unix_ms, run.number";
        let read = || -> rusqlite::Result<Vec<(String, u32, u32)>> {
            let mut select = self.connection.prepare(sql)?;
            let rows = select
                .query_map([&experiment.id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect()
        };
        let filter = Filter { experiment: Some(experiment.id.clone()), ..Filter::default() };
        let rows = self.list(&filter)?.into_iter().map(|run| (run.run.0.clone(), run));
        let mut rows: HashMap<String, RunRow> = rows.collect();
        let trials = read().map_err(|error| self.reader().said(&error))?;
        let is_strange =
            |(_, point, repeat): &&(String, u32, u32)| !experiment.may_have(*point, *repeat);
        if let Some((id, point, repeat)) = trials.iter().find(is_strange) {
            let what = format!("run {id} is trial {repeat} of point {point}");
            return Err(StoreError::damaged(&self.path, what));
        }
        let trials = trials.into_iter();
        // A run removed in between is no trial any more.
        let trial = |(id, point, repeat): (String, u32, u32)| {
            Some(TrialRow { point, repeat, run: rows.remove(&id)? })
        };
        Ok(trials.filter_map(trial).collect())
    }

    /// Removes an experiment from the store. The runs of its trials stay, and then belong to no
    /// experiment. Fails while trials are running.
    pub fn remove_experiment(&self, experiment: &Experiment) -> Result<(), StoreError> {
        let removed = || -> rusqlite::Result<bool> {
            let all = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            if !experiment_lock::is_free(&all, experiment)? {
                return Ok(false);
            }
            all.execute("DELETE FROM experiment WHERE id = ?", [&experiment.id])?;
            all.commit().map(|()| true)
        };
        if removed().map_err(|error| self.reader().said(&error))? {
            return Ok(());
        }
        let message = format!("the experiment {} is running: stop it first", experiment.id);
        Err(StoreError::new(StoreErrorKind::UnderWay, message))
    }
}

pub(super) fn bind(connection: &Connection, run: i64, trial: &Trial) -> rusqlite::Result<()> {
    let sql = "SELECT number FROM experiment WHERE id = ?";
    let number: Option<i64> =
        connection.query_row(sql, [&trial.experiment], |row| row.get(0)).optional()?;
    // The experiment was removed meanwhile.
    let Some(number) = number else { return Ok(()) };
    let sql = "INSERT INTO trial (run, experiment, point, repeat) VALUES (?, ?, ?, ?)";
    connection.execute(sql, params![run, number, trial.point, trial.repeat]).map(drop)
}
