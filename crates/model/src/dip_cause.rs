//! Causes of dips in throughput, as reports name them.
//!
//! Not here: how a dip and its causes are found (analysis).

use serde::{Deserialize, Serialize};

/// The cause of a dip in throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Sessions waited for locks of rows or tables.
    Locks,
    /// Other programs, or other virtual machines, had the CPUs.
    OtherCpuLoad,
    /// Round trips took longer on the path between clients and server.
    Network,
    /// Statements read many more rows: an index that is missing or not used.
    RowsRead,
    /// Sessions waited for the log, data files or latches while pages were written back.
    Checkpoint,
    /// Sessions waited for the log or data files.
    Disk,
    /// Commits waited for other nodes that the server replicates to.
    Replication,
    /// Sessions waited for latches of the server.
    Latches,
    /// The server got no CPU, or used none: suspended, or gone.
    ServerStopped,
}

impl Cause {
    /// Returns the cause in a word or two, for tables.
    pub fn in_short(self) -> &'static str {
        match self {
            Cause::Locks => "locks",
            Cause::OtherCpuLoad => "other CPU load",
            Cause::Network => "network",
            Cause::RowsRead => "more rows read",
            Cause::Checkpoint => "checkpoint",
            Cause::Disk => "disk",
            Cause::Replication => "replication",
            Cause::Latches => "latches",
            Cause::ServerStopped => "server stopped",
        }
    }

    /// Returns the cause as a clause, for sentences.
    pub fn words(self) -> &'static str {
        match self {
            Cause::Locks => "sessions waited for locks",
            Cause::OtherCpuLoad => "other programs had the CPUs",
            Cause::Network => "round trips took longer",
            Cause::RowsRead => "statements read more rows: an index may be missing or not used",
            Cause::Checkpoint => "sessions waited while pages were written back (checkpoint)",
            Cause::Disk => "sessions waited for the log or data files (disk)",
            Cause::Replication => "commits waited for other nodes of the cluster (replication)",
            Cause::Latches => "sessions waited for latches of the server",
            Cause::ServerStopped => "the server stood still",
        }
    }
}
