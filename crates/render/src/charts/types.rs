//! Chart of commits per second of each transaction type, which shows changes of the mix.

use analysis::report::{Report, TypeSeconds};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "types",
    about: "commits per second of each transaction type over time",
    spot: Spot::Rates,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let axis = Axis::new("TPS", "commits/s", Scale::FromZero);
    let mut chart = Chart::of_time("types", "Throughput by transaction", axis, report);
    let measured_s = report.measured_seconds;
    let trace = |kind: &TypeSeconds| {
        let at = |(second, commits): (i64, &u64)| {
            // The last second may not be whole.
            let length =
                if second < 0 { 1.0 } else { (measured_s - second as f64).clamp(0.0, 1.0) };
            let rate = (length > 0.0).then(|| *commits as f64 / length);
            Point::at(second as f64 + 0.5, rate)
        };
        Trace::new(
            kind.transaction.clone(),
            Shape::Line,
            (kind.from_s..).zip(&kind.commits).map(at).collect(),
        )
    };
    chart.traces = report.commits_by_type.iter().map(trace).collect();
    chart.if_any()
}
