//! The rate at which transactions arrive in open load, constant or changing over a run.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stats::Intensity;

use crate::{BadUnit, NS_PER_S, format_duration, parse_duration, parse_rate};

/// Number of straight lines that approximate one period of a sine: the error is at most 0.004 % of
/// its amplitude.
const SINE_LINES: u32 = 360;
/// Limit on the number of steps of an arrival rate, enough for one step per second of a day
/// (86,400). [`ArrivalRate::checked`] rejects a rate with more.
const STEPS_MAX: usize = 100_000;

/// Rate of arrivals in open load, summed over all client processes. Its time starts with the
/// measured phase; during the ramp-up, the initial rate applies.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalRate {
    /// Constant rate throughout the run, in arrivals per second.
    Constant(f64),
    /// Constant rate in bytes per second, which is converted to arrivals per second by the bytes
    /// that one transaction of the workload [stores](Stored).
    Bytes(f64),
    /// Constant rate in records per second, which is converted to arrivals per second by the
    /// records that one transaction of the workload [stores](Stored).
    Records(f64),
    /// Steps of constant rate, as pairs of arrivals per second and duration in nanoseconds. After
    /// the last step, the rate stays the same.
    Steps(Vec<(f64, u64)>),
    /// Rate that changes linearly from one value to another, and then stays the same.
    Ramp {
        /// Arrival rate at the start of the ramp, in arrivals per second.
        from_per_s: f64,
        /// Arrival rate at the end of the ramp and after it, in arrivals per second.
        to_per_s: f64,
        /// Duration of the ramp from the first rate to the second, in nanoseconds.
        over_ns: u64,
    },
    /// Rate that oscillates as a sine around a mean; the first period starts at the mean and rises.
    Sine {
        /// Mean of the sine-shaped arrival rate, in arrivals per second.
        mean_per_s: f64,
        /// Amplitude of the sine-shaped arrival rate, in arrivals per second: the distance of its
        /// peaks from the mean, at most the mean.
        swing_per_s: f64,
        /// Length of one period, from peak to peak, in nanoseconds.
        period_ns: u64,
    },
}

/// Number of records and bytes that each transaction of a workload stores, if they all store the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Number of records that one transaction of the workload stores.
    pub records: u64,
    /// Size of all records that one transaction stores, in bytes.
    pub bytes: u64,
}

impl ArrivalRate {
    /// Whether the arrival rate varies over time.
    pub fn changes(&self) -> bool {
        match self {
            ArrivalRate::Constant(_) | ArrivalRate::Bytes(_) | ArrivalRate::Records(_) => false,
            ArrivalRate::Steps(_) | ArrivalRate::Ramp { .. } | ArrivalRate::Sine { .. } => true,
        }
    }

    /// Returns the rate at the start of the measured phase: in bytes per second for `Bytes`, in
    /// records per second for `Records`, otherwise in arrivals per second.
    pub fn first_per_s(&self) -> f64 {
        match self {
            ArrivalRate::Constant(per_s)
            | ArrivalRate::Bytes(per_s)
            | ArrivalRate::Records(per_s) => *per_s,
            ArrivalRate::Steps(steps) => steps[0].0,
            ArrivalRate::Ramp { from_per_s, .. } => *from_per_s,
            ArrivalRate::Sine { mean_per_s, .. } => *mean_per_s,
        }
    }

    /// Converts a rate in bytes or records to arrivals per second, if each transaction stores
    /// `stored`. Other rates stay as they are.
    pub fn of_transactions(&self, stored: Stored) -> ArrivalRate {
        let arrivals_at = |per_s: f64, each: u64| ArrivalRate::Constant(per_s / each.max(1) as f64);
        match self {
            ArrivalRate::Bytes(per_s) => arrivals_at(*per_s, stored.bytes),
            ArrivalRate::Records(per_s) => arrivals_at(*per_s, stored.records),
            rate => rate.clone(),
        }
    }

