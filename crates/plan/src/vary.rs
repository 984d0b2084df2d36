//! Varied parameters of an experiment, and the plan of each point (combination of their values).
//!
//! All points are checked before the first one runs, so that all errors are reported at once, with
//! their source positions. Not here: the order of trials (model).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::figures::number;
use model::{
    Axis, Condition, DataPolicy, Experiment, Group, NS_PER_S, Nesting, Order, Plan, Point,
    StopCondition, StopRule, TRIALS_MAX, Target, Workload, combinations, format_duration,
    parse_duration, short_axis,
};

use crate::bad_plan::BadPlan;
use crate::condition::{can_be_asked, decide_wait};
use crate::decide::{decide, workload_of};
use crate::draft::{Draft, GroupDraft, VaryDraft, spelled};
use crate::managed::is_managed;
use crate::place::{check_axes, flag_of, parameters_of, put};
use crate::print::to_toml;
use crate::repeat;
use crate::table::ExperimentValues;
use crate::target::check_values;
use crate::written::From;

/// An experiment (parameters to vary, repeats and policies), parsed and checked from a draft.
#[derive(Clone, Debug)]
pub struct Varied {
    /// The varied parameters with their values, in the order of the draft.
    pub axes: Vec<Axis>,
    /// All points (combinations of varied values): one value for each varied parameter, and the
    /// decided plan.
    pub points: Vec<(Vec<String>, Plan)>,
    /// Number of trials per point (combination of varied values), or the largest number if a stop
    /// rule may end them earlier.
    pub repeats: u32,
    /// Number of data builds per point, and of server starts per build, over which the trials of a
    /// point are divided.
    pub nesting: Nesting,
    /// Rule that ends the repeats before the largest number; `None` if the number is fixed.
    pub stop: Option<StopRule>,
    pub order: Order,
    /// Policy for the data between trials, such as keeping them.
    pub data: DataPolicy,
    /// Pause before each trial except the first, in nanoseconds.
    pub pause_ns: u64,
    /// Query that has to return true before each trial; `None` if there is none.
    pub wait_until: Option<Condition>,
    /// CSV file of figures measured by other programs, which are shown with those of the
    /// experiment; `None` if there is none.
    pub reference: Option<PathBuf>,
}

impl Varied {
    /// Creates the experiment as it is stored, and returns it with the decided plan of each point,
    /// in the order of points. Only these plans contain passwords. The caller has to add the
    /// figures of the reference file to the experiment.
    pub fn into_experiment(
        self,
        id: String,
        started_unix_ms: i64,
        seed: u64,
        labels: Vec<(String, String)>,
    ) -> (Experiment, Vec<Plan>) {
        let name = self.points.first().map(|(_, plan)| plan.name.clone()).unwrap_or_default();
        let mut plans = Vec::new();
        let mut points = Vec::new();
        for (values, plan) in self.points {
            points.push(Point { values, plan: to_toml(&plan) });
            plans.push(plan);
        }
        let experiment = Experiment {
            id,
            name,
            started_unix_ms,
            axes: self.axes,
            points,
            repeats: self.repeats,
            nesting: self.nesting,
            stop: self.stop,
            order: self.order,
            data: self.data,
            pause_ns: self.pause_ns,
            wait_until: self.wait_until,
            seed,
            walk: model::Walk::Grid,
            labels,
            reference: None,
        };
        (experiment, plans)
    }
}

