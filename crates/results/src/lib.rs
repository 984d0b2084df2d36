//! What remains of a run: its store, its report, and what is to be thought of it.
//!
//! Not here: how a run is made (engine, lab), or any terminal or browser (dbdyno).

pub mod findings;
pub mod render;
pub mod report;
pub mod store;
mod tally;

pub use tally::{GroupTally, KindTally, Tally};
