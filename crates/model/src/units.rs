//! Parsing and formatting of durations, rates, counts and sizes, as users write them. Not here: any
//! clock.

use std::fmt;

/// Number of nanoseconds in a microsecond.
pub const NS_PER_US: u64 = 1_000;
/// Number of nanoseconds in a millisecond.
pub const NS_PER_MS: u64 = 1_000_000;
/// Number of nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;
/// Number of bytes in a megabyte (decimal).
pub const MEGABYTE: u64 = 1_000_000;

/// Error for a quantity that cannot be parsed; the message says what is wrong and shows valid
/// forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadUnit(pub String);

impl fmt::Display for BadUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadUnit {}

/// Returns the number of nanoseconds in a unit of time: `ns`, `us` or `µs`, `ms`, `s`. `None` for
/// any other unit.
pub fn ns_of_unit(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" | "µs" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

/// Parses a duration such as `30s`, `1.5h`, `250ms` or `1h30m` into nanoseconds. Fails if it has no
/// unit and is not zero, or is longer than a year.
pub fn parse_duration(text: &str) -> Result<u64, BadUnit> {
    let bad = |why: &str| BadUnit(format!("'{text}' is not a duration: {why}"));
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(bad("write a number with a unit, such as 30s"));
    }
    if is_zero(rest) {
        return Ok(0);
    }
    let mut total_ns = 0f64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        let value: f64 = match number.parse() {
            Ok(value) => value,
            Err(_) => return Err(bad("write a number with a unit, such as 30s or 1h30m")),
        };
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        total_ns += value
            * match unit.trim() {
                "m" | "min" => 60e9,
                "h" => 3600e9,
                "d" => 86_400e9,
                "" if total_ns > 0.0 => {
                    return Err(bad(&format!("its {number} has no unit (write 1h30m or 10m30s)")));
                }
                "" => return Err(bad("it has no unit (write 30s, 500ms, 5m or 1h)")),
                unit => {
                    ns_of_unit(unit).ok_or_else(|| bad("units are ns, us, ms, s, m, h and d"))?
                }
            };
        rest = tail;
    }
    let limit_ns = 365.0 * 86_400e9;
    if total_ns > limit_ns {
        return Err(bad("it is longer than a year"));
    }
    Ok(total_ns.round() as u64)
}

/// Whether a text is a zero without a unit, such as `0`, which is the same in all units.
pub(crate) fn is_zero(text: &str) -> bool {
    let is_part = |letter: char| letter == '0' || letter == '.';
    text.chars().all(is_part) && text.parse::<f64>().is_ok()
}

/// Units that the bound of a metric may have: the unit, its factor and its base unit, such as `MB`,
/// 1e6 and `B`. `M` always means a million.
pub(crate) const AMOUNT_UNITS: [(&str, f64, &str); 12] = [
    ("", 1.0, ""),
    ("%", 1.0, "%"),
    ("k", 1e3, ""),
    ("M", 1e6, ""),
    ("G", 1e9, ""),
    ("B", 1.0, "B"),
    ("kB", 1e3, "B"),
    ("MB", 1e6, "B"),
    ("GB", 1e9, "B"),
    ("KiB", 1024.0, "B"),
    ("MiB", 1_048_576.0, "B"),
    ("GiB", 1_073_741_824.0, "B"),
];

/// Splits a suffix `k`, `M` or `G` off a number: `60k` gives `60` and 1000; the factor is 1 if
/// there is no suffix.
pub fn without_scale(number: &str) -> (&str, f64) {
    let scaled = |(scale, factor): (char, f64)| Some((number.strip_suffix(scale)?, factor));
    [('k', 1e3), ('M', 1e6), ('G', 1e9)].into_iter().find_map(scaled).unwrap_or((number, 1.0))
}

