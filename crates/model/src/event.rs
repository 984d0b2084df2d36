//! The events of a run: terminal, store, report and client processes all consume the same stream.

use serde::{Deserialize, Serialize};
use stats::Histogram;

use crate::{
    CheckResult, ComputedFigure, CpuProfile, DbErrorKind, Description, DisturbanceEvent, Fact,
    Finding, Gauge, KindIndex, Readings, RunId, Second, ServerSummary,
};

/// A phase of a run: connecting, ramp-up, measured phase or drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Clients connect to the database. The next phase begins when each has connected or failed to.
    Connect,
    /// Load that warms up the database and is not measured.
    RampUp,
    /// Load whose response times and rates are the result of the run.
    Measure,
    /// No new transactions start; running and queued ones may finish until a time limit.
    Drain,
}

/// The reason why the load of a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The planned duration or number of transactions was reached.
    Completed,
    /// The user stopped the run before its planned end.
    Interrupted,
    /// The queue of arrivals was full, and the plan says to stop the run in this case.
    QueueFull,
    /// An error ended the load, such as that no client could continue.
    Failed {
        /// Error that ended the load, in a sentence.
        why: String,
        /// Whether it is an error of a transaction with which its workload ends the run.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_of_workload: bool,
        /// What to do about it, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
}

impl StopReason {
    /// Creates the reason of a load that an error of the run has ended.
    pub fn failed(why: impl Into<String>) -> StopReason {
        StopReason::Failed { why: why.into(), is_of_workload: false, remedy: None }
    }
}

/// Summary of the response times of one client's finished transactions of one type, in the measured
/// phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientMoments {
    /// Index of the client over all groups and client processes, from 0.
    pub client: u32,
    /// Index of the transaction type in the workload, from 0.
    pub kind: KindIndex,
    /// Number of finished transactions of this client and type.
    pub count: u64,
    /// Number of failed transactions of this client and type.
    pub failed: u64,
    /// Shortest response time of this client and type, in nanoseconds.
    pub min_ns: u64,
    /// Longest response time of this client and type, in nanoseconds.
    pub max_ns: u64,
    /// Sum of the response times of this client and type, in nanoseconds.
    pub sum_ns: u64,
    /// Sum of the squared response times of this client and type, in square nanoseconds.
    pub sum_sq_ns2: f64,
    /// Coarse histogram of the response times, as pairs of bucket and count
    /// ([`stats::CoarseHistogram::counts`]); empty if more than 1,000 clients run in the same
    /// process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<(u16, u32)>,
}

/// An execution of a transaction of a sequence, which was due in the measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// Number of the client in its group, from 0.
    pub client: u32,
    /// Index of the transaction type in the workload.
    pub kind: KindIndex,
    /// Start of the execution, in nanoseconds from the start of the measured phase.
    pub started_ns: i64,
    /// End of the execution, in nanoseconds from the start of the measured phase.
    pub ended_ns: i64,
    /// Whether the transaction was committed, or rolled back by design; false if it failed.
    pub is_finished: bool,
    /// Class of the error with which the transaction failed; `None` if it did not, and for runs
    /// that were stored before errors of executions were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<DbErrorKind>,
}

impl Execution {
    /// Returns the duration of the execution, in nanoseconds.
    pub fn took_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.started_ns).max(0).unsigned_abs()
    }
}

/// Plan that a database's optimizer has chosen for the query of a transaction type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryPlan {
    /// Index of the transaction type in the workload.
    pub kind: KindIndex,
    /// Shape of the plan, in the words of the database, without costs and estimates.
    pub plan: String,
    /// Plan of one execution after the load, with the rows of each step, in the words of the
    /// database; empty if none was asked for, or the database does not tell it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub executed: String,
}

