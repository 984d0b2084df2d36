//! The report of a run: everything that is printed, drawn or compared, as one value, and the
//! JSON that others read (`--output json`).
//!
//! The schema is `dbdyno.run/1` and is only ever added to: fields are not renamed, removed or
//! given another meaning; what is added has a default, so that old files are read for ever.
//! Times are milliseconds (microseconds for lag) to the nanosecond, rates are per second.
//!
//! **A number that is not known is `null`, never 0 or a guess.** For a quantile, `reasons` beside
//! it says why under its name: there are too few samples for a finite 95 % interval; or it falls
//! among unfinished work, and only a lower bound is known (a number in `at_least`); or it falls
//! among lost work and is infinite (listed in `infinite`).
//!
//! Not here: how a run is added up (tally), and how the report looks (render).

mod build;
mod counts;
mod dips;
mod disclosure;
mod disturbances;
mod gauges;
mod intervals;
mod per_transaction;
mod reply_lag;
mod shares;
mod time_profile;
mod times;

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
pub use gauges::GaugeReport;
pub use intervals::IntervalReport;
pub use model::{Cause, Named};
pub use reply_lag::{ReplyLagReport, ServiceSplit};
pub use shares::Shares;
pub(crate) use shares::two_digits;
pub use time_profile::{
    OUTSIDE_SERVICE, SAMPLES_LEAST, TimePart, TimeProfile, is_of_samples, part_title,
};
pub use times::{ConnectTimes, LagTimes, Latency};
pub(crate) use times::{ONE_NUMBER, too_short};

/// The schema of [`Report`].
pub const SCHEMA: &str = "dbdyno.run/1";

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In progress, or ended without a record. Figures are provisional.
    Running,
    /// The time limit or a count was reached.
    Completed,
    /// The user interrupted it.
    Interrupted,
    /// An error ended it.
    Failed,
    /// The queue was full, and the plan asked to stop then.
    QueueFull,
}

impl Status {
    /// Returns the name in JSON.
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

/// The report of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the schema, [`SCHEMA`].
    pub schema: String,
    /// The run's permanent id.
    pub run_id: String,
    pub name: String,
    pub status: Status,
    /// Reason of the status, if there is more to say.
    pub reason: Option<String>,
    /// The workload, or those of all groups joined with ` + `.
    pub workload: String,
    /// The target's URL, without a password.
    pub target: String,
    pub database: String,
    /// Modes that every result names.
    pub modes: Vec<String>,
    /// The seed of all randomness.
    pub seed: u64,
    /// Number of clients of all groups.
    pub clients: u32,
    /// The placement of clients: `thread`, `loop` or `simulated`.
    pub placement: String,
    /// The load that is offered; null if groups differ.
    pub load: Option<Load>,
    /// Start time: RFC 3339, UTC.
    pub started: String,
    /// Version and build of dbdyno.
    pub dbdyno: String,
    /// Planned lengths of the phases.
    pub phases: PhasesReport,
    /// Actual length of the measured window; rates are over this.
    pub measured_seconds: f64,
    /// Time from the beginning of the load to the last reply; null while running.
    pub elapsed_seconds: Option<f64>,
    /// The figures of all groups together.
    #[serde(flatten)]
    pub block: Block,
    /// Lateness of the generator's event loops; empty if clients are on threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopReport>,
    /// Resources that the generator used; null while running.
    pub client: Option<ClientCost>,
    /// Checks of the data.
    pub checks: Checks,
    /// The database's own count of commits, compared with the generator's.
    pub crosschecks: Vec<CrosscheckReport>,
    /// Figures by second and group; the ramp-up's seconds are negative.
    pub seconds: Vec<SecondReport>,
    /// The measured phase in intervals of `report_interval`.
    #[serde(default)]
    #[serde(alias = "probes")]
    pub intervals: Vec<IntervalReport>,
    /// Disturbances of the database and their effects, in the order of time.
    #[serde(default)]
    pub disturbances: Vec<DisturbanceReport>,
    /// Gauges read once per second, ordered by subject.
    #[serde(default)]
    pub gauges: Vec<GaugeReport>,
    /// Parts of the time of a transaction; absent if the server's sessions were not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_profile: Option<TimeProfile>,
    /// Reason why there is no time profile although the server's sessions were sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_profile_reason: Option<String>,
    /// Dips: seconds in which throughput fell or response times rose, with what else changed then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dips: Vec<Dip>,
    /// Statistics of the server over the load; while the run is in progress, over the last seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<ServerSummary>,
    /// CPU profiles of server and generator; empty unless requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_profiles: Vec<CpuProfileReport>,
    /// Heat map of response times: number of transactions by time and duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_heat: Option<model::LatencyHeat>,
    /// Commits of each type in each second, if there are several types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits_by_type: Vec<TypeSeconds>,
    /// Settings of the server for new sessions before the load, by name; empty if they cannot be
    /// read.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub settings: Named<String>,
    /// Observed facts, by subject and name.
    #[serde(deserialize_with = "read_facts")]
    pub facts: Facts,
    /// Findings on the result, the most severe first.
    pub findings: Vec<Finding>,
    /// Deviations from standards, and further remarks.
    #[serde(alias = "declarations")]
    pub notes: Vec<String>,
    /// The requirements of the standard from which a workload is derived, and whether they are met:
    /// one for each group whose workload has one.
    #[serde(default)]
    pub disclosures: Vec<Disclosure>,
    /// The plan as decided, in TOML.
    pub plan: String,
    pub groups: Vec<GroupReport>,
    /// Output of the run to the user.
    #[serde(default)]
    pub output: Vec<String>,
}

