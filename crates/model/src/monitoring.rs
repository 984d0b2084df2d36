//! What a database can be asked about itself while a load runs, or right before and after it: its
//! own counters. Capabilities that a driver fills.
//!
//! Not here: who asks (monitor, app), and what is to be thought of the answers (analysis).

use crate::{Counters, Fact, SessionSampling, SummaryQuery};

/// A server's own count of the commits of all its sessions, since it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitCounter {
    /// Its name there, such as `Com_commit`.
    pub name: &'static str,
    /// The query that asks for it; its last column is the count.
    pub sql: &'static str,
    /// It counts statements outside of any transaction too; otherwise only COMMITs.
    pub counts_single_statements: bool,
}

/// A server's own count of the connections that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCounter {
    /// Its name there, such as `Threads_connected`.
    pub name: &'static str,
    /// The query that asks for it; its last column is the count, the one that asks included.
    pub sql: &'static str,
}

/// How what a database says of itself is read, filled by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Monitoring {
    /// How the numbers that it counts itself are read; none where it counts none.
    pub counters: Option<Counters>,
    /// Those of its counters that count checkpoints, whichever of them a version has.
    pub checkpoint_counters: &'static [&'static str],
    /// How the server itself counts commits, where it does.
    pub commit_counter: Option<CommitCounter>,
    /// How the server itself counts its connections, where it does.
    pub connection_counter: Option<ConnectionCounter>,
    /// The query for how many whole seconds ago the server was started: the last column of its
    /// row. None where nobody says.
    pub started_ago: Option<&'static str>,
    /// How it is asked what its sessions do right now; none where it has no sessions to ask for.
    pub session_states: Option<SessionSampling>,
    /// What it sums up by statement, event or table. What a server does not have, or does not let
    /// us read, is left out.
    pub summaries: &'static [SummaryQuery],
    /// A query that takes as little as any: its time is that of a round trip.
    pub round_trip: Option<&'static str>,
    /// A query that answers with one text of a mebibyte.
    pub mebibyte: Option<&'static str>,
    /// A query that answers with [`LARGE_TEXTS`] such texts.
    pub mebibytes: Option<&'static str>,
    /// Settings that make the server count more than it does by itself, and the values for it. One
    /// that a server does not have is left out.
    pub instruments: &'static [(&'static str, &'static str)],
    /// What a server that ends with us executes besides, to count what it was started for; empty
    /// if nothing.
    pub instruments_of_own: &'static str,
}

/// Texts of a mebibyte in a large reply.
pub const LARGE_TEXTS: u32 = 8;

impl Monitoring {
    /// It says nothing of itself.
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

    /// What a run must keep so that its metrics can be read: which of them count checkpoints.
    pub fn facts(&self) -> Vec<Fact> {
        let names = self.checkpoint_counters.join(", ");
        let fact = || Fact::new("checkpoints", "counters", names);
        if self.checkpoint_counters.is_empty() { Vec::new() } else { vec![fact()] }
    }
}
