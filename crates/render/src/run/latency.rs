//! The section on latency: response, service and wait times of finished transactions, times of all
//! offered transactions, and confidence intervals.

use analysis::report::{Latency, Report};
use model::format_count;
use model::numbers::{count, significant};

use crate::charts::{Chart, Spot, in_spot};
use crate::document::{Block, Quantity, Section, Uncertainty, Value};
use crate::table::{Align, Cell, Column, Table};

/// Quantiles in the table of latencies: name of the report's field, and column title.
const SHOWN: [(&str, &str); 5] =
    [("p50", "p50"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"), ("p999", "p99.9")];

/// Explanation of a quantile that is only known as a lower bound.
const UNFINISHED: &str = "≥ lower bound: unfinished transactions count with their age at the end \
                          of the run";

/// A row of the table of latencies in a run's page: one kind of time, such as service times.
struct Row<'r> {
    name: &'static str,
    times: &'r Latency,
    /// True if the page explains missing quantiles of this row. They are not explained for failed
    /// transactions, which are often too few for quantiles.
    is_explained: bool,
}

pub(super) fn section(report: &Report, charts: &[Chart]) -> Section {
    let rows = rows(report);
    let blocks = vec![
        Block::Table(table(&rows)),
        Block::paragraphs(words(report, &rows)),
        Block::Charts(in_spot(charts, Spot::Latency)),
    ];
    Section::new("latency", "Latency", blocks)
}

fn rows(report: &Report) -> Vec<Row<'_>> {
    let block = &report.block;
    let waits = block.wait_ms.note.is_none();
    let all = [
        ("response", &block.response_ms, true),
        ("  service", &block.service_ms, waits),
        ("  wait", &block.wait_ms, waits),
        ("of all offered", &block.offered_ms, has_lost(report)),
    ];
    let shown = all.into_iter().filter(|(_, _, is_shown)| *is_shown);
    let mut rows: Vec<Row<'_>> =
        shown.map(|(name, times, _)| Row { name, times, is_explained: true }).collect();
    let failed = Row { name: "of the failed", times: &block.failed_ms, is_explained: false };
    rows.extend((block.counts.failed > 0).then_some(failed));
    rows
}

/// Returns true if some offered transactions did not finish.
fn has_lost(report: &Report) -> bool {
    report.block.counts.offered > report.block.counts.finished
}

