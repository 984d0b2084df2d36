//! File for a command's result (`-o`). Names are rejected early if the store or another database
//! would be overwritten; a file is replaced as a whole.
//!
//! Not here: the content of the file, and results on the standard output (`print`).

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use app::Error;
use clap::ArgMatches;
use files::{Unfinished, folder_of};
use store::is_of_store;

use super::flags;
use crate::shell::Shell;

/// First bytes of an SQLite file (sqlite.org/fileformat.html, section 1.3).
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// Permissions of a new file, before the user's umask.
const MODE: u32 = 0o666;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutputFile {
    path: PathBuf,
}

impl OutputFile {
    /// Checks the name of an output file. Fails if it is the store or another SQLite database, or
    /// if its folder is missing.
    pub(super) fn named(
        name: &str,
        matches: &ArgMatches,
        shell: &Shell,
    ) -> Result<OutputFile, Error> {
        OutputFile::named_unless(name, |_| false, matches, shell)
    }

    /// Checks the name of an output file as [`OutputFile::named`] does, but also accepts a database
    /// other than the store if `may_replace` returns true for it.
    pub(super) fn named_unless(
        name: &str,
        may_replace: impl Fn(&Path) -> bool,
        matches: &ArgMatches,
        shell: &Shell,
    ) -> Result<OutputFile, Error> {
        let usage = |why: &str| Error::Usage(format!("-o {name}: {why}: name another file"));
        let path = PathBuf::from(name);
        // First, since closing a file of the store would drop its locks.
        let store = flags::store_path(matches, shell).ok();
        if store.is_some_and(|store| is_of_store(&path, &store)) {
            return Err(usage("it belongs to the store of runs"));
        }
        let folder = folder_of(&path);
        if !folder.is_dir() {
            let why = format!("-o {name}: there is no folder {}: make it", folder.display());
            return Err(Error::Usage(why));
        }
        if is_of_sqlite(&path) && !may_replace(&path) {
            return Err(usage("it is a database, and would be overwritten"));
        }
        Ok(OutputFile { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file as a whole, or leaves the old one unchanged after an error. A pipe or
    /// device is written directly.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        self.replace(bytes).map_err(|error| {
            Error::Failed(format!("{} cannot be written: {error}", self.path.display()))
        })
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let there = fs::metadata(&self.path).ok();
        let is_plain = |there: &Metadata| there.is_file();
        if there.as_ref().is_some_and(|there| !is_plain(there)) {
            // A pipe or a terminal is written directly; a folder gives an error.
            return fs::write(&self.path, bytes);
        }
        // Replace the target of a link.
        let path = match there {
            Some(_) => fs::canonicalize(&self.path)?,
            None => self.path.clone(),
        };
        let mut new = Unfinished::beside(&path, MODE)?;
        new.file().write_all(bytes)?;
        if let Some(there) = there {
            new.file().set_permissions(there.permissions())?;
        }
        new.replace(&path)
    }
}

/// Returns the extension of a file in lower case; empty if there is none.
pub(super) fn extension(name: &str) -> String {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

fn is_of_sqlite(path: &Path) -> bool {
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path).is_ok_and(|there| there.is_file()) {
        return false;
    }
    let mut first = [0; SQLITE_MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == SQLITE_MAGIC
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    fn files_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_keeps_who_may_read_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("a.json"), folder.path().join("link"));
        fs::write(&path, "old").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("ours");
        let old = fs::metadata(&path).expect("a file").ino();
        std::os::unix::fs::symlink("a.json", &link).expect("a link");
        OutputFile { path: link.clone() }.write(b"new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "new");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        let there = fs::metadata(&path).expect("a file");
        assert_eq!(there.permissions().mode() & 0o777, 0o640);
        assert_ne!(there.ino(), old, "who reads the old file reads it to its end");
        assert_eq!(files_in(folder.path()), ["a.json", "link"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_what_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("a")).expect("a folder");
        for (name, word) in [("a", "directory"), ("none/b.json", "No such file")] {
            let file = OutputFile { path: folder.path().join(name) };
            let refused = file.write(b"new").expect_err("refused").to_string();
            assert!(refused.contains("cannot be written") && refused.contains(word), "{refused}");
        }
        OutputFile { path: PathBuf::from("/dev/null") }.write(b"new").expect("it takes all");
        assert_eq!(files_in(folder.path()), ["a"]);
    }
}
