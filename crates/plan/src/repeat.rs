//! Repeats of an experiment on three levels (runs, server starts, data builds), and checks that
//! targets, data and order of trials allow them.
//!
//! Not here: the syntax of a level (repeat_rule), the order of trials (model), and statistics
//! (study).

use model::{Choice, DataPolicy, Goal, Nesting, Order, Plan, StopRule};

use crate::bad_plan::BadPlan;
use crate::draft::{Draft, spelled};
use crate::repeat_rule;
use crate::table::ExperimentValues;
use crate::target::{can_restart, keeps_data};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeats {
    /// Number of trials per point (combination of varied parameters), or the largest number if a
    /// stop rule may end them earlier.
    pub(crate) repeats: u64,
    pub(crate) nesting: Nesting,
    pub(crate) stop: Option<StopRule>,
}

/// Combines the repeats of all levels (runs, server starts, data builds). Returns an error if a
/// level below the highest repeated one has a stop rule.
pub(crate) fn decide(values: &ExperimentValues) -> Result<Repeats, BadPlan> {
    let ExperimentValues { repeat, repeat_restart, repeat_rebuild, .. } = values;
    // Names of the levels, from the lowest up.
    let names = ["repeat", "repeat_restart", "repeat_rebuild"];
    let levels = [repeat, repeat_restart, repeat_rebuild];
    let is_repeated = |level: &repeat_rule::Repeats| level.n > 1 || level.stop.is_some();
    let top = levels.iter().rposition(|level| is_repeated(&level.value)).unwrap_or(0);
    for (index, level) in levels.iter().enumerate() {
        if level.value.stop.is_some() && index != top {
            let rule = spelled(names[top], "until=2%,max=10", &level.from);
            return Err(level.bad(format!(
                "only the highest level can have a stop condition: write a number here, and {rule}"
            )));
        }
    }
    let [runs, restarts, rebuilds] = levels.map(|level| level.value.n);
    let several = |n: u64| u32::try_from(n).ok().filter(|n| *n > 1);
    Ok(Repeats {
        repeats: runs.saturating_mul(restarts).saturating_mul(rebuilds),
        nesting: Nesting { restarts: several(restarts), rebuilds: several(rebuilds) },
        stop: levels[top].value.stop.clone(),
    })
}

/// Rejects repeats that do not fit the rest of the draft: its targets, its policy for the data, or
/// its order of trials.
pub(crate) fn can_be_repeated(
    draft: &Draft,
    values: &ExperimentValues,
    repeats: &Repeats,
    plans: &[&Plan],
) -> Result<(), BadPlan> {
    let ExperimentValues { repeat, repeat_restart, repeat_rebuild, .. } = values;
    let restart = repeats.nesting.restarts.map(|_| repeat_restart);
    let rebuild = repeats.nesting.rebuilds.map(|_| repeat_rebuild);
    let (data, order) = (values.data.value, values.order.value);
    if let Some(written) = restart
        && let Some(plan) = plans.iter().find(|plan| !can_restart(&plan.target))
    {
        return Err(written.bad(format!(
            "dbdyno cannot restart {}: leave it out, or choose a managed server as the target, \
             such as managed:mariadb",
            plan.target
        )));
    }
    if let Some(written) = rebuild
        && let Some(plan) = plans.iter().find(|plan| !keeps_data(&plan.target))
    {
        return Err(written.bad(format!("{} has no data to rebuild: leave it out", plan.target)));
    }
    if let Some(written) = restart.or(rebuild).filter(|_| data != DataPolicy::Keep) {
        return Err(written.bad(format!(
            "data = '{}' gives each trial its own data: leave it out, since repeat_restart and \
             repeat_rebuild determine the data",
            data.name()
        )));
    }
    let levels = [repeat, repeat_restart, repeat_rebuild];
    let written = levels.into_iter().find(|level| level.value.stop.is_some());
    let is_decided = matches!(repeats.stop, Some(StopRule { goal: Goal::Decided { .. }, .. }));
    match written.filter(|_| is_decided) {
        Some(written) if draft.vary.is_empty() || plans.len() < 2 => Err(written.bad(
            "until=decided compares the values of an axis: vary something, such as clients=1,2",
        )),
        Some(written) if order == Order::Sequential => Err(written
            .bad("until=decided compares points round by round: leave out order = 'sequential'")),
        _ => Ok(()),
    }
}
