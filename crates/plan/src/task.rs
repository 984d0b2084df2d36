//! The use case that a plan requests: a run, an experiment, a search or a tuner.
//!
//! Not here: the execution (app).

use model::{Plan, Target};

use crate::bad_plan::BadPlan;
use crate::decide::decide;
use crate::draft::Draft;
use crate::seek_plan::{SeekPlan, decide_seek};
use crate::tune_plan::{TunePlan, decide_tune};
use crate::vary::{Varied, decide_all};

pub enum Task {
    Run(Box<Plan>),
    /// Runs of one or more points (combinations of varied parameters), with repeats.
    Experiment(Varied),
    /// A search for the highest value of a parameter at which a run meets all objectives.
    Search(Box<SeekPlan>),
    /// Runs of configurations of the varied parameters, to find the best.
    Tuning(Box<TunePlan>),
}

/// Parses and checks a draft. The task is a search if the draft has a range to search, a tuner
/// if it has a figure to maximize or minimize, an experiment if anything in it is varied or set for
/// an experiment, and otherwise a run. An error has the source position and the remedy.
pub fn decide_task(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<Task, BadPlan> {
    if draft.experiment.contains_key("seek") {
        return decide_seek(draft, default_target).map(|seek| Task::Search(Box::new(seek)));
    }
    if ["maximize", "minimize"].iter().any(|key| draft.experiment.contains_key(key)) {
        return decide_tune(draft, default_target).map(|tune| Task::Tuning(Box::new(tune)));
    }
    if !draft.vary.is_empty() || !draft.experiment.is_empty() {
        return decide_all(draft, default_target).map(Task::Experiment);
    }
    decide(draft, default_target).map(|plan| Task::Run(Box::new(plan)))
}
