//! The report of a run: everything that is printed, drawn or compared, as one value, and the JSON
//! that other programs read (`--output json`).
//!
//! The schema is `dbdyno.run/1` and is only ever extended: fields are not renamed, removed or given
//! another meaning; new fields have a default, so that old files are read for ever. Times are
//! milliseconds (microseconds for lag) to the nanosecond, rates are per second.
//!
//! **A number that is not known is `null`, never 0 or a guess.** If a quantile is null, `reasons`
//! beside it has the reason under the quantile's name: there are too few samples for a finite 95 %
//! confidence interval; or the quantile falls among unfinished transactions, and only a lower bound
//! is known (a number in `at_least`); or it falls among lost transactions and is infinite (listed
//! in `infinite`).
//!
//! Not here: how a run is added up (tally), and how the report looks (render).

mod build;
mod counts;
mod dips;
mod disclosure;
mod disturbances;
mod executions;
mod gauges;
mod intervals;
mod limit;
mod per_transaction;
mod primary;
mod reply_lag;
mod shares;
mod stability;
mod time_profile;
mod times;

use std::ops::AddAssign;

use jiff::Timestamp;
use model::{
    CpuProfileReport, Direction, Facts, Finding, Load, NOT_CHECKED, ReportField, ServerSummary,
    StopCondition, SummaryOf, read_facts,
};
use serde::{Deserialize, Serialize};

pub use build::Options;
pub(crate) use build::is_build;
pub use dips::{CauseSeen, Dip, Moved};
pub use disclosure::{Disclosure, RequirementReport, Verdict};
pub use disturbances::{DisturbanceReport, WindowReport};
pub use executions::{ExecutionReport, QueryPlanReport};
pub use gauges::GaugeReport;
pub use intervals::IntervalReport;
pub use limit::{Limit, LimitedBy};
pub use model::{Cause, Named};
pub use reply_lag::{ReplyLagReport, ServiceSplit};
pub use shares::Shares;
pub(crate) use shares::two_digits;
pub use stability::{SlowestSecond, StabilityReport, StallReport};
pub use time_profile::{
    OUTSIDE_SERVICE, SAMPLES_LEAST, TimePart, TimeProfile, is_of_samples, part_title,
};
pub use times::{ConnectTimes, LagTimes, Latency};
pub(crate) use times::{ONE_NUMBER, length_needed, too_short};

/// Name and version of the JSON schema of [`Report`], stored in its field `schema`.
pub const SCHEMA: &str = "dbdyno.run/1";

/// State of a run: in progress, or the way in which it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The run is in progress, or its process ended without recording that. Figures are
    /// provisional.
    Running,
    /// The run reached its planned time or number of transactions.
    Completed,
    /// The user interrupted the run before its planned end.
    Interrupted,
    /// An error ended the run before its planned end.
    Failed,
    /// The queue of arrivals was full, and the plan says that this ends the run.
    QueueFull,
}

impl Status {
    /// Returns the status as JSON spells it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Interrupted => "interrupted",
            Status::Failed => "failed",
            Status::QueueFull => "queue_full",
        }
    }
}

