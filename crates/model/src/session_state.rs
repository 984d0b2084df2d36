//! States of a database's sessions, by the resource they wait for. Sampled ten times per second,
//! they show where transactions spend their time ("active session history").
//!
//! Not here: sampling (monitor), and the parts of a transaction's time (analysis).

use crate::choice;

/// The state of a session at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionState {
    /// Executes a statement without a wait known to the server: it has a CPU, or waits for one.
    Executing,
    /// Waits for a lock of a row, page or table that another transaction holds.
    Lock,
    /// Waits for a latch of the server: a mutex, a lightweight lock, a buffer pin.
    Latch,
    /// Waits for a data file or a temporary file.
    Io,
    /// Commits: writes or syncs the log, or waits for another session that does, or for a replica.
    Commit,
    /// Waits for its client within a transaction or a reply.
    Client,
    /// Waits for anything else.
    Other,
    /// Waits for its client between transactions.
    Idle,
}

choice!(SessionState {
    Executing = "executing",
    Lock = "lock",
    Latch = "latch",
    Io = "io",
    Commit = "commit",
    Client = "client",
    Other = "other",
    Idle = "idle",
});

impl SessionState {
    /// Returns the explanation of its gauge.
    pub fn help(self) -> &'static str {
        match self {
            SessionState::Executing => {
                "Sessions executing a statement that waited for nothing the server knows of (mean \
                 of the samples of a second)."
            }
            SessionState::Lock => "Sessions waiting for a lock of a row, page or table.",
            SessionState::Latch => {
                "Sessions waiting for a latch of the server: mutex, lightweight lock, buffer pin."
            }
            SessionState::Io => "Sessions waiting for a file of data, or a temporary file.",
            SessionState::Commit => {
                "Sessions committing: writing or syncing the log, or waiting for it."
            }
            SessionState::Client => "Sessions waiting for their client within a transaction.",
            SessionState::Other => "Sessions waiting for something else.",
            SessionState::Idle => "Sessions waiting for their client between transactions.",
        }
    }
}

/// Queries for the current states of a server's sessions, filled in by a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSampling {
    /// Alternative queries, the best first: the first that the server accepts is used. Each row:
    /// the name of a [`SessionState`], the server's name for it (may be empty), and the number of
    /// sessions of the target's database in that state, without the one that asks.
    pub queries: &'static [&'static str],
}
