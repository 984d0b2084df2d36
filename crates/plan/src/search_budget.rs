//! The smallest time budget with which a search can succeed, which follows from the shortest useful
//! probe (run): each short probe gets a fixed share of the budget.
//!
//! Not here: the choice and the judgement of probes (study).

use model::{Metric, Seek};
use study::seek::SHORT_PROBE_SHARE;

/// Shortest measured phase of a search's probe (run), in nanoseconds, even without a ramp-up.
const MEASURE_NS_MIN: u64 = 500_000_000;

/// Returns the smallest time budget of a search, in nanoseconds. With it, each short probe (run)
/// measures for longer than its ramp-up, and at the lowest rate has enough arrivals for the
/// percentiles in the objectives.
pub(crate) fn budget_ns_min(seek: &Seek, ramp_up_ns: u64) -> u64 {
    let to_outlast = ramp_up_ns.max(MEASURE_NS_MIN) as f64;
    let arriving = arrivals_needed(seek).map_or(0.0, |arrivals| arrivals / seek.low * 1e9);
    budget_ns_for(ramp_up_ns, to_outlast.max(arriving))
}

/// Returns the number of arrivals that a short probe (run) of a search needs for the percentiles in
/// the objectives; `None` if the search is not for a rate, since the number of transactions is then
/// unknown.
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

/// Returns the smallest time budget of a search, in nanoseconds, with which its short probes (runs)
/// measure for at least `measure_ns`, rounded up to whole seconds.
pub fn budget_ns_for(ramp_up_ns: u64, measure_ns: f64) -> u64 {
    let seconds = (measure_ns / 1e9).ceil() * 1e9;
    ((seconds + ramp_up_ns as f64) / SHORT_PROBE_SHARE) as u64
}
