//! A table that is read by people and by programs: the same cells as aligned text, Markdown, CSV
//! and JSON. For people numbers have few digits; for programs they have all.
//!
//! Not here: which tables there are (sheets).

use model::format_count;
use model::numbers::{INFINITE, NONE, percent, significant};
use serde_json::{Map, Value, json};

use super::{Align, Column, Table};

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Words.
    Words,
    /// Whole numbers.
    Count,
    /// Numbers, shown to so many significant digits.
    Number(usize),
    /// Shares in percent, shown to a tenth.
    Percent,
}

/// A column of a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SheetColumn {
    /// Its name for programs, with its unit, as in `p99_ms`.
    pub key: &'static str,
    /// Its title for people; one without is for programs alone.
    pub title: &'static str,
    /// What it holds.
    pub holds: Holds,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// There is nothing to be told.
    None,
    /// Words.
    Words(String),
    /// A whole number.
    Count(i64),
    /// Any other number.
    Number(f64),
    /// A time that lost work has made infinite.
    Infinite,
}

impl From<&str> for Cell {
    fn from(words: &str) -> Cell {
        Cell::Words(words.to_owned())
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        if number.is_finite() { Cell::Number(number) } else { Cell::None }
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Cell {
        number.map_or(Cell::None, Cell::from)
    }
}

/// A table with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Its name for programs: `timing`.
    pub name: &'static str,
    /// Its title for people.
    pub title: String,
    /// Its columns.
    pub columns: Vec<SheetColumn>,
    /// Its rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// Title and table as aligned text, as wide as needed.
    pub fn text(&self) -> String {
        let lines = self.table().lines(usize::MAX);
        let table: String = lines.iter().map(|line| format!("{line}\n")).collect();
        format!("{}\n\n{table}", self.title)
    }

    /// Title and table in Markdown.
    pub fn markdown(&self) -> String {
        format!("**{}**\n\n{}", self.title, self.table().markdown())
    }

    /// The table as CSV (RFC 4180).
    pub fn csv(&self) -> String {
        let titles = self.columns.iter().map(|column| column.key.to_owned()).collect();
        let row = |row: &Vec<Cell>| row.iter().map(Cell::exact).collect();
        super::csv_of(titles, self.rows.iter().map(row))
    }

    /// The table in HTML, as people see it.
    pub fn html(&self) -> String {
        self.table().html()
    }

    /// The rows as objects by column.
    pub fn json(&self) -> Value {
        let row = |row: &Vec<Cell>| {
            let cells = self.columns.iter().zip(row);
            let cells = cells.map(|(column, cell)| (column.key.to_owned(), cell.json()));
            Value::Object(cells.collect::<Map<String, Value>>())
        };
        Value::Array(self.rows.iter().map(row).collect())
    }

    fn table(&self) -> Table {
        let shown = || self.columns.iter().enumerate().filter(|(_, c)| !c.title.is_empty());
        let columns = shown().map(|(_, column)| {
            let align = match column.holds {
                Holds::Words => Align::Left,
                Holds::Count => Align::Right,
                Holds::Number(_) | Holds::Percent => Align::Point,
            };
            Column::new(column.title, align)
        });
        let mut table = Table::new(columns.collect::<Vec<_>>());
        for row in &self.rows {
            let cells = shown().map(|(place, column)| row[place].shown(column.holds));
            table.row(cells.collect::<Vec<_>>());
        }
        table
    }
}

impl Cell {
    /// For people.
    fn shown(&self, holds: Holds) -> String {
        match (self, holds) {
            (Cell::None, Holds::Words) => String::new(),
            (Cell::None, _) => NONE.to_owned(),
            (Cell::Words(words), _) => words.clone(),
            (Cell::Count(count), _) => {
                let sign = if *count < 0 { "-" } else { "" };
                format!("{sign}{}", format_count(count.unsigned_abs()))
            }
            (Cell::Infinite, _) => INFINITE.to_owned(),
            (Cell::Number(number), Holds::Number(digits)) => significant(*number, digits),
            (Cell::Number(number), Holds::Percent) => percent(Some(*number)),
            (Cell::Number(number), _) => significant(*number, 4),
        }
    }

    /// With all its digits, for programs.
    fn exact(&self) -> String {
        match self {
            Cell::None => String::new(),
            Cell::Words(words) => words.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::Infinite => f64::INFINITY.to_string(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::None => Value::Null,
            Cell::Words(words) => json!(words),
            Cell::Count(count) => json!(count),
            Cell::Number(number) => json!(number),
            Cell::Infinite => json!(f64::INFINITY.to_string()),
        }
    }
}
