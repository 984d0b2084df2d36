//! Messages between dbdyno and the processes of its clients: CBOR values one after the other,
//! through the standard input and output of such a process.
//!
//! Not here: who sends what when (agents, serve).

use std::io::{self, Read, Write};

use model::{Event, Placement, Source, StopReason};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::client_threads::ThreadUse;

/// To a process of clients.
#[derive(Serialize, Deserialize)]
pub(super) enum ToAgent {
    /// The first one.
    Job(Box<AgentJob>),
    /// Asks what time it is there.
    ReadClock,
    /// Load begins at this time of the process's own clock, in nanoseconds since 1970.
    Start { unix_ns: u64 },
    /// The run is to end; the second one cuts off what is under way.
    Stop,
}

/// What a process has to know of a run.
#[derive(Serialize, Deserialize)]
pub(super) struct AgentJob {
    /// The plan as decided, in TOML.
    pub(super) plan: String,
    /// How to get to the database, without the password.
    pub(super) target: String,
    pub(super) password: Option<String>,
    /// The files in which its workloads are written.
    pub(super) sources: Vec<Source>,
    /// Port and secret of the path that clients go through.
    pub(super) entrance: Option<(u16, [u8; 16])>,
    /// Which process it is, from 1.
    pub(super) process: u32,
    /// Where clients live.
    pub(super) placement: Placement,
}

/// From a process of clients.
#[derive(Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "most of these are seconds")]
pub(super) enum FromAgent {
    /// Something happened there.
    Event(Event),
    /// All its clients have connected: it waits for the start.
    Connected,
    /// What time it was when it was asked, in nanoseconds since 1970.
    Clock { unix_ns: u64 },
    /// It cannot do its job.
    Failed { why: String },
    /// Its load is over.
    Ended(Box<AgentEnd>),
}

/// How the load of a process ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AgentEnd {
    pub(super) reason: StopReason,
    pub(super) elapsed_ns: u64,
    pub(super) n_left_behind: u32,
    /// How often it stood still, the longest time, and when that began.
    pub(super) pauses: (u64, u64, i64),
    pub(super) waits_for_input: bool,
    pub(super) n_idle_losses: u64,
    pub(super) no_reply_lag: Option<String>,
    pub(crate) cpu_ns: u64,
    pub(crate) max_rss_bytes: u64,
    pub(crate) thread_use: ThreadUse,
}

/// Sends a message.
pub(super) fn send<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    let mut bytes = Vec::new();
    ciborium::into_writer(message, &mut bytes).map_err(io::Error::other)?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads the next message.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    ciborium::from_reader(from).map_err(io::Error::other)
}
