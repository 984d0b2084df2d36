//! Tests of dbdyno from end to end: each test runs the tool as users do, and reads its output.
//!
//! Not here: tests of a single crate.

mod accessible;
#[cfg(feature = "agents")]
mod agents;
mod arm;
mod bad_input;
mod browser;
mod builds;
mod compare;
mod devtools;
mod disturbances;
mod drop_in;
mod dry_run;
mod enough;
mod events;
mod examples;
mod experiments;
mod failover;
mod figures;
mod files;
mod findings;
mod generator;
mod hands;
mod history;
mod home;
mod http;
mod ignored_errors;
mod interrupted;
mod io_uring;
mod journey;
mod loads;
mod lua;
mod metrics;
mod network;
mod new_connections;
mod newcomer;
mod nodes;
mod outage;
mod own_sql;
#[cfg(feature = "lua")]
mod parsers;
mod password;
mod processes;
mod proxies;
mod push;
mod real;
mod repeatable;
mod repeats;
mod replicas;
mod report;
mod restart;
mod runs;
mod seek;
mod selfcheck;
mod settings;
mod settling;
mod show;
mod standard;
mod stored;
mod sysbench_moments;
#[cfg(feature = "lua")]
mod sysbench_statements;
mod target_from;
mod terminal;
mod tpch;
mod tpch_half_done;
mod tpch_killed;
mod tpch_refused;
mod translate;
mod tune;
mod unchanged;
mod waiting;
mod walk;
mod web;
mod why;