    /// Returns the rate as a piecewise linear function of the seconds since the start of the
    /// measured phase: in bytes per second for `Bytes`, in records per second for `Records`,
    /// otherwise in arrivals per second. Panics if the rate did not pass [`ArrivalRate::checked`].
    pub fn intensity(&self) -> Intensity {
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        let points = match self {
            ArrivalRate::Constant(per_s)
            | ArrivalRate::Bytes(per_s)
            | ArrivalRate::Records(per_s) => vec![(0.0, *per_s)],
            ArrivalRate::Steps(steps) => {
                let mut points = Vec::with_capacity(2 * steps.len());
                let mut at_ns = 0;
                for &(per_s, for_ns) in steps {
                    points.push((seconds(at_ns), per_s));
                    at_ns += for_ns;
                    points.push((seconds(at_ns), per_s));
                }
                points
            }
            ArrivalRate::Ramp { from_per_s, to_per_s, over_ns } => {
                vec![(0.0, *from_per_s), (seconds(*over_ns), *to_per_s)]
            }
            ArrivalRate::Sine { mean_per_s, swing_per_s, period_ns } => (0..=SINE_LINES)
                .map(|line| {
                    let turn = f64::from(line) / f64::from(SINE_LINES);
                    let height = (turn * std::f64::consts::TAU).sin();
                    let per_s = (mean_per_s + swing_per_s * height).max(0.0);
                    (turn * seconds(*period_ns), per_s)
                })
                .collect(),
        };
        let repeats = matches!(self, ArrivalRate::Sine { .. });
        Intensity::new(&points, repeats).expect("a rate is checked when it is read")
    }

    /// Returns the mean rate over the first `for_ns` nanoseconds of the measured phase: in bytes
    /// per second for `Bytes`, in records per second for `Records`, otherwise in arrivals per
    /// second.
    pub fn mean_per_s(&self, for_ns: u64) -> f64 {
        let for_s = for_ns as f64 / NS_PER_S as f64;
        match self {
            ArrivalRate::Constant(per_s)
            | ArrivalRate::Bytes(per_s)
            | ArrivalRate::Records(per_s) => *per_s,
            _ if for_ns == 0 => self.first_per_s(),
            _ => self.intensity().expected(for_s) / for_s,
        }
    }
}

const FORMS: &str = "write 500, 'ramp 100 to 3000 over 60s', 'sine 1000 swing 500 every 60s' or \
                     'steps 500 for 30s, 2000 for 30s, 1000'";

impl FromStr for ArrivalRate {
    type Err = BadUnit;

    fn from_str(text: &str) -> Result<ArrivalRate, BadUnit> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let no_form = || BadUnit(format!("'{text}' is not a rate of arrivals: {FORMS}"));
        let is_changing = words.len() > 1;
        if let Some(bytes) = words.iter().find(|word| is_changing && is_in_bytes(word)) {
            let why = "is in bytes, which only a constant rate may be: write transactions per \
                       second, such as 500/s";
            return Err(BadUnit(format!("'{text}': '{bytes}' {why}")));
        }
        let rate = match words[..] {
            ["steps", ..] => read_steps(text, &no_form)?,
            ["ramp", from, "to", to, "over", over] => ArrivalRate::Ramp {
                from_per_s: rate_or_zero(from)?,
                to_per_s: rate_or_zero(to)?,
                over_ns: parse_duration(over)?,
            },
            ["sine", mean, "swing", swing, "every", period] => ArrivalRate::Sine {
                mean_per_s: parse_rate(mean)?,
                swing_per_s: parse_rate(swing)?,
                period_ns: parse_duration(period)?,
            },
            [one] => read_constant(one)?,
            [number, unit] if is_number(number) && unit.contains('/') => {
                read_constant(&words.concat())?
            }
            _ => return Err(no_form()),
        };
        rate.checked().map_err(|why| BadUnit(format!("'{text}': {why}")))
    }
}

fn read_constant(text: &str) -> Result<ArrivalRate, BadUnit> {
    if let Some(per_s) = byte_rate(text)? {
        return Ok(ArrivalRate::Bytes(per_s));
    }
    if let Some(per_s) = record_rate(text)? {
        return Ok(ArrivalRate::Records(per_s));
    }
    parse_rate(text).map(ArrivalRate::Constant).map_err(|bad| match nearest(text) {
        Some(nearest) => BadUnit(format!("'{text}' is not a rate: write {nearest}")),
        None => bad,
    })
}

/// Parses a rate in records, such as `500rows/s` or `30krecords/min`, as records per second. `None`
/// if its unit is not one of records; fails if the unit is, but the rest is not a rate.
fn record_rate(text: &str) -> Result<Option<f64>, BadUnit> {
    let Some((number, per)) = text.split_once('/') else { return Ok(None) };
    let number = RECORD_UNITS.iter().find_map(|unit| number.strip_suffix(unit));
    number.map(|number| parse_rate(&format!("{}/{per}", number.trim()))).transpose()
}

