//! Times of the transactions of fixed sequences, such as the queries of an analytic test, on each
//! side of a comparison.
//!
//! Not here: whether a time has changed (study).

use model::numbers::{NONE, significant};
use study::comparison::{ComparisonReport, ExecutionChange, PairReport, Ratio};

use super::titles;
use super::words::change_of;
use crate::charts::{Chart, Spot, in_spot};
use crate::document::{Block, Details, Length};
use crate::table::Fold;
use crate::{Align, Cell, Column, Table};

/// Largest number of transactions that a sentence names; it gives the number of the others.
const NAMED_MOST: usize = 4;

/// Returns a table with the times of all transactions for each compared side; none if the runs
/// execute no sequence.
pub(super) fn blocks(report: &ComparisonReport, charts: &[Chart]) -> Vec<Block> {
    let pairs = report.pairs.iter().filter(|pair| !pair.executions.is_empty());
    let part = |pair: &PairReport| {
        let title = match report.pairs.len() {
            1 => String::new(),
            _ => super::versus(said(&pair.side), said(&report.sides[0].name)),
        };
        let changed = changed_shortly(pair).map(|words| format!("{words}."));
        let words = Block::paragraphs(changed.into_iter().chain([HOW.to_owned()]));
        let differences = plan_differences(pair);
        Block::Part(title, vec![words, Block::Table(table(report, pair)), differences])
    };
    let charts = [Block::Charts(in_spot(charts, Spot::Executions))];
    charts.into_iter().chain(pairs.map(part)).collect()
}

/// Returns what changed in the plans of queries, for pages whose tables cannot fold it.
fn plan_differences(pair: &PairReport) -> Block {
    let changed = pair.executions.iter().filter(|one| !one.plan_difference.is_empty());
    let to_blocks = |one: &ExecutionChange| {
        let title = format!("Plan of {} (- baseline only, + compared side only):", one.transaction);
        [Block::paragraphs([title]), Block::Verbatim(one.plan_difference.join("\n"))]
    };
    let otherwise: Vec<Block> = changed.flat_map(to_blocks).collect();
    Block::Details(Details {
        title: String::new(),
        blocks: Vec::new(),
        length: Length::Long,
        otherwise,
    })
}

/// How a change is distinguished from chance.
const HOW: &str = "Times are geometric means over runs, changes are those of their quotients with \
                   95 % CIs of each alone. A transaction counts as changed if its p-value, corrected for the \
                   number of transactions, is below 5 %.";

fn said(name: &str) -> &str {
    super::said_name(name)
}

/// Figure whose changes are those of times.
const TIME: &str = "took_ms";

/// Says which transactions changed by more than chance: `time of q9 +110.0 %, q3 -48.0 %`.
fn changed(pair: &PairReport) -> String {
    let mut all: Vec<&ExecutionChange> =
        pair.executions.iter().filter(|one| one.is_change).collect();
    let far = |one: &ExecutionChange| one.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    all.sort_by(|a, b| far(b).total_cmp(&far(a)));
    let words = |one: &&ExecutionChange| {
        let ratio = one.ratio.map(|value| Ratio { value, interval: None, confidence: None });
        let change = ratio.map_or_else(String::new, |ratio| change_of(TIME, &ratio));
        format!("{} {change}", one.transaction)
    };
    let named: Vec<String> = all.iter().take(NAMED_MOST).map(words).collect();
    let more = all.len().saturating_sub(NAMED_MOST);
    let has_intervals = pair.executions.iter().any(|one| one.interval.is_some());
    match (named.is_empty(), more) {
        (true, _) if has_intervals => "no transaction changed by more than chance".to_owned(),
        (true, _) => "too few runs to tell which transactions changed: repeat them".to_owned(),
        (false, 0) => format!("time of {}", named.join(", ")),
        (false, more) => format!("time of {} and {more} more changed", named.join(", ")),
    }
}

/// Says which transactions and which of their plans changed: `time of q9 +110.0 %; plan of q9
/// changed`. `None` if the runs execute no sequence.
pub(crate) fn changed_shortly(pair: &PairReport) -> Option<String> {
    let plans = plans_changed(pair).map_or_else(String::new, |all| format!("; {all}"));
    (!pair.executions.is_empty()).then(|| format!("{}{plans}", changed(pair)))
}

/// Names the queries whose plans changed: `plan of q9 changed`; `None` if none is known to.
fn plans_changed(pair: &PairReport) -> Option<String> {
    let changed = pair.executions.iter().filter(|one| one.plan_changed == Some(true));
    let names: Vec<&str> = changed.map(|one| one.transaction.as_str()).collect();
    let shown = names.iter().take(NAMED_MOST).copied().collect::<Vec<&str>>().join(", ");
    match names.len().saturating_sub(NAMED_MOST) {
        0 if names.is_empty() => None,
        0 if names.len() == 1 => Some(format!("plan of {shown} changed")),
        0 => Some(format!("plans of {shown} changed")),
        more => Some(format!("plans of {shown} and {more} more changed")),
    }
}

fn table(report: &ComparisonReport, pair: &PairReport) -> Table {
    let [base, side] = titles(&report.sides[0].name, &pair.side);
    let [base_name, side_name] = [base.clone(), side.clone()];
    let time = |name: String| Column::new(format!("{name}, s"), Align::Right);
    let mut table = Table::new([
        Column::new("transaction", Align::Left),
        time(base),
        time(side),
        Column::new("change (95 % CI)", Align::Right).key("ratio"),
        Column::new("p", Align::Right),
        Column::new("", Align::Left),
    ]);
    for one in &pair.executions {
        let seconds = |time: Option<f64>, failed: u64| match (time, failed) {
            (_, 1..) => Cell::said(format!("{failed} FAILED"), time),
            (time, 0) => {
                Cell::said(time.map_or(NONE.to_owned(), |time| significant(time, 3)), time)
            }
        };
        let ratio = match (one.ratio, one.interval) {
            (Some(value), interval) => {
                change_of(TIME, &Ratio { value, interval, confidence: None })
            }
            (None, _) => NONE.to_owned(),
        };
        let p = one.p.map_or(NONE.to_owned(), |p| significant(p, 2));
        table.row([
            one.transaction.as_str().into(),
            seconds(one.baseline_s, one.failed.0),
            seconds(one.side_s, one.failed.1),
            Cell::said(ratio, one.ratio),
            Cell::said(p, one.p),
            match (one.is_change, one.plan_changed == Some(true)) {
                (true, true) => "changed, plan changed",
                (true, false) => "changed",
                (false, true) => "plan changed",
                (false, false) => "",
            }
            .into(),
        ]);
    }
    let folded = pair.executions.iter().map(|one| Fold {
        title: format!("plan: {base_name} (-), {side_name} (+)"),
        lines: one.plan_difference.join("\n"),
    });
    let folded = folded.collect();
    table.folded(folded)
}
