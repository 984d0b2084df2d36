//! Limits that a run must keep: `p99<300ms`, `rows.per_second>2M`, `server.disk_written<40MiB/s`.
//!
//! The confidence interval of the figure decides: a limit is surely kept, surely broken, or
//! undecided. Not here: exit codes.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use model::numbers::{NONE, amount_beside_bound, beside_bound, count, rounded_up, seconds};
use model::{Comparison, FigureBound, Metric, Objective};
use serde::{Deserialize, Serialize};

use super::catalog::{
    RATE, check_name, find_as_written, resolve, samples_lacking, unit, units_in, value_of,
};
use super::no_value::why_no_value;
use super::within::{interval_of, why_no_interval};
use super::{Figure, title};
use crate::report::{Named, ONE_NUMBER, Report, length_needed};

/// A limit that the user sets for a figure of a run, such as `p99<300ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Required {
    text: String,
    /// Name of the figure as the user wrote it, except that the unit of the bound replaces `rate`:
    /// `rate>2MB/s` is about `bytes`.
    pub figure: String,
    /// Side of the bound on which the figure must lie, such as below for `<`.
    pub comparison: Comparison,
    bound: FigureBound,
}

/// Outcome of comparing a figure with a limit, and whether it is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The figure keeps the limit for certain: its whole confidence interval is within the limit.
    Surely,
    /// The figure breaks the limit for certain: its whole confidence interval is beyond the limit.
    SurelyNot,
    /// The bound is inside the confidence interval; or there are too few samples for a value, or
    /// for the confidence interval of a value within the limit.
    Undecided,
    /// The value is within the limit, and the figure never has a confidence interval.
    Within,
    /// There is no confidence interval and the value is beyond the limit, or there is no value.
    Beyond,
}

impl Holds {
    /// Returns the outcome in one word: `passed`, `FAILED` or `undecided`.
    pub fn word(self) -> &'static str {
        match self {
            Holds::Surely | Holds::Within => "passed",
            Holds::SurelyNot | Holds::Beyond => "FAILED",
            Holds::Undecided => "undecided",
        }
    }

    /// Returns true if the limit is broken, which ends dbdyno with exit code 1.
    pub fn is_broken(self) -> bool {
        matches!(self, Holds::SurelyNot | Holds::Beyond)
    }
}

/// Figures that are exact counts of a run, so that the comparison with a limit is certain.
const COUNTS: [&str; 5] = ["unfinished", "retried", "stalls", "build.rows", "build.bytes"];

/// Result of comparing a figure with a limit that the user set, for a run or for a point of an
/// experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequiredResult {
    /// The limit, as the user wrote it.
    pub limit: String,
    /// Full name of the figure, such as `p99_ms`.
    pub figure: String,
    /// Unit of the figure; empty for a plain number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Value of the figure; null if the run does not have it.
    pub value: Option<f64>,
    /// The 95 % CI of the value: its low and high end, where a null high end is infinite. Null if
    /// it is not known.
    pub interval: Option<(f64, Option<f64>)>,
    /// Outcome: whether the value keeps the limit, and how certain that is.
    pub holds: Holds,
    /// Reason why there is no confidence interval; absent if there is one, or the reason is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of repeats or length of load after which an undecided limit would be decided if the
    /// value stayed the same, such as `about 12 repeats`; absent if it is decided or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// True if the value is within the limit, certain or not.
    #[serde(skip)]
    is_within: bool,
    /// Bound of the limit, in the unit of the figure.
    #[serde(skip)]
    bound: f64,
    /// Unit in which the user wrote a bound in bytes, such as `MB/s`, and its size in the figure's
    /// unit; `None` for bounds that are not in bytes.
    #[serde(skip)]
    written: Option<(String, f64)>,
}