/// Parses and checks a draft of an experiment, with the plans of all its points. An error has the
/// source position and the remedy.
pub fn decide_all(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<Varied, BadPlan> {
    let values = ExperimentValues::read(&draft.experiment)?;
    is_no_search(&values)?;
    is_no_tuner(&values)?;
    let mut axes = draft.vary.iter().map(axis).collect::<Result<Vec<Axis>, BadPlan>>()?;
    check_axes(draft, &draft.vary)?;
    let repeats = repeat::decide(&values)?;
    let n_points: u64 = axes.iter().map(|axis| axis.values.len() as u64).product();
    let n_trials = n_points.saturating_mul(repeats.repeats);
    if n_trials > TRIALS_MAX {
        return Err(BadPlan(format!(
            "{n_trials} trials are too many: at most {TRIALS_MAX}; vary less, or repeat less"
        )));
    }
    check_data(draft, &values)?;
    let mut points = Vec::new();
    for values_of_point in combinations(&axes) {
        let mut point = draft.clone();
        let mut set: Vec<(&VaryDraft, &String)> = draft.vary.iter().zip(&values_of_point).collect();
        // Server settings depend on the target, so it comes first.
        set.sort_by_key(|(vary, _)| !is_target(&vary.name));
        for (vary, value) in set {
            put(&mut point, vary, value.clone())?;
        }
        points.push((
            values_of_point.iter().map(|value| shown(value)).collect(),
            decide(&point, default_target)?,
        ));
    }
    points.iter().try_for_each(|(_, plan)| can_count(draft, plan))?;
    if let Some(axis) = draft.vary.iter().find(|axis| is_target(&axis.name)) {
        let of_target = |plan: &Plan| {
            check_values(&plan.target)
                .map_err(|bad| axis.bad(format!("{}: {bad}", shown(&plan.target.to_string()))))
        };
        points.iter().try_for_each(|(_, plan)| of_target(plan))?;
    }
    can_be_copied(&values, &points)?;
    for value in axes.iter_mut().flat_map(|axis| &mut axis.values) {
        *value = shown(value);
    }
    can_be_asked(&values, points.iter().map(|(_, plan)| &plan.target))?;
    let plans: Vec<&Plan> = points.iter().map(|(_, plan)| plan).collect();
    repeat::can_be_repeated(draft, &values, &repeats, &plans)?;
    Ok(Varied {
        axes,
        points,
        repeats: repeats.repeats as u32,
        nesting: repeats.nesting,
        stop: repeats.stop,
        order: values.order.value,
        data: values.data.value,
        pause_ns: values.pause.value,
        wait_until: decide_wait(&values)?,
        reference: values
            .reference
            .value
            .as_ref()
            .map(|file| found_from(&values.reference.from, file)),
    })
}

/// Rejects a measured phase of less than a second, because such trials would not be valid. Phases
/// that a number of transactions ends are not checked.
pub(crate) fn can_count(draft: &Draft, plan: &Plan) -> Result<(), BadPlan> {
    let is_by_count = |group: &Group| {
        let counts = |(_, workload): (_, Arc<dyn Workload>)| {
            workload.producer().is_some_and(|producer| producer.is_limited())
        };
        group.stop_condition != StopCondition::Time
            || workload_of(group, plan.seed).is_some_and(counts)
    };
    let measured_ns = plan.phases.measure_ns;
    if !(1..NS_PER_S).contains(&measured_ns) || plan.groups.iter().any(is_by_count) {
        return Ok(());
    }
    let written = draft.values.get("duration").map_or(&From::Default, |written| &written.from);
    let why = format!(
        "a measured phase of {} is too short for a trial to count: give at least 1s, better 10s",
        format_duration(measured_ns)
    );
    Err(written.bad_value("duration", why))
}

/// Returns the path of a file that a plan names: relative to the plan's file, or as written if it
/// is named on the command line.
fn found_from(from: &From, file: &str) -> PathBuf {
    match from {
        From::File { name, .. } => Path::new(name).with_file_name(file),
        From::Flag(_) | From::Default => PathBuf::from(file),
    }
}

/// Rejects parameters of a search in a draft that has no range to search.
fn is_no_search(values: &ExperimentValues) -> Result<(), BadPlan> {
    let ExperimentValues { objective, seek_budget, .. } = values;
    let seek = |beside| spelled("seek", "rate=100..5000", beside);
    let why = |beside| format!("it needs a search: write {} too", seek(beside));
    if objective.is_written() {
        return Err(objective.bad(why(&objective.from)));
    }
    if seek_budget.is_written() {
        return Err(seek_budget.bad(why(&seek_budget.from)));
    }
    Ok(())
}

/// Rejects keys of a tuner in a draft that has no figure to tune for.
pub(crate) fn is_no_tuner(values: &ExperimentValues) -> Result<(), BadPlan> {
    let ExperimentValues { limits, trials, confirm_pairs, strategy, .. } = values;
    let why =
        |from: &From| format!("it needs a tuner: write {} too", spelled("maximize", "tps", from));
    if limits.is_written() {
        return Err(limits.bad(why(&limits.from)));
    }
    if trials.is_written() {
        return Err(trials.bad(why(&trials.from)));
    }
    if confirm_pairs.is_written() {
        return Err(confirm_pairs.bad(why(&confirm_pairs.from)));
    }
    match strategy.is_written() {
        true => Err(strategy.bad(why(&strategy.from))),
        false => Ok(()),
    }
}

/// Rejects a varied parameter that changes the data, unless the data are rebuilt before each trial.
pub(crate) fn check_data(draft: &Draft, values: &ExperimentValues) -> Result<(), BadPlan> {
    for vary in draft.vary.iter().filter(|_| values.data.value != DataPolicy::Rebuild) {
        if draft.groups.iter().any(|group| shapes_data(group, &vary.name)) {
            let rebuild = spelled("data", "rebuild", &vary.from);
            return Err(vary.bad(format!(
                "'{}' changes the data, which are built once: rebuild them before each trial \
                 ({rebuild})",
                vary.name
            )));
        }
    }
    Ok(())
}

/// Rejects restoring a copy of the data before trials, unless all targets are managed servers.
pub(crate) fn can_be_copied(
    values: &ExperimentValues,
    points: &[(Vec<String>, Plan)],
) -> Result<(), BadPlan> {
    let data = &values.data;
    let target = points.iter().map(|(_, plan)| &plan.target).find(|target| !is_managed(target));
    match target.filter(|_| data.value == DataPolicy::Copy) {
        Some(target) => Err(data.bad(format!(
            "dbdyno cannot stop and copy {target}: choose {}, or a managed server as the target, \
             such as managed:mariadb",
            spelled("data", "rebuild", &data.from)
        ))),
        None => Ok(()),
    }
}

/// Returns values of a varied parameter as an example.
fn example(name: &str) -> &'static str {
    if name == "target" { "URL,URL" } else { "1,2,4" }
}

