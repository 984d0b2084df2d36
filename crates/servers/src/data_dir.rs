//! The folder of a private server: created and locked by this process, and removed by it or by a
//! later one.
//!
//! The file `owner` in it is locked while this process lives; the kernel releases the lock when it
//! ends. A folder whose `owner` is not locked is stale. (Process id and start time would not work
//! across containers that share a folder.) `data`, `run` (sockets), `tmp` and `files` belong to the
//! server; `log` is its output; `lib` has links to its libraries.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::os_user::OsUser;
use crate::processes::Marks;
use crate::watchdog::Watchdog;
use crate::{ServerError, ServerErrorKind};

const PREFIX: &str = "dbdyno-server-";

/// Longest path of a Unix socket, in bytes: 108 less the terminating zero (`sun_path`, unix(7)). A
/// folder in which a socket would have a longer path is refused.
const SOCKET_PATH_MAX: usize = 107;
const SOCKET_LONGEST: &str = "/run/.s.PGSQL.65535";

/// Limit on the lines of the server's log that an error message quotes.
const TAIL_LINES_MAX: usize = 15;
const TAIL_BYTES_MAX: u64 = 16 * 1024;

pub(crate) struct DataDir {
    path: PathBuf,
    account: OsUser,
    removed: bool,
    /// Shell process that ends the server and removes the folder if dbdyno's process is killed.
    _watchdog: Watchdog,
    /// The file `owner` in the folder, whose lock shows other processes that the folder is in use.
    /// Dropping it releases the lock, which must happen last.
    _owner: File,
}

impl DataDir {
    /// Creates and locks a folder in `parent` for a server that runs as `account`. Fails if the
    /// account cannot enter the folder, or if the folder's path has a colon or is too long for a
    /// Unix socket in it.
    pub(crate) fn make(parent: &Path, account: OsUser) -> Result<DataDir, ServerError> {
        let bad = |text: String| ServerError::new(ServerErrorKind::BadOption, text);
        let shown = parent.display();
        let parent = fs::canonicalize(parent).map_err(|error| {
            bad(format!("{shown}: {error}; name an existing folder with ?folder="))
        })?;
        let n_bytes = parent.as_os_str().len() + PREFIX.len() + 9 + SOCKET_LONGEST.len();
        let control = |byte: &u8| byte.is_ascii_control() || *byte == b':';
        if n_bytes > SOCKET_PATH_MAX || parent.as_os_str().as_bytes().iter().any(control) {
            return Err(bad(format!(
                "{shown}: the path of a socket must not exceed {SOCKET_PATH_MAX} bytes or contain \
                 control characters or ':'; name another folder, such as ?folder=/tmp"
            )));
        }
        let path =
            tempfile::Builder::new().prefix(PREFIX).rand_bytes(8).tempdir_in(&parent).map_err(
                |error| bad(format!("{shown}: {error}; name a writable folder with ?folder=")),
            )?;
        if let Some(closed) = account.stopped_at(path.path()) {
            return Err(bad(format!(
                "the user '{}' cannot enter {}: name another folder with ?folder=",
                account.name(),
                closed.display()
            )));
        }
        let failed = |error| ServerError::system(parent.display(), error);
        let owner = own(path.path()).map_err(&failed)?;
        let watchdog = Watchdog::over_folder(path.path()).map_err(|error| {
            ServerError::system("the watchdog (/bin/sh) cannot be started", error)
        })?;
        let path = path.keep();
        let dir = DataDir { path, account, removed: false, _watchdog: watchdog, _owner: owner };
        dir.populate().map_err(&failed)?;
        Ok(dir)
    }

