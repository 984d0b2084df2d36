//! The smallest budget of a search: short probes get a fixed share of it.
//!
//! Not here: the choice of probes, and their evaluation (study).

use model::{Metric, Seek};
use study::seek::SHORT_PROBE_SHARE;

/// Shortest measurement of a probe, however short its ramp-up is.
const MEASURE_NS_MIN: u64 = 500_000_000;

/// Returns the smallest budget of a search, in nanoseconds: its short probes measure for longer
/// than their ramp-up, and have enough arrivals at the lowest rate for the quantiles in its
/// objectives.
pub(crate) fn budget_ns_min(seek: &Seek, ramp_up_ns: u64) -> u64 {
    let to_outlast = ramp_up_ns.max(MEASURE_NS_MIN) as f64;
    let arriving = arrivals_needed(seek).map_or(0.0, |arrivals| arrivals / seek.low * 1e9);
    budget_ns_for(ramp_up_ns, to_outlast.max(arriving))
}

/// Returns the number of arrivals that a short probe needs for the quantiles in the objectives;
/// `None` if no rate is sought, since the number of requests is then unknown.
pub(crate) fn arrivals_needed(seek: &Seek) -> Option<f64> {
    let arrivals_for = |metric: Metric| match metric {
        Metric::P999 => 4_800.0,
        Metric::P99 => 480.0,
        _ => 100.0,
    };
    let needed =
        seek.objectives.iter().map(|objective| arrivals_for(objective.metric)).fold(0.0, f64::max);
    (!seek.is_whole).then_some(needed)
}

/// Returns the smallest budget with which short probes measure for `measure_ns`, in whole seconds.
pub fn budget_ns_for(ramp_up_ns: u64, measure_ns: f64) -> u64 {
    let seconds = (measure_ns / 1e9).ceil() * 1e9;
    ((seconds + ramp_up_ns as f64) / SHORT_PROBE_SHARE) as u64
}
