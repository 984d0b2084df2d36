//! The report of a run of the store: the one way to read one, so that whoever shows, exports,
//! lists or compares a run says the same of it.
//!
//! **What a run said when it ended stays what it said.** It was judged then, and its report is kept
//! beside its events: figures, findings and their words come from there, whatever a newer dbdyno
//! would make of the same events. What such a report leaves out, since it grows with clients and
//! seconds (what each client did, what gauges stood at), is added from the events and changes
//! nothing else. A run without a report goes on, or its process was killed: it is reported from the
//! events that there are, and its status says so.
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

/// The report of a run, as it ended or as it stands.
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

/// The report that a run ended with; none of one that goes on, or whose process died.
pub fn ended_report(store: &Store, row: &RunRow) -> Result<Option<Report>, Error> {
    let run = &row.run;
    match kept_report(store, row, &[])? {
        Kept::Not => Ok(None),
        Kept::Report(report) => {
            let (gauges, readings) = store.readings(run)?;
            let mut report = report.with_points(&gauges, &readings);
            if !report.cpu_profiles.is_empty() {
                CpuProfileReport::fill(&mut report.cpu_profiles, store.cpu_profiles(run)?);
            }
            Ok(Some(report))
        }
        Kept::Damaged(why) => Err(damaged(run, &format!("its report: {why}"))),
    }
}

/// The same with its latency heat map, for whoever draws it: where a run of before was stored
/// without, all of its seconds are read for that.
pub fn with_latency_heat(store: &Store, run: &RunId, report: Report) -> Result<Report, Error> {
    if report.latency_heat.is_some() {
        return Ok(report);
    }
    let mut heat = LatencyHeat::default();
    store.seconds(run, &mut |second| heat.add(&second))?;
    Ok(Report { latency_heat: Some(heat), ..report })
}

/// Commits per second of each measured second, all groups together, as the report of an ended run
/// has them; nothing of others.
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
    // Seconds that a report does not have are not known. One has all of them, so that further ones
    // are none.
    let n = all.last_key_value().map_or(0, |(last, _)| last + 1).min(n_rows);
    Ok((0..n).map(|second| all.get(&second).copied().unwrap_or(f64::NAN)).collect())
}

/// The setup and the warnings that a list shows of an ended run; `None` for an unreadable report.
pub fn identity_of(store: &Store, row: &RunRow) -> Option<render::Identity> {
    match kept_report(store, row, &[&Report::AT_LENGTH[..], &Report::SETTINGS].concat()) {
        Ok(Kept::Report(report)) => Some(render::identity(&report, &is_default)),
        _ => None,
    }
}

/// Parameters that set the size of a workload's data. Lists and reports always show them.
pub const SIZES: [&str; 4] = ["warehouses", "scale", "tables", "table_size"];

/// Whether a workload's parameter has its default value, and is not shown.
pub fn is_default(workload: &str, name: &str, value: &str) -> bool {
    let entry = workloads::by_name(workload).ok();
    let parameter = entry.and_then(|of| of.parameters.iter().find(|of| of.name == name));
    parameter.is_some_and(|of| of.default == value && !SIZES.contains(&name))
}

/// The report of a run that has none, from what there is of its events.
pub fn report_so_far(tally: &Tally, row: &RunRow) -> Report {
    Report::with_status(tally, row.status).with_lost(row.events_lost)
}

/// All events of a run, added up again: for what no report has. Facts that a driver of then did
/// not draw from others are drawn now, so that runs of before are judged by the same findings.
pub fn stored_tally(store: &Store, run: &RunId) -> Result<Tally, Error> {
    let mut checked = CheckedTally::default();
    store.events(run, &mut |event| checked.add(&event))?;
    let mut tally = checked.into_tally(run)?;
    for fact in said_since(&tally) {
        tally.add(&Event::Fact(fact));
    }
    Ok(tally)
}

/// What is wrong with a run of somebody else's: all of it is read.
pub fn check_run(store: &Store, run: &RunId) -> Result<Option<String>, StoreError> {
    let mut checked = CheckedTally { keeps: false, ..CheckedTally::default() };
    store.events(run, &mut |event| checked.add(&event))?;
    if let Some(wrong) = checked.wrong() {
        return Ok(Some(wrong));
    }
    let json = store.report_json(run)?;
    Ok(json.and_then(|json| Report::check_json(&json).err()).map(|why| format!("report: {why}")))
}

/// A tally of stored events, which may be somebody else's or damaged: of those that no run of ours
/// can have said it takes in none, since one number can take all memory.
pub struct CheckedTally {
    tally: Tally,
    check: RunCheck,
    wrong: Option<String>,
    /// Whether events are added up; else they are only looked at.
    keeps: bool,
}

impl Default for CheckedTally {
    fn default() -> CheckedTally {
        let (tally, check) = (Tally::new(), RunCheck::default());
        CheckedTally { tally, check, wrong: None, keeps: true }
    }
}

impl CheckedTally {
    /// Takes one event in; none after the first that is wrong.
    pub fn add(&mut self, event: &Event) {
        if self.wrong.is_none() {
            self.wrong = self.check.event(event).err();
        }
        if self.wrong.is_none() && self.keeps {
            self.tally.add(event);
        }
    }

    /// The sum of the events of `run` so far, or that it is damaged.
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

/// What drivers of today say of a run's facts, where those of then did not say it yet.
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

/// A report as it was kept, or why there is none.
pub(crate) enum Kept {
    Report(Box<Report>),
    /// The run has not ended.
    Not,
    /// It cannot be read.
    Damaged(String),
}

/// The report that a run was kept with, with some of its fields empty: of gauges the means alone.
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
        // The store itself reads what is to be emptied.
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

/// What each client did, in a tally that knows nothing else of the run.
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
        let shown = |target: &str, modes: &[&str]| {
            let mut made = Made::closed();
            made.description.target = target.to_owned();
            made.description.modes = modes.iter().map(|mode| (*mode).to_owned()).collect();
            let mut tally = made.tally();
            let since = said_since(&tally);
            since.iter().for_each(|fact| tally.add(&Event::Fact(fact.clone())));
            assert_eq!(said_since(&tally), [], "it is said once");
            let findings = Report::of(&tally).findings;
            let finding = findings.into_iter().find(|found| found.id == "not_durable");
            finding.map(|finding| finding.text)
        };
        let says = |target: &str, modes: &[&str], words: Option<&str>| {
            let shown = shown(target, modes);
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