impl Report {
    /// Returns true if the database runs in the generator's process, so that nothing travels
    /// between client and database.
    pub fn is_embedded(&self) -> bool {
        let is_simulated = self.fact("database", "seed").is_some();
        crate::host::is_embedded(&self.target, is_simulated)
    }

    /// Returns the number of samples of the server's sessions from which the time profile is made;
    /// `None` if they were not sampled.
    pub fn session_samples(&self) -> Option<u64> {
        self.server.iter().find(|of| of.of == SummaryOf::Samples)?.samples()
    }

    /// Fields with a value for each second, transaction type or gauge: half of a report, and not
    /// needed to compare whole runs.
    pub const AT_LENGTH: [ReportField; 6] = [
        ("seconds", "[]"),
        ("commits_by_type", "[]"),
        ("intervals", "[]"),
        ("latency_heat", "null"),
        ("gauges", "[]"),
        ("transactions", "{}"),
    ];

    /// Returns the disclaimer that belongs beside every figure of the run, such as "not a TPC-C
    /// result".
    pub fn notice(&self) -> Option<&str> {
        let first = self.notes.first()?;
        (!first.starts_with(NOT_CHECKED)).then_some(first.as_str())
    }
    /// Fields with a value for each second only: comparisons need all others.
    pub const SERIES: [ReportField; 4] = [
        ("seconds", "[]"),
        ("commits_by_type", "[]"),
        ("intervals", "[]"),
        ("latency_heat", "null"),
    ];
    /// Fields that no history shows: texts of a single run, and shares below bounds unless
    /// requested.
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
    /// The settings of the server, which queries for plan and facts alone leave out.
    pub const SETTINGS: [ReportField; 1] = [("settings", "{}")];
}

/// Commits of a transaction type in each second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeSeconds {
    /// The type, named as in `transactions`.
    pub transaction: String,
    /// The first second; those of the ramp-up are negative.
    pub from_s: i64,
    /// Commits in the first second and in each one after it.
    pub commits: Vec<u64>,
}

/// Heartbeats of an event loop of the generator: its lateness for timers that are due every 10 ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopReport {
    /// Lateness of heartbeats, in microseconds.
    pub heartbeat_lag_us: LagTimes,
    /// Due time of the latest heartbeat, in seconds of the measured phase.
    pub latest_at_s: f64,
}

/// Planned lengths of the phases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasesReport {
    /// Length of the load that is not measured.
    pub ramp_up_s: f64,
    /// Length of the load that is measured; 0 if only a count ends it.
    pub measure_s: f64,
    /// Time limit for unfinished transactions to end.
    pub drain_s: f64,
}

/// A group, with its own figures if there are several groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupReport {
    pub name: String,
    pub workload: String,
    pub clients: u32,
    /// Number of separate processes for the clients; 0 if they are in dbdyno's own.
    #[serde(default)]
    pub processes: u32,
    /// The load that is offered.
    pub load: Load,
    /// The condition that ends the group.
    #[serde(alias = "until")]
    pub stop_condition: StopCondition,
    /// The workload's parameters as decided.
    pub parameters: Named<String>,
    /// The rate that the plan itself allows, for a load with key and think times.
    pub closed_form: Option<String>,
    /// The figures; absent for the only group of a run, which has those of the run.
    #[serde(flatten)]
    pub block: Option<Block>,
}

