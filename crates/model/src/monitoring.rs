//! A database's information about itself while a load runs, or right before and after: its own
//! counters. Capabilities that a driver fills in.
//!
//! Not here: the readers (monitor, app), and the judgement of the answers (analysis).

use crate::{Counters, Fact, SessionSampling, SummaryQuery};

/// The server's own count of commits of all sessions since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitCounter {
    /// The server's name for it, such as `Com_commit`.
    pub name: &'static str,
    /// Query for the count, which is in the last column.
    pub sql: &'static str,
    /// Statements outside of any transaction count too; otherwise only COMMITs do.
    pub counts_single_statements: bool,
}

/// The server's own count of open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCounter {
    /// The server's name for it, such as `Threads_connected`.
    pub name: &'static str,
    /// Query for the count, which is in the last column and includes the connection of the query.
    pub sql: &'static str,
}

/// Queries for a database's information about itself, filled in by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Monitoring {
    /// Access to its counters; `None` if it has none.
    pub counters: Option<Counters>,
    /// Names of counters of checkpoints, in all versions.
    pub checkpoint_counters: &'static [&'static str],
    /// The server's count of commits; `None` if it has none.
    pub commit_counter: Option<CommitCounter>,
    /// The server's count of connections; `None` if it has none.
    pub connection_counter: Option<ConnectionCounter>,
    /// Query for the whole seconds since the server's start, in the last column; `None` if it does
    /// not report this.
    pub started_ago: Option<&'static str>,
    /// Sampling of the states of its sessions; `None` if they are not visible.
    pub session_states: Option<SessionSampling>,
    /// Summaries by statement, event or table. Those that a server does not have, or does not
    /// permit, are skipped.
    pub summaries: &'static [SummaryQuery],
    /// A query of minimal cost, whose time is that of a round trip.
    pub round_trip: Option<&'static str>,
    /// A query that returns one text of 1 MiB.
    pub mebibyte: Option<&'static str>,
    /// A query that returns [`LARGE_TEXTS`] texts of 1 MiB each.
    pub mebibytes: Option<&'static str>,
    /// Settings, as pairs of name and value, that make the server count more than by default. Those
    /// that a server does not have are skipped.
    pub instruments: &'static [(&'static str, &'static str)],
    /// Statement for the instruments of a managed server, which may need more than settings; empty
    /// if none.
    pub instruments_of_own: &'static str,
}

/// Number of texts of 1 MiB in a large reply.
pub const LARGE_TEXTS: u32 = 8;

impl Monitoring {
    /// No capability: the database reports nothing about itself.
    pub const NONE: Monitoring = Monitoring {
        counters: None,
        checkpoint_counters: &[],
        commit_counter: None,
        connection_counter: None,
        started_ago: None,
        session_states: None,
        summaries: &[],
        round_trip: None,
        mebibyte: None,
        mebibytes: None,
        instruments: &[],
        instruments_of_own: "",
    };

    /// Returns the facts by which a stored run can be read: the names of the counters of
    /// checkpoints.
    pub fn facts(&self) -> Vec<Fact> {
        let names = self.checkpoint_counters.join(", ");
        let fact = || Fact::new("checkpoints", "counters", names);
        if self.checkpoint_counters.is_empty() { Vec::new() } else { vec![fact()] }
    }
}
