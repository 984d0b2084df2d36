//! Starts programs for scripts, if `--allow-shell` is given, and prints their lines.
//!
//! Not here: the commands of scripts (workloads).

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};
use model::{ScriptHost, ShellEnded};

use crate::shell::Shell;

/// Name of the flag that lets scripts start programs.
const ALLOW: &str = "allow_shell";
/// Most bytes of the first line that a program writes.
const LINE_MOST: u64 = 4096;

/// Returns the flag that lets scripts start programs.
pub(super) fn flag() -> Arg {
    Arg::new(ALLOW)
        .long("allow-shell")
        .action(ArgAction::SetTrue)
        .help_heading("Scripts")
        .help("Let the script start programs by \\shell and \\setshell, as your user")
}

/// Returns the host of scripts that a command line asks for; `None` if they may ask for nothing.
pub(super) fn of_flag(matches: &ArgMatches, shell: &Shell) -> Option<Arc<dyn ScriptHost>> {
    let host = OfProcess::of_flag(matches, shell);
    host.allows_shell.then_some(host as Arc<dyn ScriptHost>)
}

/// Programs are started by this process, and lines go to its error output.
pub(super) struct OfProcess {
    allows_shell: bool,
    shell: Shell,
}

impl OfProcess {
    /// Creates the host that starts programs only if a command line has the flag.
    pub(super) fn of_flag(matches: &ArgMatches, shell: &Shell) -> Arc<OfProcess> {
        // Commands that resume stored plans do not have the flag.
        let flag = matches.try_get_one::<bool>(ALLOW).ok().flatten();
        let allows_shell = flag.is_some_and(|flag| *flag);
        Arc::new(OfProcess { allows_shell, shell: shell.clone() })
    }
}

impl ScriptHost for OfProcess {
    fn allows_shell(&self) -> bool {
        self.allows_shell
    }

    fn run(&self, command: &str, reads: bool) -> io::Result<ShellEnded> {
        // The standard output has the report.
        let out = if reads { Stdio::piped() } else { Stdio::from(io::stderr()) };
        let mut child = Command::new("/bin/sh")
            .args(["-c", command])
            .stdin(Stdio::null())
            .stdout(out)
            .spawn()?;
        let mut first_line = String::new();
        if let Some(out) = child.stdout.take() {
            let mut out = BufReader::new(out);
            let mut line = Vec::new();
            out.by_ref().take(LINE_MOST).read_until(b'\n', &mut line)?;
            first_line = String::from_utf8_lossy(&line).into_owned();
            // A program that writes more is not to fail at a closed pipe.
            io::copy(&mut out, &mut io::sink())?;
        }
        let status = child.wait()?;
        Ok(ShellEnded { is_success: status.success(), status: status.to_string(), first_line })
    }

    fn show(&self, line: &str) {
        self.shell.say(line);
    }
}
