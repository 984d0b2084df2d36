//! Tests of all of dbdyno against known true values, and of the findings on its load generator.

mod calibration;
mod generator;
