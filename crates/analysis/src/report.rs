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
    CpuProfileReport, Facts, Finding, Load, NOT_CHECKED, ReportField, ServerSummary, StopCondition,
    SummaryOf, read_facts,
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
    NOT_IN_THE_SUM, SAMPLES_LEAST, TimePart, TimeProfile, is_of_samples, part_title,
};
pub use times::{ConnectTimes, LagTimes, Latency};
pub(crate) use times::{ONE_NUMBER, too_short};

/// The schema of [`Report`].
pub const SCHEMA: &str = "dbdyno.run/1";

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It goes on, or nobody knows how it ended. Its figures are provisional.
    Running,
    /// Time or count was reached.
    Completed,
    /// Somebody interrupted it.
    Interrupted,
    /// It could not go on.
    Failed,
    /// The queue was full, and the plan asked to stop then.
    QueueFull,
}

impl Status {
    /// As in JSON.
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
    /// [`SCHEMA`].
    pub schema: String,
    /// The run's name for ever.
    pub run_id: String,
    /// The plan's name.
    pub name: String,
    /// How it stands.
    pub status: Status,
    /// Why it ended so, where there is more to say.
    pub reason: Option<String>,
    /// The workload, or those of all groups with ` + ` between.
    pub workload: String,
    /// The target's URL, without a password.
    pub target: String,
    /// Product and version.
    pub database: String,
    /// Modes that every result names.
    pub modes: Vec<String>,
    /// All randomness comes from this.
    pub seed: u64,
    /// Clients of all groups.
    pub clients: u32,
    /// Where they live: `thread`, `loop` or `simulated`.
    pub placement: String,
    /// How load is offered; null where groups differ.
    pub load: Option<Load>,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// Our own version and build.
    pub dbdyno: String,
    /// How long each phase was to last.
    pub phases: PhasesReport,
    /// The measured window as it was; rates are over this.
    pub measured_seconds: f64,
    /// From the first instant of load to the last reply; null while running.
    pub elapsed_seconds: Option<f64>,
    /// The figures of all groups together.
    #[serde(flatten)]
    pub block: Block,
    /// How late the generator's event loops were; empty where clients live on threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopReport>,
    /// What the run cost the generator; null while running.
    pub client: Option<ClientCost>,
    /// Checks of the data.
    pub checks: Checks,
    /// The database's own count of commits against ours.
    pub crosschecks: Vec<CrosscheckReport>,
    /// Second by second and group by group; the ramp-up's are negative.
    pub seconds: Vec<SecondReport>,
    /// The measured phase in intervals of `report_interval`.
    #[serde(default)]
    #[serde(alias = "probes")]
    pub intervals: Vec<IntervalReport>,
    /// What was done to the database meanwhile, and what that did, in the order of time.
    #[serde(default)]
    pub disturbances: Vec<DisturbanceReport>,
    /// What was read around it once a second, in the order of what it is about.
    #[serde(default)]
    pub gauges: Vec<GaugeReport>,
    /// Where the time of a transaction went; absent where the server's sessions were not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_profile: Option<TimeProfile>,
    /// Why there is none, although the server's sessions were sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_profile_reason: Option<String>,
    /// Stretches of seconds in which throughput fell or response times rose, and what moved then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dips: Vec<Dip>,
    /// Statistics of the server over the load; while the run is in progress, over the last seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<ServerSummary>,
    /// Where CPU time of server and generator went; empty unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_profiles: Vec<CpuProfileReport>,
    /// How many transactions took how long, over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_heat: Option<model::LatencyHeat>,
    /// Commits of each type in each second, where there are several types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits_by_type: Vec<TypeSeconds>,
    /// What was in force at the server for new sessions before the load, by name; empty where
    /// nothing tells.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub settings: Named<String>,
    /// What was observed, by what it is about and by name.
    #[serde(deserialize_with = "read_facts")]
    pub facts: Facts,
    /// What is to be thought of the result, most severe first.
    pub findings: Vec<Finding>,
    /// Deviations from standards, and what else a reader must know.
    #[serde(alias = "declarations")]
    pub notes: Vec<String>,
    /// What the standard that a workload is derived from requires itself, and whether it holds:
    /// one for each group whose workload has one.
    #[serde(default)]
    pub disclosures: Vec<Disclosure>,
    /// The plan as decided, in TOML.
    pub plan: String,
    /// The groups.
    pub groups: Vec<GroupReport>,
    /// What was said to the user.
    #[serde(default)]
    pub output: Vec<String>,
}

