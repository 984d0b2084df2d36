//! Messages between a run and its client processes, as CBOR.
//!
//! Not here: the order of messages (agents, serve), and how they travel (link).

use std::io;
use std::sync::Arc;

use engine::Origin;
use model::{Event, Host, Placement, Source, StopReason};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::link::{Incoming, Outgoing};
use crate::client_threads::ThreadUse;
use crate::settings::Controlled;

/// A message from the run to one of its client processes.
#[derive(Serialize, Deserialize)]
pub(super) enum ToAgent {
    /// The process's part of the load. This, [`ToAgent::Watch`] or
    /// [`ToAgent::Control`] is always the first message.
    Job(Box<AgentJob>),
    /// The process is to monitor its host instead.
    Watch(WatchJob),
    /// The process is to control this server on its host instead.
    Control(Controlled),
    /// Orders a process that controls a server to do this.
    Do(ControlOrder),
    /// Asks the client process for the time of its clock.
    ReadClock,
    /// Orders the start of the load, at `unix_ns` of the process's own clock in nanoseconds since
    /// 1970. That clock is ahead of the run's by `ahead_ns`, which the process subtracts from what
    /// it stamps.
    Start { unix_ns: u64, ahead_ns: i64 },
    /// Asks the client process to end its load; a second message of this kind cancels running
    /// transactions.
    Stop,
}

/// The part of a run that a client process executes.
#[derive(Serialize, Deserialize)]
pub(super) struct AgentJob {
    /// Plan of the run with all defaults, in TOML.
    pub(super) plan: String,
    /// URL of the target without the password.
    pub(super) target: String,
    pub(super) password: Option<String>,
    /// Password of the server of each group's clients; `None` for a group at the run's target, and
    /// without a password.
    pub(super) group_passwords: Vec<Option<String>>,
    /// Contents of the workload files that the plan names.
    pub(super) sources: Vec<Source>,
    /// Port and secret of the proxy that simulates the network path; `None` without a simulated
    /// path.
    pub(super) entrance: Option<(u16, [u8; 16])>,
    /// Number of statements that each client's session keeps prepared at most.
    pub(super) statements_kept: usize,
    /// Number of the process in the run, from 1.
    pub(super) process: u32,
    pub(super) placement: Placement,
}

/// What a process on another host monitors: the machine, and a server on it.
#[derive(Serialize, Deserialize)]
pub(super) struct WatchJob {
    /// Addresses of the server, as clients use them.
    pub(super) hosts: Vec<Host>,
    /// Names of the server's program.
    pub(super) programs: Vec<String>,
    /// Time from the start of the load to that of the measured phase, in nanoseconds.
    pub(super) ramp_up_ns: u64,
}

/// An order to a process that controls a server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ControlOrder {
    /// Gives these settings these values in the settings file.
    Write(Vec<(String, String)>),
    Restart,
    /// Restores the settings file.
    PutBack,
    /// Removes the restored file from the restore journal.
    Forget,
}

/// A message from a client process to the run.
#[derive(Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "most of these are seconds")]
pub(super) enum FromAgent {
    /// An event of the clients in the process, such as the figures of a second.
    Event(Event),
    /// All clients of the process have connected, and it waits for the start. `plan` is the plan
    /// that it executes, which must be that of the run.
    Connected { plan: String, process_id: u32 },
    /// Time of the process's clock when it was asked, in nanoseconds since 1970.
    Clock { unix_ns: u64 },
    /// The arrival queue of the process is full, and the plan says to stop then.
    QueueFull,
    /// The process could not do its part of the run, for the reason `why`.
    Failed { why: String },
    /// The load of the process is over. This is its last message.
    Ended(Box<AgentEnd>),
    /// The process monitors its host, and waits for the start. `has_server` says whether it has
    /// found the server there.
    Watches { has_server: bool },
    /// The process controls a server, whose settings file is at this path. `is_changed` says that
    /// an earlier process has changed the file and not restored it.
    Controls { path: String, is_changed: bool },
    /// The process has done the last order.
    Done,
    /// The process has sent all readings of its host. This is its last message.
    Watched,
}

/// Result of the load in a client process: counts, CPU time, memory and pauses of the process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AgentEnd {
    pub(super) reason: StopReason,
    pub(super) measured_ns: u64,
    pub(super) elapsed_ns: u64,
    /// Time from the arrival of the order to start until the start, in nanoseconds; negative if it
    /// came too late.
    pub(super) start_margin_ns: i64,
    pub(super) n_left_behind: u32,
    /// Pauses in which the whole process did not run: their number, the length of the longest one
    /// in nanoseconds, and its start in nanoseconds from the start of the measured phase.
    pub(super) pauses: (u64, u64, i64),
    pub(super) waits_for_input: bool,
    pub(super) n_idle_losses: u64,
    pub(super) no_reply_lag: Option<String>,
    pub(crate) cpu_ns: u64,
    pub(crate) max_rss_bytes: u64,
    pub(crate) thread_use: ThreadUse,
}

/// Sends messages of this client process to the run, from any of its threads.
#[derive(Clone)]
pub(super) struct Output(pub(super) Arc<dyn Outgoing>);

impl Output {
    /// Sends a message to the run and ignores errors: sending fails only if dbdyno has ended, and
    /// then this client process ends too.
    pub(super) fn send(&self, message: &FromAgent) {
        let _ = send(self.0.as_ref(), message);
    }

    /// Sends the time of this process's clock, whose origin this is.
    pub(super) fn send_clock(&self, origin: Origin) {
        self.send(&FromAgent::Clock { unix_ns: origin.unix_ns() + origin.elapsed_ns() });
    }
}

/// Encodes and sends a message. Fails if the other end has closed the connection.
pub(super) fn send<T: Serialize>(to: &dyn Outgoing, message: &T) -> io::Result<()> {
    let mut bytes = Vec::new();
    ciborium::into_writer(message, &mut bytes).map_err(io::Error::other)?;
    to.send(&bytes)
}

/// Waits for the next message and decodes it; `None` if the other end has closed the connection, or
/// has sent anything else.
pub(super) fn receive<T: DeserializeOwned>(from: &mut dyn Incoming) -> Option<T> {
    ciborium::from_reader(from.receive()?.as_slice()).ok()
}
