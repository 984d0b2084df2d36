//! Trait for the steps of a run besides its load (run members): each acts before the load, after
//! it, or both.
//!
//! Not here: work at the same time as the load (beside).

use std::path::PathBuf;
use std::sync::Arc;

use engine::{Ran, Stop};
use model::{Database, Event, Placement, Plan, Settling, StopReason, Target};

use super::RunOptions;
use super::agents::Processes;
use super::presence::Presence;
use super::sink::RunSink;
use crate::error::Error;
use crate::open::Opened;
use crate::settings_snapshot::SettingsSnapshot;

/// A run in progress, as each [`RunMember`] gets it.
pub struct RunUnderWay<'r, 's> {
    pub(super) plan: &'r Plan,
    pub(super) groups: &'r [Opened],
    pub(super) placement: Placement,
    pub(super) options: &'r RunOptions,
    pub(super) stop: &'r Arc<Stop>,
    pub(super) context: &'r RunContext,
    pub(super) sink: &'r mut RunSink<'s>,
}

/// Target, server settings and restore journal of a run, as found at its start.
pub(super) struct RunContext {
    /// How client processes are started.
    pub(super) processes: Processes,
    /// Number of statements that each client's session keeps prepared at most.
    pub(super) statements_kept: usize,
    /// Target to connect to; of a `managed:` target, that of the started server.
    pub(super) target: Target,
    /// Settings of the server at the start of the run; `None` if they cannot be read.
    pub(super) settings: Option<SettingsSnapshot>,
    /// Steps that bring the database to rest; `None` if settling is not requested.
    pub(super) settling: Option<Settling>,
    /// Path of the store with the restore journal; `None` without a store, or for a server that
    /// ends with the run.
    pub(super) journal: Option<PathBuf>,
    /// True if the run has a managed server, which ends with the run.
    pub(super) is_own_server: bool,
    /// Mark or lock by which other runs notice that this one uses the database.
    pub(super) presence: Presence,
}

/// Reason and duration of a load that has ended.
#[derive(Clone, Debug)]
pub struct LoadEnded {
    pub reason: StopReason,
    /// Duration of the measured phase, in nanoseconds.
    pub measured_ns: u64,
    /// Time from the start of the load to the last reply, in nanoseconds.
    pub elapsed_ns: u64,
}

impl LoadEnded {
    pub(super) fn from_ran(ran: &Ran) -> LoadEnded {
        let Ran { reason, measured_ns, elapsed_ns, .. } = ran;
        LoadEnded { reason: reason.clone(), measured_ns: *measured_ns, elapsed_ns: *elapsed_ns }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.reason == StopReason::Completed
    }
}

/// A step of a run besides its load. All members of a run act one after the other, in the order of
/// their list.
pub trait RunMember {
    /// Acts before the load. An error ends the run without load.
    fn before(&mut self, _run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        Ok(())
    }

    /// Acts instead of all that follows if the load could not begin.
    fn not_begun(&mut self, _run: &mut RunUnderWay<'_, '_>) {}

    /// Acts as soon as the load has ended, even if the server does not answer any more.
    fn ended(&mut self, _run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {}

    /// Acts after the load, if the server answers. The members act one after the other.
    fn after(&mut self, _run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {}

    /// Acts instead of [`RunMember::after`] if the server no longer answers, because each query
    /// would wait for the timeout again. `_silence` is the error.
    fn unanswered(&mut self, _run: &mut RunUnderWay<'_, '_>, _silence: &str) {}

    /// Acts when all members have done [`RunMember::after`], if the server answers.
    fn last(&mut self, _run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {}
}

impl RunUnderWay<'_, '_> {
    pub fn plan(&self) -> &Plan {
        self.plan
    }

    /// Returns the database of the first group, which all groups share; `None` without groups.
    pub fn database(&self) -> Option<&Arc<dyn Database>> {
        self.groups.first().map(|opened| &opened.database)
    }

    /// Adds an event to the run: to its tally (the results so far), its store and its watcher.
    pub fn tell(&mut self, event: Event) {
        self.sink.tell(event);
    }

    /// Shows a note to the user, and stores it with the run.
    pub fn note(&mut self, text: String) {
        self.sink.note(text);
    }

    /// Returns true if the load runs in virtual time, so that no metrics of this machine are read.
    pub fn is_simulated(&self) -> bool {
        self.placement == Placement::Simulated
    }
}
