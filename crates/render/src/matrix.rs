//! Pages of tables with a figure over two parameters. The best cell of each row or column has a
//! star, or cells are ratios to those of one value. Programs read the same tables as bare numbers.
//!
//! Not here: the choice of the best cell (study).

use analysis::figures::{Figure, number, title, unit};
use analysis::report::Named;
use model::numbers::NONE;
use model::short_axis;
use study::history::{ImportedFrom, noun_of};
use study::matrix::{
    Along, CellRatio, Line, Matrices, Matrix, NOT_SET, OfBuilds, RelativeTo, WithImported,
};

use crate::axis_names::{name_of, names};
use crate::document::{Block, Document, Section};
use crate::wording::{Spread, ranges, ratio_text, same_in_all, shown, title_with_unit};
use crate::{Align, Cell, Column, Table};

/// Returns a page of tables of one figure, whose rows and columns are the values of two parameters.
pub fn matrices(all: &Matrices) -> Document {
    let kind = match all.builds {
        None => "Table of an experiment",
        Some(_) => "Table of a history",
    };
    let mut page = Document::new(kind, name(all));
    page.sections.push(matrix_section(all));
    page
}

/// Returns the section of tables of one figure, whose rows and columns are the values of two
/// parameters.
pub fn matrix_section(all: &Matrices) -> Section {
    let cells = || all.tables.iter().flat_map(|table| table.cells.iter().flatten().flatten());
    let wide = ranges(cells().filter(|_| all.relative_to.is_none()), None);
    let notes = wide.into_iter().chain(same_in_all(cells()));
    let wide = Block::Part(String::new(), vec![Block::paragraphs(notes)]);
    let blocks = blocks(all, name(all)).into_iter().chain([wide]).collect();
    Section::new("matrix", "", blocks)
}

