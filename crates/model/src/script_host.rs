//! What scripts ask of the process that runs them, beside databases. Not here: any process.

use std::io;

use crate::{DbErrorKind, KindIndex};

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

    /// Learns of a command that the database has rejected, from a script that records the times of
    /// its commands.
    fn rejected(&self, _rejection: Rejection) {}

    /// Learns that the transaction with this rejection is executed again.
    fn retried(&self, _rejection: Rejection) {}
}

/// An error that ended an attempt of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// Type of the transaction.
    pub kind: KindIndex,
    /// Index of the command within the script of that type.
    pub command: usize,
    /// What the database has rejected it for.
    pub error: DbErrorKind,
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
