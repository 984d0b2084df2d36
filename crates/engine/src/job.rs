//! The input of the engine. Not here: plans and parameters, which `app` has decided.

use std::sync::Arc;

use model::{
    Connect, Database, Load, Phases, Placement, Recording, Retry, Sample, Statement, StopCondition,
    Workload,
};

use crate::clock::Origin;
use crate::share::Share;
use crate::threads::ClientThreads;

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
        let ours = self.share.iter().flat_map(|share| share.below(self.clients));
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
