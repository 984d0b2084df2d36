//! Reads the report of a stored run. All commands do so here, so that they all show the same.
//!
//! **The report of a run never changes after its end.** It was judged then, and its report is
//! stored with its events: figures, findings and texts come from there, even if a newer dbdyno
//! would judge the same events otherwise. Parts that a report leaves out because they grow with
//! clients and seconds (results of each client, readings of gauges) are added from the events and
//! change nothing else. A run without a report is running, or was killed: it is reported from the
//! events so far, and its status says so.
//!
//! Not here: several runs together (compare, experiment, seek), and the seconds of a run in other
//! lengths than its report has ([`stored_tally`] is for those).

use std::collections::BTreeMap;

use analysis::report::{Options, Report};
use analysis::{RunCheck, Tally};
use model::{CpuProfileReport, Event, Fact, LatencyHeat, ReportField, RunId, Target};
use serde::Deserialize;
use store::{RunRow, Store, StoreError};

use crate::error::Error;

/// Returns the report that was stored when a run ended, or else one made from its events so far.
pub fn stored_report(store: &Store, run: &RunId, options: Options) -> Result<Report, Error> {
    let row = row_of(store, run)?;
    let report = match ended_report(store, &row)? {
        Some(report) => report,
        None => report_so_far(&stored_tally(store, run)?, &row),
    };
    Ok(match options.per_client {
        true => report.with_clients(&clients(store, run)?),
        false => report,
    })
}

/// Returns the report that was stored when a run ended; `None` if the run is in progress or was
/// killed.
pub fn ended_report(store: &Store, row: &RunRow) -> Result<Option<Report>, Error> {
    let run = &row.run;
    match kept_report(store, row, &[])? {
        Kept::Not => Ok(None),
        Kept::Report(report) => {
            let (gauges, readings) = store.readings(run)?;
            let mut report = report.with_points(&gauges, &readings);
            report.limits = store.run_limits(run)?;
            if !report.cpu_profiles.is_empty() {
                CpuProfileReport::fill(&mut report.cpu_profiles, store.cpu_profiles(run)?);
            }
            Ok(Some(report))
        }
        Kept::Damaged(why) => Err(damaged(run, &format!("its report: {why}"))),
    }
}

/// Adds the latency heat map to a report without one, as those of older runs are. This reads all
/// seconds of the run.
pub fn with_latency_heat(store: &Store, run: &RunId, report: Report) -> Result<Report, Error> {
    if report.latency_heat.is_some() {
        return Ok(report);
    }
    let mut heat = LatencyHeat::default();
    store.seconds(run, &mut |second| heat.add(&second))?;
    Ok(Report { latency_heat: Some(heat), ..report })
}

/// Returns the commits per second of all groups in each measured second, from the report of an
/// ended run. Empty for a run without a report; NaN for a second that is not in the report.
pub fn rates_over_time(store: &Store, run: &RunId) -> Result<Vec<f64>, Error> {
    #[derive(Deserialize)]
    struct Rates {
        seconds: Vec<Rate>,
    }
    #[derive(Deserialize)]
    struct Rate {
        second: i64,
        tps: f64,
    }
    let json = store.report_json(run)?;
    let rates = json.and_then(|json| serde_json::from_str::<Rates>(&json).ok());
    let n_rows = rates.as_ref().map_or(0, |rates| rates.seconds.len() as i64);
    let mut all: BTreeMap<i64, f64> = BTreeMap::new();
    for rate in rates.into_iter().flat_map(|rates| rates.seconds) {
        if rate.second >= 0 {
            *all.entry(rate.second).or_default() += rate.tps;
        }
    }
    // Seconds beyond the report are unknown. A group with later seconds does not extend the series.
    let n = all.last_key_value().map_or(0, |(last, _)| last + 1).min(n_rows);
    Ok((0..n).map(|second| all.get(&second).copied().unwrap_or(f64::NAN)).collect())
}

/// Returns what a list shows of an ended run's setup and warnings; `None` if the report cannot be
/// read.
pub fn identity_of(store: &Store, row: &RunRow) -> Option<render::Identity> {
    match kept_report(store, row, &[&Report::AT_LENGTH[..], &Report::SETTINGS].concat()) {
        Ok(Kept::Report(report)) => Some(render::identity(&report, &is_default)),
        _ => None,
    }
}

