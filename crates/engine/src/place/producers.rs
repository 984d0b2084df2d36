//! Threads for the workloads' producers (tasks that generate input for clients), one per task,
//! whatever the placement of the clients. Not here: the tasks themselves (workloads).

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use model::{Clock, ProducerContext, ProducerTask};

use super::threads::block_on;
use super::{RunContext, guarded};
use crate::clock::{ThreadClock, thread_cpu_ns, through};
use crate::stop::Stop;

/// The running threads of all producers of a run.
pub(crate) struct Threads(Vec<JoinHandle<()>>);

impl Threads {
    /// Cuts off the run so that the producers' tasks end, since no client needs their input any
    /// more, and waits until all threads have ended.
    pub(crate) fn end(self, stop: &Stop) {
        if self.0.is_empty() {
            return;
        }
        stop.abort();
        for thread in self.0 {
            // A panic was reported by the thread itself.
            let _ = thread.join();
        }
    }
}

/// Starts a thread for each producer's task, which begins its work at the start of the load. Fails
/// if a thread cannot be started.
pub(crate) fn start(
    tasks: Vec<Box<dyn ProducerTask>>,
    load_start_ns: u64,
    context: &RunContext,
) -> io::Result<Threads> {
    let mut threads = Vec::new();
    for task in tasks {
        let context = context.clone();
        let builder = thread::Builder::new().name(task.name());
        threads.push(builder.spawn(move || {
            let tell = context.tell.clone();
            guarded(&tell, move || produce(task, load_start_ns, &context));
        })?);
    }
    Ok(Threads(threads))
}

fn produce(mut task: Box<dyn ProducerTask>, load_start_ns: u64, context: &RunContext) {
    let stop = Arc::clone(&context.stop);
    let clock = ThreadClock::new(context.origin, Arc::clone(&stop));
    block_on(through(&clock, load_start_ns));
    let is_over = || stop.is_over(clock.now());
    let context = ProducerContext {
        clock: &clock,
        cpu_ns: &thread_cpu_ns,
        is_over: &is_over,
        is_virtual: false,
    };
    block_on(task.produce(&context));
}
