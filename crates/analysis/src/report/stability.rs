//! Steadiness of commits and stalls, as the report of a run has them.
//!
//! Not here: how stalls are found (stats).

use serde::{Deserialize, Serialize};

/// Steadiness of commits over the measured phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StabilityReport {
    /// Coefficient of variation (standard deviation over mean) of the commits per second; null if
    /// not known.
    pub cv: Option<f64>,
    /// The whole second with the fewest commits; null if there is none.
    pub slowest_second: Option<SlowestSecond>,
    /// Number of stalls: times of 200 ms or more with hardly any commit.
    pub stalls: u64,
    pub longest_stall_ms: f64,
    /// Total length of all stalls, in milliseconds.
    pub stalled_ms: f64,
    /// Median of the commits per whole second; null if there is no whole second.
    pub median_tps: Option<f64>,
    /// The longest stalls (times of 200 ms or more with hardly any commit), with start and length
    /// of each.
    #[serde(default)]
    pub longest_stalls: Vec<StallReport>,
}

/// The whole second of the measured phase with the fewest commits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowestSecond {
    /// Index of the second, from 0 at the start of the measured phase.
    pub second: i64,
    pub tps: f64,
}

/// A stall: a time of 200 ms or more with hardly any commit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StallReport {
    /// Start of the stall, in seconds of the measured phase.
    pub at_s: f64,
    pub ms: f64,
}
