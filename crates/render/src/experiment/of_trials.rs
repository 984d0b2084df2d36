//! Parts of an experiment's page that need its trials: the table of trials, disturbances at each
//! point, and the ages of records at each point.
//!
//! Not here: curves and the table of points (experiment), and the page of a single run (run).

use std::iter::once;

use analysis::figures::{Figure, disturbances_of, name_of_disturbance, value_of};
use analysis::report::Report;
use model::numbers::count;
use model::{BucketCounts, Severity};
use study::ExperimentReport;
use study::trials::{TrialReport, counts, figure_at, why_not_in_short};

use crate::axis_names::names;
use crate::charts::ages;
use crate::document::{Block, Length, Place, Section};
use crate::list::short_id;
use crate::run::{of_median_run, together};
use crate::wording::{Spread, begun, shown, title_with_unit};
use crate::{Align, Cell, Column, Table};

/// Figures in the tables of disturbances, with titles. Each is shown before, during and after a
/// disturbance.
const OF_WINDOW: [(&str, &str); 4] =
    [("p50_ms", "p50 ms"), ("p95_ms", "p95 ms"), ("p99_ms", "p99 ms"), ("tps", "TPS")];

/// Largest number of disturbances for which an experiment's page has a table; the others are left
/// out.
const SHOWN_MOST: usize = 8;

/// Figures in the table of single trials, in addition to the primary one.
const OF_TRIAL: [&str; 4] = ["tps", "p50_ms", "p95_ms", "p99_ms"];

/// Returns the section with the folded table of an experiment's trials in the order of time, with
/// point, figures, validity and run.
pub(super) fn trials(report: &ExperimentReport, trials: &[TrialReport]) -> Section {
    let mut made: Vec<&TrialReport> = trials.iter().collect();
    made.sort_by_key(|trial| trial.report.started);
    let primary = report.primary.as_str();
    let figures: Vec<&str> =
        once(primary).chain(OF_TRIAL.into_iter().filter(|name| *name != primary)).collect();
    let mut columns = vec![Column::new("trial", Align::Right).head()];
    columns.extend(axis_columns(report).into_iter().map(|column| column.key("")));
    columns.push(Column::new("repeat", Align::Right));
    columns.push(Column::new("started", Align::Left));
    columns.extend(figures.iter().map(|name| {
        let unit = report.units.get(name).map_or("", String::as_str);
        Column::new(title_with_unit(name, unit), Align::Point)
    }));
    columns.push(Column::sentences("valid"));
    columns.push(Column::new("run", Align::Left));
    let mut table = Table::new(columns);
    for (index, trial) in made.iter().enumerate() {
        let run = &trial.report;
        let mut row: Vec<Cell> = vec![(index + 1).into()];
        row.extend(axis_cells(report, trial.point as usize));
        row.push(u64::from(trial.repeat + 1).into());
        row.push(begun(run.started).into());
        row.extend(figures.iter().map(|name| Cell::from(value_of(run, name))));
        row.extend([validity(run).into(), Cell::from(short_id(&run.run_id))]);
        table.row(row);
    }
    let n = made.len() as u64;
    let blocks = match table.is_empty() {
        true => Vec::new(),
        // On a terminal, 'dbdyno runs list' shows them.
        false => vec![Block::details(count(n, "trial"), Length::Long, vec![Block::Table(table)])],
    };
    Section::new("trials", "Trials", blocks)
}

/// Returns in words whether a trial counts: `yes, 2 warnings`, or `no` with the reason.
fn validity(run: &Report) -> String {
    let n = run.findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    match (counts(run), n) {
        (false, _) => format!("no: {}", why_not_in_short(run)),
        (true, 0) => "yes".to_owned(),
        (true, n) => format!("yes, {}", count(n as u64, "warning")),
    }
}

/// Returns the section with a table for each disturbance, in which each point of an experiment has
/// rows for before, during and after it.
pub(super) fn disturbances(report: &ExperimentReport, trials: &[TrialReport]) -> Section {
    let mut all: Vec<&str> = Vec::new();
    for name in trials.iter().flat_map(|trial| disturbances_of(&trial.report)) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let part = |name: &&str| {
        let table = Block::Table(of_disturbance(report, trials, name));
        Block::Part((*name).to_owned(), vec![table])
    };
    let blocks: Vec<Block> = all.iter().take(SHOWN_MOST).map(part).collect();
    Section {
        note: "means over runs with 95 % intervals between them; recovery: seconds until commits \
               were back at 90 % of before"
            .to_owned(),
        where_drawn: Place::First,
        ..Section::new("disturbances", "Disturbances", blocks)
    }
}

