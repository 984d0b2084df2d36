//! Figures that are shares below a bound: `below_20ms` of all transactions, `new_order.below_5s` of
//! a transaction type, `event_age.below_1s` of a custom metric.
//!
//! A bound is any number of two significant digits. Each bound has one name; users may also write
//! `below(20ms)`, with any unit. Not here: how shares are counted (report).

use std::fmt;

use model::{NS_PER_MS, NS_PER_S, NS_PER_US, parse_count, parse_duration};

use crate::report::{Report, Shares, two_digits};

/// Part of a share's name before its bound: `below_20ms` is the share of transactions that took
/// less than 20 ms.
pub(super) const STEM: &str = "below_";

/// Bound below which the samples of a share lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// Bound of a share of times, in nanoseconds.
    Time(u64),
    /// Bound of a share of a custom metric that is not a time, in the metric's unit.
    Number(u64),
}

/// A figure that is the share of samples below a bound, such as `new_order.below_20ms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Below {
    /// Transaction type or custom metric whose samples count; `None` for all transactions.
    part: Option<String>,
    bound: Bound,
}

/// Writes the name of the figure. The bound has the largest unit in which it is a whole number,
/// since a dot separates the parts of a name.
impl fmt::Display for Below {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = &self.part {
            write!(f, "{part}.")?;
        }
        write!(f, "{STEM}{}", self.bound)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Bound::Number(number) => write!(f, "{number}"),
            Bound::Time(ns) => {
                let units = [("s", NS_PER_S), ("ms", NS_PER_MS), ("us", NS_PER_US), ("ns", 1)];
                let whole = units.into_iter().find(|(_, unit_ns)| ns.is_multiple_of(*unit_ns));
                let (unit, unit_ns) = whole.unwrap_or(("ns", 1));
                write!(f, "{}{unit}", ns / unit_ns)
            }
        }
    }
}

impl Below {
    /// Parses the name of a share, such as `below(20ms)`, `below_20ms`, `below 20ms` or
    /// `new_order.below(5s)`; `None` if the name is not of this form. An `Err` says why the bound
    /// is not valid, such as `125ms`, which has three digits.
    pub(super) fn read(name: &str) -> Option<Result<Below, String>> {
        let (part, bound) = parts(name.trim())?;
        Some(Below::parse(part, bound).map_err(|why| format!("'{}': {why}", name.trim())))
    }

    fn parse(part: &str, written: &str) -> Result<Below, String> {
        let written = written.trim();
        let bound = match (parse_duration(written), parse_count(written)) {
            (_, Ok(_)) if part.is_empty() => {
                return Err("a share of response times needs a unit, such as below(20ms)".into());
            }
            (_, Ok(number)) => Bound::Number(number),
            (Ok(ns), _) => Bound::Time(ns),
            _ => {
                return Err(format!(
                    "a share is below a bound such as 20ms or, of a custom metric that is not a \
                     time, 500, and not below '{written}'"
                ));
            }
        };
        let (Bound::Time(number) | Bound::Number(number)) = bound;
        let like = |number| match bound {
            Bound::Time(_) => Bound::Time(number),
            Bound::Number(_) => Bound::Number(number),
        };
        match two_digits(number) {
            (0, _) => Err("a bound must be above zero".to_owned()),
            (low, high) if low == high => {
                Ok(Below { part: Some(part.to_owned()).filter(|part| !part.is_empty()), bound })
            }
            (low, high) => Err(format!(
                "shares are stored below bounds of two digits, such as {} and {}",
                like(low),
                like(high)
            )),
        }
    }

    /// Returns the share in percent; `None` if the run has no such samples.
    pub(super) fn value(&self, report: &Report) -> Option<f64> {
        let (shares, bound) = self.shares(report)?;
        shares.percent_below(bound)
    }

    /// Returns the 95 % CI of the share within the run, in percent; `None` if it is not known.
    pub(super) fn interval(&self, report: &Report) -> Option<(f64, f64)> {
        let (shares, bound) = self.shares(report)?;
        shares.interval_below(bound)
    }

    /// Returns the reason why the share has no confidence interval; `None` if it has one, or if the
    /// run does not have the share.
    pub(super) fn why_no_interval(&self, report: &Report) -> Option<String> {
        self.shares(report)?.0.reason.clone()
    }

    fn shares<'r>(&self, report: &'r Report) -> Option<(&'r Shares, u64)> {
        let block = &report.block;
        match (self.part.as_deref(), self.bound) {
            (None, Bound::Time(ns)) => Some((&block.shares, ns)),
            (None, Bound::Number(_)) => None,
            (Some(part), bound) => {
                match (block.transactions.get(part), block.custom_metrics.get(part), bound) {
                    (Some(kind), _, Bound::Time(ns)) => Some((&kind.shares, ns)),
                    (None, Some(metric), Bound::Time(ns)) if metric.unit == "ns" => {
                        Some((&metric.shares, ns))
                    }
                    (None, Some(metric), Bound::Number(number)) if metric.unit != "ns" => {
                        Some((&metric.shares, number))
                    }
                    _ => None,
                }
            }
        }
    }
}

