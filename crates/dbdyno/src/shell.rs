//! What is said on stderr, by the command line and by who serves pages.

use std::io::Write;

/// Says something on stderr; when nobody reads there any more, that is no error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", harmless(text));
}

/// `text` without what would change a terminal: names and messages come from plans and servers.
/// JSON stays JSON.
pub(crate) fn harmless(text: &str) -> String {
    let is_plain = |letter: char| !letter.is_control() || matches!(letter, '\n' | '\t');
    let put = |mut shown: String, letter: char| {
        match is_plain(letter) {
            true => shown.push(letter),
            false => shown.push_str(&format!("\\u{:04x}", letter as u32)),
        }
        shown
    };
    text.chars().fold(String::with_capacity(text.len()), put)
}
