//! Charts of an experiment's figures over one of its varied parameters, with a line for each
//! combination of values of the other parameters.

use analysis::figures::title as title_of;
use analysis::figures::{Figure, is_time, number};
use model::{format_count, short_axis};
use study::ExperimentReport;
use study::experiment::PointReport;
use study::trials::{TrialReport, figure_at};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, elsewhere, figure_axis, slug};
use crate::axis_names::name_of;

pub(super) const ENTRY: Entry = Entry {
    name: "curves",
    about: "an experiment's figures over clients or another axis, with their errors",
    spot: Spot::Curves,
    make: Of::Experiment(charts),
};

/// Figures that get a chart over an experiment's main varied parameter, in addition to the primary
/// one.
const OTHERS: [&str; 7] =
    ["tps", "p50_ms", "p95_ms", "p99_ms", "wait_percent", "errors_percent", "tpm"];

/// Figures of TPC-C results that share a chart: new orders and all transactions per minute.
const PER_MINUTE: [&str; 2] = ["nopm", "tpm"];

/// Largest number of lines, measured and imported ones, in one chart; with more, imported ones get
/// a chart of their own.
const LINES_MOST: usize = 8;

/// Largest number of figures that get a chart only because imported files have them; further ones
/// get none.
const ELSEWHERE_MOST: usize = 4;

/// Largest number of points without a value that a chart's note names; of more, it gives only the
/// number, such as `5 points`.
const MISSING_MOST: usize = 4;

/// Smallest number of values of a varied parameter that are joined to a curve; fewer are drawn as
/// separate points.
const CURVE_LEAST: usize = 3;

/// Returns charts of the primary and other figures over the experiment's main varied parameter, and
/// of the primary figure over each other numeric parameter with at least [`CURVE_LEAST`] values.
fn charts(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Chart> {
    let Some(main) = report.main_axis() else { return Vec::new() };
    let both = per_minute(report, main);
    let both_are_one = both.is_some();
    let mut all = match both {
        Some(both) => vec![both],
        None => {
            let both = with_tpm(report, trials).and_then(|report| per_minute(&report, main));
            chart(report, main, &report.primary).into_iter().chain(both).collect()
        }
    };
    let is_shown =
        |name: &&&str| **name != report.primary && !(both_are_one && PER_MINUTE.contains(*name));
    let others: Vec<&&str> = OTHERS.iter().filter(is_shown).collect();
    let others = others.into_iter();
    let shown = others.filter(|name| is_reported(report, name));
    all.extend(shown.flat_map(|name| chart(report, main, name)));
    all.extend(as_elsewhere(report).iter().flat_map(|name| chart(report, main, name)));
    let is_curve = |axis: &usize| {
        let values = &report.axes[*axis].values;
        values.len() >= CURVE_LEAST && are_numbers(values)
    };
    let axes = (0..report.axes.len()).filter(|axis| *axis != main).filter(is_curve);
    all.extend(axes.flat_map(|axis| chart(report, axis, &report.primary)));
    all
}

/// Returns the names of imported figures that would otherwise have no chart, since they are neither
/// the primary figure nor in [`OTHERS`]; at most [`ELSEWHERE_MOST`].
fn as_elsewhere(report: &ExperimentReport) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for value in report.imported.iter().flat_map(|import| &import.values) {
        let has_chart = value.figure == report.primary || OTHERS.contains(&&*value.figure);
        let is_new = !has_chart && is_reported(report, &value.figure);
        if is_new && !names.contains(&value.figure) && names.len() < ELSEWHERE_MOST {
            names.push(value.figure.clone());
        }
    }
    names
}

/// Returns the report of an experiment with TPM (transactions per minute) computed from the trials;
/// `None` if the report has TPM already, or some point has no trial with TPM.
fn with_tpm(report: &ExperimentReport, trials: &[TrialReport]) -> Option<ExperimentReport> {
    let tpm = PER_MINUTE[1];
    if report.points.iter().any(|point| point.figures.get(tpm).is_some()) {
        return None;
    }
    let mut with = report.clone();
    for (index, point) in with.points.iter_mut().enumerate() {
        point.figures.push(tpm, figure_at(trials, index as u32, tpm)?);
    }
    Some(with)
}