/// Returns the tables for an experiment's page. The imported tables of a figure follow its measured
/// ones, and the sources of imports come last.
pub(crate) fn of_page(all: &[WithImported]) -> Vec<Block> {
    let imported = |(from, all): &(ImportedFrom, Matrices)| {
        blocks(all, format!("{} (imported): {}", from.name, name(all)))
    };
    let of_figure = |figure: &WithImported| {
        let own = figure.own.iter().flat_map(|own| blocks(own, name(own)));
        own.chain(figure.imported.iter().flat_map(imported)).collect::<Vec<Block>>()
    };
    let mut sources: Vec<String> = Vec::new();
    for (from, _) in all.iter().flat_map(|figure| &figure.imported) {
        let source = format!("Imported: {}.", from.with_source());
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let sources = Block::Part(String::new(), vec![Block::paragraphs(sources)]);
    all.iter().flat_map(of_figure).chain([sources]).collect()
}

fn blocks(all: &Matrices, title: String) -> Vec<Block> {
    let part = |table: &Matrix| {
        let is_shown = |(index, _): &(usize, &Line)| {
            all.relative_to.is_none() && is_choice(all, table, *index)
        };
        let lines = table.lines.iter().enumerate().filter(is_shown);
        let cell_of_best = |index: usize, line: &Line| match all.along {
            Along::Rows => table.cells[line.best?][index],
            Along::Columns => table.cells[index][line.best?],
        };
        let as_good =
            lines.filter_map(|(index, line)| as_good(all, line, cell_of_best(index, line)));
        let blocks = vec![Block::Table(grid(all, table)), Block::paragraphs(as_good)];
        Block::Part(told_apart(all, table).pairs(", "), blocks)
    };
    let tables = Block::Part(title, all.tables.iter().map(part).collect());
    let legend = match &all.relative_to {
        Some(to) => relative(all, to),
        None => legend(all).into_iter().collect(),
    };
    let legend = Block::Part(String::new(), vec![Block::paragraphs(legend)]);
    let of_builds = all.builds.as_ref().map(of_builds).unwrap_or_default();
    let of_builds = Block::paragraphs(alike(all).into_iter().chain(of_builds));
    let of_builds = Block::Part(String::new(), vec![of_builds]);
    vec![tables, of_builds, legend]
}

/// Returns the values of further parameters (neither rows nor columns) that distinguish a table
/// from the others. In a history, values that all tables share are left out.
fn told_apart(all: &Matrices, table: &Matrix) -> Named<String> {
    let is_shown = |(name, value): &&(String, String)| {
        all.builds.is_none() || (value != NOT_SET && !is_alike(all, name))
    };
    Named(table.values.0.iter().filter(is_shown).cloned().collect())
}

/// Returns true if all tables have the same value of the parameter `name`, which is neither rows
/// nor columns.
fn is_alike(all: &Matrices, name: &str) -> bool {
    let mut values = all.tables.iter().map(|table| table.values.get(name));
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// Describes the values of further parameters (neither rows nor columns) that all series of a
/// history share; `None` if there are none, or for an experiment.
fn alike(all: &Matrices) -> Option<String> {
    all.builds.as_ref()?;
    let values = &all.tables.first()?.values;
    let is_common = |(name, _): &&(String, String)| is_alike(all, name);
    let common = Named(values.0.iter().filter(is_common).cloned().collect::<Vec<_>>());
    (!common.0.is_empty()).then(|| format!("All series: {}.", common.pairs(", ")))
}

/// Returns true if the row or column with these cells is shown. A history leaves out those without
/// a figure, because its tables all have the same rows and columns.
fn has_series<'c>(all: &Matrices, mut cells: impl Iterator<Item = &'c Option<Figure>>) -> bool {
    all.builds.is_none() || cells.any(Option::is_some)
}

/// Returns the title of the tables: `reads (1/s) over clients and target`.
fn name(all: &Matrices) -> String {
    let unit = all.units.get(&all.figure).map_or(unit(&all.figure), String::as_str);
    let columns = all.columns.as_ref();
    let over = columns.map_or_else(String::new, |axis| format!(" and {}", short_axis(&axis.name)));
    let to = all.relative_to.as_ref();
    let to = to.map_or_else(String::new, |to| format!(", relative to {}", reference(all, to)));
    let figure = title_with_unit(&all.figure, unit);
    format!("{figure} over {}{over}{to}", short_axis(&all.rows.name))
}

/// Names the parameter and the value by whose figures the figures of the other values are divided:
/// `clients 1`.
fn reference(all: &Matrices, to: &RelativeTo) -> String {
    let axis = all.columns.iter().find(|axis| axis.name == to.axis).unwrap_or(&all.rows);
    format!("{} {}", short_axis(&axis.name), name_of(axis, &to.value))
}

/// Returns the lines below tables of ratios: which value of a parameter the others are divided by,
/// which runs are compared, and why confidence intervals are missing.
fn relative(all: &Matrices, to: &RelativeTo) -> Vec<String> {
    let ratios = || all.tables.iter().flat_map(|table| table.ratios.iter().flatten().flatten());
    let named = reference(all, to);
    let mut printed =
        vec![format!("{named}: mean; others: ratio to {named}, with its 95 % interval")];
    let n_paired = ratios().filter(|cell| cell.is_within_repeats).count();
    printed.extend(match n_paired {
        0 => None,
        n if n == ratios().count() => Some("runs of the same repeat are compared".to_owned()),
        _ => Some("runs of the same repeat are compared where there are enough".to_owned()),
    });
    let mut whys: Vec<&String> = ratios().filter_map(|cell| cell.why.as_ref()).collect();
    whys.sort();
    whys.dedup();
    printed.extend(whys.into_iter().map(|why| format!("no CI: {why}")));
    printed.extend(to.repeats.clone());
    printed
}

/// Explains in sentences what the cells of a history's table are, and names the sources of imports.
fn of_builds(builds: &OfBuilds) -> Vec<String> {
    let noun = noun_of(&builds.by);
    let cells = match builds.are_shown {
        true => format!(
            "The last {} {noun}s by {}, and their mean with its 95 % interval between {noun}s.",
            builds.last, builds.by
        ),
        false => {
            format!(
                "Means of the last {} {noun}s by {}, with 95 % intervals.",
                builds.last, builds.by
            )
        }
    };
    let imported = builds.imported.iter().map(|from| format!("Imported: {}.", from.with_source()));
    [cells].into_iter().chain(imported).collect()
}

/// Parameters that count concurrent workers. For these, the number of CPU cores is written below
/// the table, for comparison with the best value.
const WORKERS: [&str; 4] = ["clients", "writers", "readers", "threads"];

/// Explains the star that marks the best cell of a table; `None` if no cell has one.
fn legend(all: &Matrices) -> Option<String> {
    let is_best = |table: &Matrix| {
        let mut lines = table.lines.iter().enumerate();
        lines.any(|(index, line)| line.best.is_some() && is_choice(all, table, index))
    };
    let has_best = all.tables.iter().any(is_best);
    let way = if all.along == Along::Rows { "column" } else { "row" };
    // For axes with a number of concurrent workers.
    let is_of_workers = WORKERS.contains(&short_axis(&all.axis().name));
    let cores = all.cores_in_words().filter(|_| is_of_workers);
    let cores = cores.map_or_else(String::new, |cores| format!("; {cores}"));
    has_best.then(|| format!("* the best of its {way}{cores}"))
}

fn grid(all: &Matrices, table: &Matrix) -> Table {
    let mut columns = vec![Column::data("figure")];
    columns.extend(table.values.iter().map(|(axis, _)| Column::data(axis.to_owned())));
    let rows = &all.rows.name;
    columns.push(Column::data(rows.clone()));
    let are_numbers = all.rows.values.iter().all(|value| number(value).is_some());
    let align = if are_numbers { Align::Right } else { Align::Left };
    // Values such as 1 or true do not show their axis.
    let of_columns = all.columns.as_ref().map(|axis| format!(" \\ {}", short_axis(&axis.name)));
    let corner = format!("{}{}", short_axis(rows), of_columns.unwrap_or_default());
    columns.push(Column::new(corner, align));
    let figures = |title: String, key: &str| Column::new(title, Align::Right).key(key.to_owned());
    let named: Vec<(String, &String)> = match &all.columns {
        Some(axis) => names(axis).into_iter().zip(&axis.values).collect(),
        None => vec![(title(&all.figure), &all.figure)],
    };
    for (index, (name, value)) in named.into_iter().enumerate() {
        // Programs find all columns in all tables.
        let is_shown = has_series(all, table.cells.iter().map(|cells| &cells[index]));
        columns.push(if is_shown { figures(name, value) } else { Column::data(value.clone()) });
        if all.relative_to.is_some() {
            let key = |end: &str| Column::data(format!("{value}_ratio{end}"));
            columns.extend(["", "_low", "_high"].map(key));
        }
    }
    let of_column = |column: usize| table.cells.iter().filter_map(move |row| row[column].as_ref());
    let n_columns = table.cells.first().map_or(0, Vec::len);
    let spreads: Vec<Spread> =
        (0..n_columns).map(|column| Spread::of_column(of_column(column))).collect();
    let mut grid = Table::new(columns);
    let rows = all.rows.values.iter().zip(&table.cells).enumerate();
    for (row, (value, cells)) in rows.filter(|(_, (_, cells))| has_series(all, cells.iter())) {
        let has_best =
            all.relative_to.is_none() && all.builds.as_ref().is_none_or(|builds| !builds.are_shown);
        let is_best = |column: usize| match all.along {
            _ if !has_best => false,
            Along::Rows => is_choice(all, table, column) && table.lines[column].best == Some(row),
            Along::Columns => is_choice(all, table, row) && table.lines[row].best == Some(column),
        };
        let cell = |(column, figure): (usize, &Option<Figure>)| {
            let is_full = table.queue_full.contains(&(row, column));
            let none = || if is_full { "queue full" } else { NONE }.to_owned();
            let ratio = table.ratios.get(row).and_then(|cells| cells[column].as_ref());
            let shown = match ratio {
                Some(cell) => ratio_text(&all.figure, &cell.ratio),
                None => figure.as_ref().map_or_else(none, |figure| shown(figure, spreads[column])),
            };
            let star = match all.relative_to {
                Some(_) => "",
                None if is_best(column) => " *",
                None => "  ",
            };
            let mean = Cell::said(shown + star, figure.map(|figure| figure.mean));
            let ratios = all.relative_to.as_ref().map_or(Vec::new(), |_| ratio_cells(ratio));
            [vec![mean], ratios].concat()
        };
        let others = table.values.iter().map(|(_, value)| Cell::from(value.as_str()));
        let cells = cells.iter().enumerate().flat_map(cell);
        let named = [value.as_str().into(), name_of(&all.rows, value).into()];
        let figure = [Cell::from(all.figure.as_str())];
        grid.row(figure.into_iter().chain(others).chain(named).chain(cells));
    }
    grid
}

/// Returns true if the row or column at index `line` of a table has several figures, so that one of
/// them can be marked as the best.
fn is_choice(all: &Matrices, table: &Matrix, line: usize) -> bool {
    let known = match all.along {
        Along::Rows => table.cells.iter().filter(|cells| cells[line].is_some()).count(),
        Along::Columns => table.cells[line].iter().filter(|cell| cell.is_some()).count(),
    };
    known > 1
}

/// Returns three cells that only programs read: a ratio and both ends of its confidence interval.
fn ratio_cells(cell: Option<&CellRatio>) -> Vec<Cell> {
    let ratio = cell.map(|cell| cell.ratio);
    let interval = ratio.and_then(|ratio| ratio.interval);
    let all =
        [ratio.map(|ratio| ratio.value), interval.map(|ends| ends.0), interval.map(|ends| ends.1)];
    all.map(|number| number.map_or(Cell::None, Cell::Number)).to_vec()
}

/// Describes the value at which a row or column is best, and the smallest one that is as good
/// within the error: `best at clients 16; 8 is as good, within error`. `None` if no value is best.
fn as_good(all: &Matrices, line: &Line, figure: Option<Figure>) -> Option<String> {
    let best = line.best?;
    let axis = all.axis();
    let name = short_axis(&axis.name);
    let other = if all.along == Along::Rows { all.columns.as_ref() } else { Some(&all.rows) };
    let prefix = other.map_or_else(String::new, |other| format!("{}: ", name_of(other, &line.of)));
    let Some(smallest) = line.smallest else {
        let at = name_of(axis, &axis.values[best]);
        let is_wide = figure.is_some_and(|figure| figure.is_wide());
        let words = "its error is too large to say which is best";
        return is_wide.then(|| format!("{prefix}best mean at {name} {at}; {words}"));
    };
    let (at, of_best) = (name_of(axis, &axis.values[smallest]), name_of(axis, &axis.values[best]));
    let at_best = number(&axis.values[best]);
    let has_smaller =
        axis.values.iter().filter_map(|value| number(value)).any(|n| Some(n) < at_best);
    Some(match best == smallest {
        true if !has_smaller => format!("{prefix}best at {name} {at}"),
        true => format!("{prefix}best at {name} {at}; no smaller value is within its error"),
        false => format!("{prefix}best at {name} {of_best}; {at} is as good, within error"),
    })
}

#[cfg(test)]
mod tests {
    use study::fixtures::studies;

    use super::*;

    #[test]
    fn the_best_of_each_column_has_a_star_and_the_cores_stand_below() {
        let (report, _) = studies::two_axes();
        let all = Matrices::new(&report, "clients", None).expect("both are varied");
        let page = matrices(&Matrices { cores: Some(4), ..all });
        let csv = crate::csv::csv(&page);
        let page = crate::terminal::text(&page, &Default::default());
        assert!(page.contains("\nclients \\ flush  ") && page.contains(" 1  "), "{page}");
        assert_eq!(page.matches(" *").count(), 2, "{page}");
        assert!(page.contains(" over clients and flush\n"), "{page}");
        let mut named = Matrices::new(&report, "clients", None).expect("both are varied");
        named.rows.values.iter_mut().for_each(|value| value.insert(0, 'n'));
        let named = crate::terminal::text(&matrices(&named), &Default::default());
        assert!(named.contains("\nn1       "), "words begin where their title does: {named}");
        let foot = "* the best of its column; the generator's machine has 4 physical cores\n";
        assert!(page.ends_with(foot), "{page}");
        assert!(page.contains("1: ") && page.contains("2: "), "{page}");
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!((rows.len(), rows[0]), (6, "figure,group.users.clients,1,2"), "{csv}");
        let is_bare = |row: &&str| row.split(',').skip(1).all(|cell| cell.parse::<f64>().is_ok());
        assert!(rows[1..].iter().all(is_bare), "{csv}");
    }

    #[test]
    fn cells_relative_to_a_value_are_ratios_and_bare_numbers_for_programs() {
        let (report, trials) = studies::two_axes();
        let all = Matrices::new(&report, "flush", Some("clients")).expect("varied");
        let all = all.relative_to(&report, &trials, "1").expect("a value of the columns");
        let page = matrices(&all);
        let text = crate::terminal::text(&page, &Default::default());
        assert!(text.contains(" over flush and clients, relative to clients 1\n"), "{text}");
        assert!(text.contains(" 3.400 (3.203 to 3.609)") && !text.contains('*'), "{text}");
        let csv = crate::csv::csv(&page);
        let titles = "figure,server.flush,1,1_ratio,1_ratio_low,1_ratio_high,2,2_ratio,";
        assert!(csv.starts_with(titles), "{csv}");
        let row: Vec<&str> = csv.lines().nth(1).expect("a row").split(',').collect();
        let ratio: f64 = row[7].parse().expect("a ratio");
        assert!(row[3].is_empty() && (ratio - 1.9).abs() < 1e-9, "{csv}");
    }

    #[test]
    fn a_table_of_a_history_has_neither_names_that_are_alike_nor_empty_rows_and_columns() {
        let (report, _) = studies::two_axes();
        let mut all = Matrices::new(&report, "clients", None).expect("both are varied");
        let builds =
            OfBuilds { by: "build".to_owned(), last: 10, imported: Vec::new(), are_shown: false };
        all.builds = Some(builds);
        let with_cells = |scenario: &str, mode: &str, cells: [usize; 2]| {
            let mut table = all.tables[0].clone();
            let values = [("workload", "arm"), ("scenario", scenario), ("mode", mode)];
            for (name, value) in values {
                table.values.push(name, value.to_owned());
            }
            for (row, column) in (0..5).flat_map(|row| [(row, 0), (row, 1)]) {
                if [row, column] != cells {
                    table.cells[row][column] = None;
                }
            }
            table
        };
        all.tables =
            vec![with_cells("simple", NOT_SET, [0, 0]), with_cells("metrics", "wal", [1, 1])];
        let text = crate::terminal::text(&matrices(&all), &Default::default());
        assert!(text.contains("\nscenario=simple\n"), "{text}");
        assert!(text.contains("\nscenario=metrics, mode=wal\n"), "{text}");
        assert!(text.contains("\nAll series: workload=arm.\n"), "{text}");
        assert!(!text.contains(model::numbers::NONE), "{text}");
        let csv = crate::csv::csv(&matrices(&all));
        let titles = "figure,workload,scenario,mode,group.users.clients,1,2\n";
        assert!(csv.starts_with(titles) && csv.lines().count() == 3, "{csv}");
    }

    #[test]
    fn axes_that_are_neither_rows_nor_columns_are_columns_of_csv() {
        let (report, _) = studies::two_axes();
        let mut all = Matrices::new(&report, "clients", None).expect("both are varied");
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
        assert!(csv.starts_with("figure,mode,group.users.clients,1,2\ntps,delete,1,"), "{csv}");
        // A point that was not measured is an empty cell.
        assert_eq!(csv.lines().filter(|row| row.ends_with(',')).count(), 2, "{csv}");
        assert_eq!(csv.lines().count(), 11, "{csv}");
    }
}
