//! What a workload makes by itself, beside its clients, for them to send: an application that is
//! measured, a source of events. Not here: any workload.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{Clock, Fact, Finding, Signal};

/// A fact of a workload with a producer: CPU time of its tasks in percent of the time of the load,
/// 100 being one CPU. No transaction of a client takes any of it.
pub const PRODUCER_CPU_PERCENT: &str = "producer_cpu_percent";

/// The parameter of a workload with a producer that says how much it makes per second; 0: as much
/// as possible.
pub const PRODUCER_RATE: &str = "application_rate";

/// The parameter of a workload with a producer that says how much it makes before the run ends; 0:
/// there is no such limit.
pub const PRODUCER_COUNT: &str = "measurements";

/// A fact of a workload with a producer: seconds from the first thing it made to the last commit.
pub const PRODUCER_ELAPSED_S: &str = "elapsed_s";

/// What is left for a client to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The client has it: it may begin its next transaction.
    Ready,
    /// Nothing at present: the client waits for the producer's signal.
    Later,
    /// Nothing, and nothing will come: the client is done.
    Over,
}

/// What a task of a producer may use.
pub struct ProducerContext<'a> {
    /// The run's clock.
    pub clock: &'a dyn Clock,
    /// Nanoseconds of CPU time that the task's thread has used; 0 in virtual time.
    pub cpu_ns: &'a dyn Fn() -> u64,
    /// Whether the load is over. A task then ends as soon as it can.
    pub is_over: &'a dyn Fn() -> bool,
    /// Whether time is virtual: what takes no time by itself takes none at all then.
    pub is_virtual: bool,
}

/// A task of a producer, under way.
pub type Producing<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A task of a producer. The engine gives each a thread of its own, or a place in virtual time.
pub trait ProducerTask: Send {
    /// Its name, for its thread: at most 15 bytes.
    fn name(&self) -> String;

    /// Works until it has made all it was asked for, or the load is over. It waits by the clock
    /// and by the producer's signals alone.
    fn produce<'a>(&'a mut self, context: &'a ProducerContext<'_>) -> Producing<'a>;
}

/// What a workload makes for its clients to send.
pub trait Producer: Send + Sync {
    /// The tasks of a run that begins. What an earlier run has left is forgotten.
    fn begin(&self) -> Vec<Box<dyn ProducerTask>>;

    /// Whether its tasks end by themselves, and the run with them.
    fn is_limited(&self) -> bool;

    /// Raised when there may be something for a client.
    fn for_clients(&self) -> Arc<Signal>;

    /// Raised when there may be room again for what the tasks make.
    fn for_tasks(&self) -> Arc<Signal>;

    /// What it made, and what became of it, once all has ended.
    fn account(&self) -> Vec<Fact>;

    /// What of that a reader of the result must know.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}
