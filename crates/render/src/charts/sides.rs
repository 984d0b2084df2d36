//! Charts of a comparison's figures over its points (combinations of varied parameters), with a
//! line for each compared set of runs.

use analysis::figures::title;
use analysis::figures::{Figure, is_time};
use model::short_axis;
use study::ComparisonReport;
use study::comparison::{Judged, PointPair};

use super::curves::{axis_of, of_figure, places};
use super::{Chart, Entry, Of, Point, Scale, Shape, Spot, Trace, figure_axis};

pub(super) const ENTRY: Entry = Entry {
    name: "sides",
    about: "a comparison's figures over its points, a line for each side",
    spot: Spot::Sides,
    make: Of::Comparison(charts),
};

/// Returns a chart for each compared figure over the points of a comparison, with a line for each
/// compared set of runs; none if the comparison has a single point.
fn charts(report: &ComparisonReport) -> Vec<Chart> {
    let Some(first) = report.pairs.first().filter(|pair| pair.points.len() > 1) else {
        return Vec::new();
    };
    let mut figures: Vec<&str> = vec![&report.primary];
    figures.extend(first.points[0].others.iter().map(|judged| judged.figure.as_str()));
    figures.into_iter().flat_map(|figure| chart(report, figure)).collect()
}

fn chart(report: &ComparisonReport, name: &str) -> Vec<Chart> {
    let all: Vec<&PointPair> = report.pairs.iter().flat_map(|pair| &pair.points).collect();
    let axis = match &all[0].values.0[..] {
        [(axis, _)] => short_axis(axis).to_owned(),
        _ => "point".to_owned(),
    };
    let mut values: Vec<String> = Vec::new();
    for point in &all {
        let value = value_of(point);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let at = places(&values);
    let mut lines: Vec<(String, Vec<Point>)> = vec![(report.sides[0].name.clone(), Vec::new())];
    for pair in &report.pairs {
        let mut line = Vec::new();
        for point in &pair.points {
            let place = values.iter().position(|value| *value == value_of(point));
            let (Some(place), Some(judged)) = (place, judged_named(point, name)) else { continue };
            let put = |figure: &Figure| of_figure(name, at[place], figure);
            line.extend(judged.side.as_ref().map(put));
            let is_known = lines[0].1.iter().any(|known| known.x == at[place]);
            lines[0].1.extend(judged.baseline.as_ref().filter(|_| !is_known).map(put));
        }
        lines.push((pair.side.clone(), line));
    }
    let times = lines.iter().flat_map(|(_, line)| line).filter_map(|point| point.y);
    let scale = if is_time(name) { Scale::of_times(times) } else { Scale::FromZero };
    let id = format!("sides-{}", super::slug(name));
    let titled = format!("{} of each side", title(name));
    let y = figure_axis(name, &report.units, scale);
    let mut chart = Chart::new(id, titled, axis_of(&axis, &values), y);
    chart.note = Some("Whiskers are 95 % intervals over runs.".to_owned());
    chart.traces = lines
        .into_iter()
        .map(|(name, mut points)| {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Trace::new(name, Shape::Joined, points)
        })
        .collect();
    let ours: Vec<String> = chart.traces.iter().map(|trace| trace.name.clone()).collect();
    super::elsewhere::add(&mut chart, &report.imported, name, (&axis, &values), &ours);
    chart.if_any()
}

fn value_of(point: &PointPair) -> String {
    match &point.values.0[..] {
        [(_, value)] => value.clone(),
        _ => point.values.pairs(" "),
    }
}

fn judged_named<'p>(point: &'p PointPair, name: &str) -> Option<&'p Judged> {
    std::iter::once(&point.primary).chain(&point.others).find(|judged| judged.figure == name)
}
