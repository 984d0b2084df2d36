//! How results look: as text, as pages in HTML, as charts and as rows for other programs.
//!
//! Everything here is a function from values to text or pictures. Not here: what is true
//! (analysis), and any terminal or browser (dbdyno).

pub mod chart_backends;
pub mod charts;
mod comparison;
mod experiment;
mod history;
pub mod html;
pub mod list;
pub mod live;
pub(crate) mod repeats;
mod rows;
mod seconds;
mod seek;
pub mod sheet;
pub mod sheets;
pub mod spark;
pub mod table;
pub mod text;

use std::borrow::Cow;

use serde::Serialize;

pub use comparison::{comparison, comparison_csv, comparison_markdown};
pub(crate) use experiment::misfit;
pub use experiment::{
    ExperimentLine, experiment, experiment_list, experiment_list_csv, experiment_list_markdown,
};
pub(crate) use history::changed;
pub use history::{history, history_csv, history_markdown};
pub use list::{run_list, run_list_csv, run_list_markdown};
pub use rows::{Rows, point_rows, sought_rows};
pub use seconds::seconds_csv;
pub use seek::seek;
pub use sheet::Sheet;
pub use spark::sparkline;
pub use table::{Align, Column, Table};
pub use text::{Style, text};

/// A report as the JSON that others read.
pub fn as_json(report: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(report);
    json.expect("a report is numbers, words and lists") + "\n"
}

/// Rows with commas below their titles (RFC 4180).
pub(crate) fn rows_of_text<const N: usize>(
    titles: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    csv_of(titles.map(str::to_owned).to_vec(), rows.map(Vec::from))
}

/// The same of as many columns as there are titles. Names and messages come from plans and
/// servers, so no spreadsheet may take one for a formula.
fn csv_of(titles: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = csv::Writer::from_writer(Vec::new());
    let mut put = |cells: &[String]| {
        let cells = cells.iter().map(|cell| not_a_formula(cell));
        let cells: Vec<Cow<'_, str>> = cells.collect();
        let written = text.write_record(cells.iter().map(|cell| cell.as_bytes()));
        written.expect("all rows have as many cells, and memory takes them");
    };
    put(&titles);
    rows.for_each(|row| put(&row));
    let bytes = text.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("only text was put in")
}

/// A cell that a spreadsheet takes for text or a number: `'` stands before what it would run
/// (OWASP, "CSV Injection"). Numbers stay as they are.
fn not_a_formula(cell: &str) -> Cow<'_, str> {
    let begins = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    match cell.starts_with(begins) && cell.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{cell}")),
        false => Cow::Borrowed(cell),
    }
}

/// A word as a shell takes it for one.
pub fn for_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "=.,_:/%+-".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_of_csv_is_a_formula_and_numbers_stay_numbers() {
        let check = |cell: &str, expect: &str| {
            let csv = rows_of_text(["=title"], [[cell.to_owned()]].into_iter());
            assert_eq!(csv, format!("'=title\n{expect}\n"));
        };
        check("=1+1", "'=1+1");
        check("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0");
        check("-2+3", "'-2+3");
        check("@SUM(A1)", "'@SUM(A1)");
        check("\t=1", "'\t=1");
        check("\r=1", "\"'\r=1\"");
        check("\n=1", "\"'\n=1\"");
        check("＝1", "'＝1");
        check("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\"");
        for plain in ["-1.5", "-1e-7", "+3", "-inf", "1-2", "tps=5", "a@b", "–", "'=1", " x"] {
            check(plain, plain);
        }
    }
}
