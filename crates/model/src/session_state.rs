//! What the sessions of a database do at an instant, by what they need to go on. Asked ten times a
//! second, it tells where the time of transactions goes ("active session history").
//!
//! Not here: who asks (monitor), and the parts of a transaction's time (analysis).

use crate::choice;

/// What a session does at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionState {
    /// It executes a statement, and waits for nothing that the server knows of: it has a CPU, or
    /// waits for one.
    Executing,
    /// It waits for a lock of a row, a page or a table that another transaction holds.
    Lock,
    /// It waits for a latch of the server's own: a mutex, a lightweight lock, a buffer pin.
    Latch,
    /// It waits for a file of data or a temporary file.
    Io,
    /// It commits: it writes or syncs the log, or waits for whoever does, or for a replica.
    Commit,
    /// It waits for its client in the middle of a transaction or of a reply.
    Client,
    /// It waits for something else.
    Other,
    /// It waits for its client between transactions.
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
    /// What its gauge means.
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

/// How a server is asked what its sessions do right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSampling {
    /// Queries, the best one first: the first one that the server takes is used. Each row: the
    /// name of a [`SessionState`], what the server itself calls it (empty where it has no name),
    /// and the number of sessions of the target's database in it, without the one that asks.
    pub queries: &'static [&'static str],
}
