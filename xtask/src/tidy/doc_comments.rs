//! Rule for the doc comments of the crates: they say more than a name, and begin with a verb or a
//! noun.
//!
//! Not here: whether a comment is true, or good English. That is for the reviewer.

use super::Trouble;
use crate::tree::{File, Tree};

/// Number of words up to which a comment says too little, unless it quotes code or has a number: a
/// route, a clause or a value is what a name cannot say.
const FEW_WORDS: usize = 3;

/// First words of sentences that are about a person instead of the item.
const OPENINGS: &[&str] = &["Who", "Whoever", "Those"];

/// Doc comment of an item, with the number of its first line.
struct DocComment {
    line: usize,
    text: String,
}

/// Finds doc comments that have few words, or do not begin with a verb or a noun.
pub(super) fn say_what_names_cannot(tree: &Tree) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for file in tree.ending("rs").filter(|file| is_of_crate(&file.path)) {
        for comment in doc_comments(file) {
            if let Some(text) = trouble_with(&comment.text) {
                troubles.push(Trouble::new(&file.path, comment.line, text));
            }
        }
    }
    troubles
}

/// Returns true if a file is a source of a crate, and not a test or a development task.
fn is_of_crate(path: &str) -> bool {
    path.strip_prefix("crates/").is_some_and(|rest| rest.contains("/src/"))
}

fn trouble_with(text: &str) -> Option<String> {
    let first = text.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches(|c: char| !c.is_alphanumeric());
    match () {
        () if text.split_whitespace().count() <= FEW_WORDS
            && !text.contains(|c: char| c == '`' || c.is_ascii_digit()) =>
        {
            Some(format!(
                "the doc comment '{text}' says too little: say what the name cannot, or leave it out"
            ))
        }
        () if OPENINGS.contains(&first) => Some(format!(
            "a doc comment opens with '{first}': begin with a verb or a noun, such as 'Returns'"
        )),
        () => None,
    }
}

/// Returns the doc comments of a file, each with its lines joined.
fn doc_comments(file: &File) -> Vec<DocComment> {
    let mut comments: Vec<DocComment> = Vec::new();
    let mut is_open = false;
    for (index, line) in file.text.lines().enumerate() {
        let text = line.trim_start().strip_prefix("///").filter(|rest| !rest.starts_with('/'));
        match (text, comments.last_mut().filter(|_| is_open)) {
            (Some(text), Some(comment)) => {
                comment.text = format!("{} {}", comment.text, text.trim())
            }
            (Some(text), None) => {
                comments.push(DocComment { line: index + 1, text: text.trim().to_owned() });
            }
            (None, _) => {}
        }
        is_open = text.is_some();
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<(usize, bool)> {
        let found = say_what_names_cannot(&Tree::from_files(&[(path, text)]));
        found.iter().map(|one| (one.line, one.text.contains("too little"))).collect()
    }

    const MODEL: &str = "crates/model/src/x.rs";

    #[test]
    fn a_comment_of_few_words_is_found_with_its_line() {
        assert_eq!(check(MODEL, "//! x\n\n/// How long.\npub a: u64,\n"), [(3, true)]);
        assert_eq!(check(MODEL, "    /// It\n    /// is so.\n    a: u64,\n"), [(1, true)]);
        assert_eq!(check(MODEL, "/// Length in whole nanoseconds.\npub a: u64,\n"), []);
        assert_eq!(check(MODEL, "/// Fails\n/// if there is none.\nfn a() {}\n"), []);
        assert_eq!(check(MODEL, "/// `GET /runs`\nfn a() {}\n/// Clause 2.8.2.\nfn b() {}\n"), []);
        assert_eq!(check(MODEL, "// Not yet.\n//// No doc.\n//! Neither this.\n"), []);
    }

    #[test]
    fn an_opening_about_somebody_is_found() {
        let whoever = "/// Whoever waits is woken early.\nfn a() {}\n";
        let those = "/// Those, in order, that are known.\nfn a() {}\n";
        assert_eq!(check(MODEL, whoever), [(1, false)]);
        assert_eq!(check(MODEL, those), [(1, false)]);
        assert_eq!(check(MODEL, "/// Whole nanoseconds since the origin.\nfn a() {}\n"), []);
    }

    #[test]
    fn two_comments_are_held_apart_and_only_crates_count() {
        let two = "/// Returns the first of them.\nfn a() {}\n/// Its name.\nfn b() {}\n";
        assert_eq!(check(MODEL, two), [(3, true)]);
        assert_eq!(check("crates/model/tests/x.rs", two), []);
        assert_eq!(check("xtask/src/x.rs", two), []);
    }
}