/// The report of a run, with all data that are printed, drawn or compared. Serialized as JSON, it
/// is what other programs read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the schema, [`SCHEMA`].
    pub schema: String,
    /// Permanent id of the run.
    pub run_id: String,
    pub name: String,
    pub status: Status,
    /// Explanation of the status, such as the error; null if there is none.
    pub reason: Option<String>,
    /// Name of the workload; with several groups, the distinct names joined by ` + `.
    pub workload: String,
    /// URL of the database under test, without a password.
    pub target: String,
    pub database: String,
    /// Modes of the database that change the meaning of results, so that every result names them,
    /// such as `synchronous=full`.
    pub modes: Vec<String>,
    /// Seed of all random numbers: a run with the same seed makes the same choices.
    pub seed: u64,
    /// Number of clients, summed over all groups.
    pub clients: u32,
    /// Placement of the clients: `thread` (one for each client), `loop` (event loops) or
    /// `simulated` (virtual time).
    pub placement: String,
    /// Load model of the clients, with its rate; null if groups differ.
    pub load: Option<Load>,
    /// Start of the run; in JSON RFC 3339, UTC. The texts have no fixed number of decimals, so
    /// sorting them does not sort by time.
    pub started: Timestamp,
    /// Version and build of dbdyno.
    pub dbdyno: String,
    /// Planned lengths of the phases: ramp-up, measured phase and drain.
    pub phases: PhasesReport,
    /// Actual length of the measured window; rates are over this time.
    pub measured_seconds: f64,
    /// Time from the beginning of the load to the last reply; null while running.
    pub elapsed_seconds: Option<f64>,
    /// Figures of the measured phase, all groups together.
    #[serde(flatten)]
    pub block: Block,
    /// Lateness of the generator's event loops; empty if clients are on threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopReport>,
    /// CPU time, memory and traffic of the generator; null while running.
    pub client: Option<ClientCost>,
    /// Results of the workload's consistency checks.
    pub checks: Checks,
    /// Comparisons of the database's own counts of commits with the generator's.
    pub crosschecks: Vec<CrosscheckReport>,
    /// Figures of each group in each second; seconds of the ramp-up are negative.
    pub seconds: Vec<SecondReport>,
    /// Figures of the measured phase in intervals of the plan's `report_interval`.
    #[serde(default)]
    #[serde(alias = "probes")]
    pub intervals: Vec<IntervalReport>,
    /// Planned disturbances of the database, such as a killed server, and their effects, in the
    /// order of time.
    #[serde(default)]
    pub disturbances: Vec<DisturbanceReport>,
    /// System and database metrics (gauges), read once per second, ordered by subject.
    #[serde(default)]
    pub gauges: Vec<GaugeReport>,
    /// Mean time of a transaction, divided among client, network and states of the server; absent
    /// if the server's sessions were not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_profile: Option<TimeProfile>,
    /// Reason why `time_profile` is absent although the server's sessions were sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_profile_reason: Option<String>,
    /// What limits throughput, with its evidence; absent if no evidence shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<LimitedBy>,
    /// Limits that were set on the run, with their outcomes; empty if none was judged. They are
    /// judged when the report has been made, and stored beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<model::JudgedLimit>,
    /// Dips: consecutive seconds in which throughput fell or response times rose, with the gauges
    /// that changed in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dips: Vec<Dip>,
    /// The server's own totals by statement, wait event or table, over the load; while the run is
    /// in progress, over the last seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<ServerSummary>,
    /// CPU profiles (samples of call stacks) of server and generator; empty unless requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_profiles: Vec<CpuProfileReport>,
    /// Heat map of response times: number of transactions by time of the run and response time;
    /// absent if it has no transactions, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_heat: Option<model::LatencyHeat>,
    /// Commits of each transaction type in each second; empty if there is only one type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits_by_type: Vec<TypeSeconds>,
    /// Settings that new sessions of the server had before the load, by name; empty if they cannot
    /// be read.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub settings: Named<String>,
    /// Facts about machine, build, data and database, by subject and name.
    #[serde(deserialize_with = "read_facts")]
    pub facts: Facts,
    /// Findings on the result, the most severe first.
    pub findings: Vec<Finding>,
    /// The workloads' deviations from their standards, and further remarks.
    #[serde(alias = "declarations")]
    pub notes: Vec<String>,
    /// Requirements of the standards from which workloads are derived, and whether they are met;
    /// one disclosure for each group whose workload has a standard.
    #[serde(default)]
    pub disclosures: Vec<Disclosure>,
    /// The plan of the run with all defaults filled in, as TOML.
    pub plan: String,
    pub groups: Vec<GroupReport>,
    /// Messages of the run to the user.
    #[serde(default)]
    pub output: Vec<String>,
    /// Executions of clients that execute fixed sequences of transactions, by group and client in
    /// the order of their starts; absent without such clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<ExecutionReport>,
    /// Plans of the workloads' queries, read before the load; absent without such queries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query_plans: Vec<QueryPlanReport>,
}

impl Report {
    /// Returns true if the database runs in the generator's process, as SQLite does.
    pub fn is_embedded(&self) -> bool {
        let is_simulated = self.fact("database", "seed").is_some();
        crate::host::is_embedded(&self.target, is_simulated)
    }