fn table(rows: &[Row<'_>]) -> Table {
    let mut columns =
        vec![Column::new("latency in ms", Align::Left), Column::new("count", Align::Right)];
    columns.push(Column::spare("mean", Align::Point, 2).digits(3));
    columns.extend(SHOWN.map(|(field, title)| {
        let spare = u8::from(field == "p90");
        Column::spare(title, Align::Point, spare).digits(3)
    }));
    columns.push(Column::new("max", Align::Point).digits(3));
    let mut table = Table::new(columns);
    for Row { name, times, .. } in rows {
        let mut cells: Vec<Cell> = vec![(*name).into(), times.count.into(), times.mean.into()];
        cells.extend(SHOWN.map(|(field, _)| Cell::from(quantile(times, field))));
        cells.push(times.max.into());
        table.row(cells);
    }
    table
}

fn words(report: &Report, rows: &[Row<'_>]) -> Vec<String> {
    let block = &report.block;
    let of_all = Some(&block.offered_ms).filter(|_| has_lost(report)).and_then(intervals);
    let of_all = of_all.map(|intervals| format!("of all offered: {intervals}"));
    let mut words: Vec<String> = intervals(&block.response_ms)
        .map(|intervals| format!("95 % CI: {intervals}"))
        .into_iter()
        .chain(of_all)
        .chain(without_interval(&block.response_ms))
        .collect();
    for row in rows.iter().filter(|row| row.is_explained) {
        for reason in reasons(report, row.times) {
            // The same reason for all rows is written once.
            if !words.contains(&reason) {
                words.push(reason);
            }
        }
    }
    words.extend(service_split(report));
    words
}

/// Divides the mean service time between server and generator: `service 1.90 ms on average: server
/// and network 1.80 ms, generator 0.10 ± 0.02 ms (reply lag, n = 500)`. The error is two standard
/// errors. `None` if the reply lag was not measured.
fn service_split(report: &Report) -> Option<String> {
    let (lag, split) = (&report.block.reply_lag_us, report.block.reply_lag_us.service?);
    let [mean, server, generator] =
        [split.mean_ms, split.server_and_network_ms, split.generator_ms]
            .map(|ms| significant(ms, 3));
    let error = split.generator_ms_error.map(|ms| format!(" ± {}", significant(2.0 * ms, 2)));
    let error = error.unwrap_or_default();
    Some(format!(
        "service {mean} ms on average: server and network {server} ms, generator {generator}{error} ms \
         (reply lag, n = {})",
        format_count(lag.count)
    ))
}

/// Returns the quantile `field`, such as `p99`, in milliseconds: a number, a lower bound, infinite
/// or unknown.
pub(super) fn quantile(latency: &Latency, field: &str) -> Value {
    match (latency.get(field), latency.at_least.get(field)) {
        (Some(value), _) => Value::Known(value),
        (None, Some(least)) => Value::AtLeast(*least),
        _ if latency.is_infinite(field) => Value::Infinite,
        _ => Value::Unknown,
    }
}

/// Returns the quantile `field`, such as `p99`, with its confidence interval, in milliseconds.
pub(super) fn with_interval(latency: &Latency, field: &str) -> Quantity {
    let interval = latency.intervals.get(field);
    let error =
        interval.map_or(Uncertainty::Unknown, |(low, high)| Uncertainty::Interval(*low, *high));
    Quantity { value: quantile(latency, field), error, unit: "", digits: 3 }
}

/// Lists the confidence intervals of a distribution's quantiles; `None` if there are none.
fn intervals(latency: &Latency) -> Option<String> {
    let known = SHOWN.iter().filter_map(|(field, title)| {
        latency
            .intervals
            .get(field)
            .map(|_| format!("{title} {}", with_interval(latency, field).error()))
    });
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// Returns the reasons why quantiles have no confidence interval, a line for each reason with all
/// quantiles that it concerns.
fn without_interval(latency: &Latency) -> Vec<String> {
    let reasons = SHOWN.iter().filter_map(|(field, title)| {
        let reason = latency.interval_reasons.get(field)?;
        Some((reason.as_str(), *title))
    });
    let line =
        |(reason, titles): (&str, Vec<&str>)| format!("no CI for {}: {reason}", titles.join(", "));
    by_reason(reasons).into_iter().map(line).collect()
}

/// Returns the reasons why quantiles of a table row are lower bounds, infinite or unknown, a line
/// for each reason.
fn reasons(report: &Report, latency: &Latency) -> Vec<String> {
    let has =
        |value: fn(&Value) -> bool| SHOWN.iter().any(|(field, _)| value(&quantile(latency, field)));
    let mut all: Vec<String> = Vec::new();
    all.extend(has(|known| matches!(known, Value::AtLeast(_))).then(|| UNFINISHED.to_owned()));
    all.extend(has(|known| matches!(known, Value::Infinite)).then(|| {
        let counts = &report.block.counts;
        let lost = format_count(counts.failed + counts.dropped);
        format!("∞ {lost} of {} were dropped or failed", count(counts.offered, "transaction"))
    }));
    let unknown = SHOWN.iter().filter_map(|(field, title)| {
        let is_unknown = quantile(latency, field) == Value::Unknown;
        let reason = latency.reasons.get(field).filter(|_| is_unknown)?;
        Some((reason.as_str(), *title))
    });
    let line = |(reason, titles): (&str, Vec<&str>)| format!("{}: {reason}", titles.join(", "));
    all.extend(by_reason(unknown).into_iter().map(line));
    all
}

/// Groups pairs of reason and title by reason, in the order in which reasons first appear.
fn by_reason<'r>(
    all: impl Iterator<Item = (&'r str, &'static str)>,
) -> Vec<(&'r str, Vec<&'static str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for (reason, title) in all {
        match found.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, titles)) => titles.push(title),
            None => found.push((reason, vec![title])),
        }
    }
    found
}
