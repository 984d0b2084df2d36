//! From what people write (TOML, flags) to a plan as decided, and back to TOML.
//!
//! Everything written is read once, here, into types that cannot be wrong; a mistake is told
//! with the place where it was made. Not here: what a plan means (engine, lab::run).

mod at;
mod decide;
mod draft;
mod place;
mod print;
mod rates_file;
mod repeat;
mod server;
mod sought;
mod table;
mod toml_file;
mod vary;

use std::fmt;

pub use decide::decide;
pub use draft::{AtDraft, Draft, From, GroupDraft, VaryDraft, Written};
pub use print::{to_toml, varied_to_toml};
pub use sought::{Sought, decide_seek, is_sought};
pub use table::{AT, GROUP, PLAN, Row, row};
pub use toml_file::read_toml;
pub use vary::{Varied, decide_all, is_varied};

/// A mistake in a plan or on the command line, with its place and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPlan(pub String);

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadPlan {}
