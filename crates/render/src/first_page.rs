//! Limits and helpers that the first pages of runs and comparisons share, so that each fits a
//! screen of 80 columns.

use model::format_count;

use crate::document::{Block, Document};
use crate::terminal::{Style, text};

/// Largest number of warnings that are shown; the others are counted.
pub(crate) const WARNINGS_MOST: usize = 3;

/// Largest number of notes that are shown; the others are counted or left out.
pub(crate) const NOTES_MOST: usize = 2;

/// Largest length of a remark: three to four lines of 80 columns beside their label.
const REMARK_LETTERS_MOST: usize = 240;

/// Narrowest screen that first pages are made for, in columns.
pub(crate) const WIDTH: usize = 80;

/// Returns the first page that fits `lines_most` lines of [`WIDTH`] columns; the last one if none
/// does. `pages` have less from one to the next, and are made as needed.
///
/// # Panics
///
/// If there is no page.
pub(crate) fn fitting(lines_most: usize, pages: impl Iterator<Item = Document>) -> Document {
    let style = Style { color: false, width: WIDTH };
    let mut last = None;
    for page in pages {
        if text(&page, &style).lines().count() <= lines_most {
            return page;
        }
        last = Some(page);
    }
    last.expect("there is a smallest page")
}

/// Tells the user how to see what is left out.
pub(crate) const WITH_FULL: &str = "with --full";

/// Counts the items that are not shown, such as `5 more, with --full`; `None` if all are shown.
pub(crate) fn more(all: usize, shown_most: usize) -> Option<String> {
    let more = all.checked_sub(shown_most).filter(|more| *more > 0)?;
    Some(format!("{} more, {WITH_FULL}", format_count(more as u64)))
}

/// Makes a block of suggested commands, each with its purpose; `None` without commands.
pub(crate) fn next_block(commands: &[(String, String)]) -> Option<Block> {
    let next = || Block::Part(String::new(), vec![Block::Next(commands.to_vec())]);
    (!commands.is_empty()).then(next)
}

/// Returns the text up to the end of its first sentence: a full stop before anything but a
/// lower-case letter.
pub(crate) fn first_sentence(text: &str) -> &str {
    let is_end = |at: &usize| text[at + 2..].starts_with(|next: char| !next.is_lowercase());
    match text.match_indices(". ").map(|(at, _)| at).find(is_end) {
        Some(end) => &text[..=end],
        None => text,
    }
}

/// Returns the first sentence of a remark without its full stop, up to a clause if it is long.
pub(crate) fn in_brief(text: &str) -> String {
    up_to_clause(first_sentence(text).trim_end_matches('.'), REMARK_LETTERS_MOST)
}

/// Ends of a clause, the clearest first.
const CLAUSE_ENDS: [&str; 3] = ["; ", ", ", " "];

/// A text up to the end of its last clause within `letters_most`, or of its last word.
pub(crate) fn up_to_clause(text: &str, letters_most: usize) -> String {
    let Some((most, _)) = text.char_indices().nth(letters_most) else { return text.to_owned() };
    let end = CLAUSE_ENDS.iter().find_map(|end| {
        // A clause that is much shorter would leave out too much.
        text[..most].rfind(end).filter(|at| *at > most / 2)
    });
    format!("{} …", text[..end.unwrap_or(most)].trim_end())
}
