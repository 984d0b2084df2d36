//! The result of a run: the tally, the report with its figures, and its findings.
//!
//! All of it is computed from the run's events by pure functions. Not here: several runs together
//! (study), storing runs (store), the look of results (render), executing a run (engine, app).

mod conclude;
mod due;
pub mod figures;
pub mod findings;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod gauges;
mod host;
pub mod report;
mod run_check;
pub mod tally;

pub use report::Report;
pub use run_check::RunCheck;
pub use tally::Tally;
