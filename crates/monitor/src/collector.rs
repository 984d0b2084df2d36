//! What a collector is: something that is read once a second. Not here: when it is read (monitor).

use model::{Event, Fact};

use crate::readings::Readings;

/// Something that is read once a second.
pub trait Collector {
    /// Whose gauges these are, as [`model::Gauge::about`] has it.
    fn about(&self) -> String;

    /// How often a second it is looked at; its last look of a second is its reading.
    fn looks_per_second(&self) -> u32 {
        1
    }

    /// A look between two readings.
    fn look(&mut self, _at_ns: i64) {}

    /// Writes what it reads into the readings. What cannot be read is left out.
    fn read(&mut self, readings: &mut Readings);

    /// What it has to tell while the load runs on: asked after each reading.
    fn so_far(&mut self) -> Vec<Event> {
        Vec::new()
    }

    /// The load is over at this instant, in nanoseconds from the beginning of the measured phase:
    /// what it has to tell of the whole of it.
    fn end(&mut self, _at_ns: i64) -> Vec<Event> {
        Vec::new()
    }

    /// What is to be known when it is over: what was not read, and why.
    fn facts(&self) -> Vec<Fact>;
}

/// Makes a collector on the thread that reads it: a connection stays on its thread.
pub type Make = Box<dyn FnOnce() -> Option<Box<dyn Collector>> + Send>;
