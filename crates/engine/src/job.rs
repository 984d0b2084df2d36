//! The input of the engine. Not here: plans and parameters, which `app` has decided.

use std::sync::Arc;

use model::{
    Connect, Database, Load, Phases, Placement, Recording, Retry, Sample, Statement, StopCondition,
    Workload,
};

use crate::clock::Origin;
use crate::threads::ClientThreads;

/// The share of this process in a group's clients and arrivals: of those numbered from 0, the ones
/// that are `index` modulo `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Index of this share, from 0.
    pub index: u32,
    /// Number of shares, at least 1.
    pub of: u32,
}

impl Share {
    /// The share of a single process: everything.
    pub const WHOLE: Share = Share { index: 0, of: 1 };

    /// Returns the indexes below `count` that belong to this share.
    pub fn of(self, count: u32) -> impl ExactSizeIterator<Item = u32> {
        (self.index..count.max(self.index)).step_by(self.of as usize)
    }
}

/// A callback for every recorded sample, for calibration. It is on the measured path.
pub type SampleHook = Arc<dyn Fn(&Sample) + Send + Sync>;

/// Clients with the same workload and load.
pub struct GroupJob {
    /// Name of the group in the plan.
    pub name: String,
    /// Workload of the clients.
    pub workload: Arc<dyn Workload>,
    /// Database to which they connect.
    pub database: Arc<dyn Database>,
    /// The workload's statements in the database's dialect.
    pub statements: Arc<[Statement]>,
    /// Index of the group's first client in the run.
    pub first_client: u32,
    /// Number of clients over all processes.
    pub clients: u32,
    /// Share of this process; `None` if all clients run elsewhere.
    pub share: Option<Share>,
    /// Load model, with the rate over all processes.
    pub load: Load,
    /// Condition on which the group stops; counts are for this process only.
    pub stop_condition: StopCondition,
}

impl GroupJob {
    /// Returns the indexes of this process's clients in the run.
    pub(crate) fn our_clients(&self) -> impl Iterator<Item = u32> {
        let ours = self.share.into_iter().flat_map(|share| share.of(self.clients));
        ours.map(|nth| self.first_client + nth)
    }
}

/// A run, or the part of it in one process.
pub struct Job {
    /// Seed of all random draws.
    pub seed: u64,
    /// Durations of the phases.
    pub phases: Phases,
    /// Groups of clients, by index.
    pub groups: Vec<GroupJob>,
    /// Placement of the clients: threads, event loops or virtual time.
    pub placement: Placement,
    /// Pace of connecting before the load.
    pub connect: Connect,
    /// Retries of failed transactions.
    pub retry: Retry,
    /// Range and resolution of the recorded histograms.
    pub recording: Recording,
    /// The instant from which its clocks count.
    pub origin: Origin,
    /// Number of cores to use: event loops, and shards of the recorder.
    pub workers: usize,
    /// Each event loop is pinned to a CPU, if there are enough.
    pub pin: bool,
    /// List to which client threads are added.
    pub threads: ClientThreads,
    /// Callback for every sample; `None` in normal runs.
    pub sample_hook: Option<SampleHook>,
}
