//! Charts of response-time percentiles per second, with the area between neighbouring percentiles
//! filled.

use analysis::report::{GroupReport, Report, SecondReport};
use model::numbers::count;

use super::throughput::middle_of;
use super::{Axis, Chart, Entry, Of, Palette, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "response",
    about: "p50, p95, p99 and maximum of response times over time",
    spot: Spot::Times,
    make: Of::Run(charts),
};

const NOTE: &str = "Transactions are counted in the second they were scheduled. With few \
                    samples p99 is close to the maximum.";

/// Returns a chart of response times over time for each group, because percentiles of several
/// groups cannot be added up.
fn charts(report: &Report) -> Vec<Chart> {
    let one = |group: &GroupReport| {
        let name = &group.name;
        let rows: Vec<&SecondReport> =
            report.seconds.iter().filter(|row| row.group == *name).collect();
        let (id, title) = match report.groups.len() {
            1 => ("response".to_owned(), "Response times".to_owned()),
            _ => (format!("response-{}", super::slug(name)), format!("Response times of {name}")),
        };
        let all = rows.iter().flat_map(|row| [row.p50_ms, row.max_ms]).flatten();
        let axis = Axis::new("response time", "ms", Scale::of_times(all));
        let mut chart = Chart::of_time(id, title, axis, report);
        chart.palette = Palette::Ordered;
        chart.note = Some(note(report, group));
        chart.traces = traces(&rows);
        chart.if_any()
    };
    report.groups.iter().flat_map(one).collect()
}

/// Returns the note below the chart of response times. The note counts transactions that did not
/// finish: they have no response time, so the chart looks better than the run was.
fn note(report: &Report, group: &GroupReport) -> String {
    let counts = &group.block.as_ref().unwrap_or(&report.block).counts;
    let before = match report.disturbances.is_empty() {
        true => "",
        false => " What was due right before a disturbance and waited for it stands before it.",
    };
    let note = match counts.offered - counts.finished {
        0 => NOTE.to_owned(),
        others => format!(
            "Finished transactions only; {} of {} are not. {NOTE}",
            model::format_count(others),
            count(counts.offered, "transaction")
        ),
    };
    note + before
}

/// Returns a trace for maximum, p99, p95 and p50 of each second, filled down to the next lower one.
/// The maximum is drawn first, behind the others.
fn traces(rows: &[&SecondReport]) -> Vec<Trace> {
    type Quantile = fn(&SecondReport) -> Option<f64>;
    let all: [(&str, Quantile); 4] = [
        ("max", |row| row.max_ms),
        ("p99", |row| row.p99_ms),
        ("p95", |row| row.p95_ms),
        ("p50", |row| row.p50_ms),
    ];
    let trace = |(index, (name, quantile)): (usize, &(&str, Quantile))| {
        let below = all.get(index + 1).map(|(_, below)| *below);
        let point = |row: &&SecondReport| {
            let band = below.and_then(|below| below(row)).zip(quantile(row));
            Point { band, ..Point::at(middle_of(row), quantile(row)) }
        };
        Trace::new(*name, Shape::Line, rows.iter().map(point).collect())
    };
    all.iter().enumerate().map(trace).collect()
}
