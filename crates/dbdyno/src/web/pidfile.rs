//! Which process serves a store: a file beside it, so that `dbdyno web` can tell and end that
//! one, and no other.
//!
//! Not here: how a service is started (cli).

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use app::Error;
use files::Unfinished;
use rustix::event::Timespec;
use rustix::process::{Signal, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use store::{Fate, Process};

use super::processes;

/// A service ends what it is doing for at most two seconds.
const END_MAX_S: i64 = 10;

/// A service that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PidFile {
    /// The process that serves.
    process: Process,
    /// Where its pages begin.
    pub(crate) address: String,
}

/// A file that belongs to a store.
pub(super) fn beside(store: &Path, what: &str) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(format!("-{what}"));
    PathBuf::from(path)
}

/// What a service in the background says.
pub(crate) fn log_path(store: &Path) -> PathBuf {
    beside(store, "web.log")
}

fn path(store: &Path) -> PathBuf {
    beside(store, "web.json")
}

/// Whether nothing can be written: a store may be read all the same.
fn is_read_only(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), ReadOnlyFilesystem | PermissionDenied | StorageFull | QuotaExceeded)
}

impl PidFile {
    /// The one that serves this store, if one does.
    pub(crate) fn of(store: &Path) -> Option<PidFile> {
        let text = fs::read_to_string(path(store)).ok()?;
        let pidfile: PidFile = serde_json::from_str(&text).ok()?;
        (pidfile.process.fate(&Process::current()) == Fate::Alive).then_some(pidfile)
    }

    /// This process serves the store from now on.
    pub(super) fn announce(store: &Path, address: &str) -> Result<PidFile, Error> {
        let pidfile = PidFile { process: Process::current(), address: address.to_owned() };
        let text = serde_json::to_string(&pidfile).expect("it is of words and numbers");
        let path = path(store);
        let written = Unfinished::beside(&path, 0o644).and_then(|mut new| {
            new.file().write_all(text.as_bytes())?;
            new.replace(&path)
        });
        match written {
            Ok(()) => Ok(pidfile),
            // Where a store may only be read, it is served, and nobody else can tell.
            Err(error) if is_read_only(&error) => Ok(pidfile),
            Err(error) => Err(Error::Failed(format!("{}: {error}", path.display()))),
        }
    }

    /// It does not serve any more. What another has announced meanwhile is his.
    pub(super) fn withdraw(&self, store: &Path) {
        if PidFile::of(store).as_ref() == Some(self) {
            // Whoever reads it sees that the process is gone.
            let _ = fs::remove_file(path(store));
        }
    }

    /// Whether its pages are at this address, of which a machine's own name may stand for all.
    pub(crate) fn listens_at(&self, asked: SocketAddr) -> bool {
        let host = self.address.split("//").nth(1).unwrap_or_default().trim_end_matches('/');
        let port = host.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
        match host.parse::<SocketAddr>() {
            Ok(host) => host == asked,
            Err(_) => asked.ip().is_unspecified() && port == Some(asked.port()),
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Ends it, and returns when it has ended.
    pub(crate) fn end(&self) -> Result<(), Error> {
        let failed = |error: io::Error| {
            Error::Failed(format!("the process {} cannot be ended: {error}", self.pid()))
        };
        let Some(handle) = processes::hold(&self.process).map_err(failed)? else { return Ok(()) };
        for signal in [Signal::TERM, Signal::KILL] {
            // It may end by itself meanwhile.
            let _ = pidfd_send_signal(&handle, signal);
            let limit = Timespec { tv_sec: END_MAX_S, tv_nsec: 0 };
            if processes::has_ended(&handle, Some(&limit)).map_err(failed)? {
                return Ok(());
            }
        }
        Err(failed(io::ErrorKind::TimedOut.into()))
    }
}
