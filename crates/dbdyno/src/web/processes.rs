//! Processes as the store identifies them: signals to them, and waiting for their end. A process id
//! alone may belong to another process by now.
//!
//! Not here: the choice of the process.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use store::{Fate, Process};

/// Opens a handle (pidfd) to a living process, which never refers to a later process of the same
/// id. `None` if the process has ended.
pub(super) fn hold(process: &Process) -> io::Result<Option<OwnedFd>> {
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidData)?;
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return Ok(None) };
    // The id may have belonged to another process when the handle was opened.
    let is_same = process.fate(&Process::current()) == Fate::Alive;
    Ok(is_same.then_some(handle))
}

/// Waits for the end of a process, at most `limit` if there is one. Returns whether it has ended.
pub(super) fn has_ended(handle: &OwnedFd, limit: Option<&Timespec>) -> io::Result<bool> {
    let mut ends = [PollFd::new(handle, PollFlags::IN)];
    Ok(poll(&mut ends, limit)? > 0)
}

/// Sends SIGINT to a process; returns false if it has ended.
pub(super) fn interrupt(process: &Process) -> io::Result<bool> {
    match hold(process)? {
        Some(handle) => Ok(pidfd_send_signal(&handle, Signal::INT).map(|()| true)?),
        None => Ok(false),
    }
}
