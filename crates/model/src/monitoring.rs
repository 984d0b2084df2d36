//! Queries for what a database reports about itself during a load, or just before and after. Each
//! driver fills them in.
//!
//! Not here: the readers (monitor, app), and the judgement of the answers (analysis).

use crate::{Counters, Fact, SessionSampling, SummaryQuery};

/// Query for the number of commits that the server itself has counted since its start, over all
/// sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitCounter {
    /// Name of the count in the server's spelling, such as `Com_commit`.
    pub name: &'static str,
    /// Query whose last column is the server's number of commits since its start.
    pub sql: &'static str,
    /// Whether the server's count of commits includes statements outside of explicit transactions;
    /// if false, it includes only COMMIT statements.
    pub counts_single_statements: bool,
}

/// Query for the number of connections that are open on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCounter {
    /// Name of the count in the server's spelling, such as `Threads_connected`.
    pub name: &'static str,
    /// Query whose last column is the number of open connections, including the one that executes
    /// the query.
    pub sql: &'static str,
}

/// Queries for a position in the log of a server, and whether a replica of it has applied it.
#[derive(Clone, Copy, Debug)]
pub struct ReplicaPosition {
    /// Query at the copied server for its present position: a text in the first column; null or
    /// empty if the server keeps none.
    pub written: &'static str,
    /// Query at the replica that returns 1 if it has applied everything up to the position that
    /// stands for `{position}`, 0 if it has not, and null if it is no replica.
    pub applied: &'static str,
}

/// Queries by which dbdyno reads what a database reports about itself, filled in by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Monitoring {
    /// Queries for the server's counters; `None` if it has none.
    pub counters: Option<Counters>,
    /// Names of the counters whose sum is the number of checkpoints, over all versions of the
    /// server; empty if it counts none.
    pub checkpoint_counters: &'static [&'static str],
    /// Query for the number of commits that the server counts; `None` if it counts none.
    pub commit_counter: Option<CommitCounter>,
    /// Query for the number of open connections; `None` if the server does not report it.
    pub connection_counter: Option<ConnectionCounter>,
    /// Query whose last column is the time since the server's start, in whole seconds; `None` if
    /// the server does not report this time.
    pub started_ago: Option<&'static str>,
    /// Queries by which dbdyno samples the states of the server's sessions; `None` if the server
    /// does not show them.
    pub session_states: Option<SessionSampling>,
    /// Queries for totals by statement, wait event or table. A query that fails, because the server
    /// lacks the view or the user lacks a privilege, is skipped.
    pub summaries: &'static [SummaryQuery],
    /// Query that costs the server almost nothing, by which dbdyno measures round-trip times;
    /// `None` if they are not measured.
    pub round_trip: Option<&'static str>,
    /// Alternative queries by which dbdyno measures how far a replica is behind the server that it
    /// copies; those of the first position that this server reports are used. Empty if there are
    /// none.
    pub replica_positions: &'static [ReplicaPosition],
    /// Query that returns one text of 1 MiB, by which dbdyno measures bandwidth; `None` if
    /// bandwidth is not measured.
    pub mebibyte: Option<&'static str>,
    /// Query that returns [`LARGE_TEXTS`] texts of 1 MiB each, by which dbdyno measures bandwidth;
    /// `None` if bandwidth is not measured.
    pub mebibytes: Option<&'static str>,
    /// Settings, as pairs of name and value, that make the server count more than by default if the
    /// user asks for it (`--instruments`). If the server lacks a setting, it is skipped.
    pub instruments: &'static [(&'static str, &'static str)],
    /// Statement, such as CREATE EXTENSION, that makes a server count more than by default. It is
    /// executed only on servers that dbdyno itself started; empty if there is none.
    pub instruments_of_own: &'static str,
}

/// Number of texts of 1 MiB in the larger reply with which bandwidth is measured.
pub const LARGE_TEXTS: u32 = 8;

impl Monitoring {
    /// Defaults for a new driver, without any capability: the database reports nothing about
    /// itself.
    pub const NONE: Monitoring = Monitoring {
        counters: None,
        checkpoint_counters: &[],
        commit_counter: None,
        connection_counter: None,
        started_ago: None,
        session_states: None,
        summaries: &[],
        round_trip: None,
        replica_positions: &[],
        mebibyte: None,
        mebibytes: None,
        instruments: &[],
        instruments_of_own: "",
    };

    /// Returns facts that readers of the stored run will need: the names of the checkpoint
    /// counters. Empty if the server counts no checkpoints.
    pub fn facts(&self) -> Vec<Fact> {
        let names = self.checkpoint_counters.join(", ");
        let fact = || Fact::new("checkpoints", "counters", names);
        if self.checkpoint_counters.is_empty() { Vec::new() } else { vec![fact()] }
    }
}
