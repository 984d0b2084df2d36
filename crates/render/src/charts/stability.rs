//! Charts of p95, p99 and TPS over time, with a line for each point of an experiment, to see which
//! points are steady.

use analysis::report::{IntervalReport, Named, Report, SecondReport};
use study::ExperimentReport;
use study::experiment::PointReport;
use study::trials::{TrialReport, counts, is_settled};

use super::intervals::steps;
use super::{Axis, Chart, Entry, Mark, Of, Palette, Point, Scale, Shape, Spot, Trace};
use super::{curves, disturbed_in_all, figure_axis, slug, throughput};

pub(super) const ENTRY: Entry = Entry {
    name: "stability",
    about: "p95, p99 and TPS of an experiment's points over time",
    spot: Spot::Stability,
    make: Of::Experiment(charts),
};

/// Largest number of lines in a chart, so that they can be distinguished; the chart's note says
/// that others are left out.
const LINES_MOST: usize = 12;
/// Smallest number of points of a line that shows a course over time. A chart with only shorter
/// lines is left out.
const POINTS_LEAST: usize = 5;
/// Largest number of charts per figure, since an experiment over several parameters could have
/// many; the notes of the charts say that others are left out.
const CHARTS_MOST: usize = 4;

/// A figure drawn over time, with the functions that return it for a report interval and for a
/// second.
struct Figure {
    name: &'static str,
    of_interval: fn(&IntervalReport) -> Option<f64>,
    of_second: fn(&SecondReport) -> Option<f64>,
}

const FIGURES: [Figure; 3] = [
    Figure { name: "p95_ms", of_interval: |interval| interval.p95_ms, of_second: |row| row.p95_ms },
    Figure { name: "p99_ms", of_interval: |interval| interval.p99_ms, of_second: |row| row.p99_ms },
    Figure {
        name: "tps",
        of_interval: |interval| Some(interval.tps),
        of_second: |row| Some(row.tps),
    },
];

/// Content of one chart: the values that its points share in all varied parameters but the main
/// one, and for each line the name and the run of its point. The run is the point's first valid
/// trial, or else the first that a full queue ended.
type Lines<'r> = (String, Vec<(String, &'r Report)>);

/// Returns a chart per figure for each combination of values of the varied parameters other than
/// the main one.
fn charts(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Chart> {
    if trials.iter().any(|trial| trial.report.is_sequence()) {
        return Vec::new();
    }
    let all = lines(report, trials);
    // A run of a few seconds is a single interval, and is drawn by seconds.
    let is_long = all.iter().flat_map(|(_, lines)| lines).any(|(_, run)| run.intervals.len() > 1);
    let to_charts = |figure: &Figure| -> Vec<Chart> {
        all.iter()
            .take(CHARTS_MOST)
            .flat_map(|lines| chart(lines, figure, is_long, all.len()))
            .collect()
    };
    FIGURES.iter().flat_map(to_charts).collect()
}

fn lines<'r>(report: &ExperimentReport, trials: &'r [TrialReport]) -> Vec<Lines<'r>> {
    let first = |point: usize| {
        let earliest = |is_eligible: fn(&Report) -> bool| {
            let here = trials.iter().filter(|trial| trial.point as usize == point);
            here.filter(|trial| is_eligible(&trial.report)).min_by_key(|trial| trial.repeat)
        };
        earliest(counts).or_else(|| earliest(is_settled)).map(|trial| &trial.report)
    };
    let main = report.main_axis();
    let points: Vec<&PointReport> = match main {
        Some(main) => curves::along(report, main).into_iter().map(|(_, point)| point).collect(),
        None => report.points.iter().collect(),
    };
    let mut all: Vec<Lines<'_>> = Vec::new();
    for point in points {
        let index = report.points.iter().position(|other| other.values == point.values);
        let Some(run) = index.and_then(first) else { continue };
        let common = main.map_or_else(String::new, |main| curves::line_of(report, point, main));
        let value = main.and_then(|main| point.values.0.get(main));
        let name = match value {
            Some((axis, value)) => format!("{} {value}", model::short_axis(axis)),
            None => "all".to_owned(),
        };
        match all.iter_mut().find(|(name, _)| *name == common) {
            Some((_, lines)) => lines.push((name, run)),
            None => all.push((common, vec![(name, run)])),
        }
    }
    all
}

