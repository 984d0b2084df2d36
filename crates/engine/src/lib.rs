//! When work is asked for, and how long it took: clocks, pacing, phases, placements, recording.
//!
//! The engine takes a [`Job`] (what to run, as which share of it), runs it on one of three
//! placements, and tells what happened as a stream of events that add up. Not here: what is
//! asked (workloads), of whom (drivers), and what remains (results). It opens no file.

mod clock;
mod conduct;
mod heartbeat;
mod job;
mod pacer;
mod place;
mod recorder;
mod reply_lag;
mod schedule;
mod scheduling;
mod seat;
mod stop;
mod thinker;
mod threads;

#[cfg(test)]
mod tests;

pub use clock::ThreadClock;
pub use conduct::{CannotRun, Pauses, Ran, run};
pub use job::{GroupJob, Job, Share, Tap};
pub use place::threads::block_on;
pub use schedule::Schedule;
pub use scheduling::Granted;
pub use stop::Stop;
pub use threads::{ClientThread, ClientThreads};
