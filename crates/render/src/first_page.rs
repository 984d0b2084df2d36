//! Limits and helpers of the first pages of runs and comparisons, each of which fits a screen of 80
//! columns.

use model::format_count;

use crate::document::{Block, Document};
use crate::terminal::{Style, text};

/// Largest number of warnings on a first page; the others are shown as a number, such as `5 more,
/// with --full`.
pub(crate) const WARNINGS_MOST: usize = 3;

/// Largest number of notes on a first page; of the others, at most their number is shown.
pub(crate) const NOTES_MOST: usize = 2;

/// Largest length of a remark on a first page, in characters: three to four lines of 80 columns
/// beside a label. A longer remark is cut at the end of a clause.
const REMARK_LETTERS_MOST: usize = 240;

/// Width in columns of the terminal for which first pages are made.
pub(crate) const WIDTH: usize = 80;

/// Returns the first of `pages` that has at most `lines_most` lines of [`WIDTH`] columns, or else
/// the last one. Each page must be shorter than the one before; pages are made only as needed.
///
/// # Panics
///
/// If `pages` is empty.
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

/// Largest number of lines of the first page of a comparison or an experiment, so that it fits a
/// screen.
pub(crate) const LINES_MOST: usize = 45;

/// Shortens each remark of a page to its first sentence, cut if that is long, if the page has more
/// than [`LINES_MOST`] lines of [`WIDTH`] columns.
pub fn fit_screen(page: &mut Document) {
    let style = Style { color: false, width: WIDTH };
    if text(page, &style).lines().count() <= LINES_MOST {
        return;
    }
    for remark in page.validity.iter_mut().flat_map(|validity| &mut validity.remarks) {
        remark.text = in_brief(&remark.text.plain()).into();
    }
}

/// Words at the end of a shortened list: the flag `--full` shows all.
pub(crate) const WITH_FULL: &str = "with --full";

/// Counts the items of `all` beyond the first `shown_most`: `5 more, with --full`. `None` if all
/// are shown.
pub(crate) fn more(all: usize, shown_most: usize) -> Option<String> {
    let more = all.checked_sub(shown_most).filter(|more| *more > 0)?;
    Some(format!("{} more, {WITH_FULL}", format_count(more as u64)))
}

/// Returns a block of suggested commands, each with its purpose; `None` without commands.
pub(crate) fn next_block(commands: &[(String, String)]) -> Option<Block> {
    let next = || Block::Part(String::new(), vec![Block::Next(commands.to_vec())]);
    (!commands.is_empty()).then(next)
}

/// Returns the first sentence of a text: up to a full stop that no lower-case letter follows.
pub(crate) fn first_sentence(text: &str) -> &str {
    let is_end = |at: &usize| text[at + 2..].starts_with(|next: char| !next.is_lowercase());
    match text.match_indices(". ").map(|(at, _)| at).find(is_end) {
        Some(end) => &text[..=end],
        None => text,
    }
}

/// Returns the first sentence of a remark without its full stop, cut at the end of a clause if it
/// is long.
pub(crate) fn in_brief(text: &str) -> String {
    up_to_clause(first_sentence(text).trim_end_matches('.'), REMARK_LETTERS_MOST)
}

/// Ends of a clause at which long texts are cut, the preferred one first. A text is never cut
/// within a clause: a number would lose what it is of.
const CLAUSE_ENDS: [&str; 2] = ["; ", ", "];

/// Cuts a text of more than `letters_most` characters at the end of a clause, and adds an ellipsis.
/// If no clause ends in its second half before that, it is cut at the next end, or not at all.
pub(crate) fn up_to_clause(text: &str, letters_most: usize) -> String {
    let Some((most, _)) = text.char_indices().nth(letters_most) else { return text.to_owned() };
    let before = CLAUSE_ENDS.iter().find_map(|end| {
        // A clause that is much shorter would leave out too much.
        text[..most].rfind(end).filter(|at| *at > most / 2)
    });
    let after = || CLAUSE_ENDS.iter().filter_map(|end| Some(most + text[most..].find(end)?)).min();
    match before.or_else(after) {
        Some(end) => format!("{} …", without_open_bracket(text[..end].trim_end())),
        None => text.to_owned(),
    }
}

/// Leaves out a bracket that is opened and not closed, with all behind it.
fn without_open_bracket(text: &str) -> &str {
    match (text.rfind('('), text.rfind(')')) {
        (Some(opened), closed) if closed.is_none_or(|closed| closed < opened) => {
            text[..opened].trim_end()
        }
        _ => text,
    }
}
