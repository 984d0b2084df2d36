//! What a run must reach: `p99<300ms`, `rows.per_second>2M`, `server.disk_written<40MiB/s`.
//!
//! The error of the figure decides with it: a limit holds surely, is surely broken, or neither.
//! Not here: exit codes.

use std::fmt;
use std::str::FromStr;

use model::numbers::{NONE, beside_bound};
use model::{Comparison, NS_PER_MS, NS_PER_US, parse_duration};
use serde::{Deserialize, Serialize};

use super::catalog::{interval_of, may_be, resolve, spellings, value_of};
use super::{Figure, title};
use crate::report::Report;

/// A limit on a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Required {
    text: String,
    /// The figure, as it was written.
    pub figure: String,
    /// On which side of the bound it must lie.
    pub comparison: Comparison,
    bound: Bound,
}

/// What the figure is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// A number in the figure's own unit.
    Plain(f64),
    /// Nanoseconds, of a time.
    Time(u64),
}

/// How surely a limit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The whole interval lies within.
    Surely,
    /// The whole interval lies beyond.
    SurelyNot,
    /// The interval lies on both sides.
    Undecided,
    /// There is no interval, and the value lies within.
    Within,
    /// There is no interval, and the value lies beyond; or there is no value.
    Beyond,
}

impl Holds {
    /// As it is read.
    pub fn words(self) -> &'static str {
        match self {
            Holds::Surely => "holds, surely",
            Holds::SurelyNot => "does not hold, surely",
            Holds::Undecided => "undecided: its interval lies on both sides",
            Holds::Within => "holds; its error is not known",
            Holds::Beyond => "does not hold; its error is not known",
        }
    }

    /// Whether it ends with exit code 1.
    pub fn is_broken(self) -> bool {
        matches!(self, Holds::SurelyNot | Holds::Beyond)
    }
}

/// What came of a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequiredResult {
    /// The limit, as written.
    pub limit: String,
    /// The figure's name.
    pub figure: String,
    /// Its value; null where the run does not have it.
    pub value: Option<f64>,
    /// Its 95 % interval, where it is known; an end that is null is infinite.
    pub interval: Option<(f64, Option<f64>)>,
    /// How surely it holds.
    pub holds: Holds,
    /// The bound, in the figure's own unit.
    #[serde(skip)]
    bound: f64,
}

impl fmt::Display for RequiredResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: f64| beside_bound(value, self.bound, 4);
        let value = self.value.map_or_else(|| NONE.to_owned(), number);
        write!(f, "required {}: {} {value}", self.limit, title(&self.figure))?;
        if let Some((low, high)) = self.interval {
            write!(f, " ({} to {})", number(low), number(high.unwrap_or(f64::INFINITY)))?;
        }
        write!(f, " {}", self.holds.words())
    }
}

