//! The shared types of dbdyno, and the traits between its crates.
//!
//! Here: plan, target, statement, sample, second and event, and the traits with which drivers,
//! workloads and the engine work together ([`Session`], [`Database`], [`Workload`], [`Client`],
//! [`Clock`]). Not here: any socket, file, runtime, format or clock.

#![warn(missing_docs)]

mod acknowledged;
mod administration;
mod agent_share;
mod arrival_rate;
mod bucket_counts;
mod choice;
mod civil;
mod clock;
mod commit_risk;
mod control_chars;
mod counter;
mod cpu_profile;
mod database;
mod db_error;
mod dialect;
mod digits;
mod dip_cause;
mod direction;
mod disturbance;
mod event;
mod experiment;
mod fact;
mod figure_bound;
mod finding;
pub mod finding_catalog;
mod flat_file;
mod gauge;
mod hash;
mod identity;
mod imported;
mod judged_limit;
mod kind;
mod latency_heat;
pub mod managed;
mod monitoring;
mod named;
mod network_path;
pub mod numbers;
mod objective;
mod parameter;
mod plan;
mod plan_keys;
mod producer;
mod product;
mod repeats;
mod rng;
mod run;
mod sample;
mod script_host;
mod script_report;
mod second;
mod sent_statement;
mod server_setting;
mod server_summary;
mod session;
mod session_state;
mod sessions;
mod settling;
mod signal;
mod source;
mod sql_template;
mod standard;
mod statement;
mod status;
mod storage_engine;
mod suggestions;
mod table;
mod target;
mod trace;
mod trial_order;
mod tune;
mod units;
mod value;
mod workload;

