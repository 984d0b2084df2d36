//! Tables of a history with its builds as rows or columns, followed by the mean over the last
//! builds. Each combination of the other parameters has its own table.
//!
//! Not here: tables of means over other parameters (matrix).

use analysis::figures::{Figure, number};
use analysis::report::Named;
use model::Axis;

use super::{Along, Grid, Line, Matrices, Matrix, OfBuilds, others_of, present};
use crate::history::{HistoryReport, OF_LAST};

/// Returns the tables of a history with builds as rows or columns. If no columns are named, they
/// are the last parameter with a value that is no number, or else the last parameter. An `Err` says
/// that a named parameter is not varied, or named twice.
pub(super) fn of_builds(
    report: &HistoryReport,
    rows: &str,
    columns: Option<&str>,
) -> Result<Matrices, String> {
    let means = Grid::of_history(report);
    let is_words = |axis: &&Axis| !axis.values.iter().all(|value| number(value).is_some());
    let in_words = means.axes.iter().rev().find(is_words).or(means.axes.last());
    let columns = columns.or(in_words.map(|axis| axis.name.as_str()));
    let mut tables = with_builds(report, &means).tables(rows, columns)?;
    let name = mean_name(report);
    let is_of_rows = tables.rows.name == report.by;
    let axis = if is_of_rows { Some(&mut tables.rows) } else { tables.columns.as_mut() };
    axis.into_iter().for_each(|axis| axis.values.push(name.clone()));
    let other = if is_of_rows { tables.columns.clone() } else { Some(tables.rows.clone()) };
    let along = match tables.along {
        Along::Rows => tables.columns.as_ref().map_or(&[][..], |axis| &axis.values),
        Along::Columns => &tables.rows.values,
    };
    // Builds are not options to choose from: none is the best.
    let line = |value: &String| Line { of: value.clone(), best: None, smallest: None };
    for table in &mut tables.tables {
        add_means(table, &means, other.as_ref(), is_of_rows);
        table.lines = along.iter().map(line).collect();
    }
    let (by, imported) = (report.by.clone(), report.imported.clone());
    let builds = Some(OfBuilds { by, last: OF_LAST, imported, are_shown: true });
    Ok(Matrices { units: report.units.clone(), builds, ..tables })
}

/// Returns the figures of the last builds of each series, with the build as an additional last
/// axis.
fn with_builds(report: &HistoryReport, means: &Grid) -> Grid {
    let mut builds: Vec<String> = Vec::new();
    let mut points = Vec::new();
    for (series, (at, _)) in report.points.iter().zip(&means.points) {
        let mut before = None;
        for one in present(series) {
            let known = builds.iter().position(|build| *build == one.build);
            // Between its neighbours in its own series.
            let place = known.unwrap_or_else(|| {
                let place = before.map_or(0, |before: usize| before + 1);
                builds.insert(place, one.build.clone());
                place
            });
            before = Some(place);
            let mut here = at.clone();
            here.push(report.by.clone(), one.build.clone());
            points.push((here, Some(one.figure)));
        }
    }
    let mut axes = means.axes.clone();
    axes.push(Axis { name: report.by.clone(), values: builds });
    let (figure, better) = (means.figure.clone(), means.better);
    Grid { figure, better, axes, points, queue_full: Vec::new() }
}

/// Returns the name of the row or column of means: `mean of 10`, or `mean of up to 10` if series
/// differ in length.
fn mean_name(report: &HistoryReport) -> String {
    let mut counts: Vec<usize> = report.points.iter().map(|point| present(point).len()).collect();
    counts.sort_unstable();
    counts.dedup();
    match counts[..] {
        [one] => format!("mean of {one}"),
        _ => format!("mean of up to {OF_LAST}"),
    }
}

