//! Axes: which words of a draft are varied, and the plans that come of it.
//!
//! Every point is decided before the first is tried: a mistake in the last one is told at once,
//! with its place. Not here: how points are walked (experiment).

use analysis::figures::number;
use model::{
    Axis, Condition, DataPolicy, Experiment, Nesting, Order, Plan, Point, StopRule, Target,
    combinations, parse_duration, short_axis,
};

use crate::bad_plan::BadPlan;
use crate::condition::{can_be_asked, decide_until};
use crate::decide::decide;
use crate::draft::{Draft, GroupDraft, VaryDraft, spelled};
use crate::managed::is_managed;
use crate::place::{check_axes, flag_of, parameters_of, put};
use crate::print::to_toml;
use crate::{repeat, seek_plan};

/// More trials than this are no experiment that a person waits for.
const TRIALS_MAX: u64 = 100_000;

/// An experiment as decided from a draft.
#[derive(Clone, Debug)]
pub struct Varied {
    /// What is varied.
    pub axes: Vec<Axis>,
    /// The values of each point, and its plan.
    pub points: Vec<(Vec<String>, Plan)>,
    /// Trials of each; at most, where a rule may end them.
    pub repeats: u32,
    /// The levels above runs that are repeated.
    pub nesting: Nesting,
    /// When repeats end before there are as many.
    pub stop: Option<StopRule>,
    /// In which order.
    pub order: Order,
    /// What becomes of the data.
    pub data: DataPolicy,
    /// Before each trial but the first.
    pub pause_ns: u64,
    /// What must hold before each trial.
    pub until: Option<Condition>,
}

impl Varied {
    /// The experiment, whose runs have these labels, and the plan of each of its points; passwords
    /// are in the plans alone.
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
            until: self.until,
            seed,
            seek: None,
            labels,
        };
        (experiment, plans)
    }
}

/// Whether a draft is an experiment, and not one run.
pub fn is_varied(draft: &Draft) -> bool {
    !draft.vary.is_empty() || draft.values.keys().any(|path| path.starts_with("experiment."))
}