pub use acknowledged::Acknowledged;
pub use administration::{Administration, DatabaseLock, Explain};
pub use agent_share::{AGENTS_MAX, AgentShare, is_agent_name};
pub use arrival_rate::{ArrivalRate, Stored};
pub use bucket_counts::BucketCounts;
pub use choice::Choice;
pub use civil::Civil;
pub use clock::{Clock, VIRTUAL_ORIGIN_UNIX_NS, Woken, raised, through, until};
pub use commit_risk::CommitRisk;
pub use control_chars::is_control_char;
pub use counter::{Counter, Counters, Reading};
pub use cpu_profile::{
    CpuProfile, CpuProfileReport, FRAME_SEPARATOR, KERNEL_FRAME, ProfileSide, TopFunction,
};
pub use database::{Connecting, Database, Hosts, Place, Placement, Places};
pub use db_error::{DbError, DbErrorKind};
pub use dialect::{
    DateUnit, Decimals, Dialect, Partitioning, Placeholder, RoutineLanguage, RowLimit, RowLock,
    Serial,
};
pub use digits::{put_decimal, put_unsigned};
pub use dip_cause::Cause;
pub use direction::Direction;
pub use disturbance::{
    Action, Disturbance, DisturbanceEvent, Disturbed, HostsChange, ServerAction, Which,
};
pub use event::{ClientMoments, Event, Execution, Phase, QueryPlan, StopReason};
pub use experiment::{
    Axis, Condition, DataPolicy, Experiment, Order, Point, Reference, TRIALS_MAX, Trial, Walk,
    combinations, is_arrival_rate, short_axis,
};
pub use fact::{Fact, FactValue, Facts, read_facts};
pub use figure_bound::FigureBound;
pub use finding::{Finding, Severity};
pub use flat_file::{ClientLoad, FileFormat, FlatFile};
pub use gauge::{Gauge, Readings};
pub use hash::fnv1a;
pub use identity::Identity;
pub use imported::{Imported, ImportedValue};
pub use judged_limit::{JudgedLimit, LimitOutcome};
pub use kind::{
    ComputedFigure, CustomMetric, CustomMetricKind, Kind, KindIndex, KindTotals, PrimaryMetric,
    PrimaryOf,
};
pub use latency_heat::{HeatCell, LatencyHeat};
pub use monitoring::{CommitCounter, ConnectionCounter, LARGE_TEXTS, Monitoring, ReplicaPosition};
pub use named::Named;
pub use network_path::{NetworkConditions, PathEntrance};
pub use objective::{BadObjective, Bound, Comparison, Metric, Objective, Seek};
pub use parameter::{
    BadParameter, Parameter, ParameterKind, Setting, Settings, in_range, parse_switch,
};
pub use plan::{
    AgentLoss, Arrivals, Connect, Connections, EventLoopChoice, Group, Load, LoadModel,
    MonitorScope, Phases, PlacementChoice, Plan, QueueAtEnd, QueueFull, Recording, Retry, RetryOn,
    StopCondition,
};
pub use plan_keys::{
    FORMER_OF_EXPERIMENT, FORMER_OF_GROUP, FORMER_OF_PLAN, FORMER_PARAMETERS, FormerKey,
    todays_key, todays_path,
};
pub use producer::{
    Input, PRODUCER_COUNT, PRODUCER_CPU_PERCENT, PRODUCER_ELAPSED_S, PRODUCER_RATE, Producer,
    ProducerContext, ProducerTask, Producing,
};
pub use product::Product;
pub use repeats::{Goal, Level, Nesting, StopRule};
pub use rng::{Rng, Stream};
pub use run::{
    CheckResult, CustomMetricDescription, Description, GroupDescription, HotRows, KindDescription,
    PrimaryMetricDescription, ReportField, RunId, each_once,
};
pub use sample::{Number, Outcome, Sample, Slot};
pub use script_host::{Rejection, ScriptHost, ShellEnded};
pub use script_report::{ReportFigures, ReportOf, ScriptReports};
pub use second::{
    Counts, CustomMetricSecond, ErrorCount, INTERVAL_SECONDS, KindSecond, Second, WINDOW_SECONDS,
    window_seconds,
};
pub use sent_statement::{BeginSql, SentStatement, shown_value};
pub use server_setting::{
    ChangedFile, ChangedSetting, FileBefore, SettingsByFile, SettingsBySql, is_same_value,
    is_taken_otherwise, plain_setting, setting_amount,
};
pub use server_summary::{
    ServerSummary, SessionsQuery, SummaryColumn, SummaryColumnKept, SummaryOf, SummaryQuery,
    SummaryRow,
};
pub use session::{
    Call, Cancel, Reply, ReplyLags, Request, Session, Traffic, TransactionControl, Visit, execute,
    load, query, query_number, reconnect,
};
pub use session_state::{SessionSampling, SessionState};
pub use sessions::{Connector, FurtherSession, Sessions};
pub use settling::{NothingLeft, Settle, Settling, SettlingLevel, SettlingOf, SettlingStep};
pub use signal::Signal;
pub use source::{Source, interned};
pub use standard::{Requirement, RequirementFigure, Standard};
pub use statement::{Sent, Statement, StatementId, StatementKind};
pub use status::Status;
pub use storage_engine::StorageEngine;
pub use suggestions::{did_you_mean, suggestion};
pub use table::{Column, ColumnType, Index, Table};
pub use target::{BadTarget, Host, Secret, Target};
pub use trace::{Exchange, Trace, TraceOutcome, TransactionTrace};
pub use trial_order::Round;
pub use tune::{Tune, TuneGoal, TuneStrategy};
pub use units::{
    BadUnit, MEGABYTE, NS_PER_MS, NS_PER_S, NS_PER_US, byte_rate, format_count, format_duration,
    ns_of_unit, parse_bytes, parse_count, parse_duration, parse_number, parse_rate, without_scale,
};
pub use value::{Row, RowSource, Value};
pub use workload::{
    AfterError, Answer, AnswerJudge, AnswerRow, Beginning, CUT_OFF_AT, Check, Client, Command,
    ComparedQuery, Conversation, Crosscheck, CutOff, Done, LaterIndex, NO_TRANSACTIONS,
    NOT_CHECKED, NeedsTransactions, Population, ROLLED_BACK, ReadAnswer, RepairedCheck, Routine,
    SMALLER_DATA, ScaleInData, ScaleOf, Script, ScriptReporter, TxContext, Workload,
};
