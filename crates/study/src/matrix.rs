//! Tables of a figure by rows and columns, for the points of an experiment or the last builds of a
//! history. They mark the best cell of each line and the smallest value that is as good within the
//! error, or show each cell relative to a reference.
//!
//! Not here: the figures of points (experiment, history), and the layout of tables (render).

mod by_build;

use std::cmp::Ordering;

use analysis::figures::{Figure, better, direction, figure, number};
use analysis::report::Named;
use model::{Axis, Imported, ImportedValue, numbers, short_axis};
use serde::{Deserialize, Serialize};

use crate::comparison::{Judged, Ratio, SidePoint, held_against};
use crate::experiment::{ExperimentReport, PointReport};
use model::Direction;

use crate::history::{BuildReport, HistoryReport, ImportedFrom, OF_LAST, PointHistory};
use crate::trials::{TrialReport, counts};

/// Name and version of the JSON schema of [`Matrices`].
pub const SCHEMA: &str = "dbdyno.matrix/1";

/// Text that stands for the value of a parameter that a series of a history does not have.
pub const NOT_SET: &str = "none";

/// Tables of a figure over two parameters: one table for each combination of the other parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrices {
    /// Name of the schema, [`SCHEMA`].
    pub schema: String,
    pub figure: String,
    /// Unit of the figure, by its name; empty if the name states the unit, as `p99_ms` does.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub units: Named<String>,
    /// The parameter whose values are the rows of the tables.
    pub rows: Axis,
    /// The parameter whose values are the columns; null if the tables have one column.
    pub columns: Option<Axis>,
    /// Direction in which cells are compared to find the best: along the rows or the columns.
    pub along: Along,
    /// The builds over which each cell is a mean, if this is a history; null for an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builds: Option<OfBuilds>,
    /// Row or column by which all others are divided; null if only figures are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<RelativeTo>,
    /// Physical cores of the load generator's machine; null if not known.
    pub cores: Option<u64>,
    pub tables: Vec<Matrix>,
}

/// The builds that each cell of a history's tables averages, such as the last ten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfBuilds {
    /// Name of the run label whose values are the builds, such as `build`.
    pub by: String,
    /// Largest number of builds in each mean: the last ones of each series.
    pub last: usize,
    /// Names and sources of the series that were imported from files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<ImportedFrom>,
    /// True if each build is a row or a column of its own, and the last row or column is their
    /// mean.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub are_shown: bool,
}

/// Row or column whose cells are the reference for the cells of all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelativeTo {
    pub axis: String,
    pub value: String,
    /// Reason why confidence intervals may be too narrow: the repeats were nested, or their number
    /// depended on results. Null if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
}

/// Direction in which the cells of a table are compared with each other to mark the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// Cells of the same column are compared: the best row is marked in each column.
    Rows,
    /// Cells of the same row are compared: the best column is marked in each row.
    Columns,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// The values of the parameters that are neither rows nor columns.
    pub values: Named<String>,
    /// Figures by row, then column; null in a cell without a figure.
    pub cells: Vec<Vec<Option<Figure>>>,
    /// Indices of row and column of each cell that has no figure because a queue of waiting
    /// arrivals became full in its trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_full: Vec<(usize, usize)>,
    pub lines: Vec<Line>,
    /// Ratios to the reference by row and column, if cells are compared with one; null in the
    /// reference cells, and if a figure is missing. Empty if only figures are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<Vec<Option<CellRatio>>>,
}

/// A cell's figure divided by that of its reference cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRatio {
    /// The cell's figure divided by that of the reference cell, with its confidence interval.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// True if runs of the same repeat were compared as pairs; false if all runs of the cell were
    /// compared with all runs of its reference cell.
    pub is_within_repeats: bool,
    /// Reason why the ratio has no confidence interval; null if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// One row or column of a table, in which the best cell is marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The value that all cells of the line have in common, such as `8`; empty if there is only one
    /// line.
    pub of: String,
    /// Index in the line of the best cell; null if there is no figure, all are equal, or neither
    /// direction of the figure is better.
    pub best: Option<usize>,
    /// Index of the smallest value in the line whose confidence interval overlaps that of the best
    /// cell; null if values are not numbers, or the best cell's interval is missing or too wide.
    pub smallest: Option<usize>,
}

