//! Encoding and decoding of values in PostgreSQL's text format.
//!
//! Timestamps are parsed in the `ISO` form of `DateStyle`, which every session sets.

use std::io::Write;
use std::str;

use model::{Civil, Value, put_decimal};

use super::numeric;
use super::types::Type;

/// Appends a value as text, which the server parses by the type that the statement expects. Appends
/// nothing for a null.
pub(super) fn put(out: &mut Vec<u8>, value: &Value<'_>) {
    let written = match value {
        Value::Null => Ok(()),
        Value::Int(value) => write!(out, "{value}"),
        // The shortest digits that parse to the same number.
        Value::Float(value) if value.is_finite() => write!(out, "{value:e}"),
        Value::Float(value) if value.is_nan() => write!(out, "NaN"),
        Value::Float(value) => write!(out, "{}Infinity", if *value < 0.0 { "-" } else { "" }),
        Value::Decimal { unscaled, scale } => return put_decimal(out, *unscaled, *scale),
        Value::Text(text) => out.write_all(text.as_bytes()),
        Value::Bytes(bytes) => put_bytes(out, bytes),
        Value::Timestamp(us) => return put_timestamp(out, *us),
        Value::Date(days) => return put_date(out, *days),
    };
    written.expect("memory takes whatever is written");
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> std::io::Result<()> {
    out.write_all(b"\\x")?;
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}

fn put_timestamp(out: &mut Vec<u8>, us: i64) {
    let (civil, era) = with_era(Civil::of_us(us));
    civil.write(out);
    out.extend_from_slice(b"+00");
    out.extend_from_slice(era);
}

fn put_date(out: &mut Vec<u8>, days: i32) {
    let (civil, era) = with_era(Civil::of_days(days));
    civil.write_date(out);
    out.extend_from_slice(era);
}

/// Converts a date to PostgreSQL's calendar, which has no year 0: the year before 1 is 1 BC.
/// Returns the date with a positive year, and the suffix for its era (empty or ` BC`).
fn with_era(civil: Civil) -> (Civil, &'static [u8]) {
    match civil.year {
        1.. => (civil, b""),
        year => (Civil { year: 1 - year, ..civil }, b" BC"),
    }
}

/// Parses a value that the server sent in text format. A text that does not fit the type `kind` is
/// returned as `Value::Text`, or as `Value::Bytes` if it is not UTF-8.
pub(super) fn read(kind: Type, bytes: &[u8]) -> Value<'_> {
    let Ok(text) = str::from_utf8(bytes) else { return Value::Bytes(bytes) };
    let read = match kind {
        Type::Bool => match text {
            "t" => Some(Value::Int(1)),
            "f" => Some(Value::Int(0)),
            _ => None,
        },
        Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid => text.parse().ok().map(Value::Int),
        // Both spell infinity and not-a-number in the same way.
        Type::Float4 | Type::Float8 => text.parse().ok().map(Value::Float),
        Type::Numeric => numeric::read_text(text),
        Type::Timestamp => read_timestamp(text).map(Value::Timestamp),
        Type::Date => read_date(text).map(Value::Date),
        Type::Text | Type::Bytes | Type::Other => None,
    };
    read.unwrap_or(Value::Text(text))
}

/// Appends the bytes of a `bytea` value in text format, in either form of the setting
/// `bytea_output` (PostgreSQL manual, 8.4). Returns false if it is malformed. The escape form never
/// begins with `\x`, since a backslash is doubled there.
pub(super) fn read_bytes(text: &[u8], out: &mut Vec<u8>) -> bool {
    match text.strip_prefix(b"\\x") {
        Some(digits) => unhex(digits, out),
        None => unescape(text, out),
    }
}

/// Appends the bytes of a `bytea` value in escape form, where `\\` is a backslash, `\012` an octal
/// byte, and any other byte itself. Returns false if the text is malformed.
fn unescape(mut text: &[u8], out: &mut Vec<u8>) -> bool {
    let n_before = out.len();
    while let Some((&first, rest)) = text.split_first() {
        let (byte, rest) = match (first, rest) {
            (b'\\', [b'\\', rest @ ..]) => (b'\\', rest),
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..]) => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), rest)
            }
            (b'\\', _) => {
                out.truncate(n_before);
                return false;
            }
            (byte, rest) => (byte, rest),
        };
        out.push(byte);
        text = rest;
    }
    true
}

/// Appends the bytes that hexadecimal digits such as `0a0b` represent. Returns false if the digits
/// are malformed.
fn unhex(digits: &[u8], out: &mut Vec<u8>) -> bool {
    let (pairs, rest) = digits.as_chunks::<2>();
    let n_before = out.len();
    let nibble = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    for [high, low] in pairs {
        match (nibble(*high), nibble(*low)) {
            (Some(high), Some(low)) => out.push(high << 4 | low),
            _ => break,
        }
    }
    let is_whole = rest.is_empty() && out.len() - n_before == pairs.len();
    if !is_whole {
        out.truncate(n_before);
    }
    is_whole
}

/// Parses a date such as `2030-01-02`, `2030-01-02 BC` or `infinity` into days since 1970; `None`
/// if it is malformed.
fn read_date(text: &str) -> Option<i32> {
    match text {
        "infinity" => return Some(i32::MAX),
        "-infinity" => return Some(i32::MIN),
        _ => {}
    }
    let (date, is_before_christ) = without_era(text);
    // The last year of a date (PostgreSQL manual, 8.5).
    read_day(date, is_before_christ, 5_874_897)?.to_days()
}

/// Returns a text without the suffix ` BC`, and whether it had the suffix.
fn without_era(text: &str) -> (&str, bool) {
    match text.strip_suffix(" BC") {
        Some(rest) => (rest, true),
        None => (text, false),
    }
}

