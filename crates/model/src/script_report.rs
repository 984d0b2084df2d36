//! Reports that a script makes of its own run, from the figures that it gets.
//!
//! Not here: dbdyno's own reports (analysis), and when a script reports (app).

/// Figures of a run, or of some of its seconds, for a script.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReportFigures {
    /// Number of clients that run.
    pub threads_running: u32,
    /// Length of what the figures are about, in seconds.
    pub interval_s: f64,
    /// Time since the start of the load, in seconds.
    pub total_s: f64,
    /// Number of finished transactions.
    pub events: u64,
    /// Statements: reads, writes and others.
    pub statements: [u64; 3],
    /// Statements that the database refused.
    pub errors: u64,
    /// Connections that were made again.
    pub reconnects: u64,
    /// The percentile of the latencies that the script asked for, in seconds.
    pub latency_percentile_s: f64,
}

/// What a report of a script is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReportOf {
    /// Some seconds of a run that goes on.
    Interval {
        /// Transactions that wait for a client.
        waiting: u64,
        /// Transactions that a client executes at that instant.
        running: u64,
    },
    /// A whole run, with its latencies in seconds.
    Run {
        /// Shortest latency; 0 if nothing has finished.
        min_s: f64,
        /// Longest latency; 0 if nothing has finished.
        max_s: f64,
        /// Mean of all latencies.
        mean_s: f64,
        /// Sum of all latencies.
        sum_s: f64,
    },
}

/// What a script does in a run beside its clients: its reports, and its beginning and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptReports {
    /// Whether it reports intervals of a run.
    pub intervals: bool,
    /// Whether it reports whole runs.
    pub runs: bool,
    /// Whether it does something once before the load.
    pub begins: bool,
    /// Whether it does something once after the load and its reports.
    pub ends: bool,
    /// Seconds of an interval; 0 for none, and `None` for those of the run.
    pub every_s: Option<i64>,
    /// Percentile of the latencies that it gets, from 1 to 100.
    pub percentile: u64,
}
