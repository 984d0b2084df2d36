//! Chart of failed and dropped transactions per second.

use analysis::report::Report;

use super::throughput::if_counted;
use super::{Axis, Chart, Entry, Of, Scale, Shape, Spot};

pub(super) const ENTRY: Entry = Entry {
    name: "losses",
    about: "failed and dropped transactions per second",
    spot: Spot::Rates,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let axis = Axis::new("transactions", "1/s", Scale::FromZero);
    let mut chart = Chart::of_time("losses", "Failed and dropped", axis, report);
    let all = [
        if_counted(report, "failed", Shape::Steps, &|row| row.failed),
        if_counted(report, "dropped", Shape::Steps, &|row| row.dropped),
    ];
    chart.traces = all.into_iter().flatten().collect();
    chart.if_any()
}
