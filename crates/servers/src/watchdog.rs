//! Somebody who cleans up after us if we cannot: a small shell that reads from a pipe.
//!
//! A shell rather than ourselves restarted: the same for the program, its tests and whoever
//! uses this room as a library, and no word on our command line that others must know of.

use std::ffi::OsStr;
use std::io::{self, PipeReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::program::PATH;

const FOLDER: &str = include_str!("watchdog.sh");
const GROUP: &str = include_str!("watchdog_group.sh");

/// Somebody who acts when we die without having dropped this. Its drop says that all is done.
pub struct Watchdog {
    child: Child,
    /// Closed by the system when we die, however we die; no other process has it.
    pipe: Option<ChildStdin>,
}

impl Watchdog {
    /// Ends the server in `dir` and removes that folder if we cannot.
    pub(crate) fn over_folder(dir: &Path) -> io::Result<Watchdog> {
        let line: &OsStr = dir.as_os_str();
        assert!(!line.as_bytes().contains(&b'\n'), "a folder's path is one line");
        Watchdog::new(FOLDER, line.as_bytes(), Stdio::null())
    }

    /// Ends the process group `leader`, a child of ours, if we cannot: asked first, killed two
    /// seconds later. Its `output`, which we read, stays open until then: whoever writes to what
    /// nobody has open is ended by that (SIGPIPE), and tidies nothing up. Refused if no shell can
    /// be started.
    pub fn over_group(leader: u32, output: PipeReader) -> io::Result<Watchdog> {
        Watchdog::new(GROUP, leader.to_string().as_bytes(), output.into())
    }

    /// A shell with this script, which reads `line`, and only holds `held`.
    fn new(script: &str, line: &[u8], held: Stdio) -> io::Result<Watchdog> {
        // In a process group of its own: the Ctrl-C that ends us is not for it.
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

/// Nothing is left to be done.
impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // Refused only if it was killed, and then it does nothing either.
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
        // As the system does it when the owner is killed.
        drop(watchdog.pipe.take());
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("all of the group end");
        leader.wait().expect("reaped");
        assert_eq!((&begun, rest.as_str()), (b"begun\n", "tidied\n"));
    }
}
