//! Checks a plan as far as that is possible without a connection, and says what it would do.
//!
//! Not here: checks of a draft (plan), and the page (render).

use std::path::Path;

use model::{Experiment, Plan};
use render::DryRun;

use crate::admission;
use crate::error::Error;
use crate::experiment::{self, Planned, too_few_repeats};
use crate::open::{check_workload, is_apart_from};
use crate::run::RunOptions;
use crate::script_commands::may_start_programs;
use crate::seek::{self, Search};
use crate::tune::{self, Tuning};

/// A plan that was decided: a run, an experiment, a search or a tuner.
pub enum Intended<'a> {
    Run(&'a Plan),
    Experiment(&'a Planned),
    Search(&'a Search),
    Tuning(&'a Tuning),
}

/// Checks what was intended, and returns what it would do. The caller adds the limits of the
/// result, and the file of the plan.
///
/// # Errors
///
/// The same as in an execution, except for errors that only the database can report.
pub fn dry_run(intended: &Intended<'_>, options: &RunOptions) -> Result<DryRun, Error> {
    match intended {
        Intended::Run(plan) => of_plan("run", plan, options, forecast(plan)),
        Intended::Experiment(planned) => {
            let Experiment { axes, repeats, .. } = &planned.experiment;
            planned.plans.iter().try_for_each(|plan| check(plan, options))?;
            let first = planned.plans.first().expect("an experiment has a point");
            let forecast = experiment::forecast(planned);
            let dry = of_plan("experiment", first, options, forecast)?;
            let points = Some((planned.plans.len() as u64, u64::from(*repeats)));
            let notes = too_few_repeats(planned).into_iter().collect();
            Ok(DryRun { axes: axes.clone(), points, notes, ..dry })
        }
        Intended::Search(search) => {
            let first = search.first_plan()?;
            let dry = of_plan("search", &first, options, seek::forecast(search))?;
            Ok(DryRun { notes: search.note().into_iter().collect(), ..dry })
        }
        Intended::Tuning(tuning) => {
            let (defaults, forecast) = (tuning.default_plan()?, tune::forecast(tuning)?);
            let dry = of_plan("tuning", &defaults, options, forecast)?;
            Ok(DryRun { axes: tuning.axes().to_vec(), ..dry })
        }
    }
}

fn of_plan(
    kind: &'static str,
    plan: &Plan,
    options: &RunOptions,
    forecast: String,
) -> Result<DryRun, Error> {
    check(plan, options)?;
    let sources = plan.groups.iter().filter_map(|group| {
        let source = workloads::by_name(&group.workload).ok()?.source?;
        Path::new(&*source.name).exists().then(|| source.name.to_string())
    });
    let mut files: Vec<String> = sources.collect();
    files.dedup();
    Ok(DryRun {
        kind,
        plan: plan.clone(),
        toml: plan::to_toml(plan),
        axes: Vec::new(),
        points: None,
        forecast,
        limits: Vec::new(),
        files,
        builds: options.build,
        notes: Vec::new(),
    })
}

fn check(plan: &Plan, options: &RunOptions) -> Result<(), Error> {
    is_apart_from(options.store.as_deref(), &plan.target)?;
    admission::has_descriptors(plan)?;
    if plan.agents.is_empty() {
        admission::has_io_uring(plan)?;
    }
    for group in &plan.groups {
        let target = group.target_beside(&plan.target).unwrap_or_else(|| plan.target.clone());
        check_workload(&target, &group.workload, &group.parameters, plan.seed)?;
        if let Some((_, workload)) = plan::workload_of(group, plan.seed) {
            may_start_programs(workload.as_ref(), options.script_host.as_ref())?;
        }
    }
    Ok(())
}

/// Returns the least time of a run in words.
fn forecast(plan: &Plan) -> String {
    let time = experiment::time_of(std::slice::from_ref(plan), 1, 0);
    format!("1 run, {time}, plus build, settling and checks")
}
