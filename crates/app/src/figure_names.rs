//! Names of those figures that depend on the workload and are known before a run: its primary
//! metrics, and figures of transaction types and custom metrics. Not here: figures of every run
//! (analysis).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use analysis::figures::{bytes_of_title, unit};
use model::{CustomMetricKind, PrimaryMetric, Settings, Workload};
use workloads::Entry;

/// Ends of the names of each transaction type's figures, such as `tps` in `new_order.tps`.
const OF_TYPE: [&str; 8] =
    ["tps", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "mean_ms", "errors_percent", "round_trips"];

/// Beginnings of the names of figures that come from the monitor, from settling or from
/// disturbances. Such names are known in full only after a run.
const OF_OTHERS: [&str; 7] = [
    "machine.",
    "generator.",
    "server.",
    "database.",
    "settle_before.",
    "settle_after.",
    "disturbance.",
];

/// Returns true if `name` is a figure of the monitor, of settling or of a disturbance, perhaps with
/// the name of a host or node in front (`node 2/server.cpu`).
pub fn is_of_other(name: &str) -> bool {
    OF_OTHERS.iter().any(|prefix| name.starts_with(prefix) || name.contains(&format!("/{prefix}")))
}

/// Names of figures, each with the units that it may have; the unit of a plain number is empty.
pub type Units = BTreeMap<String, BTreeSet<String>>;

/// Returns the names of a workload's figures, each with its unit.
pub fn of_workload(workload: &dyn Workload) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for primary in workload.primary_metrics() {
        let title = if primary.title.contains('/') { primary.title } else { unit(primary.name) };
        all.push((primary.name.to_owned(), title.to_owned()));
    }
    let counts_bytes = || workload.custom_metrics().iter().any(|metric| metric.name == "bytes");
    let shows_bytes = |primary: &PrimaryMetric| bytes_of_title(primary.title).is_some();
    if workload.primary_metrics().iter().any(shows_bytes) && !counts_bytes() {
        all.push(("bytes.per_second".to_owned(), "B/s".to_owned()));
    }
    for kind in workload.kinds() {
        let names = OF_TYPE.iter().map(|suffix| format!("{}.{suffix}", kind.name));
        all.extend(names.map(|name| (name.clone(), unit(&name).to_owned())));
    }
    for metric in workload.custom_metrics() {
        let suffixes: &[&str] = match (metric.kind, metric.unit) {
            (CustomMetricKind::Counter, _) => &["per_second", "mean"],
            (CustomMetricKind::Histogram, "ns") => {
                &["mean_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms"]
            }
            (CustomMetricKind::Histogram, _) => &["per_second", "mean", "p50", "p90", "p99", "max"],
        };
        let unit = |suffix: &str| match (suffix, metric.unit) {
            ("per_second", unit) => format!("{unit}/s"),
            (_, "ns") => "ms".to_owned(),
            (_, unit) => unit.to_owned(),
        };
        let figure = |suffix: &&str| (format!("{}.{suffix}", metric.name), unit(suffix));
        all.extend(suffixes.iter().map(figure));
    }
    all
}

/// Returns names and units of the figures of all workloads with default parameters.
pub(crate) fn of_all_workloads() -> &'static Units {
    static ALL: LazyLock<Units> = LazyLock::new(|| {
        let mut all = Units::new();
        for (name, unit) in workloads::all().flat_map(of_entry) {
            all.entry(name).or_default().insert(unit);
        }
        all
    });
    &ALL
}

/// Returns names and units of the figures of a workload, with its default parameters and with those
/// of each role of its clients.
fn of_entry(entry: &'static Entry) -> Vec<(String, String)> {
    let roles = entry.roles.iter().map(|role| role.parameters).chain([&[][..]]);
    let of_role = |written: &[(&'static str, &'static str)]| {
        let written = written.iter().copied();
        let settings = Settings::decide(entry.name, entry.parameters, written).ok()?;
        let workload = entry.made(&settings, 0, None).ok()?;
        Some(of_workload(workload.as_ref()))
    };
    roles.filter_map(of_role).flatten().collect()
}