/// An event of a run, as all its consumers receive it. Stored runs contain events, so variants and
/// fields are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "most events of a run are seconds")]
pub enum Event {
    /// The run was created, with this plan and description.
    Begun {
        /// Permanent identifier of the run that begins.
        run: RunId,
        /// Plan of the run in TOML, with all values decided and without passwords.
        plan: String,
        /// Names and other properties of the groups, transaction types and metrics, to which later
        /// events refer by index.
        description: Box<Description>,
    },
    /// An observation about machine, build, data or database, such as the CPU's model.
    Fact(Fact),
    /// A phase of the run has begun.
    Phase {
        /// Phase that begins: connecting, ramp-up, measured phase or drain.
        phase: Phase,
        /// Start of the phase, in nanoseconds from the start of the measured phase; negative before
        /// it.
        at_ns: i64,
    },
    /// Every client of a group has connected or failed to connect.
    Connected {
        /// Index of the group of clients in the plan, from 0.
        group: u16,
        /// Number of clients of the group that connected.
        connected: u32,
        /// Number of clients of the group that failed to connect.
        failed: u32,
        /// Histogram of the time that each connection took, in nanoseconds; `None` if it was not
        /// recorded.
        #[serde(with = "crate::second::as_bytes", default)]
        times: Option<Histogram>,
    },
    /// Counts and times of one second of a group. There may be several such events for the same
    /// second, which must be added up.
    Second(Second),
    /// Lateness of an event loop's heartbeats in the measured phase. A heartbeat is a timer that
    /// fires every 10 ms; it is late if the loop is busy or has no CPU.
    Heartbeats {
        /// Index of the event loop, from 0.
        loop_index: u32,
        /// Due time of the heartbeat that was late by the most, in nanoseconds from the start of
        /// the measured phase.
        #[serde(rename = "latest_at_ns")]
        most_delayed_at_ns: i64,
        /// Histogram of the heartbeats' lateness, in nanoseconds. Heartbeats that fell due while
        /// the loop was busy all count.
        #[serde(with = "crate::second::as_bytes", default)]
        lag: Option<Histogram>,
    },
    /// Response times of each client of a group, sent once at the end of the load.
    Clients {
        /// Index of the group of clients in the plan, from 0.
        group: u16,
        /// Summaries of response times, one for each client and transaction type.
        moments: Vec<ClientMoments>,
    },
    /// Plans of a group's queries, read before the load.
    QueryPlans {
        /// Index of the group.
        group: u16,
        /// The plans, by transaction type.
        plans: Vec<QueryPlan>,
    },
    /// Executions of a group whose clients execute fixed sequences of transactions, sent soon after
    /// they ended. Transactions that did not end are missing.
    Executions {
        /// Index of the group of clients in the plan.
        group: u16,
        /// Executions that ended since the group's previous event of this kind, in the order in
        /// which they ended.
        executions: Vec<Execution>,
    },
    /// The load has ended, for the given reason.
    Ended {
        /// Reason why the load ended.
        reason: StopReason,
        /// Actual length of the measured phase, in nanoseconds.
        measured_ns: u64,
        /// Time from the start of the load, ramp-up included, to the last reply, in nanoseconds.
        elapsed_ns: u64,
        /// CPU time of dbdyno during the load, over all its threads and client processes, in
        /// nanoseconds.
        cpu_ns: u64,
        /// Peak resident memory of dbdyno, summed over its main process and client processes, in
        /// bytes; 0 if unknown.
        max_rss_bytes: u64,
    },
    /// The consistency of the data was checked, before or after the load.
    Checked {
        /// Whether the data were checked after the load; false if before it.
        after: bool,
        /// Result of each consistency check that was made.
        results: Vec<CheckResult>,
    },
    /// Two counts of a transaction type's commits over the whole run, which should agree: the
    /// database's own, and dbdyno's.
    Crosschecked {
        /// Index of the group of clients in the plan, from 0.
        group: u16,
        /// Index of the transaction type whose commits were compared, from 0.
        kind: KindIndex,
        /// Number of commits during the run by the database's own count.
        change: i64,
        /// Number of commits of the transaction type that dbdyno counted, in all phases of the run.
        committed: u64,
        /// Number of transactions for which it is unknown whether they were committed.
        unknown: u64,
    },
    /// Primary metrics of a group that the workload itself computed after the load, over the
    /// measured phase.
    Computed {
        /// Index of the group of clients in the plan, from 0.
        group: u16,
        /// Computed primary metrics, each with its value or the reason why there is none.
        figures: Vec<ComputedFigure>,
    },
    /// An execution of a disturbance began, ended, failed or was skipped.
    Disturbance(DisturbanceEvent),
    /// Server settings that applied to new sessions before the load, with secrets masked.
    Settings {
        /// Server settings, as pairs of name and value.
        settings: Vec<(String, String)>,
    },
    /// Declares new gauges, to which [`Event::Readings`] refer by index. An index is the position
    /// of a gauge, from 0, among those of all such events of the run.
    Gauges {
        /// New gauges, in the order of their indexes.
        gauges: Vec<Gauge>,
    },
    /// Values of gauges that were read in one second.
    Readings(Readings),
    /// Totals that the server itself kept over the measured phase, by statement, wait event or
    /// table.
    Summary(ServerSummary),
    /// Totals that the server itself has kept so far, sent while the load continues. The final
    /// [`Event::Summary`] replaces them; if the run is killed before it sends that, its last
    /// `SummarySoFar` is used.
    SummarySoFar(ServerSummary),
    /// CPU profile of the server's or the generator's processes.
    CpuProfile(CpuProfile),
    /// A message that was shown to the user, stored with the run.
    Output {
        /// Text of the message to the user.
        text: String,
    },
    /// A judgement about the validity of the result, such as a warning that the generator was
    /// saturated.
    Finding(Finding),
}