    fn populate(&self) -> io::Result<()> {
        // Others may enter, to reach their own files, but not list it.
        fs::set_permissions(&self.path, Permissions::from_mode(0o711))?;
        for (name, mode) in
            [("data", 0o700), ("run", 0o755), ("tmp", 0o700), ("files", 0o700), ("lib", 0o755)]
        {
            let folder = self.path.join(name);
            DirBuilder::new().mode(mode).create(&folder)?;
            // Regardless of the umask.
            fs::set_permissions(&folder, Permissions::from_mode(mode))?;
            self.account.own(&folder)?;
        }
        self.log().map(drop)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder's name without its path. Random characters at the end make the name
    /// unique.
    pub(crate) fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).expect("a name of ours is ASCII")
    }

    pub(crate) fn marks(&self) -> Marks {
        Marks::in_dir(&self.path)
    }

    /// Writes or replaces a file that only the server's account may read. `name` is the file's path
    /// within this folder. Returns the full path.
    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        // Created again: an old one belongs to the server, which may have replaced it by a link.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(contents)?;
        self.account.own_file(&file)?;
        Ok(path)
    }

    /// Opens the file for the server's log, to append to it.
    pub(crate) fn log(&self) -> io::Result<File> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(self.path.join("log"))
    }

    /// Returns the last lines of the server's log, at most 15; empty if the log cannot be read.
    pub(crate) fn log_tail(&self) -> String {
        let read = || -> io::Result<String> {
            let mut file = File::open(self.path.join("log"))?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES_MAX)))?;
            let mut bytes = Vec::new();
            file.take(TAIL_BYTES_MAX).read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        // An unreadable log counts as empty.
        last_lines(&read().unwrap_or_default())
    }

    /// Ends the server's processes and removes the folder. Does nothing if the folder is already
    /// removed.
    pub(crate) fn remove(&mut self) -> io::Result<()> {
        if !self.removed {
            self.marks().end()?;
            fs::remove_dir_all(&self.path)?;
            self.removed = true;
        }
        Ok(())
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        // The next start sweeps what is left.
        let _left = self.remove();
    }
}

/// Creates and locks the file `owner` in `dir`, which shows that the folder is in use. The file
/// gets this name only once it is locked, so that no other process takes a new folder for an
/// abandoned one.
fn own(dir: &Path) -> io::Result<File> {
    let unseen = dir.join("owner.new");
    let mut owner = OpenOptions::new().write(true).create_new(true).open(&unseen)?;
    owner.lock()?;
    writeln!(owner, "process {}", std::process::id())?;
    fs::rename(unseen, dir.join("owner"))?;
    Ok(owner)
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(TAIL_LINES_MAX);
    lines[first..].join("\n")
}

/// Removes the folders of private servers in `parent` that a killed dbdyno process has left, after
/// ending their servers. Returns the number of folders removed. Ignores folders of other users, who
/// could otherwise make dbdyno end any process.
pub fn sweep(parent: &Path) -> io::Result<usize> {
    let us = geteuid().as_raw();
    let parent = fs::canonicalize(parent)?;
    let mut n_swept = 0;
    for entry in fs::read_dir(&parent)? {
        let entry = entry?;
        let is_named = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        // Does not follow links. Fails if the owner has removed the folder in the meantime.
        let is_ours = entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == us);
        if is_named && is_ours && sweep_one(&entry.path()).unwrap_or(false) {
            n_swept += 1;
        }
    }
    Ok(n_swept)
}

fn sweep_one(dir: &Path) -> io::Result<bool> {
    let owner = File::open(dir.join("owner"))?;
    match owner.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    Marks::in_dir(dir).end()?;
    fs::remove_dir_all(dir)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us() -> OsUser {
        OsUser::choose(crate::Kind::MariaDb, None).expect("an account")
    }

    #[test]
    fn only_folders_without_an_owner_are_swept() {
        let parent = tempfile::tempdir().expect("a folder");
        fs::set_permissions(parent.path(), Permissions::from_mode(0o755)).expect("opened");
        let alive = DataDir::make(parent.path(), us()).expect("a dir");
        let stale = parent.path().join("dbdyno-server-stale");
        fs::create_dir_all(stale.join("data")).expect("made");
        fs::write(stale.join("owner"), "process 1\n").expect("written");
        let unfinished = parent.path().join("dbdyno-server-unfinished");
        fs::create_dir(&unfinished).expect("made");
        fs::create_dir(parent.path().join("elsewhere")).expect("made");
        assert_eq!(sweep(parent.path()).expect("swept"), 1);
        assert!(!stale.exists() && unfinished.exists() && alive.path().join("data").exists());
        let path = alive.path().to_owned();
        drop(alive);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_reported_with_its_remedy() {
        let check = |parent: &Path, expect: &str| {
            let Err(error) = DataDir::make(parent, us()) else { panic!("{}", parent.display()) };
            assert_eq!(error.kind, ServerErrorKind::BadOption);
            assert!(error.text.contains(expect), "{error}");
        };
        let parent = tempfile::tempdir().expect("a folder");
        check(&parent.path().join("nowhere"), "name an existing folder with ?folder=");
        let long = parent.path().join("x".repeat(80));
        fs::create_dir(&long).expect("made");
        check(&long, "name another folder, such as ?folder=/tmp");
        check(Path::new("/proc"), "name a writable folder with ?folder=");
    }

    #[test]
    fn the_log_is_shown_by_its_last_lines() {
        let text: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        let tail = last_lines(&text);
        assert!(tail.starts_with("line 85\n") && tail.ends_with("line 99"), "{tail}");
        assert_eq!(last_lines(""), "");
    }
}
