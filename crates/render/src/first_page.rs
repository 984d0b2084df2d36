//! What all first pages have in common: what fits a screen of 80 columns, and what follows.

use model::format_count;
use model::numbers::cut;

use crate::document::Block;

/// Warnings that are shown; the others are counted.
pub(crate) const WARNINGS_MOST: usize = 3;

/// Notes that are shown.
pub(crate) const NOTES_MOST: usize = 2;

/// Three to four lines of 80 columns beside their label.
const REMARK_LETTERS_MOST: usize = 240;

/// How to see the rest of a table.
pub(crate) const WITH_FULL: &str = "with --full";

/// `5 more, with --full`, where of so many only the first are shown.
pub(crate) fn more(all: usize, shown_most: usize) -> Option<String> {
    let more = all.checked_sub(shown_most).filter(|more| *more > 0)?;
    Some(format!("{} more, {WITH_FULL}", format_count(more as u64)))
}

/// Commands to go on with, and what each is for.
pub(crate) fn next_block(commands: &[(String, String)]) -> Option<Block> {
    let next = || Block::Part(String::new(), vec![Block::Next(commands.to_vec())]);
    (!commands.is_empty()).then(next)
}

/// Up to the first full stop that ends a sentence: what follows begins with a capital letter.
pub(crate) fn first_sentence(text: &str) -> &str {
    let is_end = |at: &usize| text[at + 2..].starts_with(|next: char| !next.is_lowercase());
    match text.match_indices(". ").map(|(at, _)| at).find(is_end) {
        Some(end) => &text[..=end],
        None => text,
    }
}

/// The first sentence of a remark: what a reader must know of it.
pub(crate) fn in_brief(text: &str) -> String {
    cut(first_sentence(text).trim_end_matches('.'), REMARK_LETTERS_MOST)
}
