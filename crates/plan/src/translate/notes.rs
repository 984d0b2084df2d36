//! What a translation says about its source: what became part of the plan, and what did not.
//!
//! Not here: the plan itself.

use std::fmt::Write as _;

use super::keys::Key;

/// Largest number of line numbers that a note lists.
const LINES_MOST: usize = 6;
/// Largest number of letters of a value that a note repeats.
const VALUE_MOST: usize = 60;

/// A word of the source with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// Lines of the source, from 1; empty if the note is about the whole file.
    lines: Vec<usize>,
    /// Word of the source, such as `diset tpcc mysql_count_ware 100`.
    what: String,
    /// What it became, or why it has no counterpart.
    text: String,
    /// Key of the plan and the value that the word gave it; `None` if it became none.
    value: Option<(Key, String)>,
}

/// The notes of one translation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    translated: Vec<Note>,
    left_out: Vec<Note>,
    /// Names of passwords in the source, whose values are not copied.
    passwords: Vec<String>,
}

impl Notes {
    /// Adds a word that became part of the plan.
    pub(super) fn translated(&mut self, line: usize, what: &str, text: impl Into<String>) {
        add(&mut self.translated, line, what, text.into(), None);
    }

    /// Adds a word that became the value of a key of the plan.
    pub(super) fn became(&mut self, line: usize, what: &str, key: Key, value: &str) {
        self.became_with(line, what, key, value, "");
    }

    /// The same with what to know about it.
    pub(super) fn became_with(
        &mut self,
        line: usize,
        what: &str,
        key: Key,
        value: &str,
        more: &str,
    ) {
        let colon = if more.is_empty() { "" } else { ": " };
        let text = format!("{} = {}{colon}{more}", key.written(), short(value));
        add(&mut self.translated, line, what, text, Some((key, value.to_owned())));
    }

    /// Takes back what the words became that gave a key another value than the plan has.
    pub(super) fn take_back(&mut self, key: Key, kept: &str, reason: &str) {
        let is_kept =
            |note: &Note| note.value.as_ref().is_none_or(|(of, value)| *of != key || value == kept);
        let (kept, others) = std::mem::take(&mut self.translated).into_iter().partition(is_kept);
        self.translated = kept;
        let others: Vec<Note> = others;
        for note in others {
            self.left_out.push(Note { text: reason.to_owned(), value: None, ..note });
        }
    }

    /// Adds a word that has no counterpart, with the reason.
    pub(super) fn left_out(&mut self, line: usize, what: &str, reason: impl Into<String>) {
        add(&mut self.left_out, line, what, reason.into(), None);
    }

    /// Adds a word whose value is a password. The value must not be part of `what`.
    pub(super) fn password(&mut self, what: &str) {
        if !self.passwords.iter().any(|known| known == what) {
            self.passwords.push(what.to_owned());
        }
    }

    /// Number of words without a counterpart.
    pub(super) fn n_left_out(&self) -> usize {
        self.left_out.len()
    }

    /// Returns the notes as TOML comments. `title` describes the source.
    pub(super) fn comments(&self, title: &str) -> String {
        let mut text = format!("# {title}\n");
        if !self.passwords.is_empty() {
            let _ = writeln!(
                text,
                "#\n# The password ({}) is not copied: run the plan with --ask-password,\n# \
                 --password-file FILE, or the environment variable DBDYNO_PASSWORD.",
                self.passwords.join(", ")
            );
        }
        for (heading, notes) in
            [("Translated", &self.translated), ("Without a counterpart", &self.left_out)]
        {
            if !notes.is_empty() {
                let _ = writeln!(text, "#\n# {heading}:");
            }
            let mut notes: Vec<&Note> = notes.iter().collect();
            // What is about the whole file comes last.
            notes.sort_by_key(|note| note.lines.iter().min().copied().unwrap_or(usize::MAX));
            for note in notes {
                let _ = writeln!(text, "#   {}{}: {}", place(&note.lines), note.what, note.text);
            }
        }
        if self.left_out.is_empty() {
            text.push_str("#\n# Nothing was left out.\n");
        }
        text
    }
}

/// Shortens a value of the source to one line of printable letters, for a note.
pub(super) fn short(value: &str) -> String {
    let letters = value.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut short: String = letters.clone().take(VALUE_MOST).collect();
    if letters.count() > VALUE_MOST {
        short.push_str("...");
    }
    short.trim().to_owned()
}

fn add(notes: &mut Vec<Note>, line: usize, what: &str, text: String, value: Option<(Key, String)>) {
    let (what, text) = (short(what), text.replace(['\n', '\r'], " "));
    let known = notes.iter_mut().find(|note| note.what == what && note.text == text);
    match known {
        Some(note) if line == 0 || note.lines.contains(&line) => {}
        Some(note) => note.lines.push(line),
        None => {
            let lines = if line == 0 { Vec::new() } else { vec![line] };
            notes.push(Note { lines, what, text, value });
        }
    }
}

fn place(lines: &[usize]) -> String {
    let numbers: Vec<String> = lines.iter().take(LINES_MOST).map(usize::to_string).collect();
    let more = if lines.len() > LINES_MOST { ", ..." } else { "" };
    match numbers.as_slice() {
        [] => String::new(),
        [one] => format!("line {one}: "),
        all => format!("lines {}{more}: ", all.join(", ")),
    }
}
