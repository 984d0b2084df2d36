//! Chart of latency distributions, from the median to the maximum: one transaction in N took longer
//! than the value at N.
//!
//! The gap between the curves of response and service time is waiting; that between all offered and
//! finished transactions is lost work.

use analysis::report::{Latency, Report};

use super::{Axis, Chart, Entry, ONE_IN, Of, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "distribution",
    about: "the distribution of response times, service times and of all offered work",
    spot: Spot::Latency,
    make: Of::Run(charts),
};

const NOTE: &str = "1 in 10 is p90, 1 in 100 is p99, 1 in 1,000 is p99.9. The last points have \
                    few transactions.";

fn charts(report: &Report) -> Vec<Chart> {
    let block = &report.block;
    let counts = &block.counts;
    let waits = block.wait_ms.note.is_none();
    let lost = counts.offered > counts.finished;
    let shown = [
        ("of all offered", &block.offered_ms, lost),
        ("response", &block.response_ms, true),
        ("service", &block.service_ms, waits),
    ];
    let shown = shown.into_iter().filter(|(.., is_shown)| *is_shown);
    let traces: Vec<Trace> =
        shown.map(|(name, latency, _)| Trace::new(name, Shape::Line, points(latency))).collect();
    let times = || traces.iter().flat_map(|trace| &trace.points).filter_map(|point| point.y);
    let x = Axis::new("percentile: one in N takes longer", ONE_IN, Scale::Log);
    let y = Axis::new("time", "ms", Scale::of_times(times()));
    let mut chart = Chart::new("distribution", "Distribution of latency", x, y);
    let ends = "The line of all offered ends at lost work.";
    chart.note = Some(if lost { format!("{NOTE} {ends}") } else { NOTE.to_owned() });
    chart.traces = traces;
    chart.if_any()
}

/// Converts a latency distribution to points whose x is N, where one transaction in N takes longer.
/// Reports without a distribution give a point for each percentile.
pub(super) fn points(latency: &Latency) -> Vec<Point> {
    let above = |percent: f64| 1.0 / (1.0 - percent / 100.0);
    if !latency.distribution.is_empty() {
        let known = latency.distribution.iter().filter(|(percent, _)| *percent < 100.0);
        return known.map(|(percent, ms)| Point::at(above(*percent), Some(*ms))).collect();
    }
    let known = [
        (0.0, latency.min),
        (50.0, latency.p50),
        (90.0, latency.p90),
        (95.0, latency.p95),
        (99.0, latency.p99),
        (99.9, latency.p999),
    ];
    let known = known.into_iter().filter_map(|(percent, ms)| Some((percent, ms?)));
    known.map(|(percent, ms)| Point::at(above(percent), Some(ms))).collect()
}