fn of_disturbance(report: &ExperimentReport, trials: &[TrialReport], name: &str) -> Table {
    let mut columns = axis_columns(report);
    columns.push(Column::new("", Align::Left).key("window"));
    columns.extend(OF_WINDOW.map(|(key, title)| Column::new(title, Align::Right).key(key)));
    columns.push(Column::new("recovery s", Align::Right).key("recovery_s"));
    let mut table = Table::new(columns);
    table.name = "disturbances";
    let name = name_of_disturbance(name);
    let (points, windows) = (0..report.points.len(), ["before", "during", "after"]);
    let figure_named = |point: usize, last: &str| {
        figure_at(trials, point as u32, &format!("disturbance.{name}.{last}"))
    };
    let spread = |last: &str| {
        let of_point = |point| {
            let of_windows = windows.map(|window| figure_named(point, &format!("{window}.{last}")));
            of_windows.into_iter().chain([figure_named(point, last)]).flatten()
        };
        spread_of(points.clone().flat_map(of_point))
    };
    let spreads = OF_WINDOW.map(|(last, _)| (last, spread(last)));
    let of_recovery = spread("recovery_s");
    for point in points.clone() {
        for (nth, window) in windows.into_iter().enumerate() {
            let mut row = axis_cells(report, point);
            row.push(window.into());
            row.extend(spreads.map(|(last, spread)| {
                cell(figure_named(point, &format!("{window}.{last}")), spread)
            }));
            row.push(match nth {
                1 => cell(figure_named(point, "recovery_s"), of_recovery),
                _ => Cell::from(""),
            });
            table.row(row);
        }
    }
    table
}

fn spread_of(figures: impl Iterator<Item = Figure>) -> Spread {
    Spread::of_column(figures.collect::<Vec<_>>().iter())
}

fn cell(figure: Option<Figure>, spread: Spread) -> Cell {
    figure.map_or(Cell::None, |figure| Cell::said(shown(&figure, spread), Some(figure.mean)))
}

/// Returns one table column per varied parameter, for the values of the points.
fn axis_columns(report: &ExperimentReport) -> Vec<Column> {
    let column = |axis: &model::Axis| {
        Column::new(model::short_axis(&axis.name).to_owned(), Align::Left)
            .key(axis.name.clone())
            .head()
    };
    report.axes.iter().map(column).collect()
}

fn axis_cells(report: &ExperimentReport, point: usize) -> Vec<Cell> {
    let cell = |(axis, (_, value)): (&model::Axis, &(String, String))| {
        let place = axis.values.iter().position(|known| known == value);
        Cell::from(place.map_or(value.clone(), |place| names(axis)[place].clone()))
    };
    report.axes.iter().zip(&report.points[point].values.0).map(cell).collect()
}

/// Returns the table of the ages of records when readers first read them: the percentages below 40,
/// 100 and 300 ms, a row for each point of an experiment. `None` if the workload has no readers.
pub(super) fn ages_of_points(report: &ExperimentReport, trials: &[TrialReport]) -> Option<Table> {
    let all: Vec<Vec<BucketCounts>> =
        (0..report.points.len()).map(|point| ages::ages_at(trials, point)).collect();
    if all.iter().all(Vec::is_empty) {
        return None;
    }
    let mut columns = axis_columns(report);
    columns.push(Column::new("records read", Align::Right).key("records"));
    let below = |ms: u64| {
        Column::new(format!("below {ms} ms, %"), Align::Right).key(format!("below_{ms}ms"))
    };
    columns.extend(ages::SHOWN_MS.map(below));
    let mut table = Table::new(columns);
    table.name = "ages";
    let share = |of_runs: &[BucketCounts], ms: u64| {
        let of_run = |ages: &BucketCounts| {
            ages.percent_below().iter().find(|(bound, _)| *bound == ms).map(|(_, share)| *share)
        };
        analysis::figures::figure(&of_runs.iter().filter_map(of_run).collect::<Vec<f64>>())
    };
    let spreads = ages::SHOWN_MS
        .map(|ms| (ms, spread_of(all.iter().filter_map(|of_runs| share(of_runs, ms)))));
    for (point, of_runs) in all.iter().enumerate().filter(|(_, of_runs)| !of_runs.is_empty()) {
        let mut row = axis_cells(report, point);
        row.push(of_runs.iter().map(BucketCounts::total).sum::<u64>().into());
        row.extend(spreads.map(|(ms, spread)| cell(share(of_runs, ms), spread)));
        table.row(row);
    }
    Some(table)
}

