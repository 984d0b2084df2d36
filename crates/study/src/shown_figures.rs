//! Which figures of runs are shown side by side, and by which one the runs are judged.
//!
//! Not here: what figures there are, and their values in a run (`analysis::figures`).

use analysis::figures::{samples_lacking, times_of, value_of};
use analysis::report::{Latency, Named, Report};
use model::{Load, format_count};

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
