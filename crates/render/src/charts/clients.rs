//! Charts with a point per client, to see whether some clients were served worse.

use analysis::report::{ClientReport, Report};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "clients",
    about: "transactions and mean response time of each client",
    spot: Spot::Clients,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    let Some(clients) = report.block.per_client.as_deref().filter(|all| all.len() > 1) else {
        return Vec::new();
    };
    let chart = |id, title, y, value_of: &dyn Fn(&ClientReport) -> Option<f64>| {
        let mut chart = Chart::new(id, title, Axis::new("client", "", Scale::Linear), y);
        let point = |one: &ClientReport| Point::at(f64::from(one.client), value_of(one));
        let points = clients.iter().map(point).collect();
        chart.traces = vec![Trace::new("each client", Shape::Points, points)];
        chart.if_any()
    };
    let calls = Axis::new("transactions", "", Scale::FromZero);
    let means = Axis::new("mean response time", "ms", Scale::FromZero);
    [
        chart("clients-calls", "Transactions by client", calls, &|one| Some(calls_of(one) as f64)),
        chart("clients-means", "Mean response time by client", means, &mean_ms),
    ]
    .concat()
}

fn calls_of(client: &ClientReport) -> u64 {
    client.transactions.iter().map(|(_, kind)| kind.calls).sum()
}

/// Returns the mean response time of a client's finished transactions of all types, in
/// milliseconds; `None` if none finished.
fn mean_ms(client: &ClientReport) -> Option<f64> {
    let kinds = || client.transactions.iter().map(|(_, kind)| kind);
    let finished: u64 = kinds().map(|kind| kind.calls - kind.failed).sum();
    let total_ms: f64 = kinds().map(|kind| kind.total_ms).sum();
    (finished > 0).then(|| total_ms / finished as f64)
}
