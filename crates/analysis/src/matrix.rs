//! A figure of an experiment as tables of rows and columns: the best of each line, and the smallest
//! value that is as good within the error.
//!
//! Not here: how a point's figure comes about (experiment), and how a table looks (render).

use model::{Axis, numbers, short_axis};
use serde::{Deserialize, Serialize};

use crate::experiment::{ExperimentReport, PointReport};
use crate::figures::{Direction, Figure, better, direction, number};
use crate::report::Named;
use crate::trials::TrialReport;

/// The schema of [`Matrices`].
pub const SCHEMA: &str = "dbdyno.matrix/1";

/// A figure over two axes: a table for each combination of the others' values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrices {
    /// [`SCHEMA`].
    pub schema: String,
    /// The figure.
    pub figure: String,
    /// Its unit, by its name, where the name does not tell it.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub units: Named<String>,
    /// The axis whose values are the rows.
    pub rows: Axis,
    /// The axis whose values are the columns; null where there is one column.
    pub columns: Option<Axis>,
    /// What a line of cells goes along, in which one is the best.
    pub along: Along,
    /// Physical cores of the generator's machine; null where that is not known.
    pub cores: Option<u64>,
    /// The tables.
    pub tables: Vec<Matrix>,
}

/// Which way lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// A column is a line, along the values of the rows.
    Rows,
    /// A row is a line, along the values of the columns.
    Columns,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// The values of the other axes.
    pub values: Named<String>,
    /// By row and column; null where no figure was measured.
    pub cells: Vec<Vec<Option<Figure>>>,
    /// Of each line.
    pub lines: Vec<Line>,
}

/// A line of cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The value of the other direction; empty where there is one line.
    pub of: String,
    /// Where the best cell is, from 0; null where the line has none, or neither more nor less of
    /// the figure is better.
    pub best: Option<usize>,
    /// Where the smallest value of the axis is whose interval reaches that of the best; null where
    /// values are no numbers, or the best has no interval.
    pub smallest: Option<usize>,
}

impl Matrices {
    /// The report's primary figure over two of its axes; the other one if only two are varied and
    /// the columns are not named. An `Err` says which axes there are.
    pub fn new(
        report: &ExperimentReport,
        trials: &[TrialReport],
        rows: &str,
        columns: Option<&str>,
    ) -> Result<Matrices, String> {
        let rows = index_of(report, rows)?;
        let columns = match columns {
            Some(name) => Some(index_of(report, name)?),
            None if report.axes.len() == 2 => Some(1 - rows),
            None => None,
        };
        if columns == Some(rows) {
            return Err("rows and columns are the same axis: name another one".to_owned());
        }
        let axis = |index: usize| &report.axes[index];
        let is_of_numbers =
            |index: usize| axis(index).values.iter().all(|value| number(value).is_some());
        let along = match columns {
            Some(columns) if is_of_numbers(columns) && !is_of_numbers(rows) => Along::Columns,
            _ => Along::Rows,
        };
        let mut others: Vec<Named<String>> = Vec::new();
        for point in &report.points {
            let values = others_of(point, rows, columns);
            if !others.contains(&values) {
                others.push(values);
            }
        }
        let table = |values| matrix(report, rows, columns, along, values);
        Ok(Matrices {
            schema: SCHEMA.to_owned(),
            figure: report.primary.clone(),
            units: report.units.clone(),
            rows: axis(rows).clone(),
            columns: columns.map(|columns| axis(columns).clone()),
            along,
            cores: cores(trials),
            tables: others.into_iter().map(table).collect(),
        })
    }

    /// The axis that a line goes along.
    pub fn axis(&self) -> &Axis {
        match (&self.columns, self.along) {
            (Some(columns), Along::Columns) => columns,
            _ => &self.rows,
        }
    }

    /// The physical cores, in words.
    pub fn cores_in_words(&self) -> Option<String> {
        let cores = self.cores?;
        Some(format!("the generator's machine has {}", numbers::count(cores, "physical core")))
    }
}

fn index_of(report: &ExperimentReport, name: &str) -> Result<usize, String> {
    let is_it = |axis: &Axis| axis.name == name || short_axis(&axis.name) == name;
    report.axes.iter().position(is_it).ok_or_else(|| {
        let names: Vec<&str> = report.axes.iter().map(|axis| short_axis(&axis.name)).collect();
        format!("{name} is not varied here: choose one of {}", names.join(", "))
    })
}

/// What a point has on the axes that are neither.
fn others_of(point: &PointReport, rows: usize, columns: Option<usize>) -> Named<String> {
    let is_other = |index: usize| index != rows && Some(index) != columns;
    let all = point.values.0.iter().enumerate();
    Named(all.filter(|(index, _)| is_other(*index)).map(|(_, pair)| pair.clone()).collect())
}

