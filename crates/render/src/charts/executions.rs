//! Charts of fixed sequences of transactions: the time of each type, and when each client executed
//! which transaction.

use analysis::report::{ExecutionReport, Report};
use model::numbers::significant;

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "executions",
    about: "time of each transaction of a fixed sequence, and when each client executed it",
    spot: Spot::Types,
    make: Of::Run(charts),
};

fn charts(report: &Report) -> Vec<Chart> {
    if report.executions.is_empty() {
        return Vec::new();
    }
    [times(report), streams(report)].concat()
}

/// Returns the chart of the mean time of each transaction type, with a bar each, from shortest to
/// longest execution.
fn times(report: &Report) -> Vec<Chart> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in report.block.transactions.iter() {
        if report.executions.iter().any(|one| one.transaction == name) {
            names.push(name);
        }
    }
    let of = |name: &str| -> Vec<f64> {
        let own = report.executions.iter().filter(|one| one.transaction == name && one.is_finished);
        own.map(|one| one.took_s).collect()
    };
    let to_point = |(at, name): (usize, &&str)| {
        let times_s = of(name);
        let mean =
            (!times_s.is_empty()).then(|| times_s.iter().sum::<f64>() / times_s.len() as f64);
        let least = times_s.iter().copied().fold(f64::INFINITY, f64::min);
        let most = times_s.iter().copied().fold(0.0, f64::max);
        let band = (times_s.len() > 1).then_some((least, most));
        Point { band, ..Point::at(at as f64, mean) }
    };
    let points = names.iter().enumerate().map(to_point).collect();
    let x = Axis::named("transaction", names.iter().map(|name| (*name).to_owned()).collect());
    let y = Axis::new("time", "s", Scale::FromZero);
    let mut chart = Chart::new("executions-times", "Time by transaction", x, y);
    chart.traces = vec![Trace::new("mean", Shape::Bars, points)];
    let is_repeated = report.executions.len() > names.len();
    chart.note = is_repeated
        .then(|| "Bars are means; whiskers go from the shortest to the longest time.".to_owned());
    chart.if_any()
}

/// Returns the chart of all executions over time, with a row for each client.
fn streams(report: &Report) -> Vec<Chart> {
    let mut rows: Vec<(&str, u32)> = Vec::new();
    for one in &report.executions {
        if !rows.contains(&(&one.group, one.client)) {
            rows.push((&one.group, one.client));
        }
    }
    let has_groups = rows.iter().any(|(group, _)| *group != rows[0].0);
    let to_name = |(group, client): &(&str, u32)| match has_groups {
        true => format!("{group} {client}"),
        false => format!("client {client}"),
    };
    let x = Axis::named("client", rows.iter().map(to_name).collect());
    let y = Axis::new("time", "s", Scale::FromZero);
    let mut chart = Chart::new("executions-clients", "Executions by client over time", x, y);
    chart.is_forest = true;
    let to_point = |one: &ExecutionReport| {
        let row = rows.iter().position(|row| *row == (one.group.as_str(), one.client))?;
        let ended_s = one.started_s + one.took_s;
        let label = format!("{}: {} s", one.transaction, significant(one.took_s, 3));
        Some(Point {
            band: Some((one.started_s, ended_s)),
            label: Some(label),
            ..Point::at(row as f64, Some(one.started_s + one.took_s / 2.0))
        })
    };
    let is_write = |one: &&ExecutionReport| {
        let kind = report.block.transactions.get(&one.transaction);
        kind.is_some_and(|kind| kind.writes.is_some_and(|writes| writes > 0.0))
    };
    let trace = |name: &str, is_it: &dyn Fn(&&ExecutionReport) -> bool| {
        let points = report.executions.iter().filter(is_it).filter_map(to_point).collect();
        Trace::new(name, Shape::Points, points)
    };
    chart.traces = vec![
        trace("reads", &|one| one.is_finished && !is_write(one)),
        trace("writes", &|one| one.is_finished && is_write(one)),
        trace("failed", &|one| !one.is_finished),
    ];
    chart.traces.retain(|trace| !trace.points.is_empty());
    chart.if_any()
}
