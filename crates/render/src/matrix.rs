//! A figure over rows and columns as tables for a terminal: the best of each line has a star.
//!
//! Not here: which cell that is (analysis).

use analysis::figures::{Figure, title, unit};
use analysis::matrix::{Along, Line, Matrices, Matrix};
use model::numbers::{NONE, wrap};
use model::short_axis;

use crate::experiment::shown;
use crate::{Align, Column, Table};

const WIDTH: usize = 96;

/// The tables, each with where it is as good as at the best.
pub fn matrices(all: &Matrices) -> String {
    let unit = all.units.get(&all.figure).map_or(unit(&all.figure), String::as_str);
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let over = all
        .columns
        .as_ref()
        .map_or_else(String::new, |columns| format!(" and {}", short_axis(&columns.name)));
    let mut page =
        format!("{}{unit} over {}{over}\n", title(&all.figure), short_axis(&all.rows.name));
    for table in &all.tables {
        let at = table.values.pairs(", ");
        page += &if at.is_empty() { "\n".to_owned() } else { format!("\n{at}\n") };
        page.extend(grid(all, table).lines(WIDTH).iter().map(|line| format!("{line}\n")));
        let told = table.lines.iter().filter_map(|line| as_good(all, line));
        for line in told {
            page.extend(wrap(&line, WIDTH).iter().map(|line| format!("{line}\n")));
        }
    }
    if table_has_best(all) {
        let line = "* the best of its ";
        let way = if all.along == Along::Rows { "column" } else { "row" };
        let cores = all.cores_in_words().map_or_else(String::new, |cores| format!("; {cores}"));
        page += &format!("\n{line}{way}{cores}\n");
    }
    page
}

fn table_has_best(all: &Matrices) -> bool {
    all.tables.iter().flat_map(|table| &table.lines).any(|line| line.best.is_some())
}

fn grid(all: &Matrices, table: &Matrix) -> Table {
    let mut columns = vec![Column::new(short_axis(&all.rows.name).to_owned(), Align::Right)];
    match &all.columns {
        Some(axis) => {
            let titles = axis.values.iter();
            columns.extend(titles.map(|value| Column::new(value.clone(), Align::Right)));
        }
        None => columns.push(Column::new(title(&all.figure), Align::Right)),
    }
    let mut grid = Table::new(columns);
    for (row, (value, cells)) in all.rows.values.iter().zip(&table.cells).enumerate() {
        let is_best = |column: usize| match all.along {
            Along::Rows => table.lines[column].best == Some(row),
            Along::Columns => table.lines[row].best == Some(column),
        };
        let cell = |(column, figure): (usize, &Option<Figure>)| {
            let shown = figure.as_ref().map_or_else(|| NONE.to_owned(), shown);
            shown + if is_best(column) { " *" } else { "  " }
        };
        let cells = cells.iter().enumerate().map(cell);
        grid.row(std::iter::once(value.clone()).chain(cells).collect::<Vec<_>>());
    }
    grid
}

/// Where a line is as good with less, if that is anywhere else than at its best.
fn as_good(all: &Matrices, line: &Line) -> Option<String> {
    let (best, smallest) = (line.best?, line.smallest?);
    let axis = all.axis();
    let name = short_axis(&axis.name);
    let of = if line.of.is_empty() { String::new() } else { format!("{}: ", line.of) };
    let (at, of_best) = (&axis.values[smallest], &axis.values[best]);
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
        assert_eq!(page.matches(" *").count(), 2, "{page}");
        assert!(page.contains(" over clients and flush\n"), "{page}");
        let foot = "* the best of its column; the generator's machine has 4 physical cores\n";
        assert!(page.ends_with(foot), "{page}");
        assert!(page.contains("1: ") && page.contains("2: "), "{page}");
    }
}
