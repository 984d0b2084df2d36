//! Other runs on the same database: warnings, and errors where two cannot run.

use std::path::Path;

use analysis::Tally;
use model::{Event, Fact, GroupDescription, Plan, Settings, Target};
use store::{Filter, RunRow, Store};

use super::RunOptions;
use crate::error::Error;
use crate::open::Opened;
use crate::place::place_of;
use crate::run_marker::RunMarker;

/// Running runs on this database.
fn running_at(store: &Store, target: &Target) -> Result<Vec<RunRow>, Error> {
    let filter = Filter { status: Some(model::Status::Running), ..Filter::default() };
    runs_at(store, target, &filter)
}

/// Fails if a running run uses the data: one of this store, or any run if the database is a file.
pub fn is_unused(store: &Path, target: &Target) -> Result<(), Error> {
    // Without a readable store, none of its runs is known.
    let store = Store::open_existing(store).ok();
    let others = store.map(|store| running_at(&store, target)).transpose()?.unwrap_or_default();
    let file = drivers::file_of(target).filter(|file| file.exists());
    let marker = file.as_deref().and_then(RunMarker::beside);
    let which = match others.first() {
        Some(RunRow { name, run, .. }) => format!(" ({name}, {run})"),
        None if marker.is_some_and(|marker| !marker.is_alone()) => String::new(),
        None => return Ok(()),
    };
    let why = "wait for it, or stop it, and drop its data then";
    Err(Error::Failed(format!("a run{which} uses {target} now: {why}")))
}

/// Runs of a filter that use this database.
fn runs_at(store: &Store, target: &Target, filter: &Filter) -> Result<Vec<RunRow>, Error> {
    let Some(place) = place_of(&target.to_string()) else { return Ok(Vec::new()) };
    let is_here = |row: &RunRow| place_of(&row.target).as_deref() == Some(&place);
    Ok(store.list(filter)?.into_iter().filter(is_here).collect())
}

/// Warning about another run on this database, if there is one; fails if the two cannot run
/// together.
pub(super) fn other_run(
    plan: &Plan,
    groups: &[Opened],
    options: &RunOptions,
    marker: Option<&RunMarker>,
) -> Result<Option<String>, Error> {
    let mut other = None;
    if let Some(path) = &options.store {
        let store = Store::open(path)?;
        let others = running_at(&store, &plan.target)?;
        refuse_beside(&store, &others, plan, groups)?;
        other = others.first().map(|other| format!("{}, {}", other.name, other.run));
    }
    let is_marked = marker.is_some_and(|marker| !marker.is_alone());
    let other = other.or_else(|| is_marked.then(|| "kept in another store, or in none".to_owned()));
    Ok(other.map(|other| running_beside(&other)))
}

/// Number of newest runs that are searched.
const RUNS_LOOKED_AT: usize = 100;

/// Fact about other runs that used this database in the same time, including those that started
/// later.
pub(super) fn runs_meanwhile(plan: &Plan, options: &RunOptions, tally: &Tally) -> Option<Fact> {
    let store = Store::open_existing(options.store.as_ref()?).ok()?;
    let began = tally.description.as_ref()?.started_unix_ms;
    let is_other = |row: &RunRow| {
        let has_ended = row.ended_unix_ms.is_some_and(|ended| ended < began)
            || row.ended_unix_ms.is_none() && row.status != model::Status::Running;
        !has_ended && tally.run.as_ref() != Some(&row.run)
    };
    let newest = Filter { limit: Some(RUNS_LOOKED_AT), ..Filter::default() };
    let here = runs_at(&store, &plan.target, &newest).ok()?.into_iter();
    let others: Vec<String> =
        here.filter(is_other).map(|row| format!("{}, {}", row.name, row.run)).collect();
    (!others.is_empty()).then(|| Fact::new("commits", "runs_meanwhile", others.join("; ")))
}

/// Warning about another run: the database counts commits of both, and each slows the other down.
fn running_beside(other: &str) -> String {
    format!(
        "Another run ({other}) uses this database now: both are slower, and the database's own \
         count of commits will not match. Wait for it, or stop it."
    )
}

/// Fails if another run writes into the same tables and one of the two needs them alone.
fn refuse_beside(
    store: &Store,
    others: &[RunRow],
    plan: &Plan,
    groups: &[Opened],
) -> Result<(), Error> {
    let are_alone = |opened: &&Opened| opened.workload.needs_tables_alone();
    let ours = groups.iter().filter(are_alone).map(|opened| opened.workload.identity().workload);
    let ours: Vec<String> = ours.collect();
    for other in others {
        let Ok(Event::Begun { description, .. }) = store.begun(&other.run) else { continue };
        // A build measures nothing; it excludes others by itself.
        let is_load = description.phases.measure_ns > 0;
        let theirs = description.groups.iter().filter(|_| is_load).filter_map(alone_in);
        if let Some(workload) = theirs.into_iter().find(|theirs| ours.contains(theirs)) {
            return Err(Error::Failed(format!(
                "another run ({}, {}) writes into the tables of {workload} in {} now, and two \
                 cannot: wait for it, stop it, or use another database",
                other.name, other.run, plan.target
            )));
        }
    }
    Ok(())
}

/// Workload whose tables a group of another run must have alone; `None` if it need not, or is
/// unknown.
fn alone_in(group: &GroupDescription) -> Option<String> {
    let entry = workloads::by_name(&group.workload).ok()?;
    let written = group.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, written).ok()?;
    let workload = entry.made(&settings, 0, None).ok()?;
    workload.needs_tables_alone().then(|| workload.identity().workload)
}
