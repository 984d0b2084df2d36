//! Formatting of numbers for people: few digits, grouped thousands, a suitable unit.

use crate::{ArrivalRate, Arrivals, Load, NS_PER_MS, NS_PER_S, NS_PER_US, QueueAtEnd, QueueFull};

/// Text that reports show in place of a missing number: a dash.
pub const NONE: &str = "–";

/// Text that reports show for an infinite time, such as the response time of a lost transaction.
pub const INFINITE: &str = "∞";

/// Formats `value` with `digits` significant digits, but always with all digits before the decimal
/// point: with three digits `0.812`, `4.21`, `12.3`, `1,234`.
pub fn significant(value: f64, digits: usize) -> String {
    if value == f64::INFINITY {
        return INFINITE.to_owned();
    }
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let value = halves_up(value);
    // Rounded first, since rounding may bring one more digit: 9.999 is 10.0.
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let magnitude = if rounded == 0.0 { 0 } else { rounded.abs().log10().floor() as i32 };
    let wanted = i32::try_from(digits).unwrap_or(3) - 1 - magnitude;
    let decimals = if rounded == 0.0 { 0 } else { usize::try_from(wanted).unwrap_or(0).min(6) };
    let cut = if wanted >= 0 { rounded } else { value };
    thousands(&format!("{cut:.decimals$}"))
}

/// Returns the `f64` next to `value` but further from zero, so that formatting rounds halves away
/// from zero and not to the even digit.
fn halves_up(value: f64) -> f64 {
    match value {
        value if value > 0.0 => value.next_up(),
        value if value < 0.0 => value.next_down(),
        // A sum of nothing is -0.0.
        _ => 0.0,
    }
}

/// Formats `value` as [`significant`] does, but with more digits if it would otherwise look equal
/// to a `bound` from which it differs.
pub fn beside_bound(value: f64, bound: f64, digits: usize) -> String {
    let is_reported = |digits: &usize| significant(value, *digits) != significant(bound, *digits);
    let enough = (digits..=DIGITS_MOST).find(is_reported).filter(|_| value != bound);
    significant(value, enough.unwrap_or(digits))
}

/// Number of significant digits with which any two different `f64` are formatted differently.
const DIGITS_MOST: usize = 17;

/// Formats a time in milliseconds with three significant digits and without a unit; a dash for
/// `None`.
pub fn ms(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| significant(value, 3))
}

/// Formats a rate with four significant digits and without a unit; a dash for `None`.
pub fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| significant(value, 4))
}

/// Formats a number as users write it, with at most three decimals; below 0.001 with three
/// significant digits.
pub fn exact(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.001 {
        let digits: f64 = format!("{value:.2e}").parse().unwrap_or(value);
        return format!("{digits}");
    }
    let text = format!("{value:.3}");
    thousands(text.trim_end_matches('0').trim_end_matches('.'))
}

/// Converts a share that a user wrote to percent, without the rounding error of floats: 0.14
/// becomes 14, not 14.000000000000002.
pub fn in_percent(share: f64) -> f64 {
    (share * 1e10).round() / 1e8
}

/// Formats a number with `decimals` digits after the decimal point and commas between thousands.
pub fn fixed(value: f64, decimals: usize) -> String {
    thousands(&format!("{:.decimals$}", halves_up(value)))
}

/// Formats a value with the half-width of its confidence interval, as in `473.2 ± 2.1`. The
/// half-width has two significant digits, and the value as many decimals.
pub fn with_error(value: f64, half_width: f64) -> String {
    let (value, error) = value_and_error(value, half_width);
    format!("{value} ± {error}")
}

/// Formats a value and the half-width of its confidence interval as [`with_error`] does, and
/// returns them as two texts.
pub fn value_and_error(value: f64, half_width: f64) -> (String, String) {
    if half_width <= value.abs() * 1e-9 {
        return (significant(value, 4), "0".to_owned());
    }
    let magnitude = half_width.log10().floor() as i32;
    let decimals = usize::try_from(1 - magnitude).unwrap_or(0).min(6);
    (fixed(value, decimals), fixed(half_width, decimals))
}