    /// Returns the number of samples of the server's session states, from which the time profile is
    /// computed; `None` if sessions were not sampled.
    pub fn session_samples(&self) -> Option<u64> {
        self.server.iter().find(|summary| summary.of == SummaryOf::Samples)?.samples()
    }

    /// Fields with a value for each second, transaction type or gauge, about half of a report: each
    /// field's name, and the JSON text that is read in its place if whole runs are compared.
    pub const AT_LENGTH: [ReportField; 8] = [
        ("executions", "[]"),
        ("query_plans", "[]"),
        ("seconds", "[]"),
        ("commits_by_type", "[]"),
        ("intervals", "[]"),
        ("latency_heat", "null"),
        ("gauges", "[]"),
        ("transactions", "{}"),
    ];

    /// Returns the disclaimer that belongs beside every figure of the run, such as "not a TPC-C
    /// result"; `None` if there is none.
    pub fn notice(&self) -> Option<&str> {
        let first = self.notes.first()?;
        (!first.starts_with(NOT_CHECKED)).then_some(first.as_str())
    }
    /// Fields with values over the course of a run: each field's name, and the JSON text that is
    /// read in its place if only figures of the whole run are needed.
    pub const SERIES: [ReportField; 4] = [
        ("seconds", "[]"),
        ("commits_by_type", "[]"),
        ("intervals", "[]"),
        ("latency_heat", "null"),
    ];
    /// Fields with texts on a single run, or shares below bounds: each field's name, and the JSON
    /// text that is read in its place for a history of many runs.
    pub const OF_ONE_RUN: [ReportField; 8] = [
        ("output", "[]"),
        ("notes", "[]"),
        ("disclosures", "[]"),
        ("dips", "[]"),
        ("server", "[]"),
        ("cpu_profiles", "[]"),
        ("shares.below", "[]"),
        ("shares.dispersion", "[]"),
    ];
    /// The field with the server's settings: its name, and the JSON text that is read in its place
    /// if only plan and facts are needed.
    pub const SETTINGS: [ReportField; 1] = [("settings", "{}")];
}

/// Commits of a transaction type, second by second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeSeconds {
    /// Name of the transaction type, as in the field `transactions` of the report.
    pub transaction: String,
    /// Second to which the first value of `commits` belongs; negative in the ramp-up.
    pub from_s: i64,
    /// Number of commits in each second from `from_s` on.
    pub commits: Vec<u64>,
}

/// Lateness of one of the generator's event loops, shown by its heartbeats: timers that are due
/// every 10 ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopReport {
    /// Lateness of the heartbeats, in microseconds.
    pub heartbeat_lag_us: LagTimes,
    /// Due time of the heartbeat with the largest lateness, in seconds of the measured phase.
    pub latest_at_s: f64,
}

/// Planned lengths of the phases, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasesReport {
    /// Planned length of the ramp-up, whose load is not measured.
    pub ramp_up_s: f64,
    /// Planned length of the measured phase; 0 if only a number of transactions ends it.
    pub measure_s: f64,
    /// Time limit after the measured phase for running and queued transactions to finish.
    pub drain_s: f64,
}

/// A group of clients with the same workload. It has figures of its own if the run has several
/// groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupReport {
    pub name: String,
    pub workload: String,
    pub clients: u32,
    /// URL of the server of the clients; absent if it is the run's target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Number of separate processes that run the clients of the group; 0 if dbdyno's own process
    /// does.
    #[serde(default)]
    pub processes: u32,
    /// Load model of the group's clients, with its rate.
    pub load: Load,
    /// Condition that ends the load of the group: time or a number of transactions.
    #[serde(alias = "until")]
    pub stop_condition: StopCondition,
    /// Parameters of the workload with the values that the run used, by name.
    pub parameters: Named<String>,
    /// Sentence with the rate that the clients' key and think times alone allow; null for loads
    /// without these times.
    pub closed_form: Option<String>,
    /// Number of transactions that the clients together execute in a fixed order, after which the
    /// load is complete; absent if the load has no such end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Figures of the group; absent if it is the only one of the run, which has the same figures.
    #[serde(flatten)]
    pub block: Option<Block>,
}

