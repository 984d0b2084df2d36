//! Bounds of figures, as users write them: `300ms`, `2M`, `1%`, `1000 rows/min`, `2MB/s`.
//!
//! A bound is converted to the unit of the figure that it limits. Not here: figures, and
//! comparisons with a bound (analysis).

use crate::units::{AMOUNT_UNITS, is_zero, ns_of_unit};
use crate::{NS_PER_S, parse_duration};

/// A bound for a figure (a named number of a report, such as `p99`), as parsed from a text such as
/// `300ms`, `1000 rows/min` or `2MB/s`. The bound is converted to the figure's unit as soon as that
/// unit is known.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureBound {
    /// A number that is not a time, with or without a unit, such as `2MB/s`.
    Amount {
        /// Value of the bound in its base unit: 2,000,000 for `2MB/s`, whose base unit is `B`.
        amount: f64,
        /// Base unit without a prefix for thousands or millions, such as `rows` or `B`; empty if
        /// none is written.
        what: String,
        /// Period of a rate, in nanoseconds: 60 s for `/min`. `None` if the bound is not a rate.
        per_ns: Option<u64>,
        /// Unit exactly as the user wrote it, such as `MB/min`.
        written: String,
    },
    /// A length of time in nanoseconds, parsed from a text such as `300ms`.
    Time(u64),
}

const NS_PER_MIN: u64 = 60 * NS_PER_S;

impl FigureBound {
    /// Parses a bound such as `300ms` or `2MB/s`. Fails with the reason if it has no number or an
    /// unknown unit.
    pub fn read(text: &str) -> Result<FigureBound, String> {
        match parse_duration(text) {
            // It may be of any unit.
            Ok(_) if is_zero(text.trim()) => {}
            Ok(ns) => return Ok(FigureBound::Time(ns)),
            Err(_) => {}
        }
        let (number, per_ns) = of_rate(text);
        let end = number.find(|c: char| !c.is_ascii_digit() && !".-+e_".contains(c));
        let (number, unit) = number.split_at(end.unwrap_or(number.len()));
        let written = text[number.len()..].trim().to_owned();
        let number: f64 =
            number.replace('_', "").parse().map_err(|_| "its bound is not a number".to_owned())?;
        let unit = unit.trim();
        let (factor, what) = match amount_unit(unit) {
            Some(known) => known,
            // A custom metric may count anything, so any unit is allowed in a rate.
            None if per_ns.is_some() => of_anything(unit),
            None => return Err(format!("there is no unit {unit}")),
        };
        Ok(FigureBound::Amount { amount: number * factor, what: what.to_owned(), per_ns, written })
    }

    /// Returns the bound's unit as the user wrote it, such as `MB/s`, and the number of `unit` that
    /// it equals: 1e6 if `unit` is `B/s`. `None` if the bound is not in bytes, or if only one of
    /// the two units is a rate.
    pub fn bytes_as_written(&self, unit: &str) -> Option<(String, f64)> {
        let FigureBound::Amount { what, written, .. } = self else { return None };
        let one = FigureBound::read(&format!("1{written}")).ok()?.in_unit(unit).ok()?;
        let is_rate = |unit: &str| of_rate(unit).1.is_some();
        (what == "B" && is_rate(written) == is_rate(unit)).then(|| (written.clone(), one))
    }

    /// Returns the value of the bound in `unit`, the unit of the figure that it limits. Fails with
    /// the reason if the units do not match, such as a time for a rate.
    pub fn in_unit(&self, unit: &str) -> Result<f64, String> {
        let (counted, unit_ns) = of_rate(unit);
        // A unit may itself be scaled: `MB/s` counts bytes.
        let (one, counted) = amount_unit(counted).unwrap_or((1.0, counted));
        let amount = match (self, ns_of_unit(unit)) {
            (FigureBound::Time(ns), Some(ns_each)) => return Ok(*ns as f64 / ns_each),
            (FigureBound::Time(_), None) => {
                return Err("is not a time, but its bound is".to_owned());
            }
            (FigureBound::Amount { amount, what, .. }, _) => match what.as_str() {
                "" => *amount,
                what if what == counted => *amount / one,
                _ => return Err(format!("does not count {what}: {}", its_unit(unit))),
            },
        };
        match (self, unit_ns) {
            (FigureBound::Amount { per_ns: Some(per_ns), .. }, Some(unit_ns)) => {
                Ok(amount * unit_ns as f64 / *per_ns as f64)
            }
            (FigureBound::Amount { per_ns: Some(_), .. }, None) => {
                Err(format!("is not a rate: {}", its_unit(unit)))
            }
            _ => Ok(amount),
        }
    }
}

