//! Creates the description of a run: what its plan and workloads say, for the report and the store.
//! Not here: facts about the machine (monitor) and the database (drivers).

use model::numbers::{count, fixed};
use model::{
    CustomMetricDescription, Description, Fact, GroupDescription, KindDescription, Load, NS_PER_S,
    Placement, Plan, PrimaryMetricDescription, PrimaryOf, Source, Workload,
};
use monitor::wall_clock;

use crate::open::Opened;
use crate::{added_key, storage_engine};

pub(super) fn describe(
    plan: &Plan,
    groups: &[Opened],
    placement: Placement,
    database: &[Fact],
) -> Description {
    let value = |name: &str| {
        let found = database.iter().find(|fact| fact.name == name);
        found.map(|fact| fact.value.to_string())
    };
    let product = value("product").unwrap_or_else(|| plan.target.scheme.clone());
    let version = value("version").map(|version| format!(" {version}")).unwrap_or_default();
    let modes = database.iter().filter(|fact| fact.about == "mode");
    let shown = plan.groups.iter().zip(groups);
    Description {
        name: plan.name.clone(),
        seed: plan.seed,
        target: plan.target.to_string(),
        database: format!("{product}{version}"),
        modes: modes.map(|fact| format!("{}={}", fact.name, fact.value)).collect(),
        placement,
        phases: plan.phases,
        groups: shown.map(|(group, opened)| describe_group(plan, group, opened)).collect(),
        dbdyno: version_of_ours(),
        started_unix_ms: wall_clock::unix_ms(),
        trial: None,
        interval_seconds: plan.interval_seconds,
        window_seconds: plan.recording.window_seconds,
    }
}

/// Returns the version of this program, such as `0.1.0`, or `0.1.0 (debug build)`.
pub fn version_of_ours() -> String {
    let debug = if cfg!(debug_assertions) { " (debug build)" } else { "" };
    format!("{}{debug}", env!("CARGO_PKG_VERSION"))
}

/// Returns notes for the report: of the workload, about the storage engine of its tables, and about
/// added primary keys.
fn notes(opened: &Opened) -> Vec<String> {
    let workload = opened.workload.as_ref();
    let of_engine = storage_engine::notes(opened.database.as_ref(), workload);
    let of_keys = added_key::notes(opened.database.as_ref(), workload);
    workload.notes().into_iter().chain(of_engine).chain(of_keys).collect()
}

fn describe_group(plan: &Plan, group: &model::Group, opened: &Opened) -> GroupDescription {
    let workload = opened.workload.as_ref();
    let kind =
        |kind: &model::Kind| KindDescription { name: kind.name.to_owned(), weight: kind.weight };
    let metric = |metric: &model::CustomMetric| CustomMetricDescription {
        name: metric.name.to_owned(),
        unit: metric.unit.to_owned(),
        kind: metric.kind,
        better: Some(metric.better),
    };
    GroupDescription {
        name: group.name.clone(),
        workload: group.workload.clone(),
        target: group.target_beside(&plan.target).map(|target| target.to_string()),
        clients: group.clients,
        processes: group.processes,
        load: group.load.of_transactions(workload.transaction_stores()),
        stop_condition: group.stop_condition,
        source: source_of(&group.workload).map(|source| source.text.clone()),
        parameters: group.parameters.clone(),
        kinds: workload.kinds().iter().map(kind).collect(),
        primary_metrics: workload.primary_metrics().into_iter().map(describe_primary).collect(),
        custom_metrics: workload.custom_metrics().iter().map(metric).collect(),
        notes: notes(opened),
        closed_form: closed_form(&group.load, group.clients, workload),
        standard: workload.standard(),
        hot_rows: workload.hot_rows(),
        sequence: workload.sequence().map(|per_client| per_client.iter().sum()),
    }
}

/// Returns the file that defines a workload; `None` if the workload is compiled in.
pub(super) fn source_of(workload: &str) -> Option<&'static Source> {
    workloads::by_name(workload).ok()?.source
}

fn describe_primary(primary: model::PrimaryMetric) -> PrimaryMetricDescription {
    let is_computed = primary.of == PrimaryOf::Computed;
    let (kinds, metric, per_ns) = match primary.of {
        PrimaryOf::Rate { kinds, metric, per_ns } => (kinds, metric, per_ns),
        PrimaryOf::Computed => (Vec::new(), None, 0),
    };
    let (name, title) = (primary.name.to_owned(), primary.title.to_owned());
    let better = Some(primary.better);
    PrimaryMetricDescription { name, title, kinds, metric, per_ns, is_computed, better }
}

/// Returns a text with the rate that keying and thinking times alone would allow, if responses took
/// no time; `None` for a load without these times. With shares p of the transaction types, a client
/// does one transaction in sum(p (keying + thinking)), so its rate of a type is p divided by that
/// time, less the intended rollbacks.
fn closed_form(load: &Load, clients: u32, workload: &dyn Workload) -> Option<String> {
    let Load::KeyThink { scale } = load else {
        return None;
    };
    let kinds = workload.kinds();
    let weights: u64 = kinds.iter().map(|kind| kind.weight).sum();
    let share = |kind: &model::Kind| kind.weight as f64 / weights as f64;
    let pause = |kind: &model::Kind| (kind.keying_ns + kind.thinking_ns) as f64 * scale;
    let cycle_ns: f64 = kinds.iter().map(|kind| share(kind) * pause(kind)).sum();
    if cycle_ns <= 0.0 {
        return None;
    }
    let rate = |primary: model::PrimaryMetric| match primary.of {
        PrimaryOf::Rate { kinds, metric: None, per_ns } => Some((primary.title, kinds, per_ns)),
        _ => None,
    };
    let primary = workload.primary_metrics().into_iter().find_map(rate);
    let committed =
        |kind: u16| share(&kinds[usize::from(kind)]) * (1.0 - workload.rolled_back_share(kind));
    let of_all = || ("TPS", (0..kinds.len() as u16).collect(), NS_PER_S);
    let (title, counted, per_ns): (&str, Vec<u16>, u64) = primary.unwrap_or_else(of_all);
    let share_of: f64 = counted.into_iter().map(committed).sum();
    let each = per_ns as f64 / cycle_ns * share_of;
    let cap = workload.rate_cap().map_or(String::new(), |cap| format!("; {cap}"));
    let all = fixed(each * f64::from(clients), 1);
    let each = fixed(each, 2);
    let clients = count(clients.into(), "client");
    Some(format!(
        "keying and thinking alone allow {each} {title} per client on average, {all} for \
         {clients}; response times and losses make it less{cap}"
    ))
}

#[cfg(test)]
mod tests {
    use model::Settings;

    use super::*;

    #[test]
    fn what_is_rolled_back_by_design_is_in_no_rate_that_key_think_load_allows() {
        let entry = workloads::by_name("tpcc").expect("it is in the list");
        let check = |written: &[(&str, &str)], expect: &str| {
            let settings = Settings::decide("tpcc", entry.parameters, written.iter().copied());
            let settings = settings.expect("valid");
            let workload = entry.made(&settings, 1, None).expect("valid");
            let shown = closed_form(&Load::KeyThink { scale: 1.0 }, 10_000, workload.as_ref());
            let shown = shown.expect("there are pauses");
            assert!(shown.contains(expect), "{shown}");
        };
        check(&[], "12,479.0 for 10,000 clients");
        check(&[("rollback_percent", "0")], "12,605.0 for 10,000 clients");
    }
}