impl Report {
    /// How many samples of the server's sessions stand behind the parts of the time; none if its
    /// sessions were not sampled.
    pub fn session_samples(&self) -> Option<u64> {
        self.server.iter().find(|of| of.of == SummaryOf::Samples)?.samples()
    }

    /// What is reported second by second, by kind and by gauge: half of a report, and no part of
    /// what whole runs are compared by.
    pub const AT_LENGTH: [ReportField; 6] = [
        ("seconds", "[]"),
        ("commits_by_type", "[]"),
        ("intervals", "[]"),
        ("latency_heat", "null"),
        ("gauges", "[]"),
        ("transactions", "{}"),
    ];

    /// The disclaimer that belongs beside every figure of the run, such as "not a TPC-C result".
    pub fn notice(&self) -> Option<&str> {
        let first = self.notes.first()?;
        (!first.starts_with(NOT_CHECKED)).then_some(first.as_str())
    }
    /// What is reported second by second alone: comparisons need all else.
    pub const SERIES: [ReportField; 4] = [
        ("seconds", "[]"),
        ("commits_by_type", "[]"),
        ("intervals", "[]"),
        ("latency_heat", "null"),
    ];
    /// What no history shows: words of a single run, and shares below bounds unless they are asked
    /// for.
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
    /// All settings of the server, for those who ask for the plan and its facts alone.
    pub const SETTINGS: [ReportField; 1] = [("settings", "{}")];
}

/// How many transactions of a type were committed in each second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeSeconds {
    /// The type, called as in `transactions`.
    pub transaction: String,
    /// The first second; those of the ramp-up are negative.
    pub from_s: i64,
    /// Commits in it and in those after it.
    pub commits: Vec<u64>,
}

/// The heartbeats of an event loop of the generator: how late it came to what was due every 10 ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopReport {
    /// How late, in microseconds.
    pub heartbeat_lag_us: LagTimes,
    /// When the latest was due, in seconds of the measured phase.
    pub latest_at_s: f64,
}

/// How long each phase was to last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasesReport {
    /// Load that is not measured.
    pub ramp_up_s: f64,
    /// Load that is measured; 0 where only a count decides.
    pub measure_s: f64,
    /// The limit for what is under way to end.
    pub drain_s: f64,
}

