//! Indexes that a workload adds after its load: they are created, timed and dropped again, so that
//! the next run on the same data starts without them.
//!
//! Not here: indexes that are built with the data (build).

use std::time::Duration;

use engine::Stop;
use model::numbers::significant;
use model::{DbErrorKind, Event, Fact, FactValue, LaterIndex, NS_PER_S};
use monitor::wall_clock;

use super::member::{LoadEnded, RunMember, RunUnderWay};
use super::sink::RunSink;
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::finding::not_made;
use crate::interruptible::run_interruptible;
use crate::open::Opened;

/// [`RunMember`] that creates the indexes which a workload wants only after a completed load, and
/// measures how long that takes.
pub(super) struct LaterIndexes;

impl RunMember for LaterIndexes {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        drop_later_indexes(run.groups, run.stop)
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, load: &LoadEnded) {
        if load.is_complete() {
            add_later_indexes(run.groups, load, run.stop, run.sink);
        }
    }
}

/// Drops indexes that a killed run has left, and that must only exist after the load.
fn drop_later_indexes(groups: &[Opened], stop: &Stop) -> Result<(), Error> {
    let Some((opened, indexes)) = later(groups) else { return Ok(()) };
    run_interruptible(stop, "interrupted while indexes were dropped", move || {
        let mut session = AdminSession::at(opened.database.as_ref())?;
        Ok(drop_all(&mut session, &indexes)?)
    })
}

/// Creates the indexes that workloads want after the load, reports how long that took and the rates
/// over load and indexes together, and drops the indexes again.
fn add_later_indexes(groups: &[Opened], load: &LoadEnded, stop: &Stop, sink: &mut RunSink<'_>) {
    let Some((opened, indexes)) = later(groups) else { return };
    sink.watcher.doing("adding the indexes");
    let added = run_interruptible(stop, "interrupted while indexes were added", move || {
        let mut session = AdminSession::at(opened.database.as_ref())?;
        let began = wall_clock::now();
        let made = indexes.iter().try_for_each(|index| session.write(&index.create).map(drop));
        let took = began.elapsed();
        let dropped = drop_all(&mut session, &indexes);
        Ok(made.and(dropped).map(|()| took)?)
    });
    match added {
        Ok(took) => tell(load, took, sink),
        Err(error) => {
            let text = format!("The indexes could not be added after the load: {error}.");
            sink.tell(not_made("indexes_not_added", text));
        }
    }
}

/// Returns the indexes that the workloads of all groups want after the load, each once, and the
/// first group, in whose database they are created; `None` if there are none.
fn later(groups: &[Opened]) -> Option<(Opened, Vec<LaterIndex>)> {
    let first = groups.first().filter(|opened| opened.database.administration().keeps_data)?;
    let mut indexes: Vec<LaterIndex> = Vec::new();
    for opened in groups {
        for index in opened.workload.indexes_after_load(opened.database.dialect()) {
            if !indexes.contains(&index) {
                indexes.push(index);
            }
        }
    }
    (!indexes.is_empty()).then(|| (first.clone(), indexes))
}

fn drop_all(session: &mut AdminSession, indexes: &[LaterIndex]) -> Result<(), model::DbError> {
    for index in indexes {
        match session.write(&index.drop) {
            Err(no) if no.kind == DbErrorKind::Missing => {}
            dropped => drop(dropped?),
        }
    }
    Ok(())
}

/// Reports how long creating the indexes took, how long load and indexes took together, and the
/// workload's rates over that total time, with all commits of ramp-up and drain.
fn tell(load: &LoadEnded, took: Duration, sink: &mut RunSink<'_>) {
    let index_ns = took.as_nanos() as f64;
    let total_ns = load.elapsed_ns as f64 + index_ns;
    let seconds = |ns: f64| FactValue::seconds(ns / NS_PER_S as f64, 3);
    let mut facts = vec![
        Fact::new("indexes", "add_s", seconds(index_ns)),
        Fact::new("indexes", "load_and_add_s", seconds(total_ns)),
    ];
    let mut rates = String::new();
    let described = sink.tally.description.iter().flat_map(|description| &description.groups);
    let groups = described.zip(&sink.tally.groups);
    for (described, tally) in groups {
        for primary in
            described.primary_metrics.iter().filter(|one| one.metric.is_none() && !one.is_computed)
        {
            let parts = primary.kinds.iter().flat_map(|kind| tally.phases_of_kind(*kind));
            let commits: u64 = parts.map(|part| part.counts.committed).sum();
            let rate = commits as f64 * primary.per_ns as f64 / total_ns;
            let name = format!("{}_overall", primary.name);
            facts.push(Fact::new("indexes", &name, format!("{rate:.3}")));
            rates.push_str(&format!(", {} {}", significant(rate, 4), primary.title));
        }
    }
    facts.into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
    sink.note(format!(
        "the indexes were added in {} s after the load, and dropped; load and indexes took {} s \
         in all{rates} over that time",
        seconds(index_ns),
        seconds(total_ns)
    ));
}
