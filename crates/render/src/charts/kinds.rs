//! Charts that compare the transaction types: response times, and each type's share of service
//! time.

use analysis::report::{Report, TransactionReport};

use super::{Axis, Chart, Entry, Of, Palette, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "kinds",
    about: "response times and share of time of each transaction type",
    spot: Spot::Kinds,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let all = report.block.transactions.iter();
    let kinds: Vec<(&str, &TransactionReport)> = all.filter(|(_, kind)| kind.calls > 0).collect();
    if kinds.len() < 2 {
        return Vec::new();
    }
    let names: Vec<String> = kinds.iter().map(|(name, _)| (*name).to_owned()).collect();
    let trace = |name: &str, shape, value_of: &dyn Fn(&TransactionReport) -> Option<f64>| {
        let points = kinds.iter().enumerate();
        let points = points.map(|(index, (_, kind))| Point::at(index as f64, value_of(kind)));
        Trace::new(name, shape, points.collect())
    };
    let time = |name: &'static str| {
        trace(name, Shape::Points, &move |kind: &TransactionReport| kind.response_ms.get(name))
    };
    let x = Axis::named("transaction", names.clone());
    let y = Axis::new("response time", "ms", Scale::Log);
    let mut times = Chart::new("kinds-times", "Response times by transaction", x, y);
    times.palette = Palette::Ordered;
    let max = trace("max", Shape::Points, &|kind| kind.response_ms.max);
    times.traces = vec![max, time("p99"), time("p95"), time("p50")];
    let x = Axis::named("transaction", names);
    let y = Axis::new("share of service time", "%", Scale::FromZero);
    let mut shares = Chart::new("kinds-shares", "Share of time by transaction", x, y);
    shares.traces = vec![trace("share", Shape::Bars, &|kind| kind.ratio_percent)];
    [times.if_any(), shares.if_any()].concat()
}
