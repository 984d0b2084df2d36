//! Laws that need several rooms at once: the instrument against its truth, data through builds.

mod bench;
mod builds;
mod calibration;
mod damaged;
mod engines;
mod flaky;
mod generator;
mod houses;
mod monitoring;
mod oltp;
mod record;
mod routines;
mod several;
