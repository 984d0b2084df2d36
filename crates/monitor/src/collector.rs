//! What a collector is: something that is read once a second. Not here: when it is read (monitor).

use model::Fact;

use crate::readings::Readings;

/// Something that is read once a second.
pub trait Collector {
    /// Whose gauges these are, as [`model::Gauge::about`] has it.
    fn about(&self) -> String;

    /// Writes what it reads into the readings. What cannot be read is left out.
    fn read(&mut self, readings: &mut Readings);

    /// What is to be known when it is over: what was not read, and why.
    fn facts(&self) -> Vec<Fact>;
}

/// Makes a collector on the thread that reads it: a connection stays on its thread.
pub type Make = Box<dyn FnOnce() -> Option<Box<dyn Collector>> + Send>;
