//! The section on transactions: outcomes, figures by group and by transaction type, and metrics of
//! the workload.

use std::borrow::Cow;

use analysis::report::{
    Block as Figures, CountsReport, CustomMetricReport, PerTransaction, PrimaryMetricReport,
    Report, TransactionReport,
};
use model::numbers::{self, count, rate, significant};
use model::{NS_PER_MS, ROLLED_BACK, format_count};

use super::latency::quantile;
use crate::charts::{Chart, Spot, ages, in_spot};
use crate::document::{Block, Details, Length, Section};
use crate::table::{Align, Cell, Column, Table};

/// Words below the table of transaction types if a type has too few samples for a percentile.
const FEW: &str = "– too few samples for a 95 % interval";

pub(super) fn section(report: &Report, charts: &[Chart]) -> Section {
    let part = |table: Table, more: Vec<Block>| {
        let shown = !table.is_empty();
        shown.then(|| Block::Part(String::new(), [vec![Block::Table(table)], more].concat()))
    };
    let few = Block::paragraphs(has_short_type(report).then_some(FEW));
    let mut blocks = vec![Block::paragraphs([counted(report), statements(report)].concat())];
    blocks.extend(part(by_group(report), Vec::new()));
    blocks.extend(part(by_type(report), vec![few]));
    let charts_of_types = [in_spot(charts, Spot::Kinds), in_spot(charts, Spot::Types)];
    blocks.push(Block::Charts(charts_of_types.concat()));
    blocks.extend(accounts(report));
    blocks.push(Block::Charts(in_spot(charts, Spot::Ages)));
    blocks.extend(ages_by_reader(report));
    Section::new("transactions", "Transactions", blocks)
}

/// Returns true if a transaction type has too few samples for its p99.
pub(super) fn has_short_type(report: &Report) -> bool {
    report
        .block
        .transactions
        .iter()
        .any(|(_, kind)| kind.calls > 0 && kind.response_ms.p99.is_none())
}

/// Largest number of custom metrics whose table is shown without unfolding; a longer table is
/// folded.
const CUSTOM_MOST: usize = 8;

/// Returns the section on the workload's custom metrics.
pub(super) fn custom(report: &Report) -> Section {
    let table = custom_metrics(report, |_| true);
    let n_rows = table.rows.len();
    let table = (!table.is_empty()).then_some(Block::Table(table));
    // A long table hides the rest.
    let table = table.map(|table| match n_rows > CUSTOM_MOST {
        true => {
            let title = count(n_rows as u64, "metric");
            let (blocks, otherwise) = (vec![table.clone()], vec![table]);
            Block::Details(Details { title, blocks, length: Length::Short, otherwise })
        }
        false => table,
    });
    let known = || report.block.custom_metrics.iter().filter(|(_, metric)| metric.count > 0);
    let has = |is_distribution| known().any(|(_, metric)| metric.p50.is_some() == is_distribution);
    let words = "Rows with p50 are of what began in the measured phase, the others of what finished \
                 in it: their counts may differ.";
    let note = (has(true) && has(false)).then(|| Block::paragraphs([words]));
    Section::new("custom", "Custom metrics", table.into_iter().chain(note).collect())
}

/// Counts transactions that were rolled back by design: `79 rollbacks (intended: 1 % of new_order,
/// TPC-C 2.4.1.4)`. `None` if there were none.
pub(super) fn rolled_back(report: &Report) -> Option<String> {
    let n = report.block.counts.rolled_back;
    let why = report.notes.iter().find_map(|note| note.strip_prefix(ROLLED_BACK));
    (n > 0).then(|| match why {
        Some(why) => {
            format!("{} (intended: {})", count(n, "rollback"), why.trim_end_matches('.'))
        }
        None => count(n, "intended rollback"),
    })
}

