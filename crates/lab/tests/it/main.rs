//! Laws that need several rooms at once: the instrument against its truth, data through builds.

mod bench;
mod calibration;
mod oltp;
mod plans;
mod routines;
