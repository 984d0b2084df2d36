//! Small tables with aligned columns, as text, Markdown and HTML. Not here: borders, colours,
//! anything that does not fit.

use std::borrow::Cow;

use askama::Template;

/// How the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Whole numbers.
    Right,
    /// Numbers with decimals: their points stand below each other.
    Point,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    title: Cow<'static, str>,
    align: Align,
    spare: u8,
}

impl Column {
    /// A column that is always shown.
    pub fn new(title: impl Into<Cow<'static, str>>, align: Align) -> Column {
        Column { title: title.into(), align, spare: 0 }
    }

    /// A column that is left out where the page is too narrow: the one with the highest `rank`
    /// first.
    pub fn spare(title: &'static str, align: Align, rank: u8) -> Column {
        Column { title: title.into(), align, spare: rank }
    }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// A word with more letters than this may be broken on a page.
const WORD_MOST: usize = 40;

/// Between two columns.
const GAP: &str = "  ";

impl Table {
    /// An empty table.
    pub fn new(columns: impl Into<Vec<Column>>) -> Table {
        Table { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row; it must have a cell for each column.
    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// Title and rows, as wide as needed, without spare columns that do not fit in `width`.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let mut columns: Vec<(u8, Vec<String>)> = (0..self.columns.len())
            .map(|index| (self.columns[index].spare, self.column(index)))
            .collect();
        while total(&columns) > width {
            let most = columns.iter().map(|(spare, _)| *spare).max().unwrap_or(0);
            if most == 0 {
                break;
            }
            columns.retain(|(spare, _)| *spare != most);
        }
        let line = |row: usize| {
            let cells: Vec<&str> = columns.iter().map(|(_, cells)| cells[row].as_str()).collect();
            cells.join(GAP).trim_end().to_owned()
        };
        (0..=self.rows.len()).map(line).collect()
    }

    /// Titles and cells, as they are.
    pub fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let titles = self.columns.iter().map(|column| column.title.to_string());
        (titles.collect(), self.rows.clone())
    }

    /// All columns as Markdown's pipes (GitHub Flavored Markdown, "Tables").
    pub fn markdown(&self) -> String {
        self.pipes(escaped)
    }

    /// The same where cells are Markdown themselves.
    pub fn markdown_of_markdown(&self) -> String {
        self.pipes(|cell| cell.replace('|', "\\|"))
    }

    fn pipes(&self, cell: fn(&str) -> String) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.map(cell).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = line(&mut self.columns.iter().map(|column| &*column.title));
        text += &line(&mut self.columns.iter().map(|column| match column.align {
            Align::Left => "---",
            Align::Right | Align::Point => "---:",
        }));
        for row in &self.rows {
            text += &line(&mut row.iter().map(String::as_str));
        }
        text
    }

    /// As HTML: columns that are spare have a class of that name, for narrow pages, and those with
    /// words that no page holds, as URLs are, are `long`.
    pub fn html(&self) -> String {
        let is_long = |index: usize| {
            let mut words = self.rows.iter().flat_map(|row| row[index].split_whitespace());
            words.any(|word| length(word) > WORD_MOST)
        };
        let class = |index: usize, column: &Column| match (column.align, column.spare) {
            (Align::Left, 0) if is_long(index) => "long",
            (Align::Left, 0) => "",
            (Align::Left, _) => "spare",
            (_, 0) => "n",
            _ => "n spare",
        };
        let cells = |of: &dyn Fn(usize, &Column) -> String| {
            let columns = self.columns.iter().enumerate();
            columns.map(|(index, column)| (class(index, column), of(index, column))).collect()
        };
        let titles = cells(&|_, column| column.title.to_string());
        let fractions: Vec<usize> = (0..self.columns.len()).map(|at| self.fraction(at)).collect();
        let row = |row: &Vec<String>| {
            cells(&|index, column| match column.align {
                Align::Point => to_point(&row[index], fractions[index]),
                _ => indented(&row[index]),
            })
        };
        let rows = self.rows.iter().map(row).collect();
        let page = HtmlTable { titles, rows };
        page.render().expect("memory takes everything")
    }

