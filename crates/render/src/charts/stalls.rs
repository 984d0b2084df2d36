//! Chart of the longest stalls, that is times with (nearly) no commits: when, and how long.

use analysis::report::Report;

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "stalls",
    about: "stalls: when, and how long",
    spot: Spot::Rates,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let steady = &report.block.stability;
    let mut stalls: Vec<_> = steady.longest_stalls.iter().collect();
    stalls.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let axis = Axis::new("length", "ms", Scale::FromZero);
    let mut chart = Chart::of_time("stalls", "Stalls", axis, report);
    let points = stalls.iter().map(|stall| Point::at(stall.at_s, Some(stall.ms))).collect();
    chart.traces.push(Trace::new("without commits", Shape::Points, points));
    if steady.stalls > stalls.len() as u64 {
        chart.note = Some(format!("The {} longest of {}.", stalls.len(), steady.stalls));
    }
    chart.if_any()
}
