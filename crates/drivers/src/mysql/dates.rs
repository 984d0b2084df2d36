//! Dates as the MySQL family writes them, to and from microseconds since 1970. All are UTC: the
//! session's time zone is set so. Not here: anything else.

pub(super) const US_PER_S: i64 = 1_000_000;
const US_PER_DAY: i64 = 86_400 * US_PER_S;

/// A date and time apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) us: u32,
}

impl Civil {
    /// From microseconds since 1970; none outside the years that DATETIME has.
    pub(super) fn from_us(us: i64) -> Option<Civil> {
        let (days, of_day) = (us.div_euclid(US_PER_DAY), us.rem_euclid(US_PER_DAY));
        let (year, month, day) = civil_of_days(days);
        if !(0..=9999).contains(&year) {
            return None;
        }
        let seconds = of_day / US_PER_S;
        Some(Civil {
            year,
            month,
            day,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            us: (of_day % US_PER_S) as u32,
        })
    }

    /// To microseconds since 1970. MySQL's zero date lies before all others.
    pub(super) fn to_us(self) -> i64 {
        let days = days_of_civil(self.year, self.month, self.day);
        let seconds =
            i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        days * US_PER_DAY + seconds * US_PER_S + i64::from(self.us)
    }

    /// Writes `2026-01-31 23:59:59.000001`.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        put_digits(out, self.year as u64, 4);
        for (before, part) in [(b'-', self.month), (b'-', self.day), (b' ', self.hour)] {
            out.push(before);
            put_digits(out, u64::from(part), 2);
        }
        for part in [self.minute, self.second] {
            out.push(b':');
            put_digits(out, u64::from(part), 2);
        }
        out.push(b'.');
        put_digits(out, u64::from(self.us), 6);
    }

    /// Reads `2026-01-31`, with or without ` 23:59:59` and `.000001`.
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
}

/// Reads a span of time such as `-838:59:59.000001`, in microseconds.
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

/// Writes a number with zeros in front.
pub(super) fn put_digits(out: &mut Vec<u8>, mut n: u64, width: usize) {
    let start = out.len();
    out.resize(start + width, b'0');
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (n % 10) as u8;
        n /= 10;
    }
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

/// At most nine digits.
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0')))
}

/// Days since 1970-01-01 to year, month and day. Howard Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms", civil_from_days.
fn civil_of_days(days: i64) -> (i64, u8, u8) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 { month_shifted + 3 } else { month_shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u8, day as u8)
}

/// The reverse; same source, days_from_civil. Takes month and day 0 too.
fn days_of_civil(year: i64, month: u8, day: u8) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * month_shifted + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(us: i64, expect: &str) {
        let civil = Civil::from_us(us).expect("a year that DATETIME has");
        let mut text = Vec::new();
        civil.write(&mut text);
        assert_eq!(String::from_utf8_lossy(&text), expect);
        assert_eq!(Civil::read(&text), Some(civil), "{expect}");
        assert_eq!(civil.to_us(), us, "{expect}");
    }

    #[test]
    fn instants_are_written_and_read_back() {
        check(0, "1970-01-01 00:00:00.000000");
        check(-1, "1969-12-31 23:59:59.999999");
        check(951_782_400 * US_PER_S, "2000-02-29 00:00:00.000000");
        check(1_893_456_000_123_456, "2030-01-01 00:00:00.123456");
        check(253_402_300_799_999_999, "9999-12-31 23:59:59.999999");
        check(-62_167_219_200 * US_PER_S, "0000-01-01 00:00:00.000000");
        for day in -800_000..800_000 {
            let (year, month, date) = civil_of_days(day);
            assert_eq!(days_of_civil(year, month, date), day);
        }
    }

    #[test]
    fn what_is_no_date_is_not_read() {
        for text in ["", "x", "2020-01", "2020-01-01 1:2", "2020-01-01-01", "2020-01-0x"] {
            assert_eq!(Civil::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Civil::from_us(i64::MAX), None);
        assert_eq!(Civil::from_us(i64::MIN), None);
    }

    #[test]
    fn spans_of_time_are_read() {
        assert_eq!(read_span_us(b"-838:59:59.5"), Some(-3_020_399_500_000));
        assert_eq!(read_span_us(b"00:00:01"), Some(US_PER_S));
        assert_eq!(read_span_us(b"1:1"), None);
    }
}