/// Guesses the meaning of a rate with an unknown unit, for an error message: `2MB/s` for `2mb/s`,
/// `500/s` for `500 apples/s`, `1M/s` for `1M apples/s`. `None` if there is no plausible guess.
fn nearest(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !"._".contains(c))?;
    let (number, rest) = text.split_at(end);
    let (unit, per) = rest.split_once('/').unwrap_or((rest, "s"));
    if !matches!(per, "s" | "m" | "min" | "h") {
        return None;
    }
    let unit = unit.trim();
    let known = BYTE_UNITS.iter().map(|(known, _)| *known).chain(RECORD_UNITS);
    let scale = || unit.get(..1).filter(|scale| ["k", "M"].contains(scale));
    let unit = match known.into_iter().find(|known| known.eq_ignore_ascii_case(unit)) {
        Some(known) => known,
        None => scale().unwrap_or(""),
    };
    is_number(number).then(|| format!("{number}{unit}/{per}"))
}

fn is_number(text: &str) -> bool {
    parse_rate(text).is_ok() && !text.contains('/')
}

fn read_steps(text: &str, no_form: &dyn Fn() -> BadUnit) -> Result<ArrivalRate, BadUnit> {
    let listed = text.trim().trim_start_matches("steps");
    let parts: Vec<&str> = listed.split(',').collect();
    let mut steps = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let words: Vec<&str> = part.split_whitespace().collect();
        steps.push(match words[..] {
            [per_s, "for", time] => (rate_or_zero(per_s)?, parse_duration(time)?),
            [per_s] if index + 1 == parts.len() => (rate_or_zero(per_s)?, 0),
            _ => return Err(no_form()),
        });
    }
    Ok(ArrivalRate::Steps(steps))
}

/// Units of bytes in which users write rates, with the number of bytes in each. Longer names come
/// first, so that `GB` is not read as `B`. The first three are binary, the others decimal.
const BYTE_UNITS: [(&str, f64); 7] = [
    ("GiB", 1_073_741_824.0),
    ("MiB", 1_048_576.0),
    ("KiB", 1024.0),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
    ("B", 1.0),
];

/// Units of a rate in records; the first one is used when a rate is printed.
const RECORD_UNITS: [&str; 6] = ["records", "rows", "measurements", "record", "row", "measurement"];

fn is_in_bytes(word: &str) -> bool {
    matches!(byte_rate(word.trim_end_matches(',')), Ok(Some(_)))
}

/// Parses a rate in bytes, such as `2MB/s` or `500kB/s`, as bytes per second. `None` if its unit is
/// not one of bytes; fails if the unit is, but the rest is not a rate.
fn byte_rate(text: &str) -> Result<Option<f64>, BadUnit> {
    let (number, per) = text.split_once('/').unwrap_or((text, ""));
    let unit =
        BYTE_UNITS.iter().find_map(|(unit, bytes)| Some((number.strip_suffix(unit)?, bytes)));
    let Some((number, bytes)) = unit else { return Ok(None) };
    if !matches!(per, "s" | "m" | "min" | "h") {
        return Err(BadUnit(format!("'{text}' is not a rate: bytes per second are 2MB/s")));
    }
    let per_s = parse_rate(&format!("{}/{per}", number.trim()));
    per_s.map(|per_s| Some(per_s * bytes)).map_err(|_| {
        let meant = nearest(text).filter(|meant| meant.contains('B'));
        let meant = meant.unwrap_or("a number above zero, such as 2MB/s".to_owned());
        BadUnit(format!("'{text}' is not a rate: write {meant}"))
    })
}

/// Writes a rate in bytes per second as users do, such as `2MB/s` for 2,000,000: in the largest
/// decimal unit that gives a number of at least 1 without rounding.
fn put_byte_rate(per_s: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let decimal = BYTE_UNITS[3..].iter().find(|(_, bytes)| {
        let amount = per_s / bytes;
        amount >= 1.0 && amount * bytes == per_s
    });
    let (unit, bytes) = decimal.copied().unwrap_or(("B", 1.0));
    write!(f, "{}{unit}/s", per_s / bytes)
}

fn rate_or_zero(text: &str) -> Result<f64, BadUnit> {
    if text == "0" { Ok(0.0) } else { parse_rate(text) }
}

