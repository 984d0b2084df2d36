//! Driver for SQLite, which runs in this process: a file, or memory that all sessions of a target
//! share.
//!
//! SQLite blocks the thread, so each client must have a thread of its own. Not here: SQL other than
//! transaction control and pragmas.

mod administration;
mod cancel;
mod db_errors;
mod facts;
mod literals;
mod monitoring;
mod opening;
mod queue;
mod session;
mod sql;
mod statements;
#[cfg(test)]
mod tests;
mod values;
mod write_permit;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use model::{
    BadParameter, Connecting, Database, DbError, Fact, Parameter, ParameterKind, Place, Places,
    Product, Session, Settings, Statement, Target,
};
use rusqlite::{Connection, FileControl};

use crate::embedded::check_placement;
use crate::embedded::location::{Location, check_target};
use crate::{CannotOpen, Entry, Opened, Opening};
use db_errors::db_error;
use opening::{MEMORY_BYTES_MAX, Options, Shared};
use session::SqliteSession;

pub(crate) static ENTRY: Entry = Entry {
    name: "sqlite",
    schemes: &["sqlite"],
    summary: "SQLite, embedded in dbdyno's process: a file or shared memory",
    example: "sqlite:/path/file.db?synchronous=full",
    parameters: PARAMETERS,
    verified: Ok("SQLite 3.54.1, bundled"),
    file,
    is_over_network: |_| false,
    local_server: None,
    product: &PRODUCT,
    check,
    open,
};

/// Description of SQLite, in the bundled version, for the list of drivers: its capabilities and
/// SQL.
static PRODUCT: Product = Product {
    dialect: sql::DIALECT,
    administration: administration::ADMINISTRATION,
    monitoring: monitoring::MONITORING,
};

const ANY_COUNT: ParameterKind = ParameterKind::Count { min: 0, max: i32::MAX as u64 };

static PARAMETERS: &[Parameter] = &[
    Parameter::option(
        "mode",
        ParameterKind::Choice(&["rw", "ro"]),
        "rw",
        "ro opens a file for reading only and leaves its journal mode as it is",
    ),
    Parameter::option(
        "journal",
        ParameterKind::Choice(&["wal", "delete", "truncate", "persist", "memory", "off"]),
        "wal",
        "Journal mode; an in-memory database has memory or off",
    ),
    Parameter::option(
        "synchronous",
        ParameterKind::Choice(&["off", "normal", "full", "extra"]),
        "normal",
        "When SQLite syncs to disk; with wal, only full and extra do so at each commit",
    ),
    Parameter::option(
        "busy",
        ParameterKind::Choice(&["queue", "handler", "retry"]),
        "queue",
        "How writers wait for the write lock: in a queue, in SQLite's busy handler, or not at all \
         (the transaction is retried)",
    ),
    Parameter::option(
        "busy_timeout",
        ParameterKind::Duration,
        "10s",
        "Time limit of the busy handler; with busy=queue, for locks of other processes",
    ),
    Parameter::option("cache_size", ParameterKind::Bytes, "2000KiB", "Page cache of each session"),
    Parameter::option(
        "mmap_size",
        ParameterKind::Bytes,
        "0",
        "Bytes of the file that are mapped to memory",
    ),
    Parameter::option(
        "page_size",
        ParameterKind::Bytes,
        "",
        "Page size of a new database (default: 4096)",
    ),
    Parameter::option(
        "wal_autocheckpoint",
        ANY_COUNT,
        "1000",
        "Pages in the log after which a commit checkpoints; 0 for never",
    ),
];

struct Sqlite {
    shared: Arc<Shared>,
    /// Connection that keeps a database in memory alive while there is no session; `None` for a
    /// file.
    _keeper: Option<Mutex<Connection>>,
}

fn open(target: &Target, opening: Opening) -> Opened {
    open_sqlite(target, opening).map(|database| Arc::new(database) as Arc<dyn Database>)
}

fn check(target: &Target) -> Result<(), BadParameter> {
    let location = locate(target)?;
    let settings = decide(target)?;
    Options::decide(&settings, location.is_memory()).map(drop)
}

fn decide(target: &Target) -> Result<Settings, BadParameter> {
    let written = target.options.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Settings::decide("sqlite", PARAMETERS, written)
}

fn open_sqlite(target: &Target, opening: Opening) -> Result<Sqlite, CannotOpen> {
    let location = locate(target).map_err(CannotOpen::Bad)?;
    let settings = decide(target).map_err(CannotOpen::Bad)?;
    let options = Options::decide(&settings, location.is_memory()).map_err(CannotOpen::Bad)?;
    let keeper = match &location {
        Location::Memory(_) => Some(keep(&location).map_err(CannotOpen::Refused)?),
        Location::File(path) => {
            let create = opening.create && !options.read_only;
            check_target(path, create)?;
            None
        }
    };
    let shared = Arc::new(Shared::new(location, options, opening.create));
    Ok(Sqlite { shared, _keeper: keeper.map(Mutex::new) })
}

fn locate(target: &Target) -> Result<Location, BadParameter> {
    Ok(match Location::of_target(target)? {
        // SQLite would parse it as a URI.
        Location::File(path) if target.path.starts_with("file:") => {
            Location::File(Path::new(".").join(path))
        }
        location => location,
    })
}

fn file(target: &Target) -> Option<PathBuf> {
    locate(target).ok()?.into_file()
}

fn keep(location: &Location) -> Result<Connection, DbError> {
    let connection = opening::open(location, true, false)?;
    let mut limit_bytes = MEMORY_BYTES_MAX;
    let limit = FileControl::SizeLimit(&mut limit_bytes);
    connection.file_control(None::<&str>, limit).map_err(db_error)?;
    Ok(connection)
}

impl Database for Sqlite {
    fn product(&self) -> &Product {
        &PRODUCT
    }

    fn places(&self) -> Places {
        Places::THREAD
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        Box::pin(async move {
            check_placement(&place, "SQLite")?;
            let session = SqliteSession::connect(Arc::clone(&self.shared), statements)?;
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        let mut facts = facts::facts(&self.shared)?;
        facts.extend((PRODUCT.administration.durability)(&facts));
        Ok(facts)
    }

    fn counted(&self) -> Vec<(&'static str, f64)> {
        self.shared.caches.counters(&self.shared.location)
    }
}
