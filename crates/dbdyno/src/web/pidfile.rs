//! File beside a store that names the process which serves the store, so that `dbdyno web` can find
//! that process, and ends no other.
//!
//! Not here: starting a service (`cli`).

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use app::Error;
use files::write_whole;
use rustix::event::Timespec;
use rustix::process::{Signal, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use store::{Fate, Process};

use super::processes;

/// Time limit for a service to end, in seconds, after which its process is killed. Open requests
/// take at most two of them.
const END_MAX_S: i64 = 10;

/// Content of the file that names the running service of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PidFile {
    /// Identity of the service's process, which no later process has.
    process: Process,
    /// Address of the service's pages.
    pub(crate) address: String,
}

/// Returns the path of a file that belongs to a store: the store's path, `-` and `what`.
pub(super) fn beside(store: &Path, what: &str) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(format!("-{what}"));
    PathBuf::from(path)
}

/// Returns the path of the log of a store's service in the background.
pub(crate) fn log_path(store: &Path) -> PathBuf {
    beside(store, "web.log")
}

fn path(store: &Path) -> PathBuf {
    beside(store, "web.json")
}

/// Returns true if an error means that a folder cannot be written. A store in such a folder may be
/// readable all the same.
fn is_read_only(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), ReadOnlyFilesystem | PermissionDenied | StorageFull | QuotaExceeded)
}

impl PidFile {
    /// Reads the file that names the service of a store; `None` if no service is running.
    pub(crate) fn for_store(store: &Path) -> Option<PidFile> {
        let text = fs::read_to_string(path(store)).ok()?;
        let pidfile: PidFile = serde_json::from_str(&text).ok()?;
        (pidfile.process.fate(&Process::current()) == Fate::Alive).then_some(pidfile)
    }

    /// Writes the file that names this process as the service of a store. If the folder is not
    /// writable, the service runs without the file.
    pub(super) fn announce(store: &Path, address: &str) -> Result<PidFile, Error> {
        let pidfile = PidFile { process: Process::current(), address: address.to_owned() };
        let text = serde_json::to_string(&pidfile).expect("it is of words and numbers");
        let path = path(store);
        match write_whole(&path, 0o644, text.as_bytes()) {
            Ok(()) => Ok(pidfile),
            // A read-only store is served all the same, but other processes cannot find the
            // service.
            Err(error) if is_read_only(&error) => Ok(pidfile),
            Err(error) => Err(Error::Failed(format!("{}: {error}", path.display()))),
        }
    }

    /// Removes the file that names the service of a store, unless another service has replaced the
    /// file.
    pub(super) fn withdraw(&self, store: &Path) {
        if PidFile::for_store(store).as_ref() == Some(self) {
            // A remaining file names a process that has ended.
            let _ = fs::remove_file(path(store));
        }
    }

    /// Returns true if the service listens at this address. A wildcard address matches a service
    /// under the machine's name, with the same port.
    pub(crate) fn listens_at(&self, asked: SocketAddr) -> bool {
        let host = self.address.split("//").nth(1).unwrap_or_default().trim_end_matches('/');
        let port = host.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
        match host.parse::<SocketAddr>() {
            Ok(host) => host == asked,
            Err(_) => asked.ip().is_unspecified() && port == Some(asked.port()),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Ends the process of the service and waits for its end; kills the process if that takes more
    /// than ten seconds.
    pub(crate) fn end(&self) -> Result<(), Error> {
        let failed = |error: io::Error| {
            Error::Failed(format!("the process {} cannot be ended: {error}", self.pid()))
        };
        let Some(handle) = processes::hold(&self.process).map_err(failed)? else { return Ok(()) };
        for signal in [Signal::TERM, Signal::KILL] {
            // The process may have ended meanwhile.
            let _ = pidfd_send_signal(&handle, signal);
            let limit = Timespec { tv_sec: END_MAX_S, tv_nsec: 0 };
            if processes::has_ended(&handle, Some(&limit)).map_err(failed)? {
                return Ok(());
            }
        }
        Err(failed(io::ErrorKind::TimedOut.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_served_like_a_read_only_one() {
        use io::ErrorKind::{NotFound, PermissionDenied, QuotaExceeded, StorageFull};
        for kind in [StorageFull, QuotaExceeded, PermissionDenied] {
            assert!(is_read_only(&kind.into()), "{kind}");
        }
        // As the system reports a full disk.
        assert!(is_read_only(&rustix::io::Errno::NOSPC.into()));
        assert!(!is_read_only(&NotFound.into()));
    }
}