/// Figures of the measured phase, for all groups together or for one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Commits that finished in the measured window, per second; null if nothing was measured.
    pub tps: Option<f64>,
    /// The 95 % CI of `tps` within this run; null with a reason in `tps_ci95_reason`.
    pub tps_ci95: Option<Ci95>,
    /// Reason why `tps_ci95` is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_ci95_reason: Option<String>,
    /// Statements per second in the measured window: reads + writes + others; null if nothing was
    /// measured.
    pub qps: Option<f64>,
    /// Statements that read, per second; null if nothing was measured.
    pub reads_per_second: Option<f64>,
    /// Statements that write, per second; null if nothing was measured.
    pub writes_per_second: Option<f64>,
    /// Other statements (BEGIN, COMMIT, DDL), per second; null if nothing was measured.
    pub others_per_second: Option<f64>,
    /// Rows read or changed, per second; null if none were counted, and in older runs.
    #[serde(default)]
    pub rows_per_second: Option<f64>,
    /// Bytes sent and received by clients, per second; null if the database is not reached over a
    /// connection.
    #[serde(default)]
    pub bytes_per_second: Option<f64>,
    /// New orders per minute; null if the workload does not have this metric, or nothing was
    /// measured.
    pub nopm: Option<f64>,
    /// Transactions per minute; null if the workload does not have this metric, or nothing was
    /// measured.
    pub tpm: Option<f64>,
    /// All primary metrics of the workload (the results by which it is judged, such as NOPM), by
    /// name.
    #[serde(alias = "headlines")]
    pub primary_metrics: Named<PrimaryMetricReport>,
    /// Outcomes of all transactions intended in the measured phase.
    pub counts: CountsReport,
    /// Outcomes of all transactions intended in the ramp-up.
    pub ramp_up_counts: CountsReport,
    /// Longest response time (or age, if unfinished) of the transactions of the ramp-up that were
    /// still queued or running when the measured phase began; no other figure has these. Null if
    /// there were none.
    #[serde(default)]
    pub backlog_at_start_max_ms: Option<f64>,
    /// Response times of finished transactions: from the intended start to the last reply.
    pub response_ms: Latency,
    /// Service times of finished transactions: time with the database, including all attempts.
    pub service_ms: Latency,
    /// Wait times of finished transactions: from the intended start until a client was free.
    pub wait_ms: Latency,
    /// Response times of all offered transactions. Unfinished ones count with at least their age,
    /// dropped and failed ones as infinite.
    pub offered_ms: Latency,
    /// Shares of all offered transactions with response times below bounds in nanoseconds; empty in
    /// older runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
    /// Response times of transactions that failed after all attempts.
    pub failed_ms: Latency,
    /// Lateness of the generator itself: time from when a transaction was due and its client free
    /// until its first request was sent.
    pub lag_us: LagTimes,
    /// Time for which replies lay unread in the generator's sockets.
    #[serde(default)]
    pub reply_lag_us: ReplyLagReport,
    /// Times that clients took to connect to the server, and the number of clients that could not.
    pub connect_ms: ConnectTimes,
    /// Times that clients took to connect before each transaction; absent unless the plan makes a
    /// new connection for each (`connect = "transaction"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_connections_ms: Option<Latency>,
    /// Mean amounts per transaction, over all types: statements, round trips, rows and bytes.
    #[serde(default)]
    pub per_transaction: PerTransaction,
    /// Figures by transaction type, in the workload's order; named `group.type` if there are
    /// several groups.
    pub transactions: Named<TransactionReport>,
    /// Figures by client and transaction type; null unless the user requested them.
    pub per_client: Option<Vec<ClientReport>>,
    /// The workload's custom metrics, by name.
    #[serde(alias = "measures")]
    pub custom_metrics: Named<CustomMetricReport>,
    /// Errors of the measured phase, including those of attempts that were retried.
    pub errors: Vec<ErrorReport>,
    /// Errors of the ramp-up, including those of attempts that were retried.
    #[serde(default)]
    pub ramp_up_errors: Vec<ErrorReport>,
    pub stability: StabilityReport,
}