/// Parses a number such as `0.5`, `1e6`, `60k` or `1M`. Fails if it is not finite.
pub fn parse_number(text: &str) -> Result<f64, BadUnit> {
    let (number, factor) = without_scale(text.trim());
    let value = number.trim_end().replace('_', "").parse::<f64>().ok();
    let value = value.map(|value| value * factor).filter(|value| value.is_finite());
    value.ok_or_else(|| BadUnit(format!("'{text}' is not a number: write 0.5, 500, 60k or 1M")))
}

/// Parses a rate such as `500`, `500/s`, `30k/min` or `30000/min` into events per second. Fails
/// unless it is above zero.
pub fn parse_rate(text: &str) -> Result<f64, BadUnit> {
    let bad = |why: &str| BadUnit(format!("'{text}' is not a rate: {why}"));
    let (number, per_s) = match text.trim().split_once('/') {
        None => (text.trim(), 1.0),
        Some((number, "s")) => (number, 1.0),
        Some((number, "m" | "min")) => (number, 1.0 / 60.0),
        Some((number, "h")) => (number, 1.0 / 3600.0),
        Some(_) => return Err(bad("write 500, 500/s or 30000/min")),
    };
    let (number, factor) = without_scale(number.trim());
    let value: f64 = match number.trim_end().replace('_', "").parse::<f64>() {
        Ok(value) => value * factor,
        Err(_) => return Err(bad("write 500, 500/s or 30000/min")),
    };
    if !value.is_finite() || value <= 0.0 {
        return Err(bad("it must be above zero"));
    }
    Ok(value * per_s)
}

/// Parses a whole number such as `1000000`, `1_000_000`, `100k`, `1M` or `2G`. Fails for fractions
/// and on overflow.
pub fn parse_count(text: &str) -> Result<u64, BadUnit> {
    scaled(text, "a count", &[("", 1), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)])
}

/// Parses a size such as `4096`, `64KiB`, `16M` or `1GB` into bytes; `k`, `M` and `G` without `B`
/// are binary. Fails for fractions and on overflow.
pub fn parse_bytes(text: &str) -> Result<u64, BadUnit> {
    let units = [
        ("", 1),
        ("B", 1),
        ("k", 1 << 10),
        ("K", 1 << 10),
        ("KiB", 1 << 10),
        ("kB", 1_000),
        ("KB", 1_000),
        ("M", 1 << 20),
        ("MiB", 1 << 20),
        ("MB", MEGABYTE),
        ("G", 1 << 30),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
    ];
    scaled(text, "a size", &units)
}

/// Converts bytes per second to the largest decimal unit in which they are a whole number:
/// 10,000,000 to 10 and `MB/s`.
pub fn byte_rate(bytes_per_s: u64) -> (u64, &'static str) {
    let units = [(1_000_000_000, "GB/s"), (1_000_000, "MB/s"), (1_000, "kB/s")];
    let unit = units.into_iter().find(|(factor, _)| bytes_per_s.is_multiple_of(*factor));
    let (factor, name) = unit.unwrap_or((1, "B/s"));
    (bytes_per_s / factor, name)
}

fn scaled(text: &str, what: &str, units: &[(&str, u64)]) -> Result<u64, BadUnit> {
    let clean = text.trim().replace('_', "");
    let end = clean.find(|c: char| !c.is_ascii_digit()).unwrap_or(clean.len());
    let (digits, unit) = clean.split_at(end);
    let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let value = digits.parse::<u64>().ok().zip(factor);
    value.and_then(|(value, factor)| value.checked_mul(factor)).ok_or_else(|| {
        let names: Vec<&str> =
            units.iter().map(|(name, _)| *name).filter(|n| !n.is_empty()).collect();
        BadUnit(format!(
            "'{text}' is not {what}: write a whole number (units: {})",
            names.join(", ")
        ))
    })
}

