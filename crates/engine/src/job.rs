//! The input of the engine: groups of clients, phases and placement, with all values decided. Not
//! here: plans and parameters (app derives a job from them).

use std::sync::Arc;

use model::{
    Connect, Connections, Database, EventLoopChoice, Load, Phases, Placement, Recording, Retry,
    Sample, Statement, StopCondition, Workload,
};

use crate::clock::Origin;
use crate::share::Share;
use crate::threads::ClientThreads;

/// Function that is called with every recorded sample, and with every attempt that is retried. It
/// runs on the measured path.
pub type SampleHook = Arc<dyn Fn(&Recorded<'_>) + Send + Sync>;

/// Reason why a [`SampleHook`] is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedAs {
    /// The transaction has ended, whatever its outcome.
    Ended,
    /// An attempt has failed, and another follows. The sample has the traffic of this attempt
    /// alone, which is again part of that of the sample at the end.
    Retried,
    /// The transaction was not executed, because it had waited too long. The sample then has its
    /// intended start, and as its end the instant at which it was dropped.
    Skipped,
}

/// A transaction that has ended, or an attempt of it, as a [`SampleHook`] gets it.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// Index of the client, over all groups and client processes, from 0.
    pub client: u32,
    /// Times, outcome and traffic of the transaction.
    pub sample: &'a Sample,
    /// Start of the measured phase, in nanoseconds of the run's clock.
    pub measure_start_ns: u64,
    /// What has become of the transaction.
    pub recorded_as: RecordedAs,
}

/// A group of clients with the same workload, database and load, as the engine needs it.
pub struct GroupJob {
    /// Name of the group in the plan.
    pub name: String,
    /// Workload that the clients of the group execute.
    pub workload: Arc<dyn Workload>,
    /// Database to which the clients of the group connect.
    pub database: Arc<dyn Database>,
    /// The workload's statements in the database's dialect.
    pub statements: Arc<[Statement]>,
    /// Index of the group's first client among all clients of the run, from 0.
    pub first_client: u32,
    /// Number of clients in the group, over all client processes.
    pub clients: u32,
    /// The part of the group's clients that runs in this process; `None` if all run in other
    /// processes.
    pub share: Option<Share>,
    /// Load model of the group: closed, key/think, or open with an arrival rate over all client
    /// processes.
    pub load: Load,
    /// Whether each client keeps one connection, or makes one for each transaction.
    pub connections: Connections,
    /// Condition on which the load of the group stops. A number of transactions is only that of
    /// this process.
    pub stop_condition: StopCondition,
}

impl GroupJob {
    /// Returns the indexes, in the run, of the group's clients that run in this process.
    pub(crate) fn our_clients(&self) -> impl Iterator<Item = u32> {
        let ours = self.share.iter().flat_map(|share| share.below(self.clients));
        ours.map(|nth| self.first_client + nth)
    }
}

/// A run, or that part of a run which is executed in this process.
pub struct Job {
    /// Seed of all random draws of the run.
    pub seed: u64,
    /// Durations of the phases: ramp-up, measured phase and drain.
    pub phases: Phases,
    /// Groups of clients, in the order of their indexes.
    pub groups: Vec<GroupJob>,
    /// Placement of the clients: threads, event loops or virtual time.
    pub placement: Placement,
    /// Limits on the rate and the number of simultaneous connection attempts before the load.
    pub connect: Connect,
    /// Rules for retries: which failed transactions are repeated, how often, and after which pause.
    pub retry: Retry,
    /// Range and resolution of the histograms in which times are recorded.
    pub recording: Recording,
    /// Time 0 of the clocks of this process.
    pub origin: Origin,
    /// Number of cores to use. There are as many event loops, and as many separately locked parts
    /// of the recorder.
    pub workers: usize,
    /// Interface of the kernel by which event loops wait; without effect on other placements.
    pub event_loop: EventLoopChoice,
    /// Whether each event loop is pinned to a CPU, if there are enough CPUs.
    pub pin: bool,
    /// List to which each client thread adds itself.
    pub threads: ClientThreads,
    /// Function that is called with every sample; `None` in normal runs.
    pub sample_hook: Option<SampleHook>,
}
