//! Values of a parameter between two ends, such as `128MB..4GB`: some that are spread over the
//! range, for a tuner to choose from.

/// Ratio of the ends from which on values are multiples of each other, and not steps.
const RATIO_WIDE: f64 = 10.0;
/// Most values of a range.
const VALUES_MOST: usize = 13;
/// Values of a range whose ends are near to each other.
const STEPS: usize = 9;

/// Units of sizes, by their factor: those of MariaDB and MySQL, and those of PostgreSQL.
const SIZES: [(&str, f64); 9] = [
    ("", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("m", 1_048_576.0),
    ("mb", 1_048_576.0),
    ("g", 1_073_741_824.0),
    ("gb", 1_073_741_824.0),
    ("t", 1_099_511_627_776.0),
    ("tb", 1_099_511_627_776.0),
];

/// Returns values from `low` to `high`, both included, if a text is a range such as `1..64`,
/// `128MB..4GB` or `0.5..0.9`; `None` if it is none. Ends of different units must be sizes. If the
/// ends are whole numbers, so are all values.
///
/// # Errors
///
/// The reason why there are no values between the ends.
pub(crate) fn values_between(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((low, high)) = text.split_once("..") else { return Ok(None) };
    let (Some(low), Some(high)) = (number_with_unit(low), number_with_unit(high)) else {
        return Ok(None);
    };
    let (low, high, unit) = in_one_unit(low, high)
        .ok_or_else(|| format!("'{text}': the ends have different units: write 128MB..4GB"))?;
    if low >= high {
        return Err(format!("'{text}': the end must be higher than the beginning"));
    }
    let is_whole = low.fract() == 0.0 && high.fract() == 0.0;
    let is_wide = low > 0.0 && high / low >= RATIO_WIDE;
    let n = match is_wide {
        true => ((high / low).log2().round() as usize + 1).min(VALUES_MOST),
        false => STEPS,
    };
    let mut values: Vec<String> = Vec::new();
    for at in 0..n {
        let share = at as f64 / (n - 1) as f64;
        let value = match is_wide {
            true => low * (high / low).powf(share),
            false => low + (high - low) * share,
        };
        // Four digits are finer than any step; adding 0 makes a negative zero a plain one.
        let rounded = if is_whole { value.round() } else { (value * 1e4).round() / 1e4 } + 0.0;
        let written = format!("{rounded}{unit}");
        if values.last() != Some(&written) {
            values.push(written);
        }
    }
    Ok(Some(values))
}

/// Reads a number with a unit behind it: `128MB`.
fn number_with_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let number = text[..end].parse::<f64>().ok().filter(|number| number.is_finite())?;
    let unit = &text[end..];
    unit.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'%').then_some((number, unit))
}

/// Returns both ends in the unit of the lower one.
fn in_one_unit<'t>(low: (f64, &'t str), high: (f64, &'t str)) -> Option<(f64, f64, &'t str)> {
    if low.1 == high.1 {
        return Some((low.0, high.0, low.1));
    }
    let factor = |unit: &str| {
        let known = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
        known.map(|(_, factor)| *factor)
    };
    Some((low.0, high.0 * factor(high.1)? / factor(low.1)?, low.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spread_over_the_range_with_both_ends() {
        let check = |text: &str, values: &str| {
            let found = values_between(text).expect(text).expect("a range");
            assert_eq!(found.join(" "), values, "{text}");
        };
        check("1..64", "1 2 4 8 16 32 64");
        check("128MB..4GB", "128MB 256MB 512MB 1024MB 2048MB 4096MB");
        check("16M..1G", "16M 32M 64M 128M 256M 512M 1024M");
        check("1..4", "1 2 3 4");
        check("10..90", "10 20 30 40 50 60 70 80 90");
        check("0.5..0.9", "0.5 0.55 0.6 0.65 0.7 0.75 0.8 0.85 0.9");
        check("0..8", "0 1 2 3 4 5 6 7 8");
        check("-1..1", "-1 0 1");
        let wide = values_between("1..1000000000").expect("it is one").expect("a range");
        assert_eq!((wide.len(), wide[0].as_str(), wide[12].as_str()), (13, "1", "1000000000"));
    }

    #[test]
    fn other_texts_are_no_ranges_and_wrong_ones_say_why() {
        for text in ["on", "1,2", "a..b", "1.2.3..4", "managed:mariadb", ""] {
            assert_eq!(values_between(text), Ok(None), "{text}");
        }
        for text in ["4..1", "2..2", "10ms..1GB"] {
            assert!(values_between(text).is_err(), "{text}");
        }
    }
}
