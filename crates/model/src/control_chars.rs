//! Invisible characters that change how the text around them is displayed. Not here: their removal.

/// Whether a character is invisible or changes how others are shown: a control character, a line
/// separator, a change of writing direction, or another Unicode format character (category Cf). Two
/// names that differ only in such characters look the same.
pub fn is_control_char(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_without_a_shape_are_unseen_and_all_others_are_not() {
        let unseen = ['\n', '\u{7}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{feff}'];
        assert!(unseen.into_iter().all(is_control_char));
        let seen = [' ', 'a', 'ß', '–', '漢', '🦀', '\u{a0}', '\u{2009}', '\u{2030}', '\u{301}'];
        assert!(!seen.into_iter().any(is_control_char));
    }
}
