//! Made-up comparisons, experiments and histories for tests, built from the made-up runs of
//! `analysis::fixtures`.

pub mod sides;
pub mod studies;
