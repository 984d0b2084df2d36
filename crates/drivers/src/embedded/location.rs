//! The location of an embedded database: a file, or memory. Not here: opening it.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use model::{BadParameter, Counter, DbError, DbErrorKind, Reading, Target};

use crate::CannotOpen;

/// Path of a target whose database is in memory.
pub(crate) const MEMORY: &str = ":memory:";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    File(PathBuf),
    /// Database in memory of this process, with a number of its own, which its sessions share.
    Memory(u64),
}

impl Location {
    /// Returns the location that a target names: a path, or `:memory:`. Fails if there is none.
    pub(crate) fn of_target(target: &Target) -> Result<Location, BadParameter> {
        let scheme = &target.scheme;
        if !target.hosts.is_empty() || target.user.is_some() {
            let words =
                format!("{scheme} has no host: write {scheme}:/path/file.db or {scheme}:file.db");
            return Err(BadParameter::new(words));
        }
        match target.path.as_str() {
            "" => {
                let words = format!("name a file: {scheme}:/path/file.db, or {scheme}::memory:");
                Err(BadParameter::new(words))
            }
            MEMORY => {
                static N_OPENED: AtomicU64 = AtomicU64::new(0);
                Ok(Location::Memory(N_OPENED.fetch_add(1, Ordering::Relaxed)))
            }
            path => Ok(Location::File(PathBuf::from(path))),
        }
    }

    /// Returns the path of the file; `None` for memory.
    pub(crate) fn into_file(self) -> Option<PathBuf> {
        match self {
            Location::File(path) => Some(path),
            Location::Memory(_) => None,
        }
    }

    pub(crate) fn is_memory(&self) -> bool {
        matches!(self, Location::Memory(_))
    }

    /// Returns the sizes in bytes of the database's files that exist, as pairs of counter and
    /// value. The log's file has the name of the database's and a suffix.
    pub(crate) fn file_sizes(&self, log_suffix: &str) -> Vec<(&'static str, f64)> {
        let Location::File(path) = self else { return Vec::new() };
        let mut log = path.as_os_str().to_owned();
        log.push(log_suffix);
        let files = FILE_SIZES.iter().zip([Path::new(&log), path]);
        let size_of = |path: &Path| fs::metadata(path).ok().map(|found| found.len() as f64);
        files.filter_map(|(counter, path)| Some((counter.name, size_of(path)?))).collect()
    }

    /// Returns the start of the error message if the database has no space left, such as `no disk
    /// space for /data/x.db`. `of_memory` is the one of a database in memory.
    pub(crate) fn words_when_full(&self, of_memory: &str) -> String {
        match self {
            Location::File(path) => format!("no disk space for {}", path.display()),
            Location::Memory(_) => of_memory.to_owned(),
        }
    }
}

/// Counters of the sizes that [`Location::file_sizes`] returns.
pub(crate) const FILE_SIZES: &[Counter] = &[
    bytes("wal_bytes", "The size of the write-ahead log's file."),
    bytes("file_bytes", "The size of the database's file."),
];

const fn bytes(name: &'static str, help: &'static str) -> Counter {
    Counter { name, reading: Reading::Level, unit: "B", help }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => path.display().fmt(f),
            Location::Memory(_) => f.write_str(":memory:"),
        }
    }
}

/// Checks that a database file can be opened, and fails with the reason; a database's own error may
/// say only that the file cannot be opened. With `create` the file need not exist.
pub(crate) fn check_path(path: &Path, create: bool) -> Result<(), DbError> {
    match bad_place(path, create) {
        Some((kind, why)) => Err(DbError::new(kind, why)),
        None => check_access(path, create),
    }
}

/// Checks a database file, whose path may be that of one, as [`check_path`] does.
fn check_access(path: &Path, create: bool) -> Result<(), DbError> {
    let no = |kind, message: String| Err(DbError::new(kind, message));
    let shown = path.display();
    match fs::metadata(path) {
        // The database would wait for a pipe's writer.
        Ok(_) => match files::refuse_special(path) {
            Ok(()) => Ok(()),
            Err(error) => no(DbErrorKind::Denied, format!("{shown}: {error}")),
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => no(
            DbErrorKind::Denied,
            format!("cannot read {shown}: {error}; check the permissions of its directories"),
        ),
        Err(_) if !create => no(DbErrorKind::Missing, format!("there is no database at {shown}")),
        Err(_) => match fs::metadata(directory_of(path)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => no(
                DbErrorKind::Denied,
                format!("cannot create {shown}: {error}; check the permissions of its directories"),
            ),
            _ => Ok(()),
        },
    }
}

/// Checks that a target's database file can be opened, as [`check_path`] does. A path that cannot
/// be that of a file is a mistake in the target.
pub(crate) fn check_target(path: &Path, create: bool) -> Result<(), CannotOpen> {
    match bad_place(path, create) {
        Some((_, why)) => Err(CannotOpen::Bad(BadParameter::new(why))),
        None => check_access(path, create).map_err(CannotOpen::Refused),
    }
}

/// Returns why a path cannot be that of a database file, whatever the file may contain: it is a
/// directory, or its own directory is none. `None` if it can be.
fn bad_place(path: &Path, create: bool) -> Option<(DbErrorKind, String)> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Some((
                DbErrorKind::Denied,
                format!("{shown} is a directory: name a file in it"),
            ));
        }
        Ok(_) => return None,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied || !create => return None,
        Err(_) => {}
    }
    let directory = directory_of(path);
    match fs::metadata(directory) {
        Ok(found) if found.is_dir() => None,
        Ok(_) => {
            let directory = directory.display();
            let why = format!("{directory} is not a directory: {shown} cannot be created in it");
            Some((DbErrorKind::Denied, why))
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
        Err(_) => {
            let why = format!("the directory {} does not exist: create it", directory.display());
            Some((DbErrorKind::Missing, why))
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}
