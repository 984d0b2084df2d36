//! Workloads that people bring: a folder per language.
//!
//! Not here: the list of languages (lib).

pub mod pgbench;
pub mod sql;