pub(crate) fn axis(vary: &VaryDraft) -> Result<Axis, BadPlan> {
    let name = &vary.name;
    if vary.values.iter().all(|value| value.is_empty()) {
        let why = match vary.values.len() {
            0 | 1 => format!("'{name}' has no values to vary over: write {name}={}", example(name)),
            n => format!(
                "{} values of '{name}' are empty: is a variable unset? Write {name}={}",
                if n == 2 { "both".to_owned() } else { format!("all {n}") },
                example(name)
            ),
        };
        return Err(vary.bad(why));
    }
    // Of other parameters, such as a setting of the server, a value may be empty.
    if let Some(nth) = vary.values.iter().position(String::is_empty)
        && name == "target"
    {
        let n = nth + 1;
        return Err(vary.bad(format!(
            "value {n} of '{name}' is empty: is a variable unset? Write {name}={}",
            example(name)
        )));
    }
    for (index, value) in vary.values.iter().enumerate() {
        if let Some(other) = vary.values[..index].iter().find(|other| is_same(name, other, value)) {
            let (value, other) = (shown(value), shown(other));
            let twice = match value == other {
                true => format!("{value} twice"),
                false => format!("{other} twice, also as {value}"),
            };
            let repeat = spelled("repeat", "", &vary.from);
            let why = format!("'{name}' has the value {twice}: for repeats use");
            // A comparison of a build with itself needs two sides.
            return Err(vary.bad(format!(
                "{why} {repeat}, and to compare it with itself, as a test of the noise, vary the \
                 seed alone: --vary seed=1,1001"
            )));
        }
    }
    Ok(Axis { name: name.clone(), values: vary.values.clone() })
}

/// Returns true if two values of a varied parameter mean the same, such as `1` and `01`, `1000` and
/// `1k`, `1s` and `1000ms`. Server settings are compared as text, because only the server knows
/// their meaning.
fn is_same(axis: &str, a: &str, b: &str) -> bool {
    if axis.starts_with("server.") {
        return a == b;
    }
    let as_length = || parse_duration(a).is_ok_and(|ns| parse_duration(b) == Ok(ns));
    let as_number = || number(a).is_some_and(|n| number(b) == Some(n));
    shown(a) == shown(b) || as_number() || as_length()
}

/// Returns every target that a draft names, directly or as a value of a varied parameter, with its
/// source position. Invalid URLs are skipped, and rejected elsewhere.
pub fn targets_of(draft: &Draft) -> Vec<(Target, &From)> {
    let alone = draft.values.get("target").map(|written| (&written.text, &written.from));
    let axes = draft.vary.iter().filter(|axis| is_target(&axis.name));
    let varied = axes.flat_map(|axis| axis.values.iter().map(move |value| (value, &axis.from)));
    let all = alone.into_iter().chain(varied);
    all.filter_map(|(url, from)| Some((Target::parse(url).ok()?, from))).collect()
}

/// Returns true if a varied parameter of this name is the target.
pub(crate) fn is_target(axis: &str) -> bool {
    matches!(axis, "target" | "target.url")
}

/// Formats a value for output and storage: a URL without its password, anything else as written.
fn shown(value: &str) -> String {
    match Target::parse(value) {
        Ok(target) if target.password.is_some() => target.to_string(),
        _ => value.to_owned(),
    }
}

/// Returns true if a varied parameter of this name is a parameter of the group's workload that
/// changes the data.
fn shapes_data(group: &GroupDraft, axis: &str) -> bool {
    let name = flag_of(short_axis(axis));
    parameters_of(group).iter().any(|row| row.shapes_data && row.flag() == name)
}
