//! Messages between dbdyno and its client processes, as CBOR.
//!
//! Not here: their protocol (agents, serve), and how they travel (link).

use std::io;

use model::{Event, Placement, Source, StopReason};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::link::{Incoming, Outgoing};
use crate::client_threads::ThreadUse;

/// To a client process.
#[derive(Serialize, Deserialize)]
pub(super) enum ToAgent {
    /// Always the first message.
    Job(Box<AgentJob>),
    /// Asks for the time of its clock.
    ReadClock,
    /// Start of the load by the process's own clock, in nanoseconds since 1970.
    Start { unix_ns: u64 },
    /// Ends the run; the second one cancels current work.
    Stop,
}

/// A client process's part of a run.
#[derive(Serialize, Deserialize)]
pub(super) struct AgentJob {
    /// Plan with all defaults, in TOML.
    pub(super) plan: String,
    /// Target without the password.
    pub(super) target: String,
    pub(super) password: Option<String>,
    /// Contents of the workload files.
    pub(super) sources: Vec<Source>,
    /// Port and secret of the network path.
    pub(super) entrance: Option<(u16, [u8; 16])>,
    /// Number of the process, from 1.
    pub(super) process: u32,
    pub(super) placement: Placement,
}

/// From a client process.
#[derive(Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "most of these are seconds")]
pub(super) enum FromAgent {
    /// An event of its clients.
    Event(Event),
    /// All its clients have connected; it waits for the start.
    Connected,
    /// Time of its clock when it was asked, in nanoseconds since 1970.
    Clock { unix_ns: u64 },
    /// The queue of the process is full, and the plan says to stop then.
    QueueFull,
    /// The process cannot do its job.
    Failed { why: String },
    /// The load of the process is over.
    Ended(Box<AgentEnd>),
}

/// Result of a client process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AgentEnd {
    pub(super) reason: StopReason,
    pub(super) measured_ns: u64,
    pub(super) elapsed_ns: u64,
    pub(super) n_left_behind: u32,
    /// Number of pauses of the process, the longest one, and the start of that.
    pub(super) pauses: (u64, u64, i64),
    pub(super) waits_for_input: bool,
    pub(super) n_idle_losses: u64,
    pub(super) no_reply_lag: Option<String>,
    pub(crate) cpu_ns: u64,
    pub(crate) max_rss_bytes: u64,
    pub(crate) thread_use: ThreadUse,
}

/// Sends a message. Fails if the other end has closed.
pub(super) fn send<T: Serialize>(to: &dyn Outgoing, message: &T) -> io::Result<()> {
    let mut bytes = Vec::new();
    ciborium::into_writer(message, &mut bytes).map_err(io::Error::other)?;
    to.send(&bytes)
}

/// Receives the next message; `None` if the other end has closed, or sends what is no message.
pub(super) fn receive<T: DeserializeOwned>(from: &mut dyn Incoming) -> Option<T> {
    ciborium::from_reader(from.receive()?.as_slice()).ok()
}