/// Counts failed, retried, dropped, unfinished and unknown transactions, each in words; the last
/// three only if there are any.
pub(super) fn outcomes(counts: &CountsReport) -> Vec<String> {
    let counted = |n: u64, word: &str| format!("{} {word}", format_count(n));
    let mut parts =
        vec![format!("{} of {} failed", format_count(counts.failed), format_count(counts.offered))];
    parts.push(counted(counts.retried, "retried"));
    parts.extend((counts.ignored > 0).then(|| counted(counts.ignored, "ignored")));
    parts.extend((counts.dropped > 0).then(|| counted(counts.dropped, "dropped")));
    parts.extend((counts.unfinished > 0).then(|| counted(counts.unfinished, "unfinished")));
    parts.extend((counts.unknown > 0).then(|| counted(counts.unknown, "with unknown outcome")));
    parts
}

/// Counts the outcomes of the offered transactions and retries, in lines.
pub(super) fn counted(report: &Report) -> Vec<String> {
    let block = &report.block;
    let counts = &block.counts;
    let parts = [
        (counts.finished, "finished"),
        (counts.failed, "failed"),
        (counts.dropped, "dropped"),
        (counts.unfinished, "unfinished"),
    ];
    let sum: Vec<String> = parts.map(|(n, word)| format!("{} {word}", format_count(n))).into();
    let offered = count(counts.offered, "transaction");
    let mut lines = vec![format!("{offered} offered = {}", sum.join(" + "))];
    let mut more = vec![format!("{} committed", format_count(counts.committed))];
    more.extend(rolled_back(report));
    if counts.ignored > 0 {
        more.push(format!("{} with an ignored error", format_count(counts.ignored)));
    }
    if counts.unknown > 0 {
        more.push(format!("{} unknown among the failed", format_count(counts.unknown)));
    }
    if counts.retried > 0 {
        more.push(count(counts.retried, "further attempt"));
    }
    if counts.backlog_at_start > 0 {
        let longest = block.backlog_at_start_max_ms.map(|longest_ms| {
            format!(" (the longest took {})", numbers::duration((longest_ms * 1e6) as u64))
        });
        let backlog = format_count(counts.backlog_at_start);
        more.push(format!(
            "{backlog} carried over from the ramp-up{}",
            longest.unwrap_or_default()
        ));
    }
    lines.push(more.join(", "));
    lines
}

/// Counts the statements per second and per transaction, in lines.
fn statements(report: &Report) -> Vec<String> {
    let block = &report.block;
    let mut lines = Vec::new();
    if let Some(qps) = block.qps.filter(|qps| *qps > 0.0) {
        let rates = [block.reads_per_second, block.writes_per_second, block.others_per_second];
        let [reads, writes, others] = rates.map(rate);
        let qps = significant(qps, 4);
        lines.push(format!("{qps} QPS = {reads} reads + {writes} writes + {others} others"));
        lines.extend(per_transaction(&block.per_transaction, report.is_embedded()));
    }
    lines
}

/// Describes the average transaction: `per transaction: 25 round trips, 12 reads + 11 writes + 2
/// others`. Round trips are left out for an embedded database. `None` if a number is not known.
fn per_transaction(each: &PerTransaction, is_embedded: bool) -> Option<String> {
    let mean = |mean: f64| significant(mean, 3);
    let [trips, reads, writes, others] =
        [each.round_trips?, each.reads?, each.writes?, each.others?].map(mean);
    let statements = format!("{reads} reads + {writes} writes + {others} others");
    let trips = if is_embedded { String::new() } else { format!("{trips} round trips, ") };
    Some(format!("per transaction: {trips}{statements}"))
}