/// The tables of one figure: those of an experiment, and those of imported files.
#[derive(Clone, Debug, PartialEq)]
pub struct WithImported {
    pub figure: String,
    /// The experiment's tables; `None` if it lacks the figure or varies nothing.
    pub own: Option<Matrices>,
    /// Tables of imported files, each with its name and source.
    pub imported: Vec<(ImportedFrom, Matrices)>,
}

/// Returns the tables for the page of an experiment: the primary figure if exactly two parameters
/// are varied, and each imported figure. The rows are the axis along which curves are drawn.
pub fn of_page(report: &ExperimentReport) -> Vec<WithImported> {
    let main = report.main_axis();
    let other = (0..report.axes.len()).find(|axis| Some(*axis) != main);
    let axes = [main, other].map(|index| index.map(|index| &report.axes[index]));
    let mut figures: Vec<&str> = Vec::new();
    figures.extend((report.axes.len() == 2).then_some(report.primary.as_str()));
    for figure in report.imported.iter().flat_map(Imported::figures) {
        if !figures.contains(&figure) {
            figures.push(figure);
        }
    }
    let own = |figure: &str| {
        let has_it =
            |point: &PointReport| point.is_queue_full || point.figures.get(figure).is_some();
        let is_measured = report.points.iter().any(has_it);
        let [rows, columns] = axes.map(|axis| axis.map(|axis| axis.name.as_str()));
        let rows = rows.filter(|_| is_measured)?;
        Matrices::of_figure(report, figure, rows, columns).ok()
    };
    let from = |imported: &Imported| ImportedFrom {
        name: imported.name.clone(),
        source: imported.source.clone(),
    };
    let with_imported = |figure: &str| WithImported {
        figure: figure.to_owned(),
        own: own(figure),
        imported: report
            .imported
            .iter()
            .filter_map(|imported| {
                Some((from(imported), Matrices::of_imported(imported, figure, axes)?))
            })
            .collect(),
    };
    let is_any = |tables: &WithImported| tables.own.is_some() || !tables.imported.is_empty();
    figures.into_iter().map(with_imported).filter(is_any).collect()
}

/// A figure at all points (combinations of varied parameters), from which tables are made.
struct Grid {
    figure: String,
    better: Direction,
    axes: Vec<Axis>,
    /// Points with their figures; each has a value for every varied parameter, in the same order.
    points: Vec<(Named<String>, Option<Figure>)>,
    /// Points that have no figure because a queue of waiting arrivals became full in their trials.
    queue_full: Vec<Named<String>>,
}

impl Matrices {
    /// Returns tables of the primary figure, with the named parameters as rows and columns. Without
    /// `columns`, these are the other one of exactly two varied parameters; with more, each table
    /// has one column. An `Err` says that a parameter is not varied, or is named for both.
    pub fn new(
        report: &ExperimentReport,
        rows: &str,
        columns: Option<&str>,
    ) -> Result<Matrices, String> {
        Matrices::of_figure(report, &report.primary, rows, columns)
    }

    /// Returns tables of any figure of the experiment, as [`Matrices::new`] does for the primary
    /// one.
    fn of_figure(
        report: &ExperimentReport,
        figure: &str,
        rows: &str,
        columns: Option<&str>,
    ) -> Result<Matrices, String> {
        let points = report.points.iter();
        let points = points
            .map(|point| (point.values.clone(), point.figures.get(figure).copied()))
            .collect();
        let full = report.points.iter().filter(|point| point.is_queue_full);
        let queue_full = full.map(|point| point.values.clone()).collect();
        let better = match figure == report.primary {
            true => report.better,
            false => direction(figure),
        };
        let (figure, axes) = (figure.to_owned(), report.axes.clone());
        let tables = Grid { figure, better, axes, points, queue_full }.tables(rows, columns)?;
        Ok(Matrices { units: report.units.clone(), cores: report.cores, ..tables })
    }

