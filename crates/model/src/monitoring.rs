//! Queries for what a database reports about itself during a load, or just before and after. Each
//! driver fills them in.
//!
//! Not here: the readers (monitor, app), and the judgement of the answers (analysis).

use crate::{Counters, Fact, SessionSampling, SummaryQuery};

/// The server's own count of commits, over all sessions since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitCounter {
    /// Name of the count in the server's spelling, such as `Com_commit`.
    pub name: &'static str,
    /// Query whose last column is the count.
    pub sql: &'static str,
    /// Statements outside of explicit transactions count too; if false, only COMMIT statements do.
    pub counts_single_statements: bool,
}

/// The server's own count of its open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCounter {
    /// Name of the count in the server's spelling, such as `Threads_connected`.
    pub name: &'static str,
    /// Query whose last column is the count, including the connection that executes the query.
    pub sql: &'static str,
}

/// Queries for what a database reports about itself, filled in by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Monitoring {
    /// Queries for the server's counters; `None` if it has none.
    pub counters: Option<Counters>,
    /// Names of the counters whose sum is the number of checkpoints, over all versions of the
    /// server; empty if it counts none.
    pub checkpoint_counters: &'static [&'static str],
    /// Query for the server's count of commits; `None` if it has none.
    pub commit_counter: Option<CommitCounter>,
    /// Query for the server's count of connections; `None` if it has none.
    pub connection_counter: Option<ConnectionCounter>,
    /// Query whose last column is the time since the server's start, in whole seconds; `None` if
    /// the server does not report it.
    pub started_ago: Option<&'static str>,
    /// Queries for the states of the server's sessions, for sampling; `None` if they are not
    /// visible.
    pub session_states: Option<SessionSampling>,
    /// Queries for totals by statement, event or table. If the server lacks one, or the user may
    /// not read it, it is skipped.
    pub summaries: &'static [SummaryQuery],
    /// Query that costs the server almost nothing, to measure the time of a round trip; `None` to
    /// measure none.
    pub round_trip: Option<&'static str>,
    /// Query that returns one text of 1 MiB, to measure bandwidth; `None` to measure none.
    pub mebibyte: Option<&'static str>,
    /// Query that returns [`LARGE_TEXTS`] texts of 1 MiB each, to measure bandwidth; `None` to
    /// measure none.
    pub mebibytes: Option<&'static str>,
    /// Settings, as pairs of name and value, with which the server counts more than by default
    /// (`--instruments`). If the server lacks one, it is skipped.
    pub instruments: &'static [(&'static str, &'static str)],
    /// Statement that is also executed on a managed server to make it count more, such as CREATE
    /// EXTENSION; empty if there is none.
    pub instruments_of_own: &'static str,
}

/// Number of texts of 1 MiB in the larger reply with which bandwidth is measured.
pub const LARGE_TEXTS: u32 = 8;

impl Monitoring {
    /// No capability at all: the database reports nothing about itself.
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

    /// Returns facts that later readers of the stored run need: the names of the checkpoint
    /// counters. Empty if there are none.
    pub fn facts(&self) -> Vec<Fact> {
        let names = self.checkpoint_counters.join(", ");
        let fact = || Fact::new("checkpoints", "counters", names);
        if self.checkpoint_counters.is_empty() { Vec::new() } else { vec![fact()] }
    }
}
