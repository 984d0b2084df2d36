//! The results of several runs together: experiments, searches, comparisons, histories.
//!
//! All of it is pure functions of reports. Not here: the report of one run and its figures
//! (analysis), making the runs (app), the look of results (render).

pub mod comparison;
pub mod condition;
pub mod environment;
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

pub use comparison::ComparisonReport;
pub use experiment::ExperimentReport;
pub use history::HistoryReport;
pub use ranges::in_ranges;
pub use seek::SeekReport;
