//! Repeats as written: numbers by level, or a rule until when.
//!
//! Not here: in which order trials are made (model), and what they show (analysis).

use analysis::comparison::MIN_EFFECT;
use analysis::figures::{Direction, direction, known};
use model::{DataPolicy, Goal, Nesting, Order, Plan, StopRule, parse_count};

use crate::bad_plan::BadPlan;
use crate::draft::{Draft, Written, spelled};
use crate::managed::is_managed;

/// More repeats of a level than these are no experiment that a person waits for.
const REPEATS_MAX: u64 = 10_000;
/// Repeats at most where a rule ends them, unless told otherwise.
const MOST: u64 = 30;

/// The levels, from the lowest up.
const PATHS: [&str; 3] =
    ["experiment.repeat", "experiment.repeat_restart", "experiment.repeat_rebuild"];

/// Repeats as decided.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeats {
    /// Trials of each point in all, at most.
    pub(crate) repeats: u64,
    pub(crate) nesting: Nesting,
    pub(crate) stop: Option<StopRule>,
}

/// Reads how often is repeated, at which levels.
pub(crate) fn decide(draft: &Draft) -> Result<Repeats, BadPlan> {
    let mut all = Vec::new();
    for path in PATHS {
        let written = draft.plan(path).expect("it has a default");
        all.push((read(path, &written)?, written));
    }
    let top = all.iter().rposition(|((n, stop), _)| *n > 1 || stop.is_some()).unwrap_or(0);
    for (index, ((_, stop), written)) in all.iter().enumerate() {
        if stop.is_some() && index != top {
            let upper = PATHS[top];
            let rule = spelled(upper, "until=2%,max=10", &written.from);
            return Err(written.bad(format!(
                "repeats end by a rule of the highest level, of which each is a figure of its own: \
                 write a number here, and {rule}"
            )));
        }
    }
    let [runs, restarts, rebuilds] = [0, 1, 2].map(|index| all[index].0.0);
    let several = |n: u64| (n > 1).then_some(n as u32);
    let (_, stop) = all.swap_remove(top).0;
    Ok(Repeats {
        repeats: runs.saturating_mul(restarts).saturating_mul(rebuilds),
        nesting: Nesting { restarts: several(restarts), rebuilds: several(rebuilds) },
        stop,
    })
}

/// A number, or `until=2%,max=20`: how many at most, and the rule.
fn read(path: &'static str, written: &Written) -> Result<(u64, Option<StopRule>), BadPlan> {
    let text = written.text.trim();
    if !text.starts_with("until") {
        let n = parse_count(text).map_err(|bad| {
            written
                .bad(format!("{bad}; write a number such as 5, or a rule such as until=2%,max=20"))
        })?;
        return match n {
            1..=REPEATS_MAX => Ok((n, None)),
            0 => Err(written.bad(format!("{path}: '0' is below the minimum of 1"))),
            _ => Err(written.bad(format!("{path}: '{n}' is above the maximum of {REPEATS_MAX}"))),
        };
    }
    let (mut goal, mut figure, mut min_effect) = (None, None, None);
    let (mut most, mut min) = (MOST, stats::FIGURES_MIN as u64);
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim(), value.trim());
        if let Some((_, before)) = seen.iter().find(|(known, _)| *known == key) {
            return Err(written.bad(format!(
                "the rule has {key} twice, as {before} and as {value}: leave one out"
            )));
        }
        seen.push((key, value));
        let number = || parse_count(value).map_err(|bad| written.bad(format!("{key}: {bad}")));
        match key {
            "until" => goal = Some(read_goal(written, value)?),
            "min_effect" => min_effect = Some(percent(written, key, value)?),
            "figure" => {
                let named = known(value).map_err(|known| {
                    written.bad(format!("figure {value}: choose one of {known}"))
                })?;
                if direction(&named) == Direction::Neither {
                    let why = format!("figure {value}: neither more nor less of it is better");
                    return Err(written.bad(why));
                }
                figure = Some(named);
            }
            "max" => most = number()?,
            "min" => min = number()?,
            _ => {
                return Err(written.bad(format!(
                    "'{key}' is no part of a rule: write until, max, min, figure or min_effect, \
                     such as until=2%,max=20"
                )));
            }
        }
    }
    let goal = match (goal, min_effect) {
        (Some(Goal::Decided { .. }), Some(min_effect)) => Goal::Decided { min_effect },
        (Some(goal @ Goal::Decided { .. }), None) | (Some(goal), None) => goal,
        (Some(Goal::Precise { .. }), Some(_)) => {
            return Err(written.bad("min_effect belongs to until=decided: leave it out"));
        }
        (None, _) => return Err(written.bad("the rule has no until: write until=2%")),
    };
    let least = stats::FIGURES_MIN as u64;
    if min < least {
        return Err(written.bad(format!(
            "min={min}: how much fewer than {least} repeats scatter is hardly known: write {least} \
             or more"
        )));
    }
    if most < min || most > REPEATS_MAX {
        return Err(written.bad(format!("max={most}: it lies between {min} and {REPEATS_MAX}")));
    }
    Ok((most, Some(StopRule { goal, figure, min: min as u32 })))
}

