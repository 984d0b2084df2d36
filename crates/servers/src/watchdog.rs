//! Cleans up if dbdyno's process is killed: a shell process notices that by the end of a pipe.
//!
//! A shell works in the same way for the dbdyno program, for tests and for programs that use this
//! crate, and needs no hidden subcommand.

use std::ffi::OsStr;
use std::io::{self, PipeReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::program::PATH;

const FOLDER: &str = include_str!("watchdog.sh");
const GROUP: &str = include_str!("watchdog_group.sh");

/// A shell process that cleans up if dbdyno's process ends without dropping this value, such as by
/// SIGKILL. Dropping the value tells the shell that nothing is left to do, and waits for its end.
pub struct Watchdog {
    child: Child,
    /// Pipe to the shell, which the kernel closes when dbdyno's process ends. That tells the shell
    /// to clean up. `None` only while this value is dropped.
    pipe: Option<ChildStdin>,
}

impl Watchdog {
    /// Starts a watchdog for a server: if dbdyno's process ends without dropping the watchdog, it
    /// ends the server whose folder is `dir` and removes that folder. Fails if no shell can be
    /// started.
    pub(crate) fn over_folder(dir: &Path) -> io::Result<Watchdog> {
        let line: &OsStr = dir.as_os_str();
        assert!(!line.as_bytes().contains(&b'\n'), "a folder's path is one line");
        Watchdog::new(FOLDER, line.as_bytes(), Stdio::null())
    }

    /// Starts a watchdog for a process group: if dbdyno's process ends without dropping the
    /// watchdog, it ends the group of the child `leader` by SIGTERM, and by SIGKILL two seconds
    /// later. `output` is the pipe from which dbdyno reads the group's output. The watchdog keeps
    /// the pipe open until then, since a write to a closed pipe would end the group by SIGPIPE
    /// before it cleans up. Fails if no shell can be started.
    pub fn over_group(leader: u32, output: PipeReader) -> io::Result<Watchdog> {
        Watchdog::new(GROUP, leader.to_string().as_bytes(), output.into())
    }

    /// Starts a shell with this script. The shell gets `line` on its stdin, and keeps the pipe
    /// `held` open as its stdout.
    fn new(script: &str, line: &[u8], held: Stdio) -> io::Result<Watchdog> {
        // In its own process group, so that Ctrl-C does not reach it.
        let mut child = Command::new("/bin/sh")
            .args(["-c", script, "dbdyno-watchdog"])
            .env_clear()
            .env("PATH", PATH)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(held)
            .stderr(Stdio::null())
            .spawn()?;
        let mut pipe = child.stdin.take().expect("stdin was asked to be a pipe");
        pipe.write_all(&[line, b"\n"].concat())?;
        Ok(Watchdog { child, pipe: Some(pipe) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // Fails only if it was killed.
            let _killed = pipe.write_all(b"done\n");
        }
        let _reaped = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn watch(leader: u32, output: &PipeReader) -> Watchdog {
        let output = output.try_clone().expect("one more descriptor");
        Watchdog::over_group(leader, output).expect("a watchdog")
    }

    #[test]
    fn a_group_ends_with_its_owner_and_may_tidy_up() {
        let script = "(trap 'echo tidied; exit' TERM; sleep 1000 & echo begun; wait)";
        let (mut output, writer) = io::pipe().expect("a pipe");
        let mut leader = Command::new("sh")
            .args(["-c", &format!("trap '' TERM; {script} & sleep 1000; wait")])
            .process_group(0)
            .stdout(writer)
            .stderr(Stdio::null())
            .spawn()
            .expect("sh");
        let mut begun = [0; 6];
        output.read_exact(&mut begun).expect("it begins");
        let mut watchdog = watch(leader.id(), &output);
        // The kernel does the same when the owner is killed.
        drop(watchdog.pipe.take());
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("all of the group end");
        leader.wait().expect("reaped");
        assert_eq!((&begun, rest.as_str()), (b"begun\n", "tidied\n"));
    }
}