/// Returns sections of the run with the median of the primary figure, if the experiment repeats a
/// single point: where the time goes, errors and checks. Empty for several points, whose comparison
/// has them.
pub(super) fn median_run(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Section> {
    median(report, trials).map(of_median_run).unwrap_or_default()
}

/// Returns the section with lines on all counted trials together: errors, checks and target; with
/// the parts of the median run's time if the experiment repeats a single point.
pub(super) fn outcome(report: &ExperimentReport, trials: &[TrialReport]) -> Section {
    let counted = trials.iter().map(|trial| &trial.report).filter(|run| counts(run));
    let counted: Vec<&Report> = counted.collect();
    let n_not_counted = trials.len() - counted.len();
    let lines = together(&counted, n_not_counted, median(report, trials));
    Section::new("outcome", "Errors and checks", vec![Block::pairs(lines)])
}

/// Returns the counted run with the median of the primary figure; `None` if the experiment has
/// several points.
fn median<'t>(report: &ExperimentReport, trials: &'t [TrialReport]) -> Option<&'t Report> {
    if report.points.len() != 1 {
        return None;
    }
    let known = trials.iter().filter(|trial| counts(&trial.report));
    let known =
        known.filter_map(|trial| Some((value_of(&trial.report, &report.primary)?, &trial.report)));
    let mut known: Vec<(f64, &Report)> = known.collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    known.get(known.len() / 2).map(|(_, run)| *run)
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::{Made, subjects};
    use analysis::report::Report;
    use model::Disturbed;
    use study::fixtures::studies;

    use crate::experiment::experiment;
    use crate::terminal::text;

    #[test]
    fn a_disturbance_has_a_row_for_each_window_of_each_point() {
        let (report, mut trials) = studies::experiment();
        let mut made = Made::closed();
        made.disturbance(20_000, Some(22_000), Disturbed::Done);
        let disturbances = Report::from_tally(&made.tally()).disturbances;
        for trial in &mut trials {
            trial.report.disturbances = disturbances.clone();
        }
        let page = text(&experiment(&report, &trials, None), &Default::default());
        let expect = disturbances[0].during.as_ref().and_then(|window| window.response_ms.p99);
        let shown = model::numbers::significant(expect.expect("it has times"), 4);
        let rows: Vec<&str> = page.lines().filter(|line| line.contains(" during ")).collect();
        assert_eq!(rows.len(), report.points.len(), "{page}");
        assert!(rows.iter().all(|row| row.contains(&shown)), "{shown}: {page}");
        let none = text(&experiment(&report, &studies::experiment().1, None), &Default::default());
        assert!(!none.contains("recovery"), "{none}");
    }

    #[test]
    fn ages_of_records_are_shares_below_the_three_bounds_for_each_point() {
        let (report, mut trials) = studies::experiment();
        let facts = subjects::with_readers(2).facts;
        let groups = subjects::with_readers(2).groups;
        for trial in &mut trials {
            trial.report.facts = facts.clone();
            trial.report.groups = groups.clone();
        }
        let document = experiment(&report, &trials, None);
        let page = text(&document, &Default::default());
        assert!(page.contains("below 40 ms, %"), "{page}");
        // Readers 0 and 1 have 50 and 60 records: 0 and 10 of them below 40 ms.
        let csv = crate::csv::csv(&document);
        let share = model::numbers::significant(10.0 / 110.0 * 100.0, 4);
        assert!(page.contains(&share), "{share}: {page}\n{csv}");
        let charts = crate::charts::of_experiment(&report, &trials);
        let chart = charts.iter().find(|chart| chart.id == "points-ages").expect("it is drawn");
        assert_eq!(chart.traces.len(), report.points.len());
    }

    #[test]
    fn the_page_of_repeats_has_the_checks_of_the_median_run() {
        let (mut report, trials) = study::fixtures::studies::sweep([1, 2, 4, 8, 16]);
        assert!(super::median_run(&report, &trials).is_empty(), "several points");
        report.points.truncate(1);
        let sections = super::median_run(&report, &trials);
        let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
        assert!(
            titles.iter().any(|title| title.starts_with("Checks, in the median run ")),
            "{titles:?}"
        );
    }
}
