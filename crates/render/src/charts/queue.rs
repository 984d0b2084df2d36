//! Chart of the number of transactions that wait for a free client, in open load.

use analysis::report::{Report, SecondReport};

use super::intervals::steps;
use super::throughput::by_group;
use super::{Axis, Chart, Entry, Of, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "queue",
    about: "transactions waiting for a free client",
    spot: Spot::Rates,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let axis = Axis::new("waiting", "transactions", Scale::FromZero);
    let mut chart = Chart::of_time("queue", "Queue", axis, report);
    let waiting = |row: &SecondReport| row.waiting.map(|n| n as f64);
    chart.traces = by_group(report, "waiting", &waiting);
    let points = steps(&report.intervals, &|interval| interval.queue_mean);
    chart.traces.push(Trace::new("mean at the ends of seconds", Shape::Steps, points));
    chart.if_any()
}