    /// Returns tables of an imported figure, whose rows and columns are the columns of its file
    /// that match the axes in `own`; if none does, the first one. `None` if the file lacks the
    /// figure.
    fn of_imported(imported: &Imported, figure: &str, own: [Option<&Axis>; 2]) -> Option<Matrices> {
        let grid = Grid::of_imported(imported, figure)?;
        let column = |own: &Axis| {
            let mut names = grid.axes.iter().map(|axis| axis.name.as_str());
            names.find(|name| *name == own.name || *name == short_axis(&own.name))
        };
        let mut shared = own.into_iter().flatten().filter_map(column);
        let rows = shared.next().unwrap_or(&grid.axes[0].name);
        let tables = grid.tables(rows, shared.next()).ok()?;
        let unit = imported.values.iter().find(|value| value.figure == figure)?.unit.clone();
        let units = Some((figure.to_owned(), unit)).filter(|(_, unit)| !unit.is_empty());
        Some(Matrices { units: Named(units.into_iter().collect()), ..tables })
    }

    /// Returns tables of a history: the mean over up to ten last builds of each series, with the
    /// confidence interval from the variation between builds. If rows or columns are the label of
    /// the builds, the cells are the builds themselves.
    pub fn of_history(
        report: &HistoryReport,
        rows: &str,
        columns: Option<&str>,
    ) -> Result<Matrices, String> {
        if rows == report.by || columns == Some(&*report.by) {
            return by_build::of_builds(report, rows, columns);
        }
        let grid = Grid::of_history(report);
        if grid.axes.is_empty() {
            return Err(format!("there is one series by {}: it has no rows", report.by));
        }
        let tables = grid.tables(rows, columns)?;
        let (by, imported) = (report.by.clone(), report.imported.clone());
        let builds = Some(OfBuilds { by, last: OF_LAST, imported, are_shown: false });
        Ok(Matrices { units: report.units.clone(), builds, ..tables })
    }

    /// Adds to each cell its ratio to the cell of `value`, which is one of the columns or else of
    /// the rows. Runs of the same repeat are compared as pairs if they alternated in enough
    /// repeats. An `Err` lists the values to choose from.
    pub fn relative_to(
        mut self,
        report: &ExperimentReport,
        trials: &[TrialReport],
        value: &str,
    ) -> Result<Matrices, String> {
        let place = |axis: &Axis| axis.values.iter().position(|known| known == value);
        let of_columns = self.columns.as_ref().and_then(|axis| Some((axis, place(axis)?)));
        let (axis, base, is_column) = match of_columns {
            Some((axis, base)) => (axis, base, true),
            None => (&self.rows, place(&self.rows).ok_or_else(|| self.no_value(value))?, false),
        };
        let relative_to =
            RelativeTo { axis: axis.name.clone(), value: value.to_owned(), repeats: None };
        let points: Vec<SidePoint> =
            (0..report.points.len()).map(|point| runs_at(trials, point as u32)).collect();
        let at = |table: &Matrix, row: usize, column: usize| {
            let here = self.values_at(table, row, column);
            let is_here = |point: &PointReport| {
                here.iter()
                    .all(|(axis, value)| point.values.get(axis).is_some_and(|known| known == value))
            };
            report.points.iter().position(is_here).map(|index| &points[index])
        };
        let ratio = |table: &Matrix, row: usize, column: usize| {
            let (base_row, base_column) = if is_column { (row, base) } else { (base, column) };
            if (row, column) == (base_row, base_column) {
                return None;
            }
            let (ours, theirs) = (at(table, base_row, base_column)?, at(table, row, column)?);
            let judged: Judged = held_against(&self.figure, ours, theirs);
            let (ratio, why) = (judged.ratio?, judged.why);
            Some(CellRatio { ratio, is_within_repeats: judged.is_within_repeats, why })
        };
        let ratios = |table: &Matrix| -> Vec<Vec<Option<CellRatio>>> {
            let n_columns = |row: usize| 0..table.cells[row].len();
            let row = |row: usize| n_columns(row).map(|column| ratio(table, row, column)).collect();
            (0..table.cells.len()).map(row).collect()
        };
        let all: Vec<Vec<Vec<Option<CellRatio>>>> = self.tables.iter().map(ratios).collect();
        for (table, ratios) in self.tables.iter_mut().zip(all) {
            table.ratios = ratios;
        }
        self.relative_to = Some(relative_to);
        Ok(self)
    }

