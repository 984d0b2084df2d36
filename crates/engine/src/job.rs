//! The input of the engine: what to run, with all decisions made. Not here: plans and parameters
//! (app decides from them).

use std::sync::Arc;

use model::{
    Connect, Database, Load, Phases, Placement, Recording, Retry, Sample, Statement, StopCondition,
    Workload,
};

use crate::clock::Origin;
use crate::share::Share;
use crate::threads::ClientThreads;

/// Function that is called with every recorded sample, for calibration. It runs on the measured
/// path.
pub type SampleHook = Arc<dyn Fn(&Sample) + Send + Sync>;

/// A group of clients with the same workload and load, as the engine gets it.
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
    /// Part of the clients that runs in this process; `None` if all run elsewhere.
    pub share: Option<Share>,
    /// Load model; an arrival rate is that of all processes together.
    pub load: Load,
    /// Condition on which the group stops; a number of transactions is for this process only.
    pub stop_condition: StopCondition,
}

impl GroupJob {
    /// Returns the indexes of this process's clients in the run.
    pub(crate) fn our_clients(&self) -> impl Iterator<Item = u32> {
        let ours = self.share.iter().flat_map(|share| share.below(self.clients));
        ours.map(|nth| self.first_client + nth)
    }
}

/// A run, or the part of a run in one process.
pub struct Job {
    /// Seed of all random draws.
    pub seed: u64,
    /// Durations of the phases.
    pub phases: Phases,
    /// Groups of clients, in the order of their indexes.
    pub groups: Vec<GroupJob>,
    /// Placement of the clients: threads, event loops or virtual time.
    pub placement: Placement,
    /// Rate and concurrency of connecting before the load.
    pub connect: Connect,
    /// Which failed transactions are retried, how often, and after which pause.
    pub retry: Retry,
    /// Range and resolution of the recorded histograms.
    pub recording: Recording,
    /// Instant from which the clocks of this process count.
    pub origin: Origin,
    /// Number of cores to use. This many event loops run, and the recorder has as many separately
    /// locked parts.
    pub workers: usize,
    /// Whether each event loop is pinned to a CPU, if there are enough CPUs.
    pub pin: bool,
    /// List to which each client thread adds itself.
    pub threads: ClientThreads,
    /// Function that is called with every sample; `None` in normal runs.
    pub sample_hook: Option<SampleHook>,
}
