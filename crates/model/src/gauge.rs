//! Gauges: metrics of machine, generator and database that are read once per second during a run.
//!
//! A gauge is declared once, so that each second needs only indexes and numbers. Not here: reading
//! (monitor), and drawing (render).

use serde::{Deserialize, Serialize};

/// Declaration of a metric that is read once per second, such as the CPU usage of the machine.
///
/// The values of a gauge that is a cumulative counter are its growth per second, never the counter
/// itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauge {
    /// Source of the values: `machine`, `generator`, `server` (its process) or `database` (its own
    /// counters). If a client process on another host reads them, the host's name comes first, as
    /// in `db7/machine`.
    pub about: String,
    /// Name of the gauge, such as `cpu_user`. If there are several instances, the instance follows
    /// a slash, as in `disk_written/vda` and `thread_cpu/client-1`.
    pub name: String,
    /// Unit of the values: `%`, `B`, `B/s`, `1/s`, `ms`, `ms/s`; empty for a plain number.
    pub unit: String,
    /// Explanation in one sentence of what the gauge measures.
    pub help: String,
}

/// Values of gauges that were read in one second. Machine, server and database are read separately,
/// so there may be several `Readings` for the same second. A gauge that could not be read is
/// missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// Number of the second to which the values belong: 0 is the first of the measured phase, those
    /// before it are negative. A rate covers the time since the previous reading.
    pub second: i64,
    /// Values read, as pairs of the gauge's index, over all declared gauges of the run, and the
    /// value.
    pub values: Vec<(u16, f64)>,
}
