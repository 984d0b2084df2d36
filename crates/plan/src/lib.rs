//! Plans: from TOML and flags to a decided plan, and back to TOML.
//!
//! All input is parsed once, here, into types that cannot hold invalid values; an error is reported
//! with its source position. Not here: the meaning of a plan (engine, app). The crate does not
//! connect, start, measure or store anything.

mod at;
mod bad_plan;
mod condition;
mod decide;
mod draft;
mod form;
pub mod managed;
mod page;
mod place;
mod print;
mod print_draft;
mod print_experiment;
mod rates_file;
mod repeat;
mod repeat_rule;
mod script;
pub mod search_budget;
mod seek_plan;
mod seek_range;
mod server;
mod table;
mod target;
mod task;
#[cfg(test)]
mod tests;
mod toml_file;
pub mod translate;
mod tune_plan;
mod values_between;
mod vary;
mod written;

pub use bad_plan::BadPlan;
pub use decide::{decide, disagreement, workload_of};
pub use draft::{AtDraft, Draft, GroupDraft, VaryDraft};
pub use page::{FILES, check_from_page};
pub use print::to_toml;
pub use print_draft::draft_to_toml;
pub use print_experiment::varied_to_toml;
pub use repeat_rule::REPEATS_MOST;
pub use script::{is_unwritten, read_script, workload_named};
pub use seek_plan::{SeekPlan, decide_seek};
pub use server::check as check_server_setting;
pub use table::{AT, EXPERIMENT, GROUP, PLAN, Row, group_flags};
pub use target::refused_engine;
pub use task::{Task, decide_task};
pub use toml_file::read_toml;
pub use tune_plan::{TunePlan, decide_tune};
pub use vary::{Varied, decide_all, targets_of};
pub use written::{From, Values, Written};