/// Adds a last row (`is_of_rows`) or column to a table, with the mean of each series over its
/// builds.
fn add_means(table: &mut Matrix, means: &Grid, other: Option<&Axis>, is_of_rows: bool) {
    let axis = other.and_then(|wanted| means.axes.iter().position(|axis| axis.name == wanted.name));
    let value = |at: &Named<String>| axis.and_then(|axis| at.0.get(axis).map(|(_, v)| v.clone()));
    let mean = |wanted: Option<&String>| -> Option<Figure> {
        let is_here = |(at, _): &&(Named<String>, Option<Figure>)| {
            let others = match axis {
                Some(axis) => others_of(at, axis, None),
                None => at.clone(),
            };
            value(at).as_ref() == wanted && others == table.values
        };
        means.points.iter().find(is_here)?.1
    };
    let values = other.filter(|_| axis.is_some()).map_or(&[][..], |axis| &axis.values);
    let of_values: Vec<Option<Figure>> = match values {
        [] => vec![mean(None)],
        values => values.iter().map(|value| mean(Some(value))).collect(),
    };
    match is_of_rows {
        true => table.cells.push(of_values),
        false => table.cells.iter_mut().zip(of_values).for_each(|(row, mean)| row.push(mean)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::studies;
    use crate::history::{BuildReport, PointHistory};

    /// Makes a history of two scenarios and two numbers of writers, whose series have different
    /// builds.
    fn history() -> HistoryReport {
        let mut report = studies::history();
        let first = report.points[0].clone();
        let one = |writers: &str, scenario: &str, builds: &[(&str, f64)]| -> PointHistory {
            let mut point = first.clone();
            let pairs = [("writers", writers), ("scenario", scenario)];
            let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
            point.values = Named(pairs.map(pair).to_vec());
            let build = |(name, mean): &(&str, f64)| {
                let known = BuildReport { build: (*name).to_owned(), ..first.builds[0].clone() };
                let figure =
                    Figure { mean: *mean, half_width: None, min: *mean, max: *mean, count: 1 };
                BuildReport { figure, value: *mean, ..known }
            };
            (point.builds, point.starts) = (builds.iter().map(build).collect(), Vec::new());
            point
        };
        report.by = "version".to_owned();
        report.points = vec![
            one("1", "simple", &[("1.0", 10.0), ("1.1", 14.0)]),
            one("1", "metrics", &[("1.0", 5.0), ("1.1", 7.0)]),
            one("4", "simple", &[("1.0", 40.0), ("1.0.5", 44.0), ("1.1", 48.0)]),
        ];
        report
    }

    fn means(table: &Matrix) -> Vec<Vec<Option<f64>>> {
        let row = |row: &Vec<Option<Figure>>| {
            row.iter().map(|cell| cell.map(|figure| figure.mean)).collect()
        };
        table.cells.iter().map(row).collect()
    }

    #[test]
    fn each_number_of_writers_has_a_table_of_builds_by_scenario_that_ends_with_the_mean() {
        let all = Matrices::of_history(&history(), "version", None).expect("builds are rows");
        let rows = ["1.0", "1.0.5", "1.1", "mean of up to 10"].map(str::to_owned);
        assert_eq!(all.rows.values, rows);
        let columns = all.columns.as_ref().map(|axis| axis.values.clone());
        assert_eq!(columns, Some(vec!["simple".to_owned(), "metrics".to_owned()]));
        let [one, four] = &all.tables[..] else { panic!("two numbers of writers: {all:?}") };
        assert_eq!(
            (one.values.pairs(" "), four.values.pairs(" ")),
            ("writers=1".into(), "writers=4".into())
        );
        let expect = [
            vec![Some(10.0), Some(5.0)],
            vec![None, None],
            vec![Some(14.0), Some(7.0)],
            vec![Some(12.0), Some(6.0)],
        ];
        assert_eq!(means(one), expect);
        assert_eq!(means(four)[3], [Some(44.0), None]);
        assert!(one.lines.iter().all(|line| line.best.is_none()), "{one:?}");
    }

    #[test]
    fn builds_may_be_columns_and_one_series_has_one() {
        let report = history();
        let all = Matrices::of_history(&report, "writers", Some("version")).expect("columns");
        let columns = all.columns.as_ref().map(|axis| axis.values.len());
        assert_eq!((columns, all.tables.len()), (Some(4), 2));
        assert_eq!(all.tables[0].lines.len(), if all.along == Along::Rows { 4 } else { 2 });
        assert_eq!(means(&all.tables[0])[1], [Some(40.0), Some(44.0), Some(48.0), Some(44.0)]);
        let mut one = report;
        one.points.truncate(1);
        one.points[0].values = Named::default();
        let all = Matrices::of_history(&one, "version", None).expect("rows");
        assert_eq!(all.rows.values[2], "mean of 2");
        assert_eq!(means(&all.tables[0]), [vec![Some(10.0)], vec![Some(14.0)], vec![Some(12.0)]]);
    }
}
