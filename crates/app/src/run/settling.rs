//! Step of a run (run member) that settles the database (waits for its background work) before or
//! after the load. Not here: the steps of settling (settle).

use std::sync::Arc;
use std::time::Duration;

use engine::Stop;
use model::{Plan, Settle, Settling};

use super::member::{LoadEnded, RunMember, RunUnderWay};
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::OpenTarget;
use crate::settle::{self, ToSettle, settle, tables_of};

/// Returns the steps that bring the target's database to rest, such as a checkpoint; `None` if the
/// plan does not ask for settling.
pub(super) fn settling_of(
    plan: &Plan,
    open_target: &OpenTarget,
    stop: &Stop,
) -> Result<Option<Settling>, Error> {
    if plan.settle == Settle::Off {
        return Ok(None);
    }
    settling_at(open_target, stop).map(Some)
}

/// Returns the steps that bring the target's database to rest, which depend on facts that are read
/// from the database.
pub(super) fn settling_at(open_target: &OpenTarget, stop: &Stop) -> Result<Settling, Error> {
    let database = Arc::clone(&open_target.database);
    let interrupted = "interrupted before the run began";
    run_interruptible(stop, interrupted, move || {
        settle::settling_of(database.as_ref(), &database.facts()?)
    })
}

/// [`RunMember`] that brings the database to rest (settles it) before or after the load, as the
/// plan says.
pub(super) struct Settles;

impl Settles {
    /// Settles the database and reports how it went. Facts have `about` as their subject, and
    /// messages say `when`.
    fn settle(&self, [about, when]: [&str; 2], run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        let (Some(settling), Some(first)) = (&run.context.settling, run.groups.first()) else {
            return Ok(());
        };
        let to_settle = ToSettle {
            database: first.database.as_ref(),
            target: &run.context.target,
            tables: tables_of(run.groups),
            journal: run.context.journal.as_deref(),
            limit: Duration::from_nanos(run.plan.settle_limit_ns),
        };
        let settled = settle(&to_settle, settling, run.stop, run.sink.watcher)?;
        run.sink.note(settled.sentence());
        settled.events(about, when).into_iter().for_each(|event| run.sink.tell(event));
        if settled.is_interrupted { Err(settle::interrupted()) } else { Ok(()) }
    }
}

impl RunMember for Settles {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        let settling = run.context.settling.as_ref();
        let advice =
            settling.and_then(|steps| settle::not_advised(steps, &run.sink.tally.settings));
        advice.into_iter().for_each(|event| run.sink.tell(event));
        if run.plan.settle.is_before() {
            self.settle(["settle_before", "before the load"], run)?;
        }
        Ok(())
    }

    fn last(&mut self, run: &mut RunUnderWay<'_, '_>, load: &LoadEnded) {
        if !run.plan.settle.is_after() || !load.is_complete() {
            return;
        }
        match self.settle(["settle_after", "after the load"], run) {
            Err(Error::Interrupted(why)) => run.sink.note(why),
            Err(error) => run.sink.tell(settle::not_done("after the load", &error)),
            Ok(()) => {}
        }
    }
}
