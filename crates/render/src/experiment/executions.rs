//! Part of an experiment's page on fixed sequences of transactions, such as the queries of an
//! analytic test: the time of each transaction at each point.
//!
//! Not here: which times differ by more than chance (comparison).

use model::numbers::{NONE, significant};
use study::experiment::PointReport;
use study::{ComparisonReport, ExecutionTime, ExperimentReport};

use crate::axis_names::short_point_name;
use crate::bars::bar;
use crate::charts::{Chart, Spot, in_spot, of_comparison};
use crate::comparison::changed_shortly;
use crate::document::{Block, Details, Length, Place, Section};
use crate::{Align, Cell, Column, Table};

/// Width in columns of the longest bar on a terminal.
const BAR_WIDTH: usize = 10;
/// Largest number of points whose times have bars on a terminal, so that they fit in 80 columns.
const WITH_BARS_MOST: usize = 3;
/// Largest length in characters of a point's name in the title of a column.
const TITLE_MAX: usize = 18;
/// Significant digits of a time, and of a ratio of two.
const DIGITS: usize = 3;

/// Returns the labelled line on the transactions whose times differ between the compared points;
/// empty if the clients execute no fixed sequences.
pub(super) fn changed(sides: &ComparisonReport) -> Block {
    Block::pairs(sides.pairs.iter().filter_map(changed_shortly).map(|words| ("executed", words)))
}

/// Returns the section with the time of each transaction at each point: charts and a folded table,
/// or on a terminal a table with bars. `sides` is the comparison of the points, if they are
/// compared. Empty if the clients execute no fixed sequences.
pub(super) fn section(
    report: &ExperimentReport,
    charts: &[Chart],
    sides: Option<&ComparisonReport>,
) -> Section {
    let points: Vec<&PointReport> =
        report.points.iter().filter(|point| !point.executions.is_empty()).collect();
    let mut names: Vec<&str> = Vec::new();
    for one in points.iter().flat_map(|point| &point.executions) {
        if !names.contains(&one.transaction.as_str()) {
            names.push(&one.transaction);
        }
    }
    // The bars of both are the same.
    let ratios = sides.map(|sides| in_spot(&of_comparison(sides), Spot::Executions));
    let ratios = ratios.into_iter().flatten().filter(|chart| chart.is_forest);
    let charts = in_spot(charts, Spot::Executions).into_iter().chain(ratios).collect();
    let mut blocks = vec![Block::Charts(charts)];
    if !points.is_empty() {
        let has_bars = points.len() <= WITH_BARS_MOST;
        blocks.push(Block::Details(Details {
            title: "Times as a table".to_owned(),
            blocks: vec![Block::Table(table(report, &points, &names, false))],
            length: Length::Long,
            otherwise: vec![Block::Table(table(report, &points, &names, has_bars))],
        }));
    }
    let title = "Time of each transaction";
    let note = match points.len() {
        0 | 1 => "geometric means over runs".to_owned(),
        _ => format!(
            "geometric means over runs; ratios are those to {}",
            short_names(report, &points)[0]
        ),
    };
    Section { note, where_drawn: Place::First, ..Section::new("executions", title, blocks) }
}

/// Returns the table of the times of the transactions `names` at each point, from the second point
/// on with the ratio to the first one; with `has_bars`, each time also as a bar.
fn table(
    report: &ExperimentReport,
    points: &[&PointReport],
    names: &[&str],
    has_bars: bool,
) -> Table {
    let all = points.iter().flat_map(|point| &point.executions);
    let longest_s = all.filter_map(|one| one.mean_s).fold(0.0, f64::max);
    let mut columns = vec![Column::new("transaction", Align::Left).head()];
    for (index, name) in short_names(report, points).iter().enumerate() {
        columns.push(Column::new(format!("{name}, s"), Align::Point).digits(DIGITS));
        columns.extend(has_bars.then(|| Column::new("", Align::Left)));
        columns.extend((index > 0).then(|| Column::new("ratio", Align::Right)));
    }
    let mut table = Table::new(columns);
    table.name = "executions";
    let find = |point: &'_ PointReport, name: &str| -> Option<ExecutionTime> {
        point.executions.iter().find(|one| one.transaction == name).cloned()
    };
    for name in names {
        let base_s = find(points[0], name).and_then(|one| one.mean_s);
        let mut row: Vec<Cell> = vec![(*name).into()];
        for (index, point) in points.iter().enumerate() {
            let one = find(point, name);
            let mean_s = one.as_ref().and_then(|one| one.mean_s);
            let has_failed = one.is_some_and(|one| one.failed > 0);
            row.push(mean_s.into());
            if has_bars {
                row.push(match (has_failed, mean_s) {
                    (true, _) => Cell::Words("FAILED".to_owned()),
                    (false, mean_s) => Cell::Words(
                        mean_s.map_or_else(String::new, |s| bar(s / longest_s, BAR_WIDTH)),
                    ),
                });
            }
            if index > 0 {
                let ratio = mean_s.zip(base_s).map(|(mean_s, base_s)| mean_s / base_s);
                let words =
                    ratio.map_or(NONE.to_owned(), |r| format!("×{}", significant(r, DIGITS)));
                row.push(Cell::said(words, ratio));
            }
        }
        table.row(row);
    }
    table
}

/// Names the points for titles of columns; long URLs of different databases by what they begin
/// with, such as `sqlite`.
fn short_names(report: &ExperimentReport, points: &[&PointReport]) -> Vec<String> {
    let whole = points.iter().map(|point| short_point_name(&report.axes, &point.values));
    let whole: Vec<String> = whole.collect();
    let scheme = |name: &String| match name.split_once(':') {
        Some((scheme, _)) if name.chars().count() > TITLE_MAX => scheme.to_owned(),
        _ => name.clone(),
    };
    let short: Vec<String> = whole.iter().map(scheme).collect();
    let are_distinct = (1..short.len()).all(|at| !short[..at].contains(&short[at]));
    if are_distinct { short } else { whole }
}

#[cfg(test)]
mod tests {
    use model::{Rng, Stream};
    use study::ExperimentReport;
    use study::fixtures::studies;

    use crate::experiment::experiment;
    use crate::terminal::text;

    #[test]
    fn each_transaction_has_a_bar_for_each_point_and_a_ratio_to_the_first() {
        let (of, trials) = studies::sequences();
        let mut rng = Rng::new(1, Stream::Order, 0);
        let report = ExperimentReport::new(&of, &trials, None, &mut || rng.bits());
        let page = experiment(&report.expect("it has trials"), &trials, None);
        let text = text(&page, &Default::default());
        let row = |name: &str| {
            let found = text.lines().find(|line| line.split_whitespace().next() == Some(name));
            found.unwrap_or_else(|| panic!("{name}: {text}"))
        };
        assert!(row("q2").ends_with("×3.00") && row("q2").contains('█'), "{text}");
        assert!(row("q12").contains(&"█".repeat(super::BAR_WIDTH)), "{text}");
        assert_eq!(row("rf1").matches("FAILED").count(), 2, "{text}");
    }
}