/// Formats a duration, given in nanoseconds, briefly as `1h30m`, `30s` or `2.5ms`: with up to three
/// decimals below a minute, and in whole seconds above.
pub fn format_duration(ns: u64) -> String {
    match ns {
        0 => "0s".to_owned(),
        1..NS_PER_US => format!("{ns}ns"),
        NS_PER_US..NS_PER_MS => decimal(ns, NS_PER_US, "us"),
        NS_PER_MS..NS_PER_S => decimal(ns, NS_PER_MS, "ms"),
        _ if !ns.is_multiple_of(NS_PER_S) && ns < 60 * NS_PER_S => decimal(ns, NS_PER_S, "s"),
        _ => {
            // Rounds half up without overflow.
            let seconds = ns / NS_PER_S + u64::from(ns % NS_PER_S >= NS_PER_S / 2);
            let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
            let shown = parts.iter().filter(|(n, _)| *n > 0);
            shown.map(|(n, unit)| format!("{n}{unit}")).collect()
        }
    }
}

fn decimal(ns: u64, unit_ns: u64, unit: &str) -> String {
    let value = ns as f64 / unit_ns as f64;
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}

/// Formats a count with commas between thousands: `1,234,567`.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_above_zero_need_a_unit() {
        let check = |text: &str, expect: Result<u64, &str>| match (parse_duration(text), expect) {
            (Ok(got), Ok(want)) => assert_eq!(got, want, "{text}"),
            (Err(got), Err(want)) => assert!(got.0.contains(want), "{text}: {got}"),
            (got, want) => panic!("{text}: {got:?}, expected {want:?}"),
        };
        check("30s", Ok(30 * NS_PER_S));
        check("250ms", Ok(250 * NS_PER_MS));
        check("1h30m", Ok(5400 * NS_PER_S));
        let refused = parse_duration("10m30").expect_err("the seconds have no unit").to_string();
        assert!(refused.contains("its 30 has no unit"), "{refused}");
        check("1.5h", Ok(5400 * NS_PER_S));
        for zero in ["0s", "0", " 0 ", "0.0"] {
            check(zero, Ok(0));
        }
        check("0 30", Err("no unit"));
        check(".", Err("write a number"));
        check("30", Err("no unit"));
        check("", Err("write a number"));
        check("soon", Err("write a number"));
        check("-1s", Err("write a number"));
        check("5 parsecs", Err("units are"));
        check("9000000000h", Err("longer than a year"));
    }

    #[test]
    fn any_number_of_nanoseconds_is_a_duration() {
        assert_eq!(format_duration(u64::MAX), "5124095h34m34s");
        assert_eq!(format_duration(89 * NS_PER_S + NS_PER_S / 2), "1m30s");
    }

    #[test]
    fn durations_are_read_as_they_are_written() {
        for text in ["1h30m", "30s", "2.5ms", "150us", "20ns", "1.25s", "1h", "0s"] {
            let ns = parse_duration(text).expect(text);
            assert_eq!(format_duration(ns), text);
        }
    }

    #[test]
    fn rates_are_above_zero() {
        assert_eq!(parse_rate("500"), Ok(500.0));
        assert_eq!(parse_rate("30000/min"), Ok(500.0));
        assert_eq!(parse_rate("0.5/s"), Ok(0.5));
        assert_eq!([parse_rate("60k/min"), parse_rate("1.5 k/s")], [Ok(1000.0), Ok(1500.0)]);
        assert_eq!(parse_rate("2M"), Ok(2e6));
        for bad in ["-1", "0", "k", "M/s", "fast", "5/fortnight", "inf", "NaN"] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_and_sizes_take_their_units() {
        assert_eq!(parse_count("1_000"), Ok(1000));
        assert_eq!(parse_count("100k"), Ok(100_000));
        assert_eq!(parse_bytes("64KiB"), Ok(65_536));
        assert!(parse_count("1.5k").is_err());
        assert!(parse_count("99999999999G").is_err());
        assert_eq!(format_count(1_234_567), "1,234,567");
        assert_eq!(format_count(12), "12");
    }
}
