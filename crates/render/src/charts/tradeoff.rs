//! Chart of p99 over throughput, with a dot for each point of an experiment.

use model::short_axis;
use study::ExperimentReport;
use study::trials::TrialReport;

use super::{Chart, Entry, Of, Point, Scale, Spot, curves, figure_axis};

pub(super) const ENTRY: Entry = Entry {
    name: "tradeoff",
    about: "p99 over throughput, a point for each of an experiment's",
    spot: Spot::Curves,
    make: Of::Experiment(charts),
};

/// Smallest number of an experiment's points for which p99 is drawn over TPS; with fewer there is
/// no such chart.
const POINTS_LEAST: usize = 3;

/// Returns the chart of p99 over TPS. A line joins an experiment's points in the order of the main
/// varied parameter; there is one for each combination of values of the other parameters.
fn charts(report: &ExperimentReport, _trials: &[TrialReport]) -> Vec<Chart> {
    let Some(main) = report.main_axis().filter(|_| report.points.len() >= POINTS_LEAST) else {
        return Vec::new();
    };
    let times = report.points.iter().filter_map(|point| point.figures.get("p99_ms"));
    let scale = Scale::of_times(times.map(|p99| p99.mean).filter(|mean| mean.is_finite()));
    let axis = |name, scale| figure_axis(name, &report.units, scale);
    let (x, y) = (axis("tps", Scale::FromZero), axis("p99_ms", scale));
    let mut chart = Chart::new("tradeoff", "Response time over throughput", x, y);
    for (_, point) in curves::along(report, main) {
        let figure = |name| point.figures.get(name).map(|figure| figure.mean);
        let (Some(tps), Some(p99)) = (figure("tps"), figure("p99_ms")) else { continue };
        let label = point.values.0.get(main);
        let label = label.map(|(name, value)| format!("{} {value}", short_axis(name)));
        let at = Point { label, ..Point::at(tps, Some(p99)) };
        chart.join(&curves::line_of(report, point, main), "points", at);
    }
    curves::keep_colours(&mut chart, &curves::lines(report, main));
    chart.if_any()
}