/// The figures of the measured phase, of all groups or of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Commits that finished in the measured window, per second; null if nothing was measured.
    pub tps: Option<f64>,
    /// The error of `tps` within this run.
    pub tps_ci95: Option<Ci95>,
    /// Reason why `tps_ci95` is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_ci95_reason: Option<String>,
    /// Statements of the window per second: reads + writes + others.
    pub qps: Option<f64>,
    /// Statements that read, per second.
    pub reads_per_second: Option<f64>,
    /// Statements that write, per second.
    pub writes_per_second: Option<f64>,
    /// Other statements (BEGIN, COMMIT, DDL), per second.
    pub others_per_second: Option<f64>,
    /// Rows read or changed, per second; null where there are none, and in older runs.
    #[serde(default)]
    pub rows_per_second: Option<f64>,
    /// Bytes sent and received, per second; null of a database that is not reached by a connection.
    #[serde(default)]
    pub bytes_per_second: Option<f64>,
    /// New orders per minute; null if the workload has none.
    pub nopm: Option<f64>,
    /// Transactions per minute; null if this is not a metric of the workload.
    pub tpm: Option<f64>,
    /// All primary metrics of the workload.
    #[serde(alias = "headlines")]
    pub primary_metrics: Named<PrimaryMetricReport>,
    /// Outcomes of all transactions intended in the measured phase.
    pub counts: CountsReport,
    /// Outcomes of all transactions intended in the ramp-up.
    pub ramp_up_counts: CountsReport,
    /// The longest response time of the backlog at the start, or age if it never ended. It is in no
    /// figure of the measured phase; null without a backlog.
    #[serde(default)]
    pub backlog_at_start_max_ms: Option<f64>,
    /// Response time: from the intended start to the last reply, of finished transactions.
    pub response_ms: Latency,
    /// Service time: time with the database, including all attempts, of finished transactions.
    pub service_ms: Latency,
    /// Wait time: until a client was free, of finished transactions.
    pub wait_ms: Latency,
    /// Response times of all offered transactions. Unfinished ones count with at least their age;
    /// dropped and failed ones are infinite.
    pub offered_ms: Latency,
    /// Shares of all offered transactions by response time in nanoseconds; empty in older runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
    /// Response times of failed transactions.
    pub failed_ms: Latency,
    /// Lateness of the generator itself.
    pub lag_us: LagTimes,
    /// Time for which replies lay in the generator's sockets before it read them.
    #[serde(default)]
    pub reply_lag_us: ReplyLagReport,
    /// Time for connecting to the server.
    pub connect_ms: ConnectTimes,
    /// Averages per transaction, over all types.
    #[serde(default)]
    pub per_transaction: PerTransaction,
    /// Figures by transaction type, in the workload's order; named `group.type` if there are
    /// several groups.
    pub transactions: Named<TransactionReport>,
    /// Figures by client and type; null unless requested.
    pub per_client: Option<Vec<ClientReport>>,
    /// The workload's custom metrics.
    #[serde(alias = "measures")]
    pub custom_metrics: Named<CustomMetricReport>,
    /// Errors of the measured phase, including those of attempts that were retried.
    pub errors: Vec<ErrorReport>,
    /// Errors of the ramp-up.
    #[serde(default)]
    pub ramp_up_errors: Vec<ErrorReport>,
    pub stability: StabilityReport,
}

/// The 95 % interval of a rate: from value - half_width to value + half_width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ci95 {
    /// Half of its width, per second.
    pub half_width: f64,
    /// The number of independent slots of 100 ms that would have as much information as those of
    /// the run.
    pub n_effective: f64,
    /// The length of a run for an interval of ±1 %, in seconds; absent in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_to_1_percent: Option<f64>,
    /// The errors that it does not include.
    pub note: String,
}

