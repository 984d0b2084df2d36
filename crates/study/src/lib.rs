//! Results of several runs together: experiments, searches, tuners, comparisons, histories and
//! tables.
//!
//! All functions are pure functions of run reports. Not here: the report of one run and its figures
//! (analysis), the execution of runs (app), and pages (render).

pub mod comparison;
pub mod condition;
pub mod environment;
mod execution_times;
pub mod experiment;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
pub mod history;
pub mod matrix;
mod ranges;
pub mod repeats;
pub mod seek;
mod shown_figures;
pub mod trials;
pub mod tune;

pub use comparison::ComparisonReport;
pub use execution_times::ExecutionTime;
pub use experiment::ExperimentReport;
pub use history::HistoryReport;
pub use ranges::{highest, in_ranges};
pub use seek::SeekReport;
pub use tune::TuneReport;