impl ArrivalRate {
    /// Validates the rate and returns it unchanged. Fails with the reason if it is never above
    /// zero, exceeds 1e9 arrivals per second (1e10 for bytes or records), has more than 100,000
    /// steps, has a step (except the last), ramp or sine period of length 0, or falls below zero.
    pub fn checked(self) -> Result<ArrivalRate, String> {
        let highest_per_s = match &self {
            ArrivalRate::Constant(per_s) => *per_s,
            // The number of arrivals per second is not known yet, since it depends on the workload.
            ArrivalRate::Bytes(per_s) if *per_s > 1e10 => {
                return Err("a rate must be at most 10GB/s".to_owned());
            }
            ArrivalRate::Records(per_s) if *per_s > 1e10 => {
                return Err("a rate must be at most 10,000,000,000 records/s".to_owned());
            }
            ArrivalRate::Bytes(_) | ArrivalRate::Records(_) => return Ok(self),
            ArrivalRate::Steps(steps) if steps.len() > STEPS_MAX => {
                return Err(format!("{} steps are too many: at most {STEPS_MAX}", steps.len()));
            }
            ArrivalRate::Steps(steps) => {
                if steps[..steps.len() - 1].iter().any(|step| step.1 == 0) {
                    return Err("a step needs a duration".to_owned());
                }
                steps.iter().map(|step| step.0).fold(0.0, f64::max)
            }
            ArrivalRate::Ramp { over_ns: 0, .. } => {
                return Err("a ramp needs a duration".to_owned());
            }
            ArrivalRate::Ramp { from_per_s, to_per_s, .. } => from_per_s.max(*to_per_s),
            ArrivalRate::Sine { period_ns: 0, .. } => {
                return Err("a sine needs a period".to_owned());
            }
            ArrivalRate::Sine { mean_per_s, swing_per_s, .. } if swing_per_s > mean_per_s => {
                return Err(
                    "its swing is above its mean: nothing arrives at a rate below zero".to_owned()
                );
            }
            ArrivalRate::Sine { mean_per_s, swing_per_s, .. } => mean_per_s + swing_per_s,
        };
        match highest_per_s {
            0.0 => Err("the rate is never above zero".to_owned()),
            highest if highest > 1e9 => Err("a rate must be at most 1,000,000,000/s".to_owned()),
            _ => Ok(self),
        }
    }
}

impl fmt::Display for ArrivalRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArrivalRate::Constant(per_s) => write!(f, "{per_s}"),
            ArrivalRate::Bytes(per_s) => put_byte_rate(*per_s, f),
            ArrivalRate::Records(per_s) => write!(f, "{per_s} {}/s", RECORD_UNITS[0]),
            ArrivalRate::Ramp { from_per_s, to_per_s, over_ns } => {
                write!(f, "ramp {from_per_s} to {to_per_s} over {}", exact_duration(*over_ns))
            }
            ArrivalRate::Sine { mean_per_s, swing_per_s, period_ns } => {
                let every = exact_duration(*period_ns);
                write!(f, "sine {mean_per_s} swing {swing_per_s} every {every}")
            }
            ArrivalRate::Steps(steps) => {
                f.write_str("steps")?;
                for (index, (per_s, for_ns)) in steps.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma} {per_s}")?;
                    if *for_ns > 0 {
                        write!(f, " for {}", exact_duration(*for_ns))?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Formats a duration given in nanoseconds so that parsing the text returns exactly the same
/// number.
fn exact_duration(ns: u64) -> String {
    let short = format_duration(ns);
    if parse_duration(&short) == Ok(ns) { short } else { format!("{ns}ns") }
}

/// Serializes a constant rate as a number, and any other rate as the text that users write.
impl Serialize for ArrivalRate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            ArrivalRate::Constant(per_s) => to.serialize_f64(*per_s),
            changing => to.collect_str(changing),
        }
    }
}