/// Returns the table of transaction types with calls, failures, rates and response times.
fn by_type(report: &Report) -> Table {
    let mut table = Table::new([
        Column::new("transaction", Align::Left),
        Column::new("calls", Align::Right),
        Column::new("failed", Align::Right),
        Column::spare("retried", Align::Right, 3),
        Column::new("TPS", Align::Point),
        Column::new("% of time", Align::Point).tenths(),
        Column::spare("trips", Align::Point, 4).digits(3),
        Column::new("p50 ms", Align::Point).digits(3),
        Column::spare("p95", Align::Point, 2).digits(3),
        Column::new("p99", Align::Point).digits(3),
        Column::new("max", Align::Point).digits(3),
    ]);
    let is_embedded = report.is_embedded();
    let types = report.block.transactions.iter();
    for (name, kind) in types.filter(|(_, kind)| kind.calls + kind.dropped > 0) {
        let TransactionReport { calls, failed, retried, .. } = *kind;
        let response = &kind.response_ms;
        table.row([
            Cell::from(name),
            calls.into(),
            failed.into(),
            retried.into(),
            kind.tps.into(),
            kind.ratio_percent.into(),
            kind.round_trips.filter(|trips| *trips > 0.0).into(),
            quantile(response, "p50").into(),
            quantile(response, "p95").into(),
            quantile(response, "p99").into(),
            response.max.into(),
        ]);
    }
    if is_embedded { table.without(&["trips"]) } else { table }
}

/// Returns the table of transaction types for a run's first page, with fewer columns than the full
/// page has. If there are more than `shown_most` types, those that took most time come first, since
/// the page shows no others.
pub(super) fn by_type_shortly(report: &Report, shown_most: usize) -> Table {
    let mut report = Cow::Borrowed(report);
    if report.block.transactions.0.len() > shown_most {
        let types = &mut report.to_mut().block.transactions.0;
        types.sort_by(|(_, a), (_, b)| b.total_ms.total_cmp(&a.total_ms));
    }
    by_type(&report).without(&["failed", "retried", "trips"])
}

/// Returns the table of custom metrics that are distributions, such as ages.
pub(super) fn distributions(report: &Report) -> Table {
    custom_metrics(report, |metric| metric.p50.is_some()).without(&["sum", "per second"])
}

/// Returns the table of groups for a run's first page, without workloads and primary metrics.
pub(super) fn by_group_shortly(report: &Report) -> Table {
    by_group(report).without(&["workload", "primary metrics"])
}

/// Returns the table of groups; empty if the report has no figures by group.
pub(super) fn by_group(report: &Report) -> Table {
    let blocks = || report.groups.iter().filter_map(|group| group.block.as_ref());
    let is_known_by = blocks().any(|block| !block.primary_metrics.is_empty());
    let mut columns = vec![
        Column::new("group", Align::Left),
        Column::new("clients", Align::Right),
        Column::new("offered", Align::Right),
        Column::new("failed", Align::Right),
        Column::new("TPS", Align::Point),
        Column::new("p50 ms", Align::Point).digits(3),
        Column::new("p99", Align::Point).digits(3),
        Column::new("max", Align::Point).digits(3),
    ];
    // On a narrow page these are below, after the group again.
    columns.push(Column::new("workload", Align::Left));
    columns.extend(is_known_by.then(|| Column::new("primary metrics", Align::Left)));
    let mut table = Table::new(columns);
    for group in &report.groups {
        let Some(block) = &group.block else { continue };
        let row = [
            Cell::from(group.name.as_str()),
            u64::from(group.clients).into(),
            block.counts.offered.into(),
            block.counts.failed.into(),
            block.tps.into(),
            quantile(&block.response_ms, "p50").into(),
            quantile(&block.response_ms, "p99").into(),
            block.response_ms.max.into(),
            group.workload.as_str().into(),
        ];
        table.row(row.into_iter().chain(is_known_by.then(|| known_by(block).into())));
    }
    table
}

/// Lists the primary metrics of a group with their values.
fn known_by(block: &Figures) -> String {
    let rate = |(_, metric): &(String, PrimaryMetricReport)| {
        Some(format!("{} {}", significant(metric.value?, 4), metric.title))
    };
    block.primary_metrics.0.iter().filter_map(rate).collect::<Vec<String>>().join(", ")
}

