//! Charts that overlay one run of each compared set of runs, over time and as distributions of
//! response times. They show when and where runs differ, which a ratio does not.

use analysis::figures::title;
use analysis::report::{Report, SecondReport};
use study::ComparisonReport;
use study::comparison::MedianRun;

use super::distribution;
use super::disturbed_in_all;
use super::throughput::summed;
use super::{Axis, Chart, ONE_IN, Point, Scale, Shape, Trace};
use crate::axis_names::{axes_of, told};

/// Function that returns a figure of one second, such as its TPS; `None` if it is not known.
type OfSecond = fn(&SecondReport) -> Option<f64>;

pub(super) fn charts(report: &ComparisonReport, runs: &[(String, Report)]) -> Vec<Chart> {
    if runs.len() < 2 {
        return Vec::new();
    }
    let note = &which(report);
    let tps = Axis::new("TPS", "commits/s", Scale::FromZero);
    let mut all =
        over_time(runs, ("overlay-throughput", "Throughput"), tps, note, |row| Some(row.tps));
    // Percentiles of several groups cannot be added up.
    if runs.iter().all(|(_, report)| report.groups.len() == 1) {
        let p99 = |row: &SecondReport| row.p99_ms;
        let times = runs.iter().flat_map(|(_, report)| &report.seconds).filter_map(p99);
        let axis = Axis::new("response time, p99", "ms", Scale::of_times(times));
        all.extend(over_time(runs, ("overlay-p99", "p99 over time"), axis, note, p99));
    }
    all.extend(distributions(runs, note));
    all
}

/// Names the runs of a comparison that are overlaid: `The run with the median TPS of each side, at
/// clients=4.`
fn which(report: &ComparisonReport) -> String {
    if report.sides.iter().all(|side| side.runs.len() == 1) {
        return "The only run of each side.".to_owned();
    }
    let drawn = report.sides.iter().find_map(|side| side.median_run.as_ref());
    let has_several = report.pairs.iter().any(|pair| pair.points.len() > 1);
    let at =
        |drawn: &MedianRun| format!(", at {}", told(&axes_of(report), &drawn.values).pairs(" "));
    let at = drawn.filter(|_| has_several).map(at).unwrap_or_default();
    format!("The run with the median {} of each side{at}.", title(&report.primary))
}

fn over_time(
    runs: &[(String, Report)],
    (id, title): (&str, &str),
    axis: Axis,
    note: &str,
    value_of: OfSecond,
) -> Vec<Chart> {
    let longest = runs.iter().max_by(|a, b| a.1.measured_seconds.total_cmp(&b.1.measured_seconds));
    let Some((_, longest)) = longest else { return Vec::new() };
    let mut chart = Chart::of_time(id, title, axis, longest);
    chart.marks = disturbed_in_all(runs.iter().map(|(_, report)| report));
    chart.note = Some(note.to_owned());
    let line = |(side, report): &(String, Report)| {
        Trace::new(side.clone(), Shape::Line, summed(report, &value_of))
    };
    chart.traces = runs.iter().map(line).collect();
    chart.if_any()
}

fn distributions(runs: &[(String, Report)], note: &str) -> Vec<Chart> {
    let line = |(side, report): &(String, Report)| {
        let points: Vec<Point> = distribution::points(&report.block.response_ms);
        Trace::new(side.clone(), Shape::Line, points)
    };
    let traces: Vec<Trace> = runs.iter().map(line).collect();
    let times = traces.iter().flat_map(|trace| &trace.points).filter_map(|point| point.y);
    let y = Axis::new("response time", "ms", Scale::of_times(times));
    let x = Axis::new("percentile: one in N takes longer", ONE_IN, Scale::Log);
    let mut chart = Chart::new("overlay-distribution", "Distribution of latency", x, y);
    chart.note = Some(format!("1 in 10 is p90, 1 in 100 is p99. {note}"));
    chart.traces = traces;
    chart.if_any()
}
