//! A figure over rows and columns as a page: the best of each line has a star. Programs read the
//! same rows and columns, as bare numbers.
//!
//! Not here: which cell that is (analysis).

use analysis::figures::{Figure, title, unit};
use analysis::matrix::{Along, Line, Matrices, Matrix, OfBuilds};
use model::numbers::NONE;
use model::{Axis, short_axis};

use crate::document::{Block, Document};
use crate::experiment::shown;
use crate::{Align, Cell, Column, Table};

/// The tables, each with where it is as good as at the best.
pub fn matrices(all: &Matrices) -> Document {
    let part = |table: &Matrix| {
        let as_good = table.lines.iter().filter_map(|line| as_good(all, line));
        let blocks = vec![Block::Table(grid(all, table)), Block::paragraphs(as_good)];
        Block::Part(table.values.pairs(", "), blocks)
    };
    let name = name(all);
    let tables = Block::Part(name.clone(), all.tables.iter().map(part).collect());
    let legend = Block::Part(String::new(), vec![Block::paragraphs(legend(all))]);
    let kind = match all.builds {
        None => "Table of an experiment",
        Some(_) => "Table of a history",
    };
    let mut page = Document::new(kind, name);
    let of_builds = Block::paragraphs(all.builds.as_ref().map(of_builds).unwrap_or_default());
    page.section("matrix", "", vec![tables, Block::Part(String::new(), vec![of_builds]), legend]);
    page
}

/// `reads (1/s) over clients and target`.
fn name(all: &Matrices) -> String {
    let unit = all.units.get(&all.figure).map_or(unit(&all.figure), String::as_str);
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let columns = all.columns.as_ref();
    let over = columns.map_or_else(String::new, |of| format!(" and {}", short_axis(&of.name)));
    format!("{}{unit} over {}{over}", title(&all.figure), short_axis(&all.rows.name))
}

/// What a cell of a history is, and where it comes from, in sentences.
fn of_builds(of: &OfBuilds) -> Vec<String> {
    let cells = format!("Means of the last {} builds by {}, with 95 % intervals.", of.last, of.by);
    let imported = of.imported.iter().map(|from| format!("Imported: {}.", from.with_source()));
    [cells].into_iter().chain(imported).collect()
}

/// What a star says, where there is one.
fn legend(all: &Matrices) -> Option<String> {
    let has_best = all.tables.iter().flat_map(|table| &table.lines).any(|of| of.best.is_some());
    let way = if all.along == Along::Rows { "column" } else { "row" };
    let cores = all.cores_in_words().map_or_else(String::new, |cores| format!("; {cores}"));
    has_best.then(|| format!("* the best of its {way}{cores}"))
}

/// The values of an axis as people tell them apart: of targets the options in which they differ.
fn names(axis: &Axis) -> Vec<String> {
    let options = |value: &str| -> Vec<String> {
        let of = value.split_once('?').map_or("", |(_, options)| options);
        of.split('&').filter(|option| !option.is_empty()).map(str::to_owned).collect()
    };
    let all: Vec<(&str, Vec<String>)> = axis
        .values
        .iter()
        .map(|value| (value.split('?').next().unwrap_or(value), options(value)))
        .collect();
    let is_common = |option: &String| all.iter().all(|(_, options)| options.contains(option));
    let is_one = all.len() > 1 && all.iter().all(|(base, _)| *base == all[0].0);
    let short = |(base, options): &(&str, Vec<String>)| {
        let kept: Vec<&str> =
            options.iter().filter(|option| !is_common(option)).map(String::as_str).collect();
        match (is_one, kept.is_empty()) {
            (true, false) => kept.join("&"),
            (_, true) => (*base).to_owned(),
            (false, false) => format!("{base}?{}", kept.join("&")),
        }
    };
    match short_axis(&axis.name) {
        "target" if all.len() > 1 => all.iter().map(short).collect(),
        _ => axis.values.clone(),
    }
}

/// What a value of an axis is called.
fn name_of(axis: &Axis, value: &str) -> String {
    let at = axis.values.iter().position(|known| known == value);
    at.map_or_else(|| value.to_owned(), |at| names(axis).swap_remove(at))
}

