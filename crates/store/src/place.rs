//! Location of a store: its default path, and the files that belong to it. Not here: their content.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Suffixes of a store's files: the database, its WAL and the WAL's index.
const ENDS: [&str; 3] = ["", "-wal", "-shm"];

/// Returns the path of the store if the user gives none; `environment` returns the value of a
/// variable.
///
/// It is the value of `DBDYNO_STORE`, or else a file in the user's data folder by the XDG Base
/// Directory Specification, which ignores a relative `XDG_DATA_HOME`. `None` without a home folder.
pub fn default_path(environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let path = |name: &str| environment(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    if let Some(store) = path("DBDYNO_STORE") {
        return Some(store);
    }
    let data = path("XDG_DATA_HOME").filter(|data| data.is_absolute());
    let data = data.or_else(|| path("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("dbdyno/runs.sqlite"))
}

/// Returns true if `path` is the file of the store at `store`, its WAL or its WAL index, also by
/// links. Neither file has to exist.
pub fn is_of_store(path: &Path, store: &Path) -> bool {
    let file = |path: &Path| fs::metadata(path).ok().map(|there| (there.dev(), there.ino()));
    let ours = ENDS.map(|end| {
        let mut name = OsString::from(store);
        name.push(end);
        PathBuf::from(name)
    });
    // A WAL that does not exist now may exist later.
    let is_named_so = |ours: &PathBuf| placed(ours) == placed(path);
    let is_same = |ours: &PathBuf| file(path).is_some_and(|file_| file(ours) == Some(file_));
    ours.iter().any(|ours| is_named_so(ours) || is_same(ours))
}

/// Resolves symbolic links in the folder of a path, so that two paths of one file compare as equal.
fn placed(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
    let name = path.file_name().unwrap_or_default();
    folder.map_or_else(|_| path.to_owned(), |folder| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_known_under_any_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let store = at("runs.sqlite");
        fs::write(&store, "").expect("written");
        fs::hard_link(&store, at("hard")).expect("a link");
        std::os::unix::fs::symlink("runs.sqlite", at("soft")).expect("a link");
        for name in ["runs.sqlite", "./runs.sqlite", "runs.sqlite-wal", "runs.sqlite-shm"] {
            assert!(is_of_store(&at(name), &store), "{name}");
        }
        assert!(is_of_store(&at("hard"), &store) && is_of_store(&at("soft"), &store));
        assert!(!is_of_store(&at("runs.json"), &store) && !is_of_store(&at("none/x"), &store));
    }
}