/// Formats a percentage with one decimal, without `%`; a dash for `None`.
pub fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.1}"))
}

/// Formats a percentage for a sentence, with `%`: `99.1 %`.
pub fn percent_text(percent: f64) -> String {
    match percent {
        0.0 => "0 %".to_owned(),
        ..0.01 => "less than 0.01 %".to_owned(),
        ..1.0 => format!("{percent:.2} %"),
        _ => format!("{percent:.1} %"),
    }
}

/// Formats a number of bytes with a binary unit: `34.0 MiB`, `1.20 GiB`.
pub fn bytes(n: u64) -> String {
    mean_bytes(n as f64)
}

/// Formats a number of bytes as [`bytes`] does, and accepts fractions, such as a mean of 4.25 bytes
/// per transaction.
fn mean_bytes(mut value: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", significant(value, 3), units[unit])
}

/// Returns a stored unit in the form in which people read it, such as `µs` for `us`. Stored reports
/// have ASCII units.
pub fn unit(stored: &str) -> &str {
    match stored {
        "us" => "µs",
        stored => stored,
    }
}

/// Formats the value of a gauge with its unit, such as `12.3 %`, `34.0 MiB/s`, `1,234/s` or `0.810
/// ms`. `stored` is the unit as it is stored with the gauge, such as `B/s`.
pub fn amount(value: f64, stored: &str) -> String {
    match stored {
        "B" => mean_bytes(value.max(0.0)),
        "B/s" => format!("{}/s", mean_bytes(value.max(0.0))),
        "1/s" => format!("{}/s", significant(value, 3)),
        "" if value.fract() == 0.0 => exact(value),
        "" => significant(value, 3),
        // Very short times, such as many waits for locks, are easier to read in µs.
        "ms" if value != 0.0 && value.abs() < 0.01 => {
            format!("{} µs", significant(value * 1e3, 3))
        }
        stored => format!("{} {}", significant(value, 3), unit(stored)),
    }
}

/// Formats the value of a gauge as [`amount`] does, but with more digits if it would otherwise look
/// equal to a `bound` from which it differs.
pub fn amount_beside_bound(value: f64, bound: f64, stored: &str) -> String {
    let text = amount(value, stored);
    match value != bound && text == amount(bound, stored) {
        true => {
            let shown = format!("{} {}", beside_bound(value, bound, 4), unit(stored));
            shown.trim_end().to_owned()
        }
        false => text,
    }
}

/// Formats a number of seconds: `7.4 s`, `60 s`; from 120 s on without a fraction, as `1h30m`.
pub fn seconds(value: f64) -> String {
    if value >= 120.0 {
        return crate::format_duration((value.round() * 1e9) as u64);
    }
    let text = format!("{value:.1}");
    format!("{} s", text.strip_suffix(".0").unwrap_or(&text))
}

/// Rounds a recommended duration, in seconds, up to a multiple of 5 s (below a minute), 30 s (below
/// 10 minutes), 5 min (below an hour) or 1 h.
pub fn rounded_up(seconds: f64) -> f64 {
    let step = match seconds {
        ..60.0 => 5.0,
        ..600.0 => 30.0,
        ..3600.0 => 300.0,
        _ => 3600.0,
    };
    (seconds / step).ceil() * step
}

/// Formats a duration given in nanoseconds, with three significant digits in a suitable unit: `325
/// µs`, `900 ms`, `2.01 s`, `1h30m`.
pub fn duration(ns: u64) -> String {
    let (unit, per_unit_ns) = match ns {
        ..NS_PER_US => ("ns", 1),
        NS_PER_US..NS_PER_MS => ("µs", NS_PER_US),
        NS_PER_MS..NS_PER_S => ("ms", NS_PER_MS),
        120_000_000_000.. => return seconds(ns as f64 / NS_PER_S as f64),
        _ => ("s", NS_PER_S),
    };
    let digits = significant(ns as f64 / per_unit_ns as f64, 3);
    let digits = if digits.contains('.') { digits.trim_end_matches('0') } else { &digits };
    format!("{} {unit}", digits.trim_end_matches('.'))
}

