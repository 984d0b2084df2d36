//! Objectives that a run must meet for its load to be acceptable, such as `p99<20ms`, and the
//! search for the highest such load.
//!
//! Not here: evaluation (study), and the execution of the search (app).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{format_duration, interned, parse_duration};

/// The metric that an objective limits. In response times of all offered transactions, failed and
/// dropped ones count as infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Median of the response times of all offered transactions.
    P50,
    /// 90th percentile of the response times of all offered transactions.
    P90,
    /// 95th percentile of the response times of all offered transactions.
    P95,
    /// 99th percentile of the response times of all offered transactions.
    P99,
    /// 99.9th percentile of the response times of all offered transactions.
    P999,
    /// Mean of the response times of all offered transactions.
    Mean,
    /// Maximum of the response times of all offered transactions.
    Max,
    /// Share of offered transactions that failed or were dropped.
    Errors,
    /// Number of transactions that finished within the measured phase, whenever they were offered,
    /// divided by the number of those offered in it.
    Achieved,
    /// Any other figure of a run, by its name as the user wrote it, such as `new_order.p99`.
    Figure(&'static str),
}

impl Metric {
    /// All metrics except [`Metric::Figure`], in display order.
    pub const ALL: [Metric; 9] = [
        Metric::P50,
        Metric::P90,
        Metric::P95,
        Metric::P99,
        Metric::P999,
        Metric::Mean,
        Metric::Max,
        Metric::Errors,
        Metric::Achieved,
    ];

    /// Returns the name by which users write the metric in an objective, such as `p99`.
    pub fn name(self) -> &'static str {
        match self {
            Metric::P50 => "p50",
            Metric::P90 => "p90",
            Metric::P95 => "p95",
            Metric::P99 => "p99",
            Metric::P999 => "p999",
            Metric::Mean => "mean",
            Metric::Max => "max",
            Metric::Errors => "errors",
            Metric::Achieved => "achieved",
            Metric::Figure(name) => name,
        }
    }
}

impl Metric {
    /// Returns the share of transactions whose response time may exceed the bound of a percentile:
    /// 0.01 for `P99`. `None` for metrics that are not percentiles.
    pub fn allowed_beyond(self) -> Option<f64> {
        match self {
            Metric::P50 => Some(0.5),
            Metric::P90 => Some(0.1),
            Metric::P95 => Some(0.05),
            Metric::P99 => Some(0.01),
            Metric::P999 => Some(0.001),
            Metric::Mean | Metric::Max | Metric::Errors | Metric::Achieved | Metric::Figure(_) => {
                None
            }
        }
    }
}

/// The comparison of a metric with its bound that an objective demands, such as `<`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`: the metric must be below the bound.
    Below,
    /// `<=`: the metric must be at most the bound.
    AtMost,
    /// `>`: the metric must be above the bound.
    Above,
    /// `>=`: the metric must be at least the bound.
    AtLeast,
}

impl Comparison {
    /// Returns the sign by which users write the comparison in an objective, such as `<=`.
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Below => "<",
            Comparison::AtMost => "<=",
            Comparison::Above => ">",
            Comparison::AtLeast => ">=",
        }
    }

    /// Parses the comparison sign at the start of `text`; returns it with the rest of the text.
    /// `None` if there is no sign.
    pub fn read(text: &str) -> Option<(Comparison, &str)> {
        let signs = [Comparison::AtMost, Comparison::AtLeast, Comparison::Below, Comparison::Above];
        let behind = |sign: Comparison| Some((sign, text.strip_prefix(sign.sign())?));
        signs.into_iter().find_map(behind)
    }

    /// Whether the comparison is true for `value` on the left and `bound` on the right.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Comparison::Below => value < bound,
            Comparison::AtMost => value <= bound,
            Comparison::Above => value > bound,
            Comparison::AtLeast => value >= bound,
        }
    }
}

/// The bound that an objective sets for its metric, such as 20 ms in `p99<20ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// A bound for a response time, in nanoseconds.
    Time(u64),
    /// A bound for a share from 0 to 1, of [`Metric::Errors`] or [`Metric::Achieved`].
    Share(f64),
    /// A bound for any other metric, as the user wrote it, such as `2MB/s`. It is converted when
    /// the unit of the metric is known.
    Written(&'static str),
}

/// A condition that a run must meet, such as `p99<20ms`, `errors<0.1%`, `achieved>=99.5%` or
/// `new_order.p99<20ms`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Objective {
    /// Metric that is compared with the bound.
    pub metric: Metric,
    /// Comparison of metric and bound that must be true, such as `<`.
    pub comparison: Comparison,
    /// Bound of the metric: a time, a share, or text for any other figure.
    pub bound: Bound,
}

/// Error for an objective that cannot be parsed; the message says what would be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadObjective(pub String);

impl fmt::Display for BadObjective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadObjective {}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.metric.name(), self.comparison.sign())?;
        match self.bound {
            Bound::Time(ns) => {
                let printed = format_duration(ns);
                let is_exact = parse_duration(&printed) == Ok(ns);
                f.write_str(&if is_exact { printed } else { format!("{ns}ns") })
            }
            // Rounded, since a share such as 0.1 % is not exact in binary.
            Bound::Share(share) => {
                let percent = (share * 100.0 * 1e9).round() / 1e9;
                write!(f, "{percent}%")
            }
            Bound::Written(text) => f.write_str(text),
        }
    }
}

impl From<Objective> for String {
    fn from(objective: Objective) -> String {
        objective.to_string()
    }
}

impl TryFrom<String> for Objective {
    type Error = BadObjective;