/// A primary metric of a workload: a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimaryMetricReport {
    /// The name on the page.
    pub title: String,
    /// The value; null if nothing was measured.
    pub value: Option<f64>,
    /// Half the width of its 95 % CI within this run, in its own unit; null with a `reason`.
    #[serde(default)]
    pub half_width: Option<f64>,
    /// Reason why it has no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Direction in which it is better; absent in older runs, where the name decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// Outcomes of transactions: offered = finished + failed + dropped + unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountsReport {
    /// All transactions that were intended.
    pub offered: u64,
    /// Committed, or rolled back by design.
    pub finished: u64,
    /// Finished transactions that were committed.
    pub committed: u64,
    /// Finished transactions that were rolled back by design.
    pub rolled_back: u64,
    /// Failed transactions, after all attempts.
    pub failed: u64,
    /// Transactions that never began, because the queue was full.
    pub dropped: u64,
    /// Transactions begun or queued, and unfinished at the end of the run.
    pub unfinished: u64,
    /// Attempts beyond the first.
    pub retried: u64,
    /// Failed transactions whose connection broke during COMMIT.
    pub unknown: u64,
    /// Transactions intended in the ramp-up and unfinished when the measured phase began; 0 in the
    /// counts of the ramp-up itself.
    #[serde(alias = "carried_in")]
    pub backlog_at_start: u64,
}

impl CountsReport {
    /// Returns the share of offered transactions that failed or were dropped, in percent; 0 if none
    /// were offered.
    pub fn lost_percent(&self) -> f64 {
        (self.failed + self.dropped) as f64 / self.offered.max(1) as f64 * 100.0
    }
}

/// Averages per transaction that ended in the measured window, whenever it was intended; including
/// attempts that were retried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerTransaction {
    /// Number of requests for whose reply the client waited.
    pub round_trips: Option<f64>,
    /// Statements of every kind: reads + writes + others.
    pub statements: Option<f64>,
    pub reads: Option<f64>,
    pub writes: Option<f64>,
    /// Other statements: BEGIN, COMMIT.
    pub others: Option<f64>,
    /// Bytes sent and received.
    pub bytes: Option<f64>,
    /// Rows read or changed; null where there are none, and in older runs.
    #[serde(default)]
    pub rows: Option<f64>,
}

/// A transaction type of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactionReport {
    /// Transactions begun and ended: finished + failed.
    pub calls: u64,
    /// Transactions committed, or rolled back by design.
    pub finished: u64,
    /// Transactions that failed after all attempts.
    pub failed: u64,
    /// Transactions that never began, because the queue was full.
    pub dropped: u64,
    /// Transactions that were unfinished at the end of the run.
    pub unfinished: u64,
    /// Attempts beyond the first.
    pub retried: u64,
    /// Commits in the measured window, per second.
    pub tps: Option<f64>,
    /// Half the width of the 95 % CI within this run; absent if there are too few seconds, or they
    /// depend too much on each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_half_width: Option<f64>,
    /// Sum of the service times of finished transactions.
    pub total_ms: f64,
    /// Share of the `total_ms` of all types.
    pub ratio_percent: Option<f64>,
    /// Round trips per transaction, over ramp-up and measured phase.
    pub round_trips: Option<f64>,
    /// Reading statements per transaction, over ramp-up and measured phase.
    pub reads: Option<f64>,
    /// Writing statements per transaction, over ramp-up and measured phase.
    pub writes: Option<f64>,
    /// Other statements per transaction, over ramp-up and measured phase.
    #[serde(default)]
    pub others: Option<f64>,
    /// Response time: from the intended start to the last reply, of finished transactions.
    pub response_ms: Latency,
    /// Shares of all offered transactions by response time in nanoseconds; empty in older runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientReport {
    /// Index of the client over all groups.
    pub client: u32,
    /// Figures of the measured phase, by type.
    pub transactions: Named<ClientTransaction>,
}

/// A transaction type of one client, with the response times of finished transactions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientTransaction {
    /// Finished + failed transactions.
    pub calls: u64,
    /// Transactions that failed after all attempts.
    pub failed: u64,
    pub min_ms: Option<f64>,
    pub mean_ms: Option<f64>,
    /// The median, to within 3.2 % as the other quantiles. `None` with too few samples, and in runs
    /// of more than 1,000 clients.
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

/// A custom metric of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomMetricReport {
    pub unit: String,
    /// Direction in which it is better; absent in older runs, where the name decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
    /// Number of recorded values.
    pub count: u64,
    /// Sum of the recorded values.
    pub sum: u64,
    pub mean: Option<f64>,
    /// The median; null for a counter.
    pub p50: Option<f64>,
    /// The 90th percentile; null for a counter and in older runs.
    #[serde(default)]
    pub p90: Option<f64>,
    /// The 99th percentile; null for a counter.
    pub p99: Option<f64>,
    /// The largest value; null for a counter.
    pub max: Option<f64>,
    /// Reasons why quantiles are null, by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub reasons: Named<String>,
    /// Half the width of the 95 % CI of the sum per second, within this run; null with a reason in
    /// `interval_reasons`, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second_half_width: Option<f64>,
    /// Half the width of the 95 % CI of the mean, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_half_width: Option<f64>,
    /// The 95 % CI of each quantile within this run.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub intervals: Named<(f64, Option<f64>)>,
    /// Reasons why `per_second`, `mean` or a quantile has no interval, by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub interval_reasons: Named<String>,
    /// Shares of records below bounds; empty for a counter and in older runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
}

