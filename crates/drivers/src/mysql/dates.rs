//! Conversion of MySQL's and MariaDB's dates and times. All are UTC, which every session sets as
//! its time zone. Not here: the calendar.

use model::Civil;

pub(super) const US_PER_S: i64 = 1_000_000;

/// Converts microseconds since 1970 to a date and time of day for DATETIME; `None` outside of its
/// years 0 to 9999.
pub(super) fn civil(us: i64) -> Option<Civil> {
    Some(Civil::of_us(us)).filter(|civil| (0..=9999).contains(&civil.year))
}

/// Converts days since 1970-01-01 to a date for DATE; `None` outside of its years 0 to 9999.
pub(super) fn day(days: i32) -> Option<Civil> {
    Some(Civil::of_days(days)).filter(|civil| (0..=9999).contains(&civil.year))
}

/// Parses a date such as `2026-01-31`, with or without ` 23:59:59` and `.000001`; `None` if it is
/// malformed.
pub(super) fn read(text: &[u8]) -> Option<Civil> {
    let (date, time) = match text.iter().position(|byte| matches!(byte, b' ' | b'T')) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let [year, month, day] = three(date, b'-')?;
    let mut civil = Civil {
        year: digits(year)? as i64,
        month: u8::try_from(digits(month)?).ok()?,
        day: u8::try_from(digits(day)?).ok()?,
        ..Civil::default()
    };
    if let Some(time) = time {
        let (hms, us) = read_fraction(time)?;
        let [hour, minute, second] = three(hms, b':')?;
        civil.hour = u8::try_from(digits(hour)?).ok()?;
        civil.minute = u8::try_from(digits(minute)?).ok()?;
        civil.second = u8::try_from(digits(second)?).ok()?;
        civil.us = us;
    }
    (civil.year <= 9999).then_some(civil)
}

/// Parses a TIME value such as `-838:59:59.000001` into microseconds; `None` if it is malformed.
pub(super) fn read_span_us(text: &[u8]) -> Option<i64> {
    let (sign, text) = match text.strip_prefix(b"-") {
        Some(text) => (-1, text),
        None => (1, text),
    };
    let (hms, us) = read_fraction(text)?;
    let [hour, minute, second] = three(hms, b':')?;
    let hours = i64::try_from(digits(hour)?).ok()?;
    let seconds = hours.checked_mul(3600)?.checked_add(digits(minute)? as i64 * 60)?;
    let seconds = seconds.checked_add(digits(second)? as i64)?;
    Some(sign * (seconds.checked_mul(US_PER_S)?.checked_add(i64::from(us))?))
}

fn read_fraction(time: &[u8]) -> Option<(&[u8], u32)> {
    let Some(point) = time.iter().position(|byte| *byte == b'.') else { return Some((time, 0)) };
    let fraction = &time[point + 1..];
    if fraction.len() > 6 {
        return None;
    }
    let us = digits(fraction)? as u32 * 10u32.pow(6 - fraction.len() as u32);
    Some((&time[..point], us))
}

fn three(text: &[u8], between: u8) -> Option<[&[u8]; 3]> {
    let mut parts = text.split(|byte| *byte == between);
    let three = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(three)
}

/// Parses a number of one to nine decimal digits; `None` for any other text.
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for us in [0, -1, 1_893_456_000_123_456, 253_402_300_799_999_999] {
            let mut text = Vec::new();
            civil(us).expect("a year that DATETIME has").write(&mut text);
            assert_eq!(read(&text).and_then(Civil::to_us), Some(us));
        }
    }

    #[test]
    fn what_is_no_date_is_not_read() {
        for text in ["", "x", "2020-01", "2020-01-01 1:2", "2020-01-01-01", "2020-01-0x"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(civil(i64::MAX), None);
        assert_eq!(civil(i64::MIN), None);
    }

    #[test]
    fn spans_of_time_are_read() {
        assert_eq!(read_span_us(b"-838:59:59.5"), Some(-3_020_399_500_000));
        assert_eq!(read_span_us(b"00:00:01"), Some(US_PER_S));
        assert_eq!(read_span_us(b"1:1"), None);
    }
}
