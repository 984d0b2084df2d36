//! A run as a stream of events: terminal, store, report and agents consume the same one.

use serde::{Deserialize, Serialize};
use stats::Histogram;

use crate::{
    CheckResult, ComputedFigure, CpuProfile, Description, DisturbanceEvent, Fact, Finding, Gauge,
    KindIndex, Readings, RunId, Second, ServerSummary,
};

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Clients connect; the next phase starts when all have, or have failed.
    Connect,
    /// Load that is not measured, to warm up.
    RampUp,
    /// Load that is measured.
    Measure,
    /// No new transactions; running ones may finish.
    Drain,
}

/// The reason why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The planned time or number of transactions was reached.
    Completed,
    /// The user interrupted the run.
    Interrupted,
    /// The queue was full, and the plan says to stop then.
    QueueFull,
    /// No client could continue.
    Failed {
        /// The cause, in a sentence.
        why: String,
    },
}

/// Response times of one client's finished transactions of one kind, in the measured phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientMoments {
    /// Index of the client, global over all agents.
    pub client: u32,
    /// Index of the transaction type.
    pub kind: KindIndex,
    /// Number of finished transactions.
    pub count: u64,
    /// Number of failed transactions.
    pub failed: u64,
    /// Shortest response time, in nanoseconds.
    pub min_ns: u64,
    /// Longest response time, in nanoseconds.
    pub max_ns: u64,
    /// Sum of the response times, in nanoseconds.
    pub sum_ns: u64,
    /// Sum of their squares, in square nanoseconds.
    pub sum_sq_ns2: f64,
    /// Histogram of the times, as [`stats::CoarseHistogram::counts`] returns it; empty if there are
    /// too many clients to keep it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<(u16, u32)>,
}

/// An event of a run. The stored form is versioned: fields are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "most events of a run are seconds")]
pub enum Event {
    /// The run was created. `plan` is the plan as decided, in TOML, without secrets.
    Begun {
        /// Identifier of the run.
        run: RunId,
        /// The plan as decided, in TOML.
        plan: String,
        /// Names for the indexes in later events.
        description: Box<Description>,
    },
    /// An observation about machine, build, data or database.
    Fact(Fact),
    /// A phase of the run began.
    Phase {
        /// The phase that began.
        phase: Phase,
        /// Nanoseconds from the start of the measured phase.
        at_ns: i64,
    },
    /// The clients of a group have connected, or failed to.
    Connected {
        /// Index of the group.
        group: u16,
        /// Number of connected clients.
        connected: u32,
        /// Number of clients that failed to connect.
        failed: u32,
        /// Time that each connection took.
        #[serde(with = "crate::second::as_bytes", default)]
        times: Option<Histogram>,
    },
    /// A part of a second. Parts are added up.
    Second(Second),
    /// Lateness of an event loop's heartbeats in the measured phase.
    Heartbeats {
        /// Index of the loop, from 0.
        loop_index: u32,
        /// Due time of the latest heartbeat, in nanoseconds from the start of the measured phase.
        latest_at_ns: i64,
        /// Lateness of each heartbeat, including missed ones.
        #[serde(with = "crate::second::as_bytes", default)]
        lag: Option<Histogram>,
    },
    /// Response times by client, sent at the end.
    Clients {
        /// Index of the group.
        group: u16,
        /// Moments per client and kind.
        moments: Vec<ClientMoments>,
    },
    /// The load ended, for this reason.
    Ended {
        /// Completion, interruption, or an error.
        reason: StopReason,
        /// Length of the measured window, in nanoseconds.
        measured_ns: u64,
        /// Nanoseconds from the first instant of load to the last reply.
        elapsed_ns: u64,
        /// CPU time of all threads of this process under load, in nanoseconds.
        cpu_ns: u64,
        /// Peak resident memory of this process, in bytes.
        max_rss_bytes: u64,
    },
    /// The data were checked, before or after the load.
    Checked {
        /// `true` after the load, `false` before.
        after: bool,
        /// Result of each check.
        results: Vec<CheckResult>,
    },
    /// Comparison of the database's own count of commits with dbdyno's, over the whole run.
    Crosschecked {
        /// Index of the group.
        group: u16,
        /// Index of the transaction type.
        kind: KindIndex,
        /// Growth of the database's count.
        change: i64,
        /// Commits counted by dbdyno, including ramp-up and drain.
        committed: u64,
        /// Number of transactions whose outcome is unknown.
        unknown: u64,
    },
    /// Primary metrics that a workload computed over the measured phase.
    Computed {
        /// Index of the group.
        group: u16,
        /// Name and value of each computed metric.
        figures: Vec<ComputedFigure>,
    },
    /// A disturbance began, ended, failed or was skipped.
    Disturbance(DisturbanceEvent),
    /// Settings that new sessions of the server had before the load; secrets are masked.
    Settings {
        /// Pairs of name and value.
        settings: Vec<(String, String)>,
    },
    /// Declares gauges that are read from now on; indexes continue over all such events.
    Gauges {
        /// Declarations of the new gauges, in order of their indexes.
        gauges: Vec<Gauge>,
    },
    /// Values of gauges in one second.
    Readings(Readings),
    /// The server's own summary, over the measured phase.
    Summary(ServerSummary),
    /// The server's own summary of the last seconds, while the load continues.
    SummarySoFar(ServerSummary),
    /// CPU profile of one side.
    CpuProfile(CpuProfile),
    /// A message to the user, kept with the run.
    Output {
        /// Text of the message.
        text: String,
    },
    /// A judgement of the result.
    Finding(Finding),
}
