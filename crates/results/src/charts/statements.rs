//! Statements a second, by what they do.

use super::throughput::by_group;
use super::{Axis, Chart, Entry, Of, Scale, Shape, Trace};
use crate::report::{Report, SecondReport};

pub(super) const ENTRY: Entry = Entry {
    name: "statements",
    about: "reading, writing and other statements a second",
    of: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let axis = Axis::of("statements", "1/s", Scale::FromZero);
    let mut chart = Chart::of_time("statements", "Statements", axis, report);
    let trace = |name: &str, of: &dyn Fn(&SecondReport) -> u64| {
        let rows = by_group(report, "", &|row| of(row) as f64);
        let points = rows.into_iter().next().map(|trace| trace.points).unwrap_or_default();
        let any = points.iter().any(|point| point.y.is_some_and(|y| y > 0.0));
        any.then(|| Trace::new(name, Shape::Line, points))
    };
    let all = [
        trace("reads", &|row| row.reads),
        trace("writes", &|row| row.writes),
        trace("others", &|row| row.others),
    ];
    chart.traces = all.into_iter().flatten().collect();
    chart.if_any()
}
