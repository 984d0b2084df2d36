//! What scripts ask of the process that runs them, beside databases. Not here: any process.

use std::io;

/// Runs programs for scripts, and shows what they print. The command line hands it to the
/// workloads of a run.
pub trait ScriptHost: Send + Sync {
    /// Whether scripts may start programs.
    fn allows_shell(&self) -> bool;

    /// Executes a command of the shell, and waits until it has ended. Returns how it ended; with
    /// `reads`, also the first line of what it wrote. Fails if it cannot be started.
    fn run(&self, command: &str, reads: bool) -> io::Result<ShellEnded>;

    /// Shows a line that a script prints.
    fn show(&self, line: &str);
}

/// How a command of the shell ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellEnded {
    /// Whether its exit status is 0.
    pub is_success: bool,
    /// Its exit status or signal, in words.
    pub status: String,
    /// The first line that it wrote to the standard output; empty if that was not read.
    pub first_line: String,
}
