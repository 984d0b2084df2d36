//! A history as people read it: a line for each build, and where the level has changed.
//!
//! Not here: what is true (history).

use super::experiment::title;
use super::figures::{count, significant, wrap};
use super::{Align, Column, Table, sparkline};
use crate::history::{BuildReport, Change, HistoryReport, Last, PointHistory, too_short};

const WIDTH: usize = 96;
/// Builds beyond which no block of the curve is told apart.
const SPARK_MOST: usize = 60;

/// The page of a history.
pub fn history(report: &HistoryReport) -> String {
    report.points.iter().map(|point| series(report, point)).collect::<Vec<_>>().join("\n")
}

fn series(report: &HistoryReport, point: &PointHistory) -> String {
    let figure = title(&report.figure);
    let n_builds = count(point.builds.len() as u64, "build");
    let series = format!("{figure} by {} {}", report.by, point.values.pairs(" "));
    let mut page = format!("{}: {n_builds}, {}\n", series.trim_end(), verdict(point));
    let values: Vec<f64> = point.builds.iter().map(|build| build.value).collect();
    page.push_str(&format!("{}\n\n", sparkline(&values, SPARK_MOST)));
    for line in table(report, point).lines(WIDTH) {
        page.push_str(&line);
        page.push('\n');
    }
    if let Some(last) = &point.last {
        wrap(&last_line(point, last), WIDTH)
            .iter()
            .for_each(|line| page.push_str(&format!("{line}\n")));
    }
    page
}

/// The builds of a series, a row each.
pub(super) fn table(report: &HistoryReport, point: &PointHistory) -> Table {
    let mut table = Table::new([
        Column::new(report.by.clone(), Align::Left),
        Column::new("runs", Align::Right),
        Column::new(title(&report.figure), Align::Right),
        Column::new("mean of 10", Align::Right),
        Column::new("level", Align::Left),
    ]);
    for (index, build) in point.builds.iter().enumerate() {
        let change = point.changes.iter().flatten().find(|change| change.at == index);
        table.row(row(build, change));
    }
    table
}

/// What is to be thought of a series, in a few words.
pub(super) fn verdict(point: &PointHistory) -> String {
    match (&point.changes, &point.last) {
        _ if point.has_regressed => "the last is WORSE".to_owned(),
        (Some(changes), _) if changes.is_empty() => "one level".to_owned(),
        (Some(changes), _) => format!("{} of level", count(changes.len() as u64, "change")),
        (None, Some(last)) if last.is_outside => "the last is better".to_owned(),
        (None, Some(_)) => "the last is as the ones before".to_owned(),
        (None, None) => "too few to judge the last".to_owned(),
    }
}

fn row(build: &BuildReport, change: Option<&Change>) -> [String; 5] {
    let level = change.map_or_else(String::new, |change| {
        let word = if change.is_worse { "worse" } else { "better" };
        let (before, after) = (significant(change.before, 4), significant(change.after, 4));
        format!(
            "{:+.1} %, {word}: {before} → {after} (p {:.3})",
            (change.ratio - 1.0) * 100.0,
            change.p
        )
    });
    [
        build.build.clone(),
        build.runs.len().to_string(),
        significant(build.value, 4),
        significant(build.mean_of_ten, 4),
        level,
    ]
}

/// The last of a short series, in sentences.
pub(super) fn last_line(point: &PointHistory, last: &Last) -> String {
    let (low, high) = (significant(last.expected.0, 4), significant(last.expected.1, 4));
    format!(
        "The last is {:+.1} % from the mean of the ones before; {low} to {high} was to be expected \
         (99 %). It is judged alone: there are {}.",
        (last.ratio - 1.0) * 100.0,
        too_short(point.builds.len())
    )
}

/// The builds as rows with commas (RFC 4180).
pub fn history_csv(report: &HistoryReport) -> String {
    let titles = ["point", "build", "runs", "figure", "value", "mean_of_ten", "change"];
    let rows = report.points.iter().flat_map(|point| {
        let at = point.values.pairs(" ");
        point.builds.iter().enumerate().map(move |(index, build)| {
            let change = point.changes.iter().flatten().find(|change| change.at == index);
            [
                at.clone(),
                build.build.clone(),
                build.runs.len().to_string(),
                report.figure.clone(),
                build.value.to_string(),
                build.mean_of_ten.to_string(),
                change.map_or_else(String::new, |change| change.ratio.to_string()),
            ]
        })
    });
    super::rows_of_text(titles, rows)
}