fn grid(all: &Matrices, table: &Matrix) -> Table {
    let mut columns: Vec<Column> =
        table.values.iter().map(|(axis, _)| Column::data(axis.to_owned())).collect();
    let rows = &all.rows.name;
    columns.push(Column::data(rows.clone()));
    columns.push(Column::new(short_axis(rows).to_owned(), Align::Right));
    let number = |title: String, key: &str| Column::new(title, Align::Right).key(key.to_owned());
    match &all.columns {
        Some(axis) => {
            let named = names(axis).into_iter().zip(&axis.values);
            columns.extend(named.map(|(name, value)| number(name, value)));
        }
        None => columns.push(number(title(&all.figure), &all.figure)),
    }
    let mut grid = Table::new(columns);
    for (row, (value, cells)) in all.rows.values.iter().zip(&table.cells).enumerate() {
        let is_best = |column: usize| match all.along {
            Along::Rows => table.lines[column].best == Some(row),
            Along::Columns => table.lines[row].best == Some(column),
        };
        let cell = |(column, figure): (usize, &Option<Figure>)| {
            let is_full = table.queue_full.contains(&(row, column));
            let none = || if is_full { "queue full" } else { NONE }.to_owned();
            let shown = figure.as_ref().map_or_else(none, shown);
            let star = if is_best(column) { " *" } else { "  " };
            Cell::said(shown + star, figure.map(|figure| figure.mean))
        };
        let others = table.values.iter().map(|(_, value)| Cell::from(value.as_str()));
        let cells = cells.iter().enumerate().map(cell);
        let named = [value.as_str().into(), name_of(&all.rows, value).into()];
        grid.row(others.chain(named).chain(cells));
    }
    grid
}

/// Where a line is as good with less, if that is anywhere else than at its best.
fn as_good(all: &Matrices, line: &Line) -> Option<String> {
    let (best, smallest) = (line.best?, line.smallest?);
    let axis = all.axis();
    let name = short_axis(&axis.name);
    let other = if all.along == Along::Rows { all.columns.as_ref() } else { Some(&all.rows) };
    let of = other.map_or_else(String::new, |other| format!("{}: ", name_of(other, &line.of)));
    let (at, of_best) = (name_of(axis, &axis.values[smallest]), name_of(axis, &axis.values[best]));
    Some(match best == smallest {
        true => format!("{of}the best at {name} {at}, and nothing smaller within the error"),
        false => format!("{of}as good within the error from {name} {at}; the best at {of_best}"),
    })
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::subjects;

    use super::*;

    #[test]
    fn the_best_of_each_column_has_a_star_and_the_cores_stand_below() {
        let (report, trials) = subjects::two_axes();
        let all = Matrices::new(&report, &trials, "clients", None).expect("both are varied");
        let page = matrices(&Matrices { cores: Some(4), ..all });
        let csv = crate::csv::csv(&page);
        let page = crate::terminal::text(&page, &Default::default());
        assert_eq!(page.matches(" *").count(), 2, "{page}");
        assert!(page.contains(" over clients and flush\n"), "{page}");
        let foot = "* the best of its column; the generator's machine has 4 physical cores\n";
        assert!(page.ends_with(foot), "{page}");
        assert!(page.contains("1: ") && page.contains("2: "), "{page}");
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!((rows.len(), rows[0]), (6, "group.users.clients,1,2"), "{csv}");
        let is_bare = |row: &&str| row.split(',').all(|cell| cell.parse::<f64>().is_ok());
        assert!(rows[1..].iter().all(is_bare), "{csv}");
    }

    #[test]
    fn axes_that_are_neither_rows_nor_columns_are_columns_of_csv() {
        let (report, trials) = subjects::two_axes();
        let mut all = Matrices::new(&report, &trials, "clients", None).expect("both are varied");
        let mut tables = Vec::new();
        for mode in ["delete", "wal"] {
            let mut table = all.tables[0].clone();
            table.values.push("mode", mode.to_owned());
            table.cells[0][1] = None;
            tables.push(table);
        }
        all.tables = tables;
        let page = matrices(&all);
        let text = crate::terminal::text(&page, &Default::default());
        assert!(text.contains("\nmode=delete\n") && text.contains("\n\nmode=wal\n"), "{text}");
        let csv = crate::csv::csv(&page);
        assert!(csv.starts_with("mode,group.users.clients,1,2\ndelete,1,"), "{csv}");
        // What was not measured is an empty cell.
        assert_eq!(csv.lines().filter(|row| row.ends_with(',')).count(), 2, "{csv}");
        assert_eq!(csv.lines().count(), 11, "{csv}");
    }

    #[test]
    fn targets_are_called_by_what_tells_them_apart() {
        let check = |name: &str, values: &[&str], expect: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            assert_eq!(names(&Axis { name: name.to_owned(), values }), expect);
        };
        let nodes = ["managed:mariadb?nodes=1&a=1", "managed:mariadb?nodes=2&a=1"];
        check("target", &nodes, &["nodes=1", "nodes=2"]);
        check("clients", &["1?a&b", "2?a&b"], &["1?a&b", "2?a&b"]);
        check("target", &["managed:mariadb?a=1"], &["managed:mariadb?a=1"]);
        let two = ["managed:mariadb?a=1", "managed:postgres?a=1", "managed:postgres?a=1&b=2"];
        check("target", &two, &["managed:mariadb", "managed:postgres", "managed:postgres?b=2"]);
        let with_default = ["sqlite:a.db", "sqlite:a.db?synchronous=off"];
        check("target", &with_default, &["sqlite:a.db", "synchronous=off"]);
    }
}
