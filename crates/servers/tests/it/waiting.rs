//! Waits, with a limit, for events outside of the test process.

use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Time after which a hanging test fails. No successful wait takes nearly as long, even on a slow
/// or busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(600);

/// Whether the process `pid` ends within `limit`.
pub(crate) fn ends_within(pid: u32, limit: Duration) -> bool {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process's number")).expect("not 0");
    // No such process: it is already reaped.
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let limit = Timespec::try_from(limit).expect("a short while");
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit)).expect("polled") == 1
}

/// Whether the file or folder at `path` disappears within `limit`.
pub(crate) fn gone_within(path: &Path, limit: Duration) -> bool {
    let look_every = Duration::from_millis(20);
    let pause = Timespec::try_from(look_every).expect("a short while");
    for _ in 0..limit.as_millis() / look_every.as_millis() {
        if !path.exists() {
            return true;
        }
        poll(&mut [], Some(&pause)).expect("polled");
    }
    !path.exists()
}
