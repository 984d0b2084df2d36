//! The interface of a collector, which is read once a second. Not here: when it is read (monitor).

use model::{Event, Fact};

use crate::readings::Readings;

/// A source of gauges that is read once a second.
pub trait Collector {
    /// Returns the subject of the collector's gauges, as in [`model::Gauge::about`].
    fn about(&self) -> String;

    /// Number of looks at the source per second. The last one of a second is a call of `read`, the
    /// others of `look`.
    fn looks_per_second(&self) -> u32 {
        1
    }

    /// Looks at the source between two readings, `_at_ns` nanoseconds after the start of the
    /// measured phase.
    fn look(&mut self, _at_ns: i64) {}

    /// Adds current values to the readings; called once a second. Values that cannot be read are
    /// left out.
    fn read(&mut self, readings: &mut Readings);

    /// Returns events to report while the load runs; called after each reading.
    fn so_far(&mut self) -> Vec<Event> {
        Vec::new()
    }

    /// Returns events about the whole load; called at its end, `_at_ns` nanoseconds after the start
    /// of the measured phase.
    fn end(&mut self, _at_ns: i64) -> Vec<Event> {
        Vec::new()
    }

    /// Returns facts for the end of the run: values that were not read, and why.
    fn facts(&self) -> Vec<Fact>;
}

/// Creates a collector on the thread that reads it, because a connection stays on its thread.
/// `None` if there is nothing to read.
pub type Make = Box<dyn FnOnce() -> Option<Box<dyn Collector>> + Send>;