fn read_goal(written: &Written, value: &str) -> Result<Goal, BadPlan> {
    match value {
        "decided" => Ok(Goal::Decided { min_effect: MIN_EFFECT }),
        value => Ok(Goal::Precise { share: percent(written, "until", value)? }),
    }
}

/// A share above 0 and of at most 50 %.
fn percent(written: &Written, key: &str, value: &str) -> Result<f64, BadPlan> {
    let number = value.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let percent = number.filter(|percent| *percent > 0.0 && *percent <= 50.0);
    let share = percent.map(|percent| percent / 100.0);
    let or = if key == "until" { ", or 'decided'" } else { "" };
    share.ok_or_else(|| {
        written.bad(format!("{key}={value}: write a share of at most 50 %, such as {key}=2%{or}"))
    })
}

/// Refuses repeats of a level that targets, data or order do not allow.
pub(crate) fn can_be_repeated(
    draft: &Draft,
    of: &Repeats,
    (data, order): (DataPolicy, Order),
    plans: &[&Plan],
) -> Result<(), BadPlan> {
    let [_, restart, rebuild] = PATHS.map(|path| draft.values.get(path));
    let (restart, rebuild) = (
        restart.filter(|_| of.nesting.restarts.is_some()),
        rebuild.filter(|_| of.nesting.rebuilds.is_some()),
    );
    if let Some(written) = restart {
        // An embedded or simulated database is opened again.
        let has_start = |plan: &&&Plan| {
            is_managed(&plan.target) || ["sqlite", "sim"].contains(&plan.target.scheme.as_str())
        };
        if let Some(plan) = plans.iter().find(|plan| !has_start(plan)) {
            return Err(written.bad(format!(
                "{} is not ours to be restarted: leave it out, or choose a managed server as the \
                 target, such as managed:mariadb",
                plan.target
            )));
        }
    }
    if let Some(written) = rebuild
        && let Some(plan) = plans.iter().find(|plan| plan.target.scheme == "sim")
    {
        return Err(
            written.bad(format!("{} keeps no data to be built again: leave it out", plan.target))
        );
    }
    if let Some(written) = restart.or(rebuild).filter(|_| data != DataPolicy::Keep) {
        return Err(written.bad(format!(
            "data = '{}' begins each trial from data of its own: leave it out, since levels are \
             repeated by repeat_restart and repeat_rebuild",
            data.name()
        )));
    }
    let written =
        PATHS.iter().find_map(|path| draft.values.get(path)).filter(|_| of.stop.is_some());
    let is_decided = matches!(of.stop, Some(StopRule { goal: Goal::Decided { .. }, .. }));
    match written.filter(|_| is_decided) {
        Some(written) if draft.vary.is_empty() || plans.len() < 2 => Err(written.bad(
            "until=decided compares the values of an axis: vary something, such as clients=1,2",
        )),
        Some(written) if order == Order::Sequential => Err(written
            .bad("until=decided compares points round by round: leave out order = 'sequential'")),
        _ => Ok(()),
    }
}