impl fmt::Display for RequiredResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The unit follows the number; it is not in the name, as it would be in the head of a
        // table.
        let title = title(&self.figure);
        let in_name = ["ms", "%"]
            .into_iter()
            .find_map(|unit| Some((title.strip_suffix(unit)?.strip_suffix(' ')?, unit)));
        let number = |value: f64| match (unit(&self.figure), &self.written) {
            (_, Some((unit, one))) => {
                format!("{} {unit}", beside_bound(value / one, self.bound / one, 4))
            }
            ("", None) if !self.unit.is_empty() => {
                amount_beside_bound(value, self.bound, &self.unit)
            }
            (..) => {
                let number = beside_bound(value, self.bound, 4);
                in_name.map_or_else(|| number.clone(), |(_, unit)| format!("{number} {unit}"))
            }
        };
        let value = self.value.map_or_else(|| NONE.to_owned(), number);
        // A bound without a unit is in that of the figure.
        let has_unit = !self.limit.ends_with(|last: char| last.is_ascii_digit());
        let its_unit = in_name.filter(|_| !has_unit);
        let its_unit = its_unit.map_or_else(String::new, |(_, unit)| format!(" {unit}"));
        write!(f, "{} {}{its_unit}: {value}", self.holds.word(), self.limit)?;
        let interval = self.interval.map(|(low, high)| {
            format!("95 % CI {} to {}", number(low), number(high.unwrap_or(f64::INFINITY)))
        });
        let why = match (self.holds, self.value) {
            (Holds::Undecided, None) => Some("too few samples"),
            (Holds::Beyond, None) if self.reason.is_none() => Some("the run has no such value"),
            (Holds::Undecided, Some(_)) if self.interval.is_none() => {
                // Without an error, only a value within its limit is undecided.
                let reason = self.reason.as_deref().unwrap_or("it has no CI");
                return write!(f, " is within it, but a pass needs its CI: {reason}");
            }
            (Holds::Within | Holds::Beyond, Some(_)) => self.interval.is_none().then_some("no CI"),
            _ => None,
        };
        let why = why.map(str::to_owned);
        let parts = interval.into_iter().chain(why).chain(self.reason.clone());
        let parts: Vec<String> = parts.collect();
        if !parts.is_empty() {
            write!(f, " ({})", parts.join(": "))?;
        }
        match &self.decided_by {
            Some(what) => {
                let outcome = match self.is_within {
                    true => "within this limit",
                    false => "beyond this limit (FAILED)",
                };
                write!(f, "; if it stays so, {what} would show it {outcome}")
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for Required {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Required {
    type Err = String;

    fn from_str(text: &str) -> Result<Required, String> {
        let no = |why: &str| {
            format!("'{text}' is not a limit: {why}; write \"p99<300ms\" or \"tps>1000\"")
        };
        let at = text.find(['<', '>']).ok_or_else(|| no("it has neither < nor >"))?;
        let (figure, rest) = text.split_at(at);
        if let Some((before, after)) = rest.split_once(',') {
            let is_digit = |letter: char| letter.is_ascii_digit();
            let is_number = before.ends_with(is_digit) && after.starts_with(is_digit);
            return Err(no(match is_number {
                true => "it has a comma: write numbers without",
                false => "it has a comma: give each limit on its own",
            }));
        }
        check_name(figure).map_err(|why| no(&why))?;
        let (comparison, rest) = Comparison::read(rest).expect("it begins with < or >");
        let bound = FigureBound::read(rest.trim()).map_err(|why| no(&why))?;
        let figure = as_bound(figure.trim(), &bound);
        Ok(Required { text: text.trim().to_owned(), figure, comparison, bound })
    }
}

impl Required {
    /// Returns the limit in the objective of a search, such as `p99_ms<20ms`, if it is about a
    /// figure; `None` for the other metrics, which the search judges by itself.
    pub fn of_objective(objective: &Objective) -> Option<Required> {
        match objective.metric {
            Metric::Figure(_) => objective.to_string().parse().ok(),
            _ => None,
        }
    }

    /// Checks that the bound has a unit that fits the figure `name`, whose own unit is `unit`. An
    /// `Err` says why it does not.
    pub fn check_unit(&self, name: &str, unit: &str) -> Result<(), String> {
        self.bound.in_unit(unit).map(drop).map_err(|why| self.not_in_unit(name, &why))
    }

    /// Judges the limit for a run. An `Err` says that the run has no such figure, or that its unit
    /// does not fit.
    pub fn of_run(&self, report: &Report) -> Result<RequiredResult, String> {
        let name = resolve(&self.figure, std::iter::once(report))?;
        let units = units_in(std::iter::once(name.as_str()), std::iter::once(report));
        let (value, interval) = (value_of(report, &name), interval_of(report, &name));
        let mut judged = self.judged(&name, &units, value, interval)?;
        let is_alone = interval.is_none();
        judged.reason = why_no_value(report, &name)
            .or_else(|| why_no_interval(report, &name).filter(|_| is_alone));
        judged.decided_by = judged.times_as_long().and_then(|times| {
            let needed_s = times * report.measured_seconds;
            (needed_s <= ADVISED_S_MOST)
                .then(|| format!("about {} of load", seconds(rounded_up(needed_s))))
        });
        // A figure that a run has one number of never has an interval.
        let is_open = judged.reason.as_ref().is_some_and(|why| why != ONE_NUMBER);
        let is_unsure = is_open && judged.holds == Holds::Within;
        if is_unsure || value.is_none() && samples_lacking(report, &name).is_some() {
            judged.holds = Holds::Undecided;
        }
        let needed = judged.reason.as_deref().and_then(length_needed);
        if let Some(needed) = needed.filter(|_| is_unsure) {
            let this = seconds(report.measured_seconds);
            judged.reason = Some(format!("it takes a run of at least {needed} (this one: {this})"));
        }
        if COUNTS.contains(&name.as_str()) {
            judged.holds = match judged.holds {
                Holds::Within => Holds::Surely,
                Holds::Beyond => Holds::SurelyNot,
                other => other,
            };
        }
        Ok(judged)
    }

    /// Judges the limit for a point of an experiment by the point's `figures`. A figure in
    /// `samples_needed` has too few samples, so that the limit is undecided. `units` has units that
    /// names of figures do not tell. An `Err` says that runs of the point lack the figure, or that
    /// its unit does not fit.
    pub fn of_point(
        &self,
        figures: &Named<Figure>,
        samples_needed: &Named<u64>,
        units: &Named<String>,
    ) -> Result<RequiredResult, String> {
        let own = figures.0.iter().map(|(name, _)| name.as_str());
        let found = find_as_written(&self.figure, own);
        let lacking = samples_needed.0.iter().map(|(name, _)| name.as_str());
        let lacking = find_as_written(&self.figure, lacking).filter(|_| found.is_none());
        if let Some(name) = lacking {
            let judged = self.judged(name, units, None, None)?;
            return Ok(RequiredResult { holds: Holds::Undecided, ..judged });
        }
        let (name, figure) = found
            .and_then(|name| Some((name, figures.get(name)?)))
            .ok_or_else(|| format!("{self}: some runs of the point do not have that figure"))?;
        let interval = figure
            .half_width
            .map(|half_width| (figure.mean - half_width, Some(figure.mean + half_width)));
        let mut judged = self.judged(name, units, Some(figure.mean), interval)?;
        let distance = (figure.mean - judged.bound).abs();
        let undecided = judged.holds == Holds::Undecided;
        let needed = undecided.then(|| figure.runs_until(distance)).flatten();
        judged.decided_by = needed.map(|n| format!("about {}", count(n, "repeat")));
        if judged.holds == Holds::Within && !COUNTS.contains(&name) {
            judged.holds = Holds::Undecided;
            judged.reason = Some("it takes two runs or more (--repeat 5)".to_owned());
        }
        Ok(judged)
    }

    /// Returns an error message on a bound whose unit does not fit the figure. One in percent is
    /// likely meant as a change.
    fn not_in_unit(&self, name: &str, why: &str) -> String {
        match self.text.ends_with('%') {
            true => format!(
                "{self}: {name} is not in percent, and a limit on one run needs a value, such as \
                 {}; a change in percent is a limit of 'dbdyno compare --fail-if'",
                if name.ends_with("_ms") { "p99<300ms" } else { "tps>1000" }
            ),
            false => format!("{self}: {name} {why}"),
        }
    }

    fn judged(
        &self,
        figure: &str,
        units: &Named<String>,
        value: Option<f64>,
        interval: Option<(f64, Option<f64>)>,
    ) -> Result<RequiredResult, String> {
        let unit = units.get(figure).map_or(unit(figure), String::as_str);
        let interval = interval.map(|interval| within_domain(figure, value, interval));
        let bound = self.bound.in_unit(unit).map_err(|why| self.not_in_unit(figure, &why))?;
        let is_within = |value: f64| self.comparison.holds(value, bound);
        let ends = interval.map(|(low, high)| [low, high.unwrap_or(f64::INFINITY)].map(is_within));
        let holds = match (ends, value) {
            (Some([true, true]), _) => Holds::Surely,
            (Some([false, false]), _) => Holds::SurelyNot,
            (Some(_), _) => Holds::Undecided,
            (None, Some(value)) if is_within(value) => Holds::Within,
            (None, _) => Holds::Beyond,
        };
        let written = self.bound.bytes_as_written(unit);
        let (limit, figure, unit) = (self.to_string(), figure.to_owned(), unit.to_owned());
        let (reason, decided_by) = (None, None);
        Ok(RequiredResult {
            limit,
            figure,
            unit,
            value,
            interval,
            holds,
            reason,
            decided_by,
            is_within: value.is_some_and(is_within),
            bound,
            written,
        })
    }
}

/// Longest run that an undecided limit advises, in seconds.
const ADVISED_S_MOST: f64 = 3_600.0;

impl RequiredResult {
    /// Returns how many times as long a run would decide the limit if its value stayed as it is:
    /// the error falls with the square root of the length. `None` if it is decided or not known.
    fn times_as_long(&self) -> Option<f64> {
        let (value, (low, high)) = self.value.zip(self.interval)?;
        let end = if value < self.bound { high? } else { low };
        let times = ((end - value) / (self.bound - value)).powi(2);
        (self.holds == Holds::Undecided && times.is_finite()).then_some(times)
    }
}

/// Cuts an interval to values that the figure can have: not below 0, and shares not above 100 %.
fn within_domain(
    figure: &str,
    value: Option<f64>,
    (low, high): (f64, Option<f64>),
) -> (f64, Option<f64>) {
    let least = if value.is_some_and(|value| value >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
    let is_share = figure.contains("below_") || figure.ends_with("errors_percent");
    let most = if is_share { 100.0 } else { f64::INFINITY };
    (low.max(least), high.map(|high| high.min(most)))
}

/// Returns the name of the figure that a limit is about. If the user wrote `rate`, the unit of the
/// bound tells it: `bytes` for a bound in MB/s.
fn as_bound(figure: &str, bound: &FigureBound) -> String {
    let counted = match bound {
        FigureBound::Amount { what, .. } if figure.eq_ignore_ascii_case(RATE) => what.as_str(),
        _ => return figure.to_owned(),
    };
    let counts = match counted {
        "" | "%" => figure,
        "B" => "bytes",
        "row" => "rows",
        "record" => "records",
        "measurement" => "measurements",
        other => other,
    };
    counts.to_owned()
}

/// Returns the name of the figure that a limit is about: `figure` itself or, if `figure` is `rate`,
/// what the unit of `bound` counts, such as `bytes` for `2MB/s`.
pub fn beside_bound_as_written(figure: &str, bound: &str) -> String {
    FigureBound::read(bound).map_or_else(|_| figure.to_owned(), |bound| as_bound(figure, &bound))
}

/// Checks that the figure `name` can be compared with a bound as users write it, such as `10ms`.
/// `units` are the units that the figure may have; if empty, only a run tells the unit, and any
/// fits. An `Err` says why the bound is not valid, or its unit does not fit.
pub fn check_bound(name: &str, bound: &str, units: &[&str]) -> Result<(), String> {
    let bound = FigureBound::read(bound)?;
    let fits = || units.iter().any(|unit| bound.in_unit(unit).is_ok());
    match units.first() {
        Some(unit) if !fits() => {
            bound.in_unit(unit).map(drop).map_err(|why| format!("{name} {why}"))
        }
        _ => Ok(()),
    }
}

/// Returns the value of a run's figure by a name as users write it, such as `p99`; `None` if the
/// run does not have it.
pub fn value_as_written(report: &Report, name: &str) -> Option<f64> {
    value_of(report, &resolve(name, std::iter::once(report)).ok()?)
}

/// Compares a run's figure with a bound as users write it, such as `10ms`: `Less` if the figure is
/// below it. `None` if the run does not have the figure, or the units do not match.
pub fn compared(report: &Report, name: &str, bound: &str) -> Option<Ordering> {
    let name = beside_bound_as_written(name, bound);
    let name = resolve(&name, std::iter::once(report)).ok()?;
    let units = units_in(std::iter::once(name.as_str()), std::iter::once(report));
    let unit = units.get(&name).map_or(unit(&name), String::as_str);
    let bound = FigureBound::read(bound).ok()?.in_unit(unit).ok()?;
    value_of(report, &name)?.partial_cmp(&bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::subjects;
    use crate::report::{Latency, PrimaryMetricReport};

    fn result_of(limit: &str) -> RequiredResult {
        let required: Required = limit.parse().expect("a limit");
        required.of_run(&subjects::closed()).expect("the run has it")
    }

    #[test]
    fn the_interval_decides_where_there_is_one() {
        let report = subjects::closed();
        let tps = report.block.tps.expect("it was measured");
        let half = report.block.tps_ci95.as_ref().expect("it has an error").half_width;
        let check = |bound: f64, expect: Holds| {
            assert_eq!(result_of(&format!("tps>{bound}")).holds, expect, "{bound}");
        };
        check(tps - 2.0 * half, Holds::Surely);
        check(tps - 0.5 * half, Holds::Undecided);
        check(tps + 2.0 * half, Holds::SurelyNot);
        assert!(result_of("errors<1%").interval.is_some());
        let unfinished = report.block.counts.unfinished;
        assert_eq!(result_of(&format!("unfinished<={unfinished}")).holds, Holds::Surely);
        assert_eq!(result_of(&format!("unfinished<{unfinished}")).holds, Holds::SurelyNot);
        let max = result_of("machine.cpu_user.max<0%");
        assert_eq!((max.holds, max.holds.is_broken()), (Holds::Beyond, true));
        assert!(max.to_string().ends_with("46.0 % (no CI)"), "{max}");
        assert!(result_of("errors_percent>1").holds.is_broken());
    }

    #[test]
    fn an_undecided_limit_says_what_decides_it() {
        let report = subjects::closed();
        let tps = report.block.tps.expect("it was measured");
        let half = report.block.tps_ci95.as_ref().expect("it has an error").half_width;
        // Half of the error takes four times as long.
        let found = result_of(&format!("tps>{}", tps - half / 2.0)).to_string();
        let needed_s = rounded_up(4.0 * report.measured_seconds);
        let words =
            format!("; if it stays so, about {} of load would show it within", seconds(needed_s));
        assert!(found.contains(&words), "{words}: {found}");
        assert_eq!(result_of(&format!("tps>{}", tps - 2.0 * half)).decided_by, None);
        let point = |values: &[f64]| {
            let figure = crate::figures::figure(values).expect("there are values");
            let figures = Named(vec![("tps".to_owned(), figure)]);
            let limit: Required = "tps>99".parse().expect("a limit");
            let held = limit.of_point(&figures, &Named::default(), &Named::default());
            held.expect("it has the figure").to_string()
        };
        let found = point(&[95.0, 100.0, 105.0]);
        // 2 s is 5 / sqrt(n) standard errors of Student's t.
        let words = "; if it stays so, about 99 repeats would show it within this limit";
        assert!(found.ends_with(words), "{found}");
        let words = "; if it stays so, about 99 repeats would show it beyond this limit (FAILED)";
        let below = point(&[93.0, 98.0, 103.0]);
        assert!(below.ends_with(words), "{below}");
        assert!(!point(&[100.0, 100.1, 100.2]).contains("would show"), "it is decided");
    }

    #[test]
    fn too_few_samples_leave_a_limit_undecided_and_none_break_it() {
        let mut report = subjects::closed();
        let limit: Required = "new_order.p99<1s".parse().expect("a limit");
        let with = |report: &mut Report, count: u64| {
            let all = &mut report.block.transactions.0;
            let kind = all.iter_mut().find(|(name, _)| name == "new_order").expect("it has them");
            kind.1.response_ms = Latency { count, ..Latency::default() };
            limit.of_run(report)
        };
        let few = with(&mut report, 5).expect("it is measured");
        assert_eq!((few.holds, few.value), (Holds::Undecided, None));
        assert!(
            few.to_string().starts_with("undecided new_order.p99<1s: – (too few samples"),
            "{few}"
        );
        let none = with(&mut report, 0).expect("it has the figure by name");
        assert!(none.holds.is_broken() && none.to_string().ends_with(" finished)"), "{none}");
        report.block.offered_ms = Latency { count: 5, ..Latency::default() };
        let all: Required = "p99<1s".parse().expect("a limit");
        assert_eq!(all.of_run(&report).map(|all| all.holds), Ok(Holds::Undecided));
        report.block.offered_ms = Latency::default();
        assert!(all.of_run(&report).is_ok_and(|all| all.holds.is_broken()));
    }

    #[test]
    fn a_value_within_its_limit_says_which_length_of_a_run_lets_it_pass() {
        let mut report = subjects::closed();
        report.measured_seconds = 2.0;
        let times = &mut report.block.offered_ms;
        times.intervals = Named::default();
        let why = "the run is too short: times are kept per second, and a CI needs 20 s";
        times.interval_reasons.push("p99".to_owned(), why.to_owned());
        let limit: Required = "p99<300ms".parse().expect("a limit");
        assert_eq!(
            limit.of_run(&report).expect("it has the figure").to_string(),
            "undecided p99<300ms: 84.41 ms is within it, but a pass needs its CI: it takes a run \
             of at least 20 s (this one: 2 s)"
        );
    }

    #[test]
    fn a_limit_in_percent_is_meant_as_a_change() {
        let limit: Required = "tps<-5%".parse().expect("its unit is not known yet");
        for why in [
            limit.check_unit("tps", "1/s").expect_err("no percent"),
            limit.of_run(&subjects::closed()).expect_err("no percent"),
        ] {
            assert!(why.contains("needs a value, such as tps>1000; a change in percent"), "{why}");
        }
    }

    #[test]
    fn the_time_of_a_query_is_one_number_that_decides() {
        let mut report = subjects::closed();
        report.groups[0].sequence = Some(22);
        let result = |limit: &str| {
            let limit: Required = limit.parse().expect("a limit");
            limit.of_run(&report).expect("it has the figure")
        };
        let held = result("payment<2s");
        assert_eq!((held.figure.as_str(), held.holds), ("payment.mean_ms", Holds::Within));
        assert_eq!(held.interval, None);
        assert_eq!(result("payment<1us").holds, Holds::Beyond);
    }

    #[test]
    fn bounds_have_units() {
        let p99 = result_of("p99<300ms");
        assert_eq!((p99.figure.as_str(), result_of("p99<0.3s").holds), ("p99_ms", p99.holds));
        let without = result_of("p99<300");
        assert_eq!(without.holds, p99.holds);
        assert!(without.to_string().contains(" p99<300 ms: "), "{without}");
        let no = |text: &str| text.parse::<Required>().expect_err("it makes no sense");
        assert!(no("p99").contains("neither < nor >"));
        assert!(no("p99<x").contains("not a number"));
        assert!(no("p99<3 parsec").contains("there is no unit parsec"));
        let tps: Required = "tps>3ms".parse().expect("it may be a time");
        assert!(tps.of_run(&subjects::closed()).is_err_and(|why| why.contains("is not a time")));
    }

    #[test]
    fn a_rate_is_held_in_the_unit_of_its_figure_and_reported_with_it() {
        let report = subjects::closed();
        let gauges = || report.gauges.iter().filter(|gauge| gauge.mean > Some(0.0));
        let gauge = gauges().find(|gauge| gauge.unit == "B/s").expect("bytes are read");
        let (name, mean) = (gauge.figure(), gauge.mean.expect("it was read"));
        let per_minute = format!("{name}>={}MB/min", mean * 60.0 / 1e6 * 0.9);
        let printed = result_of(&per_minute);
        assert_eq!((printed.unit.as_str(), printed.holds), ("B/s", Holds::Surely));
        assert!(printed.to_string().contains(" MB/min ("), "{printed}");
        assert!(result_of(&format!("{name}>{}MB/min", mean * 60.0 / 1e6 * 1.5)).holds.is_broken());
        // The largest reading has no error.
        let largest = result_of(&format!("{name}.max>1B/s"));
        assert_eq!((largest.holds, &largest.reason), (Holds::Within, &None));
        // With three digits, the value would look like the bound, which it is not.
        let near = result_of(&format!("{name}>{}B/s", mean * (1.0 + 1e-6))).to_string();
        let (_, shown) = near.split_once(": ").expect("limit and value");
        assert!(shown.contains(" B/s ("), "{near}");
    }

    #[test]
    fn a_mere_rate_is_of_what_its_bound_counts() {
        let figure = |limit: &str| result_of(limit).figure;
        assert_eq!(figure("rate>2kB/s"), "bytes_per_s");
        assert_eq!(figure("rate>1 rows/s"), "rows_per_s");
        assert_eq!(figure("rate>1000/min"), "tps");
        assert!(compared(&subjects::closed(), "rate", "1B/s").is_some_and(Ordering::is_gt));
    }

    #[test]
    fn bytes_of_a_limit_are_those_that_the_result_line_shows() {
        let mut report = subjects::closed();
        let nopm = report.block.primary_metrics.get("nopm").expect("it has NOPM").clone();
        let primary_metric = |title: &str, value: f64| PrimaryMetricReport {
            title: title.to_owned(),
            value: Some(value),
            half_width: Some(value / 100.0),
            ..nopm.clone()
        };
        report
            .block
            .primary_metrics
            .push("records_per_s".to_owned(), primary_metric("records/s", 3_186.0));
        report.block.primary_metrics.push("mb_per_s".to_owned(), primary_metric("MB/s", 0.0669));
        report.block.bytes_per_second = Some(162_600.0);
        let judge = |report: &Report, limit: &str| {
            limit.parse::<Required>().expect("a limit").of_run(report).expect("the run has it")
        };
        for limit in
            ["rate>0.1MB/s", "bytes>0.1MB/s", "bytes>100000", "mb_per_s>0.1", "BYTES>6MB/min"]
        {
            assert_eq!(judge(&report, limit).holds, Holds::SurelyNot, "{limit}");
        }
        let held = judge(&report, "rate>0.05MB/s");
        assert_eq!((held.figure.as_str(), held.holds), ("bytes.per_second", Holds::Surely));
        assert_eq!(judge(&report, "rate>3000 records/s").figure, "records_per_s");
        assert_eq!(
            judge(&report, "bytes_per_s>0.1MB/s").holds,
            judge(&report, "bytes_per_s>1").holds
        );
        assert!(compared(&report, "rate", "0.1MB/s").is_some_and(Ordering::is_lt));
        assert!(compared(&report, "bytes", "0.06MB/s").is_some_and(Ordering::is_gt));
    }

    #[test]
    fn no_interval_reaches_beyond_what_a_figure_can_be() {
        assert_eq!(within_domain("tps", Some(5.0), (-3.0, Some(13.0))), (0.0, Some(13.0)));
        assert_eq!(within_domain("x.below_5ms", Some(99.0), (97.0, Some(101.0))).1, Some(100.0));
        assert_eq!(within_domain("x", Some(-1.0), (-3.0, None)), (-3.0, None));
    }

    #[test]
    fn quotients_are_held_with_and_without_spaces() {
        for limit in ["new_order.p99/p50>0.1", "new_order.p99 / p50>0.1"] {
            let held = result_of(limit);
            assert_eq!((&*held.figure, held.holds), ("new_order.p99_ms / p50_ms", Holds::Within));
        }
    }

    #[test]
    fn a_figure_compares_with_a_bound_in_its_unit() {
        let report = subjects::closed();
        let tps = report.block.tps.expect("it was measured");
        let held = |name: &str, bound: &str| compared(&report, name, bound);
        assert_eq!(held("tps", &format!("{tps}")), Some(Ordering::Equal));
        assert_eq!(held("TPS", &format!("{}/min", tps * 61.0)), Some(Ordering::Less));
        assert_eq!(held("p99", "1ns"), Some(Ordering::Greater));
        assert_eq!(held("new_order.p99", "1h"), Some(Ordering::Less));
        assert_eq!(held("tps", "3ms"), None);
        assert_eq!(held("no_such.p99", "3ms"), None);
        assert_eq!(value_as_written(&report, "TPS"), Some(tps));
    }

    #[test]
    fn a_result_says_limit_value_interval_and_how_surely() {
        let text = result_of("p99<300ms").to_string();
        assert!(text.starts_with("passed p99<300ms: 84.41 ms (95 % CI "), "{text}");
    }

    #[test]
    fn a_value_near_the_bound_is_shown_as_what_it_is() {
        let value = result_of("p99<300ms").value.expect("it was measured");
        let check = |bound: f64, shown: &str| {
            let text = result_of(&format!("p99<{bound}")).to_string();
            assert!(text.contains(&format!(": {shown} ms (")), "{text}");
        };
        assert_eq!(value, 84.410_367);
        check(84.41, "84.4104");
        check(84.410_36, "84.41037");
        check(value, "84.41");
        check(40.0, "84.41");
    }
}