/// Returns a block for each workload that reports facts about itself, such as totals over the whole
/// load.
fn accounts(report: &Report) -> impl Iterator<Item = Block> {
    let mut workloads: Vec<&str> =
        report.groups.iter().map(|group| group.workload.as_str()).collect();
    workloads.sort_unstable();
    workloads.dedup();
    workloads.into_iter().filter_map(|workload| {
        let facts = report.facts.get(workload)?;
        // Counts by bounds are drawn, and have a table of their own.
        let facts = facts.iter().filter(|(_, value)| value.buckets().is_none());
        let (words, numbers): (Vec<_>, Vec<_>) =
            facts.partition(|(_, value)| value.text().is_some());
        let has_units = numbers.iter().any(|(name, _)| !name_and_unit(name).1.is_empty());
        let columns = [("total", Align::Left), ("value", Align::Point), ("unit", Align::Left)];
        let n_columns = if has_units { 3 } else { 2 };
        let shown = columns.into_iter().take(n_columns);
        let columns = shown.map(|(title, align)| Column::new(title, align));
        let mut table = Table::new(columns.collect::<Vec<Column>>());
        for (name, value) in numbers {
            let (name, unit) = name_and_unit(name);
            let value = Cell::Words(numbers::thousands(&value.to_string()));
            table.row([Cell::Words(name), value, unit.into()].into_iter().take(n_columns));
        }
        let words = words.into_iter().map(|(name, value)| (name.replace('_', " "), value));
        let words: Vec<_> = words.map(|(name, value)| (name, value.to_string())).collect();
        let title = format!("Totals of {workload} over the whole load");
        let tables = (!table.is_empty()).then_some(Block::Table(table));
        let pairs = (!words.is_empty()).then(|| Block::pairs(words));
        Some(Block::Part(title, tables.into_iter().chain(pairs).collect()))
    })
}

/// Splits a fact's name into words and unit: `elapsed_s` becomes `elapsed` and `s`.
fn name_and_unit(name: &str) -> (String, &'static str) {
    // A rate keeps its suffix, which distinguishes it from the number of the same name.
    let units = [("_percent", "%"), ("_s", "s"), ("_bytes", "B")];
    if name.ends_with("_per_s") {
        return (name.replace('_', " "), "");
    }
    let at_end = units.iter().find_map(|(end, unit)| Some((name.strip_suffix(end)?, *unit)));
    let (name, unit) = match (at_end, name.split_once("_ns_")) {
        (Some((name, unit)), _) => (name.to_owned(), unit),
        (None, Some((name, per))) => (format!("{name}_{per}"), "ns"),
        (None, None) => (name.to_owned(), ""),
    };
    (name.replace('_', " "), unit)
}

/// Returns the table of ages of records when each reader first read them; `None` if the workload
/// has no readers.
fn ages_by_reader(report: &Report) -> Option<Block> {
    let readers = ages::by_reader(report);
    let bounds = readers.first()?.1.percent_below();
    let column = |(bound, _): (u64, f64)| {
        let rank = if ages::SHOWN_MS.contains(&bound) { 0 } else { 1 };
        Column::spare(format!("<{bound}"), Align::Point, rank).tenths()
    };
    let first = [Column::new("reader", Align::Right), Column::new("ages", Align::Right)];
    let mut table =
        Table::new(first.into_iter().chain(bounds.into_iter().map(column)).collect::<Vec<_>>());
    for (reader, ages) in readers {
        let shares = ages.percent_below().into_iter().map(|(_, percent)| percent.into());
        let first = [u64::from(reader).into(), ages.total().into()];
        table.row(first.into_iter().chain(shares).collect::<Vec<Cell>>());
    }
    let title = "Ages of records by reader: percentage below each age in ms".to_owned();
    Some(Block::Part(title, vec![Block::Table(table)]))
}