/// Names of parameters that set the size of a workload's data. Lists and reports show them even at
/// their default.
pub const SIZES: [&str; 4] = ["warehouses", "scale", "tables", "table_size"];

/// Returns true if a parameter of a workload has its default value and need not be shown.
pub fn is_default(workload: &str, name: &str, value: &str) -> bool {
    let entry = workloads::by_name(workload).ok();
    let parameter = entry.and_then(|entry| entry.parameters.iter().find(|row| row.name == name));
    parameter.is_some_and(|row| row.default == value && !SIZES.contains(&name))
}

/// Creates the report of a run that has none, from its events so far.
pub fn report_so_far(tally: &Tally, row: &RunRow) -> Report {
    Report::with_status(tally, row.status).with_lost(row.events_lost)
}

/// Reads all events of a run and adds them up, for data that are in no report. Adds facts that
/// older drivers did not derive, so that old runs get the same findings.
pub fn stored_tally(store: &Store, run: &RunId) -> Result<Tally, Error> {
    let mut checked = CheckedTally::default();
    store.events(run, &mut |event| checked.add(&event))?;
    let mut tally = checked.into_tally(run)?;
    for fact in said_since(&tally) {
        tally.add(&Event::Fact(fact));
    }
    Ok(tally)
}

/// Validates a run of a foreign store by reading all its events and its report. Returns the
/// problem; `None` if there is none.
pub fn check_run(store: &Store, run: &RunId) -> Result<Option<String>, StoreError> {
    let mut checked = CheckedTally { keeps: false, ..CheckedTally::default() };
    store.events(run, &mut |event| checked.add(&event))?;
    if let Some(wrong) = checked.wrong() {
        return Ok(Some(wrong));
    }
    let json = store.report_json(run)?;
    Ok(json.and_then(|json| Report::check_json(&json).err()).map(|why| format!("report: {why}")))
}

/// Adds up stored events, which may be foreign or damaged. Rejects events that no run of dbdyno
/// produces, since a single wrong number could use up all memory.
pub struct CheckedTally {
    tally: Tally,
    check: RunCheck,
    wrong: Option<String>,
    /// True if events are added up, and not only validated.
    keeps: bool,
}

impl Default for CheckedTally {
    fn default() -> CheckedTally {
        let (tally, check) = (Tally::new(), RunCheck::default());
        CheckedTally { tally, check, wrong: None, keeps: true }
    }
}

impl CheckedTally {
    /// Validates and adds an event. Does nothing if an earlier event was invalid.
    pub fn add(&mut self, event: &Event) {
        if self.wrong.is_none() {
            self.wrong = self.check.event(event).err();
        }
        if self.wrong.is_none() && self.keeps {
            self.tally.add(event);
        }
    }

    /// Returns the sums over the events of `run` added so far. Fails if one was invalid.
    pub fn tally(&self, run: &RunId) -> Result<&Tally, Error> {
        match self.wrong() {
            Some(why) => Err(damaged(run, &why)),
            None => Ok(&self.tally),
        }
    }

    fn into_tally(self, run: &RunId) -> Result<Tally, Error> {
        self.tally(run)?;
        Ok(self.tally)
    }

    fn wrong(&self) -> Option<String> {
        self.wrong.clone().or_else(|| self.check.end().err())
    }
}

fn damaged(run: &RunId, why: &str) -> Error {
    Error::Failed(format!("the run {run} is damaged ({why}): 'dbdyno runs rm {run}' removes it"))
}

/// Returns facts that a run stored by an older dbdyno lacks: those that the present drivers derive
/// from its other facts.
fn said_since(tally: &Tally) -> Vec<Fact> {
    let Some(description) = &tally.description else { return Vec::new() };
    let target = Target::parse(&description.target).ok();
    let Some(entry) = target.as_ref().and_then(drivers::of_target) else { return Vec::new() };
    let modes = description.modes.iter().filter_map(|mode| mode.split_once('='));
    let modes = modes.map(|(name, value)| Fact::new("mode", name, value));
    let facts: Vec<Fact> = modes.chain(tally.facts.iter().cloned()).collect();
    let mut said = (entry.product.administration.durability)(&facts);
    said.extend(entry.product.monitoring.facts());
    said.retain(|fact| tally.fact(&fact.about, &fact.name).is_none());
    said
}

