//! Driver for DuckDB, which runs in this process: a file, or memory that all sessions of a target
//! share. Its library is loaded at run time.
//!
//! DuckDB blocks the thread, so each client must have a thread of its own; a statement may use more
//! threads, which are DuckDB's. Not here: SQL other than transaction control.

mod administration;
mod cancel;
mod db_errors;
mod facts;
mod ffi;
mod library;
mod literals;
mod opening;
mod plan;
mod session;
mod sql;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use model::{
    BadParameter, Connecting, Database, DbError, Fact, Parameter, ParameterKind, Place, Places,
    Product, Session, Settings, Statement, Target,
};

use crate::embedded::check_placement;
use crate::embedded::location::{Location, check_target};
use crate::{CannotOpen, Entry, Opened, Opening};
use opening::{Options, Shared};
use session::DuckdbSession;

pub(crate) use library::found as library_found;

pub(crate) static ENTRY: Entry = Entry {
    name: "duckdb",
    schemes: &["duckdb"],
    summary: "DuckDB, embedded in dbdyno's process: a file or shared memory",
    example: "duckdb:/path/file.duckdb?threads=4",
    parameters: PARAMETERS,
    verified: Ok("DuckDB 1.5.6"),
    file: |target| Location::of_target(target).ok()?.into_file(),
    is_over_network: |_| false,
    local_server: None,
    product: &PRODUCT,
    check,
    open,
};

/// Description of DuckDB for the list of drivers: its capabilities and SQL.
static PRODUCT: Product = Product {
    dialect: sql::DIALECT,
    administration: administration::ADMINISTRATION,
    monitoring: facts::MONITORING,
};

static PARAMETERS: &[Parameter] = &[
    Parameter::option(
        "library",
        ParameterKind::Text,
        "",
        "DuckDB's library (default: that of the variable DBDYNO_DUCKDB, else libduckdb.so of the \
         system)",
    ),
    Parameter::option(
        "mode",
        ParameterKind::Choice(&["rw", "ro"]),
        "rw",
        "ro opens a file for reading only, which several processes may do",
    ),
    Parameter::option(
        "threads",
        ParameterKind::Count { min: 1, max: 4096 },
        "",
        "Threads that execute statements, over all sessions (default: one per core)",
    ),
    Parameter::option(
        "memory_limit",
        ParameterKind::Bytes,
        "",
        "Memory of all data and statements (default: 80 % of the machine's)",
    ),
    Parameter::option(
        "checkpoint_threshold",
        ParameterKind::Bytes,
        "",
        "Size of the log at which a commit checkpoints (default: 16MiB)",
    ),
];

struct Duckdb {
    shared: Arc<Shared>,
}

fn check(target: &Target) -> Result<(), BadParameter> {
    let location = Location::of_target(target)?;
    Options::decide(&decide(target)?, &location).map(drop)
}

fn decide(target: &Target) -> Result<Settings, BadParameter> {
    let written = target.options.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Settings::decide("duckdb", PARAMETERS, written)
}

fn open(target: &Target, opening: Opening) -> Opened {
    let location = Location::of_target(target).map_err(CannotOpen::Bad)?;
    let settings = decide(target).map_err(CannotOpen::Bad)?;
    let options = Options::decide(&settings, &location).map_err(CannotOpen::Bad)?;
    let library = library::loaded(&settings).map_err(CannotOpen::Bad)?;
    if let Location::File(path) = &location {
        let create = opening.create && !options.read_only;
        check_target(path, create)?;
    }
    let shared = Shared::open(library, location, options).map_err(CannotOpen::Refused)?;
    Ok(Arc::new(Duckdb { shared: Arc::new(shared) }))
}

impl Database for Duckdb {
    fn product(&self) -> &Product {
        &PRODUCT
    }

    fn places(&self) -> Places {
        Places::THREAD
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        Box::pin(async move {
            check_placement(&place, "DuckDB")?;
            let session = DuckdbSession::connect(Arc::clone(&self.shared), statements)?;
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        facts::facts(&self.shared)
    }

    fn counted(&self) -> Vec<(&'static str, f64)> {
        self.shared.location.file_sizes(facts::LOG_SUFFIX)
    }
}
