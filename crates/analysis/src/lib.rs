//! The results of runs: the tally, the report and its findings, and the results of several runs
//! together (experiments, searches, comparisons, histories).
//!
//! All of it is pure functions of events. Not here: storing runs (store), the look of results
//! (render), executing a run (engine, app).

pub mod comparison;
mod conclude;
pub mod condition;
mod due;
pub mod environment;
pub mod experiment;
pub mod figures;
pub mod findings;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod gauges;
pub mod history;
pub mod matrix;
mod ranges;
pub mod repeats;
pub mod report;
mod run_check;
pub mod seek;
pub mod tally;
pub mod trials;

pub use comparison::ComparisonReport;
pub use experiment::ExperimentReport;
pub use history::HistoryReport;
pub use ranges::in_ranges;
pub use report::Report;
pub use run_check::RunCheck;
pub use seek::SeekReport;
pub use tally::Tally;
