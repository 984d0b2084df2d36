//! Which use case a plan asks for. Not here: doing it (app).

use model::{Plan, Target};

use crate::bad_plan::BadPlan;
use crate::decide::decide;
use crate::draft::Draft;
use crate::seek_plan::{SeekPlan, decide_seek};
use crate::vary::{Varied, decide_all};

/// What a plan asks for, decided.
pub enum Task {
    /// One run.
    Run(Box<Plan>),
    /// A run of each point, several of each perhaps.
    Experiment(Varied),
    /// The highest value at which objectives hold.
    Search(Box<SeekPlan>),
}

/// Decides a draft: a search where something is sought, an experiment where something is varied,
/// repeated, or said of an experiment, and else a run.
pub fn decide_task(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<Task, BadPlan> {
    if draft.experiment.contains_key("seek") {
        return decide_seek(draft, default_target).map(|seek| Task::Search(Box::new(seek)));
    }
    if !draft.vary.is_empty() || !draft.experiment.is_empty() {
        return decide_all(draft, default_target).map(Task::Experiment);
    }
    decide(draft, default_target).map(|plan| Task::Run(Box::new(plan)))
}
