//! How much load a search needs at least: its shortest probes have a fixed share of it.
//!
//! Not here: where probes go, and what they show (analysis).

use analysis::seek::SHORT_PROBE_SHARE;

/// The shortest budget with which probes measure for longer than they ramp up.
pub(crate) fn budget_ns_min(ramp_up_ns: u64) -> u64 {
    budget_ns_for(ramp_up_ns, ramp_up_ns.max(500_000_000) as f64)
}

/// The shortest budget with which short probes measure for so long, in whole seconds.
pub(crate) fn budget_ns_for(ramp_up_ns: u64, measure_ns: f64) -> u64 {
    let seconds = (measure_ns / 1e9).ceil() * 1e9;
    ((seconds + ramp_up_ns as f64) / SHORT_PROBE_SHARE) as u64
}
