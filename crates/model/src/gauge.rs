//! System and database metrics, read once per second during a run: machine, generator, server.
//!
//! A gauge is declared once and read often, so that a second is a few numbers. Not here: who
//! reads it (monitor), and what is drawn of it (render).

use serde::{Deserialize, Serialize};

/// A series of numbers, one a second: what is read, of what, in which unit.
///
/// A counter of a machine or server is never kept as such: it is the rate by which it grew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauge {
    /// Whose: `machine`, `generator`, `server` (its process), `database` (its own counters), or
    /// these with the host's name before, as in `db7/machine`, where an agent reads them there.
    pub about: String,
    /// What: a word such as `cpu_user`; of several of a kind with its own behind a slash, as in
    /// `disk_written/vda` and `thread_cpu/client-1`.
    pub name: String,
    /// Its unit: `%`, `B`, `B/s`, `1/s`, `ms`, `ms/s`, or a plain number's empty one.
    pub unit: String,
    /// What it means, in a sentence.
    pub help: String,
}

/// What gauges stood at in one second. One that could not be read is not among them. Who reads
/// machine, server and database tells each for itself: a second may have several of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// Which second, from the beginning of the measured phase; those before it are negative. A
    /// rate is that from the reading before to this one.
    pub second: i64,
    /// Gauges by their place among all that were declared, and their numbers.
    pub values: Vec<(u16, f64)>,
}
