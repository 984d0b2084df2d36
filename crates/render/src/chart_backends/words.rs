//! Text in an SVG: escaping, and estimated widths. The reader's font is unknown, so widths are
//! those of a common font, slightly overestimated.

use model::numbers::unit;

use crate::charts::{Axis, Scale};

/// Escapes text for XML. A character that XML does not allow becomes U+FFFD.
pub(super) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            '\n' | '\t' | '\r' => shown.push(' '),
            '\u{fffe}' | '\u{ffff}' => shown.push('\u{fffd}'),
            letter if letter.is_control() => shown.push('\u{fffd}'),
            letter => shown.push(letter),
        }
    }
    shown
}

/// Returns the title of an axis with its unit, and with `log` if it is logarithmic, since charts of
/// the same figure may have different scales.
pub(super) fn axis_title(axis: &Axis) -> String {
    let is_log = axis.scale == Scale::Log && axis.categories.is_empty();
    let more: Vec<&str> = [unit(&axis.unit), if is_log { "log" } else { "" }]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    match more.is_empty() {
        true => axis.title.clone(),
        false => format!("{} ({})", axis.title, more.join(", ")),
    }
}

/// Returns the estimated width of text with font size `size`, both in pixels.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().map(|letter| size * share(letter)).sum()
}

/// Cuts text with font size `size` to `width` pixels, and ends it with an ellipsis if it was
/// longer.
pub(super) fn fitted(text: &str, size: f64, width: f64) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if width_of(&kept, size) + width_of("…", size) + size * share(letter) > width {
            break;
        }
        kept.push(letter);
    }
    format!("{}…", kept.trim_end())
}

/// Returns a letter's estimated width as a share of the font size.
fn share(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.3,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.92,
        'A'..='Z' => 0.7,
        '\u{1100}'.. => 1.05,
        _ => 0.58,
    }
}

/// Cuts text with font size `size` to about `most` pixels, and ends it with an ellipsis if it was
/// longer.
pub(super) fn shortened(text: &str, size: f64, most: f64) -> String {
    if width_of(text, size) <= most {
        return text.to_owned();
    }
    let mut width = size * share('…');
    let fits = |letter: &char| {
        width += size * share(*letter);
        width <= most
    };
    let kept: String = text.chars().take_while(fits).collect();
    kept.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_the_unit_and_names_a_scale_of_ratios() {
        let titled = |unit: &str, scale| {
            let (title, unit) = ("p99".to_owned(), unit.to_owned());
            axis_title(&Axis { title, unit, scale, ..Axis::default() })
        };
        assert_eq!(titled("ms", Scale::FromZero), "p99 (ms)");
        assert_eq!(titled("ms", Scale::Log), "p99 (ms, log)");
        assert_eq!(titled("", Scale::Log), "p99 (log)");
        assert_eq!(titled("", Scale::Linear), "p99");
    }

    #[test]
    fn hostile_words_are_text() {
        let expect = "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{fffd}";
        assert_eq!(escaped("<script>\"a\" & 'b'\u{1}"), expect);
    }

    #[test]
    fn long_words_are_shortened_at_their_end() {
        assert_eq!(shortened("short", 12.0, 100.0), "short");
        let long = shortened(&"x".repeat(100), 12.0, 100.0);
        assert!(long.ends_with('…') && width_of(&long, 12.0) <= 100.0, "{long}");
    }
}
