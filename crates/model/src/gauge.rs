//! System and database metrics, read once per second during a run: machine, generator, server.
//!
//! A gauge is declared once and read often, so that a second takes only a few numbers. Not here:
//! reading (monitor), and drawing (render).

use serde::{Deserialize, Serialize};

/// A series with one number per second: source, name and unit.
///
/// A cumulative counter is stored as the rate of its growth, never as its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauge {
    /// Source: `machine`, `generator`, `server` (its process) or `database` (its own counters),
    /// preceded by the host's name, as in `db7/machine`, if an agent reads it there.
    pub about: String,
    /// Name, such as `cpu_user`. One of several instances follows a slash, as in `disk_written/vda`
    /// and `thread_cpu/client-1`.
    pub name: String,
    /// Unit: `%`, `B`, `B/s`, `1/s`, `ms`, `ms/s`; empty for a plain number.
    pub unit: String,
    /// Explanation in one sentence.
    pub help: String,
}

/// Values of gauges in one second, without those that could not be read. Machine, server and
/// database are read separately, so a second may have several of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// The second, counted from the start of the measured phase; negative before it. A rate covers
    /// the time since the previous reading.
    pub second: i64,
    /// Pairs of the gauge's index among all declared ones and its value.
    pub values: Vec<(u16, f64)>,
}
