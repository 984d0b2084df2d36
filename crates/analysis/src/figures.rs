//! The figures of a run that points, sides and builds are compared by.
//!
//! Not here: which runs count (trials), and what is concluded from several figures.

mod below;
mod catalog;
mod disturbed;
mod required;
mod stored_bytes;
mod within;

use model::{Load, format_count};
use serde::{Deserialize, Serialize};
use stats::Mean;

use crate::report::{Latency, Named, Report};
use below::{Below, STEM};

pub use disturbed::{disturbances_of, name_of_disturbance};

pub use catalog::{
    Direction, NamedFigure, OF_PARTS, OF_RUN, PartFigure, RunFigure, all_of, check_name, direction,
    known, names_of_run, other_quantile, quotients, resolve, short, spellings, unit, value_of,
};
pub use stored_bytes::bytes_of_title;

pub(crate) use catalog::{find_as_written, samples_lacking, units_in};
pub use required::{
    Holds, Required, RequiredResult, beside_bound_as_written, check_bound, compared,
    value_as_written,
};

/// Of the intervals between trials.
const CONFIDENCE: f64 = 0.95;

/// Nobody is advised to make more runs of a point.
const RUNS_ADVISED_MAX: usize = 100;

/// A figure over a point's runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The mean over runs.
    pub mean: f64,
    /// Half the width of its 95 % interval; null of one run. It is that of repeats of the highest
    /// level: of restarts or rebuilds, where these are repeated. Where a rule ends repeats, it is
    /// that of its sequential method.
    pub half_width: Option<f64>,
    /// The lowest of a run.
    pub min: f64,
    /// The highest of a run.
    pub max: f64,
    /// Runs that have the figure.
    pub count: u64,
}

impl Figure {
    /// Whether the intervals of two means meet; one run has none.
    pub fn reaches(&self, other: &Figure) -> bool {
        let apart = (self.mean - other.mean).abs();
        let both = self.half_width.zip(other.half_width);
        both.is_some_and(|(mine, theirs)| apart <= mine + theirs)
    }

    /// Whether its interval is so wide that half the mean or its double could not be excluded:
    /// what it reaches says nothing.
    pub fn is_wide(&self) -> bool {
        self.half_width.is_some_and(|half_width| half_width > self.mean.abs())
    }

    /// How many runs it takes until half the interval is likely to be no wider than half the mean,
    /// if runs go on to scatter as these do.
    pub fn runs_needed(&self) -> Option<u64> {
        let n_runs = usize::try_from(self.count).ok().filter(|n| *n > 1)?;
        let t = |n: usize| stats::students_t(1.0 - (1.0 - CONFIDENCE) / 2.0, n - 1);
        let of_one = self.half_width? / t(n_runs) * (n_runs as f64).sqrt();
        let is_enough = |n: &usize| t(*n) * of_one / (*n as f64).sqrt() <= self.mean.abs() / 2.0;
        (n_runs + 1..=RUNS_ADVISED_MAX).find(is_enough).map(|n| n as u64)
    }
}

/// Behind the name of a gauge: what it is of each transaction.
const PER_TRANSACTION: &str = "_per_transaction";

/// The times of a run that are judged: of all that was offered, so that what was lost counts. A
/// database that refuses what it is slow at gets no better by it.
pub(crate) fn times_of(report: &Report) -> &Latency {
    &report.block.offered_ms
}

/// The quantiles that experiments and searches show: figure, and field of its times.
const SHOWN_QUANTILES: [(&str, &str); 3] =
    [("p50_ms", "p50"), ("p95_ms", "p95"), ("p99_ms", "p99")];

/// Why quantiles are not known, by the names of their figures.
pub(crate) fn reasons(times: &Latency) -> Named<String> {
    let why = |(name, q): &(&str, &str)| Some((name.to_string(), times.reasons.get(q)?.clone()));
    Named(SHOWN_QUANTILES.iter().filter_map(why).collect())
}

