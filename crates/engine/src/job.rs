//! What the engine is given. Not here: plans and parameters, which `app` has decided.

use std::sync::Arc;

use model::{
    Connect, Database, Load, Phases, Placement, Recording, Retry, Sample, Statement, StopCondition,
    Workload,
};

use crate::threads::ClientThreads;

/// Which part of a job this process does: of `of` agents the one with `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// From 0.
    pub index: u32,
    /// At least 1.
    pub of: u32,
}

impl Share {
    /// The only agent.
    pub const WHOLE: Share = Share { index: 0, of: 1 };
}

/// Sees every sample as it is recorded, for calibration. It is on the measured path.
pub type SampleHook = Arc<dyn Fn(&Sample) + Send + Sync>;

/// Clients that do the same.
pub struct GroupJob {
    /// What they do.
    pub workload: Arc<dyn Workload>,
    /// To whom.
    pub database: Arc<dyn Database>,
    /// The workload's statements in the database's dialect.
    pub statements: Arc<[Statement]>,
    /// The global index of the first of them.
    pub first_client: u32,
    /// How many, on this agent.
    pub clients: u32,
    /// How load is offered, over all agents.
    pub load: Load,
    /// When they are done; counts are this agent's own.
    pub stop_condition: StopCondition,
}

/// A run, or one agent's share of it.
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
    /// Which part of the run this is.
    pub share: Share,
    /// How many cores the engine may count on: event loops, and shards of the recorder.
    pub workers: usize,
    /// Whether each event loop asks for a CPU of its own.
    pub pin: bool,
    /// Where the threads on which its clients live are entered.
    pub threads: ClientThreads,
    /// Sees every sample.
    pub sample_hook: Option<SampleHook>,
}
