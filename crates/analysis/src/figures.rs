//! The figures of a run that points, sides and builds are compared by.
//!
//! Not here: which runs count (trials), and what is concluded from several figures.

mod below;
mod catalog;
mod disturbed;
mod required;
mod stored_bytes;
mod within;

use model::{Direction, Load, format_count};
use serde::{Deserialize, Serialize};
use stats::Mean;

use crate::report::{Latency, Named, Report};
use below::{Below, STEM};

pub use disturbed::{disturbances_of, name_of_disturbance};

pub use catalog::{
    NamedFigure, OF_PARTS, OF_RUN, PartFigure, RunFigure, all_of, check_name, direction,
    direction_in, known, meaning, names_of_run, other_quantile, quotients, resolve, short,
    spellings, unit, value_of,
};
pub use stored_bytes::bytes_of_title;

pub(crate) use catalog::{find_as_written, samples_lacking, units_in};
pub use required::{
    Holds, Required, RequiredResult, beside_bound_as_written, check_bound, compared,
    value_as_written,
};

/// Confidence of the intervals between trials.
const CONFIDENCE: f64 = 0.95;

/// Largest number of runs per point that is ever advised.
const RUNS_ADVISED_MAX: usize = 100;

/// A figure over the runs of a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The mean over runs.
    pub mean: f64,
    /// Half the width of its 95 % CI; null with one run. If restarts or rebuilds are repeated, the
    /// CI is that between repeats of the highest level. If a rule ended the repeats, it is that of
    /// its sequential method.
    pub half_width: Option<f64>,
    /// The smallest value of a run.
    pub min: f64,
    /// The largest value of a run.
    pub max: f64,
    /// Number of runs that have the figure.
    pub count: u64,
}

impl Figure {
    /// Returns true if the intervals of two means overlap; false if one has no interval.
    pub fn reaches(&self, other: &Figure) -> bool {
        let apart = (self.mean - other.mean).abs();
        let both = self.half_width.zip(other.half_width);
        both.is_some_and(|(mine, theirs)| apart <= mine + theirs)
    }

    /// Returns true if the interval is wider than the mean on either side, so that an overlap says
    /// nothing.
    pub fn is_wide(&self) -> bool {
        self.half_width.is_some_and(|half_width| half_width > self.mean.abs())
    }

    /// Returns the number of runs after which the half-width is likely to be at most half the mean,
    /// if further runs scatter as these do.
    pub fn runs_needed(&self) -> Option<u64> {
        let n_runs = usize::try_from(self.count).ok().filter(|n| *n > 1)?;
        let t = |n: usize| stats::students_t(1.0 - (1.0 - CONFIDENCE) / 2.0, n - 1);
        let of_one = self.half_width? / t(n_runs) * (n_runs as f64).sqrt();
        let is_enough = |n: &usize| t(*n) * of_one / (*n as f64).sqrt() <= self.mean.abs() / 2.0;
        (n_runs + 1..=RUNS_ADVISED_MAX).find(is_enough).map(|n| n as u64)
    }
}

/// Suffix of a gauge's name for its amount per transaction.
const PER_TRANSACTION: &str = "_per_transaction";

/// Returns the response times by which a run is judged: those of all offered transactions, so that
/// lost ones count. Otherwise a database that refuses what it is slow at would look faster.
pub(crate) fn times_of(report: &Report) -> &Latency {
    &report.block.offered_ms
}

/// The quantiles that experiments and searches show: name of the figure, and name of its quantile.
const SHOWN_QUANTILES: [(&str, &str); 3] =
    [("p50_ms", "p50"), ("p95_ms", "p95"), ("p99_ms", "p99")];

/// Returns the reasons why quantiles are not known, by the names of their figures.
pub(crate) fn reasons(times: &Latency) -> Named<String> {
    let why = |(name, q): &(&str, &str)| Some((name.to_string(), times.reasons.get(q)?.clone()));
    Named(SHOWN_QUANTILES.iter().filter_map(why).collect())
}

/// Returns the numbers of samples that unknown quantiles need, by the names of their figures.
pub(crate) fn samples_needed(times: &Latency) -> Named<u64> {
    let needed = |(name, q): &(&str, &str)| Some((name.to_string(), times.samples_needed(q)?));
    Named(SHOWN_QUANTILES.iter().filter_map(needed).collect())
}

/// Returns the reason why a run does not have a figure, if the run has one.
pub(crate) fn why_none(report: &Report, name: &str) -> Option<String> {
    if value_of(report, name).is_some() {
        return None;
    }
    let of_run = reasons(times_of(report)).get(name).cloned();
    let needed = || samples_lacking(report, name).map(format_count);
    of_run.or_else(|| Some(format!("too few samples: needs at least {}", needed()?)))
}

