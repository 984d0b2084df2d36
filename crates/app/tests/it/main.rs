//! Tests that need several crates: dbdyno against the truth, data through builds.

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