    /// The most that stands behind a point in a column, the point included.
    fn fraction(&self, index: usize) -> usize {
        self.rows.iter().map(|row| fraction_of(&row[index])).max().unwrap_or(0)
    }

    /// A column's cells with its title first, all of one width.
    fn column(&self, index: usize) -> Vec<String> {
        let Column { title, align, .. } = &self.columns[index];
        let cells = || self.rows.iter().map(move |row| row[index].as_str());
        let fraction = self.fraction(index);
        let mut column = vec![title.to_string()];
        column.extend(cells().map(|cell| match align {
            Align::Point => format!("{cell}{}", " ".repeat(fraction - fraction_of(cell))),
            Align::Left | Align::Right => cell.to_owned(),
        }));
        let width = column.iter().map(|cell| length(cell)).max().unwrap_or(0);
        for cell in &mut column {
            let pad = " ".repeat(width - length(cell));
            *cell = match align {
                Align::Left => format!("{cell}{pad}"),
                Align::Right | Align::Point => format!("{pad}{cell}"),
            };
        }
        column
    }
}

/// A table in HTML: cells with their classes.
#[derive(Template)]
#[template(path = "table.html")]
struct HtmlTable {
    titles: Vec<(&'static str, String)>,
    rows: Vec<Vec<(&'static str, String)>>,
}

/// How much stands behind a cell's point, the point included.
fn fraction_of(cell: &str) -> usize {
    cell.find('.').map_or(0, |at| length(&cell[at..]))
}

/// A number with blanks as wide as the digits and the point that it has not.
fn to_point(cell: &str, fraction: usize) -> String {
    let blanks = match fraction_of(cell) {
        0 if fraction > 0 => format!("\u{2008}{}", "\u{2007}".repeat(fraction - 1)),
        own => "\u{2007}".repeat(fraction - own),
    };
    format!("{cell}{blanks}")
}

/// Words that keep the blanks before them.
fn indented(cell: &str) -> String {
    let words = cell.trim_start();
    "\u{a0}".repeat(cell.len() - words.len()) + words
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn total(columns: &[(u8, Vec<String>)]) -> usize {
    let cells: usize = columns.iter().map(|(_, cells)| length(&cells[0])).sum();
    cells + GAP.len() * columns.len().saturating_sub(1)
}

/// What Markdown would take for its own.
pub(super) fn escaped(text: &str) -> String {
    let is_mark = |letter: char| matches!(letter, '\\' | '|' | '*' | '_' | '<' | '&' | '`' | '[');
    text.chars().fold(String::new(), |mut shown, letter| {
        if is_mark(letter) {
            shown.push('\\');
        }
        shown.push(letter);
        shown
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [
            Column::new("kind", Align::Left),
            Column::spare("calls", Align::Right, 1),
            Column::spare("trips", Align::Right, 2),
            Column::new("p99", Align::Point),
        ];
        let mut table = Table::new(columns);
        for (kind, p99) in [("new_order", "4.21"), ("pay", "123"), ("x", "12.3"), ("y", "–")] {
            table.row([kind, "1,000", "7", p99].map(str::to_owned));
        }
        table
    }

    #[test]
    fn points_stand_below_each_other() {
        insta::assert_snapshot!(table().lines(80).join("\n"), @r"
        kind       calls  trips     p99
        new_order  1,000      7    4.21
        pay        1,000      7  123
        x          1,000      7   12.3
        y          1,000      7    –
        ");
    }

    #[test]
    fn a_narrow_page_has_fewer_columns() {
        assert!(table().lines(27)[0].contains("calls") && !table().lines(27)[0].contains("trips"));
        assert_eq!(table().lines(3)[0].split_whitespace().collect::<Vec<_>>(), ["kind", "p99"]);
    }
}