/// Returns the table of the workload's custom metrics that `is_shown` selects.
fn custom_metrics(report: &Report, is_shown: fn(&CustomMetricReport) -> bool) -> Table {
    let time = |title: &'static str| Column::new(title, Align::Point).digits(3);
    let all = || report.block.custom_metrics.iter();
    let known = || all().filter(|(_, metric)| metric.count > 0 && is_shown(metric));
    // Counters alone have no distribution.
    let has_times = known().any(|(_, metric)| metric.p50.or(metric.p99).or(metric.max).is_some());
    let mut columns = vec![
        Column::new("custom metric", Align::Left),
        Column::new("unit", Align::Left),
        Column::new("count", Align::Right),
        Column::new("sum", Align::Right),
        time("per second"),
        time("mean"),
    ];
    columns.extend(["p50", "p99", "max"].into_iter().filter(|_| has_times).map(time));
    let mut table = Table::new(columns);
    for (name, metric) in known() {
        // Times are in the usual unit, and their sum has no use.
        let is_time = metric.unit == "ns";
        let in_unit = |value: f64| if is_time { value / NS_PER_MS as f64 } else { value };
        let sum = (!is_time).then_some(metric.sum);
        let per_second = sum.filter(|_| report.measured_seconds > 0.0);
        let mut row = vec![
            Cell::from(name),
            if is_time { "ms" } else { metric.unit.as_str() }.into(),
            metric.count.into(),
            sum.map_or(Cell::None, Cell::from),
            per_second.map(|sum| sum as f64 / report.measured_seconds).into(),
            metric.mean.map(in_unit).into(),
        ];
        let times = [metric.p50, metric.p99, metric.max].into_iter().filter(|_| has_times);
        row.extend(times.map(|value| Cell::from(value.map(in_unit))));
        table.row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use model::FactValue;

    use super::*;

    #[test]
    fn totals_of_a_workload_are_grouped_by_thousands_below_each_other_with_their_units() {
        let mut report = Report::from_tally(&Made::closed().tally());
        report.groups[0].workload = "arm".to_owned();
        let facts = [
            ("agent_cpu_ns_per_measurement", "36"),
            ("application_blocked_percent", "0.5"),
            ("elapsed_s", "1205.250"),
            ("generated", "44995328"),
            ("one.stored", "425152"),
            ("reader_2", "table 1: 12 read first"),
            ("stored_per_s", "42515"),
        ];
        let read =
            |(name, text): (&str, &str)| (name.to_owned(), FactValue::read(name, text.to_owned()));
        report.facts.insert("arm".to_owned(), facts.into_iter().map(read).collect());
        let Some(Block::Part(title, blocks)) = accounts(&report).next() else { panic!("none") };
        assert_eq!(title, "Totals of arm over the whole load");
        let [Block::Table(table), pairs] = blocks.as_slice() else { panic!("{blocks:#?}") };
        let lines: Vec<String> =
            table.lines(80).iter().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(
            lines,
            [
                "total                               value  unit",
                "agent cpu per measurement          36      ns",
                "application blocked                 0.5    %",
                "elapsed                         1,205.250  s",
                "generated                  44,995,328",
                "one.stored                    425,152",
                "stored per s                   42,515",
            ]
        );
        assert_eq!(*pairs, Block::pairs([("reader 2", "table 1: 12 read first")]));
        // Counts alone have none.
        let counts = [("generated", "5000"), ("stored", "400")].map(read);
        report.facts.insert("arm".to_owned(), counts.into_iter().collect());
        let Some(Block::Part(_, blocks)) = accounts(&report).next() else { panic!("none") };
        let [Block::Table(table)] = blocks.as_slice() else { panic!("{blocks:#?}") };
        assert_eq!(table.lines(80), ["total      value", "generated  5,000", "stored       400"]);
    }
}
