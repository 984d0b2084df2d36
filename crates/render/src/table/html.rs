//! Formatting of a table as HTML, with CSS classes for columns that narrow screens hide.

use askama::Template;

use super::{Align, Column, Fold, Table, fraction_of, length};

/// Largest length of a word, in characters, that HTML never breaks. Columns with longer words have
/// the class `long`.
const WORD_MOST: usize = 40;

impl Table {
    /// Formats the table as HTML. Spare columns have the class `spare`, which narrow screens hide;
    /// columns with very long words, such as URLs, have the class `long`.
    pub fn html(&self) -> String {
        let shown: Vec<(&Column, Vec<String>)> = self
            .shown()
            .map(|(place, column)| (column, self.shown_cells(&self.rows, place)))
            .collect();
        let classes: Vec<&'static str> =
            shown.iter().map(|(column, cells)| class(column, cells)).collect();
        let titles = shown.iter().zip(&classes);
        let titles = titles.map(|((column, _), class)| (*class, column.title.to_string()));
        let aligned: Vec<Vec<String>> =
            shown.iter().map(|(column, cells)| aligned(column, cells)).collect();
        let row = |row: usize| {
            let cells = aligned.iter().zip(&classes);
            cells.map(|(cells, class)| (*class, cells[row].clone())).collect()
        };
        let has_folds = self.folded.iter().any(|fold| !fold.lines.is_empty());
        let fold = |at: usize| self.folded.get(at).filter(|_| has_folds);
        let rows = (0..self.rows.len()).map(|at| (row(at), fold(at))).collect();
        let table = HtmlTable { titles: titles.collect(), rows, has_folds };
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

/// Pads the cells of a column so that decimal points are below each other, and keeps leading blanks
/// of words.
fn aligned(column: &Column, cells: &[String]) -> Vec<String> {
    let fraction = cells.iter().map(|cell| fraction_of(cell)).max().unwrap_or(0);
    let cell = |cell: &String| match column.align {
        Align::Point => to_point(cell, fraction),
        _ => indented(cell),
    };
    cells.iter().map(cell).collect()
}

/// Text of a title or a cell, with its CSS class.
type Classed = (&'static str, String);

/// Template of a table: titles and cells, each with its CSS class, and a folded text for each row;
/// none if no row has one.
#[derive(Template)]
#[template(path = "table.html")]
struct HtmlTable<'t> {
    titles: Vec<Classed>,
    rows: Vec<(Vec<Classed>, Option<&'t Fold>)>,
    has_folds: bool,
}

/// Pads a number at its right so that its decimal point is aligned with those of other rows.
/// `fraction` is the largest number of characters from the point on in any row.
fn to_point(cell: &str, fraction: usize) -> String {
    let blanks = match fraction_of(cell) {
        0 if fraction > 0 => format!("\u{2008}{}", "\u{2007}".repeat(fraction - 1)),
        own => "\u{2007}".repeat(fraction - own),
    };
    format!("{cell}{blanks}")
}

/// Replaces leading blanks by no-break spaces, which HTML keeps.
fn indented(cell: &str) -> String {
    let words = cell.trim_start();
    "\u{a0}".repeat(cell.len() - words.len()) + words
}
