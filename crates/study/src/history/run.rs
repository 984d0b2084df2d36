//! A run of a history, of which little is in memory: its figures, and a report of the same setup.
//!
//! Thousands of runs have few setups. Not here: how runs are read (app).

use std::collections::BTreeMap;

use analysis::figures::{OF_RUN, value_of};
use analysis::report::Report;
use jiff::Timestamp;
use model::fnv1a;

use super::{HistoryReport, environment};
use crate::comparison::between;
use crate::condition::Condition;
use crate::environment::{Environment, usual_gap_s};

/// A valid run of a history.
pub trait HistoryRun {
    fn run_id(&self) -> &str;
    fn started(&self) -> Timestamp;
    fn seed(&self) -> u64;
    /// Returns the length of the measured phase in seconds.
    fn measured_seconds(&self) -> f64;
    /// Returns the value of the figure with this full name, such as `p99_ms`; `None` if the run
    /// lacks it.
    fn value(&self, name: &str) -> Option<f64>;
    /// Returns the report of a run with the same setup ([`setup_of`]), perhaps of this one.
    fn like(&self) -> &Report;
    /// Returns the report of this run; `None` if it is not in memory.
    fn own_report(&self) -> Option<&Report>;
}

impl HistoryRun for Report {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn started(&self) -> Timestamp {
        self.started
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn measured_seconds(&self) -> f64 {
        self.measured_seconds
    }

    fn value(&self, name: &str) -> Option<f64> {
        value_of(self, name)
    }

    fn like(&self) -> &Report {
        self
    }

    fn own_report(&self) -> Option<&Report> {
        Some(self)
    }
}

/// Returns the figures of a whole run by their full names, which are those that histories show most
/// often.
pub fn figures_of(report: &Report) -> BTreeMap<String, f64> {
    let of_run = OF_RUN.iter().map(|figure| figure.name.to_owned());
    let primaries = report.block.primary_metrics.iter().map(|(name, _)| name.to_owned());
    let known = of_run.chain(primaries).filter_map(|name| Some((value_of(report, &name)?, name)));
    known.filter(|(value, _)| !value.is_nan()).map(|(value, name)| (name, value)).collect()
}

/// Returns a number that two runs share only if a history may take the report of one for that of
/// the other, figures aside: their points, environments, and names and units of figures are equal.
pub fn setup_of(report: &Report) -> u64 {
    let scene = scene_of(&[report], &[]);
    let figures = figures_of(report);
    let names: Vec<&String> = figures.keys().collect();
    let declared: Vec<_> = report.block.primary_metrics.iter().collect();
    let declared: Vec<_> =
        declared.iter().map(|(name, one)| (name, &one.title, one.better)).collect();
    let setup = (
        Condition::from_report(report).of_points(),
        environment::Environment::from_report(report),
        (scene, report.is_drawn(), report.is_build()),
        (names, declared),
    );
    fnv1a(format!("{setup:?}").as_bytes())
}

/// Returns each report once by which runs are known, in the order of the runs.
pub(super) fn likes<'r>(runs: &[&'r dyn HistoryRun]) -> Vec<&'r Report> {
    let mut known: BTreeMap<*const Report, ()> = BTreeMap::new();
    let reports = runs.iter().map(|run| run.like());
    reports.filter(|report| known.insert(std::ptr::from_ref(*report), ()).is_none()).collect()
}

/// Returns the environment of runs, from the reports by which they are known.
pub(super) fn scene_of(likes: &[&Report], runs: &[&dyn HistoryRun]) -> Environment {
    let begun = || runs.iter().map(|run| run.started());
    let measured = || runs.iter().map(|run| run.measured_seconds());
    Environment {
        runs: runs.len() as u64,
        begun: begun().min().zip(begun().max()),
        measured_s: (
            measured().fold(f64::INFINITY, f64::min),
            measured().fold(f64::NEG_INFINITY, f64::max),
        ),
        usual_gap_s: usual_gap_s(begun()),
        ..Environment::from_reports(likes)
    }
}

impl HistoryReport {
    /// Adds to each change of level what differs from the build before, given a function that
    /// returns the reports of runs by their ids.
    pub fn compare_changes(&mut self, reports: &mut dyn FnMut(&[String]) -> Vec<Report>) {
        for point in self.points.iter_mut().filter(|point| point.imported.is_none()) {
            for change in point.changes.iter_mut().flatten().filter(|change| change.at > 0) {
                let [before, after] =
                    [change.at - 1, change.at].map(|at| reports(&point.builds[at].runs));
                change.changed = between(&[before.iter().collect(), after.iter().collect()]);
            }
        }
    }
}
