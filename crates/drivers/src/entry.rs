//! Registration of drivers, and the parameters and errors of opening a target.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use model::{BadParameter, Database, DbError, Parameter, Product, Target};

/// A database driver as dbdyno registers it: URL schemes, options, and functions that check and
/// open a target.
pub struct Entry {
    pub name: &'static str,
    /// URL schemes that select the driver, such as `mysql`; the first is the usual one.
    pub schemes: &'static [&'static str],
    /// Names of the database products that the driver is for, in one line for the user.
    pub summary: &'static str,
    /// Example of a URL of a database for this driver, shown to the user.
    pub example: &'static str,
    /// Options that URLs of this driver may have after `?`, such as `tls`.
    pub parameters: &'static [Parameter],
    /// Products and versions on which the conformance suite has passed; `Err` with the reason if
    /// there are none.
    pub verified: Result<&'static str, &'static str>,
    /// Returns the path of the database file that a target names; `None` if its database is a
    /// server or in memory.
    pub file: fn(&Target) -> Option<PathBuf>,
    /// Whether clients reach the target's hosts over TCP, and not through a Unix socket, a file or
    /// memory.
    pub is_over_network: fn(&Target) -> bool,
    /// Usual addresses and programs of the product's server, to find one on this machine; `None` if
    /// the database has no server.
    pub local_server: Option<LocalServer>,
    pub product: &'static Product,
    /// Checks the URL of a target for missing parts and unknown options, without opening the
    /// target.
    pub check: fn(&Target) -> Result<(), BadParameter>,
    /// Opens a target and returns its database. Fails with `CannotOpen::Bad` if the URL is invalid,
    /// and with `CannotOpen::Refused` if the database returns an error.
    pub open: fn(&Target, Opening) -> Opened,
}

/// Usual addresses and programs of a product's server. dbdyno looks there for a server on this
/// machine, and suggests it to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Name of the product, as shown to the user.
    pub title: &'static str,
    pub port: u16,
    /// Paths of the Unix sockets that the usual Linux packages of the server create.
    pub sockets: &'static [&'static str],
    /// Names of the server's program, which differ between packages, such as `mariadbd` and
    /// `mysqld`; the first one that is installed is taken.
    pub programs: &'static [&'static str],
}

pub type Opened = Result<Arc<dyn Database>, CannotOpen>;

/// Reason why a target cannot be opened.
#[derive(Debug)]
pub enum CannotOpen {
    /// No driver knows the target's scheme, or its URL has an invalid part or option.
    Bad(BadParameter),
    /// The database could not be reached or returned an error when it was opened.
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

/// Choices of the caller who opens a target, apart from its URL.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Whether the database may be created if it does not exist.
    pub create: bool,
    /// Seed of the run, for drivers that draw random numbers, such as the simulated database.
    pub seed: u64,
}
