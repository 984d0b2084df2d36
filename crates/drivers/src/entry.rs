//! Entries in the list of drivers, and the parameters and errors of opening a target.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use model::{BadParameter, Database, DbError, Parameter, Product, Target};

/// A driver, as an entry in the list of all drivers.
pub struct Entry {
    pub name: &'static str,
    /// URL schemes; the first is the usual one.
    pub schemes: &'static [&'static str],
    /// Products that it is for, in one line.
    pub summary: &'static str,
    /// Example of a target's URL.
    pub example: &'static str,
    /// Options that its URLs may have after `?`.
    pub parameters: &'static [Parameter],
    /// Products and versions on which the conformance suite has passed; `Err` with the reason if
    /// there are none.
    pub verified: Result<&'static str, &'static str>,
    /// Returns the database file of a target; `None` if its database is a server or in memory.
    pub file: fn(&Target) -> Option<PathBuf>,
    /// Whether clients reach the target's hosts over TCP, and not through a Unix socket, a file or
    /// memory.
    pub is_over_network: fn(&Target) -> bool,
    /// Where to look for a server on this machine; `None` if the database has no server.
    pub local_server: Option<LocalServer>,
    pub product: &'static Product,
    /// Checks a target for missing parts and unknown options, without opening it.
    pub check: fn(&Target) -> Result<(), BadParameter>,
    /// Opens a target. Fails if the URL is invalid, or the database returns an error.
    pub open: fn(&Target, Opening) -> Opened,
}

/// Usual addresses and programs of a server, by which one on this machine is found and suggested to
/// the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Name of the product, for the user.
    pub title: &'static str,
    pub port: u16,
    /// Paths of Unix sockets in the usual packages.
    pub sockets: &'static [&'static str],
    /// Names of the server's program in different packages; the first one that is installed counts.
    pub programs: &'static [&'static str],
}

pub type Opened = Result<Arc<dyn Database>, CannotOpen>;

/// Reason why a target cannot be opened.
#[derive(Debug)]
pub enum CannotOpen {
    /// The target has no driver or is invalid.
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
    /// Whether the database may be created if it does not exist.
    pub create: bool,
    /// Seed of the run, for drivers that draw random numbers.
    pub seed: u64,
}
