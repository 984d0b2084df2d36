//! The interface of producers: the part of a workload that generates, concurrently with the
//! clients, what they send to the database. An example is a simulated measuring application.
//!
//! Not here: any workload.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{Clock, Fact, Finding, Signal};

/// Name of a fact: CPU time of the producer's tasks, in percent of one CPU over the time of the
/// load. It excludes the CPU time of the clients.
pub const PRODUCER_CPU_PERCENT: &str = "producer_cpu_percent";

/// Name of a workload parameter: items that the producer generates per second; 0 for no limit.
pub const PRODUCER_RATE: &str = "application_rate";

/// Name of a workload parameter: number of items after which the producer stops and the run ends; 0
/// for no limit.
pub const PRODUCER_COUNT: &str = "measurements";

/// Name of a fact: seconds from the first generated item to the commit of the last one.
pub const PRODUCER_ELAPSED_S: &str = "elapsed_s";

/// Whether the producer has input for a client's next transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Input is ready, so the client may start its next transaction.
    Ready,
    /// There is no input yet, so the client waits for the signal of [`Producer::for_clients`].
    Later,
    /// There will be no more input, so the client is finished.
    Over,
}

/// Resources that the engine passes to a producer's task.
pub struct ProducerContext<'a> {
    /// Clock of the run, by which the task must wait.
    pub clock: &'a dyn Clock,
    /// Returns the CPU time that the task's thread has used, in nanoseconds; 0 in virtual time.
    pub cpu_ns: &'a dyn Fn() -> u64,
    /// Returns whether the load is over, so that the task must end soon.
    pub is_over: &'a dyn Fn() -> bool,
    /// Time is virtual, so the task's own computing takes no time.
    pub is_virtual: bool,
}

/// Future of a producer's task while it generates.
pub type Producing<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A task that generates items for clients. The engine runs each task on its own thread, or in
/// virtual time.
pub trait ProducerTask: Send {
    /// Returns the name of the task's thread: at most 15 bytes, as Linux demands.
    fn name(&self) -> String;

    /// Generates items until their requested number is reached or the load is over. Waits only by
    /// the clock and the signal of [`Producer::for_tasks`].
    fn produce<'a>(&'a mut self, context: &'a ProducerContext<'_>) -> Producing<'a>;
}

/// The part of a workload that generates what its clients send to the database.
pub trait Producer: Send + Sync {
    /// Begins a run: discards what an earlier run left, and returns the tasks that generate items.
    fn begin(&self) -> Vec<Box<dyn ProducerTask>>;

    /// Whether the tasks end by themselves after a number of items; the run ends with them.
    fn is_limited(&self) -> bool;

    /// Returns the signal that clients wait for: it is raised when there may be input for one of
    /// them.
    fn for_clients(&self) -> Arc<Signal>;

    /// Returns the signal that tasks wait for: it is raised when there may be room for more items.
    fn for_tasks(&self) -> Arc<Signal>;

    /// Returns facts about how many items were generated and what became of them. Called after all
    /// tasks and clients have ended.
    fn account(&self) -> Vec<Fact>;

    /// Returns findings about the generated items, such as dropped ones. Called after all tasks and
    /// clients have ended.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}
