//! States of a server's sessions, by the resource they wait for. They are sampled ten times per
//! second, which shows where transactions spend their time ("active session history").
//!
//! Not here: sampling (monitor), and the evaluation of the samples (analysis).

use crate::choice;

/// State of a session on a database server at some instant: what it does or waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionState {
    /// The session executes a statement and waits for nothing that the server knows of, so it runs
    /// on a CPU or waits for one.
    Executing,
    /// The session waits for a lock on a row, page or table that another transaction holds.
    Lock,
    /// The session waits for an internal lock of the server: a latch, mutex, lightweight lock or
    /// buffer pin.
    Latch,
    /// The session waits for the read or write of a data file or a temporary file.
    Io,
    /// The session commits: it writes or syncs the log, or waits for another session or a replica
    /// to do so.
    Commit,
    /// The session waits for its client, within a transaction or while it sends a reply.
    Client,
    /// The session waits for something that none of the other states covers.
    Other,
    /// The session is idle: it waits for its client outside of any transaction.
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
    /// Returns the help text of the gauge that counts sessions in this state.
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

/// Queries by which dbdyno samples the states of a server's sessions, filled in by a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSampling {
    /// Alternative queries; dbdyno uses the first one that the server accepts. Each row has the
    /// name of a [`SessionState`], the server's own name for the state (may be empty), and the
    /// number of sessions in that state. Sessions of the target's database count, except the one
    /// that executes the query.
    pub queries: &'static [&'static str],
}
