//! Parts of a run's page for clients that execute fixed sequences of transactions, such as the
//! queries of an analytic test: the figures of the whole, and the time of each transaction type.
//!
//! Not here: rates and percentiles, which say nothing about transactions that are executed once.

use analysis::figures::title_without_number;
use analysis::report::{PrimaryMetricReport, QueryPlanReport, Report, TransactionReport};
use model::format_count;
use model::numbers::{self, count};

use super::{head, transactions};
use crate::bars::bar;
use crate::charts::{Chart, Spot, in_spot};
use crate::document::{Block, Details, Length, Section, Text, Tile};
use crate::first_page::WITH_FULL;
use crate::table::{Align, Cell, Column, Fold, Table};

/// Width in columns of the bars of a run's first page.
const BAR_WIDTH: usize = 14;

/// Number of types from which the table of a run's first page has two columns of them.
const TWO_COLUMNS_FROM: usize = 10;

/// Adds the primary metrics to the beginning of a run's headline.
pub(super) fn headline(start: Text, report: &Report) -> Text {
    start.and(primary_metrics(report, head::NO_CI).join(", "))
}

/// Returns the tiles of a run: primary metrics and errors. A sequence has no course over time.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let mut tiles: Vec<Tile> =
        head::known(report).into_iter().map(head::of_primary_metric).collect();
    tiles.push(Tile { trend: Vec::new(), ..head::errors_tile(report) });
    tiles
}

/// Returns the primary metrics with their values; those without a confidence interval are followed
/// by `mark`.
fn primary_metrics(report: &Report, mark: &str) -> Vec<String> {
    let known = head::known(report);
    let words =
        |(value, metric): &(f64, &PrimaryMetricReport)| head::known_words(*value, metric, mark);
    known.iter().map(words).collect()
}

/// Returns the labelled lines with the primary metrics, those without a value, and the number of
/// transactions.
pub(super) fn figures(report: &Report) -> Vec<(&'static str, String)> {
    let counts = &report.block.counts;
    let executed = format!(
        "{} of {} in {}, {} failed, {} retried",
        format_count(counts.finished),
        count(counts.offered, "transaction"),
        numbers::seconds(report.measured_seconds),
        format_count(counts.failed),
        format_count(counts.retried),
    );
    let known = head::known(report);
    // If none has an interval, a remark below stands for all.
    let has_interval = known.iter().any(|(_, metric)| metric.half_width.is_some());
    let result = primary_metrics(report, if has_interval { head::NO_CI } else { "" });
    vec![("result", result.join(", ")), ("no value", void(report)), ("executed", executed)]
}

/// Names the primary metrics without a value, with the reasons: `QphH@Size: q3 failed`. Empty if
/// each has one.
fn void(report: &Report) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (_, metric) in report.block.primary_metrics.iter().filter(|(_, one)| one.value.is_none()) {
        let why = metric.reason.as_deref().unwrap_or("the run did not reach it");
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, titles)) => titles.push(title_without_number(&metric.title)),
            None => reasons.push((why, vec![title_without_number(&metric.title)])),
        }
    }
    let words = |(why, titles): &(&str, Vec<&str>)| format!("{}: {why}", titles.join(", "));
    reasons.iter().map(words).collect::<Vec<String>>().join("; ")
}

/// Returns the types that were executed or dropped, each with its name.
fn executed(report: &Report) -> Vec<(&str, &TransactionReport)> {
    let all = report.block.transactions.iter();
    all.filter(|(_, kind)| kind.calls + kind.dropped > 0).collect()
}

/// Returns the mean time of the finished transactions of a type, in seconds; `None` if none
/// finished.
fn mean_s(kind: &TransactionReport) -> Option<f64> {
    kind.response_ms.mean.map(|ms| ms / 1e3)
}

/// Returns the table of types for a run's first page: each with its time and a bar, in two columns
/// if there are many. A type that was executed several times has its mean time.
fn by_type_shortly(report: &Report) -> Table {
    let all = executed(report);
    let longest_s = all.iter().filter_map(|(_, kind)| mean_s(kind)).fold(0.0, f64::max);
    let is_repeated = all.iter().any(|(_, kind)| kind.calls > 1);
    let time = if is_repeated { "mean s" } else { "s" };
    let n_columns = if all.len() >= TWO_COLUMNS_FROM { 2 } else { 1 };
    let n_rows = all.len().div_ceil(n_columns);
    let columns = (0..n_columns).flat_map(|_| {
        [
            Column::new("transaction", Align::Left),
            Column::new(time, Align::Point).digits(3),
            Column::new("", Align::Left),
        ]
    });
    let mut table = Table::new(columns.collect::<Vec<Column>>());
    let cells = |(name, kind): &(&str, &TransactionReport)| {
        let value_s = mean_s(kind);
        let bar = match (kind.failed, value_s) {
            (1.., _) => "FAILED".to_owned(),
            (_, Some(value_s)) => bar(value_s / longest_s, BAR_WIDTH),
            (_, None) => String::new(),
        };
        [Cell::from(*name), value_s.into(), Cell::Words(bar)]
    };
    for row in 0..n_rows {
        let shown = all.iter().skip(row).step_by(n_rows).map(Some);
        // The last row may have a place without a transaction.
        let shown = shown.chain(std::iter::repeat(None)).take(n_columns);
        let empty = || [Cell::from(""), Cell::from(""), Cell::from("")];
        table.row(shown.flat_map(|kind| kind.map_or_else(empty, cells)));
    }
    table
}