/// Errors of one kind and number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    pub kind: String,
    /// The error number of the product.
    pub code: i64,
    /// The SQLSTATE of five characters; empty if the product has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sqlstate: String,
    /// The message of the first of these errors.
    pub message: String,
    pub count: u64,
}

/// Steadiness of commits over the measured phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StabilityReport {
    /// The coefficient of variation of the commits per second.
    pub cv: Option<f64>,
    /// The whole second with the fewest commits.
    pub slowest_second: Option<SlowestSecond>,
    /// Number of stalls: 200 ms or more with (nearly) no commits.
    pub stalls: u64,
    /// Length of the longest stall.
    pub longest_stall_ms: f64,
    /// Total length of all stalls.
    pub stalled_ms: f64,
    /// Median of the commits in whole seconds.
    pub median_tps: Option<f64>,
    /// The longest stalls: start in seconds of the measured phase, and length.
    #[serde(default)]
    pub longest_stalls: Vec<StallReport>,
}

/// The second with the fewest commits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowestSecond {
    /// Index of the second, from the beginning of the measured phase.
    pub second: i64,
    pub tps: f64,
}

/// A stall: a time with (nearly) no commits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StallReport {
    /// Start in seconds of the measured phase.
    pub at_s: f64,
    pub ms: f64,
}

/// Resources that the generator used in the measured phase. CPU time, statements and bytes are of
/// this phase alone; memory is the maximum of the whole process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientCost {
    /// CPU time of the process; an embedded database is included.
    pub cpu_seconds: f64,
    /// CPU time of the threads that produce what clients send; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer_cpu_seconds: Option<f64>,
    /// CPU time of all other threads, per statement.
    pub cpu_us_per_query: Option<f64>,
    pub queries: u64,
    pub max_rss_bytes: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// Bytes written to connections.
    pub bytes_out: u64,
}

/// Checks of the data; null if there were none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// Results before the load.
    pub before: Option<Vec<CheckReport>>,
    /// Results after the load.
    pub after: Option<Vec<CheckReport>>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    pub id: String,
    /// The condition that must hold.
    pub title: String,
    /// Number of rows that violate it.
    pub failed: u64,
    /// The first of these rows, in words.
    pub examples: Vec<String>,
}

/// The database's own count of commits over the whole run, compared with the generator's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrosscheckReport {
    /// The transaction type, as in `transactions`.
    pub transaction: String,
    /// Growth of the database's count.
    pub change: i64,
    /// Commits that the generator counted.
    pub committed: u64,
    /// Transactions with an unknown outcome.
    pub unknown: u64,
    /// True if committed <= change <= committed + unknown.
    pub matches: bool,
}

/// A second of a group. Counts and times belong to the second of the intended start; commits and
/// statements to that of the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondReport {
    /// Index of the second, from the beginning of the measured phase; the ramp-up's are negative.
    pub second: i64,
    pub group: String,
    /// All transactions that were intended.
    pub offered: u64,
    /// Transactions committed, or rolled back by design.
    pub finished: u64,
    /// Transactions that failed after all attempts.
    pub failed: u64,
    /// Transactions that never began, because the queue was full.
    pub dropped: u64,
    /// Commits in this second.
    pub commits: u64,
    /// Commits per second: more than `commits` in a last second that is not whole.
    pub tps: f64,
    /// The median of response times; null if none finished, or if some arrived more than half an
    /// hour late, of which only count and maximum are kept.
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    /// The 99th percentile; with few samples it is close to the maximum.
    pub p99_ms: Option<f64>,
    pub max_ms: Option<f64>,
    pub reads: u64,
    pub writes: u64,
    /// Other statements: BEGIN, COMMIT.
    pub others: u64,
    /// Rows read or changed.
    #[serde(default)]
    pub rows: u64,
    /// Bytes sent and received.
    #[serde(default)]
    pub bytes: u64,
    /// Number of due transactions that waited for a free client at the end of the second; null
    /// except in open load.
    #[serde(default)]
    pub waiting: Option<u64>,
}

#[cfg(test)]
mod tests;