/// Returns one chart with both NOPM and TPM, if NOPM is the primary figure and no lines are needed
/// for other varied parameters or imported figures; else `None`.
fn per_minute(report: &ExperimentReport, axis: usize) -> Option<Chart> {
    let has = |name: &str| report.points.iter().any(|point| point.figures.get(name).is_some());
    let is_alone = report.axes.len() == 1 && report.imported.is_empty();
    if report.primary != PER_MINUTE[0] || !is_alone || !PER_MINUTE.iter().all(|name| has(name)) {
        return None;
    }
    let [mut both, tpm] = PER_MINUTE.map(|figure| chart(report, axis, figure).into_iter().next());
    let chart = both.as_mut()?;
    let varied = short_axis(&report.axes[axis].name);
    chart.id = format!("curves-{}-per-minute", slug(&report.axes[axis].name));
    chart.title = format!("NOPM and TPM over {varied}");
    chart.y = Axis::new("transactions per minute", "1/min", Scale::FromZero);
    chart.traces.extend(tpm?.traces);
    both
}

fn are_numbers(values: &[String]) -> bool {
    values.iter().all(|value| number(value).is_some())
}

/// Returns true if some point of the experiment has the figure `name`; for the percentage of
/// errors, only if it is not 0 at all points.
fn is_reported(report: &ExperimentReport, name: &str) -> bool {
    let mut figures = report.points.iter().filter_map(|point| point.figures.get(name));
    figures.any(|figure| name != "errors_percent" || figure.max > 0.0)
}

fn chart(report: &ExperimentReport, axis: usize, figure: &str) -> Vec<Chart> {
    let shown = &report.axes[axis];
    let means = report.points.iter().filter_map(|point| Some(point.figures.get(figure)?.mean));
    let imported = report.imported.iter().flat_map(|import| &import.values);
    let imported = imported.filter(|value| value.figure == figure).map(|value| value.value);
    let scale = match is_time(figure) {
        true => Scale::of_times(means.chain(imported).filter(|mean| mean.is_finite())),
        false => Scale::FromZero,
    };
    let id = format!("curves-{}-{}", slug(&shown.name), slug(figure));
    let title = format!("{} over {}", title_of(figure), short_axis(&shown.name));
    let x = axis_of(&shown.name, &shown.values);
    let mut chart = Chart::new(id, title, x, figure_axis(figure, &report.units, scale));
    let figures = || report.points.iter().filter_map(|point| point.figures.get(figure));
    if figures().any(|figure| figure.half_width.is_some()) {
        let words = "Whiskers are 95 % intervals over runs";
        let words = match scale {
            Scale::Log => format!("{words}, symmetric, and cut off at the end of the axis."),
            Scale::Linear | Scale::FromZero => format!("{words}."),
        };
        let range = match figures().any(Figure::is_wide) {
            true => {
                " An interval wider than the mean, of too few runs, is drawn from 0 to twice the mean."
            }
            false => "",
        };
        chart.note = Some(words + range);
    }
    if let Some(missing) = missing(report, axis, figure) {
        let words = chart.note.map_or_else(String::new, |note| format!("{note} "));
        chart.note = Some(format!("{words}{missing}"));
    }
    for (at, point) in along(report, axis) {
        let Some(measured) = point.figures.get(figure) else { continue };
        chart.join(
            &line_of(report, point, axis),
            &title_of(figure),
            of_figure(figure, at, measured),
        );
    }
    // Two values make no curve: a line between them would suggest values that were not measured.
    if shown.values.len() < CURVE_LEAST {
        let joined = chart.traces.iter_mut().filter(|trace| trace.shape == Shape::Joined);
        joined.for_each(|trace| trace.shape = Shape::Points);
    }
    let ours = lines(report, axis);
    keep_colours(&mut chart, &ours);
    let add = |chart: &mut Chart| {
        elsewhere::add(chart, &report.imported, figure, (&shown.name, &shown.values), &ours);
    };
    let mut all = chart.clone();
    add(&mut all);
    if all.traces.len() <= LINES_MOST || chart.traces.is_empty() {
        return all.if_any();
    }
    let (id, title) = (format!("{}-imported", chart.id), format!("{}, imported", chart.title));
    let mut imported = Chart::new(id, title, chart.x.clone(), chart.y.clone());
    add(&mut imported);
    chart.if_any().into_iter().chain(imported.if_any()).collect()
}