impl fmt::Display for Required {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What may stand behind a number that is no time, and what it is multiplied by. Unlike counts and
/// sizes of a plan, a bound may be a fraction, and `M` is a million of anything.
const UNITS: [(&str, f64); 12] = [
    ("", 1.0),
    ("%", 1.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

impl Bound {
    /// Reads what stands behind the sign. An `Err` says what is wrong with it.
    fn read(text: &str) -> Result<Bound, String> {
        if let Ok(ns) = parse_duration(text) {
            return Ok(Bound::Time(ns));
        }
        let (text, per_second) = match (text.strip_suffix("/s"), text.strip_suffix("/min")) {
            (Some(text), _) => (text, 1.0),
            (_, Some(text)) => (text, 1.0 / 60.0),
            _ => (text, 1.0),
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && !".-+e_".contains(c));
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let number: f64 =
            number.replace('_', "").parse().map_err(|_| "its bound is no number".to_owned())?;
        let unit = unit.trim();
        let found = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, factor) = found.ok_or_else(|| format!("there is no unit {unit}"))?;
        Ok(Bound::Plain(number * factor * per_second))
    }
}

impl FromStr for Required {
    type Err = String;

    fn from_str(text: &str) -> Result<Required, String> {
        let no =
            |why: &str| format!("'{text}' is no limit: {why}; write \"p99<300ms\" or \"tps>1000\"");
        let at = text.find(['<', '>']).ok_or_else(|| no("it has neither < nor >"))?;
        let (figure, rest) = text.split_at(at);
        if !may_be(figure) {
            return Err(no("it names no figure, such as tps, p99 or reads"));
        }
        let (comparison, rest) = Comparison::read(rest).expect("it begins with < or >");
        let bound = Bound::read(rest.trim()).map_err(|why| no(&why))?;
        let (text, figure) = (text.trim().to_owned(), figure.trim().to_owned());
        Ok(Required { text, figure, comparison, bound })
    }
}

impl Required {
    /// Of a run. An `Err` says that the run does not have such a figure.
    pub fn of_run(&self, report: &Report) -> Result<RequiredResult, String> {
        let name = resolve(&self.figure, std::iter::once(report))?;
        let bound = self.bound_of(&name)?;
        let value = value_of(report, &name);
        Ok(self.judged(name.clone(), bound, value, interval_of(report, &name)))
    }

    /// Of a point of an experiment, by its figures.
    pub fn of_point(
        &self,
        figures: &crate::report::Named<Figure>,
    ) -> Result<RequiredResult, String> {
        let names = spellings(&self.figure);
        let found = names.iter().find_map(|name| Some((name, figures.get(name)?)));
        let (name, figure) = found
            .ok_or_else(|| format!("{self}: some runs of the point do not have that figure"))?;
        let interval = figure
            .half_width
            .map(|half_width| (figure.mean - half_width, Some(figure.mean + half_width)));
        let bound = self.bound_of(name)?;
        Ok(self.judged(name.clone(), bound, Some(figure.mean), interval))
    }

    /// The bound in the figure's own unit.
    fn bound_of(&self, name: &str) -> Result<f64, String> {
        match self.bound {
            Bound::Plain(bound) => Ok(bound),
            Bound::Time(ns) if name.ends_with("_ms") => Ok(ns as f64 / NS_PER_MS as f64),
            Bound::Time(ns) if name.ends_with("_us") => Ok(ns as f64 / NS_PER_US as f64),
            Bound::Time(_) => Err(format!("{self}: {name} is no time, and its bound is one")),
        }
    }

    fn judged(
        &self,
        figure: String,
        bound: f64,
        value: Option<f64>,
        interval: Option<(f64, Option<f64>)>,
    ) -> RequiredResult {
        let is_within = |value: f64| self.comparison.holds(value, bound);
        let ends = interval.map(|(low, high)| [low, high.unwrap_or(f64::INFINITY)].map(is_within));
        let holds = match (ends, value) {
            (Some([true, true]), _) => Holds::Surely,
            (Some([false, false]), _) => Holds::SurelyNot,
            (Some(_), _) => Holds::Undecided,
            (None, Some(value)) if is_within(value) => Holds::Within,
            (None, _) => Holds::Beyond,
        };
        RequiredResult { limit: self.to_string(), figure, value, interval, holds, bound }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::subjects;

    fn of(limit: &str) -> RequiredResult {
        let required: Required = limit.parse().expect("a limit");
        required.of_run(&subjects::closed()).expect("the run has it")
    }

    #[test]
    fn the_interval_decides_where_there_is_one() {
        let report = subjects::closed();
        let tps = report.block.tps.expect("it was measured");
        let half = report.block.tps_ci95.as_ref().expect("it has an error").half_width;
        let check = |bound: f64, expect: Holds| {
            assert_eq!(of(&format!("tps>{bound}")).holds, expect, "{bound}");
        };
        check(tps - 2.0 * half, Holds::Surely);
        check(tps - 0.5 * half, Holds::Undecided);
        check(tps + 2.0 * half, Holds::SurelyNot);
        assert_eq!(of("errors<1%").holds, Holds::Within);
        let unfinished = report.block.counts.unfinished;
        assert_eq!(of(&format!("unfinished<={unfinished}")).holds, Holds::Within);
        assert_eq!(of(&format!("unfinished<{unfinished}")).holds, Holds::Beyond);
        assert!(of("errors_percent>1").holds.is_broken());
    }

    #[test]
    fn bounds_have_units() {
        let p99 = of("p99<300ms");
        assert_eq!((p99.figure.as_str(), of("p99<0.3s").holds), ("p99_ms", p99.holds));
        assert_eq!(of("p99<300").holds, p99.holds);
        let parsed = |text: &str| text.parse::<Required>().map(|limit| limit.bound);
        assert_eq!(parsed("machine.disk_written<2MB/s"), Ok(Bound::Plain(2e6)));
        assert_eq!(parsed("rows>60_000/min"), Ok(Bound::Plain(1000.0)));
        assert_eq!(parsed("server.disk_written >= 1.5MiB/s"), Ok(Bound::Plain(1_572_864.0)));
        assert_eq!(parsed("p99 <= 1m30s"), Ok(Bound::Time(90 * model::NS_PER_S)));
        let no = |text: &str| text.parse::<Required>().expect_err("it makes no sense");
        assert!(no("p99").contains("neither < nor >"));
        assert!(no("p99<x").contains("no number"));
        assert!(no("p99<3 parsec").contains("there is no unit parsec"));
        let tps: Required = "tps>3ms".parse().expect("it may be a time");
        assert!(tps.of_run(&subjects::closed()).is_err_and(|why| why.contains("is no time")));
    }

    #[test]
    fn a_result_says_limit_value_interval_and_how_surely() {
        let text = of("p99<300ms").to_string();
        assert!(text.starts_with("required p99<300ms: p99 ms "), "{text}");
        assert!(text.contains(" to ") && text.ends_with("holds, surely"), "{text}");
    }

    #[test]
    fn a_value_near_the_bound_is_shown_as_what_it_is() {
        let value = of("p99<300ms").value.expect("it was measured");
        let check = |bound: f64, shown: &str| {
            let text = of(&format!("p99<{bound}")).to_string();
            assert!(text.contains(&format!(": p99 ms {shown} ")), "{text}");
        };
        assert_eq!(value, 84.410_367);
        check(84.41, "84.4104");
        check(84.410_36, "84.41037");
        check(value, "84.41");
        check(40.0, "84.41");
    }
}
