//! A decided tuner: its parameters with their values, its figure and limits, and the plan of each
//! configuration.
//!
//! The plans with the defaults and with each value are checked before the first trial, so that
//! errors are reported at once. Not here: the choice of configurations (study).

use analysis::figures::Required;
use model::{Axis, Choice, Condition, DataPolicy, Plan, TRIALS_MAX, Target, Tune, TuneGoal};
use study::tune::Tuner;

use crate::bad_plan::BadPlan;
use crate::condition::{can_be_asked, decide_wait};
use crate::decide::decide;
use crate::draft::{Draft, VaryDraft, spelled};
use crate::place::{check_axes, put};
use crate::table::ExperimentValues;
use crate::values_between::values_between;
use crate::vary::{axis, can_be_copied, can_count, check_data, is_target};
use crate::written::{From, Values};

/// A tuner, parsed and checked from a draft.
pub struct TunePlan {
    pub tune: Tune,
    /// The parameters with all their values, in the order of the draft.
    pub axes: Vec<Axis>,
    pub data: DataPolicy,
    pub pause_ns: u64,
    /// Query that has to return true before each trial; `None` if there is none.
    pub wait_until: Option<Condition>,
    /// Draft from which the plan of every configuration is decided, with the defaults.
    draft: Draft,
    vary: Vec<VaryDraft>,
}