/// Describes the points of an experiment that have no value of `figure`, each with the reason: `No
/// p99 ms at clients=2: too few samples, needs at least 1,234.` `None` if all points have one.
fn missing(report: &ExperimentReport, axis: usize, figure: &str) -> Option<String> {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    let all = along(report, axis).into_iter().map(|(_, point)| point);
    for point in all.filter(|point| point.figures.get(figure).is_none()) {
        let known = point
            .samples_needed
            .get(figure)
            .map(|needed| format!("too few samples, needs at least {}", format_count(*needed)));
        let some = || {
            let n = point.runs_with.get(figure)?;
            Some(format!("only {n} of {} runs have it", point.runs.len()))
        };
        let stated = || point.reasons.get(figure).map(|why| why.trim_end_matches('.').to_owned());
        let why = match point.runs.is_empty() {
            true => "no run that counts".to_owned(),
            false => known.or_else(some).or_else(stated).unwrap_or_else(|| "not known".to_owned()),
        };
        let name = name_by(report, point, |_| true);
        match by_reason.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((why, vec![name])),
        }
    }
    let titled = title_of(figure);
    let sentence = |(why, names): &(String, Vec<String>)| {
        let at = match names.len() > MISSING_MOST {
            true => format!("{} points", names.len()),
            false => names.join(", "),
        };
        format!("No {titled} at {at}: {why}.")
    };
    let sentences: Vec<String> = by_reason.iter().map(sentence).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Returns the names of all lines in charts over the varied parameter at index `axis`, in the order
/// of their colours. Lines without a value are included.
pub(super) fn lines(report: &ExperimentReport, axis: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (_, point) in along(report, axis) {
        let line = line_of(report, point, axis);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Fixes the colour of each trace at the index of its name in `lines`, so that a line has the same
/// colour in all charts.
pub(super) fn keep_colours(chart: &mut Chart, lines: &[String]) {
    for (index, trace) in chart.traces.iter_mut().enumerate() {
        let place = lines.iter().position(|line| *line == trace.name);
        trace.place = place.filter(|place| *place != index);
    }
}

/// Returns an experiment's points, each with its x value in charts over the varied parameter at
/// index `axis`, in the order of these x values.
pub(super) fn along(report: &ExperimentReport, axis: usize) -> Vec<(f64, &PointReport)> {
    let values = &report.axes[axis].values;
    let places = places(values);
    let mut points: Vec<(f64, &PointReport)> = Vec::new();
    for point in &report.points {
        let Some((_, value)) = point.values.0.get(axis) else { continue };
        let Some(index) = values.iter().position(|known| known == value) else { continue };
        points.push((places[index], point));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Returns the name of the line that an experiment's point belongs to in charts over the parameter
/// at index `axis`: the point's values of all other parameters.
pub(super) fn line_of(report: &ExperimentReport, point: &PointReport, axis: usize) -> String {
    name_by(report, point, |index| index != axis)
}

/// Returns the name of an experiment's point from its values of the varied parameters that
/// `is_shown` selects: `mode=text clients=4`.
fn name_by(
    report: &ExperimentReport,
    point: &PointReport,
    is_shown: impl Fn(usize) -> bool,
) -> String {
    let shown = point.values.0.iter().enumerate().filter(|(index, _)| is_shown(*index));
    let word = |(index, (name, value)): (usize, &(String, String))| {
        format!("{}={}", short_axis(name), name_of(&report.axes[index], value))
    };
    shown.map(word).collect::<Vec<String>>().join(" ")
}

/// Converts a figure to a point with its confidence interval. The interval is cut at 0, since no
/// figure is negative, and at 100 % for a share below a bound. An interval wider than the mean is
/// cut to 0 to twice the mean, so that it does not stretch the axis.
pub(super) fn of_figure(name: &str, x: f64, figure: &Figure) -> Point {
    let most = if name.contains(".below_") { 100.0 } else { f64::INFINITY };
    let band = figure.half_width.map(|half| {
        let half = if figure.is_wide() { figure.mean } else { half };
        let (low, high) = (figure.mean - half, figure.mean + half);
        (low.max(0.0), high.min(most.max(figure.mean)))
    });
    Point { band, ..Point::at(x, Some(figure.mean)) }
}

/// Returns the x values in charts for the values of a varied parameter: the numbers themselves, or
/// 0, 1, 2 and so on if any value is not a number.
pub(super) fn places(values: &[String]) -> Vec<f64> {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    numbers.unwrap_or_else(|| (0..values.len()).map(|index| index as f64).collect())
}

/// Creates the chart axis for a varied parameter: of numbers if all its values are numbers, else of
/// names.
pub(super) fn axis_of(name: &str, values: &[String]) -> Axis {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    match numbers {
        Some(numbers) => Axis::new(short_axis(name), "", Scale::of_varied(&numbers)),
        None => Axis::named(short_axis(name), values.to_vec()),
    }
}