fn chart(
    (common, runs): &Lines<'_>,
    figure: &Figure,
    is_long: bool,
    n_charts: usize,
) -> Vec<Chart> {
    let id = format!("stability-{}", figure.name.trim_end_matches("_ms"));
    let title = format!("{} over time", analysis::figures::title(figure.name));
    let (id, title) = match common.is_empty() {
        true => (id, title),
        false => (format!("{id}-{}", slug(common)), format!("{title}, {common}")),
    };
    let x = Axis::new("time in the measured phase", "s", Scale::Linear);
    let y = figure_axis(figure.name, &Named::default(), Scale::FromZero);
    let mut chart = Chart::new(id, title, x, y);
    chart.palette = Palette::Ordered;
    // If the queue grew until it was full, only arrivals of the first seconds have times.
    let line = |(name, run): &(String, &Report)| match is_long && !is_settled(run) {
        true => Trace::new(name.clone(), Shape::Steps, steps(&run.intervals, &figure.of_interval)),
        false => Trace::new(name.clone(), Shape::Line, seconds(run, figure)),
    };
    chart.traces = runs.iter().take(LINES_MOST).map(line).collect();
    let stopped = runs.iter().take(LINES_MOST).filter(|(_, run)| is_settled(run));
    let shown = runs.iter().take(LINES_MOST).map(|(_, run)| *run);
    chart.marks = stopped.clone().map(stop).chain(disturbed_in_all(shown)).collect();
    // The time at which a full queue ended a trial is shown in any case.
    let is_short = chart.traces.iter().all(|trace| trace.points.len() < POINTS_LEAST);
    if is_short && stopped.clone().next().is_none() {
        return Vec::new();
    }
    if figure.name != "tps" {
        let points = chart.traces.iter().flat_map(|trace| &trace.points);
        chart.y.scale = Scale::of_times(points.filter_map(|point| point.y));
    }
    let mut words = note(runs.len(), is_long, n_charts);
    if stopped.count() > 0 && figure.name != "tps" {
        words.push_str(
            " A full queue has ended the trials that are marked. Their lines are second by second, \
             and end where work arrived that was still in the queue.",
        );
    }
    chart.note = Some(words);
    chart.if_any()
}

/// Returns a vertical line for the chart, at the time at which a full queue ended a trial.
fn stop((name, run): &(String, &Report)) -> Mark {
    Mark::stretch(run.measured_seconds, None, format!("{name}: queue full"))
}

/// Returns the points of a figure for each second of the measured phase. Empty for response times
/// of several groups, which cannot be added up.
fn seconds(run: &Report, figure: &Figure) -> Vec<Point> {
    let is_sum = figure.name == "tps";
    let mut points = match run.groups.len() == 1 || is_sum {
        true => throughput::summed(run, &figure.of_second),
        false => Vec::new(),
    };
    // Points are in the middle of their seconds, of which the last one may not be whole.
    points.retain(|point| (0.0..run.measured_seconds + 0.5).contains(&point.x));
    points
}

/// Returns the note below a chart of `n_lines` trials: whether it has a value per interval
/// (`is_long`) or per second, and how many lines or of `n_charts` charts are left out.
fn note(n_lines: usize, is_long: bool, n_charts: usize) -> String {
    let shown = match n_lines > LINES_MOST {
        true => format!("the first {LINES_MOST} of {n_lines} points"),
        false => "each point".to_owned(),
    };
    let by = if is_long { "in intervals" } else { "second by second" };
    let left_out = match n_charts > CHARTS_MOST {
        true => format!(" The first {CHARTS_MOST} of {n_charts} charts."),
        false => String::new(),
    };
    format!("The first trial of {shown}, {by}.{left_out}")
}