/// Figures that an experiment shows of each point after the primary metric, in the order of the
/// page.
const SHOWN: [&str; 7] =
    ["tps", "p50_ms", "p95_ms", "p99_ms", "wait_percent", "errors_percent", "unfinished"];

/// Returns the figures that an experiment shows of a run, by name, and those of `also`.
pub(crate) fn figures_of(report: &Report, also: &[&str]) -> Vec<(String, f64)> {
    let known_by = known_by(&[report]);
    let known_by = known_by.as_deref();
    let also = also.iter().copied().filter(|name| !SHOWN.contains(name) && known_by != Some(name));
    let named = |name: &str| Some((name.to_owned(), value_of(report, name)?));
    known_by.into_iter().chain(SHOWN).chain(also).filter_map(named).collect()
}

/// Returns the first primary metric of the workload of any of these runs that has a value.
pub(crate) fn known_by(reports: &[&Report]) -> Option<String> {
    let first = |report: &&Report| {
        let (name, _) = report.block.primary_metrics.0.first()?;
        value_of(report, name).map(|_| name.clone())
    };
    reports.iter().find_map(first)
}

/// Returns the figure by which runs are judged: of builds rows per second; of open loads alone
/// `p99_ms`; else the [primary metric](known_by) of the workload, else `tps`.
pub(crate) fn primary_of(reports: &[&Report]) -> String {
    let is_open = |report: &&Report| matches!(report.load, Some(Load::Open { .. }));
    if are_builds(reports) {
        return "build.rows_per_s".to_owned();
    }
    if !reports.is_empty() && reports.iter().all(is_open) {
        return "p99_ms".to_owned();
    }
    known_by(reports).unwrap_or_else(|| "tps".to_owned())
}

/// Returns true if all of these runs are builds of data.
pub(crate) fn are_builds(reports: &[&Report]) -> bool {
    !reports.is_empty() && reports.iter().all(|report| report.is_build())
}

/// Returns the figure of these values, with a mean that may come from another level of repeats.
pub(crate) fn figure_of(values: &[f64], Mean { value, half_width, .. }: Mean) -> Figure {
    Figure {
        mean: value,
        half_width: half_width.filter(|half_width| half_width.is_finite()),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        count: values.len() as u64,
    }
}

/// Returns the better one of two figures: the lower one of times and costs.
pub fn better(better: Direction, a: &Figure, b: &Figure) -> std::cmp::Ordering {
    match better {
        Direction::Lower => b.mean.total_cmp(&a.mean),
        Direction::Higher | Direction::Neither => a.mean.total_cmp(&b.mean),
    }
}

/// Returns the title of a figure: `NOPM`, `p99 ms`, `rows per second`.
pub fn title(name: &str) -> String {
    if name.contains(" / ") {
        return name.replace("_ms", "");
    }
    match (name, name.strip_suffix(".per_second")) {
        ("nopm", _) => "NOPM".to_owned(),
        ("tps", _) => "TPS".to_owned(),
        ("tpm", _) => "TPM".to_owned(),
        (_, Some(metric)) => format!("{metric} per second"),
        (share, None) if is_share(share) => format!("{} %", name_in_words(share)),
        (other, None) => other.replace("_ms", " ms").replace("_percent", " %"),
    }
}

/// Returns the title without its unit, for an axis that has the unit beside it: `p99`, `below
/// 20ms`.
pub fn name_in_words(name: &str) -> String {
    if is_share(name) {
        return name.replace(STEM, "below ");
    }
    let suffixes = ["_ms", "_us", "_percent", "_bytes"];
    let bare = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
    title(bare.unwrap_or(name)).replace('_', " ")
}

/// Returns true if a figure is a share below a bound.
fn is_share(name: &str) -> bool {
    matches!(Below::read(name), Some(Ok(_)))
}

/// Returns true if a lower value of the figure is better.
pub fn is_less_better(name: &str) -> bool {
    direction(name) == Direction::Lower
}

/// Returns true if a figure is a time.
pub fn is_time(name: &str) -> bool {
    name.ends_with("_ms") || name.ends_with("_us")
}

/// Parses a value of an axis, if it is a number.
pub fn number(value: &str) -> Option<f64> {
    value.parse::<f64>().ok().or_else(|| model::parse_count(value).ok().map(|n| n as f64))
}

/// Returns the figure over these values of runs; `None` if there are none.
pub fn figure(values: &[f64]) -> Option<Figure> {
    Some(figure_of(values, stats::mean(values, CONFIDENCE)?))
}
