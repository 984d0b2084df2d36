//! Languages in which people write workloads of their own: one folder per language.
//!
//! Not here: what executes the scripts, and the list of languages (lib).

pub mod pgbench;