fn matrix(
    report: &ExperimentReport,
    rows: usize,
    columns: Option<usize>,
    along: Along,
    values: Named<String>,
) -> Matrix {
    let of_columns: &[String] = columns.map_or(&[], |columns| &report.axes[columns].values);
    let of_rows = &report.axes[rows].values;
    let value = |point: &PointReport, axis: usize| point.values.0.get(axis).map(|(_, v)| v.clone());
    let cell = |row: &String, column: Option<&String>| -> Option<Figure> {
        let is_here = |point: &&PointReport| {
            let at_column = columns.is_none_or(|axis| value(point, axis).as_ref() == column);
            value(point, rows).as_ref() == Some(row)
                && at_column
                && others_of(point, rows, columns) == values
        };
        report.points.iter().find(is_here)?.figures.get(&report.primary).copied()
    };
    let cells: Vec<Vec<Option<Figure>>> = of_rows
        .iter()
        .map(|row| match columns {
            Some(_) => of_columns.iter().map(|column| cell(row, Some(column))).collect(),
            None => vec![cell(row, None)],
        })
        .collect();
    let line = |of: &str, along: &[String], cells: &[Option<Figure>]| Line {
        of: of.to_owned(),
        best: best(&report.primary, cells),
        smallest: smallest(&report.primary, along, cells),
    };
    let lines = match along {
        Along::Columns => {
            let rows = of_rows.iter().zip(&cells);
            rows.map(|(of, cells)| line(of, of_columns, cells)).collect()
        }
        Along::Rows => {
            let n_columns = cells.first().map_or(0, Vec::len);
            let column = |index: usize| cells.iter().map(|row| row[index]).collect::<Vec<_>>();
            let name = |index: usize| of_columns.get(index).map_or("", String::as_str);
            (0..n_columns).map(|index| line(name(index), of_rows, &column(index))).collect()
        }
    };
    Matrix { values, cells, lines }
}

/// The best cell, of equal ones the first.
fn best(figure: &str, cells: &[Option<Figure>]) -> Option<usize> {
    if direction(figure) == Direction::Neither {
        return None;
    }
    let known = cells.iter().enumerate().filter_map(|(index, cell)| Some((index, (*cell)?)));
    known.rev().max_by(|a, b| better(figure, &a.1, &b.1)).map(|(index, _)| index)
}

/// The cell with the smallest value of its axis among the best and those that reach it.
fn smallest(figure: &str, along: &[String], cells: &[Option<Figure>]) -> Option<usize> {
    let index = best(figure, cells)?;
    let best = cells[index].filter(|best| best.half_width.is_some())?;
    let values: Vec<f64> = along.iter().map(|value| number(value)).collect::<Option<_>>()?;
    let reaches = |at: &usize| *at == index || cells[*at].is_some_and(|cell| cell.reaches(&best));
    (0..cells.len()).filter(reaches).min_by(|a, b| values[*a].total_cmp(&values[*b]))
}

/// Physical cores, as the first trial has found them.
fn cores(trials: &[TrialReport]) -> Option<u64> {
    let facts = trials.iter().filter_map(|trial| trial.report.facts.get("cpu"));
    facts.filter_map(|cpu| cpu.get("cores")?.count()).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::subjects;

    fn figure(mean: f64, half_width: Option<f64>) -> Option<Figure> {
        Some(Figure { mean, half_width, min: mean, max: mean, count: 3 })
    }

    #[test]
    fn the_smallest_as_good_as_the_best_is_told_by_its_interval() {
        let along = ["16", "8", "4", "2"].map(str::to_owned);
        let check = |name: &str, means: [f64; 4], half: Option<f64>, expect: [Option<usize>; 2]| {
            let cells = means.map(|mean| figure(mean, half));
            assert_eq!([best(name, &cells), smallest(name, &along, &cells)], expect);
        };
        check("tps", [100.0, 98.0, 95.0, 50.0], Some(2.0), [Some(0), Some(1)]);
        check("tps", [100.0, 98.0, 97.0, 50.0], Some(2.0), [Some(0), Some(2)]);
        check("tps", [90.0, 98.0, 95.0, 50.0], Some(0.1), [Some(1), Some(1)]);
        check("p99_ms", [90.0, 98.0, 95.0, 50.0], Some(0.1), [Some(3), Some(3)]);
        check("tps", [100.0, 98.0, 97.0, 50.0], None, [Some(0), None]);
        check("machine.cpu_user", [100.0, 98.0, 97.0, 50.0], Some(1.0), [None, None]);
        let names = ["a", "b"].map(str::to_owned);
        let cells = [figure(1.0, Some(1.0)), None];
        assert_eq!((best("tps", &cells), smallest("tps", &names, &cells)), (Some(0), None));
        assert_eq!(best("tps", &[None, None]), None);
    }

    #[test]
    fn axes_are_rows_and_columns_and_all_points_are_cells() {
        let (report, trials) = subjects::two_axes();
        let of = |rows, columns| Matrices::new(&report, &trials, rows, columns);
        let by_clients = of("clients", Some("flush")).expect("both are varied");
        assert_eq!(by_clients, of("group.users.clients", None).expect("the other one"));
        let [table] = &by_clients.tables[..] else { panic!("there is no other axis") };
        assert_eq!((table.cells.len(), table.cells[0].len(), table.lines.len()), (5, 2, 2));
        let known = table.cells.iter().flatten().filter(|cell| cell.is_some()).count();
        let measured = report.points.iter().filter(|p| p.figures.get(&report.primary).is_some());
        assert_eq!(known, measured.count());
        assert!(table.lines.iter().all(|line| line.best.is_some()));
        let turned = of("flush", Some("clients")).expect("both are varied");
        assert_eq!(turned.tables[0].cells[1][3], table.cells[3][1]);
        assert!(of("clients", Some("clients")).is_err_and(|why| why.contains("are the same axis")));
        let no = of("threads", None).expect_err("it is not varied");
        assert_eq!(no, "threads is not varied here: choose one of flush, clients");
    }

    #[test]
    fn one_axis_is_one_column() {
        let (report, trials) = subjects::experiment();
        let all = Matrices::new(&report, &trials, "clients", None).expect("it is varied");
        assert_eq!((all.columns.clone(), all.tables.len()), (None, 1));
        assert_eq!((all.tables[0].cells.len(), all.tables[0].lines.len()), (5, 1));
    }
}
