//! Several trials of an experiment as one line in a list of runs.

use std::collections::HashMap;

use model::numbers::count;
use model::{Severity, Status};
use store::RunRow;

use super::in_short;

/// Groups runs for the rows of a list, in their order: each run alone or, if folded, with all runs
/// of its experiment.
pub fn groups<'r>(rows: impl Iterator<Item = &'r RunRow>, is_folded: bool) -> Vec<Vec<&'r RunRow>> {
    let mut groups: Vec<Vec<&RunRow>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        let experiment = row.experiment.as_deref().filter(|_| is_folded);
        match experiment.and_then(|id| places.get(id)) {
            Some(place) => groups[*place].push(row),
            None => {
                places.extend(experiment.map(|id| (id, groups.len())));
                groups.push(vec![row]);
            }
        }
    }
    groups
}

/// Trials of one experiment that are folded into a line of a list. The latest is first.
#[derive(Clone, Copy)]
pub struct Trials<'t, 'r> {
    pub rows: &'t [&'r RunRow],
    first: &'r RunRow,
    /// Id of the experiment whose trials are folded.
    pub id: &'r str,
}

impl<'t, 'r> Trials<'t, 'r> {
    /// Creates the folded line of the trials `rows`; `None` if `rows` is a single run or belongs to
    /// no experiment.
    pub fn from_rows(rows: &'t [&'r RunRow]) -> Option<Trials<'t, 'r>> {
        let [first, _, ..] = *rows else { return None };
        Some(Trials { rows, first, id: first.experiment.as_deref()? })
    }

    pub fn name(&self) -> &'r str {
        &self.first.name
    }

    /// Returns the workload of the latest of the folded trials.
    pub fn workload(&self) -> &'r str {
        &self.first.workload
    }

    /// Counts the runs: `20 runs`. An interrupted trial has several.
    pub fn counted(&self) -> String {
        count(self.rows.len() as u64, "run")
    }

    /// Returns the labels (key and value) that all runs of the trials have.
    pub fn labels(&self) -> Vec<&'r (String, String)> {
        let has_all = |label: &&(String, String)| {
            self.rows.iter().all(|row| row.labels.iter().any(|other| other == *label))
        };
        self.first.labels.iter().filter(has_all).collect()
    }

    /// Formats the range of the figure that `value` returns over the runs: `876–1,951`, or one
    /// number if both ends look alike. Empty if no run has it.
    pub fn span(
        &self,
        value: impl Fn(&RunRow) -> Option<f64>,
        shown: impl Fn(f64) -> String,
    ) -> String {
        let values = || self.rows.iter().filter_map(|row| value(row));
        let low = values().min_by(f64::total_cmp);
        match (low, values().max_by(f64::total_cmp)) {
            (Some(low), Some(high)) if shown(low) == shown(high) => shown(low),
            (Some(low), Some(high)) => format!("{}–{}", shown(low), shown(high)),
            _ => String::new(),
        }
    }

    /// Formats a figure as [`Trials::span`] does, after its mean if all runs are repeats of one
    /// point: `1,402 (876–1,951)`.
    pub fn mean_and_span(
        &self,
        value: impl Fn(&RunRow) -> Option<f64>,
        shown: impl Fn(f64) -> String,
    ) -> String {
        let span = self.span(&value, &shown);
        let are_repeats = self.rows.iter().all(|row| row.point == self.first.point);
        let all: Vec<f64> = self.rows.iter().filter_map(|row| value(row)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        match are_repeats && span.contains('–') && mean.is_finite() {
            true => format!("{} ({span})", shown(mean)),
            false => span,
        }
    }

    /// Returns the start of the earliest run, in milliseconds since 1970.
    pub fn started_unix_ms(&self) -> i64 {
        self.rows.iter().map(|row| row.started_unix_ms).min().unwrap_or(self.first.started_unix_ms)
    }

    /// Returns the status of folded trials: running, failed or interrupted if any run is (in this
    /// order), else completed. An attempt counts even if a later one of the same trial completed.
    pub fn status(&self) -> Status {
        let is_any = |status: &Status| self.rows.iter().any(|row| row.status == *status);
        let all = [Status::Running, Status::Failed, Status::Interrupted];
        all.into_iter().find(is_any).unwrap_or(Status::Completed)
    }

    /// Describes the status of folded trials: `completed`, `running`, `2 of 10 failed`.
    pub fn status_in_words(&self) -> String {
        let status = self.status();
        let n_with = self.rows.iter().filter(|row| row.status == status).count();
        match status {
            Status::Failed | Status::Interrupted => {
                format!("{n_with} of {} {}", self.rows.len(), status.name())
            }
            status => status.name().to_owned(),
        }
    }

    /// Returns the severity of the worst finding in any of the folded trials; `None` if there are
    /// no findings.
    pub fn worst_finding(&self) -> Option<Severity> {
        self.rows.iter().filter_map(|row| row.worst_finding).max()
    }

    /// Returns the full names of the folded trials' databases, each once.
    pub fn databases(&self) -> Vec<&'r str> {
        let mut all: Vec<&str> = self.rows.iter().map(|row| row.database.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns product and version of the folded trials' database; if there are several databases,
    /// only the products.
    pub fn databases_in_short(&self) -> String {
        let product = |database: &'r str| database.split(' ').next().unwrap_or(database);
        match &self.databases()[..] {
            [one] => in_short(one),
            several => {
                let mut products: Vec<&str> = several.iter().map(|one| product(one)).collect();
                products.dedup();
                products.join(", ")
            }
        }
    }
}
