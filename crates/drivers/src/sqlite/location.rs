//! The location of an SQLite database: a file, or memory. Not here: opening it (opening).

use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    File(PathBuf),
    /// In-memory database of this process. Sessions that use the same name share the database.
    Memory(String),
}

impl Location {
    pub(super) fn is_memory(&self) -> bool {
        matches!(self, Location::Memory(_))
    }

    /// Returns the start of the error message if the database has no space left, such as `no disk
    /// space for /data/x.db`.
    pub(super) fn words_when_full(&self) -> String {
        match self {
            Location::File(path) => format!("no disk space for {}", path.display()),
            Location::Memory(_) => {
                "an in-memory database holds at most 2 GiB: use a file".to_owned()
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => path.display().fmt(f),
            Location::Memory(_) => f.write_str(":memory:"),
        }
    }
}
