//! A run as a stream of events: terminal, store, report and agents consume the same one.

use serde::{Deserialize, Serialize};
use stats::Histogram;

use crate::{
    CheckResult, ComputedFigure, CpuProfile, Description, DisturbanceEvent, Fact, Finding, Gauge,
    KindIndex, Readings, RunId, Second, ServerSummary,
};

/// A stretch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Clients connect; a barrier.
    Connect,
    /// Load without measuring.
    RampUp,
    /// Load that is measured.
    Measure,
    /// Nothing new is begun; what is under way may end.
    Drain,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Time or count was reached.
    Completed,
    /// Somebody interrupted it.
    Interrupted,
    /// The queue was full and the plan asked to stop then.
    QueueFull,
    /// No client was left to go on.
    Failed {
        /// Why, in a sentence.
        why: String,
    },
}

/// What one client did in the measured phase with one kind: response times of what it finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientMoments {
    /// The client, global over all agents.
    pub client: u32,
    /// The kind.
    pub kind: KindIndex,
    /// How many it finished.
    pub count: u64,
    /// How many failed.
    pub failed: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// Their sum, in nanoseconds.
    pub sum_ns: u64,
    /// The sum of their squares, in square nanoseconds.
    pub sum_sq_ns2: f64,
    /// The times as [`stats::CoarseHistogram::counts`] has them; empty where there are so many
    /// clients that they are not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<(u16, u32)>,
}

/// One thing that happened in a run. Stored with its version; only ever added to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "most events of a run are seconds")]
pub enum Event {
    /// The run exists. `plan` is the plan as decided, in TOML, without secrets.
    Begun {
        /// Its name.
        run: RunId,
        /// Its plan.
        plan: String,
        /// The run as it is reported.
        description: Box<Description>,
    },
    /// Something was observed.
    Fact(Fact),
    /// A phase began, in nanoseconds from the beginning of the measured phase.
    Phase {
        /// Which.
        phase: Phase,
        /// When.
        at_ns: i64,
    },
    /// A group's clients have connected, or not.
    Connected {
        /// Which group.
        group: u16,
        /// How many have.
        connected: u32,
        /// How many have not.
        failed: u32,
        /// How long each took.
        #[serde(with = "crate::second::as_bytes", default)]
        times: Option<Histogram>,
    },
    /// A part of a second. Parts are added up.
    Second(Second),
    /// How late the heartbeats of an event loop of the generator were in the measured phase.
    Heartbeats {
        /// Which loop, from 0.
        loop_index: u32,
        /// When the latest of them was due, in nanoseconds from the beginning of the measured
        /// phase.
        latest_at_ns: i64,
        /// How late each was, those that were missed too.
        #[serde(with = "crate::second::as_bytes", default)]
        lag: Option<Histogram>,
    },
    /// What clients did, at the end.
    Clients {
        /// Which group.
        group: u16,
        /// Their moments, per client and kind.
        moments: Vec<ClientMoments>,
    },
    /// The load has ended.
    Ended {
        /// Why.
        reason: StopReason,
        /// The length of the measured window.
        measured_ns: u64,
        /// From the first instant of load to the last reply.
        elapsed_ns: u64,
        /// CPU time of this process while under load, all threads.
        cpu_ns: u64,
        /// The most memory that this process has had resident, in bytes.
        max_rss_bytes: u64,
    },
    /// The data were checked, before or after the load.
    Checked {
        /// Whether after the load.
        after: bool,
        /// What each check found.
        results: Vec<CheckResult>,
    },
    /// The database's own count of commits of a kind, against ours, over the whole run.
    Crosschecked {
        /// Which group's kind.
        group: u16,
        /// Which kind.
        kind: KindIndex,
        /// By how much the database's count grew.
        change: i64,
        /// How many commits we counted, ramp-up and drain included.
        committed: u64,
        /// How many outcomes are unknown.
        unknown: u64,
    },
    /// What a workload has computed over the measured phase.
    Computed {
        /// Of which group.
        group: u16,
        /// Its figures.
        figures: Vec<ComputedFigure>,
    },
    /// A disturbance began, ended, or was not made.
    Disturbance(DisturbanceEvent),
    /// What was in force at the server for new sessions before the load, by name; secrets are
    /// masked.
    Settings {
        /// Names and values.
        settings: Vec<(String, String)>,
    },
    /// Further gauges are read from now on; places count on over all such events.
    Gauges {
        /// What they are.
        gauges: Vec<Gauge>,
    },
    /// What gauges stood at in a second.
    Readings(Readings),
    /// What the server summed up while the load ran.
    Summary(ServerSummary),
    /// What the server summed up in the last seconds, while the load runs on.
    SummarySoFar(ServerSummary),
    /// Where CPU time went in one side.
    CpuProfile(CpuProfile),
    /// Something was said to the user: kept with the run.
    Output {
        /// The words.
        text: String,
    },
    /// Something is to be thought of the result.
    Finding(Finding),
}
