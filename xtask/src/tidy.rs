//! Rules of the project that a machine can check, each a small pure function.
//!
//! Rules that need judgement (names, comments, the right crate) are left to the reviewer.

mod calls;
mod circles;
mod doc_comments;
mod layers;
mod lists;
mod products;
mod rust;
mod shape;
mod ways;
mod words;

use std::fmt;

use crate::tree::Tree;

/// A violation of a rule of the project, in a line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Trouble {
    pub(crate) path: String,
    /// Number of the line in the file, from 1.
    pub(crate) line: usize,
    /// Description of the violation, with its remedy.
    pub(crate) text: String,
}

impl Trouble {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Trouble {
        Trouble { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Result of checking all rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// Violations of rules that must be corrected.
    pub(crate) failures: Vec<Trouble>,
    /// Violations of rules that are only to be considered.
    pub(crate) advice: Vec<Trouble>,
}

/// Rules of the project that must be kept, in the order in which a newcomer would ask for them.
const RULES: &[fn(&Tree) -> Vec<Trouble>] = &[
    layers::table_is_kept,
    layers::light_rooms_stay_light,
    circles::modules_form_no_circle,
    shape::files_say_what_they_are,
    shape::lines_fit,
    shape::functions_fit,
    shape::files_fit,
    doc_comments::say_what_names_cannot,
    calls::banned_calls,
    products::products_are_named_by_drivers,
    lists::members_are_listed,
    lists::docs_are_linked,
    lists::examples_are_tested,
    lists::tests_of_examples_run,
    ways::ways_are_true,
    words::no_private_paths,
    words::no_retired_names,
    words::subjects_fit,
];

/// Rules of the project whose violations are only advice.
const ADVICE: &[fn(&Tree) -> Vec<Trouble>] =
    &[shape::long_tests, shape::long_test_files, shape::crates_fit, calls::unsafe_code];

pub(crate) fn check(tree: &Tree) -> Report {
    let apply = |rules: &[fn(&Tree) -> Vec<Trouble>]| {
        let mut found: Vec<Trouble> = rules.iter().flat_map(|rule| rule(tree)).collect();
        found.sort();
        found
    };
    Report { failures: apply(RULES), advice: apply(ADVICE) }
}

/// Returns the number, from 1, of the line that contains the byte at `at`.
fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Returns the positions in bytes of `word` in `text`, where it is a whole word.
fn places_of_word(text: &str, word: &str) -> Vec<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let (first, last) = (word.starts_with(part), word.ends_with(part));
    let whole = |&at: &usize| {
        let joined_before = first && text[..at].ends_with(part);
        let joined_after = last && text[at + word.len()..].starts_with(part);
        !joined_before && !joined_after
    };
    text.match_indices(word).map(|(at, _)| at).filter(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_within_another_is_not_found() {
        assert_eq!(places_of_word("eprintln!(); println!()", "println!"), [13]);
        assert_eq!(places_of_word("tpcc::ENTRY, tpc", "tpc"), [13]);
        assert_eq!(places_of_word("x.unwrap().y", ".unwrap()"), [1]);
    }

    #[test]
    fn troubles_are_reported_with_their_place() {
        let trouble = Trouble::new("a/b.rs", 7, "too long; cut it");
        assert_eq!(trouble.to_string(), "a/b.rs:7: too long; cut it");
        assert_eq!(line_at("a\nb\nc", 4), 3);
    }
}
