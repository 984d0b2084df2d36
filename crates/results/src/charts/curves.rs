//! Figures of an experiment over each of its axes, a line for the other axes' values.

use model::short_axis;

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Trace, figure_axis, slug};
use crate::ExperimentReport;
use crate::experiment::{Figure, PointReport, Trialled, is_time, number};
use crate::render::title as title_of;

pub(super) const ENTRY: Entry = Entry {
    name: "curves",
    about: "an experiment's figures over its axes, with their errors",
    of: Of::Experiment(charts),
};

/// Figures beside the one by which points are judged.
const OTHERS: [&str; 6] = ["tps", "p50_ms", "p95_ms", "p99_ms", "wait_percent", "errors_percent"];

/// The primary figure over every axis, the others over the main one, which comes first.
fn charts(report: &ExperimentReport, _trials: &[Trialled]) -> Vec<Chart> {
    let Some(main) = main_axis(report) else { return Vec::new() };
    let mut all = chart(report, main, &report.primary);
    let others = OTHERS.iter().filter(|name| **name != report.primary);
    let told = others.filter(|name| is_told(report, name));
    all.extend(told.flat_map(|name| chart(report, main, name)));
    let axes = (0..report.axes.len()).filter(|axis| *axis != main && has_values(report, *axis));
    all.extend(axes.flat_map(|axis| chart(report, axis, &report.primary)));
    all
}

fn has_values(report: &ExperimentReport, axis: usize) -> bool {
    report.axes[axis].values.len() > 1
}

/// The first axis of several numbers, along which a curve goes; else the first of several values.
pub(super) fn main_axis(report: &ExperimentReport) -> Option<usize> {
    let mut axes = (0..report.axes.len()).filter(|axis| has_values(report, *axis));
    let has_numbers = |axis: &usize| {
        let values = &report.axes[*axis].values;
        values.iter().all(|value| number(value).is_some())
    };
    axes.clone().find(has_numbers).or_else(|| axes.next())
}

/// Nobody needs to see that there were no errors.
fn is_told(report: &ExperimentReport, name: &str) -> bool {
    let mut figures = report.points.iter().filter_map(|point| point.figures.get(name));
    figures.any(|figure| name != "errors_percent" || figure.max > 0.0)
}

fn chart(report: &ExperimentReport, axis: usize, figure: &str) -> Vec<Chart> {
    let told = &report.axes[axis];
    let places = places(&told.values);
    let means = report.points.iter().filter_map(|point| point.figures.get(figure));
    let scale = match is_time(figure) {
        true => Scale::of_times(means.map(|figure| figure.mean).filter(|mean| mean.is_finite())),
        false => Scale::FromZero,
    };
    let id = format!("curves-{}-{}", slug(&told.name), slug(figure));
    let title = format!("{} over {}", title_of(figure), short_axis(&told.name));
    let x = axis_of(&told.name, &told.values);
    let mut chart = Chart::new(id, title, x, figure_axis(figure, scale));
    let mut all = report.points.iter().filter_map(|point| point.figures.get(figure));
    if all.any(|figure| figure.half_width.is_some()) {
        chart.note = Some("Whiskers are 95 % intervals over runs.".to_owned());
    }
    for point in &report.points {
        let Some((_, value)) = point.values.0.get(axis) else { continue };
        let Some(place) = told.values.iter().position(|known| known == value) else { continue };
        let Some(measured) = point.figures.get(figure) else { continue };
        let name = line_of(point, axis);
        let name = if name.is_empty() { title_of(figure) } else { name };
        let at = of_figure(places[place], measured);
        match chart.traces.iter_mut().find(|trace| trace.name == name) {
            Some(trace) => trace.points.push(at),
            None => chart.traces.push(Trace::new(name, Shape::Joined, vec![at])),
        }
    }
    for trace in &mut chart.traces {
        trace.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    chart.if_any()
}

/// The values of the other axes.
pub(super) fn line_of(point: &PointReport, axis: usize) -> String {
    let others = point.values.0.iter().enumerate().filter(|(index, _)| *index != axis);
    let words: Vec<String> =
        others.map(|(_, (name, value))| format!("{}={value}", short_axis(name))).collect();
    words.join(" ")
}

/// A figure as a point with its interval, which ends at zero: nothing that is drawn here, a rate,
/// a time or a share, can be below.
pub(super) fn of_figure(x: f64, figure: &Figure) -> Point {
    let band = figure.half_width.map(|half| ((figure.mean - half).max(0.0), figure.mean + half));
    Point { band, ..Point::at(x, Some(figure.mean)) }
}

/// Where values of an axis stand: by their numbers, or one after the other.
pub(super) fn places(values: &[String]) -> Vec<f64> {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    numbers.unwrap_or_else(|| (0..values.len()).map(|index| index as f64).collect())
}

/// An axis that was varied.
pub(super) fn axis_of(name: &str, values: &[String]) -> Axis {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    match numbers {
        Some(numbers) => Axis::of(short_axis(name), "", Scale::of_varied(&numbers)),
        None => Axis::named(short_axis(name), values.to_vec()),
    }
}
