//! A process that a test has started: its output is read while it runs, and every wait has a limit.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::home::Ran;

/// Time after which a test that hangs is ended. No successful wait comes near it, not even on a
/// slow or busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(900);
/// Interval of checks while a process prints nothing.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Process that is killed when this value is dropped.
pub(crate) struct Started {
    child: Child,
    out: Option<JoinHandle<String>>,
    lines: Receiver<String>,
    err: String,
}

#[expect(clippy::disallowed_methods, reason = "these tests are of processes in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

impl Started {
    /// Starts `command` and captures its output, except streams that are redirected already.
    pub(crate) fn new(mut command: Command) -> Started {
        command.stderr(Stdio::piped()).stdout(Stdio::piped());
        Started::as_it_is(command)
    }

    /// Starts `command` without capturing its stdout and stderr.
    pub(crate) fn as_it_is(mut command: Command) -> Started {
        let mut child = command.spawn().expect("the program is there");
        let out = child.stdout.take().map(|mut pipe| {
            spawn(move || {
                let mut bytes = Vec::new();
                pipe.read_to_end(&mut bytes).expect("a pipe can be read");
                String::from_utf8(bytes).expect("dbdyno writes UTF-8")
            })
        });
        let (tell, lines) = channel();
        if let Some(pipe) = child.stderr.take() {
            spawn(move || {
                let mut pipe = BufReader::new(pipe);
                let mut line = String::new();
                while pipe.read_line(&mut line).is_ok_and(|n| n > 0) {
                    if tell.send(std::mem::take(&mut line)).is_err() {
                        break;
                    }
                }
            });
        }
        Started { child, out, lines, err: String::new() }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Reads stderr until `is_so` holds for all of its text. The process must not end before;
    /// `what` names the wait.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, mut is_so: impl FnMut(&str) -> bool) {
        // Each wait has its own limit, because earlier steps may take long on a busy machine.
        let deadline = now() + LIMIT;
        while !is_so(&self.err) {
            assert!(now() < deadline, "never came: {what}\n{}", self.err);
            let is_over = self.child.try_wait().expect("it is our child").is_some();
            assert!(!is_over, "it ended before this came: {what}\n{}", self.err);
            match self.lines.recv_timeout(LOOK_EVERY) {
                Ok(line) => self.err += &line,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    /// Sends SIGINT, like Ctrl-C.
    pub(crate) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Sends SIGTERM, like a service manager.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGHUP, like a closed terminal.
    pub(crate) fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it was not waited for, so it is there");
    }

    /// Stops the process with SIGSTOP until [`Started::go_on`] continues it.
    pub(crate) fn stand_still(&self) {
        self.signal(Signal::STOP);
    }

    /// Continues the process after [`Started::stand_still`] has stopped it.
    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// Stops the process for `length`.
    pub(crate) fn pause(&self, length: Duration) {
        self.stand_still();
        rest(length);
        self.go_on();
    }

    /// Sends SIGKILL to the process.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it was not waited for, so it is there");
    }

    /// Returns the ids of child processes whose command lines contain `word`.
    pub(crate) fn children(&self, word: &str) -> Vec<u32> {
        let folder = format!("/proc/{}/task", self.id());
        let mut pids = Vec::new();
        for thread in std::fs::read_dir(folder).expect("it lives") {
            let path = thread.expect("a thread").path().join("children");
            let of_thread = std::fs::read_to_string(path).unwrap_or_default();
            pids.extend(of_thread.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        pids.sort_unstable();
        pids.dedup();
        pids.retain(|pid| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(word)
        });
        pids
    }

    /// Kills the child processes whose command lines contain `word`, of which there must be some.
    #[track_caller]
    pub(crate) fn kill_children(&self, word: &str) {
        let pids = self.children(word);
        assert!(!pids.is_empty(), "no child with {word}");
        for pid in pids {
            let pid = Pid::from_raw(pid.cast_signed()).expect("a number");
            kill_process(pid, Signal::KILL).expect("it is there");
        }
    }

    /// Waits for the end of the process, and returns its output.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ran {
        let deadline = now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.err += &line,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    // The process must not outlive the test.
                    let _ = self.child.kill();
                    panic!("it did not end within {LIMIT:?}:\n{}", self.err);
                }
            }
        }
        self.wait_for_death();
        let status = self.child.wait().expect("it is our child");
        let out = self.out.take().map(|out| out.join().expect("the reader does not panic"));
        Ran {
            code: status.code(),
            out: out.unwrap_or_default(),
            err: std::mem::take(&mut self.err),
        }
    }
}

/// Waits until `is_so` holds; returns false if it never does.
pub(crate) fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = now() + LIMIT;
    while !is_so() {
        if now() > deadline {
            return false;
        }
        look_again();
    }
    true
}

/// Waits for the interval [`LOOK_EVERY`], before the next check.
pub(crate) fn look_again() {
    rest(LOOK_EVERY);
}

/// Lets time pass, in which something that a test has planted lasts.
pub(crate) fn rest(length: Duration) {
    let pause = Timespec::try_from(length).expect("it is short");
    // Only a timer.
    poll(&mut [], Some(&pause)).expect("nothing can be waited for");
}

impl Started {
    /// Waits for the end of the process. Another process may hold its stderr open, or it may be
    /// redirected.
    #[track_caller]
    fn wait_for_death(&mut self) {
        let limit = Timespec::try_from(LIMIT).expect("the limit is short");
        let descriptor = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())
            .expect("it was not waited for, so it is there");
        let mut ends = [PollFd::new(&descriptor, PollFlags::IN)];
        let n_ended = poll(&mut ends, Some(&limit)).expect("a descriptor can be waited for");
        if n_ended == 0 {
            self.kill();
            panic!("it did not end within {LIMIT:?}:\n{}", self.err);
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
