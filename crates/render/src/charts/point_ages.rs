//! Chart of the ages of records when readers first read them, with a line for each point of an
//! experiment, over all readers and all valid runs of the point.
//!
//! Not here: each reader of a run (ages).

use study::ExperimentReport;
use study::trials::TrialReport;

use super::ages::{ages_at, trace};
use super::{Axis, Chart, Entry, Of, Palette, Scale, Spot};

pub(super) const ENTRY: Entry = Entry {
    name: "points-ages",
    about: "the share of records below an age, by points of an experiment",
    spot: Spot::PointAges,
    make: Of::Experiment(charts),
};

/// Largest number of lines in the chart of ages by point, so that they can be distinguished; the
/// chart's note says how many points are left out.
const LINES_MOST: usize = 12;

fn charts(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Chart> {
    let x = Axis::new("age when read first", "ms", Scale::Log);
    let y = Axis { range: Some((0.0, 100.0)), ..Axis::new("records below", "%", Scale::FromZero) };
    let mut chart = Chart::new("points-ages", "Ages of records by point", x, y);
    chart.palette = Palette::Ordered;
    for (index, point) in report.points.iter().enumerate() {
        let runs = ages_at(trials, index).into_iter();
        let all = runs.reduce(|sum, ages| sum.plus(&ages).unwrap_or(sum));
        let short = |(axis, value): (&str, &String)| format!("{} {value}", model::short_axis(axis));
        let name = point.values.iter().map(short).collect::<Vec<_>>().join(", ");
        chart.traces.extend(all.map(|ages| trace(name, &ages)));
    }
    let n_left = chart.traces.len().saturating_sub(LINES_MOST);
    chart.traces.truncate(LINES_MOST);
    let more = match n_left {
        0 => String::new(),
        n => format!(" {n} more points are in the table."),
    };
    chart.note = Some(format!(
        "All readers and runs of a point, over the whole load. Where a line ends below 100 %, the \
         rest of the records is older.{more}"
    ));
    chart.if_any()
}