/// A group, and its own figures where there is more than one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupReport {
    /// Its name.
    pub name: String,
    /// Its workload.
    pub workload: String,
    /// How many clients.
    pub clients: u32,
    /// Among how many processes of their own they were divided; 0 where they lived in dbdyno's own.
    #[serde(default)]
    pub processes: u32,
    /// How load is offered.
    pub load: Load,
    /// When it was done.
    #[serde(alias = "until")]
    pub stop_condition: StopCondition,
    /// The workload's parameters as decided.
    pub parameters: Named<String>,
    /// What rate the plan itself allows, in key/think load.
    pub closed_form: Option<String>,
    /// Its figures; absent where it is the only group and they are the run's.
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
    /// Why `tps_ci95` is null.
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
    /// New orders a minute; null where the workload has none.
    pub nopm: Option<f64>,
    /// Transactions a minute; null where the workload is not known by it.
    pub tpm: Option<f64>,
    /// All rates that the workload is known by.
    #[serde(alias = "headlines")]
    pub primary_metrics: Named<PrimaryMetricReport>,
    /// What became of everything that was intended in the measured phase.
    pub counts: CountsReport,
    /// What became of everything that was intended in the ramp-up.
    pub ramp_up_counts: CountsReport,
    /// The longest response time of the backlog at start (its age, if it never
    /// ended), which is in no figure of the measured phase; null if nothing was.
    #[serde(default)]
    pub backlog_at_start_max_ms: Option<f64>,
    /// From the intended instant to the last reply, of finished transactions.
    pub response_ms: Latency,
    /// Time with the database, all attempts included, of finished transactions.
    pub service_ms: Latency,
    /// Time until a client was free, of finished transactions.
    pub wait_ms: Latency,
    /// Response times of all that was offered, in which unfinished work counts at least its age
    /// and dropped or failed work is infinite.
    pub offered_ms: Latency,
    /// Which share of all that was offered was answered within how many nanoseconds; empty in older
    /// runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
    /// Response times of failed transactions.
    pub failed_ms: Latency,
    /// The generator's own lateness.
    pub lag_us: LagTimes,
    /// How long replies lay in the generator's sockets before it read them.
    #[serde(default)]
    pub reply_lag_us: ReplyLagReport,
    /// How long connecting took.
    pub connect_ms: ConnectTimes,
    /// What a transaction takes on average, over all kinds.
    #[serde(default)]
    pub per_transaction: PerTransaction,
    /// By kind, in the workload's order; `group.kind` where there is more than one group.
    pub transactions: Named<TransactionReport>,
    /// By client and kind; null unless asked for.
    pub per_client: Option<Vec<ClientReport>>,
    /// The workload's own measures.
    #[serde(alias = "measures")]
    pub custom_metrics: Named<CustomMetricReport>,
    /// Errors of the measured phase, those of attempts that were retried among them.
    pub errors: Vec<ErrorReport>,
    /// Errors of the ramp-up.
    #[serde(default)]
    pub ramp_up_errors: Vec<ErrorReport>,
    /// How steady it was.
    pub stability: StabilityReport,
}

/// The 95 % interval of a rate: from value - half_width to value + half_width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ci95 {
    /// Half its width, per second.
    pub half_width: f64,
    /// How many independent slots of 100 ms would tell as much as those of the run.
    pub n_effective: f64,
    /// How long a run like this one would have to be for an interval of ±1 %, in seconds; absent
    /// in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_to_1_percent: Option<f64>,
    /// What it does not contain.
    pub note: String,
}

/// A rate that a workload is known by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimaryMetricReport {
    /// Its name on the page.
    pub title: String,
    /// Its value; null if nothing was measured.
    pub value: Option<f64>,
    /// Half the width of its 95 % interval within this run, in its own unit; null where `reason`
    /// says why.
    #[serde(default)]
    pub half_width: Option<f64>,
    /// Why it has no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of transactions: offered = finished + failed + dropped + unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountsReport {
    /// All that was asked of the system.
    pub offered: u64,
    /// Committed, or rolled back by design.
    pub finished: u64,
    /// Of the finished.
    pub committed: u64,
    /// Of the finished: rolled back by design.
    pub rolled_back: u64,
    /// Refused after all attempts.
    pub failed: u64,
    /// Never begun, since the queue was full.
    pub dropped: u64,
    /// Begun or queued, and not ended when the run was.
    pub unfinished: u64,
    /// Attempts beyond the first.
    pub retried: u64,
    /// Of the failed: the connection broke during COMMIT.
    pub unknown: u64,
    /// Intended in the ramp-up, and still with us when the measured phase began. 0 in the
    /// counts of the ramp-up itself.
    #[serde(alias = "carried_in")]
    pub backlog_at_start: u64,
}

impl CountsReport {
    /// What failed or was dropped of all that was offered, in percent; 0 if nothing was.
    pub fn lost_percent(&self) -> f64 {
        (self.failed + self.dropped) as f64 / self.offered.max(1) as f64 * 100.0
    }
}

/// What a transaction takes on average: a mean over those that ended in the measured window,
/// whenever they were intended; attempts that were retried are in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerTransaction {
    /// Times that something went out and its answer was waited for.
    pub round_trips: Option<f64>,
    /// Statements of every kind: reads + writes + others.
    pub statements: Option<f64>,
    /// Statements that read.
    pub reads: Option<f64>,
    /// Statements that write.
    pub writes: Option<f64>,
    /// Other statements: BEGIN, COMMIT.
    pub others: Option<f64>,
    /// Bytes sent and received.
    pub bytes: Option<f64>,
    /// Rows read or changed; null where there are none, and in older runs.
    #[serde(default)]
    pub rows: Option<f64>,
}

