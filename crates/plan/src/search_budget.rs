//! How much load a search needs at least: its shortest probes have a fixed share of it.
//!
//! Not here: where probes go, and what they show (analysis).

use analysis::seek::SHORT_PROBE_SHARE;
use model::{Metric, Seek};

/// The shortest that a probe is measured for, however short its ramp-up is.
const MEASURE_NS_MIN: u64 = 500_000_000;

/// The least budget of a search: with it short probes measure for longer than they ramp up, and
/// have enough arrivals at the lowest rate for the quantiles that are asked.
pub(crate) fn budget_ns_min(seek: &Seek, ramp_up_ns: u64) -> u64 {
    let to_outlast = ramp_up_ns.max(MEASURE_NS_MIN) as f64;
    let arriving = arrivals_needed(seek).map_or(0.0, |arrivals| arrivals / seek.low * 1e9);
    budget_ns_for(ramp_up_ns, to_outlast.max(arriving))
}

/// How many arrivals a short probe needs for the quantiles that are asked; nothing where no rate is
/// sought: nobody knows how many requests clients make.
pub(crate) fn arrivals_needed(seek: &Seek) -> Option<f64> {
    let of = |metric: Metric| match metric {
        Metric::P999 => 4_800.0,
        Metric::P99 => 480.0,
        _ => 100.0,
    };
    let needed = seek.objectives.iter().map(|objective| of(objective.metric)).fold(0.0, f64::max);
    (!seek.is_whole).then_some(needed)
}

/// The shortest budget with which short probes measure for so long, in whole seconds.
pub fn budget_ns_for(ramp_up_ns: u64, measure_ns: f64) -> u64 {
    let seconds = (measure_ns / 1e9).ceil() * 1e9;
    ((seconds + ramp_up_ns as f64) / SHORT_PROBE_SHARE) as u64
}
