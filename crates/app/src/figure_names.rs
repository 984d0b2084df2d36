//! Figures of workloads, as far as they are known before a run: those of primary metrics,
//! transaction types and custom metrics. Not here: figures of every run (analysis).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use analysis::figures::{bytes_of_title, unit};
use model::{CustomMetricKind, PrimaryMetric, Settings, Workload};
use workloads::Entry;

/// Figures of a transaction type.
const OF_TYPE: [&str; 8] =
    ["tps", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "mean_ms", "errors_percent", "round_trips"];

/// Prefixes of figures of a monitor, settling or disturbance, whose names are known only after a
/// run.
const OF_OTHERS: [&str; 7] = [
    "machine.",
    "generator.",
    "server.",
    "database.",
    "settle_before.",
    "settle_after.",
    "disturbance.",
];

/// Whether a name is that of a figure of a monitor, settling or disturbance, perhaps after the name
/// of a host or node.
pub fn is_of_other(name: &str) -> bool {
    OF_OTHERS.iter().any(|of| name.starts_with(of) || name.contains(&format!("/{of}")))
}

/// Names of figures with their possible units; an empty unit is that of a plain number.
pub type Units = BTreeMap<String, BTreeSet<String>>;

/// Figures of a workload, with their units.
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
        let names = OF_TYPE.iter().map(|of| format!("{}.{of}", kind.name));
        all.extend(names.map(|name| (name.clone(), unit(&name).to_owned())));
    }
    for metric in workload.custom_metrics() {
        let of: &[&str] = match (metric.kind, metric.unit) {
            (CustomMetricKind::Counter, _) => &["per_second", "mean"],
            (CustomMetricKind::Histogram, "ns") => {
                &["mean_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms"]
            }
            (CustomMetricKind::Histogram, _) => &["per_second", "mean", "p50", "p90", "p99", "max"],
        };
        let unit = |of: &str| match (of, metric.unit) {
            ("per_second", unit) => format!("{unit}/s"),
            (_, "ns") => "ms".to_owned(),
            (_, unit) => unit.to_owned(),
        };
        all.extend(of.iter().map(|of| (format!("{}.{of}", metric.name), unit(of))));
    }
    all
}

/// Figures of all workloads with their default parameters.
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

/// Figures of each role of a workload's clients.
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
