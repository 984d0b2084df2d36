//! Whether runs of a plan can have a figure, as far as this is known before the load: by the
//! transaction types and custom metrics of its workloads. Not here: what a limit is (required).

use std::collections::BTreeSet;

use analysis::figures::{OF_RUN, Required, names_of_run, spellings};
use app::error::Error;
use model::{CustomMetricKind, Plan, Workload, suggestion};
use plan::workload_of;

/// What a figure of a transaction type may be.
const OF_TYPE: [&str; 8] =
    ["tps", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "mean_ms", "errors_percent", "round_trips"];
/// What figures a monitor, a settling or a build brings, of which only a run knows all.
const OF_OTHERS: [&str; 7] =
    ["machine.", "generator.", "server.", "database.", "settle_before.", "settle_after.", "build."];

/// Refuses a limit on a figure that no run of the plan can have.
pub(crate) fn check(required: &[Required], plan: &Plan) -> Result<(), Error> {
    if required.is_empty() {
        return Ok(());
    }
    let names = names(plan);
    required.iter().try_for_each(|limit| check_one(&limit.figure, &names))
}

fn check_one(figure: &str, names: &BTreeSet<String>) -> Result<(), Error> {
    let all = spellings(figure);
    let is_share = |name: &String| name.contains("below");
    let is_known = |name: &String| {
        names.contains(name) || is_share(name) || OF_OTHERS.iter().any(|of| name.starts_with(of))
    };
    if all.iter().any(is_known) {
        return Ok(());
    }
    // As people write them.
    let written = |name: &String| {
        let name = name.strip_suffix("_ms").or_else(|| name.strip_suffix(".per_second"));
        name.map(|name| match name.rsplit_once('.') {
            Some((of, last @ ("p50" | "p90" | "p99" | "mean" | "max"))) => format!("{of}_{last}"),
            _ => name.to_owned(),
        })
    };
    let short: Vec<String> = names.iter().filter_map(written).collect();
    let candidates = || names_of_run().into_iter().chain(short.iter().chain(names).map(|n| &**n));
    let near = suggestion(figure, candidates());
    // A gauge of a host may be called anything.
    if near.is_none() && figure.contains('.') {
        return Ok(());
    }
    let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    Err(Error::Usage(format!(
        "--require: a run of this plan has no figure {figure}{near} ('dbdyno list figures' lists \
         those of every run)"
    )))
}

/// The figures of every run, and of the types and metrics of the plan's workloads; with several
/// groups also by the group.
fn names(plan: &Plan) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = OF_RUN.iter().map(|figure| figure.name.to_owned()).collect();
    for group in &plan.groups {
        let Some((_, workload)) = workload_of(group, plan.seed) else { continue };
        let own = names_of(workload.as_ref());
        names.extend(own.iter().map(|name| format!("{}.{name}", group.name)));
        names.extend(own);
    }
    names
}

fn names_of(workload: &dyn Workload) -> Vec<String> {
    let mut names: Vec<String> =
        workload.primary_metrics().iter().map(|primary| primary.name.to_owned()).collect();
    for kind in workload.kinds() {
        names.extend(OF_TYPE.iter().map(|of| format!("{}.{of}", kind.name)));
    }
    for metric in workload.custom_metrics() {
        let of: &[&str] = match (metric.kind, metric.unit) {
            (CustomMetricKind::Counter, _) => &["per_second", "mean"],
            (CustomMetricKind::Histogram, "ns") => {
                &["mean_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms"]
            }
            (CustomMetricKind::Histogram, _) => &["per_second", "mean", "p50", "p90", "p99", "max"],
        };
        names.extend(of.iter().map(|of| format!("{}.{of}", metric.name)));
    }
    names
}
