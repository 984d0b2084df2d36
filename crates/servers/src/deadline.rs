//! Waits for the end of a process, until a pause is over or a deadline passes.
//!
//! The deadline is a timer of the kernel (timerfd), so no clock is read here.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

pub(crate) struct Deadline {
    timer: OwnedFd,
}

/// Reason why [`Deadline::wait`] returned: the end of the process, the deadline, or the end of the
/// pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The process that the caller waited for has ended.
    Ended,
    /// The deadline of the wait has passed.
    Over,
    /// The pause is over, or a signal interrupted the wait, so that the caller should check its
    /// condition and wait again.
    Look,
}

impl Deadline {
    /// Creates a deadline that expires after `limit` from now.
    pub(crate) fn new(limit: Duration) -> io::Result<Deadline> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // A timer of zero would be disarmed.
        let value = timespec(limit.max(Duration::from_nanos(1)));
        let once = Itimerspec { it_interval: timespec(Duration::ZERO), it_value: value };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
        Ok(Deadline { timer })
    }

    /// Waits until `process` ends (if given), the deadline passes, or the time `pause` is over.
    /// Returns which of these happened; a signal counts as the end of the pause.
    pub(crate) fn wait(&self, process: Option<BorrowedFd<'_>>, pause: Duration) -> Woken {
        let mut watched = vec![PollFd::new(&self.timer, PollFlags::IN)];
        watched.extend(process.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        // An error means that a signal interrupted the wait.
        if poll(&mut watched, Some(&timespec(pause))).is_err() {
            return Woken::Look;
        }
        let ready = |index: usize| watched.get(index).is_some_and(|fd| !fd.revents().is_empty());
        match (ready(1), ready(0)) {
            (true, _) => Woken::Ended,
            (false, true) => Woken::Over,
            (false, false) => Woken::Look,
        }
    }

    /// Waits until `process` ends, and returns true; false if the deadline passes first.
    pub(crate) fn sees_end_of(&self, process: BorrowedFd<'_>) -> bool {
        loop {
            match self.wait(Some(process), Duration::from_secs(1)) {
                Woken::Ended => return true,
                Woken::Over => return false,
                Woken::Look => {}
            }
        }
    }
}

/// Opens a file descriptor of the process `pid` (a pidfd), with which [`Deadline::wait`] can wait
/// for the end of that process.
pub(crate) fn handle(pid: u32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Waits until `child` ends, and returns true; false if the deadline passes first. The child's exit
/// status must not have been read yet.
pub(crate) fn child_ends(child: &std::process::Child, deadline: &Deadline) -> io::Result<bool> {
    Ok(deadline.sees_end_of(handle(child.id())?.as_fd()))
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_by_itself() {
        let deadline = Deadline::new(Duration::from_millis(1)).expect("a timer");
        assert_eq!(deadline.wait(None, Duration::from_secs(60)), Woken::Over);
        assert_eq!(deadline.wait(None, Duration::from_secs(60)), Woken::Over);
        let none = Deadline::new(Duration::ZERO).expect("a timer");
        assert_eq!(none.wait(None, Duration::from_secs(60)), Woken::Over);
    }

    #[test]
    fn the_end_of_a_process_is_seen() {
        let deadline = Deadline::new(Duration::from_secs(60)).expect("a timer");
        let mut child = std::process::Command::new("true").spawn().expect("true");
        assert!(child_ends(&child, &deadline).expect("a handle"));
        child.wait().expect("reaped");
        assert_eq!(deadline.wait(None, Duration::from_millis(1)), Woken::Look);
    }
}
