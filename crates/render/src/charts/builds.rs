//! Chart of a figure over the builds of a history, with the changes of its level.

use analysis::figures::is_time;
use analysis::figures::title;
use model::numbers::cut;
use study::HistoryReport;
use study::history::PointHistory;

use super::{Axis, Chart, Entry, Mark, Of, Point, Scale, Shape, Spot, Trace, figure_axis, slug};
use crate::wording::changed;

pub(super) const ENTRY: Entry = Entry {
    name: "builds",
    about: "a figure over builds, with the changes of its level",
    spot: Spot::Builds,
    make: Of::History(charts),
};

/// Largest number of letters in the label of a mark; the table of builds has the whole text.
const MARK_MOST: usize = 60;

fn charts(report: &HistoryReport) -> Vec<Chart> {
    report.points.iter().flat_map(|point| chart(report, point)).collect()
}

/// Returns a trace of the figure's levels, each the mean over the builds between two changes, from
/// the start of the latest series of builds on. The last level has the expected range of the last
/// build as interval. Empty if no levels were computed.
fn levels(point: &PointHistory) -> Trace {
    let mut points = Vec::new();
    if let (Some(changes), Some(last)) = (&point.changes, &point.last) {
        let begins = point.starts.last().map_or(0, |start| start.at);
        let froms = std::iter::once(begins).chain(changes.iter().map(|change| change.at));
        let tos = changes.iter().map(|change| change.at).chain([point.builds.len()]);
        let values = changes.iter().map(|change| change.before).chain([last.before]);
        for ((from, to), value) in froms.zip(tos).zip(values) {
            let band = last.expected().filter(|_| to == point.builds.len());
            let ends = [from, to - 1].map(|at| Point { band, ..Point::at(at as f64, Some(value)) });
            if !points.is_empty() {
                points.push(Point::at(from as f64 - 0.5, None));
            }
            points.extend(ends);
        }
    }
    Trace::new("level and expected range", Shape::Line, points)
}

fn chart(report: &HistoryReport, point: &PointHistory) -> Vec<Chart> {
    let names = point.builds.iter().map(|build| build.build.clone()).collect();
    let at = point.name();
    let id = slug(&format!("builds {at}"));
    let titled = format!("{} by {} {at}", title(&report.figure), report.by);
    let values = point.builds.iter().map(|build| build.value).filter(|value| value.is_finite());
    let scale = if is_time(&report.figure) { Scale::of_times(values) } else { Scale::FromZero };
    let x = Axis::named(report.by.clone(), names);
    let y = figure_axis(&report.figure, &report.units, scale);
    let mut chart = Chart::new(id, titled.trim_end(), x, y);
    let series = |value_of: &dyn Fn(&study::history::BuildReport) -> f64| -> Vec<Point> {
        let builds = point.builds.iter().enumerate();
        let known = |value: f64| Some(value).filter(|value| value.is_finite());
        // Builds before a new series are not compared with those after: no line joins them.
        let is_start = |index: &usize| point.starts.iter().any(|start| start.at == *index);
        let at = |(index, build)| {
            let gap = is_start(&index).then(|| Point::at(index as f64 - 0.5, None));
            gap.into_iter().chain([Point::at(index as f64, known(value_of(build)))])
        };
        builds.flat_map(at).collect()
    };
    // Levels come last, since not every history has them: colours mean the same in all.
    chart.traces = vec![
        Trace::new(report.noun(), Shape::Joined, series(&|build| build.value)),
        Trace::new("mean of the last ten", Shape::Line, series(&|build| build.mean_of_ten)),
        levels(point),
    ];
    chart.traces.retain(|trace| !trace.points.is_empty());
    for change in point.changes.iter().flatten() {
        let word = if change.is_worse { "worse" } else { "better" };
        let text = format!("{:+.1} %, {word}", (change.ratio - 1.0) * 100.0);
        chart.marks.push(Mark::stretch(change.at as f64, None, text));
    }
    for start in &point.starts {
        let text = cut(&format!("new series: {}", changed(&start.changed)), MARK_MOST);
        chart.marks.push(Mark::stretch(start.at as f64, None, text));
    }
    chart.if_any()
}
