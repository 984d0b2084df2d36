//! Output of results: text, HTML pages, charts, and tables for other programs.
//!
//! Everything here is a function from values to text or pictures. Not here: the results themselves
//! (analysis, study), and any terminal or browser (dbdyno).

mod ascii;
mod axis_names;
mod bars;
pub mod chart_backends;
pub mod charts;
mod commands;
mod comparison;
pub mod csv;
mod csv_rows;
pub mod document;
pub mod drop_in;
mod dry_run;
mod experiment;
mod first_page;
pub mod flame_graph;
mod history;
#[cfg(feature = "pages")]
pub mod html;
mod judged_limits;
pub mod list;
pub mod live;
pub mod markdown;
mod matrix;
pub(crate) mod repeats;
mod run;
mod run_notes;
pub mod run_tables;
mod scene;
mod seconds;
mod seek;
pub mod spark;
pub mod table;
pub mod terminal;
mod trace;
mod tune;
mod wording;

use serde::Serialize;

pub use ascii::ascii;
pub use comparison::{
    COMPARISON_SECTIONS, compared_repeat_s, comparison, comparison_of_runs, comparison_short,
    comparison_title, detected_by, gate_in_words, is_open,
};
pub use document::{Document, next};
pub use dry_run::{DryRun, dry_run, dry_run_json};
pub use experiment::{experiment, experiment_points, experiment_verdicts, is_unfinished, repeat_s};
pub use first_page::fit_screen;
pub use history::history;
pub use list::{Errors, ExperimentLine, experiment_list, imported_list, run_list};
pub use matrix::{matrices, matrix_section};
pub use repeats::verdict as found_by_rule;
pub use run::{
    Identity, RUN_SECTIONS, Short, identity, run, run_in_a_line, run_short, run_unstored,
};
pub use scene::ago;
pub use seconds::seconds_csv;
pub use seek::{seek, seek_probes};
pub use spark::sparkline;
pub use table::{Align, Cell, Column, Table};
pub use terminal::Style;
pub use trace::{trace, trace_json};
pub use tune::{tune, tuned_trials};

/// Serializes a report as indented JSON, which ends with a line break.
pub fn as_json(report: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(report);
    json.expect("a report is numbers, words and lists") + "\n"
}

/// Quotes a word for a POSIX shell if it needs quotes: `a b` becomes `'a b'`.
pub fn for_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "=.,_:/%+-".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
