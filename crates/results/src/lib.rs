//! What remains of a run: its store, its report, and what is to be thought of it.
//!
//! Not here: how a run is made (engine, app), or any terminal or browser (dbdyno).

pub mod charts;
pub mod comparison;
pub mod condition;
pub mod experiment;
pub mod findings;
pub mod history;
pub mod ink;
mod interval_log;
#[cfg(test)]
mod made_up;
pub mod render;
pub mod repeats;
pub mod report;
pub mod seek;
pub mod store;
mod tally;

pub use comparison::ComparisonReport;
pub use experiment::ExperimentReport;
pub use history::HistoryReport;
pub use interval_log::interval_log;
pub use report::Report;
pub use seek::SeekReport;
pub use tally::{
    Crosscheck, Ended, GroupTally, Quantiles, SecondFigures, SecondTally, Series, Sum, Tally,
};
