//! Charts of the time of each transaction of a fixed sequence, such as a query, at the points of an
//! experiment.
//!
//! Not here: the sides of a comparison (transactions).

use study::experiment::PointReport;
use study::trials::TrialReport;
use study::{ExecutionTime, ExperimentReport};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace};
use crate::axis_names::short_point_name;

pub(super) const ENTRY: Entry = Entry {
    name: "points-times",
    about: "time of each transaction of a fixed sequence, by points of an experiment",
    spot: Spot::Executions,
    make: Of::Experiment(charts),
};

/// Largest number of points whose bars are side by side in one chart; of more points, each has a
/// chart of its own.
const GROUPED_MOST: usize = 4;
/// Largest number of points that have a chart of their own; the others are only in the table.
const CHARTS_MOST: usize = 12;

fn charts(report: &ExperimentReport, _: &[TrialReport]) -> Vec<Chart> {
    let with_times: Vec<&PointReport> =
        report.points.iter().filter(|point| !point.executions.is_empty()).collect();
    let mut names: Vec<&str> = Vec::new();
    for one in with_times.iter().flat_map(|point| &point.executions) {
        if !names.contains(&one.transaction.as_str()) {
            names.push(&one.transaction);
        }
    }
    let bars = |point: &PointReport| {
        let place = |one: &ExecutionTime| names.iter().position(|name| *name == one.transaction);
        let to_point = |one: &ExecutionTime| {
            Some(Point { band: one.interval, ..Point::at(place(one)? as f64, one.mean_s) })
        };
        let points = point.executions.iter().filter_map(to_point).collect();
        Trace::new(short_point_name(&report.axes, &point.values), Shape::Bars, points)
    };
    let traces: Vec<Trace> = with_times.into_iter().map(bars).collect();
    let x = || Axis::named("transaction", names.iter().map(|name| (*name).to_owned()).collect());
    let note = "Bars are geometric means over runs, whiskers 95 % CIs.".to_owned();
    if traces.len() <= GROUPED_MOST {
        let y = Axis::new("time", "s", Scale::FromZero);
        let chart = Chart::new("points-times", "Time by transaction", x(), y);
        return Chart { traces, note: Some(note), ..chart }.if_any();
    }
    // Equal axes, so that the bars of different charts can be compared.
    let ends = traces.iter().flat_map(|trace| &trace.points);
    let longest_s = ends.filter_map(|point| point.band.map(|band| band.1).or(point.y));
    let longest_s = longest_s.fold(0.0, f64::max);
    let to_chart = |(index, trace): (usize, Trace)| {
        let range = Some((0.0, longest_s));
        let y = Axis { range, ..Axis::new("time", "s", Scale::FromZero) };
        let id = format!("points-times-{}", index + 1);
        let chart = Chart::new(id, trace.name.clone(), x(), y);
        Chart { traces: vec![trace], note: Some(note.clone()), ..chart }.if_any()
    };
    traces.into_iter().enumerate().take(CHARTS_MOST).flat_map(to_chart).collect()
}