/// Splits a unit such as `MB` into its factor and base unit, here 1e6 and `B`; `None` if the unit
/// is not one of [`AMOUNT_UNITS`] or `bytes`.
fn amount_unit(unit: &str) -> Option<(f64, &str)> {
    match AMOUNT_UNITS.iter().find(|(name, ..)| *name == unit) {
        Some((_, factor, what)) => Some((*factor, *what)),
        None => (unit == "bytes").then_some((1.0, "B")),
    }
}

/// Splits a unit that may name anything into its factor and base unit: `k rows` into 1000 and
/// `rows`, `rows` into 1 and `rows`.
fn of_anything(unit: &str) -> (f64, &str) {
    let scaled = unit.split_once(' ').and_then(|(scale, what)| {
        let (factor, base) = amount_unit(scale)?;
        let (one, what) = amount_unit(what.trim()).unwrap_or((1.0, what.trim()));
        base.is_empty().then_some((factor * one, what))
    });
    scaled.unwrap_or((1.0, unit))
}

/// Splits `/s` or `/min` off the end of a text: `2MB/min` gives `2MB` and the period of one minute,
/// in nanoseconds. The period is `None` if the text does not end so.
fn of_rate(text: &str) -> (&str, Option<u64>) {
    match (text.strip_suffix("/s"), text.strip_suffix("/min")) {
        (Some(text), _) => (text, Some(NS_PER_S)),
        (_, Some(text)) => (text, Some(NS_PER_MIN)),
        _ => (text, None),
    }
}

fn its_unit(unit: &str) -> String {
    match unit {
        "" => "it is a plain number".to_owned(),
        unit => format!("its unit is {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, unit: &str, expect: Result<f64, &str>) {
        let found = FigureBound::read(written).and_then(|bound| bound.in_unit(unit));
        match (found, expect) {
            (Ok(found), Ok(expect)) => assert!((found / expect - 1.0).abs() < 1e-9, "{found}"),
            (Err(found), Err(expect)) => assert!(found.contains(expect), "{found}"),
            (found, expect) => panic!("{written} in {unit}: {found:?}, not {expect:?}"),
        }
    }

    #[test]
    fn a_bound_becomes_one_in_the_unit_of_its_figure() {
        check("300ms", "ms", Ok(300.0));
        check("0.3s", "us", Ok(300_000.0));
        check("300µs", "us", Ok(300.0));
        check("1m30s", "ms", Ok(90_000.0));
        check("300", "ms", Ok(300.0));
        check("2M", "1/s", Ok(2e6));
        check("1%", "%", Ok(1.0));
        check("1000", "rows/s", Ok(1000.0));
        check("60_000/min", "rows/s", Ok(1000.0));
        check("60_000 rows/min", "rows/s", Ok(1000.0));
        check("1000/s", "1/min", Ok(60_000.0));
        check("1000/min", "1/min", Ok(1000.0));
        check("2MB/s", "B/s", Ok(2e6));
        check("1.5 MiB/s", "B/s", Ok(1_572_864.0));
        check("90MB/min", "B/s", Ok(1.5e6));
        check("64MiB", "B", Ok(67_108_864.0));
        check("2k rows/s", "rows/s", Ok(2000.0));
        check("60k/min", "records/s", Ok(1000.0));
        check("1M bytes/s", "bytes/s", Ok(1e6));
        check("1MB/s", "bytes/s", Ok(1e6));
        check("1000 order statuses/s", "order statuses/s", Ok(1000.0));
        // A bound without a unit is in the unit of its figure, even if that is scaled.
        check("1MB/s", "MB/s", Ok(1.0));
        check("1GiB/min", "MB/s", Ok(1_073.741_824 / 60.0));
        check("5", "MB/s", Ok(5.0));
        check("90/min", "MB/s", Ok(1.5));
    }

    #[test]
    fn what_a_figure_does_not_count_is_no_bound_of_it() {
        check("3ms", "1/s", Err("is not a time, but its bound is"));
        check("1000/s", "ms", Err("is not a rate: its unit is ms"));
        check("1000/s", "", Err("is not a rate: it is a plain number"));
        check("2MB/s", "rows/s", Err("does not count B: its unit is rows/s"));
        check("5 apples/s", "rows/s", Err("does not count apples"));
        check("2k rows/s", "MB/s", Err("does not count rows: its unit is MB/s"));
        check("3%", "ms", Err("does not count %"));
        check("3 parsec", "rows/s", Err("there is no unit parsec"));
        check("fast", "1/s", Err("its bound is not a number"));
    }
}
