//! Parts of a run's report as separate tables: latency, report intervals, disturbances and errors.

use analysis::report::{
    DisturbanceReport, ErrorReport, IntervalReport, Latency, Report, WindowReport,
};

use crate::table::{Cell, Column, Table};

/// A column of a table, and the function that returns its cell from the data of a row.
type Part<T> = (Column, fn(&T) -> Cell);

fn table<T>(
    name: &'static str,
    title: String,
    parts: &[Part<T>],
    rows: impl Iterator<Item = T>,
) -> Table {
    let columns: Vec<Column> = parts.iter().map(|(column, _)| column.clone()).collect();
    let row = |data: T| parts.iter().map(|(_, cell)| cell(&data)).collect();
    Table::filled(name, title, columns, rows.map(row).collect())
}

/// Returns the table of response, service and wait times of finished transactions, and of the times
/// of all offered and of failed ones, in milliseconds. A quantile known only as a lower bound is
/// written `>= 12`.
pub fn latency(report: &Report) -> Table {
    fn quantile(times: &Latency, field: &str) -> Cell {
        match (times.get(field), times.at_least.get(field)) {
            (Some(value), _) => value.into(),
            (None, Some(least)) => Cell::Words(format!(">= {least}")),
            _ if times.is_infinite(field) => Cell::Infinite,
            _ => Cell::None,
        }
    }
    let block = &report.block;
    let all = [
        ("response", &block.response_ms),
        ("service", &block.service_ms),
        ("wait", &block.wait_ms),
        ("offered", &block.offered_ms),
        ("failed", &block.failed_ms),
    ];
    let parts: [Part<(&str, &Latency)>; 11] = [
        (Column::words("time", "time"), |(name, _)| (*name).into()),
        (Column::count("count", "count"), |(_, times)| times.count.into()),
        (Column::number("min_ms", "min", 3), |(_, times)| times.min.into()),
        (Column::number("mean_ms", "mean", 3), |(_, times)| times.mean.into()),
        (Column::number("sd_ms", "sd", 3), |(_, times)| times.sd.into()),
        (Column::number("p50_ms", "p50", 3), |(_, times)| quantile(times, "p50")),
        (Column::number("p90_ms", "p90", 3), |(_, times)| quantile(times, "p90")),
        (Column::number("p95_ms", "p95", 3), |(_, times)| quantile(times, "p95")),
        (Column::number("p99_ms", "p99", 3), |(_, times)| quantile(times, "p99")),
        (Column::number("p999_ms", "p99.9", 3), |(_, times)| quantile(times, "p999")),
        (Column::number("max_ms", "max", 3), |(_, times)| times.max.into()),
    ];
    let title = format!("Latency of run {}, in ms", report.run_id);
    table("latency", title, &parts, all.into_iter().filter(|(_, times)| times.count > 0))
}

/// Returns the table of a run's figures, with a row for each report interval, such as each 10
/// seconds.
pub fn intervals(report: &Report) -> Table {
    let wait = Column::percent("wait_percent", "wait %");
    let parts: [Part<&IntervalReport>; 12] = [
        (Column::number("from_s", "from s", 4), |interval| interval.from_s.into()),
        (Column::number("to_s", "to s", 4), |interval| interval.to_s.into()),
        (Column::number("offered_per_second", "offered/s", 4), |interval| {
            interval.offered_per_second.into()
        }),
        (Column::number("tps", "TPS", 4), |interval| interval.tps.into()),
        (Column::number("p50_ms", "p50 ms", 3), |interval| interval.p50_ms.into()),
        (Column::number("p95_ms", "p95", 3), |interval| interval.p95_ms.into()),
        (Column::number("p99_ms", "p99", 3), |interval| interval.p99_ms.into()),
        (wait, |interval| interval.wait_percent.into()),
        (Column::number("queue_mean", "queued", 3), |interval| interval.queue_mean.into()),
        (Column::count("failed", "failed"), |interval| interval.failed.into()),
        (Column::count("dropped", "dropped"), |interval| interval.dropped.into()),
        (Column::count("unfinished", "unfinished"), |interval| interval.unfinished.into()),
    ];
    let title = format!("Intervals of run {}", report.run_id);
    table("intervals", title, &parts, report.intervals.iter())
}

/// Returns the table of a run's disturbances. Each has three rows, for the times before, during and
/// after it.
pub fn disturbances(report: &Report) -> Table {
    type Row<'r> = (&'r DisturbanceReport, &'r str, Option<&'r WindowReport>);
    let parts: [Part<Row<'_>>; 11] = [
        (Column::words("disturbance", "disturbance"), |(one, ..)| one.name.as_str().into()),
        (Column::words("what", "what"), |(one, ..)| one.what.as_str().into()),
        (Column::words("outcome", "outcome"), |(one, ..)| one.outcome.as_str().into()),
        (Column::number("began_s", "began s", 4), |(one, ..)| one.began_s.into()),
        (Column::number("ended_s", "ended s", 4), |(one, ..)| one.ended_s.into()),
        (Column::number("recovery_s", "back after s", 4), |(one, ..)| one.recovery_s.into()),
        (Column::words("window", "window"), |(_, when, _)| (*when).into()),
        (Column::number("tps", "TPS", 4), |(.., window)| {
            window.and_then(|window| window.tps).into()
        }),
        (Column::number("p50_ms", "p50 ms", 3), |(.., window)| {
            window.and_then(|window| window.response_ms.p50).into()
        }),
        (Column::number("p99_ms", "p99", 3), |(.., window)| {
            window.and_then(|window| window.response_ms.p99).into()
        }),
        (Column::number("max_ms", "max", 3), |(.., window)| {
            window.and_then(|window| window.response_ms.max).into()
        }),
    ];
    let rows = report.disturbances.iter().flat_map(|one| {
        let windows = [("before", &one.before), ("during", &one.during), ("after", &one.after)];
        windows.map(|(when, window)| (one, when, window.as_ref()))
    });
    table("disturbances", format!("Disturbances of run {}", report.run_id), &parts, rows)
}

/// Returns the table of database errors with their counts, in the measured phase and the ramp-up,
/// including errors of retried attempts.
pub fn errors(report: &Report) -> Table {
    let phases = [("measured", &report.block.errors), ("ramp-up", &report.block.ramp_up_errors)];
    let all = phases.iter().flat_map(|(phase, all)| all.iter().map(move |one| (*phase, one)));
    let parts: [Part<(&str, &ErrorReport)>; 5] = [
        (Column::words("phase", "phase"), |(phase, _)| (*phase).into()),
        (Column::count("count", "count"), |(_, one)| one.count.into()),
        (Column::words("kind", "kind"), |(_, one)| one.kind.as_str().into()),
        (Column::count("code", "code"), |(_, one)| match one.code {
            0 if !one.sqlstate.is_empty() => Cell::said(one.sqlstate.clone(), None),
            code => Cell::said(code.to_string(), Some(code as f64)),
        }),
        (Column::sentences("first message").key("first_message"), |(_, one)| {
            one.message.as_str().into()
        }),
    ];
    table("errors", format!("Errors of run {}", report.run_id), &parts, all)
}
