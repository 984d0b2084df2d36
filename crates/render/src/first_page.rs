//! What all first pages have in common: what fits a screen of 80 columns, and what follows.

use model::format_count;

use crate::document::Block;

/// Warnings that are shown; the others are counted.
pub(crate) const WARNINGS_MOST: usize = 3;

/// Notes that are shown.
pub(crate) const NOTES_MOST: usize = 2;

/// Two lines of 80 columns beside their label.
pub(crate) const REMARK_LETTERS_MOST: usize = 130;

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
