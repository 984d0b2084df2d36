//! The interface of collectors, which read gauges from one source once a second. Not here: when
//! they are read (monitor).

use model::{Event, Fact};

use crate::readings::Readings;

/// Reads gauges from one source, such as the machine or the server's counters, once a second while
/// a run lasts.
pub trait Collector {
    /// Returns the subject under which the gauges of this collector are reported, as in
    /// [`model::Gauge::about`].
    fn about(&self) -> String;

    /// Returns how often per second the monitor calls the collector: once `read`, at the end of the
    /// second, and `look` the other times.
    fn looks_per_second(&self) -> u32 {
        1
    }

    /// Takes a sample that the next `read` will report, for sources that change many times per
    /// second. `_at_ns` is the time since the start of the measured phase, in nanoseconds.
    fn look(&mut self, _at_ns: i64) {}

    /// Adds the current values of all gauges to `readings`; called once a second. Leaves out values
    /// that cannot be read.
    fn read(&mut self, readings: &mut Readings);

    /// Returns events, such as findings, that are to be reported while the load runs; called after
    /// each `read`.
    fn so_far(&mut self) -> Vec<Event> {
        Vec::new()
    }

    /// Returns events about the whole load, such as findings; called when it ends, `_at_ns`
    /// nanoseconds after the start of the measured phase.
    fn end(&mut self, _at_ns: i64) -> Vec<Event> {
        Vec::new()
    }

    /// Returns facts to be reported at the end of the run, such as which values could not be read,
    /// and why.
    fn facts(&self) -> Vec<Fact>;
}

/// Function that creates a collector on the thread that will read it, because a database connection
/// stays on its thread. Returns `None` if there is nothing to read.
pub type Make = Box<dyn FnOnce() -> Option<Box<dyn Collector>> + Send>;
