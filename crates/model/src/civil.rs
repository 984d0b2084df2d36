//! Calendar dates and times of day in UTC. Not here: time zones, any clock.

use crate::put_unsigned;

const US_PER_S: i64 = 1_000_000;
const US_PER_DAY: i64 = 86_400 * US_PER_S;

/// A date of the proleptic Gregorian calendar with a time of day, in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Civil {
    /// Astronomical year: 0 is 1 BC, -1 is 2 BC.
    pub year: i64,
    /// Month from 1 to 12; 0 only in invalid dates, such as MySQL's zero date.
    pub month: u8,
    /// Day of the month from 1 to 31; 0 only in invalid dates.
    pub day: u8,
    /// Hour of the day, from 0 to 23.
    pub hour: u8,
    /// Minute of the hour, from 0 to 59.
    pub minute: u8,
    /// Second of the minute, from 0 to 59.
    pub second: u8,
    /// Microsecond of the second, from 0 to 999,999.
    pub us: u32,
}

impl Civil {
    /// Returns the start of a day, given as the number of days since 1970-01-01.
    pub fn of_days(days: i32) -> Civil {
        let (year, month, day) = civil_of_days(days.into());
        Civil { year, month, day, ..Civil::default() }
    }

    /// Returns the number of days since 1970-01-01, ignoring the time of day; `None` if it does not
    /// fit into `i32`. Dates with month or day 0 are converted too.
    pub fn to_days(self) -> Option<i32> {
        i32::try_from(days_of_civil(self.year, self.month, self.day)).ok()
    }

    /// Creates the date and time from the number of microseconds since 1970-01-01T00:00:00Z.
    pub fn of_us(us: i64) -> Civil {
        let (days, of_day) = (us.div_euclid(US_PER_DAY), us.rem_euclid(US_PER_DAY));
        let (year, month, day) = civil_of_days(days);
        let seconds = of_day / US_PER_S;
        Civil {
            year,
            month,
            day,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            us: (of_day % US_PER_S) as u32,
        }
    }

    /// Converts to microseconds since 1970-01-01T00:00:00Z; `None` on overflow. Invalid dates are
    /// converted too: MySQL's zero date comes before all valid ones.
    pub fn to_us(self) -> Option<i64> {
        let days = days_of_civil(self.year, self.month, self.day);
        let seconds =
            i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        days.checked_mul(US_PER_DAY)?.checked_add(seconds * US_PER_S + i64::from(self.us))
    }

    /// Appends the date in the form `2026-01-31`.
    pub fn write_date(self, out: &mut Vec<u8>) {
        if self.year < 0 {
            out.push(b'-');
        }
        put_unsigned(out, self.year.unsigned_abs(), 4);
        put_parts(out, [(b'-', self.month), (b'-', self.day)]);
    }

    /// Appends date and time in the form `2026-01-31 23:59:59.000001`.
    pub fn write(self, out: &mut Vec<u8>) {
        self.write_date(out);
        put_parts(out, [(b' ', self.hour), (b':', self.minute), (b':', self.second)]);
        out.push(b'.');
        put_unsigned(out, u64::from(self.us), 6);
    }
}

fn put_parts<const N: usize>(out: &mut Vec<u8>, parts: [(u8, u8); N]) {
    for (before, part) in parts {
        out.push(before);
        put_unsigned(out, u64::from(part), 2);
    }
}

/// Converts days since 1970-01-01 to year, month and day. Source: `civil_from_days` of Howard
/// Hinnant, "chrono-Compatible Low-Level Date Algorithms".
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

/// Converts year, month and day to days since 1970-01-01 (`days_from_civil` of the same source as
/// [`civil_of_days`]). Accepts 0 as month and day.
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

    #[test]
    fn instants_are_taken_apart_and_put_together() {
        let check = |us: i64, expect: &str| {
            let civil = Civil::of_us(us);
            let mut text = Vec::new();
            civil.write(&mut text);
            assert_eq!(String::from_utf8_lossy(&text), expect);
            assert_eq!(civil.to_us(), Some(us), "{expect}");
        };
        check(0, "1970-01-01 00:00:00.000000");
        check(-1, "1969-12-31 23:59:59.999999");
        check(951_782_400 * US_PER_S, "2000-02-29 00:00:00.000000");
        check(1_893_456_000_123_456, "2030-01-01 00:00:00.123456");
        check(253_402_300_799_999_999, "9999-12-31 23:59:59.999999");
        check(253_402_300_800_000_000, "10000-01-01 00:00:00.000000");
        check(-62_167_219_200 * US_PER_S, "0000-01-01 00:00:00.000000");
        check(-62_167_219_200 * US_PER_S - 1, "-0001-12-31 23:59:59.999999");
        check(i64::MAX, "294247-01-10 04:00:54.775807");
        for day in -800_000..800_000 {
            let (year, month, date) = civil_of_days(day);
            assert_eq!(days_of_civil(year, month, date), day);
        }
    }

    #[test]
    fn an_instant_that_no_number_holds_is_none() {
        let beyond = Civil { year: 999_999, month: 1, day: 1, ..Civil::default() };
        assert_eq!(beyond.to_us(), None);
    }
}
