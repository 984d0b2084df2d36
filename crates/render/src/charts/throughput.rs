//! Chart of commits per second, of each group and of all, with the mean and its confidence
//! interval.

use analysis::report::{Report, SecondReport};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "throughput",
    about: "commits per second over time",
    spot: Spot::Rates,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let axis = Axis::new("TPS", "commits/s", Scale::FromZero);
    let mut chart = Chart::of_time("throughput", "Throughput", axis, report);
    chart.traces.extend(by_group(report, "TPS", &|row| Some(row.tps)));
    if let (Some(tps), Some(_)) = (report.block.tps, report.seconds.last()) {
        let error = report.block.tps_ci95.as_ref().map(|ci95| ci95.half_width);
        let band = error.map(|error| ((tps - error).max(0.0), tps + error));
        let at = |x| Point { band, ..Point::at(x, Some(tps)) };
        let name = if band.is_some() { "mean, 95 % interval within this run" } else { "mean" };
        let points = vec![at(0.0), at(report.measured_seconds)];
        chart.traces.push(Trace::new(name, Shape::Line, points));
    }
    chart.if_any()
}

/// Returns the x value at which a second's figures are drawn: the middle of the second, because at
/// its beginning they would precede events of the same second.
pub(super) fn middle_of(row: &SecondReport) -> f64 {
    row.second as f64 + 0.5
}

/// Returns a trace of a figure for each group that has it, after one for the sum of all groups. If
/// only one group has it, there is one trace, called `figure`.
pub(super) fn by_group(
    report: &Report,
    figure: &str,
    value_of: &dyn Fn(&SecondReport) -> Option<f64>,
) -> Vec<Trace> {
    let of_group = |name: &String| {
        let rows = report.seconds.iter().filter(|row| row.group == *name);
        let points: Vec<Point> = rows.map(|row| Point::at(middle_of(row), value_of(row))).collect();
        let any = points.iter().any(|point| point.y.is_some());
        any.then(|| Trace::new(name.clone(), Shape::Line, points))
    };
    let mut traces: Vec<Trace> =
        report.groups.iter().filter_map(|group| of_group(&group.name)).collect();
    match &mut traces[..] {
        [] => {}
        [alone] => figure.clone_into(&mut alone.name),
        _ => traces.insert(0, Trace::new("all groups", Shape::Line, summed(report, value_of))),
    }
    traces
}

/// Returns the points of a figure for each second, each the sum over all groups.
pub(super) fn summed(
    report: &Report,
    value_of: &dyn Fn(&SecondReport) -> Option<f64>,
) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for row in &report.seconds {
        let (middle, y) = (middle_of(row), value_of(row));
        match points.last_mut().filter(|last| last.x == middle) {
            Some(last) => last.y = last.y.zip(y).map(|(sum, y)| sum + y).or(last.y).or(y),
            None => points.push(Point::at(middle, y)),
        }
    }
    points
}

/// Returns a trace with the sum of a count over all groups for each second; `None` if it is always
/// 0.
pub(super) fn if_counted(
    report: &Report,
    name: &str,
    shape: Shape,
    count_of: &dyn Fn(&SecondReport) -> u64,
) -> Option<Trace> {
    let points = summed(report, &|row| Some(count_of(row) as f64));
    let any = points.iter().any(|point| point.y.is_some_and(|y| y > 0.0));
    any.then(|| Trace::new(name, shape, points))
}
