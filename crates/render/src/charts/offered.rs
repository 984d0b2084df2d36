//! Chart of arrivals and commits per second, in open load. Where arrivals exceed commits, a queue
//! grows.

use analysis::report::Report;
use model::Load;

use super::throughput::summed;
use super::{Axis, Chart, Entry, Of, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "offered",
    about: "arrivals against commits per second, in open load",
    spot: Spot::Rates,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let is_open = report.groups.iter().any(|group| matches!(group.load, Load::Open { .. }));
    if !is_open {
        return Vec::new();
    }
    let axis = Axis::new("transactions", "1/s", Scale::FromZero);
    let mut chart = Chart::of_time("offered", "Offered and finished", axis, report);
    let offered = summed(report, &|row| Some(row.offered as f64));
    let committed = summed(report, &|row| Some(row.tps));
    chart.traces = vec![
        Trace::new("offered", Shape::Line, offered),
        Trace::new("committed", Shape::Line, committed),
    ];
    chart.if_any()
}