/// How many samples quantiles need that have too few, by the names of their figures.
pub(crate) fn samples_needed(times: &Latency) -> Named<u64> {
    let needed = |(name, q): &(&str, &str)| Some((name.to_string(), times.samples_needed(q)?));
    Named(SHOWN_QUANTILES.iter().filter_map(needed).collect())
}

/// Why a run does not have a figure, where it says so.
pub(crate) fn why_none(report: &Report, name: &str) -> Option<String> {
    if value_of(report, name).is_some() {
        return None;
    }
    let of_run = reasons(times_of(report)).get(name).cloned();
    let needed = || samples_lacking(report, name).map(format_count);
    of_run.or_else(|| Some(format!("too few samples: needs at least {}", needed()?)))
}

/// What an experiment shows of each point behind the figure that its workload is known by, in the
/// order of the page.
const SHOWN: [&str; 7] =
    ["tps", "p50_ms", "p95_ms", "p99_ms", "wait_percent", "errors_percent", "unfinished"];

/// The figures of a run, by name, as an experiment shows them, and one that is asked for.
pub(crate) fn figures_of(report: &Report, also: &[&str]) -> Vec<(String, f64)> {
    let known_by = known_by(&[report]);
    let known_by = known_by.as_deref();
    let also = also.iter().copied().filter(|name| !SHOWN.contains(name) && known_by != Some(name));
    let named = |name: &str| Some((name.to_owned(), value_of(report, name)?));
    known_by.into_iter().chain(SHOWN).chain(also).filter_map(named).collect()
}

/// The first figure that the workload of any of these runs is known by, where the run has it.
pub(crate) fn known_by(reports: &[&Report]) -> Option<String> {
    let first = |report: &&Report| {
        let (name, _) = report.block.primary_metrics.0.first()?;
        value_of(report, name).map(|_| name.clone())
    };
    reports.iter().find_map(first)
}

/// The figure by which runs are judged: of builds rows per second; else where users arrive at a
/// rate in all of them `p99_ms`, else what the workload of any is [known by](known_by), else `tps`.
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

/// Whether all of these are builds of data.
pub(crate) fn are_builds(reports: &[&Report]) -> bool {
    !reports.is_empty() && reports.iter().all(|report| report.is_build())
}

/// The figure of these runs, with a mean that may be of repeats of another level.
pub(crate) fn figure_of(values: &[f64], Mean { value, half_width, .. }: Mean) -> Figure {
    Figure {
        mean: value,
        half_width: half_width.filter(|half_width| half_width.is_finite()),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        count: values.len() as u64,
    }
}

/// Which of two figures is the better one: of times and costs the lower.
pub fn better(name: &str, a: &Figure, b: &Figure) -> std::cmp::Ordering {
    match is_less_better(name) {
        true => b.mean.total_cmp(&a.mean),
        false => a.mean.total_cmp(&b.mean),
    }
}

/// A figure's name for people: `NOPM`, `p99 ms`, `rows per second`.
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

/// The same without its unit, for an axis that has the unit beside it: `p99`, `below 20ms`.
pub fn name_in_words(name: &str) -> String {
    if is_share(name) {
        return name.replace(STEM, "below ");
    }
    let suffixes = ["_ms", "_us", "_percent", "_bytes"];
    let bare = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
    title(bare.unwrap_or(name)).replace('_', " ")
}

/// Whether a figure is a share below a bound.
fn is_share(name: &str) -> bool {
    matches!(Below::read(name), Some(Ok(_)))
}

/// Whether less of a figure is better.
pub fn is_less_better(name: &str) -> bool {
    direction(name) == Direction::Lower
}

/// Whether a figure is a time.
pub fn is_time(name: &str) -> bool {
    name.ends_with("_ms") || name.ends_with("_us")
}

/// A value of an axis, if it is a number.
pub fn number(value: &str) -> Option<f64> {
    value.parse::<f64>().ok().or_else(|| model::parse_count(value).ok().map(|n| n as f64))
}

/// The figure over these runs.
pub fn figure(values: &[f64]) -> Option<Figure> {
    Some(figure_of(values, stats::mean(values, CONFIDENCE)?))
}
