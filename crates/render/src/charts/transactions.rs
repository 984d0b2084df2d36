//! Charts of a comparison of fixed sequences, such as the queries of an analytic test: the time of
//! each transaction on each side, and its ratio to the baseline.
//!
//! Not here: single runs (executions) and experiments (point_times).

use model::numbers::list;
use study::ComparisonReport;
use study::comparison::{ExecutionChange, PairReport};

use super::{Axis, Chart, Entry, Mark, Of, Palette, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "transactions",
    about: "time of each transaction of a fixed sequence on each side, and its ratio",
    spot: Spot::Executions,
    make: Of::Comparison(charts),
};

fn charts(report: &ComparisonReport) -> Vec<Chart> {
    let ratios = report.pairs.iter().flat_map(|pair| ratios(report, pair));
    times(report).into_iter().chain(ratios).collect()
}

/// Returns the chart of the time of each transaction, with a bar for each side.
fn times(report: &ComparisonReport) -> Vec<Chart> {
    let mut names: Vec<String> = Vec::new();
    for one in report.pairs.iter().flat_map(|pair| &pair.executions) {
        if !names.contains(&one.transaction) {
            names.push(one.transaction.clone());
        }
    }
    let points = |pair: &PairReport, time_s: fn(&ExecutionChange) -> Option<f64>| {
        let at = |one: &ExecutionChange| names.iter().position(|name| *name == one.transaction);
        let to_point = |one: &ExecutionChange| Some(Point::at(at(one)? as f64, time_s(one)));
        pair.executions.iter().filter_map(to_point).collect::<Vec<Point>>()
    };
    let x = Axis::named("transaction", names.clone());
    let y = Axis::new("time", "s", Scale::FromZero);
    let mut chart = Chart::new("transactions-times", "Time by transaction", x, y);
    let base = report.pairs.first().map(|pair| points(pair, |one| one.baseline_s));
    let base = base.map(|points| Trace::new(&report.sides[0].name, Shape::Bars, points));
    let side =
        |pair: &PairReport| Trace::new(&pair.side, Shape::Bars, points(pair, |one| one.side_s));
    chart.traces = base.into_iter().chain(report.pairs.iter().map(side)).collect();
    let failed = without_bar(report);
    chart.note = Some(format!("Bars are geometric means over runs.{failed}"));
    chart.if_any()
}

/// Names the transactions without a bar on some side, because all of their executions failed there;
/// empty if there are none.
fn without_bar(report: &ComparisonReport) -> String {
    let mut names: Vec<String> = Vec::new();
    for one in report.pairs.iter().flat_map(|pair| &pair.executions) {
        let is_lost = one.baseline_s.is_none() && one.failed.0 > 0
            || one.side_s.is_none() && one.failed.1 > 0;
        if is_lost && !names.contains(&one.transaction) {
            names.push(one.transaction.clone());
        }
    }
    match names.is_empty() {
        true => String::new(),
        false => format!(" No bar: {} failed.", list(&names)),
    }
}

/// Returns the forest plot of the ratio of each transaction's time to the baseline.
fn ratios(report: &ComparisonReport, pair: &PairReport) -> Vec<Chart> {
    let with_ratio: Vec<&ExecutionChange> =
        pair.executions.iter().filter(|one| one.ratio.is_some()).collect();
    let names = with_ratio.iter().map(|one| one.transaction.clone()).collect();
    let x = Axis::named("transaction", names);
    let y = Axis::new(format!("ratio to {}", report.sides[0].name), "", Scale::Log);
    let title = match report.pairs.len() {
        1 => "Time against the baseline".to_owned(),
        _ => format!("Time of {} against the baseline", pair.side),
    };
    let mut chart = Chart::new("transactions-ratios", title, x, y);
    chart.is_forest = true;
    chart.palette = Palette::Verdicts;
    chart.marks.push(Mark::level(1.0, ""));
    for word in ["better", "worse", "another verdict"] {
        let all = with_ratio.iter().enumerate().filter(|(_, one)| word_of(one) == word);
        let to_point = |(row, one): (usize, &&ExecutionChange)| Point {
            band: one.interval,
            ..Point::at(row as f64, one.ratio)
        };
        chart.traces.push(Trace::new(word, Shape::Points, all.map(to_point).collect()));
    }
    chart.note = Some(
        "Below 1 is faster. Better and worse need a p-value, corrected for the number of \
         transactions, below 5 %; whiskers are 95 % CIs of each alone."
            .to_owned(),
    );
    chart.if_any()
}

/// Returns the name of the trace that shows the ratio of a transaction's time.
fn word_of(one: &ExecutionChange) -> &'static str {
    match (one.is_change, one.ratio.is_some_and(|ratio| ratio < 1.0)) {
        (true, true) => "better",
        (true, false) => "worse",
        (false, _) => "another verdict",
    }
}