/// Shortens a line to at most `width` characters. A longer line is cut at its end, and an ellipsis
/// is appended.
pub fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let kept: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Joins names as in a sentence, such as `a, b and c`; returns an empty text if there are none.
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names[..] {
        [] => String::new(),
        [one] => one.to_owned(),
        [ref first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Formats a count with its noun, in the plural if needed: `1 client`, `1,500 clients`.
pub fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", crate::format_count(n))
}

/// Limit on the steps of an arrival rate that are all listed. For more steps, only their number and
/// the first and last rate are shown.
const STEPS_SHOWN_MAX: usize = 6;

/// Formats an arrival rate with its unit, such as `500 arrivals/s`, or describes how the rate
/// changes.
pub fn arrival_rate(rate: &ArrivalRate) -> String {
    match rate {
        ArrivalRate::Constant(per_s) => format!("{} arrivals/s", exact(*per_s)),
        ArrivalRate::Bytes(_) | ArrivalRate::Records(_) => rate.to_string(),
        ArrivalRate::Steps(steps) if steps.len() > STEPS_SHOWN_MAX => {
            let (first, last) = (steps[0].0, steps[steps.len() - 1].0);
            let n_steps = crate::format_count(steps.len() as u64);
            format!("{n_steps} steps from {} to {} arrivals/s", exact(first), exact(last))
        }
        changing => format!("{changing} arrivals/s"),
    }
}

/// Describes a load model and its parameters in words: `open, 500 arrivals/s (Poisson), ...`.
pub fn load(load: &Load) -> String {
    load_parts(load).join(", ")
}

/// Describes a load model in words, as [`load`] does, but as a list of separate parts.
pub fn load_parts(load: &Load) -> Vec<String> {
    match load {
        Load::Closed => vec!["closed".to_owned()],
        Load::Open { arrivals, rate, queue, queue_full, queue_wait_ns, queue_at_end } => {
            let order = match arrivals {
                Arrivals::Poisson => "Poisson",
                Arrivals::Uniform => "uniform",
            };
            let full = match queue_full {
                QueueFull::Drop => "then dropped",
                QueueFull::Stop => "then the run stops",
            };
            let mut parts = vec![
                "open".to_owned(),
                format!("{} ({order})", arrival_rate(rate)),
                format!("at most {} queued", crate::format_count(*queue)),
                full.to_owned(),
            ];
            if let Some(wait_ns) = queue_wait_ns {
                parts.push(format!("dropped after a wait of {}", duration(*wait_ns)));
            }
            if *queue_at_end == QueueAtEnd::Leave {
                parts.push("what is queued at the end is not executed".to_owned());
            }
            parts
        }
        Load::KeyThink { scale: 1.0 } => vec!["keying and thinking times".to_owned()],
        Load::KeyThink { scale } => {
            vec![format!("keying and thinking times × {}", exact(*scale))]
        }
    }
}

/// Inserts commas between the thousands of a decimal number: `44,570,176.5`.
pub fn thousands(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), crate::format_count);
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// Breaks text at blanks into lines of at most `width` characters. A word longer than that is a
/// line of its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let length = line.chars().count();
        if length == 0 {
            line.push_str(word);
        } else if length + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns the word with a capital as its first letter.
pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        let check = |names: &[&str], expect: &str| assert_eq!(list(names), expect);
        check(&[], "");
        check(&["TPS"], "TPS");
        check(&["TPS", "p95"], "TPS and p95");
        check(&["TPS", "p95", "p99"], "TPS, p95 and p99");
    }

    #[test]
    fn durations_are_reported_in_the_unit_that_fits() {
        let check = |ns: u64, expect: &str| assert_eq!(duration(ns), expect);
        check(0, "0 ns");
        check(325_400, "325 µs");
        check(900_000_000, "900 ms");
        check(2_006_000_000, "2.01 s");
        check(30_000_000_000, "30 s");
        check(5_400_000_000_000, "1h30m");
    }

    #[test]
    fn numbers_have_as_many_digits_as_they_deserve() {
        let check = |value: f64, digits: usize, expect: &str| {
            assert_eq!(significant(value, digits), expect, "{value}");
        };
        check(0.0, 3, "0");
        check(0.000_812_3, 3, "0.000812");
        check(0.812_3, 3, "0.812");
        check(4.2123, 3, "4.21");
        check(9.999, 3, "10.0");
        check(12.34, 3, "12.3");
        check(999.7, 3, "1,000");
        check(1234.4, 3, "1,234");
        check(28_394.4, 4, "28,394");
        check(473.24, 4, "473.2");
        check(-1234.5, 4, "-1,235");
        check(5274.5, 4, "5,275");
        check(0.125, 2, "0.13");
        check(f64::NAN, 4, NONE);
    }

    #[test]
    fn a_value_is_never_shown_as_the_bound_that_it_is_not() {
        let check = |value: f64, digits: usize, expect: &str| {
            assert_eq!(beside_bound(value, 20.0, digits), expect, "{value}");
        };
        check(20.0, 3, "20.0");
        check(19.97, 3, "19.97");
        check(20.000_1, 3, "20.0001");
        check(19.5, 3, "19.5");
        check(28_394.4, 4, "28,394");
        check(f64::INFINITY, 3, INFINITE);
    }

    #[test]
    fn a_value_has_the_digits_that_its_error_allows() {
        assert_eq!(with_error(473.24, 2.13), "473.2 ± 2.1");
        assert_eq!(with_error(28_394.24, 131.0), "28,394 ± 131");
        assert_eq!(with_error(4.732, 0.051), "4.732 ± 0.051");
        assert_eq!(with_error(400.0, 0.0), "400.0 ± 0");
        // Halves are rounded away from zero, with an error and without.
        assert_eq!(with_error(5_274.5, 83.0), "5,275 ± 83");
        assert_eq!((significant(5_274.5, 4), fixed(-0.125, 2)), ("5,275".into(), "-0.13".into()));
        assert_eq!((exact(500.0), exact(0.25)), ("500".to_owned(), "0.25".to_owned()));
        assert_eq!((exact(0.000_1), exact(-0.000_123_4)), ("0.0001".into(), "-0.000123".into()));
        assert_eq!((exact(0.0), exact(f64::INFINITY)), ("0".into(), "inf".into()));
    }

    #[test]
    fn sizes_and_durations_have_a_unit_that_fits() {
        assert_eq!(bytes(34 << 20), "34.0 MiB");
        assert_eq!(bytes(12), "12.0 B");
        assert_eq!(amount(3e6, "B/s"), "2.86 MiB/s");
        assert_eq!(amount(1234.4, "1/s"), "1,234/s");
        assert_eq!(amount(12.0, "us"), "12.0 µs");
        assert_eq!(amount_beside_bound(12.000_01, 12.0, "us"), "12.00001 µs");
        assert_eq!((amount(0.81, "ms"), amount(7.0, "")), ("0.810 ms".into(), "7".into()));
        assert_eq!(seconds(7.4), "7.4 s");
        assert_eq!(seconds(60.0), "60 s");
        assert_eq!(seconds(5400.0), "1h30m");
    }

    #[test]
    fn text_is_broken_at_blanks_only() {
        assert_eq!(wrap("a bb ccc dddd", 6), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrap("unbreakable", 4), ["unbreakable"]);
    }
}
