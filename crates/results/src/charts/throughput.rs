//! Commits a second over time, of each group and of all, with the mean and its error.

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Trace};
use crate::report::{Report, SecondReport};

pub(super) const ENTRY: Entry =
    Entry { name: "throughput", about: "commits a second over time", of: Of::Run(charts) };

fn charts(report: &Report) -> Vec<Chart> {
    let axis = Axis::of("TPS", "commits/s", Scale::FromZero);
    let mut chart = Chart::of_time("throughput", "Throughput", axis, report);
    chart.traces.extend(by_group(report, "all groups", &|row| row.tps));
    if let (Some(tps), Some(_)) = (report.block.tps, report.seconds.last()) {
        let error = report.block.tps_ci95.as_ref().map(|ci95| ci95.half_width);
        let band = error.map(|error| (tps - error, tps + error));
        let at = |x| Point { band, ..Point::at(x, Some(tps)) };
        let name = if band.is_some() { "mean, 95 % interval within this run" } else { "mean" };
        let points = vec![at(0.0), at(report.measured_seconds)];
        chart.traces.push(Trace::new(name, Shape::Line, points));
    }
    chart.if_any()
}

/// A trace of each group, and one of their sum where there are several.
pub(super) fn by_group(
    report: &Report,
    sum: &str,
    of: &dyn Fn(&SecondReport) -> f64,
) -> Vec<Trace> {
    let mut traces = Vec::new();
    if report.groups.len() > 1 {
        let mut points: Vec<Point> = Vec::new();
        for row in &report.seconds {
            let second = row.second as f64;
            match points.last_mut().filter(|last| last.x == second) {
                Some(last) => last.y = last.y.map(|y| y + of(row)),
                None => points.push(Point::at(second, Some(of(row)))),
            }
        }
        traces.push(Trace::new(sum, Shape::Line, points));
    }
    traces.extend(report.groups.iter().map(|group| {
        let rows = report.seconds.iter().filter(|row| row.group == group.name);
        let points = rows.map(|row| Point::at(row.second as f64, Some(of(row))));
        Trace::new(group.name.clone(), Shape::Line, points.collect())
    }));
    traces
}
