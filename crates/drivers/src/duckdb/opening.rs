//! Options of a DuckDB target, and the databases that are open in this process.
//!
//! A file is opened once: targets of the same file share the database, since DuckDB's lock keeps
//! out other processes only. Not here: requests (the session).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use model::{BadParameter, DbError, DbErrorKind, Settings};

use super::db_errors::db_error;
use super::ffi::{Connection, Instance, Library};
use crate::embedded::location::Location;
use crate::embedded::lock;

/// Options of a DuckDB target, from its URL or by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) read_only: bool,
    /// Names and values of DuckDB's settings.
    settings: Vec<(&'static str, String)>,
}

/// Settings of every database: nothing is fetched from the network, since that would be measured
/// too.
const USUAL: [(&str, &str); 2] =
    [("autoinstall_known_extensions", "false"), ("autoload_known_extensions", "false")];

impl Options {
    pub(super) fn decide(
        settings: &Settings,
        location: &Location,
    ) -> Result<Options, BadParameter> {
        let read_only = settings.text("mode") == "ro";
        if read_only && location.is_memory() {
            let why = "a read-only in-memory database would be empty: leave it out";
            return Err(BadParameter::named("mode", why));
        }
        let mut of_duckdb: Vec<(&'static str, String)> =
            USUAL.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        if read_only {
            of_duckdb.push(("access_mode", "READ_ONLY".to_owned()));
        }
        if settings.has("threads") {
            of_duckdb.push(("threads", settings.count("threads").to_string()));
        }
        for name in ["memory_limit", "checkpoint_threshold"] {
            if settings.has(name) {
                of_duckdb.push((name, format!("{}B", settings.count(name))));
            }
        }
        Ok(Options { read_only, settings: of_duckdb })
    }
}

/// An open database, which all sessions of its targets share.
pub(super) struct Shared {
    pub(super) library: Library,
    pub(super) location: Location,
    pub(super) options: Options,
    instance: Arc<Instance>,
}

/// A file that is open in this process, or is being closed.
struct OpenFile {
    /// Path in which no link is left, so that two targets of one file are known as such.
    path: PathBuf,
    options: Options,
    instance: Weak<Instance>,
    closed: Arc<Closed>,
}

/// Whether DuckDB has closed a database.
#[derive(Default)]
struct Closed {
    is_closed: Mutex<bool>,
    changed: Condvar,
}

static OPEN_FILES: Mutex<Vec<OpenFile>> = Mutex::new(Vec::new());

impl Shared {
    /// Opens a database, or shares one that is open. Fails if it is no database, or its options are
    /// others than those of an open one.
    pub(super) fn open(
        library: Library,
        location: Location,
        options: Options,
    ) -> Result<Shared, DbError> {
        let opened = match &location {
            Location::File(path) => open_file(library, path, &options),
            Location::Memory(_) => {
                Instance::open(library, ":memory:", &options.settings, || {}).map_err(db_error)
            }
        };
        let instance = opened.map_err(|no| explain(no, &location))?;
        Ok(Shared { library, location, options, instance })
    }

    pub(super) fn connect(&self) -> Result<Connection, DbError> {
        self.instance.connect().map_err(db_error)
    }
}

fn open_file(library: Library, path: &Path, options: &Options) -> Result<Arc<Instance>, DbError> {
    let path = resolved(path);
    let mut files = lock(&OPEN_FILES);
    let known = files.iter().position(|file| file.path == path);
    if let Some(index) = known {
        if let Some(instance) = files[index].instance.upgrade() {
            if files[index].options == *options {
                return Ok(instance);
            }
            let message = "this process has opened it with other options: close it first";
            return Err(DbError::new(DbErrorKind::Busy, message));
        }
        files.swap_remove(index).closed.wait();
    }
    let closed = Arc::new(Closed::default());
    let on_close = {
        let closed = Arc::clone(&closed);
        move || closed.set()
    };
    let name = path.to_string_lossy();
    let instance = Instance::open(library, &name, &options.settings, on_close).map_err(db_error)?;
    let weak = Arc::downgrade(&instance);
    files.push(OpenFile { path, options: options.clone(), instance: weak, closed });
    Ok(instance)
}

/// Returns the path without links, also of a file that does not exist yet.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    match (parent, path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

impl Closed {
    fn set(&self) {
        *lock(&self.is_closed) = true;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let guard = lock(&self.is_closed);
        let closed = self.changed.wait_while(guard, |is_closed| !*is_closed);
        drop(closed.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Adds the database's path and advice for the user to an error that occurred when it was opened.
fn explain(mut no: DbError, location: &Location) -> DbError {
    // DuckDB would read files of other databases by its extensions.
    if no.message.contains("xtension") {
        no.kind = DbErrorKind::Corrupt;
    }
    let remedy = match no.kind {
        DbErrorKind::Corrupt => "it is not a DuckDB database, is damaged, or is of a newer version",
        DbErrorKind::Busy => {
            "only one process may open it at a time (several with mode=ro): end the other"
        }
        DbErrorKind::Denied | DbErrorKind::ReadOnly => {
            "make it and its directory writable, or open it with mode=ro"
        }
        _ => "",
    };
    let sign = if remedy.is_empty() { "" } else { ": " };
    no.during(format_args!("cannot open {location}{sign}{remedy}"))
}
