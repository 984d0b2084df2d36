//! Replacement of Unicode characters by ASCII, for terminals that cannot show Unicode.
//!
//! Not here: how to detect such a terminal (dbdyno).

/// Block characters of a sparkline from the lowest to the highest, each with the ASCII character
/// that replaces it. The replacements look taller or darker in the same order.
const BLOCKS: [(char, char); 8] = [
    ('▁', '.'),
    ('▂', ':'),
    ('▃', '-'),
    ('▄', '='),
    ('▅', '+'),
    ('▆', '*'),
    ('▇', '%'),
    ('█', '#'),
];

/// Returns the ASCII text that replaces a non-ASCII character, such as `>=` for `≥`; `?` for a
/// character without one.
fn instead(letter: char) -> &'static str {
    match letter {
        '±' => "+-",
        '≥' => ">=",
        '≤' => "<=",
        '≠' => "!=",
        '≈' => "~",
        '∞' => "inf",
        'µ' | 'μ' => "u",
        '×' | '✕' => "x",
        '·' => ".",
        '²' => "2",
        'σ' => "sigma",
        '–' | '—' | '−' => "-",
        '→' => "->",
        '←' => "<-",
        '▲' => "^",
        '▼' => "v",
        '…' => "...",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        '\u{a0}' | '\u{202f}' => " ",
        _ => "?",
    }
}

/// Converts `text` to ASCII for terminals that cannot show Unicode: `≥ 5` becomes `>= 5`. Where a
/// character is replaced by several, blanks next to it are removed, so that table columns stay
/// aligned.
pub fn ascii(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    // Columns that were taken, and the length of the present gap.
    let (mut taken, mut gap) = (0, 0);
    for letter in text.chars() {
        gap = if letter == ' ' { gap + 1 } else { 0 };
        if letter == '\n' {
            taken = 0;
        }
        if gap > 1 && taken > 0 {
            taken -= 1;
            continue;
        }
        match BLOCKS.iter().find(|(block, _)| *block == letter) {
            Some((_, block)) => shown.push(*block),
            None if letter.is_ascii() => shown.push(letter),
            None => {
                let instead = instead(letter);
                let more = instead.len() - 1;
                // Text at the right of its column grows to the left.
                let before = shown.len() - shown.trim_end_matches(' ').len();
                let from_left = more.min(before.saturating_sub(2));
                shown.truncate(shown.len() - from_left);
                shown.push_str(instead);
                taken += more - from_left;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::ascii;

    #[test]
    fn columns_stay_below_each_other() {
        let text = "p99    \u{b1} 5   ms\n\u{221e}      12    ms\n≥ 3,000  1    ms\nplain  text";
        insta::assert_snapshot!(ascii(text), @r"
        p99   +- 5   ms
        inf    12    ms
        >= 3,000 1    ms
        plain  text
        ");
        assert_eq!(ascii("▁▂▃▄▅▆▇█_"), ".:-=+*%#_");
        assert_eq!(ascii("12.9 µs × 2 – ü"), "12.9 us x 2 - ?");
    }
}
