//! What the engine is given. Not here: plans and parameters, which `app` has decided.

use std::sync::Arc;

use model::{
    Connect, Database, Load, Phases, Placement, Recording, Retry, Sample, Statement, StopCondition,
    Workload,
};

use crate::clock::Origin;
use crate::threads::ClientThreads;

/// Which part of a group's clients and arrivals this process has: of those numbered from 0, the
/// ones that are `index` modulo `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// From 0.
    pub index: u32,
    /// At least 1.
    pub of: u32,
}

impl Share {
    /// All of it.
    pub const WHOLE: Share = Share { index: 0, of: 1 };

    /// Those of `count` that are ours.
    pub fn of(self, count: u32) -> impl ExactSizeIterator<Item = u32> {
        (self.index..count.max(self.index)).step_by(self.of as usize)
    }
}

/// Sees every sample as it is recorded, for calibration. It is on the measured path.
pub type SampleHook = Arc<dyn Fn(&Sample) + Send + Sync>;

/// Clients that do the same.
pub struct GroupJob {
    /// Its name in the plan.
    pub name: String,
    /// What they do.
    pub workload: Arc<dyn Workload>,
    /// To whom.
    pub database: Arc<dyn Database>,
    /// The workload's statements in the database's dialect.
    pub statements: Arc<[Statement]>,
    /// The index of the first of them in the run.
    pub first_client: u32,
    /// How many, over all processes.
    pub clients: u32,
    /// Which of them are ours; none if they are all elsewhere.
    pub share: Option<Share>,
    /// How load is offered, over all processes.
    pub load: Load,
    /// When they are done; counts are this process's own.
    pub stop_condition: StopCondition,
}

impl GroupJob {
    /// The indices of our clients in the run.
    pub(crate) fn our_clients(&self) -> impl Iterator<Item = u32> {
        let ours = self.share.into_iter().flat_map(|share| share.of(self.clients));
        ours.map(|nth| self.first_client + nth)
    }
}

/// A run, or what one process has of it.
pub struct Job {
    /// All randomness comes from this.
    pub seed: u64,
    /// How long.
    pub phases: Phases,
    /// Who.
    pub groups: Vec<GroupJob>,
    /// Where.
    pub placement: Placement,
    /// Connecting.
    pub connect: Connect,
    /// Trying again.
    pub retry: Retry,
    /// Keeping samples.
    pub recording: Recording,
    /// The instant that its clocks count from.
    pub origin: Origin,
    /// How many cores the engine may count on: event loops, and shards of the recorder.
    pub workers: usize,
    /// Whether each event loop asks for a CPU of its own.
    pub pin: bool,
    /// Where the threads on which its clients live are entered.
    pub threads: ClientThreads,
    /// Sees every sample.
    pub sample_hook: Option<SampleHook>,
}