/// Splits the name of a share into what is before `below` and the bound; `None` if it has no
/// `below`. The bound is in brackets, or begins with a digit.
fn parts(name: &str) -> Option<(&str, &str)> {
    let split = |before: &str| -> Option<usize> {
        let begins = before.len().checked_sub("below".len())?;
        let is_stem = before.is_char_boundary(begins)
            && before[begins..].eq_ignore_ascii_case("below")
            && (begins == 0 || before[..begins].ends_with('.'));
        is_stem.then_some(begins)
    };
    let part_before = |begins: usize| name[..begins].trim_end_matches('.');
    if let Some((before, bound)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        return split(before).map(|begins| (part_before(begins), bound));
    }
    // Heads of tables have a blank for the underscore, and the unit at the end.
    let name = name.trim_end_matches('%').trim_end();
    let between = name.match_indices(['_', ' ']).map(|(at, _)| at).rev();
    let mut stems = between.filter(|at| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    stems.find_map(|at| Some((part_before(split(&name[..at])?), &name[at + 1..])))
}

/// Lists the percentage of samples below 1, 2 and 5 times each power of ten within the measured
/// range, with the last part of its name, such as `below_20ms`. Leaves out bounds above all
/// samples.
pub(super) fn listed(shares: &Shares, is_time: bool) -> Vec<(String, f64)> {
    let (Some((first, _)), Some((last, _))) = (shares.below.first(), shares.below.last()) else {
        return Vec::new();
    };
    let tens = (0..19).map(|power| 10_u64.pow(power));
    let bounds = tens.flat_map(|tens| [1, 2, 5].map(|digit| tens.saturating_mul(digit)));
    let bounds = bounds.filter(|bound| first <= bound && bound <= last);
    let named = |bound: u64| {
        let written = if is_time { Bound::Time(bound) } else { Bound::Number(bound) };
        Some((format!("{STEM}{written}"), shares.percent_below(bound)?))
    };
    bounds.filter_map(named).filter(|(_, percent)| *percent < 100.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::subjects;

    #[track_caller]
    fn check(written: &str, expect: Option<Result<&str, &str>>) {
        let found = Below::read(written).map(|found| found.map(|below| below.to_string()));
        match (&found, expect) {
            (None, None) => {}
            (Some(Ok(found)), Some(Ok(expect))) => assert_eq!(found, expect),
            (Some(Err(found)), Some(Err(part))) => assert!(found.contains(part), "{found}"),
            (found, expect) => panic!("{written}: {found:?}, not {expect:?}"),
        }
    }

    #[test]
    fn one_bound_has_one_name_however_it_is_written() {
        for written in
            ["below(20ms)", "Below( 0.02s )", "below_20ms", "below_20000us", "below_0.02s"]
        {
            check(written, Some(Ok("below_20ms")));
        }
        for in_a_table in ["readers.age.below 100ms", "readers.age.below 100ms %"] {
            check(in_a_table, Some(Ok("readers.age.below_100ms")));
        }
        check("below(2.5ms)", Some(Ok("below_2500us")));
        check("below_1.5s", Some(Ok("below_1500ms")));
        check("new_order.below(5s)", Some(Ok("new_order.below_5s")));
        check("writers.New-Order.below_0.5s", Some(Ok("writers.New-Order.below_500ms")));
        check("lines.below(1k)", Some(Ok("lines.below_1000")));
        check("lines.below_12", Some(Ok("lines.below_12")));
        for other in ["tps", "p99_ms", "below", "below_par", "xbelow(3ms)", "not_below_3ms", "a(b)"]
        {
            check(other, None);
        }
    }

    #[test]
    fn what_is_no_bound_of_a_share_is_refused_with_a_sentence() {
        check("below(125ms)", Some(Err("bounds of two digits, such as 120ms and 130ms")));
        check("below_99.5s", Some(Err("such as 99s and 100s")));
        check("lines.below(1234)", Some(Err("such as 1200 and 1300")));
        check("below(20)", Some(Err("needs a unit, such as below(20ms)")));
        check("below(20parsec)", Some(Err("not below '20parsec'")));
        check("below()", Some(Err("not below ''")));
        check("below(0ms)", Some(Err("a bound must be above zero")));
    }

    #[test]
    fn shares_are_of_all_transactions_of_a_type_and_of_a_metric_of_the_bounds_kind() {
        let report = subjects::closed();
        let value = |name: &str| Below::read(name)?.expect("it makes sense").value(&report);
        let (all, slower) = (value("below_50ms"), value("delivery.below_50ms"));
        assert!(all > slower && slower > Some(0.0), "{all:?} {slower:?}");
        let counts = &report.block.counts;
        let answered = counts.finished as f64 / counts.offered as f64 * 100.0;
        let most = value("below_1000s").expect("there are samples");
        assert!((most - answered).abs() < 1e-6 && most < 100.0, "{most} {answered}");
        assert_eq!((value("no_such.below_5ms"), value("new_order.below_5")), (None, None));
        let listed = listed(&report.block.shares, true);
        let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"below_20ms") && names.contains(&"below_50ms"), "{names:?}");
    }
}
