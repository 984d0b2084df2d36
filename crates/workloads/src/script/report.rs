//! Figures of a run that scripts get for reports of their own.
//!
//! Not here: the reports (the language).

/// Figures of a run, or of the seconds since the report before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReportFigures {
    pub threads_running: u32,
    /// Length of what the figures are about, in seconds.
    pub interval_s: f64,
    /// Time since the start of the load, in seconds.
    pub total_s: f64,
    pub events: u64,
    /// Statements: reads, writes and others.
    pub statements: [u64; 3],
    pub errors: u64,
    pub reconnects: u64,
    /// Percentile of the latencies that the user chose, in seconds.
    pub latency_percentile_s: f64,
}

/// What sysbench tells only while a run lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queue {
    /// Events that wait for a client.
    pub waiting: u64,
    pub running: u64,
}

/// Latencies of a whole run, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latencies {
    pub min_s: f64,
    pub max_s: f64,
    pub mean_s: f64,
    pub sum_s: f64,
}