/// The 95 % confidence interval of a rate: from value - half_width to value + half_width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ci95 {
    /// Half the width of the interval, per second: the rate is known to within plus or minus this.
    pub half_width: f64,
    /// Effective number of samples: the number of independent slots of 100 ms with as much
    /// information as the run's slots, which are autocorrelated.
    pub n_effective: f64,
    /// Length that a run needs at least for an interval of ±1 %, in seconds: more if the system
    /// changes too slowly for this run to show it. Absent if slow waves are seen, if the run
    /// stalled, if the plan changes the rate, and in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_to_1_percent: Option<f64>,
    /// Statement about errors that the interval does not include, such as those between runs.
    pub note: String,
}

/// A primary metric of a workload: a rate, or a figure that the workload computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimaryMetricReport {
    /// Title of the metric on pages, such as `NOPM`.
    pub title: String,
    /// Value of the metric; null if nothing was measured, or the workload has not computed it.
    pub value: Option<f64>,
    /// Half the width of the 95 % CI of `value` within this run, in the metric's own unit; null
    /// with a `reason`.
    #[serde(default)]
    pub half_width: Option<f64>,
    /// Reason why `value` or `half_width` is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Direction in which the metric is better; absent in older runs, where its name tells the
    /// direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// Numbers of transactions by outcome: offered = finished + failed + dropped + unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountsReport {
    /// Number of transactions that were intended, whatever became of them.
    pub offered: u64,
    /// Transactions that committed, rolled back by design, or ended with an error that the plan
    /// ignores.
    pub finished: u64,
    /// Finished transactions that committed.
    pub committed: u64,
    /// Finished transactions that were rolled back by design.
    pub rolled_back: u64,
    /// Finished transactions that ended with one of the plan's `ignore_errors`; absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// Transactions that failed after all attempts.
    pub failed: u64,
    /// Transactions that never began, because the queue was full.
    pub dropped: u64,
    /// Transactions that were queued or running at the end of the run.
    pub unfinished: u64,
    /// Attempts beyond the first, summed over all transactions.
    pub retried: u64,
    /// Failed transactions that may have committed, such as those whose connection broke during
    /// COMMIT.
    pub unknown: u64,
    /// Transactions intended in the ramp-up that were still queued or running when the measured
    /// phase began; 0 in the counts of the ramp-up itself.
    #[serde(alias = "carried_in")]
    pub backlog_at_start: u64,
}

impl AddAssign for CountsReport {
    fn add_assign(&mut self, other: CountsReport) {
        self.offered += other.offered;
        self.finished += other.finished;
        self.committed += other.committed;
        self.rolled_back += other.rolled_back;
        self.ignored += other.ignored;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.unfinished += other.unfinished;
        self.retried += other.retried;
        self.unknown += other.unknown;
        self.backlog_at_start += other.backlog_at_start;
    }
}

impl CountsReport {
    /// Returns the share of offered transactions that failed or were dropped, in percent; 0 if none
    /// were offered.
    pub fn lost_percent(&self) -> f64 {
        (self.failed + self.dropped) as f64 / self.offered.max(1) as f64 * 100.0
    }
}

/// Mean amounts per transaction that ended in the measured window, all attempts included. Fields
/// are null if no transaction ended in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerTransaction {
    /// Round trips (requests for whose reply the client waited) per transaction; null if no
    /// transaction ended.
    pub round_trips: Option<f64>,
    /// Statements of every kind (reads + writes + others) per transaction; null if no transaction
    /// ended.
    pub statements: Option<f64>,
    pub reads: Option<f64>,
    pub writes: Option<f64>,
    /// Other statements than reads and writes, such as BEGIN and COMMIT, per transaction; null if
    /// no transaction ended.
    pub others: Option<f64>,
    /// Bytes sent and received by the client, per transaction; null if no transaction ended.
    pub bytes: Option<f64>,
    /// Rows read or changed, per transaction; null if none were counted, and in older runs.
    #[serde(default)]
    pub rows: Option<f64>,
}