/// Decides all points of a draft.
pub fn decide_all(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<Varied, BadPlan> {
    seek_plan::is_not_half(draft)?;
    let mut axes = draft.vary.iter().map(axis).collect::<Result<Vec<Axis>, BadPlan>>()?;
    check_axes(draft, &draft.vary)?;
    let repeats = repeat::decide(draft)?;
    let n_points: u64 = axes.iter().map(|axis| axis.values.len() as u64).product();
    let n_trials = n_points.saturating_mul(repeats.repeats);
    if n_trials > TRIALS_MAX {
        return Err(BadPlan(format!(
            "{n_trials} trials are too many: at most {TRIALS_MAX}; vary less, or repeat less"
        )));
    }
    let data = decide_data(draft)?;
    let mut points = Vec::new();
    for values in combinations(&axes) {
        let mut point = draft.clone();
        let mut set: Vec<(&VaryDraft, &String)> = draft.vary.iter().zip(&values).collect();
        // What is set of a server asks which one it is.
        set.sort_by_key(|(vary, _)| !is_target(&vary.name));
        for (vary, value) in set {
            put(&mut point, vary, value.clone())?;
        }
        points.push((
            values.iter().map(|value| shown(value)).collect(),
            decide(&point, default_target)?,
        ));
    }
    if data == DataPolicy::Copy {
        can_be_copied(draft, &points)?;
    }
    for value in axes.iter_mut().flat_map(|axis| &mut axis.values) {
        *value = shown(value);
    }
    can_be_asked(draft, points.iter().map(|(_, plan)| &plan.target))?;
    let order = decide_order(draft)?;
    let plans: Vec<&Plan> = points.iter().map(|(_, plan)| plan).collect();
    repeat::can_be_repeated(draft, &repeats, (data, order), &plans)?;
    Ok(Varied {
        axes,
        points,
        repeats: repeats.repeats as u32,
        nesting: repeats.nesting,
        stop: repeats.stop,
        order,
        data,
        pause_ns: parse_duration(&draft.word("experiment.pause")?).unwrap_or(0),
        until: decide_until(draft)?,
    })
}

/// What becomes of the data; an axis that shapes them asks for new ones.
fn decide_data(draft: &Draft) -> Result<DataPolicy, BadPlan> {
    let data = match draft.word("experiment.data")?.as_str() {
        "rebuild" => DataPolicy::Rebuild,
        "copy" => DataPolicy::Copy,
        _ => DataPolicy::Keep,
    };
    for vary in draft.vary.iter().filter(|_| data != DataPolicy::Rebuild) {
        if draft.groups.iter().any(|group| shapes_data(group, &vary.name)) {
            let rebuild = spelled("experiment.data", "rebuild", &vary.from);
            return Err(vary.bad(format!(
                "'{}' shapes the data, which are built once: ask for new ones before each trial \
                 ({rebuild})",
                vary.name
            )));
        }
    }
    Ok(data)
}

/// Only the data of a server of our own can be put back as they were.
fn can_be_copied(draft: &Draft, points: &[(Vec<String>, Plan)]) -> Result<(), BadPlan> {
    let target = points.iter().map(|(_, plan)| &plan.target).find(|target| !is_managed(target));
    match (target, draft.plan("experiment.data")) {
        (Some(target), Some(written)) => Err(written.bad(format!(
            "{target} is not ours to be stopped and copied: choose {}, or a managed server as the \
             target, such as managed:mariadb",
            spelled("experiment.data", "rebuild", &written.from)
        ))),
        _ => Ok(()),
    }
}

fn decide_order(draft: &Draft) -> Result<Order, BadPlan> {
    let name = draft.word("experiment.order")?;
    let order = Order::ALL.into_iter().find(|order| order.name() == name);
    Ok(order.unwrap_or(Order::Interleaved))
}

fn axis(vary: &VaryDraft) -> Result<Axis, BadPlan> {
    let name = &vary.name;
    if vary.values.iter().all(|value| value.is_empty()) {
        let why = format!("'{name}' has no values to vary over: write {name}=1,2,4");
        return Err(vary.bad(why));
    }
    for (index, value) in vary.values.iter().enumerate() {
        if let Some(other) = vary.values[..index].iter().find(|other| is_same(name, other, value)) {
            let (value, other) = (shown(value), shown(other));
            let twice = match value == other {
                true => format!("{value} twice"),
                false => format!("{other} twice, also as {value}"),
            };
            let repeat = spelled("experiment.repeat", "", &vary.from);
            let why = format!("'{name}' has the value {twice}: repeats are asked for by");
            return Err(vary.bad(format!("{why} {repeat}")));
        }
    }
    Ok(Axis { name: name.clone(), values: vary.values.clone() })
}

/// Whether two values are one, however they are written: `1` and `01`, `1000` and `1k`, `1s` and
/// `1000ms`. What a setting of a server's means only the server knows.
fn is_same(axis: &str, a: &str, b: &str) -> bool {
    if axis.starts_with("server.") {
        return a == b;
    }
    let as_length = || parse_duration(a).is_ok_and(|ns| parse_duration(b) == Ok(ns));
    let as_number = || number(a).is_some_and(|n| number(b) == Some(n));
    shown(a) == shown(b) || as_number() || as_length()
}

/// Whether an axis is which database is loaded.
pub(crate) fn is_target(axis: &str) -> bool {
    matches!(axis, "target" | "target.url")
}

/// A value as it is shown and kept: a URL without its password.
fn shown(value: &str) -> String {
    match Target::parse(value) {
        Ok(target) if target.password.is_some() => target.to_string(),
        _ => value.to_owned(),
    }
}

/// Whether an axis changes what must be built.
fn shapes_data(group: &GroupDraft, axis: &str) -> bool {
    let name = flag_of(short_axis(axis));
    parameters_of(group).iter().any(|row| row.shapes_data && row.flag() == name)
}
