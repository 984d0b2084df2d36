//! The whole tool beside a known truth, and the share of its generator.

mod calibration;
mod generator;
