//! Speaking to databases: one folder a database, and the list of them.
//!
//! Not here: what is asked (workloads), when (engine), and what becomes of the answers.

#[cfg(test)]
mod certificates;
#[cfg(test)]
mod conformance;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod mysql;
mod net;
#[cfg(test)]
mod on_servers;
mod postgres;
mod sim;
mod sqlite;

use std::fmt;
use std::sync::Arc;

use model::{BadParameter, Database, Dialect, Parameter, Refusal, Target, did_you_mean};

pub use sim::{SimService, service_draw_ns};

/// A database that we can speak to.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The schemes of its URLs; the first is the usual one.
    pub schemes: &'static [&'static str],
    /// One line about it.
    pub summary: &'static str,
    /// An example of its URL.
    pub example: &'static str,
    /// The options of its URLs.
    pub parameters: &'static [Parameter],
    /// Whether our conformance suite has passed on a real one; otherwise why not.
    pub verified: Result<&'static str, &'static str>,
    /// How it is spelled, and what it can do.
    pub dialect: &'static Dialect,
    /// Opens a target.
    pub open: fn(&Target, Opening) -> Opened,
}

/// A target that has been opened, or not.
pub type Opened = Result<Arc<dyn Database>, CannotOpen>;

/// Why a target cannot be opened.
#[derive(Debug)]
pub enum CannotOpen {
    /// What was written cannot be right.
    Bad(BadParameter),
    /// The database said no.
    Refused(Refusal),
}

impl fmt::Display for CannotOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotOpen::Bad(bad) => bad.fmt(f),
            CannotOpen::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for CannotOpen {}

/// How a target is opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// May make the database if it is not there.
    pub create: bool,
    /// The seed of the run, for what draws.
    pub seed: u64,
}

/// Every database, in the order in which they are listed.
pub static ALL: &[&Entry] = &[&sqlite::ENTRY, &mysql::ENTRY, &postgres::ENTRY, &sim::ENTRY];

/// The driver that serves `scheme`.
pub fn by_scheme(scheme: &str) -> Result<&'static Entry, BadParameter> {
    let found = ALL.iter().find(|entry| entry.schemes.contains(&scheme));
    found.copied().ok_or_else(|| {
        // A server that is started for a run is the app's, and a target all the same.
        let of_ours = ALL.iter().flat_map(|entry| entry.schemes.iter().copied());
        let known = || of_ours.clone().chain(["managed"]);
        let hint = did_you_mean(scheme, known());
        let all: Vec<&str> = known().collect();
        BadParameter(format!("no driver serves '{scheme}:'{hint}; there are {}", all.join(", ")))
    })
}

/// Opens a target with the driver that its scheme names.
pub fn open(target: &Target, opening: Opening) -> Opened {
    let entry = by_scheme(&target.scheme).map_err(CannotOpen::Bad)?;
    (entry.open)(target, opening)
}
