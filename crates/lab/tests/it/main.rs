//! Laws that need several rooms at once: the instrument against its truth, data through builds.

mod calibration;
mod plans;
mod routines;
