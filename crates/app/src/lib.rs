//! The use-cases of dbdyno: plan, build, check, drop, run, experiment, seek, selfcheck.
//!
//! Here the rooms are joined. Not here: flags, colours, terminals, HTTP (dbdyno), and anything
//! that one room can do alone.

mod alone;
pub mod build;
mod census;
pub mod check;
mod client_threads;
mod commits;
pub mod compare;
mod condition;
pub mod datagen;
mod desk;
mod disturb;
pub mod experiment;
mod heard;
mod in_force;
mod load;
mod managed;
mod meta;
pub mod open;
mod room;
pub mod routines;
pub mod run;
pub mod seek;
pub mod selfcheck;
pub mod settings;
pub mod subject;

use std::fmt;

pub use engine::Stop;
pub use monitor::wall_clock::unix_ms;

/// Why a use-case did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// What was asked cannot be right: exit code 2.
    Usage(String),
    /// The database, the machine or the data said no: exit code 1.
    Failed(String),
    /// Somebody stopped it: exit code 130.
    Interrupted(String),
}

impl Trouble {
    pub(crate) fn failed(why: impl fmt::Display) -> Trouble {
        Trouble::Failed(why.to_string())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Usage(why) | Trouble::Failed(why) | Trouble::Interrupted(why) => {
                f.write_str(why)
            }
        }
    }
}

impl std::error::Error for Trouble {}

impl From<plan::BadPlan> for Trouble {
    fn from(bad: plan::BadPlan) -> Trouble {
        Trouble::Usage(bad.0)
    }
}

impl From<model::Refusal> for Trouble {
    fn from(refusal: model::Refusal) -> Trouble {
        Trouble::failed(refusal)
    }
}

impl From<drivers::CannotOpen> for Trouble {
    fn from(error: drivers::CannotOpen) -> Trouble {
        match error {
            drivers::CannotOpen::Bad(bad) => Trouble::Usage(format!("the target: {bad}")),
            drivers::CannotOpen::Refused(refusal) => refusal.into(),
        }
    }
}