/// A stored report, or the reason why there is no readable one.
pub(crate) enum Kept {
    Report(Box<Report>),
    /// The run has no report: it is in progress, or was killed.
    Not,
    /// The stored report cannot be read, for this reason.
    Damaged(String),
}

/// Reads the stored report of a run. The fields in `emptied` are left empty, and gauges have only
/// their means.
pub(crate) fn kept_report(
    store: &Store,
    row: &RunRow,
    emptied: &[ReportField],
) -> Result<Kept, Error> {
    let text = match emptied {
        [] => store.report_json(&row.run),
        emptied => store.report_json_but(&row.run, emptied),
    };
    let text = match text {
        Ok(None) => return Ok(Kept::Not),
        Ok(Some(text)) => text,
        // The store parses reports whose fields are emptied.
        Err(error) => return why_damaged(store, row).ok_or(Error::from(error)).map(Kept::Damaged),
    };
    Ok(match Report::read_json(&text) {
        Ok(report) => Kept::Report(Box::new(report.with_lost(row.events_lost))),
        Err(why) => Kept::Damaged(why),
    })
}

fn why_damaged(store: &Store, row: &RunRow) -> Option<String> {
    let text = store.report_json(&row.run).ok().flatten()?;
    let read = serde_json::from_str::<serde::de::IgnoredAny>(&text);
    read.err().map(|error| error.to_string())
}

/// Reads the results of each client of a run into a tally (results so far) without other data.
fn clients(store: &Store, run: &RunId) -> Result<Tally, Error> {
    let mut checked = CheckedTally::default();
    checked.add(&store.begun(run)?);
    store.clients(run, &mut |event| checked.add(&event))?;
    checked.into_tally(run)
}

pub(crate) fn row_of(store: &Store, run: &RunId) -> Result<RunRow, Error> {
    let gone = || Error::Failed(format!("the run {run} was removed"));
    store.row(run)?.ok_or_else(gone)
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;

    use super::*;

    #[test]
    fn a_run_of_before_is_judged_by_the_modes_that_it_has() {
        let finding_text = |target: &str, modes: &[&str]| {
            let mut made = Made::closed();
            made.description.target = target.to_owned();
            made.description.modes = modes.iter().map(|mode| (*mode).to_owned()).collect();
            let mut tally = made.tally();
            let since = said_since(&tally);
            since.iter().for_each(|fact| tally.add(&Event::Fact(fact.clone())));
            assert_eq!(said_since(&tally), [], "it is said once");
            let findings = Report::from_tally(&tally).findings;
            let finding = findings.into_iter().find(|found| found.id == "not_durable");
            finding.map(|finding| finding.text)
        };
        let says = |target: &str, modes: &[&str], words: Option<&str>| {
            let shown = finding_text(target, modes);
            let is_so = match (&shown, words) {
                (Some(shown), Some(words)) => shown.starts_with(words),
                (shown, words) => shown.is_none() && words.is_none(),
            };
            assert!(is_so, "{target} {modes:?}: {shown:?}");
        };
        let wal = ["journal_mode=wal", "synchronous=normal"];
        says("sqlite:/a.db", &wal, Some("journal_mode=wal with synchronous=normal: "));
        says("sqlite:/a.db", &["journal_mode=wal", "synchronous=full"], None);
        let fast = ["innodb_flush_log_at_trx_commit=2"];
        says("mariadb://h/d", &fast, Some("innodb_flush_log_at_trx_commit=2: a loss of power"));
        says("managed:mysql", &fast, Some("innodb_flush_log_at_trx_commit=2: a loss of power"));
        says("postgres://h/d", &["fsync=off"], Some("fsync=off: a loss of power may lose commits"));
        says("sim:", &[], None);
    }
}
