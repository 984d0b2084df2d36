//! Checks before the load whether runs of a plan can have the figure of a limit, in the unit of the
//! limit. Known are the figures of every run, and those of the transaction types and custom metrics
//! of the plan's workloads.
//!
//! Not here: limits (`required`).

use std::collections::BTreeMap;

use analysis::figures::{OF_RUN, Required, other_quantile, quotients, short, spellings, unit};
use app::error::Error;
use app::figure_names::{is_of_other, of_workload};
use model::{Plan, did_you_mean};
use plan::workload_of;

/// Figures of whole runs that only some workloads have: transactions per minute, of all types or of
/// new orders.
const OF_SOME: [&str; 2] = ["nopm", "tpm"];
/// Prefix of figures that only the build of data has.
const OF_BUILDS: &str = "build.";

/// Names of figures that runs of a plan can have, with their units.
type Names = BTreeMap<String, String>;

/// Fails if a limit on a figure, such as `p99_ms<300`, names a figure that no run of the plan can
/// have, or has a wrong unit. The error begins with `flag`, with which the user gave the limits.
pub(crate) fn check(flag: &str, limits: &[Required], plan: &Plan) -> Result<(), Error> {
    if limits.is_empty() {
        return Ok(());
    }
    let names = names(plan);
    let refused = |why| Error::Usage(format!("{flag}: {why}"));
    limits.iter().try_for_each(|limit| check_one(limit, &names).map_err(refused))
}

/// Fails if no run of the plan can have this figure. The error begins with `flag`, with which the
/// user named it.
pub(crate) fn check_name(flag: &str, figure: &str, plan: &Plan) -> Result<(), Error> {
    let found = find(figure, &names(plan)).map(drop);
    found.map_err(|why| Error::Usage(format!("{flag}: {why}")))
}

fn check_one(limit: &Required, names: &Names) -> Result<(), String> {
    let figure = limit.figure.as_str();
    let is_had = |(one, other)| [one, other].into_iter().all(|name| find(name, names).is_ok());
    if quotients(figure).any(is_had) {
        return limit.check_unit(figure, "");
    }
    match find(figure, names)? {
        Some((name, unit)) => limit.check_unit(&name, &unit),
        None => Ok(()),
    }
}

/// Finds a figure and its unit by name. `None` if only a run can tell whether the figure exists; an
/// error if no run of the plan can have it.
fn find(figure: &str, names: &Names) -> Result<Option<(String, String)>, String> {
    let all = spellings(figure);
    let with = |name: &str, unit: &str| Ok(Some((name.to_owned(), unit.to_owned())));
    if let Some((name, unit)) = all.iter().find_map(|name| names.get_key_value(name)) {
        return with(name, unit);
    }
    if all.iter().any(|name| is_share(name, names)) {
        return with(figure, "%");
    }
    if let Some(name) = all.iter().find(|name| is_of_other(name)) {
        return match unit(name) {
            "" => Ok(None),
            unit => with(name, unit),
        };
    }
    if let Some(other) = other_quantile(figure) {
        return Err(other);
    }
    // Alternative spellings.
    let written = |name: &String| {
        let bare = name.strip_suffix("_ms").or_else(|| name.strip_suffix(".per_second"));
        let joined = bare.and_then(|bare| match bare.rsplit_once('.') {
            Some((part, last @ ("p50" | "p90" | "p99" | "mean" | "max"))) => {
                Some(format!("{part}_{last}"))
            }
            _ => None,
        });
        let kind = name.strip_suffix(".mean_ms");
        let bare = kind.into_iter().chain(bare).map(str::to_owned);
        bare.chain(joined).collect::<Vec<String>>()
    };
    let of_run = OF_RUN.iter().map(|row| row.name).filter(|name| names.contains_key(*name));
    let forms: Vec<String> = names.keys().flat_map(written).collect();
    let others = forms.iter().chain(names.keys()).map(String::as_str);
    let near = did_you_mean(figure, of_run.map(short).chain(others));
    Err(format!(
        "a run of this plan has no figure {figure}{near} ('dbdyno list figures' lists those of \
         every run)"
    ))
}

/// Returns true if a name is that of a share of response times below a bound (`below_…`), of all
/// transactions or of a named part such as `new_order`.
fn is_share(name: &str, names: &Names) -> bool {
    match name.rsplit_once('.') {
        None => name.starts_with("below_"),
        Some((part, last)) => {
            let prefix = format!("{part}.");
            last.starts_with("below_") && names.keys().any(|name| name.starts_with(&prefix))
        }
    }
}

/// Returns the figures that runs of the plan can have: those of every run, and those of the types
/// and custom metrics of its workloads, also with the name of the group in front.
fn names(plan: &Plan) -> Names {
    let is_of_all = |name: &str| !OF_SOME.contains(&name) && !name.starts_with(OF_BUILDS);
    let of_all = OF_RUN.iter().filter(|figure| is_of_all(figure.name));
    let mut names: Names =
        of_all.map(|figure| (figure.name.to_owned(), figure.unit.to_owned())).collect();
    for group in &plan.groups {
        let Some((_, workload)) = workload_of(group, plan.seed) else { continue };
        for (name, unit) in of_workload(workload.as_ref()) {
            names.insert(format!("{}.{name}", group.name), unit.clone());
            names.insert(name, unit);
        }
    }
    names
}
