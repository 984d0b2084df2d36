//! Choice of figures: which ones several runs show side by side, and by which one runs are judged.
//!
//! Not here: the figures that exist, and their values in a run (`analysis::figures`).

use analysis::figures::{samples_lacking, times_of, value_of};
use analysis::report::{Latency, Named, Report};
use model::{Load, format_count};

/// Percentiles that experiments and searches show: the name of each as a figure, and its name in
/// [`Latency`].
const SHOWN_QUANTILES: [(&str, &str); 3] =
    [("p50_ms", "p50"), ("p95_ms", "p95"), ("p99_ms", "p99")];

/// Returns the reasons why percentiles that pages show have no value, such as too few samples, by
/// the names of their figures.
pub(crate) fn reasons(times: &Latency) -> Named<String> {
    let why = |(name, q): &(&str, &str)| Some((name.to_string(), times.reasons.get(q)?.clone()));
    Named(SHOWN_QUANTILES.iter().filter_map(why).collect())
}

/// Returns the number of samples that each percentile without a value would need, for those that
/// pages show, by the names of their figures.
pub(crate) fn samples_needed(times: &Latency) -> Named<u64> {
    let needed = |(name, q): &(&str, &str)| Some((name.to_string(), times.samples_needed(q)?));
    Named(SHOWN_QUANTILES.iter().filter_map(needed).collect())
}

/// Returns the reason why a run lacks a figure; `None` if the run has the figure, or the reason is
/// not known.
pub(crate) fn why_none(report: &Report, name: &str) -> Option<String> {
    if value_of(report, name).is_some() {
        return None;
    }
    let of_run = reasons(times_of(report)).get(name).cloned();
    let needed = || samples_lacking(report, name).map(format_count);
    of_run.or_else(|| Some(format!("too few samples: needs at least {}", needed()?)))
}

/// Figures that an experiment shows for each point after the primary metric, in the order of the
/// page.
const SHOWN: [&str; 7] =
    ["tps", "p50_ms", "p95_ms", "p99_ms", "wait_percent", "errors_percent", "unfinished"];

/// The same for clients that execute fixed sequences of transactions, after all primary metrics.
const SHOWN_OF_SEQUENCES: [&str; 2] = ["errors_percent", "unfinished"];

/// Returns the figures of a run that its experiment shows, by name: the primary metric, the usual
/// ones ([`SHOWN`]) and those in `also`; of a fixed sequence of transactions all primary metrics,
/// and no rates and percentiles. Figures without a value are left out.
pub(crate) fn figures_of(report: &Report, also: &[&str]) -> Vec<(String, f64)> {
    let (mut names, shown): (Vec<String>, &[&str]) = match report.is_sequence() {
        true => (primary_names(report), &SHOWN_OF_SEQUENCES),
        false => (known_by(&[report]).into_iter().collect(), &SHOWN),
    };
    for name in shown.iter().chain(also) {
        if !names.iter().any(|known| known == name) {
            names.push((*name).to_owned());
        }
    }
    let named = |name: String| value_of(report, &name).map(|value| (name, value));
    names.into_iter().filter_map(named).collect()
}

fn primary_names(report: &Report) -> Vec<String> {
    report.block.primary_metrics.iter().map(|(name, _)| name.to_owned()).collect()
}

/// Returns the names of all primary metrics of runs whose clients execute fixed sequences of
/// transactions; `None` unless all runs do.
pub(crate) fn primaries_of_sequences(reports: &[&Report]) -> Option<Vec<String>> {
    if reports.is_empty() || !reports.iter().all(|report| report.is_sequence()) {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for name in reports.iter().flat_map(|report| primary_names(report)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Some(names)
}

/// Returns the name of the workload's first primary metric, from the first run that has a value for
/// it; `None` if no run has one.
pub(crate) fn known_by(reports: &[&Report]) -> Option<String> {
    let first = |report: &&Report| {
        let (name, _) = report.block.primary_metrics.0.first()?;
        value_of(report, name).map(|_| name.clone())
    };
    reports.iter().find_map(first)
}

/// Returns the name of the figure by which runs are judged: `build.rows_per_s` if all are data
/// builds, `p99_ms` if all have open load, otherwise the workload's [primary metric](known_by), or
/// `tps` if the workload has none.
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

/// Returns true if there are runs and each of them is a data build.
pub(crate) fn are_builds(reports: &[&Report]) -> bool {
    !reports.is_empty() && reports.iter().all(|report| report.is_build())
}
