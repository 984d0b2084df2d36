//! Steps of a run (run members) that execute the workloads' consistency checks before and after the
//! load. Not here: executing one check (check).

use std::fmt::Display;
use std::sync::Arc;

use engine::Stop;
use model::{Check, CheckResult, Event, RepairedCheck, ScaleOf, StopReason};

use super::member::{LoadEnded, RunMember, RunUnderWay};
use super::sink::RunSink;
use crate::error::Error;
use crate::finding::not_made;
use crate::open::{Data, Opened};
use crate::{check, storage_engine};

/// [`RunMember`] that checks the consistency of the data before the load. The run fails if they are
/// inconsistent.
pub(super) struct ChecksBefore;

/// [`RunMember`] that checks the consistency of the data after the load, and reports the results.
pub(super) struct ChecksAfter;

impl RunMember for ChecksBefore {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        match run.options.check_before {
            true => check_before(run.groups, run.stop, run.sink),
            false => Ok(()),
        }
    }
}

impl RunMember for ChecksAfter {
    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, load: &LoadEnded) {
        // After an interruption, the user does not want to wait.
        let is_wanted = matches!(load.reason, StopReason::Completed | StopReason::QueueFull);
        if !run.options.check_after || !is_wanted {
            return;
        }
        match check_all(run.groups, run.stop, run.sink) {
            Ok(results) if results.is_empty() => {}
            Ok(results) => run.sink.tell(Event::Checked { after: true, results }),
            Err(Error::Interrupted(why)) => run.sink.note(why),
            Err(error) => not_checked(&error, run.sink),
        }
    }

    fn unanswered(&mut self, run: &mut RunUnderWay<'_, '_>, silence: &str) {
        if run.options.check_after {
            not_checked(&silence, run.sink);
        }
    }
}

fn not_checked(why: &dyn Display, sink: &mut RunSink<'_>) {
    let text = format!("The data could not be checked after the load: {why}.");
    sink.tell(not_made("checks_not_run", text));
}

/// Executes the consistency checks of all groups, and fails with the violating rows if the data are
/// inconsistent.
fn check_before(groups: &[Opened], stop: &Arc<Stop>, sink: &mut RunSink<'_>) -> Result<(), Error> {
    let results = check_all(groups, stop, sink)?;
    let failed: Vec<String> = results.iter().filter(|r| r.n_failed > 0).map(say).collect();
    if !results.is_empty() {
        sink.tell(Event::Checked { after: false, results });
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "the data are inconsistent before the run, so it was not started (--check off runs it \
         anyway){}:\n{}",
        sizes_to_be_said(groups),
        failed.join("\n")
    )))
}

/// Returns a hint to add to a failed check if dbdyno did not build the tables: their size was found
/// by counting rows, which gives a wrong size if rows were deleted. Empty if dbdyno built the
/// tables.
fn sizes_to_be_said(groups: &[Opened]) -> String {
    let Some(opened) = groups.iter().find(|opened| opened.data == Data::Unmarked) else {
        return String::new();
    };
    let (identity, read) = (opened.workload.identity(), opened.workload.scale_in_data());
    let flags: Vec<String> = read
        .iter()
        .filter(|row| !matches!(row.of, ScaleOf::StorageEngine(_)))
        .filter_map(|row| {
            let value = identity.scale_of(row.parameter)?;
            Some(format!("--{} {value}", row.parameter.replace('_', "-")))
        })
        .collect();
    let size = match flags.is_empty() {
        true => String::new(),
        false => format!(" and reads their size off them ({})", flags.join(" ")),
    };
    format!(
        "; dbdyno did not build these tables{size}: if rows were deleted since, build them again; \
         if they were built otherwise, give that size"
    )
}

fn say(result: &CheckResult) -> String {
    let CheckResult { id, title, n_failed, examples } = result;
    let rows = if *n_failed == 1 { "row" } else { "rows" };
    format!("  check {id} ({title}) fails in {n_failed} {rows}: {}", examples.join("; "))
}

/// Executes the checks of all groups; groups with the same checks share one execution. A failed
/// check of data that the next run repairs becomes a note.
fn check_all(
    groups: &[Opened],
    stop: &Arc<Stop>,
    sink: &mut RunSink<'_>,
) -> Result<Vec<CheckResult>, Error> {
    let mut results = Vec::new();
    let mut seen: Vec<Vec<Check>> = Vec::new();
    for opened in groups {
        let checks = storage_engine::checks(opened.database.as_ref(), opened.workload.as_ref());
        if seen.contains(&checks) {
            continue;
        }
        let n_checks = checks.len();
        seen.push(checks);
        let (database, workload) = (&opened.database, &opened.workload);
        let mut nth = 0;
        let checked = check::check_interruptible(database, workload, stop, &mut |_title| {
            nth += 1;
            sink.watcher.doing(&format!("checking the data, {nth} of {n_checks}"));
        })?;
        for result in checked {
            let is_it = |check: &&RepairedCheck| result.n_failed > 0 && check.id == result.id;
            match workload.repaired_checks().iter().find(is_it) {
                Some(repaired) => sink.note(repaired.note.to_owned()),
                None => results.push(result),
            }
        }
    }
    Ok(results)
}
