//! The figures of a run that points, sides and builds are compared by.
//!
//! Not here: which runs count, and what is concluded from several figures (study).

mod below;
mod catalog;
mod disturbed;
mod required;
mod stored_bytes;
mod within;

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
pub use stored_bytes::bytes_of_title;

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
pub fn times_of(report: &Report) -> &Latency {
    &report.block.offered_ms
}

/// Returns the figure of these values, with a mean that may come from another level of repeats.
pub fn figure_of(values: &[f64], Mean { value, half_width, .. }: Mean) -> Figure {
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
