//! What failed and what was dropped, second by second.

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Trace};
use crate::report::{Report, SecondReport};

pub(super) const ENTRY: Entry = Entry {
    name: "losses",
    about: "failed and dropped transactions a second",
    of: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let axis = Axis::of("transactions", "1/s", Scale::FromZero);
    let mut chart = Chart::of_time("losses", "Failed and dropped", axis, report);
    let trace = |name: &str, of: &dyn Fn(&SecondReport) -> u64| {
        let sum = super::throughput::by_group(report, "", &|row| of(row) as f64);
        let points = sum.into_iter().next().map(|trace| trace.points).unwrap_or_default();
        let any = points.iter().any(|point: &Point| point.y.is_some_and(|y| y > 0.0));
        any.then(|| Trace::new(name, Shape::Steps, points))
    };
    let all = [trace("failed", &|row| row.failed), trace("dropped", &|row| row.dropped)];
    chart.traces = all.into_iter().flatten().collect();
    chart.if_any()
}
