//! Tests of the whole tool against known true values, and of the findings on its load generator.

mod calibration;
mod generator;