fn read_day(date: &str, is_before_christ: bool, year_max: i64) -> Option<Civil> {
    let mut parts = date.splitn(3, '-');
    let year: i64 = parts.next()?.parse().ok().filter(|year| (1..=year_max).contains(year))?;
    let month: u8 = parts.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
    let day: u8 = parts.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let year = if is_before_christ { 1 - year } else { year };
    Some(Civil { year, month, day, ..Civil::default() })
}

/// Parses a timestamp such as `2030-01-02`, `2030-01-02 03:04:05.6`, `...+05:30`, `... BC` or
/// `infinity` into microseconds since 1970; `None` if it is malformed.
fn read_timestamp(text: &str) -> Option<i64> {
    match text {
        "infinity" => return Some(i64::MAX),
        "-infinity" => return Some(i64::MIN),
        _ => {}
    }
    let (text, is_before_christ) = without_era(text);
    let (date, time) = text.split_once(' ').unwrap_or((text, ""));
    let days_us = read_day(date, is_before_christ, 999_999)?.to_us()?;
    let (time, zone_us) = match time.rfind(['+', '-']) {
        Some(at) => {
            let offset_us = read_time(&time[at + 1..])?;
            (&time[..at], if time[at..].starts_with('-') { -offset_us } else { offset_us })
        }
        None => (time, 0),
    };
    let time_us = if time.is_empty() { 0 } else { read_time(time)? };
    days_us.checked_add(time_us)?.checked_sub(zone_us)
}

/// Parses a time such as `03`, `03:04`, `03:04:05` or `03:04:05.123456` into microseconds; `None`
/// if it is malformed.
fn read_time(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut us = 0;
    let mut unit_us = 3_600_000_000;
    for part in whole.split(':') {
        let n: u8 = part.parse().ok()?;
        us += i64::from(n) * unit_us;
        unit_us /= 60;
    }
    if fraction.len() > 6 {
        return None;
    }
    let mut unit_us = 100_000;
    for digit in fraction.bytes() {
        us += i64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?) * unit_us;
        unit_us /= 10;
    }
    Some(us)
}

#[cfg(test)]
mod tests {
    use super::super::types::DAY_US;
    use super::*;

    fn written(value: Value<'_>) -> String {
        let mut out = Vec::new();
        put(&mut out, &value);
        String::from_utf8(out).expect("characters")
    }

    #[test]
    fn values_are_written_as_the_server_reads_them() {
        let check = |value: Value<'_>, expect: &str| assert_eq!(written(value), expect);
        check(Value::Int(i64::MIN), "-9223372036854775808");
        check(Value::cents(-5), "-0.05");
        check(Value::cents(123_456), "1234.56");
        check(Value::Decimal { unscaled: i64::MIN, scale: 0 }, "-9223372036854775808");
        check(Value::Float(-0.1), "-1e-1");
        check(Value::Float(f64::NEG_INFINITY), "-Infinity");
        check(Value::Bytes(&[0, 255]), "\\x00ff");
        check(Value::Timestamp(0), "1970-01-01 00:00:00.000000+00");
        check(Value::Timestamp(-1), "1969-12-31 23:59:59.999999+00");
        check(Value::Timestamp(1_893_456_000_123_456), "2030-01-01 00:00:00.123456+00");
        check(Value::Timestamp(-62_135_596_800_000_001), "0001-12-31 23:59:59.999999+00 BC");
        check(Value::Date(9_204), "1995-03-15");
        check(Value::Date(-719_163), "0001-12-31 BC");
    }

    #[test]
    fn instants_are_read_in_any_zone() {
        let check = |text: &str, expect: Option<i64>| {
            assert_eq!(read_timestamp(text), expect, "{text}");
        };
        check("1970-01-01 00:00:00+00", Some(0));
        check("1970-01-01", Some(0));
        check("2030-01-01 05:30:00.123456+05:30", Some(1_893_456_000_123_456));
        check("1969-12-31 20:00:00.5-04", Some(500_000));
        check("0001-12-31 23:59:59.999999+00 BC", Some(-62_135_596_800_000_001));
        check("2000-02-29 00:00:00", Some(951_782_400_000_000));
        check("infinity", Some(i64::MAX));
        check("x", None);
        check("2000-13-01", None);
        check("2000-01-01 0:0:0.1234567", None);
    }

    #[test]
    fn dates_are_read_with_their_era() {
        let check = |text: &str, expect| assert_eq!(read_date(text), expect, "{text}");
        check("1995-03-15", Some(9_204));
        check("0001-12-31 BC", Some(-719_163));
        check("5874897-12-31", Some(2_145_042_905));
        check("-infinity", Some(i32::MIN));
        check("1995-03-15 00:00:00", None);
        check("1995-13-15", None);
    }

    #[test]
    fn every_instant_is_read_as_it_was_written() {
        for day in (-800_000..3_000_000).step_by(997) {
            let us = day * DAY_US + day;
            assert_eq!(read_timestamp(&written(Value::Timestamp(us))), Some(us));
            let day = day as i32;
            assert_eq!(read_date(&written(Value::Date(day))), Some(day));
        }
    }

    #[test]
    fn bytes_are_read_from_hex_and_from_escapes() {
        let check = |text: &[u8], expect: Option<&[u8]>| {
            let mut out = vec![7];
            let is_read = read_bytes(text, &mut out);
            assert_eq!(is_read.then_some(&out[1..]), expect, "{text:?}");
            assert!(is_read || out == [7], "nothing is left of what cannot be read");
        };
        check(b"\\x00fF", Some(&[0, 255]));
        check(b"\\x0", None);
        check(b"\\x0g", None);
        check(b"a\\\\x\\377\\000", Some(b"a\\x\xff\0"));
        check(b"00\\8", None);
    }
}
