//! Chart of percentiles over all offered transactions in each report interval, to see whether they
//! are steady.

use analysis::report::{IntervalReport, Report};

use super::{Axis, Chart, Entry, Of, Palette, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "intervals",
    about: "p50, p95 and p99 of all offered work by report interval",
    spot: Spot::Times,
    make: Of::Run(charts),
};

/// Smallest number of report intervals for which figures by report interval are drawn; with fewer
/// there is no such chart.
const LEAST: usize = 3;

fn charts(report: &Report) -> Vec<Chart> {
    let intervals = &report.intervals;
    if intervals.len() < LEAST {
        return Vec::new();
    }
    let all = intervals.iter().flat_map(|interval| [interval.p50_ms, interval.p99_ms]).flatten();
    let axis = Axis::new("response time", "ms", Scale::of_times(all));
    let mut chart = Chart::of_time("intervals", "Response times in intervals", axis, report);
    chart.palette = Palette::Ordered;
    let length = model::numbers::seconds(intervals[0].to_s - intervals[0].from_s);
    let gap = |interval: &&IntervalReport| interval.p99_ms.is_none();
    let lost =
        |interval: &IntervalReport| interval.failed + interval.dropped + interval.unfinished > 0;
    let why = match intervals.iter().filter(gap).all(lost) {
        true => "gaps: the percentile is infinite, because too much was lost",
        false => "gaps: nothing finished, or times were no longer stored",
    };
    chart.note = Some(format!("All offered transactions of each {length}; {why}."));
    chart.traces = vec![
        Trace::new("p99", Shape::Steps, steps(intervals, &|interval| interval.p99_ms)),
        Trace::new("p95", Shape::Steps, steps(intervals, &|interval| interval.p95_ms)),
        Trace::new("p50", Shape::Steps, steps(intervals, &|interval| interval.p50_ms)),
    ];
    chart.if_any()
}

/// Converts a figure to steps, each from the beginning of a report interval to its end. A report
/// interval without a value is a gap.
pub(super) fn steps(
    intervals: &[IntervalReport],
    value_of: &dyn Fn(&IntervalReport) -> Option<f64>,
) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(intervals.len() + 1);
    let mut held: Option<Point> = None;
    for interval in intervals {
        let begins = Point::at(interval.from_s, value_of(interval));
        // Before a gap, the value holds until the end of its interval.
        points.extend(held.take().filter(|end| end.y.is_some() && begins.y.is_none()));
        held = Some(Point::at(interval.to_s, begins.y));
        points.push(begins);
    }
    points.extend(held);
    points
}
