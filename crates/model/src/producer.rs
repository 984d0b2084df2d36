//! Producers: the part of a workload that generates, beside its clients, what they send, such as a
//! measured application or a source of events. Not here: any workload.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{Clock, Fact, Finding, Signal};

/// Fact of a workload with a producer: CPU time of its tasks, in percent of one CPU over the time
/// of the load. Client transactions take none of it.
pub const PRODUCER_CPU_PERCENT: &str = "producer_cpu_percent";

/// Parameter of a workload with a producer: rate of generation per second; 0 for no limit.
pub const PRODUCER_RATE: &str = "application_rate";

/// Parameter of a workload with a producer: amount after which the run ends; 0 for no limit.
pub const PRODUCER_COUNT: &str = "measurements";

/// Fact of a workload with a producer: seconds from the first generated item to the last commit.
pub const PRODUCER_ELAPSED_S: &str = "elapsed_s";

/// Availability of input for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Input is ready: the client may start its next transaction.
    Ready,
    /// No input yet: the client waits for the producer's signal.
    Later,
    /// No more input: the client is finished.
    Over,
}

/// Resources for a producer's task.
pub struct ProducerContext<'a> {
    /// Clock of the run, for all waits.
    pub clock: &'a dyn Clock,
    /// Returns the CPU time of the task's thread in nanoseconds; 0 in virtual time.
    pub cpu_ns: &'a dyn Fn() -> u64,
    /// Whether the load is over, so that the task must end soon.
    pub is_over: &'a dyn Fn() -> bool,
    /// Time is virtual, so computing takes none.
    pub is_virtual: bool,
}

/// A running task of a producer.
pub type Producing<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A task of a producer. The engine runs each on its own thread, or in virtual time.
pub trait ProducerTask: Send {
    /// Returns the name for its thread, at most 15 bytes.
    fn name(&self) -> String;

    /// Generates until the requested amount is reached or the load is over. Waits only by the clock
    /// and by the producer's signals.
    fn produce<'a>(&'a mut self, context: &'a ProducerContext<'_>) -> Producing<'a>;
}

/// The producer of a workload.
pub trait Producer: Send + Sync {
    /// Starts a run and returns its tasks. Discards what an earlier run left.
    fn begin(&self) -> Vec<Box<dyn ProducerTask>>;

    /// Whether the tasks end by themselves, and the run with them.
    fn is_limited(&self) -> bool;

    /// Returns the signal that is raised when there may be input for a client.
    fn for_clients(&self) -> Arc<Signal>;

    /// Returns the signal that is raised when there may be room for more generated items.
    fn for_tasks(&self) -> Arc<Signal>;

    /// Returns what was generated and what became of it, after all tasks and clients have ended.
    fn account(&self) -> Vec<Fact>;

    /// Returns findings about this account.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}
