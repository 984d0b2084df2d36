//! DuckDB's library on this machine: which file is loaded, and what to do if there is none.
//!
//! Not here: its functions (ffi).

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use model::{BadParameter, Settings};

use super::ffi::Library;
use crate::embedded::lock;
use crate::environment::environment;

/// Environment variable with the path of the library, for targets that do not name one.
const VARIABLE: &str = "DBDYNO_DUCKDB";

/// Name of the library for the dynamic loader, which looks in its own folders.
const USUAL: &str = "libduckdb.so";

/// Where the library is to be had.
const REMEDY: &str = "get libduckdb.so from duckdb.org (libduckdb-linux-*.zip), the npm package \
                      @duckdb/node-bindings-linux-x64 or Debian's libduckdb, and name the file by \
                      library= in the target or by the variable DBDYNO_DUCKDB";

/// Library that this process has loaded, and its path. There is only one, since two would share
/// symbols.
static LOADED: Mutex<Option<(PathBuf, Library)>> = Mutex::new(None);

/// Returns DuckDB's library: the one that the target names, else that of the environment variable,
/// else the system's. Fails with a remedy if it cannot be loaded.
pub(super) fn loaded(settings: &Settings) -> Result<Library, BadParameter> {
    let path = wanted(settings);
    let mut loaded = lock(&LOADED);
    match &*loaded {
        Some((known, library)) if *known == path => return Ok(*library),
        Some((known, _)) => {
            let (known, path) = (known.display(), path.display());
            let why = format!(
                "this process has loaded {known}, and cannot load {path} beside it: use another \
                 process for the other version"
            );
            return Err(BadParameter::new(why));
        }
        None => {}
    }
    let library = Library::load(&path).map_err(|error| cannot_load(&path, &error))?;
    *loaded = Some((path, library));
    Ok(library)
}

/// Returns the library for targets that name none. The error says that there is none, and how to
/// name one.
pub(crate) fn found() -> Result<String, String> {
    let settings = Settings::default();
    match loaded(&settings) {
        Ok(_) => Ok(wanted(&settings).display().to_string()),
        Err(_) => Err(format!("DuckDB's library is not found; {VARIABLE} names it")),
    }
}

fn wanted(settings: &Settings) -> PathBuf {
    if settings.has("library") {
        return settings.text("library").into();
    }
    environment(VARIABLE).filter(|path| !path.is_empty()).map_or(USUAL.into(), PathBuf::from)
}

pub(super) fn cannot_load(path: &Path, error: &dyn std::error::Error) -> BadParameter {
    let because = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let path = path.display();
    BadParameter::new(format!("DuckDB's library {path} cannot be loaded ({because}): {REMEDY}"))
}
