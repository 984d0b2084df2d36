//! Chart of measured throughput over clients, the Universal Scalability Law fitted to it, and the
//! straight line of linear scaling.

use analysis::figures::number;
use study::ExperimentReport;
use study::trials::TrialReport;

use super::curves::of_figure;
use super::{Axis, Chart, Entry, Mark, Of, Point, Scale, Shape, Spot, Trace, figure_axis};
use crate::wording::misfit;

pub(super) const ENTRY: Entry = Entry {
    name: "law",
    about: "the Universal Scalability Law and the measured points",
    spot: Spot::Curves,
    make: Of::Experiment(charts),
};

/// Number of points at which the curve of the Universal Scalability Law is computed.
const PLACES: u32 = 100;

fn charts(report: &ExperimentReport, _trials: &[TrialReport]) -> Vec<Chart> {
    let Some(law) = &report.scalability else { return Vec::new() };
    let measured: Vec<Point> = report
        .points
        .iter()
        .filter_map(|point| {
            let clients = number(&point.values.0.first()?.1)?;
            Some(of_figure(&report.primary, clients, point.figures.get(&report.primary)?))
        })
        .collect();
    let least = measured.iter().map(|point| point.x).fold(f64::INFINITY, f64::min);
    let most = measured.iter().map(|point| point.x).fold(0.0, f64::max);
    let places = |to: f64| {
        // Closer together at few clients, where the law bends.
        (0..=PLACES)
            .map(move |place| least * (to / least).powf(f64::from(place) / f64::from(PLACES)))
    };
    let line: Vec<Point> = places(most).map(|at| Point::at(at, Some(law.throughput(at)))).collect();
    // Up to the largest measured value: a higher range would flatten all else.
    let reached = measured.iter().chain(&line).filter_map(|point| point.y).fold(0.0, f64::max);
    let alone = law.throughput(1.0);
    let ideal = places((reached / alone).clamp(least, most));
    let ideal = ideal.map(|at| Point::at(at, Some(alone * at))).collect();
    let varied: Vec<f64> = measured.iter().map(|point| point.x).collect();
    let x = Axis::new("clients", "", Scale::of_varied(&varied));
    let y = figure_axis(&report.primary, &report.units, Scale::FromZero);
    let mut chart = Chart::new("law", "Scalability", x, y);
    if let Some(peak) = law.peak_clients.filter(|peak| *peak <= most) {
        chart.marks.push(Mark::stretch(peak, None, "the law's peak"));
    }
    chart.note =
        misfit(law).map(|why| format!("It does not fit: {why}. The line is only a rough guide."));
    chart.traces = vec![
        Trace::new("linear: n times one client", Shape::Line, ideal),
        Trace::new("Universal Scalability Law", Shape::Line, line),
        Trace::new("measured", Shape::Points, measured),
    ];
    chart.if_any()
}