impl<'de> Deserialize<'de> for ArrivalRate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ArrivalRate, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = ArrivalRate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a rate in words")
            }

            fn visit_f64<E: Error>(self, per_s: f64) -> Result<ArrivalRate, E> {
                Ok(ArrivalRate::Constant(per_s))
            }

            fn visit_u64<E: Error>(self, per_s: u64) -> Result<ArrivalRate, E> {
                Ok(ArrivalRate::Constant(per_s as f64))
            }

            fn visit_i64<E: Error>(self, per_s: i64) -> Result<ArrivalRate, E> {
                Ok(ArrivalRate::Constant(per_s as f64))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ArrivalRate, E> {
                text.parse().map_err(E::custom)
            }
        }
        from.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ArrivalRate {
        text.parse().unwrap_or_else(|bad| panic!("{text}: {bad}"))
    }

    #[test]
    fn a_rate_is_read_as_it_is_shown() {
        for text in [
            "500",
            "0.25",
            "ramp 100 to 3000 over 1m",
            "ramp 0 to 5 over 1.5s",
            "sine 1000 swing 500 every 1m30s",
            "steps 500 for 30s, 0 for 10s, 2000",
            "steps 500 for 30s, 1000 for 1ms",
            "2MB/s",
            "1.5MB/s",
            "500kB/s",
            "12B/s",
        ] {
            assert_eq!(read(text).to_string(), text);
        }
        assert_eq!(read("30000/min"), ArrivalRate::Constant(500.0));
        assert_eq!(read("ramp 1/s to 60/min over 1500ms").to_string(), "ramp 1 to 1 over 1.5s");
    }

    #[test]
    fn bytes_are_arrivals_by_what_a_transaction_stores() {
        assert_eq!(read("1MiB/min"), ArrivalRate::Bytes(1_048_576.0 / 60.0));
        let stored = Stored { records: 5, bytes: 500 };
        assert_eq!(read("2MB/s").of_transactions(stored), ArrivalRate::Constant(4000.0));
        assert_eq!(read("2 MB/s"), read("2MB/s"));
        assert_eq!(read("7").of_transactions(stored), ArrivalRate::Constant(7.0));
    }

    #[test]
    fn records_are_arrivals_by_how_many_a_transaction_stores() {
        for text in ["500 rows/s", "500rows/s", "500 records/s", "30k rows/min", "500 row/s"] {
            assert_eq!(read(text), ArrivalRate::Records(500.0), "{text}");
        }
        assert_eq!(read("500 rows/s").to_string(), "500 records/s");
        let stored = Stored { records: 5, bytes: 500 };
        assert_eq!(read("500 rows/s").of_transactions(stored), ArrivalRate::Constant(100.0));
    }

    #[test]
    fn what_cannot_be_a_rate_is_refused_with_the_reason() {
        for (text, why) in [
            ("fast", "is not a rate"),
            ("-5", "above zero"),
            ("ramp 1 to 2", "write 500"),
            ("ramp 0 to 0 over 5s", "the rate is never above zero"),
            ("ramp 1 to 2 over 0s", "needs a duration"),
            ("steps 500, 600", "write 500"),
            ("steps 500 for 0s, 600", "needs a duration"),
            ("sine 100 swing 200 every 10s", "below zero"),
            ("2000000000", "must be at most"),
            ("2MB", "bytes per second are 2MB/s"),
            ("-2MB/s", "above zero"),
            ("2mb/s", "write 2MB/s"),
            ("5KB/s", "write 5kB/s"),
            ("1.5 mib/min", "write 1.5MiB/min"),
            ("2mb", "write 2MB/s"),
            ("500 apples/s", "write 500/s"),
            ("1M apples/s", "write 1M/s"),
            ("5/fortnight", "write 500, 500/s or 30000/min"),
            ("500 Rows/s", "write 500rows/s"),
            ("MB/s", "above zero"),
            ("9000GB/s", "at most 10GB/s"),
            ("ramp 1MB/s to 2MB/s over 5s", "only a constant rate"),
            ("steps 1MB/s for 5s, 2MB/s", "'1MB/s' is in bytes"),
        ] {
            let bad = text.parse::<ArrivalRate>().expect_err(text);
            assert!(bad.0.contains(why), "{text}: {bad}");
        }
    }

    #[test]
    fn means_are_areas() {
        assert_eq!(read("ramp 0 to 100 over 10s").mean_per_s(10 * NS_PER_S), 50.0);
        assert_eq!(read("steps 100 for 10s, 300").mean_per_s(20 * NS_PER_S), 200.0);
        let sine = read("sine 100 swing 50 every 10s");
        assert!((sine.mean_per_s(30 * NS_PER_S) - 100.0).abs() < 1e-9);
        // The mean of the upper half of a sine is 2/pi of its amplitude.
        let half = sine.mean_per_s(5 * NS_PER_S);
        assert!((half - 100.0 - 50.0 * 2.0 / std::f64::consts::PI).abs() < 0.003, "{half}");
    }
}