/// Figures of a transaction type in the measured phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactionReport {
    /// Transactions that began and ended: finished + failed.
    pub calls: u64,
    /// Transactions that committed, or rolled back by design.
    pub finished: u64,
    /// Transactions that failed after all attempts.
    pub failed: u64,
    /// Transactions that never began, because the queue was full.
    pub dropped: u64,
    /// Transactions that were queued or running at the end of the run.
    pub unfinished: u64,
    /// Attempts beyond the first, summed over all transactions.
    pub retried: u64,
    /// Commits in the measured window, per second; null if nothing was measured.
    pub tps: Option<f64>,
    /// Half the width of the 95 % CI of `tps` within this run; absent if the run has too few
    /// seconds, or these are too strongly autocorrelated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_half_width: Option<f64>,
    /// Sum of the service times (time with the database) of finished transactions.
    pub total_ms: f64,
    /// Share of the type in the sum of `total_ms` over all types, in percent; null if the sum is 0.
    pub ratio_percent: Option<f64>,
    /// Round trips per transaction that ended in the measured window (in older runs, in ramp-up or
    /// measured phase); null if none ended.
    pub round_trips: Option<f64>,
    /// Statements that read, per transaction that ended in the measured window (in older runs, in
    /// ramp-up or measured phase); null if none ended.
    pub reads: Option<f64>,
    /// Statements that write, per transaction that ended in the measured window (in older runs, in
    /// ramp-up or measured phase); null if none ended.
    pub writes: Option<f64>,
    /// Other statements, such as COMMIT, per transaction that ended in the measured window (in
    /// older runs, in ramp-up or measured phase); null if none ended.
    #[serde(default)]
    pub others: Option<f64>,
    /// Response times of finished transactions: from the intended start to the last reply.
    pub response_ms: Latency,
    /// Shares of all offered transactions with response times below bounds in nanoseconds; empty in
    /// older runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientReport {
    /// Index of the client over all groups, counted from 0.
    pub client: u32,
    /// Figures of the measured phase, by transaction type.
    pub transactions: Named<ClientTransaction>,
}

/// Figures of a transaction type of one client. Times are response times of finished transactions,
/// in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientTransaction {
    /// Transactions that began and ended: finished + failed.
    pub calls: u64,
    /// Transactions that failed after all attempts.
    pub failed: u64,
    pub min_ms: Option<f64>,
    pub mean_ms: Option<f64>,
    /// Median response time; like the other quantiles, it is exact to within 3.2 %. Null with too
    /// few samples, and in runs of more than 1,000 clients.
    #[serde(default)]
    pub p50_ms: Option<f64>,
    #[serde(default)]
    pub p95_ms: Option<f64>,
    #[serde(default)]
    pub p99_ms: Option<f64>,
    pub max_ms: Option<f64>,
    pub total_ms: f64,
    pub sd_ms: Option<f64>,
}

/// A custom metric of a workload, over the measured phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomMetricReport {
    pub unit: String,
    /// Direction in which the metric is better; absent in older runs, where its name tells the
    /// direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
    /// Number of recorded values.
    pub count: u64,
    /// Sum of the recorded values.
    pub sum: u64,
    pub mean: Option<f64>,
    /// Median of the recorded values; null for a counter, or with a reason in `reasons`.
    pub p50: Option<f64>,
    /// 90th percentile of the recorded values; null for a counter, with a reason in `reasons`, and
    /// in older runs.
    #[serde(default)]
    pub p90: Option<f64>,
    /// 99th percentile of the recorded values; null for a counter, or with a reason in `reasons`.
    pub p99: Option<f64>,
    /// Largest recorded value; null for a counter, or if nothing was recorded.
    pub max: Option<f64>,
    /// Reasons why quantiles are null, by name of the quantile.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub reasons: Named<String>,
    /// Half the width of the 95 % CI of the sum per second, within this run; null with a reason in
    /// `interval_reasons`, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second_half_width: Option<f64>,
    /// Half the width of the 95 % CI of `mean` within this run; null with a reason in
    /// `interval_reasons`, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_half_width: Option<f64>,
    /// The 95 % CI of each quantile within this run: its low and high end, by name of the quantile.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub intervals: Named<(f64, Option<f64>)>,
    /// Reasons why `per_second`, `mean` or a quantile has no confidence interval, by the figure's
    /// name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub interval_reasons: Named<String>,
    /// Percentage of the recorded values below each bound of two digits, such as 1.1 or 25 ms;
    /// empty for a counter and in older runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
}

