//! The use cases of dbdyno: build, check and drop data, run, experiment, search, compare, show
//! histories.
//!
//! This crate joins the others. Not here: flags, colours, terminals, HTTP (dbdyno), and anything
//! that another crate can do alone. No two modules import each other in a circle.

mod added_key;
mod admin_session;
mod admission;
pub mod answers_compared;
pub mod build;
mod build_lock;
mod build_log;
pub mod by_end;
pub mod check;
mod client_threads;
mod commit_crosscheck;
pub mod compare;
mod connection_count;
pub mod datagen;
mod disturb;
pub mod dry_run;
pub mod error;
pub mod experiment;
pub mod figure_names;
mod finding;
mod grid;
mod group_target;
pub mod imported;
mod interruptible;
mod load;
pub mod managed;
mod meta;
mod network;
pub mod open;
mod path_probe;
pub mod place;
pub mod report_source;
pub mod routines;
pub mod run;
mod run_marker;
mod scale_in_data;
pub mod script_commands;
mod script_data;
pub mod script_error;
pub mod seek;
pub mod settings;
mod settings_snapshot;
pub mod settle;
pub mod statements;
mod storage_engine;
pub mod stored_report;
mod table_list;
pub mod time_left;
pub mod trace;
pub mod trial_runner;
pub mod trials;
pub mod tune;
mod wait_condition;
mod walk;
pub mod watcher;

pub use engine::{Recorded, RecordedAs, SampleHook, Stop};
pub use error::Error;
pub use monitor::wall_clock::unix_ms;
pub use network::NETWORK_PATH;
