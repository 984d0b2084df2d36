//! Chart of statements per second: reads, writes and others.

use analysis::report::Report;

use super::throughput::if_counted;
use super::{Axis, Chart, Entry, Of, Scale, Shape, Spot};

pub(super) const ENTRY: Entry = Entry {
    name: "statements",
    about: "reading, writing and other statements per second",
    spot: Spot::Statements,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let axis = Axis::new("statements", "1/s", Scale::FromZero);
    let mut chart = Chart::of_time("statements", "Statements", axis, report);
    let all = [
        if_counted(report, "reads", Shape::Line, &|row| row.reads),
        if_counted(report, "writes", Shape::Line, &|row| row.writes),
        if_counted(report, "others", Shape::Line, &|row| row.others),
    ];
    chart.traces = all.into_iter().flatten().collect();
    chart.if_any()
}
