//! Looks for other runs on the same database: warns about them, and fails where two runs cannot
//! share it.

use std::path::Path;

use analysis::Tally;
use model::{Event, Fact, GroupDescription, Plan, Settings, Target};
use store::{Filter, RunRow, Store};

use super::RunOptions;
use super::presence::Presence;
use crate::error::Error;
use crate::open::Opened;
use crate::place::place_of;
use crate::run_marker::RunMarker;

/// Returns the runs in the store that are in progress on the database of `target`.
fn running_at(store: &Store, target: &Target) -> Result<Vec<RunRow>, Error> {
    let filter = Filter { status: Some(model::Status::Running), ..Filter::default() };
    runs_at(store, target, &filter)
}

/// Fails if a run is using the data of `target`: a run of this store, or, if the database is a
/// file, any run on this machine.
pub fn is_unused(store: &Path, target: &Target) -> Result<(), Error> {
    // The runs of an unreadable store are unknown.
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

/// Returns the runs that match `filter` and use the database of `target`.
fn runs_at(store: &Store, target: &Target, filter: &Filter) -> Result<Vec<RunRow>, Error> {
    let Some(place) = place_of(&target.to_string()) else { return Ok(Vec::new()) };
    let is_here = |row: &RunRow| place_of(&row.target).as_deref() == Some(&place);
    Ok(store.list(filter)?.into_iter().filter(is_here).collect())
}

/// Returns a warning if another run uses the database now; `None` otherwise. Fails if both write
/// into the same tables and that is not allowed, because the workload does not allow it or because
/// their commits could not be distinguished.
pub(super) fn other_run(
    plan: &Plan,
    groups: &[Opened],
    options: &RunOptions,
    presence: &Presence,
) -> Result<Option<String>, Error> {
    let mut other = None;
    if let Some(path) = &options.store {
        let store = Store::open(path)?;
        let others = running_at(&store, &plan.target)?;
        refuse_beside(&store, &others, plan, groups)?;
        other = others.first().map(|other| format!("{}, {}", other.name, other.run));
    }
    if let Some(workload) = &presence.not_alone_in {
        let elsewhere = "another run of dbdyno, kept in another store or in none,";
        return Err(cannot_share(elsewhere, workload, plan));
    }
    if let (None, Some(workload)) = (&other, &presence.locked_out_of) {
        return Err(Error::Failed(format!(
            "another run of dbdyno commits into the tables of {workload} in {} now, and their \
             commits could not be distinguished in tables that dbdyno did not build: wait for it, \
             stop it, or use another database",
            plan.target
        )));
    }
    let is_marked = presence.marker.as_ref().is_some_and(|marker| !marker.is_alone());
    let other = other.or_else(|| is_marked.then(|| "kept in another store, or in none".to_owned()));
    Ok(other.map(|other| running_beside(&other)))
}

/// Number of newest runs of the store among which runs at the same time are searched; older runs
/// are not found.
const RUNS_LOOKED_AT: usize = 100;

/// Returns a fact with other runs of the store that used this database at the same time, including
/// those that started later; `None` if there were none.
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

/// Returns the warning that another run (`other`) uses the database: each run slows the other down,
/// and the database counts commits of both.
fn running_beside(other: &str) -> String {
    format!(
        "Another run ({other}) uses this database now: both are slower, and the database's own \
         count of commits will not match. Wait for it, or stop it."
    )
}

/// Fails if another run writes into the same tables as a workload of this run that does not allow
/// that.
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
        let theirs = description.groups.iter().filter_map(alone_in);
        if let Some(workload) = theirs.into_iter().find(|theirs| ours.contains(theirs)).as_deref() {
            let other = format!("another run ({}, {})", other.name, other.run);
            return Err(cannot_share(&other, workload, plan));
        }
    }
    Ok(())
}

fn cannot_share(other: &str, workload: &str, plan: &Plan) -> Error {
    Error::Failed(format!(
        "{other} writes into the tables of {workload} in {} now, and two cannot: wait for it, stop \
         it, or use another database",
        plan.target
    ))
}

/// Returns the workload of another run's group if that workload must not share its tables; `None`
/// if it may, or is unknown.
fn alone_in(group: &GroupDescription) -> Option<String> {
    let entry = workloads::by_name(&group.workload).ok()?;
    let written = group.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, written).ok()?;
    let workload = entry.made(&settings, 0, None).ok()?;
    // A build excludes others by itself; its transaction types are tables.
    let kinds = workload.kinds().iter().map(|kind| kind.name);
    let is_load = group.kinds.iter().map(|kind| kind.name.as_str()).eq(kinds);
    (is_load && workload.needs_tables_alone()).then(|| workload.identity().workload)
}