    fn no_value(&self, value: &str) -> String {
        let values =
            |axis: &Axis| format!("{} ({})", short_axis(&axis.name), axis.values.join(", "));
        let axes: Vec<String> = self.columns.iter().chain([&self.rows]).map(values).collect();
        format!("{value} is not a value of rows or columns: choose one of {}", axes.join(" or "))
    }

    /// Returns the values of all varied parameters for a cell, each with the name of its parameter.
    fn values_at<'m>(
        &'m self,
        table: &'m Matrix,
        row: usize,
        column: usize,
    ) -> Vec<(&'m str, &'m str)> {
        let named_value =
            |axis: &'m Axis, index: usize| (axis.name.as_str(), axis.values[index].as_str());
        let others = table.values.iter().map(|(axis, value)| (axis, value.as_str()));
        let columns = self.columns.as_ref().map(|axis| named_value(axis, column));
        others.chain([named_value(&self.rows, row)]).chain(columns).collect()
    }

    /// Returns the parameter whose values differ between the cells that are compared.
    pub fn axis(&self) -> &Axis {
        match (&self.columns, self.along) {
            (Some(columns), Along::Columns) => columns,
            _ => &self.rows,
        }
    }

    /// Returns a text with the number of physical cores of the load generator's machine; `None` if
    /// not known.
    pub fn cores_in_words(&self) -> Option<String> {
        let cores = self.cores?;
        Some(format!("the generator's machine has {}", numbers::count(cores, "physical core")))
    }
}

impl Grid {
    /// Returns the grid of an imported figure; `None` if the file lacks it. A file without other
    /// columns is one cell.
    fn of_imported(imported: &Imported, figure: &str) -> Option<Grid> {
        let values = imported.values.iter().filter(|value| value.figure == figure);
        let values: Vec<&ImportedValue> = values.collect();
        values.first()?;
        let mut names = imported.columns.clone();
        if names.is_empty() {
            names.push("measured".to_owned());
        }
        let at = |value: &ImportedValue| match &value.at[..] {
            [] => vec![imported.name.clone()],
            at => at.to_vec(),
        };
        let mut axes: Vec<Axis> =
            names.into_iter().map(|name| Axis { name, values: Vec::new() }).collect();
        let mut points = Vec::new();
        for value in values {
            let mut here = Named::default();
            for (axis, at) in axes.iter_mut().zip(at(value)) {
                if !axis.values.contains(&at) {
                    axis.values.push(at.clone());
                }
                here.push(axis.name.clone(), at);
            }
            let (mean, half_width, count) = (value.value, value.half_width, value.count);
            let count = count.unwrap_or(1);
            points.push((here, Some(Figure { mean, half_width, min: mean, max: mean, count })));
        }
        let (figure, better) = (figure.to_owned(), direction(figure));
        Some(Grid { figure, better, axes, points, queue_full: Vec::new() })
    }