/// One kind of transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactionReport {
    /// Begun and ended: finished + failed.
    pub calls: u64,
    /// Committed, or rolled back by design.
    pub finished: u64,
    /// Refused after all attempts.
    pub failed: u64,
    /// Never begun, since the queue was full.
    pub dropped: u64,
    /// Not ended when the run was.
    pub unfinished: u64,
    /// Attempts beyond the first.
    pub retried: u64,
    /// Commits in the measured window, per second.
    pub tps: Option<f64>,
    /// Half the width of its 95 % interval within this run; absent where seconds are too few, or
    /// depend on each other too much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_half_width: Option<f64>,
    /// The sum of the service times of the finished ones.
    pub total_ms: f64,
    /// Its share of the `total_ms` of all kinds.
    pub ratio_percent: Option<f64>,
    /// Round trips a transaction, over ramp-up and measured phase.
    pub round_trips: Option<f64>,
    /// Reading statements per transaction, over ramp-up and measured phase.
    pub reads: Option<f64>,
    /// Writing statements per transaction, over ramp-up and measured phase.
    pub writes: Option<f64>,
    /// Other statements per transaction, over ramp-up and measured phase.
    #[serde(default)]
    pub others: Option<f64>,
    /// From the intended instant to the last reply, of finished transactions.
    pub response_ms: Latency,
    /// Which share of all that was offered was answered within how many nanoseconds; empty in older
    /// runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
}

/// One client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientReport {
    /// Its index over all groups.
    pub client: u32,
    /// What it did in the measured phase, by kind.
    pub transactions: Named<ClientTransaction>,
}

/// One kind of transaction of one client: response times of what it finished.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientTransaction {
    /// Finished + failed.
    pub calls: u64,
    /// Refused after all attempts.
    pub failed: u64,
    /// The shortest.
    pub min_ms: Option<f64>,
    /// Their mean.
    pub mean_ms: Option<f64>,
    /// Half of them are shorter: within 3.2 %, as the other quantiles. None of too few, and of
    /// more than 1,000 clients.
    #[serde(default)]
    pub p50_ms: Option<f64>,
    /// 95 % of them are shorter.
    #[serde(default)]
    pub p95_ms: Option<f64>,
    /// 99 % of them are shorter.
    #[serde(default)]
    pub p99_ms: Option<f64>,
    /// The longest.
    pub max_ms: Option<f64>,
    /// Their sum.
    pub total_ms: f64,
    /// Their standard deviation.
    pub sd_ms: Option<f64>,
}

/// A measure of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomMetricReport {
    /// Its unit.
    pub unit: String,
    /// How often it was recorded.
    pub count: u64,
    /// The sum of what was recorded.
    pub sum: u64,
    /// Its mean.
    pub mean: Option<f64>,
    /// Its median; null for a counter.
    pub p50: Option<f64>,
    /// 90 % are at or below it; null for a counter and in older runs.
    #[serde(default)]
    pub p90: Option<f64>,
    /// 99 % are at or below it; null for a counter.
    pub p99: Option<f64>,
    /// The largest; null for a counter.
    pub max: Option<f64>,
    /// Why a quantile is null, by its name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub reasons: Named<String>,
    /// Half the width of the 95 % interval of its sum per second, within this run; null where
    /// `interval_reasons` says why, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second_half_width: Option<f64>,
    /// The same of its mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_half_width: Option<f64>,
    /// The 95 % interval of each quantile within this run.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub intervals: Named<(f64, Option<f64>)>,
    /// Why `per_second`, `mean` or a quantile has no interval, by its name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub interval_reasons: Named<String>,
    /// Which share of its records lies below which numbers; empty for a counter and in older runs.
    #[serde(default, skip_serializing_if = "Shares::is_empty")]
    pub shares: Shares,
}

/// Errors of one kind and number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// What it means.
    pub kind: String,
    /// The product's number.
    pub code: i64,
    /// The standard's five letters; empty where the product has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sqlstate: String,
    /// The words of the first of them.
    pub message: String,
    /// How many.
    pub count: u64,
}

