//! A history as people read it: a line for each build, and where the level has changed.
//!
//! Not here: what is true (history).

use super::experiment::{left_out as damaged, title};
use super::figures::{count, significant, wrap};
use super::table::escaped;
use super::{Align, Column, Table, sparkline};
use crate::history::{BuildReport, Change, HistoryReport, Last, LeftOut, PointHistory, too_short};

const WIDTH: usize = 96;
/// Builds beyond which no block of the curve is told apart.
const SPARK_MOST: usize = 60;

/// The page of a history.
pub fn history(report: &HistoryReport) -> String {
    let mut parts: Vec<String> = report.points.iter().map(|point| series(report, point)).collect();
    parts.extend(left_out(report).map(|line| wrap(&line, WIDTH).join("\n") + "\n"));
    parts.join("\n")
}

/// The builds that no series has, and the runs that cannot be read, in sentences.
pub(super) fn left_out(report: &HistoryReport) -> impl Iterator<Item = String> {
    let line = |build: &LeftOut| {
        let last = if build.is_last { "; it is the last, and so cannot be judged" } else { "" };
        let (name, n) = (&build.build, count(build.runs_not_counted, "run"));
        format!("{name} is left out: of {n} none is completed and valid{last}.")
    };
    report.left_out.iter().map(line).chain(damaged(&report.damaged))
}

fn series(report: &HistoryReport, point: &PointHistory) -> String {
    let mut page = headline(report, point) + "\n";
    let values: Vec<f64> = point.builds.iter().map(|build| build.value).collect();
    let most = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let values: Vec<f64> = values.into_iter().map(|value| value.min(most)).collect();
    page.push_str(&format!("{}\n\n", sparkline(&values, SPARK_MOST)));
    for line in table(report, point).lines(WIDTH) {
        page.push_str(&line);
        page.push('\n');
    }
    for line in sentences(point) {
        wrap(&line, WIDTH).iter().for_each(|line| page.push_str(&format!("{line}\n")));
    }
    page
}

/// What a series is of, and what is to be thought of it.
fn headline(report: &HistoryReport, point: &PointHistory) -> String {
    let n_builds = count(point.builds.len() as u64, "build");
    let series = format!("{} by {} {}", title(&report.figure), report.by, point.values.pairs(" "));
    format!("{}: {n_builds}, {}", series.trim_end(), verdict(point))
}

/// What is known of the last build of a series.
pub(super) fn sentences(point: &PointHistory) -> impl Iterator<Item = String> {
    point.last.iter().map(|last| last_line(point, last)).chain(lacks(point))
}

/// That the last build is not in a series, in a sentence.
fn lacks(point: &PointHistory) -> Option<String> {
    let build = point.lacks.as_ref()?;
    let runs = count(build.runs_not_counted, "run");
    Some(format!(
        "{}, the last build, has no run that counts here ({runs} of it not completed or invalid): \
         what is said of the last is of the one before.",
        build.build
    ))
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
    let outside = point.last.as_ref().filter(|last| last.is_outside);
    let last = match (outside, &point.last) {
        (Some(last), _) if last.is_worse => Some("the last is WORSE".to_owned()),
        (Some(_), _) => Some("the last is better".to_owned()),
        (None, Some(last)) if last.is_noisy => {
            Some(format!("too noisy to see less than {} %", significant(last.seen_from * 100.0, 2)))
        }
        (None, _) => None,
    };
    match (&point.changes, &point.last) {
        (Some(changes), _) => {
            let level = match changes.last() {
                None => "one level".to_owned(),
                Some(change) => {
                    let word = match change.is_worse {
                        true if point.recent_regression().is_some() => "WORSE",
                        true => "worse",
                        false => "better",
                    };
                    let percent = significant((change.ratio - 1.0).abs() * 100.0, 3);
                    let n = count(changes.len() as u64, "change");
                    format!("{n} of level, since {} {percent} % {word}", change.build)
                }
            };
            last.map_or_else(|| level.clone(), |last| format!("{level}, {last}"))
        }
        (None, Some(_)) => last.unwrap_or_else(|| "the last is as the ones before".to_owned()),
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

/// The last of a series, in sentences.
fn last_line(point: &PointHistory, last: &Last) -> String {
    let percent = |share: f64| significant(share.abs() * 100.0, 2);
    let away = match last.ratio.is_finite() {
        true if last.ratio < 1.0 => format!("{} % below", percent(last.ratio - 1.0)),
        true => format!("{} % above", percent(last.ratio - 1.0)),
        false => "infinite, since work was lost, against".to_owned(),
    };
    let (of, alone) = match &point.changes {
        Some(_) => ("its level", String::new()),
        None => {
            let few = too_short(point.builds.len());
            ("the ones before", format!(" It is judged alone: there are {few}."))
        }
    };
    let (low, high) = last.expected;
    let (below, above) = (percent(low / last.before - 1.0), percent(high / last.before - 1.0));
    let (low, high) = (significant(low, 4), significant(high, 4));
    format!(
        "The last is {away} the mean of {of}; -{below} % to +{above} % ({low} to {high}) was to \
         be expected (99 %).{alone}"
    )
}

/// What is to be thought of the last, in a word or two.
fn judged(last: &Last) -> &'static str {
    match (last.is_outside, last.is_worse) {
        (true, true) => "worse",
        (true, false) => "better",
        (false, _) if last.is_noisy => "too noisy",
        (false, _) => "as expected",
    }
}

/// The same page for a pull request or a page of a wiki.
pub fn history_markdown(report: &HistoryReport) -> String {
    let mut page = String::new();
    for point in &report.points {
        page.push_str(&format!("**{}**\n\n", escaped(&headline(report, point))));
        page.push_str(&table(report, point).markdown());
        for line in sentences(point) {
            page.push_str(&format!("\n{}\n", escaped(&line)));
        }
        page.push('\n');
    }
    left_out(report).for_each(|line| page.push_str(&format!("{}\n\n", escaped(&line))));
    page.truncate(page.trim_end().len());
    page + "\n"
}

/// The builds as rows with commas (RFC 4180).
pub fn history_csv(report: &HistoryReport) -> String {
    let titles = ["point", "build", "runs", "figure", "value", "mean_of_ten", "change", "last"];
    let rows = report.points.iter().flat_map(|point| {
        let (at, n_builds) = (point.values.pairs(" "), point.builds.len());
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
                point.last.as_ref().filter(|_| index + 1 == n_builds).map_or("", judged).to_owned(),
            ]
        })
    });
    super::rows_of_text(titles, rows)
}