    /// Returns the grid of a history's series, with the mean of their last builds. If some series
    /// are imported, their source is a further axis.
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
        // A name without a value in any series distinguishes none.
        let mut axes: Vec<Axis> = Vec::new();
        for (name, value) in report.points.iter().flat_map(|point| at(point).0) {
            if value != NOT_SET && !axes.iter().any(|axis| axis.name == name) {
                axes.push(Axis { name, values: Vec::new() });
            }
        }
        let point = |point: &PointHistory| {
            let values = at(point);
            let of_axis = |axis: &Axis| {
                let value = values.get(&axis.name).map_or(NOT_SET, String::as_str);
                (axis.name.clone(), value.to_owned())
            };
            (Named(axes.iter().map(of_axis).collect()), of_last(point))
        };
        let points: Vec<(Named<String>, Option<Figure>)> =
            report.points.iter().map(point).collect();
        for (axis, (_, value)) in points.iter().flat_map(|(at, _)| at.0.iter().enumerate()) {
            if !axes[axis].values.contains(value) {
                axes[axis].values.push(value.clone());
            }
        }
        let (figure, better) = (report.figure.clone(), report.better);
        Grid { figure, better, axes, points, queue_full: Vec::new() }
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
            relative_to: None,
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
        let line = |common: &str, along: &[String], cells: &[Option<Figure>]| Line {
            of: common.to_owned(),
            best: best(self.better, along, cells),
            smallest: smallest(self.better, along, cells),
        };
        let lines = match along {
            Along::Columns => {
                let rows = of_rows.iter().zip(&cells);
                rows.map(|(row, cells)| line(row, of_columns, cells)).collect()
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
                    of_columns.iter().position(|known| value(at, axis).as_ref() == Some(known))?
                }
                None => 0,
            };
            (others_of(at, rows, columns) == values).then_some((row, column))
        };
        let queue_full = self.queue_full.iter().filter_map(place).collect();
        Matrix { values, cells, queue_full, lines, ratios: Vec::new() }
    }
}

/// Returns the valid runs of the experiment's point with this index, each with the index of its
/// repeat.
fn runs_at(trials: &[TrialReport], point: u32) -> SidePoint {
    let is_here = |trial: &&TrialReport| trial.point == point && counts(&trial.report);
    let mut here: Vec<&TrialReport> = trials.iter().filter(is_here).collect();
    here.sort_by_key(|trial| trial.repeat);
    SidePoint {
        values: Named::default(),
        reports: here.iter().map(|trial| trial.report.clone()).collect(),
        repeats: here.iter().map(|trial| trial.repeat).collect(),
    }
}

/// Returns the last builds of a series, at most ten, without those on an earlier machine or with
/// earlier settings.
fn present(point: &PointHistory) -> &[BuildReport] {
    let start = point.starts.last().map_or(0, |start| start.at);
    &point.builds[start.max(point.builds.len().saturating_sub(OF_LAST))..]
}

/// Returns the mean of a series over its last builds, at most ten, with the error from the
/// variation between builds. For a single build, the error comes from the variation between its
/// runs.
fn of_last(point: &PointHistory) -> Option<Figure> {
    match present(point) {
        [one] => Some(one.figure),
        many => figure(&many.iter().map(|build| build.value).collect::<Vec<f64>>()),
    }
}

/// Returns a point's values of the parameters that are neither rows nor columns.
fn others_of(at: &Named<String>, rows: usize, columns: Option<usize>) -> Named<String> {
    let is_other = |index: usize| index != rows && Some(index) != columns;
    let all = at.0.iter().enumerate();
    Named(all.filter(|(index, _)| is_other(*index)).map(|(_, pair)| pair.clone()).collect())
}

