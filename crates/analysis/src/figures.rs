//! Figures of a run: named numbers by which runs, points of experiments and builds are compared.
//!
//! Not here: which runs count, and what is concluded from several figures (study).

mod below;
mod catalog;
mod disturbed;
mod no_value;
mod of_type;
mod required;
mod stored_bytes;
mod within;

use std::collections::BTreeSet;

use model::Direction;
use serde::{Deserialize, Serialize};
use stats::Mean;

use crate::report::{Latency, Report};
use below::{Below, STEM};

pub use disturbed::{disturbances_of, name_of_disturbance};

pub use catalog::{
    NamedFigure, OF_PARTS, OF_RUN, PartFigure, RunFigure, all_of, check_name, direction,
    direction_in, find_as_written, known, meaning, names_of_run, other_quantile, quotients,
    resolve, samples_lacking, short, spellings, unit, units_in, value_of,
};
pub use no_value::{title_without_number, why_no_value};
pub use stored_bytes::bytes_of_title;

pub use required::{
    Holds, Required, RequiredResult, beside_bound_as_written, check_bound, compared,
    value_as_written,
};

/// Confidence level of the interval for the mean of a figure over several runs.
const CONFIDENCE: f64 = 0.95;

/// Largest number of runs per experiment point that advice to users suggests; if more would be
/// needed, no number is suggested.
const RUNS_ADVISED_MAX: usize = 100;

/// Mean, error and range of a figure, such as `tps`, over the runs of one point of an experiment. A
/// point is a combination of the parameters that the experiment varies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Mean of the figure over the runs.
    pub mean: f64,
    /// Half the width of the 95 % CI of `mean`; null with one run. If the experiment repeats
    /// restarts or rebuilds of the database, the CI is computed from the means of these repeats. If
    /// a stop rule ended the repeats, it is the CI of the rule's sequential method.
    pub half_width: Option<f64>,
    /// Smallest value of the figure among the runs.
    pub min: f64,
    /// Largest value of the figure among the runs.
    pub max: f64,
    /// Number of runs that have the figure.
    pub count: u64,
}

impl Figure {
    /// Returns true if the 95 % CIs of both means overlap, so that the figures may be equal; false
    /// if one of them has no CI.
    pub fn reaches(&self, other: &Figure) -> bool {
        let apart = (self.mean - other.mean).abs();
        let both = self.half_width.zip(other.half_width);
        both.is_some_and(|(mine, theirs)| apart <= mine + theirs)
    }

    /// Returns true if the half-width exceeds the mean. Overlapping intervals are then no sign that
    /// two figures are equal.
    pub fn is_wide(&self) -> bool {
        self.half_width.is_some_and(|half_width| half_width > self.mean.abs())
    }

    /// Estimates the number of runs after which the half-width is at most half the mean, assuming
    /// that further runs vary as much as these. `None` for one run, or above 100 runs.
    pub fn runs_needed(&self) -> Option<u64> {
        self.runs_until(self.mean.abs() / 2.0)
    }

    /// Estimates how many runs make the half-width at most `half_width_max`, if further runs vary
    /// as much as these. `None` for one run, or above 100 runs.
    pub(crate) fn runs_until(&self, half_width_max: f64) -> Option<u64> {
        let n_runs = usize::try_from(self.count).ok().filter(|n| *n > 1)?;
        let t = |n: usize| stats::students_t(1.0 - (1.0 - CONFIDENCE) / 2.0, n - 1);
        let of_one = self.half_width? / t(n_runs) * (n_runs as f64).sqrt();
        let is_enough = |n: &usize| t(*n) * of_one / (*n as f64).sqrt() <= half_width_max;
        (n_runs + 1..=RUNS_ADVISED_MAX).find(is_enough).map(|n| n as u64)
    }
}

/// Returns the names of all transaction types and figures of some runs, for suggestions.
fn names_in<'r>(reports: impl Iterator<Item = &'r Report> + Clone) -> BTreeSet<String> {
    let types = reports.clone().flat_map(|report| report.block.transactions.iter());
    let types = types.map(|(name, _)| name.to_owned());
    types.chain(reports.flat_map(all_of).map(|figure| figure.name)).collect()
}

/// Suffix of the name of a transaction type's mean time. Users may leave it out, and write `q9` for
/// `q9.mean_ms`.
const MEAN_OF_TYPE: &str = ".mean_ms";

/// Suffix of the name of a gauge that is divided by TPS, such as
/// `server.disk_written_per_transaction`: bytes written to disk for each transaction.
const PER_TRANSACTION: &str = "_per_transaction";

/// Returns the response times of all offered transactions, by which a run is judged. They include
/// lost transactions, since otherwise a database that refuses slow requests would look faster.
pub fn times_of(report: &Report) -> &Latency {
    &report.block.offered_ms
}

/// Combines the range and the count of `values`, one for each run, with a mean and its half-width
/// that are computed elsewhere, such as a mean over server restarts.
pub fn figure_of(values: &[f64], Mean { value, half_width, .. }: Mean) -> Figure {
    Figure {
        mean: value,
        half_width: half_width.filter(|half_width| half_width.is_finite()),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        count: values.len() as u64,
    }
}

/// Orders two figures by their means, so that the better one is greater: the one with the smaller
/// mean for `Direction::Lower`, else the one with the larger mean.
pub fn better(better: Direction, a: &Figure, b: &Figure) -> std::cmp::Ordering {
    match better {
        Direction::Lower => b.mean.total_cmp(&a.mean),
        Direction::Higher | Direction::Neither => a.mean.total_cmp(&b.mean),
    }
}

/// Returns the title that tables and charts show for a figure: `NOPM` for `nopm`, `p99 ms` for
/// `p99_ms`, `rows per second` for `rows.per_second`.
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

/// Returns the title of a figure without its unit, for the axis of a chart that shows the unit
/// beside it: `p99`, `below 20ms`.
pub fn name_in_words(name: &str) -> String {
    if is_share(name) {
        return name.replace(STEM, "below ");
    }
    let suffixes = ["_ms", "_us", "_percent", "_bytes"];
    let bare = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
    title(bare.unwrap_or(name)).replace('_', " ")
}

/// Returns true if a figure is a share of samples below a bound, such as `below_20ms`.
fn is_share(name: &str) -> bool {
    matches!(Below::read(name), Some(Ok(_)))
}

/// Returns true if lower values are better for a figure with this name, such as `p99_ms`.
pub fn is_less_better(name: &str) -> bool {
    direction(name) == Direction::Lower
}

/// Returns true if a figure with this name is a time, in milliseconds or microseconds.
pub fn is_time(name: &str) -> bool {
    name.ends_with("_ms") || name.ends_with("_us")
}

/// Parses a value of a parameter that an experiment varies as a number, such as `10k`; `None` for
/// other values, such as `on`.
pub fn number(value: &str) -> Option<f64> {
    value.parse::<f64>().ok().or_else(|| model::parse_count(value).ok().map(|n| n as f64))
}

/// Returns mean, 95 % CI and range of `values`, one for each run; `None` if there are no values.
pub fn figure(values: &[f64]) -> Option<Figure> {
    Some(figure_of(values, stats::mean(values, CONFIDENCE)?))
}
