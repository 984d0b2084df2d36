//! Copies of a stopped server's data, from which the data can be restored.
//!
//! `cp` runs as the server's account, so that the owners of files stay the same. Not here: stopping
//! and starting the server.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{statvfs, syncfs};

use crate::instance::Instance;
use crate::{ServerError, ServerErrorKind};

/// Time limit for copying a server's data, after which the copy fails. A terabyte at 100 MB/s takes
/// three hours.
const COPY_LIMIT: Duration = Duration::from_secs(3 * 3600);
/// Disk space, in bytes, that must remain free after a server's data were copied; otherwise the
/// copy is not begun.
const LEFT_BYTES: u64 = 64 << 20;

/// Copies the data of a server that is not running, for [`put_back`], and replaces an earlier copy.
/// Fails if the disk has too little space.
pub(crate) fn keep(server: &Instance) -> Result<(), ServerError> {
    let dir = server.folder();
    let copy = dir.join("copy");
    if copy.exists() {
        let removed = fs::remove_dir_all(&copy);
        removed.map_err(|error| ServerError::system(copy.display(), error))?;
    }
    if !shares_blocks(server) {
        has_room(dir).map_err(|error| ServerError::system(dir.display(), error))??;
    }
    copy_folder(server, "data", "tmp/copy")?;
    // Renamed by us when it is complete, since the account may not write to the folder itself.
    let moved = fs::rename(dir.join("tmp/copy"), &copy);
    moved.map_err(|error| ServerError::system(copy.display(), error))
}

/// Replaces the data of a server that is not running by the copy that [`keep`] has made.
pub(crate) fn put_back(server: &Instance) -> Result<(), ServerError> {
    let dir = server.folder();
    let data = dir.join("data");
    let removed = fs::remove_dir_all(&data);
    removed.map_err(|error| ServerError::system(data.display(), error))?;
    copy_folder(server, "copy", "tmp/data")?;
    let moved = fs::rename(dir.join("tmp/data"), &data);
    moved.map_err(|error| ServerError::system(data.display(), error))
}

fn copy_folder(server: &Instance, from: &str, to: &str) -> Result<(), ServerError> {
    let dir = server.folder();
    if dir.join(to).exists() {
        // Remove what an interrupted copy left.
        let removed = fs::remove_dir_all(dir.join(to));
        removed.map_err(|error| ServerError::system(dir.display(), error))?;
    }
    let mut command = server.command(Path::new("cp"));
    command.args(["-a", "--reflink=auto"]).arg(dir.join(from)).arg(dir.join(to));
    server.run_within(COPY_LIMIT, "copying the data", command, b"")?;
    // Flush now: later writes would disturb the next measurement.
    let synced = fs::File::open(dir).and_then(|folder| Ok(syncfs(folder)?));
    synced.map_err(|error| ServerError::system(dir.display(), error))
}

/// Whether the file system of the server's folder lets copied files share disk blocks (reflinks),
/// so that a copy takes no space. Tries this with a small file.
fn shares_blocks(server: &Instance) -> bool {
    let dir = server.folder();
    let mut command = server.command(Path::new("cp"));
    let Ok(one) = server.write("one", b"shared?") else { return false };
    command.arg("--reflink=always").arg(one).arg(dir.join("tmp/another"));
    // The output of `cp` does not belong into the server's log.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let shares = command.status().is_ok_and(|status| status.success());
    // Files that cannot be removed go with the folder.
    let _ = server.unwrite("one");
    let _ = fs::remove_file(dir.join("tmp/another"));
    shares
}

/// Checks that the disk has space for a copy of the data of the server in `dir`. The outer error
/// means that this could not be determined, the inner one that there is too little.
fn has_room(dir: &Path) -> io::Result<Result<(), ServerError>> {
    let there = statvfs(dir)?;
    let free = there.f_bavail.saturating_mul(there.f_frsize);
    Ok(fits(bytes_in(&dir.join("data"))?, free, dir))
}

fn fits(bytes: u64, free: u64, dir: &Path) -> Result<(), ServerError> {
    let needed = bytes + LEFT_BYTES;
    if free >= needed {
        return Ok(());
    }
    let (needed, free) = (needed >> 20, free >> 20);
    let text = format!(
        "a copy of the data needs {needed} MiB in {}, and {free} MiB are free: name another folder \
         with ?folder=, or rebuild the data before each trial (--data rebuild)",
        dir.display()
    );
    Err(ServerError::new(ServerErrorKind::BadOption, text))
}

/// Returns the disk space that all files in a folder and its subfolders occupy, in bytes.
fn bytes_in(folder: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        total += match data.is_dir() {
            true => bytes_in(&entry.path())?,
            // Blocks are 512 bytes, regardless of the file system (stat(2)).
            false => data.blocks() * 512,
        };
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_does_not_fit_is_refused_with_its_remedy() {
        let dir = Path::new("/var/tmp/x");
        assert_eq!(fits(1 << 30, (1 << 30) + LEFT_BYTES, dir), Ok(()));
        let error = fits(1 << 30, 1 << 30, dir).expect_err("no room");
        let shown = "needs 1088 MiB in /var/tmp/x, and 1024 MiB are free: name another folder";
        assert!(error.text.contains(shown), "{error}");
    }

    #[test]
    fn what_files_take_is_counted_in_all_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("inner")).expect("made");
        for name in ["a", "inner/b"] {
            fs::write(folder.path().join(name), vec![7; 100_000]).expect("written");
        }
        assert!(bytes_in(folder.path()).expect("read") >= 2 * 98_304);
    }
}
