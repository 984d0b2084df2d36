//! A table in HTML.

use askama::Template;

use super::{Align, Column, Table, fraction_of, length};

/// Largest length of a word that is never broken on a page.
const WORD_MOST: usize = 40;

impl Table {
    /// Formats the table as HTML. Spare columns have a class for narrow pages, and columns with
    /// very long words, such as URLs, are `long`.
    pub fn html(&self) -> String {
        let shown: Vec<(&Column, Vec<String>)> = self
            .shown()
            .map(|(place, column)| (column, self.shown_cells(&self.rows, place)))
            .collect();
        let classes: Vec<&'static str> = shown.iter().map(|(of, cells)| class(of, cells)).collect();
        let titles = shown.iter().zip(&classes);
        let titles = titles.map(|((column, _), class)| (*class, column.title.to_string()));
        let aligned: Vec<Vec<String>> =
            shown.iter().map(|(of, cells)| aligned(of, cells)).collect();
        let row = |row: usize| {
            let cells = aligned.iter().zip(&classes);
            cells.map(|(cells, class)| (*class, cells[row].clone())).collect()
        };
        let rows = (0..self.rows.len()).map(row).collect();
        let table = HtmlTable { titles: titles.collect(), rows };
        table.render().expect("memory takes everything")
    }
}

fn class(column: &Column, cells: &[String]) -> &'static str {
    let mut words = cells.iter().flat_map(|cell| cell.split_whitespace());
    match (column.align, column.spare) {
        (Align::Left, 0) if words.any(|word| length(word) > WORD_MOST) => "long",
        (Align::Left, 0) => "",
        (Align::Left, _) => "spare",
        (_, 0) => "n",
        _ => "n spare",
    }
}

/// Aligns the cells of a column in HTML.
fn aligned(column: &Column, cells: &[String]) -> Vec<String> {
    let fraction = cells.iter().map(|cell| fraction_of(cell)).max().unwrap_or(0);
    let cell = |cell: &String| match column.align {
        Align::Point => to_point(cell, fraction),
        _ => indented(cell),
    };
    cells.iter().map(cell).collect()
}

/// A table in HTML: cells with their classes.
#[derive(Template)]
#[template(path = "table.html")]
struct HtmlTable {
    titles: Vec<(&'static str, String)>,
    rows: Vec<Vec<(&'static str, String)>>,
}

/// Pads a number with blanks as wide as its missing decimals and point.
fn to_point(cell: &str, fraction: usize) -> String {
    let blanks = match fraction_of(cell) {
        0 if fraction > 0 => format!("\u{2008}{}", "\u{2007}".repeat(fraction - 1)),
        own => "\u{2007}".repeat(fraction - own),
    };
    format!("{cell}{blanks}")
}

/// Keeps the leading blanks of a text.
fn indented(cell: &str) -> String {
    let words = cell.trim_start();
    "\u{a0}".repeat(cell.len() - words.len()) + words
}
