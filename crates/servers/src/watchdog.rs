//! Somebody who cleans up after us if we cannot: a small shell that reads from a pipe.
//!
//! A shell rather than ourselves started anew: the same for the program, its tests and whoever
//! uses this room as a library, and no word on our command line that others must know of.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::home::PATH;

const SCRIPT: &str = include_str!("watchdog.sh");

pub(crate) struct Watchdog {
    child: Child,
    /// Closed by the system when we die, however we die; no other process has it.
    pipe: Option<ChildStdin>,
}

impl Watchdog {
    /// Watches over `home` from now on.
    pub(crate) fn new(home: &Path) -> io::Result<Watchdog> {
        let line: &OsStr = home.as_os_str();
        assert!(!line.as_bytes().contains(&b'\n'), "a home's path is one line");
        // In a process group of its own: the Ctrl-C that ends us is not for it.
        let mut child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "dbdyno-watchdog"])
            .env_clear()
            .env("PATH", PATH)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut pipe = child.stdin.take().expect("stdin was asked to be a pipe");
        pipe.write_all(&[line.as_bytes(), b"\n"].concat())?;
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