    fn try_from(text: String) -> Result<Objective, BadObjective> {
        text.parse()
    }
}

impl FromStr for Objective {
    type Err = BadObjective;

    fn from_str(text: &str) -> Result<Objective, BadObjective> {
        let bad = |why: String| BadObjective(format!("'{text}' is not an objective: {why}"));
        let like = "write it like p99<20ms, errors<0.1% or achieved>=99%";
        let sign = text.find(['<', '>']).ok_or_else(|| bad(like.to_owned()))?;
        let (name, rest) = text.split_at(sign);
        let name = match name.trim() {
            "p99.9" => "p999",
            name => name,
        };
        let (comparison, written) = Comparison::read(rest).ok_or_else(|| bad(like.to_owned()))?;
        let written = written.trim();
        let metric = Metric::ALL.into_iter().find(|metric| metric.name() == name);
        let Some(metric) = metric else {
            if name.is_empty() || written.is_empty() {
                return Err(bad(like.to_owned()));
            }
            let metric = Metric::Figure(interned(name));
            return Ok(Objective { metric, comparison, bound: Bound::Written(interned(written)) });
        };
        let is_upper = matches!(comparison, Comparison::Below | Comparison::AtMost);
        let bound = match metric {
            Metric::Errors | Metric::Achieved => share(written).map_err(bad)?,
            _ => match parse_duration(written).map_err(|error| bad(error.0))? {
                0 => return Err(bad("a time must be above zero".to_owned())),
                ns => Bound::Time(ns),
            },
        };
        match (bound, comparison) {
            (Bound::Share(share), Comparison::Below) if share <= 0.0 => {
                return Err(bad(format!("nothing is below zero: for none write {name}<=0")));
            }
            (Bound::Share(share), Comparison::Above) if share >= 1.0 => {
                return Err(bad(format!("nothing is above 100 %: for all write {name}>=100%")));
            }
            _ => {}
        }
        match (metric, is_upper) {
            (Metric::Achieved, true) => {
                Err(bad("achieved must be above its bound: achieved>=99%".to_owned()))
            }
            (Metric::Achieved, false) | (_, true) => Ok(Objective { metric, comparison, bound }),
            (metric, false) => {
                let name = metric.name();
                Err(bad(format!("{name} must be below its bound: {name}<{written}")))
            }
        }
    }
}

/// Parses a share, written in percent (`0.1%`) or as a number from 0 to 1. Fails for any other
/// text.
fn share(written: &str) -> Result<Bound, String> {
    let (number, one) = match written.strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (written, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if (0.0..=one).contains(&value) => Ok(Bound::Share(value / one)),
        _ => Err(format!("'{written}' is not a share: write 0.1% or 0.001")),
    }
}

/// A search for the highest value of a load parameter at which a run meets all objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seek {
    /// Parameter that is varied: `rate`, `clients`, or the path of another number in the plan.
    pub axis: String,
    /// Lowest value of the parameter that the search may try.
    pub low: f64,
    /// Highest value of the parameter that the search may try.
    pub high: f64,
    /// Whether the search tries only whole numbers, as for `clients`.
    pub is_whole: bool,
    /// Objectives that a run must meet so that the value that it tried counts as passed, such as
    /// `p99<20ms`.
    pub objectives: Vec<Objective>,
    /// Limit on the time of the whole search, that is, of all its probe runs including ramp-ups, in
    /// nanoseconds.
    pub budget_ns: u64,
    /// Version of the search method. A stored search is evaluated by the version with which it was
    /// made.
    #[serde(default = "first_method")]
    pub method: u32,
}

/// Returns the first version of the search method, which applies to stored searches that have no
/// version.
fn first_method() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_is_read_as_it_is_written() {
        for text in ["p99<20ms", "errors<0.1%", "achieved>=99.5%", "p999<=1.5s", "max<1h"] {
            assert_eq!(text.parse::<Objective>().expect(text).to_string(), text);
        }
        let check = |text: &str, shown: &str| {
            assert_eq!(text.parse::<Objective>().expect(text).to_string(), shown);
        };
        check(" p99.9 < 20ms ", "p999<20ms");
        check("errors<=0", "errors<=0%");
        check("achieved>0.9", "achieved>90%");
        check("new_order.p99 < 20 ms", "new_order.p99<20 ms");
        let figure = "server.cpu<=80%".parse::<Objective>().expect("a figure");
        assert_eq!(figure.metric, Metric::Figure("server.cpu"));
        assert_eq!(figure.bound, Bound::Written("80%"));
    }

    #[test]
    fn what_is_no_objective_is_reported_with_its_remedy() {
        let check = |text: &str, words: &str| {
            let error = text.parse::<Objective>().expect_err(text).0;
            assert!(error.contains(words), "{text}: {error}");
        };
        check("fast", "write it like p99<20ms");
        check("<20ms", "write it like p99<20ms");
        check("rows<", "write it like p99<20ms");
        check("p99<20", "no unit");
        check("p99<0s", "above zero");
        check("p99>20ms", "must be below its bound");
        check("errors<20ms", "'20ms' is not a share");
        check("errors<200%", "is not a share");
        check("errors<0", "nothing is below zero: for none write errors<=0");
        check("achieved>100%", "nothing is above 100 %");
        check("achieved<99%", "must be above");
    }

    #[test]
    fn objectives_are_kept_as_their_words() {
        let objective: Objective = "p99<20ms".parse().expect("valid");
        let text = String::from(objective);
        assert_eq!(Objective::try_from(text), Ok(objective));
    }
}
