//! A figure of an experiment, or of the last builds of a history, as tables of rows and columns:
//! the best of each line, and the smallest value that is as good within the error.
//!
//! Not here: how a point's figure comes about (experiment, history), and how a table looks
//! (render).

use model::{Axis, numbers, short_axis};
use serde::{Deserialize, Serialize};

use crate::experiment::{ExperimentReport, PointReport};
use crate::figures::{Direction, Figure, better, direction, figure, number};
use crate::history::{HistoryReport, ImportedFrom, OF_LAST, PointHistory};
use crate::report::Named;
use crate::trials::{TrialReport, is_settled};

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
    /// Of how many builds a cell is the mean, at most, and by which label; null of an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builds: Option<OfBuilds>,
    /// Physical cores of the generator's machine; null where that is not known.
    pub cores: Option<u64>,
    /// The tables.
    pub tables: Vec<Matrix>,
}

/// What a cell is the mean of in the table of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfBuilds {
    /// The label whose values are the builds.
    pub by: String,
    /// The last so many of each series.
    pub last: usize,
    /// Where the imported series among them come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<ImportedFrom>,
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
    /// Rows and columns, from 0, of cells without a figure whose trials a full queue has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_full: Vec<(usize, usize)>,
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

/// A figure at points of some axes.
struct Grid {
    figure: String,
    axes: Vec<Axis>,
    /// Each with a value of every axis, in their order.
    points: Vec<(Named<String>, Option<Figure>)>,
    /// Those of them that have no figure, since a full queue has ended their trials.
    queue_full: Vec<Named<String>>,
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
        let points = report.points.iter().map(|point| {
            let figure = point.figures.get(&report.primary).copied();
            (point.values.clone(), figure)
        });
        let (figure, points) = (report.primary.clone(), points.collect());
        let is_full = |(index, point): &(usize, &PointReport)| {
            let here = trials.iter().filter(|trial| trial.point as usize == *index);
            point.runs.is_empty() && here.into_iter().any(|trial| is_settled(&trial.report))
        };
        let full = report.points.iter().enumerate().filter(is_full);
        let queue_full = full.map(|(_, point)| point.values.clone()).collect();
        let grid = Grid { figure, axes: report.axes.clone(), points, queue_full };
        let tables = grid.tables(rows, columns)?;
        Ok(Matrices { units: report.units.clone(), cores: cores(trials), ..tables })
    }

    /// The means of the last ten builds of each series of a history, with the interval between
    /// builds, over two of the names that tell series apart.
    pub fn of_history(
        report: &HistoryReport,
        rows: &str,
        columns: Option<&str>,
    ) -> Result<Matrices, String> {
        let grid = Grid::of_history(report);
        if grid.axes.is_empty() {
            return Err(format!("there is one series by {}: it has no rows", report.by));
        }
        let tables = grid.tables(rows, columns)?;
        let (by, imported) = (report.by.clone(), report.imported.clone());
        let builds = Some(OfBuilds { by, last: OF_LAST, imported });
        Ok(Matrices { units: report.units.clone(), builds, ..tables })
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

impl Grid {
    /// The last builds of the series of a history, at their points. Where some are imported and
    /// others are not, or from elsewhere, that is an axis too.
    fn of_history(report: &HistoryReport) -> Grid {
        let mut from: Vec<&Option<String>> = Vec::new();
        for point in &report.points {
            if !from.contains(&&point.imported) {
                from.push(&point.imported);
            }
        }
        let at = |point: &PointHistory| -> Named<String> {
            let mut values = point.values.clone();
            if from.len() > 1 {
                let name = point.imported.clone().unwrap_or_else(|| "runs".to_owned());
                values.push("measured", name);
            }
            values
        };
        let mut axes: Vec<Axis> = Vec::new();
        for (name, value) in report.points.iter().flat_map(|point| at(point).0) {
            let place = axes.iter().position(|axis| axis.name == name).unwrap_or_else(|| {
                axes.push(Axis { name, values: Vec::new() });
                axes.len() - 1
            });
            if !axes[place].values.contains(&value) {
                axes[place].values.push(value);
            }
        }
        let point = |point: &PointHistory| {
            let values = at(point);
            let of_axis = |axis: &Axis| {
                (axis.name.clone(), values.get(&axis.name).cloned().unwrap_or_default())
            };
            (Named(axes.iter().map(of_axis).collect()), of_last(point))
        };
        let points = report.points.iter().map(point).collect();
        Grid { figure: report.figure.clone(), axes, points, queue_full: Vec::new() }
    }

    fn tables(&self, rows: &str, columns: Option<&str>) -> Result<Matrices, String> {
        let rows = self.index_of(rows)?;
        let columns = match columns {
            Some(name) => Some(self.index_of(name)?),
            None if self.axes.len() == 2 => Some(1 - rows),
            None => None,
        };
        if columns == Some(rows) {
            return Err("rows and columns are the same axis: name another one".to_owned());
        }
        let axis = |index: usize| &self.axes[index];
        let is_of_numbers =
            |index: usize| axis(index).values.iter().all(|value| number(value).is_some());
        let along = match columns {
            Some(columns) if is_of_numbers(columns) && !is_of_numbers(rows) => Along::Columns,
            _ => Along::Rows,
        };
        let mut others: Vec<Named<String>> = Vec::new();
        for (at, _) in &self.points {
            let values = others_of(at, rows, columns);
            if !others.contains(&values) {
                others.push(values);
            }
        }
        let table = |values| self.table(rows, columns, along, values);
        Ok(Matrices {
            schema: SCHEMA.to_owned(),
            figure: self.figure.clone(),
            units: Named::default(),
            rows: axis(rows).clone(),
            columns: columns.map(|columns| axis(columns).clone()),
            along,
            builds: None,
            cores: None,
            tables: others.into_iter().map(table).collect(),
        })
    }

    fn index_of(&self, name: &str) -> Result<usize, String> {
        let is_it = |axis: &Axis| axis.name == name || short_axis(&axis.name) == name;
        self.axes.iter().position(is_it).ok_or_else(|| {
            let names: Vec<&str> = self.axes.iter().map(|axis| short_axis(&axis.name)).collect();
            format!("{name} is not varied here: choose one of {}", names.join(", "))
        })
    }

    fn table(
        &self,
        rows: usize,
        columns: Option<usize>,
        along: Along,
        values: Named<String>,
    ) -> Matrix {
        let of_columns: &[String] = columns.map_or(&[], |columns| &self.axes[columns].values);
        let of_rows = &self.axes[rows].values;
        let value = |at: &Named<String>, axis: usize| at.0.get(axis).map(|(_, v)| v.clone());
        let cell = |row: &String, column: Option<&String>| -> Option<Figure> {
            let is_here = |(at, _): &&(Named<String>, Option<Figure>)| {
                let at_column = columns.is_none_or(|axis| value(at, axis).as_ref() == column);
                value(at, rows).as_ref() == Some(row)
                    && at_column
                    && others_of(at, rows, columns) == values
            };
            self.points.iter().find(is_here)?.1
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
            best: best(&self.figure, cells),
            smallest: smallest(&self.figure, along, cells),
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
        let place = |at: &Named<String>| {
            let row = of_rows.iter().position(|row| value(at, rows).as_ref() == Some(row))?;
            let column = match columns {
                Some(axis) => {
                    of_columns.iter().position(|of| value(at, axis).as_ref() == Some(of))?
                }
                None => 0,
            };
            (others_of(at, rows, columns) == values).then_some((row, column))
        };
        let queue_full = self.queue_full.iter().filter_map(place).collect();
        Matrix { values, cells, queue_full, lines }
    }
}

/// The figure over the last builds of a series; of a single one that of its runs.
fn of_last(point: &PointHistory) -> Option<Figure> {
    let start = point.starts.last().map_or(0, |start| start.at);
    let present = &point.builds[start.max(point.builds.len().saturating_sub(OF_LAST))..];
    match present {
        [one] => Some(one.figure),
        many => figure(&many.iter().map(|build| build.value).collect::<Vec<f64>>()),
    }
}

/// What a point has on the axes that are neither.
fn others_of(at: &Named<String>, rows: usize, columns: Option<usize>) -> Named<String> {
    let is_other = |index: usize| index != rows && Some(index) != columns;
    let all = at.0.iter().enumerate();
    Named(all.filter(|(index, _)| is_other(*index)).map(|(_, pair)| pair.clone()).collect())
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
    fn the_smallest_as_good_as_the_best_is_reported_by_its_interval() {
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
    fn a_cell_whose_trials_a_full_queue_has_ended_says_so() {
        let (mut report, mut trials) = subjects::two_axes();
        let (values, runs) = (report.points[1].values.clone(), report.points[1].runs.clone());
        assert!(!runs.is_empty());
        report.points[1].runs.clear();
        report.points[1].figures = Named::default();
        let of = |report: &ExperimentReport, trials: &[TrialReport]| {
            let all = Matrices::new(report, trials, "clients", Some("flush"));
            all.expect("both are varied").tables.swap_remove(0).queue_full
        };
        assert_eq!(of(&report, &trials), []);
        trials.iter_mut().filter(|trial| trial.point == 1).for_each(|trial| {
            trial.report.status = crate::report::Status::QueueFull;
        });
        let place = |axis: usize| {
            let value = &values.0[axis].1;
            report.axes[axis].values.iter().position(|known| known == value).expect("a value")
        };
        assert_eq!(of(&report, &trials), [(place(1), place(0))]);
        // One that counts has a figure.
        report.points[1].runs = runs;
        assert_eq!(of(&report, &trials), []);
    }

    #[test]
    fn one_axis_is_one_column() {
        let (report, trials) = subjects::experiment();
        let all = Matrices::new(&report, &trials, "clients", None).expect("it is varied");
        assert_eq!((all.columns.clone(), all.tables.len()), (None, 1));
        assert_eq!((all.tables[0].cells.len(), all.tables[0].lines.len()), (5, 1));
    }
}
