//! Laws that need several rooms at once: the instrument against its truth, data through builds.

mod around;
mod bench;
mod builds;
mod calibration;
mod flaky;
mod generator;
mod oltp;
mod routines;