/// Parses and checks a draft of a tuner, with the plans of the defaults and of each value alone. An
/// error has the source position and the remedy.
pub fn decide_tune(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<TunePlan, BadPlan> {
    let values = ExperimentValues::read(&draft.experiment)?;
    let (figure, goal, from) = goal(&values)?;
    let mut vary = draft.vary.clone();
    for one in &mut vary {
        expand(one)?;
    }
    if vary.is_empty() {
        let vary = spelled("vary", "server.shared_buffers=128MB..4GB", from);
        return Err(from.bad(format!("a tuner needs parameters to change: write {vary}")));
    }
    let axes = vary.iter().map(axis).collect::<Result<Vec<Axis>, BadPlan>>()?;
    check_axes(draft, &vary)?;
    if let Some(target) = vary.iter().find(|one| is_target(&one.name)) {
        let why = "the target is no parameter that can be tuned: compare targets by --vary alone";
        return Err(target.bad(why));
    }
    check_ignored(&values)?;
    check_data(draft, &values)?;
    let tune = Tune {
        figure,
        goal,
        limits: limits(&values)?,
        n_trials: values.trials.value,
        n_pairs: values.confirm_pairs.value,
        strategy: values.strategy.value,
    };
    let wait_until = decide_wait(&values)?;
    let mut plain = draft.clone();
    (plain.experiment, plain.vary) = (Values::new(), Vec::new());
    let (data, pause_ns) = (values.data.value, values.pause.value);
    let tune_plan = TunePlan { tune, axes, data, pause_ns, wait_until, draft: plain, vary };
    tune_plan.has_enough(&values)?;
    let plan = tune_plan.plan(None, default_target)?;
    can_count(draft, &plan)?;
    can_be_copied(&values, &[(Vec::new(), plan.clone())])?;
    can_be_asked(&values, std::iter::once(&plan.target))?;
    for (at, axis) in tune_plan.axes.iter().enumerate() {
        for level in 0..axis.values.len() as u32 {
            let mut levels = vec![0; tune_plan.axes.len()];
            levels[at] = level;
            can_count(draft, &tune_plan.plan(Some(&levels), default_target)?)?;
        }
    }
    Ok(tune_plan)
}

/// Returns the figure of a tuner, whether it is to be high or low, and where that is written.
fn goal(values: &ExperimentValues) -> Result<(String, TuneGoal, &From), BadPlan> {
    let ExperimentValues { maximize, minimize, .. } = values;
    match (&maximize.value, &minimize.value) {
        (Some(_), Some(_)) => Err(minimize.bad("a tuner has one figure: drop one of them")),
        (Some(figure), None) => Ok((figure.clone(), TuneGoal::Maximize, &maximize.from)),
        (None, Some(figure)) => Ok((figure.clone(), TuneGoal::Minimize, &minimize.from)),
        (None, None) => Err(maximize.bad("a tuner needs a figure: write tps, nopm or p99")),
    }
}

/// Returns the limits of a tuner, each as it is written.
fn limits(values: &ExperimentValues) -> Result<Vec<String>, BadPlan> {
    let Some(text) = &values.limits.value else { return Ok(Vec::new()) };
    let limit = |limit: &str| match limit.trim().parse::<Required>() {
        Ok(limit) => Ok(limit.to_string()),
        Err(why) => Err(values.limits.bad(why.to_string())),
    };
    text.split(',').map(limit).collect()
}

/// Replaces a range, such as `128MB..4GB`, by values of it.
fn expand(vary: &mut VaryDraft) -> Result<(), BadPlan> {
    if let [range] = &vary.values[..]
        && let Some(values) = values_between(range).map_err(|why| vary.bad(why))?
    {
        vary.values = values;
    }
    Ok(())
}

/// Rejects parameters of `[experiment]` that a tuner would ignore.
fn check_ignored(values: &ExperimentValues) -> Result<(), BadPlan> {
    let ExperimentValues { repeat, repeat_restart, repeat_rebuild, order, reference, .. } = values;
    let why = "a tuner chooses the number and order of its trials (--trials): leave it out";
    for written in [repeat, repeat_restart, repeat_rebuild] {
        if written.is_written() {
            return Err(written.bad(why));
        }
    }
    if order.is_written() {
        return Err(order.bad(why));
    }
    if reference.is_written() {
        return Err(reference.bad("a tuner has no table beside which figures could stand"));
    }
    if let Some(objective) = &values.objective.value {
        let limit = objective.first().map(ToString::to_string).unwrap_or_default();
        let limits = spelled("limits", &limit, &values.objective.from);
        return Err(values.objective.bad(format!("a tuner has limits instead: write {limits}")));
    }
    Ok(())
}

impl TunePlan {
    /// Restores the tuner that a stored experiment contains, from the draft of its defaults.
    pub fn stored(draft: Draft, tune: Tune, axes: Vec<Axis>) -> TunePlan {
        let vary = |axis: &Axis| VaryDraft {
            name: axis.name.clone(),
            values: axis.values.clone(),
            from: From::Flag("vary".to_owned()),
        };
        let vary = axes.iter().map(vary).collect();
        // The stored experiment has the rest.
        let data = DataPolicy::Keep;
        TunePlan { tune, axes, data, pause_ns: 0, wait_until: None, draft, vary }
    }

    /// Returns the tuner as a strategy, with this seed.
    pub fn tuner(&self, seed: u64) -> Tuner {
        Tuner {
            n_levels: self.axes.iter().map(|axis| axis.values.len() as u32).collect(),
            n_trials: self.tune.n_trials,
            n_pairs: self.tune.n_pairs,
            seed,
            strategy: self.tune.strategy,
        }
    }

    /// Returns the plan of a configuration: for each parameter the index of its value, or `None`
    /// for the defaults.
    pub fn plan(
        &self,
        levels: Option<&[u32]>,
        default_target: &dyn Fn(&str) -> Result<Target, String>,
    ) -> Result<Plan, BadPlan> {
        let mut draft = self.draft.clone();
        for (vary, level) in self.vary.iter().zip(levels.into_iter().flatten()) {
            put(&mut draft, vary, vary.values[*level as usize].clone())?;
        }
        decide(&draft, default_target)
    }

    /// Rejects too few trials for the strategy, and more than anybody waits for.
    fn has_enough(&self, values: &ExperimentValues) -> Result<(), BadPlan> {
        let least = u64::from(self.tuner(0).n_trials_min());
        let from = &values.trials.from;
        let trials = spelled("trials", "", from);
        let strategy = values.strategy.value.name();
        if least > TRIALS_MAX {
            return Err(from.bad(format!(
                "the strategy '{strategy}' would need {least} trials, and at most {TRIALS_MAX} \
                 are possible: choose fewer values, or another strategy"
            )));
        }
        match u64::from(self.tune.n_trials) < least {
            true => Err(from.bad(format!(
                "{} trials are too few for the strategy '{strategy}' with {} pairs that confirm: \
                 raise {trials} to at least {least}",
                self.tune.n_trials, self.tune.n_pairs
            ))),
            false => Ok(()),
        }
    }
}
