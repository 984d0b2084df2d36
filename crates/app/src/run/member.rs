//! What belongs to a run beside its load: each member acts before the load and after it.
//!
//! Not here: what works while the load runs (beside).

use std::path::PathBuf;
use std::sync::Arc;

use engine::{Ran, Stop};
use model::{Database, Event, Placement, Plan, Settling, StopReason, Target};

use super::RunOptions;
use super::sink::RunSink;
use crate::error::Error;
use crate::open::Opened;
use crate::settings_snapshot::SettingsSnapshot;

/// A run as its members see it.
pub struct RunUnderWay<'r, 's> {
    pub(super) plan: &'r Plan,
    pub(super) groups: &'r [Opened],
    pub(super) placement: Placement,
    pub(super) options: &'r RunOptions,
    pub(super) stop: &'r Arc<Stop>,
    pub(super) context: &'r RunContext,
    pub(super) sink: &'r mut RunSink<'s>,
}

/// What a run found where it began.
pub(super) struct RunContext {
    /// Where the database is, also one whose server we started.
    pub(super) target: Target,
    /// The settings that were in force; none where they cannot be read.
    pub(super) settings: Option<SettingsSnapshot>,
    /// How the database is brought to rest, if that is asked for.
    pub(super) settling: Option<Settling>,
    /// The store with the restore journal; none of a server that ends with us.
    pub(super) journal: Option<PathBuf>,
    /// Whether the server ends with us.
    pub(super) is_own_server: bool,
}

/// How a load ended.
#[derive(Clone, Debug)]
pub struct LoadEnded {
    /// Why.
    pub reason: StopReason,
    /// The length of the measured phase, in nanoseconds.
    pub measured_ns: u64,
    /// From the first instant of load to the last reply, in nanoseconds.
    pub elapsed_ns: u64,
}

impl LoadEnded {
    pub(super) fn of(ran: &Ran) -> LoadEnded {
        let Ran { reason, measured_ns, elapsed_ns, .. } = ran;
        LoadEnded { reason: reason.clone(), measured_ns: *measured_ns, elapsed_ns: *elapsed_ns }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.reason == StopReason::Completed
    }
}

/// Something that a run does beside its load. Members act one after the other, in the order of
/// their list, in each of these steps.
pub trait RunMember {
    /// Before the load. After an error there is none.
    fn before(&mut self, _run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        Ok(())
    }

    /// As soon as the load has ended, whatever has become of the server.
    fn ended(&mut self, _run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {}

    /// After the load, at a server that answers.
    fn after(&mut self, _run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {}

    /// In place of [`RunMember::after`] where the server says nothing any more: each question would
    /// be waited for as long.
    fn unanswered(&mut self, _run: &mut RunUnderWay<'_, '_>, _silence: &str) {}

    /// When all members have seen what the load has left, at a server that answers.
    fn last(&mut self, _run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {}
}

impl RunUnderWay<'_, '_> {
    /// Its plan.
    pub fn plan(&self) -> &Plan {
        self.plan
    }

    /// The database of its first group.
    pub fn database(&self) -> Option<&Arc<dyn Database>> {
        self.groups.first().map(|opened| &opened.database)
    }

    /// Adds to what is known of the run.
    pub fn tell(&mut self, event: Event) {
        self.sink.tell(event);
    }

    /// Says something to the user, and keeps it with the run.
    pub fn note(&mut self, text: String) {
        self.sink.note(text);
    }

    /// Whether the load is in virtual time, and nothing of this machine is to be read.
    pub fn is_simulated(&self) -> bool {
        self.placement == Placement::Simulated
    }
}
