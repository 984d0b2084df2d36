//! Causes of dips in throughput, as reports name them.
//!
//! Not here: how a dip and its causes are found (analysis).

use serde::{Deserialize, Serialize};

/// The probable cause of a dip in throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Sessions of the server waited for locks on rows or tables.
    Locks,
    /// Other programs, or other virtual machines on the host, used the CPUs.
    OtherCpuLoad,
    /// Round trips between clients and server took longer.
    Network,
    /// Statements read many more rows than before: an index is missing or not used.
    RowsRead,
    /// Sessions waited for the log, data files or latches during a checkpoint, which writes back
    /// dirty pages.
    Checkpoint,
    /// Sessions waited for reads or writes of the log or data files.
    Disk,
    /// Commits waited for other nodes to which the server replicates.
    Replication,
    /// Sessions waited for latches, the server's internal locks.
    Latches,
    /// The server used no CPU, or could not get any: it was suspended or had ended.
    ServerStopped,
}

impl Cause {
    /// Returns the cause in one to three words, for tables in reports.
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

    /// Returns the cause as a clause for a sentence, such as "sessions waited for locks".
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