/// Returns the table of types with all figures of each; in a browser, the plan of a query unfolds
/// on its line.
fn by_type(report: &Report) -> Table {
    let time = |title: &'static str| Column::new(title, Align::Point).digits(4);
    let mut table = Table::new([
        Column::new("transaction", Align::Left),
        Column::new("executed", Align::Right),
        Column::new("failed", Align::Right),
        Column::new("retried", Align::Right),
        time("min s"),
        time("mean s"),
        time("max s"),
        Column::new("% of time", Align::Point).tenths(),
    ]);
    for (name, kind) in executed(report) {
        let seconds = |ms: Option<f64>| Cell::from(ms.map(|ms| ms / 1e3));
        let own = report.executions.iter().filter(|one| one.transaction == name && one.is_finished);
        let least_s = own.map(|one| one.took_s).reduce(f64::min);
        table.row([
            Cell::from(name),
            kind.calls.into(),
            kind.failed.into(),
            kind.retried.into(),
            least_s.into(),
            seconds(kind.response_ms.mean),
            seconds(kind.response_ms.max),
            kind.ratio_percent.into(),
        ]);
    }
    let plan = |(name, _): (&str, &TransactionReport)| {
        let plan = report.query_plans.iter().find(|one| one.transaction == name);
        let lines = plan.map(words_of_plan).unwrap_or_default();
        Fold { title: "plan".to_owned(), lines }
    };
    let folded = executed(report).into_iter().map(plan).collect();
    table.folded(folded)
}

/// Returns the section on transactions: their number, the time of each type, and the plans of
/// queries.
pub(super) fn section(report: &Report, charts: &[Chart]) -> Section {
    let mut blocks = vec![
        Block::paragraphs(transactions::counted(report)),
        Block::Table(by_type(report)),
        Block::Charts(in_spot(charts, Spot::Types)),
    ];
    blocks.extend(plans(report));
    Section::new("transactions", "Transactions", blocks)
}

/// Returns the section of the first page with the time of each type; of several groups, with a row
/// for each group.
pub(super) fn types_shortly(report: &Report, shown_most: usize) -> Section {
    let table = match report.groups.len() {
        0 | 1 => by_type_shortly(report),
        _ => by_group(report).shown_max(shown_most, WITH_FULL),
    };
    Section::new("transactions", "Transactions", vec![Block::Table(table)])
}

/// Returns the table of groups with the numbers of their transactions.
fn by_group(report: &Report) -> Table {
    let mut table = Table::new([
        Column::new("group", Align::Left),
        Column::new("clients", Align::Right),
        Column::new("offered", Align::Right),
        Column::new("failed", Align::Right),
        Column::new("mean s", Align::Point).digits(3),
        Column::new("max s", Align::Point).digits(3),
    ]);
    for group in &report.groups {
        let Some(block) = &group.block else { continue };
        let seconds = |ms: Option<f64>| Cell::from(ms.map(|ms| ms / 1e3));
        table.row([
            Cell::from(group.name.as_str()),
            u64::from(group.clients).into(),
            block.counts.offered.into(),
            block.counts.failed.into(),
            seconds(block.response_ms.mean),
            seconds(block.response_ms.max),
        ]);
    }
    table
}

/// Returns the remark of the first page on the errors of its figures.
pub(super) fn remarks(_report: &Report) -> Vec<String> {
    vec!["no CI: each time is of one execution; repeat the run".to_owned()]
}

/// Returns the lines of a plan, followed by those of its execution, if it was executed.
fn words_of_plan(one: &QueryPlanReport) -> String {
    match one.executed.is_empty() {
        true => one.plan.clone(),
        false => format!("{}\n\nexecuted once after the load:\n{}", one.plan, one.executed),
    }
}

/// Returns the plans of queries for pages whose tables cannot fold them.
fn plans(report: &Report) -> Vec<Block> {
    let to_blocks = |one: &QueryPlanReport| {
        let title = format!("Plan of {}:", one.transaction);
        [Block::paragraphs([title]), Block::Verbatim(words_of_plan(one))]
    };
    let otherwise: Vec<Block> = report.query_plans.iter().flat_map(to_blocks).collect();
    let in_table =
        Details { title: String::new(), blocks: Vec::new(), length: Length::Long, otherwise };
    vec![Block::Details(in_table)]
}