/// Returns the index of the best cell of a line; `None` if there is no cell, all of several are
/// equal, or neither direction is better. Of equally good cells it is the one with the smallest
/// value in `along`, or the first if values are not numbers.
fn best(direction: Direction, along: &[String], cells: &[Option<Figure>]) -> Option<usize> {
    if direction == Direction::Neither {
        return None;
    }
    let known = cells.iter().enumerate().filter_map(|(index, cell)| Some((index, (*cell)?)));
    let mut means = cells.iter().flatten().map(|cell| cell.mean);
    let first = means.next()?;
    if cells.iter().flatten().count() > 1 && means.all(|mean| mean == first) {
        return None;
    }
    let value = |index: usize| along.get(index).and_then(|value| number(value));
    let smaller = |a: usize, b: usize| match (value(a), value(b)) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        _ => Ordering::Equal,
    };
    let order = |a: &(usize, Figure), b: &(usize, Figure)| {
        better(direction, &a.1, &b.1).then_with(|| smaller(a.0, b.0))
    };
    known.rev().max_by(order).map(|(index, _)| index)
}

/// Returns the index of the cell with the smallest value in `along` whose confidence interval
/// overlaps that of the best cell. `None` if there is no best cell, its interval is missing or too
/// wide, or values are not numbers.
fn smallest(direction: Direction, along: &[String], cells: &[Option<Figure>]) -> Option<usize> {
    let index = best(direction, along, cells)?;
    let best = cells[index].filter(|best| best.half_width.is_some() && !best.is_wide())?;
    let values: Vec<f64> = along.iter().map(|value| number(value)).collect::<Option<_>>()?;
    let is_as_good = |cell: Figure| !cell.is_wide() && cell.reaches(&best);
    let reaches = |at: &usize| *at == index || cells[*at].is_some_and(is_as_good);
    (0..cells.len()).filter(reaches).min_by(|a, b| values[*a].total_cmp(&values[*b]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::studies;

    fn figure(mean: f64, half_width: Option<f64>) -> Option<Figure> {
        Some(Figure { mean, half_width, min: mean, max: mean, count: 3 })
    }

    #[test]
    fn the_smallest_as_good_as_the_best_is_reported_by_its_interval() {
        let along = ["16", "8", "4", "2"].map(str::to_owned);
        let check = |name: &str, means: [f64; 4], half: Option<f64>, expect: [Option<usize>; 2]| {
            let cells = means.map(|mean| figure(mean, half));
            let found =
                [best(direction(name), &along, &cells), smallest(direction(name), &along, &cells)];
            assert_eq!(found, expect);
        };
        // Of equal cells the smallest is the best, in whatever order they are.
        check("tps", [100.0, 98.0, 100.0, 50.0], Some(0.1), [Some(2), Some(2)]);
        check("p99_ms", [50.0, 98.0, 95.0, 50.0], None, [Some(3), None]);
        check("tps", [50.0; 4], Some(0.0), [None, None]);
        check("tps", [100.0, 98.0, 95.0, 50.0], Some(2.0), [Some(0), Some(1)]);
        check("tps", [100.0, 98.0, 97.0, 50.0], Some(2.0), [Some(0), Some(2)]);
        check("tps", [90.0, 98.0, 95.0, 50.0], Some(0.1), [Some(1), Some(1)]);
        check("p99_ms", [90.0, 98.0, 95.0, 50.0], Some(0.1), [Some(3), Some(3)]);
        check("tps", [100.0, 98.0, 97.0, 50.0], None, [Some(0), None]);
        check("machine.cpu_user", [100.0, 98.0, 97.0, 50.0], Some(1.0), [None, None]);
        // An interval that contains everything excludes nothing.
        let unknown = [figure(100.0, Some(2.0)), figure(98.0, Some(2.0)), figure(8.0, Some(90.0))];
        assert_eq!(smallest(Direction::Higher, &along[..3], &unknown), Some(1));
        let names = ["a", "b"].map(str::to_owned);
        let cells = [figure(1.0, Some(1.0)), None];
        assert_eq!(
            (best(Direction::Higher, &names, &cells), smallest(Direction::Higher, &names, &cells)),
            (Some(0), None)
        );
        assert_eq!(best(Direction::Higher, &names, &[None, None]), None);
    }

    #[test]
    fn axes_are_rows_and_columns_and_all_points_are_cells() {
        let (report, _) = studies::two_axes();
        let matrices_of = |rows, columns| Matrices::new(&report, rows, columns);
        let by_clients = matrices_of("clients", Some("flush")).expect("both are varied");
        assert_eq!(by_clients, matrices_of("group.users.clients", None).expect("the other one"));
        let [table] = &by_clients.tables[..] else { panic!("there is no other axis") };
        assert_eq!((table.cells.len(), table.cells[0].len(), table.lines.len()), (5, 2, 2));
        let known = table.cells.iter().flatten().filter(|cell| cell.is_some()).count();
        let measured = report.points.iter().filter(|p| p.figures.get(&report.primary).is_some());
        assert_eq!(known, measured.count());
        assert!(table.lines.iter().all(|line| line.best.is_some()));
        let turned = matrices_of("flush", Some("clients")).expect("both are varied");
        assert_eq!(turned.tables[0].cells[1][3], table.cells[3][1]);
        assert!(
            matrices_of("clients", Some("clients"))
                .is_err_and(|why| why.contains("are the same axis"))
        );
        let no = matrices_of("threads", None).expect_err("it is not varied");
        assert_eq!(no, "threads is not varied here: choose one of flush, clients");
    }

    #[test]
    fn a_series_of_a_history_that_lacks_a_name_has_none_of_it() {
        let mut report = studies::history();
        let series = |values: &[(&str, &str)]| {
            let mut point = report.points[0].clone();
            let pair = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
            point.values = Named(values.iter().map(pair).collect());
            point
        };
        let one = series(&[("clients", "1"), ("engine", "none"), ("mode", "wal"), ("size", "9")]);
        let two = series(&[("clients", "2"), ("engine", "none"), ("mode", "wal")]);
        report.points = vec![one, two];
        let all = Matrices::of_history(&report, "clients", Some("mode")).expect("both are named");
        let others = |table: &Matrix| table.values.pairs(", ");
        assert_eq!(all.tables.iter().map(others).collect::<Vec<_>>(), ["size=9", "size=none"]);
        let all = Matrices::of_history(&report, "clients", Some("size")).expect("both are named");
        assert_eq!(all.columns.map(|axis| axis.values), Some(vec!["9".into(), "none".into()]));
        assert!(all.tables[0].cells[1][1].is_some(), "no series is lost");
        let no = Matrices::of_history(&report, "engine", None).expect_err("no series has one");
        assert_eq!(no, "engine is not varied here: choose one of clients, mode, size");
    }

    #[test]
    fn a_cell_whose_trials_a_full_queue_has_ended_says_so() {
        let (mut report, _) = studies::two_axes();
        let values = report.points[1].values.clone();
        let queue_full_in = |report: &ExperimentReport| {
            let all = Matrices::new(report, "clients", Some("flush"));
            all.expect("both are varied").tables.swap_remove(0).queue_full
        };
        assert_eq!(queue_full_in(&report), []);
        (report.points[1].is_queue_full, report.points[1].figures) = (true, Named::default());
        let place = |axis: usize| {
            let value = &values.0[axis].1;
            report.axes[axis].values.iter().position(|known| known == value).expect("a value")
        };
        assert_eq!(queue_full_in(&report), [(place(1), place(0))]);
    }

    #[test]
    fn what_was_measured_elsewhere_has_the_rows_and_columns_of_the_experiment() {
        let (mut report, _) = studies::two_axes();
        let value = |at: &[&str], figure: &str, value: f64| ImportedValue {
            at: at.iter().map(|at| (*at).to_owned()).collect(),
            figure: figure.to_owned(),
            value,
            unit: String::new(),
            half_width: Some(value / 50.0),
            count: Some(10),
            time: None,
        };
        let imported = |columns: &[&str], values: Vec<ImportedValue>| Imported {
            name: "theirs".to_owned(),
            source: "a page".to_owned(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            values,
        };
        let [alone] = &of_page(&report)[..] else { panic!("two axes are varied") };
        let own = alone.own.as_ref().expect("it was measured");
        assert_eq!((own.rows.name.as_str(), alone.imported.len()), ("group.users.clients", 0));
        // The imported file has the columns in another order, and more clients.
        let both = vec![
            value(&["1", "8"], "tps", 99.0),
            value(&["1", "64"], "tps", 100.0),
            value(&["2", "8"], "tps", 200.0),
            value(&["1", "8"], "operations", 9.0),
        ];
        report.imported = vec![
            imported(&["flush", "clients"], both),
            imported(&["system"], vec![value(&["old"], "tps", 7.0)]),
            imported(&[], vec![value(&[], "tps", 5.0)]),
        ];
        let [tps, operations] = &of_page(&report)[..] else { panic!("two figures") };
        let [(from, theirs), (_, level), (_, one)] = &tps.imported[..] else { panic!("{tps:?}") };
        assert_eq!(from.with_source(), "theirs (a page)");
        assert_eq!((theirs.rows.name.as_str(), &theirs.rows.values[1]), ("clients", &"64".into()));
        let [table] = &theirs.tables[..] else { panic!("it has two columns") };
        assert_eq!(table.cells[1][1], None);
        let lines = table.lines.iter().map(|line| (line.best, line.smallest));
        assert_eq!(lines.collect::<Vec<_>>(), [(Some(1), Some(0)), (Some(0), Some(0))]);
        assert_eq!((level.rows.name.as_str(), one.rows.name.as_str()), ("system", "measured"));
        assert_eq!(one.rows.values, ["theirs"]);
        // An imported figure that no run has is shown alone.
        assert_eq!((operations.own.as_ref(), operations.imported.len()), (None, 1));
    }

    #[test]
    fn cells_are_held_against_those_of_a_value() {
        let (report, mut trials) = studies::two_axes();
        let again = trials.clone();
        trials.extend(
            again.into_iter().map(|trial| TrialReport { repeat: trial.repeat + 3, ..trial }),
        );
        let relative = |rows, columns, value: &str| {
            let all = Matrices::new(&report, rows, columns).expect("varied");
            all.relative_to(&report, &trials, value)
        };
        // Clients 1, 2, 4, 8 and 16 as columns: four clients do 3.4 times as much as one.
        let all = relative("flush", Some("clients"), "1").expect("a value of the columns");
        assert_eq!(all.relative_to.as_ref().expect("asked").axis, "group.users.clients");
        for row in &all.tables[0].ratios {
            assert_eq!((row.len(), &row[0]), (5, &None));
            let CellRatio { ratio, .. } = row[2].clone().expect("both are measured");
            let (low, high) = ratio.interval.expect("six runs a side");
            assert!((ratio.value - 3.4).abs() < 0.1 && low <= ratio.value && ratio.value <= high);
        }
        // As rows, the reference is the row of the same value.
        let turned = relative("clients", Some("flush"), "8").expect("a value of the rows");
        let ratios = &turned.tables[0].ratios;
        assert_eq!(ratios[3], [None, None]);
        let two = ratios[1][1].clone().expect("both are measured").ratio.value;
        assert!((two - 190.0 / 450.0).abs() < 0.02, "{two}");
        let no = relative("clients", Some("flush"), "3").expect_err("no such value");
        let expect = "3 is not a value of rows or columns: choose one of flush (1, 2) or clients \
                      (1, 2, 4, 8, 16)";
        assert_eq!(no, expect);
    }

    #[test]
    fn one_axis_is_one_column() {
        let (report, _) = studies::experiment();
        let all = Matrices::new(&report, "clients", None).expect("it is varied");
        assert_eq!((all.columns.clone(), all.tables.len()), (None, 1));
        assert_eq!((all.tables[0].cells.len(), all.tables[0].lines.len()), (5, 1));
    }
}