/// How steady the commits were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StabilityReport {
    /// The coefficient of variation of the commits per second.
    pub cv: Option<f64>,
    /// The whole second with the fewest commits.
    pub slowest_second: Option<SlowestSecond>,
    /// Stretches of 200 ms or more with (nearly) no commits.
    pub stalls: u64,
    /// The longest of them.
    pub longest_stall_ms: f64,
    /// All of them together.
    pub stalled_ms: f64,
    /// The median of whole seconds.
    pub median_tps: Option<f64>,
    /// When the longest stalls began, in seconds of the measured phase, and how long each was.
    #[serde(default)]
    pub longest_stalls: Vec<StallReport>,
}

/// A second and its commits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowestSecond {
    /// Which, from the beginning of the measured phase.
    pub second: i64,
    /// Its commits.
    pub tps: f64,
}

/// A stretch with (nearly) no commits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StallReport {
    /// When it began.
    pub at_s: f64,
    /// How long it was.
    pub ms: f64,
}

/// What the measured phase cost the generator: its CPU, statements and bytes are of this phase
/// alone, memory is the most that the process ever had.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientCost {
    /// CPU time of its process; with an embedded database, that of the database too.
    pub cpu_seconds: f64,
    /// What of it the threads had that make what clients send; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer_cpu_seconds: Option<f64>,
    /// The CPU time of all others, for each statement.
    pub cpu_us_per_query: Option<f64>,
    /// Statements.
    pub queries: u64,
    /// The most memory resident.
    pub max_rss_bytes: u64,
    /// Read from connections.
    pub bytes_in: u64,
    /// Written to connections.
    pub bytes_out: u64,
}

/// Checks of the data; null where none was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// Before the load.
    pub before: Option<Vec<CheckReport>>,
    /// After the load.
    pub after: Option<Vec<CheckReport>>,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Its short name.
    pub id: String,
    /// What must hold.
    pub title: String,
    /// How many rows break it.
    pub failed: u64,
    /// The first of these, in words.
    pub examples: Vec<String>,
}

/// The database's own count of commits against ours, over the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrosscheckReport {
    /// The kind, as in `transactions`.
    pub transaction: String,
    /// By how much the database's count grew.
    pub change: i64,
    /// Commits that we counted.
    pub committed: u64,
    /// Outcomes that nobody knows.
    pub unknown: u64,
    /// Whether committed <= change <= committed + unknown.
    pub matches: bool,
}

/// One second of one group. Counts and times belong to the second of the intended instant;
/// commits and statements to that of the finish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondReport {
    /// Which, from the beginning of the measured phase; the ramp-up's are negative.
    pub second: i64,
    /// The group's name.
    pub group: String,
    /// All that was asked of the system.
    pub offered: u64,
    /// Committed, or rolled back by design.
    pub finished: u64,
    /// Refused after all attempts.
    pub failed: u64,
    /// Never begun, since the queue was full.
    pub dropped: u64,
    /// Commits that finished in it.
    pub commits: u64,
    /// The same per second: more than `commits` where the last second is a part of one.
    pub tps: f64,
    /// The median of response times; null if none finished, or late ones came after half an
    /// hour, when only their count and the maximum could be kept.
    pub p50_ms: Option<f64>,
    /// 95 % are at or below it.
    pub p95_ms: Option<f64>,
    /// 99 % are at or below it. Of few samples it is close to the maximum.
    pub p99_ms: Option<f64>,
    /// The longest.
    pub max_ms: Option<f64>,
    /// Statements that read.
    pub reads: u64,
    /// Statements that write.
    pub writes: u64,
    /// Other statements.
    pub others: u64,
    /// Rows read or changed.
    #[serde(default)]
    pub rows: u64,
    /// Bytes sent and received.
    #[serde(default)]
    pub bytes: u64,
    /// How many were due and waited for a free client when it had just ended; null in other than
    /// open load.
    #[serde(default)]
    pub waiting: Option<u64>,
}

#[cfg(test)]
mod tests;
