//! The use-cases of dbdyno: plan, build, check, drop, run, experiment, seek, selfcheck.
//!
//! Here the rooms are joined. Not here: flags, colours, terminals, HTTP (dbdyno), and anything
//! that one room can do alone.

mod alone;
pub mod build;
mod census;
pub mod check;
mod client_threads;
mod commits;
pub mod compare;
mod condition;
pub mod datagen;
mod desk;
mod disturb;
pub mod error;
pub mod experiment;
mod finding;
mod heard;
mod in_force;
mod load;
mod managed;
mod meta;
pub mod open;
mod room;
pub mod routines;
pub mod run;
pub mod seek;
pub mod selfcheck;
pub mod settings;
pub mod subject;
pub mod trial_runner;
pub mod trials;
pub mod watcher;

pub use engine::Stop;
pub use error::Error;
pub use monitor::wall_clock::unix_ms;
