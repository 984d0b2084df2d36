//! What the list of databases tells of each, and how a target is opened or cannot be.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use model::{BadParameter, Database, DbError, Parameter, Product, Target};

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
    /// The file that a target is, where it is one.
    pub file: fn(&Target) -> Option<PathBuf>,
    /// Whether clients of a target connect to its hosts over a network.
    pub is_over_network: fn(&Target) -> bool,
    /// Where a server of it usually is on this machine; none where there is no server.
    pub local_server: Option<LocalServer>,
    /// What is known of it.
    pub product: &'static Product,
    /// Whether a target can be opened, as far as its URL tells.
    pub check: fn(&Target) -> Result<(), BadParameter>,
    /// Opens a target.
    pub open: fn(&Target, Opening) -> Opened,
}

/// Where a server usually is, if it is on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// How it is called.
    pub title: &'static str,
    /// The port at which it listens.
    pub port: u16,
    /// Its Unix sockets in the usual packages.
    pub sockets: &'static [&'static str],
    /// Its programs, each by the name of the first that there is.
    pub programs: &'static [&'static str],
}

/// A target that has been opened, or not.
pub type Opened = Result<Arc<dyn Database>, CannotOpen>;

/// Why a target cannot be opened.
#[derive(Debug)]
pub enum CannotOpen {
    /// What was written cannot be right.
    Bad(BadParameter),
    /// The database said no.
    Refused(DbError),
}

impl fmt::Display for CannotOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotOpen::Bad(bad) => bad.fmt(f),
            CannotOpen::Refused(db_error) => db_error.fmt(f),
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
