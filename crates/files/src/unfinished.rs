//! Files with a temporary name until they are complete, so that an incomplete file is never seen
//! under its own name, however the process ends.
//!
//! Files that a killed process left are removed by the next process that writes the same file. The
//! temporary name identifies the process: `runs.sqlite-1a2b3c4d-18456-0.new`, with a hash of boot
//! and PID namespace, the PID, and a number. Processes of another boot or container cannot be seen:
//! their files count as left behind after a day, which is longer than any write takes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Suffixes of the files that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
const END: &str = ".new";
/// Limit on the bytes of the final file name that the temporary one contains: 255 (NAME_MAX) less
/// up to 60 for the suffixes of dbdyno and SQLite. Of a longer name, only the beginning is used.
const NAME_BYTES_MAX: usize = 180;
const LEFT_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// A file with a temporary name until it is complete. Dropping this value removes the file unless
/// it was renamed.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
    file: File,
}

/// Writes a file with the permissions `mode` less the umask, replacing an existing one. At each
/// instant the file is the old or the new one as a whole, and nobody can read more of a new private
/// file than `mode` allows.
pub fn write_whole(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let mut new = Unfinished::beside(path, mode)?;
    new.file().write_all(bytes)?;
    new.replace(path)
}

impl Unfinished {
    /// Creates an empty file with a temporary name beside `path`, with the permissions `mode` less
    /// the umask, and removes files that killed processes left for the same `path`. Fails if the
    /// file cannot be created.
    pub fn beside(path: &Path, mode: u32) -> io::Result<Unfinished> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        remove_leftovers(path);
        let (place, pid) = (place(), std::process::id());
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = prefix(path);
        name.push(format!("{place:08x}-{pid}-{nth}{END}"));
        let path = folder_of(path).join(name);
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(&path)?;
        Ok(Unfinished { path, file })
    }

    /// Returns the temporary path, at which the file is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Renames the file to `path`, replacing an existing one. The bytes are on disk before the name
    /// appears, even if power fails.
    pub fn replace(self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, path)
    }

    /// Renames the file to `path` as [`Unfinished::replace`] does, but fails if `path` exists.
    pub fn create(self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        match fs::hard_link(&self.path, path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                // Some file systems have no links; there, two processes never share a folder.
                if path.symlink_metadata().is_ok() {
                    return Err(ErrorKind::AlreadyExists.into());
                }
                fs::rename(&self.path, path)
            }
            linked => linked,
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes incomplete files that killed processes left for the file at `path`.
pub fn remove_leftovers(path: &Path) {
    let Ok(entries) = fs::read_dir(folder_of(path)) else { return };
    let prefix = prefix(path);
    for entry in entries.flatten() {
        if entry.file_name().as_bytes().strip_prefix(prefix.as_bytes()).is_some_and(|rest| {
            let old = || entry.metadata().and_then(|file| file.modified()).ok()?.elapsed().ok();
            is_left(rest, &|| old().is_some_and(|age| age > LEFT_AFTER))
        }) {
            remove(&entry.path());
        }
    }
}

/// Whether a temporary file was left by a process that has ended; `rest` is the file's name without
/// its [`prefix`]. If the process belongs to another boot or container, `is_old` decides. False if
/// `rest` is not that of a temporary file.
fn is_left(rest: &[u8], is_old: &dyn Fn() -> bool) -> bool {
    let parse = || {
        let rest = std::str::from_utf8(rest).ok()?.strip_suffix(END)?;
        let mut parts = rest.split('-');
        let place = u32::from_str_radix(parts.next()?, 16).ok()?;
        let pid: u32 = parts.next()?.parse().ok()?;
        parts.next()?.parse::<u64>().ok()?;
        parts.next().is_none().then_some((place, pid))
    };
    match parse() {
        Some((there, pid)) if there == place() && Path::new("/proc/self").exists() => {
            // A zombie process still has a folder there, but no program.
            let program = fs::read_link(format!("/proc/{pid}/exe"));
            program.is_err_and(|error| error.kind() == ErrorKind::NotFound)
        }
        Some(_) => is_old(),
        None => false,
    }
}

/// Returns a hash of this boot and this PID namespace, within which a process ID is unique.
fn place() -> u32 {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let both = [boot.as_bytes(), namespace.as_os_str().as_bytes()].concat();
    model::fnv1a(&both) as u32
}

/// Returns the prefix of temporary names for the file at `path`: the file's name, shortened if
/// necessary, and a hyphen.
fn prefix(path: &Path) -> OsString {
    let name = path.file_name().unwrap_or(OsStr::new("dbdyno")).as_bytes();
    let mut prefix = OsString::from_vec(name[..name.len().min(NAME_BYTES_MAX)].to_vec());
    prefix.push("-");
    prefix
}

/// Returns the folder of a file, whether or not the file exists; `.` for a name without a folder.
pub fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Removes a file and the files that SQLite keeps beside it. Those beside it are removed first,
/// since they are found by the file's name.
fn remove(path: &Path) {
    for end in BESIDE.iter().chain([&""]) {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // Most of these files do not exist.
        let _ = fs::remove_file(name);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole_and_is_gone_otherwise() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs.json");
        let mut new = Unfinished::beside(&path, 0o600).expect("room");
        new.file().write_all(b"half").expect("room");
        let mode = fs::metadata(new.path()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(new);
        assert!(names(folder.path()).is_empty());
        let mut new = Unfinished::beside(&path, 0o600).expect("room");
        new.file().write_all(b"whole").expect("room");
        new.replace(&path).expect("a name");
        let other = Unfinished::beside(&path, 0o600).expect("room");
        let error = other.create(&path).expect_err("it is there");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(names(folder.path()), ["runs.json"]);
        assert_eq!(fs::read(&path).expect("a file"), b"whole");
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.dbdyno");
        let here = place();
        // No process has this number: the kernel's limit is 2^22.
        let dead = format!("a.dbdyno-{here:08x}-99999999-0.new");
        let kept = [
            format!("a.dbdyno-{:08x}-99999999-0.new", here.wrapping_add(1)),
            format!("a.dbdyno-{here:08x}-{}-0.new", std::os::unix::process::parent_id()),
            format!("b.dbdyno-{here:08x}-99999999-0.new"),
            "a.dbdyno-mine.new".to_owned(),
        ];
        let gone = [dead.clone(), format!("{dead}-wal"), format!("{dead}-shm")];
        for name in kept.iter().chain(&gone) {
            fs::write(folder.path().join(name), "").expect("written");
        }
        let new = Unfinished::beside(&path, 0o600).expect("room");
        let mut expected: Vec<String> = kept.to_vec();
        expected.push(new.path().file_name().expect("a name").to_string_lossy().into_owned());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn a_name_may_be_as_long_as_names_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x".repeat(255));
        Unfinished::beside(&path, 0o600).expect("room").create(&path).expect("a name");
        assert_eq!(names(folder.path()), ["x".repeat(255)]);
    }
}
