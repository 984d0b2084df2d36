//! The interface of producers: the part of a workload that generates, concurrently with the
//! clients, what they send to the database. An example is a simulated application that makes
//! measurements.
//!
//! Not here: any workload.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{Clock, Fact, Finding, Signal};

/// Name of a fact about the run: CPU time of the tasks of the [`Producer`], in percent of one CPU
/// over the time of the load. It excludes the CPU time of the clients.
pub const PRODUCER_CPU_PERCENT: &str = "producer_cpu_percent";

/// Name of the workload parameter for the number of items that the [`Producer`] generates per
/// second; 0 for no limit.
pub const PRODUCER_RATE: &str = "application_rate";

/// Name of the workload parameter for the number of items after which the [`Producer`] stops and
/// the run ends; 0 for no limit.
pub const PRODUCER_COUNT: &str = "measurements";

/// Name of a fact about the run: seconds from the first generated item to the commit of the last
/// one.
pub const PRODUCER_ELAPSED_S: &str = "elapsed_s";

/// Whether the [`Producer`] has generated input for a client's next transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Input is ready, so the client may start its next transaction.
    Ready,
    /// No input is ready yet, so the client waits for the signal of [`Producer::for_clients`].
    Later,
    /// No more input will come, so the client ends.
    Over,
}

/// Clock and other resources that a producer's task may use; the engine passes them to it.
pub struct ProducerContext<'a> {
    /// Clock of the run, on which the task must wait.
    pub clock: &'a dyn Clock,
    /// Function that returns the CPU time that the task's thread has used, in nanoseconds; 0 in
    /// virtual time.
    pub cpu_ns: &'a dyn Fn() -> u64,
    /// Function that returns whether the load is over, so that the task must end soon.
    pub is_over: &'a dyn Fn() -> bool,
    /// Whether time is virtual, so that the task's own computation takes no time.
    pub is_virtual: bool,
}

/// Future of a producer's task: the result of [`ProducerTask::produce`].
pub type Producing<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A task that generates items for the clients of a workload. The engine runs each task on its own
/// thread, or all in virtual time.
pub trait ProducerTask: Send {
    /// Returns the name of the task's thread: at most 15 bytes, as Linux demands.
    fn name(&self) -> String;

    /// Generates items until the requested number is reached or the load is over. Waits only on the
    /// clock and on the signal of [`Producer::for_tasks`].
    fn produce<'a>(&'a mut self, context: &'a ProducerContext<'_>) -> Producing<'a>;
}

/// The part of a workload that generates, concurrently with the clients, what they send to the
/// database, such as the measurements of a simulated application.
pub trait Producer: Send + Sync {
    /// Begins a run: discards what an earlier run has left, and returns the tasks that generate
    /// items.
    fn begin(&self) -> Vec<Box<dyn ProducerTask>>;

    /// Whether the tasks stop by themselves after a number of items. The run ends when they have
    /// stopped.
    fn is_limited(&self) -> bool;

    /// Returns the signal on which clients wait. It is raised when there may be input for one of
    /// them.
    fn for_clients(&self) -> Arc<Signal>;

    /// Returns the signal on which the producer's tasks wait. It is raised when there may be room
    /// for more items.
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
