//! How results look as text: the report of a run, its live view, and what they are made of.
//!
//! Everything here is a function from values to lines. Not here: what is true (report), and any
//! terminal (dbdyno).

mod comparison;
mod experiment;
pub mod figures;
mod history;
pub mod html;
pub mod list;
pub mod live;
mod rows;
mod seconds;
mod seek;
pub mod sheet;
pub mod sheets;
pub mod spark;
pub mod table;
pub mod text;

use serde::Serialize;

pub use comparison::{comparison, comparison_csv, comparison_markdown};
pub(crate) use experiment::title;
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

/// The same of as many columns as there are titles.
fn csv_of(titles: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = csv::Writer::from_writer(Vec::new());
    let mut put = |cells: &[String]| {
        text.write_record(cells).expect("all rows have as many cells, and memory takes them");
    };
    put(&titles);
    rows.for_each(|row| put(&row));
    let bytes = text.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("only text was put in")
}

/// A word as a shell takes it for one.
pub fn for_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "=.,_:/%+-".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
