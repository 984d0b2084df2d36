//! Generates the load and measures it: clocks, pacing, phases, placements, recording.
//!
//! The engine takes a [`Job`] (what to run, and which clients of each group), runs it with one of
//! three placements (threads, event loops, virtual time), and reports a stream of events, whose
//! counts add up to the whole run. Not here: what is requested (workloads), from which database
//! (drivers), and what is kept (store, analysis). It opens no file.

#![warn(missing_docs)]

mod client_loop;
mod clock;
mod coordinator;
mod heartbeat;
mod job;
mod os_sched;
mod pacer;
mod place;
mod queued;
mod recorder;
mod rejections;
mod reply_lag;
mod schedule;
mod share;
mod stop;
mod think_time;
mod threads;
mod time_limit;
mod trace;

#[cfg(test)]
mod tests;

pub use clock::{Origin, ThreadClock};
pub use coordinator::{CannotRun, Pauses, Ran, run};
pub use job::{GroupJob, Job, Recorded, RecordedAs, SampleHook};
pub use os_sched::Granted;
pub use place::loops::{event_loop_for, probe_io_uring};
pub use place::threads::block_on;
pub use schedule::Schedule;
pub use share::Share;
pub use stop::Stop;
pub use threads::{ClientThread, ClientThreads};
pub use trace::{CannotTrace, Traced, trace};
