//! Processes of ours, by their name in the store: signals to them, and their end. A number alone
//! may be another's by now.
//!
//! Not here: which process is meant.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use store::{Fate, Process};

/// A hold on a process that lives, so that no other can take its number meanwhile; none if it has
/// ended.
pub(super) fn hold(process: &Process) -> io::Result<Option<OwnedFd>> {
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidData)?;
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return Ok(None) };
    // The number may have been another's when the handle was opened.
    let is_it = process.fate(&Process::current()) == Fate::Alive;
    Ok(is_it.then_some(handle))
}

/// Waits for its end, as long as `limit`; whether it has ended.
pub(super) fn has_ended(handle: &OwnedFd, limit: Option<&Timespec>) -> io::Result<bool> {
    let mut ends = [PollFd::new(handle, PollFlags::IN)];
    Ok(poll(&mut ends, limit)? > 0)
}

/// Does what Ctrl-C does; false if the process has ended.
pub(super) fn interrupt(process: &Process) -> io::Result<bool> {
    match hold(process)? {
        Some(handle) => Ok(pidfd_send_signal(&handle, Signal::INT).map(|()| true)?),
        None => Ok(false),
    }
}
