//! Entries in the list of databases, and the opening of targets.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use model::{BadParameter, Database, DbError, Parameter, Product, Target};

/// A supported database, as a static table entry.
pub struct Entry {
    pub name: &'static str,
    /// URL schemes; the first is the usual one.
    pub schemes: &'static [&'static str],
    /// Summary in one line.
    pub summary: &'static str,
    /// Example of a URL.
    pub example: &'static str,
    /// Options of its URLs.
    pub parameters: &'static [Parameter],
    /// The servers on which the conformance suite has passed; `Err` with the reason if there are
    /// none.
    pub verified: Result<&'static str, &'static str>,
    /// Returns the file of a target, if it is one.
    pub file: fn(&Target) -> Option<PathBuf>,
    /// Whether clients of a target connect to its hosts over a network.
    pub is_over_network: fn(&Target) -> bool,
    /// Usual address of a server on this machine; `None` if there is no server.
    pub local_server: Option<LocalServer>,
    pub product: &'static Product,
    /// Checks whether a target can be opened, as far as its URL tells.
    pub check: fn(&Target) -> Result<(), BadParameter>,
    /// Opens a target. Fails if the URL is invalid, or the database returns an error.
    pub open: fn(&Target, Opening) -> Opened,
}

/// The usual address of a server on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Name of the product.
    pub title: &'static str,
    pub port: u16,
    /// Unix sockets in the usual packages.
    pub sockets: &'static [&'static str],
    /// Groups of program names; the first name that exists is used.
    pub programs: &'static [&'static str],
}

pub type Opened = Result<Arc<dyn Database>, CannotOpen>;

/// The reason why a target cannot be opened.
#[derive(Debug)]
pub enum CannotOpen {
    /// The target is invalid.
    Bad(BadParameter),
    /// The database returned an error.
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

/// Parameters for opening a target.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The database may be created if it does not exist.
    pub create: bool,
    /// Seed of the run, for drivers that draw.
    pub seed: u64,
}