/// Errors of the same kind with the same error number and SQLSTATE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    pub kind: String,
    /// Error number that the database product gave, such as 1213 for a deadlock in MySQL.
    pub code: i64,
    /// The SQLSTATE of five characters; empty if the product has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sqlstate: String,
    /// The message of the first of these errors.
    pub message: String,
    pub count: u64,
    /// Number of them that the plan ignores; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Resources that the generator used. CPU time, statements and bytes are those of the measured
/// phase; memory is the maximum of the whole process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientCost {
    /// CPU time of the generator's process, including that of an embedded database.
    pub cpu_seconds: f64,
    /// CPU time of the generator's producers (threads that prepare the data which clients send);
    /// absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer_cpu_seconds: Option<f64>,
    /// CPU time of all threads of the generator except producers, in microseconds per statement;
    /// null if there were no statements.
    pub cpu_us_per_query: Option<f64>,
    pub queries: u64,
    pub max_rss_bytes: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// Bytes written to connections.
    pub bytes_out: u64,
}

/// Results of the consistency checks of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// Results of the checks before the load; null if they were not made.
    pub before: Option<Vec<CheckReport>>,
    /// Results of the checks after the load; null if they were not made.
    pub after: Option<Vec<CheckReport>>,
}

/// The result of a consistency check of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    pub id: String,
    /// The condition that the data must fulfil, in words.
    pub title: String,
    /// Number of rows that violate the condition.
    pub failed: u64,
    /// The first rows that violate the condition, in words.
    pub examples: Vec<String>,
}

/// Comparison of two counts of a transaction type's commits over the whole run: the database's own
/// and the generator's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrosscheckReport {
    /// Name of the transaction type, as in the field `transactions` of the report.
    pub transaction: String,
    /// Growth of the database's own count of commits during the run.
    pub change: i64,
    /// Commits that the generator counted, including ramp-up and drain.
    pub committed: u64,
    /// Number of transactions with an unknown outcome, which may have committed.
    pub unknown: u64,
    /// True if both counts agree: committed <= change <= committed + unknown.
    pub matches: bool,
}

/// Figures of one second of a group. Counts by outcome and response times are those of transactions
/// intended in the second; commits, statements, rows and bytes are those of transactions that ended
/// in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondReport {
    /// Index of the second, from 0 at the start of the measured phase; negative in the ramp-up.
    pub second: i64,
    pub group: String,
    /// Number of transactions that were intended in this second.
    pub offered: u64,
    /// Transactions intended in this second that committed, or rolled back by design.
    pub finished: u64,
    /// Transactions intended in this second that failed after all attempts.
    pub failed: u64,
    /// Transactions intended in this second that never began, because the queue was full.
    pub dropped: u64,
    /// Commits that finished in this second.
    pub commits: u64,
    /// Commits per second: more than `commits` in the last second of a run, if it is not whole.
    pub tps: f64,
    /// Median response time. Null if no transaction intended in this second finished, or if some
    /// were reported more than half an hour late: for so old a second only count and maximum are
    /// kept.
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    /// 99th percentile of the response times, close to the maximum with few samples; null where
    /// `p50_ms` is null.
    pub p99_ms: Option<f64>,
    pub max_ms: Option<f64>,
    pub reads: u64,
    pub writes: u64,
    /// Other statements than reads and writes that ended in this second, such as BEGIN and COMMIT.
    pub others: u64,
    /// Rows that statements of transactions which ended in this second read or changed.
    #[serde(default)]
    pub rows: u64,
    /// Bytes sent and received by clients for transactions that ended in this second.
    #[serde(default)]
    pub bytes: u64,
    /// Number of transactions that waited for a free client at the end of the second; null except
    /// in open load.
    #[serde(default)]
    pub waiting: Option<u64>,
}

#[cfg(test)]
mod tests;
