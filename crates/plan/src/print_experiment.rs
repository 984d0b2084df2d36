//! Printing of an experiment or search as one TOML plan. Not here: the plan of a single point
//! (print).

use model::{Axis, Experiment, Target, Tune, Walk, plain_setting};
use toml::{Table, Value};

use crate::decide::decide;
use crate::print::{put, to_toml};
use crate::seek_plan::decide_seek;
use crate::table::{EXPERIMENT, printed};
use crate::toml_file::read_toml;
use crate::tune_plan::decide_tune;
use crate::vary::{decide_all, is_target};

/// Returns the TOML text of a plan that varies the same parameters as the experiment and has the
/// same points, or that makes the same search. `None` if no such plan is found.
pub fn varied_to_toml(experiment: &Experiment) -> Option<String> {
    let mut top = experiment.points.first()?.plan.parse::<Table>().ok()?;
    match &experiment.walk {
        Walk::Grid => {}
        Walk::Seek(_) => return sought_to_toml(top, experiment),
        Walk::Tune(tune) => return tuned_to_toml(top, experiment, tune),
    }
    // A setting that is an axis must not be set beside it.
    for setting in experiment.axes.iter().filter_map(|axis| axis.name.strip_prefix("server.")) {
        if let Some(Value::Table(server)) = top.get_mut("server") {
            server.retain(|name, _| plain_setting(name) != plain_setting(setting));
        }
    }
    put(&mut top, "experiment", printed(EXPERIMENT, experiment));
    let mut beside = top.clone();
    beside.remove("server");
    let axes = axes_toml(&experiment.axes);
    written(&mut top, &axes, experiment).or_else(|| {
        written(&mut beside, &axes_toml(&with_targets_as_decided(experiment)?), experiment)
    })
}

/// Returns the TOML text of a plan that makes the experiment's search; `None` if there is no such
/// text. The duration and, if possible, the searched parameter are left out, because the search
/// sets them for each probe.
fn sought_to_toml(mut top: Table, experiment: &Experiment) -> Option<String> {
    let seek = experiment.walk.seek()?;
    top.remove("duration");
    let mut of_search = printed(EXPERIMENT, experiment);
    of_search.retain(|name, _| OF_SEARCH.contains(&name));
    put(&mut top, "experiment", of_search);
    let decides = |top: &Table| {
        let text = toml::to_string(top).expect("a table of texts, numbers and tables is TOML");
        let decided = read_toml("", &text).and_then(|draft| decide_seek(&draft, &no_default));
        decided.is_ok_and(|decided| decided.seek == *seek).then_some(text)
    };
    let with_value = top.clone();
    let groups = top.get_mut("group").and_then(Value::as_array_mut).into_iter().flatten();
    groups.filter_map(Value::as_table_mut).for_each(|group| drop(group.remove(&seek.axis)));
    decides(&top).or_else(|| decides(&with_value))
}

/// Returns the TOML text of a plan that makes the experiment's tuner; `None` if there is no such
/// text.
fn tuned_to_toml(mut top: Table, experiment: &Experiment, tune: &Tune) -> Option<String> {
    let mut of_tuner = printed(EXPERIMENT, experiment);
    of_tuner.retain(|name, _| OF_TUNER.contains(&name));
    put(&mut top, "experiment", of_tuner);
    let plan = toml::to_string(&top).expect("a table of texts, numbers and tables is TOML");
    let text = format!("{plan}\n[experiment.vary]\n{}", axes_toml(&experiment.axes));
    let decided = read_toml("", &text).and_then(|draft| decide_tune(&draft, &no_default));
    let is_same =
        |decided: &crate::TunePlan| decided.tune == *tune && decided.axes == experiment.axes;
    decided.is_ok_and(|decided| is_same(&decided)).then_some(text)
}

/// Keys of `[experiment]` that apply to a tuner.
const OF_TUNER: [&str; 10] = [
    "maximize",
    "minimize",
    "limits",
    "trials",
    "confirm_pairs",
    "strategy",
    "data",
    "pause",
    "wait_until",
    "wait_at_most",
];

/// Keys of `[experiment]` that apply to a search.
const OF_SEARCH: [&str; 5] = ["seek", "objective", "seek_budget", "wait_until", "wait_at_most"];

/// Returns an error instead of a default target, because a stored plan always names its target.
fn no_default(_: &str) -> Result<Target, String> {
    Err("a decided plan names its target".to_owned())
}

/// Returns the varied parameters of an experiment as TOML text, because a `toml::Table` would lose
/// their order.
fn axes_toml(axes: &[Axis]) -> String {
    let axis = |axis: &Axis| {
        let values: Value = axis.values.clone().into();
        format!("{} = {values}\n", Value::from(axis.name.as_str()))
    };
    axes.iter().map(axis).collect()
}

/// Returns the varied parameters with the values of `target` replaced by the URLs in the points'
/// plans, which have all settings of managed servers. `None` if the target is not varied, or if a
/// server setting is varied.
fn with_targets_as_decided(experiment: &Experiment) -> Option<Vec<Axis>> {
    let mut axes = experiment.axes.clone();
    let index = axes.iter().position(|axis| is_target(&axis.name))?;
    if axes.iter().any(|axis| axis.name.starts_with("server.")) {
        return None;
    }
    for value in &mut axes[index].values {
        let point = experiment.points.iter().find(|point| point.values[index] == *value)?;
        let plan = point.plan.parse::<Table>().ok()?;
        *value = plan.get("target")?.as_str()?.to_owned();
    }
    Some(axes)
}

/// Returns the TOML text of the experiment's plan with these varied parameters, if that text has
/// the same points as the experiment. If not, tries the text without the groups' parameters, then
/// also without the names, since these may be defaults that differ between points. `None` if no
/// text has the same points.
fn written(top: &mut Table, axes: &str, experiment: &Experiment) -> Option<String> {
    let written = |top: &Table| {
        let text = toml::to_string(top).expect("a table of texts, numbers and tables is TOML");
        let text = format!("{text}\n[experiment.vary]\n{axes}");
        decides_to(&text, experiment).then_some(text)
    };
    // Other workloads have other parameters and names; those of the first may be defaults.
    ["", "parameters", "name"].into_iter().find_map(|unwritten| {
        if unwritten == "name" {
            top.remove(unwritten);
        }
        let groups = top.get_mut("group").and_then(Value::as_array_mut).into_iter().flatten();
        groups.filter_map(Value::as_table_mut).for_each(|group| drop(group.remove(unwritten)));
        written(top)
    })
}

/// Returns the TOML text of a stored plan as today's version writes it, since older versions wrote
/// more keys. `None` if the plan is not valid any more.
fn printed_now(stored: &str) -> Option<String> {
    let plan = read_toml("", stored).and_then(|draft| decide(&draft, &no_default)).ok()?;
    Some(to_toml(&plan))
}

/// Returns true if a plan with this text varies its parameters to the same points as the
/// experiment.
fn decides_to(text: &str, experiment: &Experiment) -> bool {
    let decided = read_toml("", text).and_then(|draft| decide_all(&draft, &no_default));
    decided.is_ok_and(|varied| {
        let points = varied.points.iter().zip(&experiment.points);
        varied.points.len() == experiment.points.len()
            && points
                .into_iter()
                .all(|((_, plan), point)| Some(to_toml(plan)) == printed_now(&point.plan))
    })
}
