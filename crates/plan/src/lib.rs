//! From what people write (TOML, flags) to a plan as decided, and back to TOML.
//!
//! Everything written is read once, here, into types that cannot be wrong; a mistake is told
//! with the place where it was made. Not here: what a plan means (engine, app). Nothing is
//! connected to, started, measured or kept.

mod at;
mod bad_plan;
mod condition;
mod decide;
mod draft;
pub mod managed;
mod place;
mod print;
mod print_experiment;
mod rates_file;
mod repeat;
mod search_budget;
mod seek_plan;
mod server;
mod table;
mod target;
#[cfg(test)]
mod tests;
mod toml_file;
mod vary;

pub use bad_plan::BadPlan;
pub use decide::decide;
pub use draft::{AtDraft, Draft, From, GroupDraft, VaryDraft, Written};
pub use print::to_toml;
pub use print_experiment::varied_to_toml;
pub use seek_plan::{SeekPlan, decide_seek, is_seek};
pub use table::{AT, GROUP, PLAN, Row, row};
pub use toml_file::read_toml;
pub use vary::{Varied, decide_all, is_varied};
