//! `dbdyno tune`: finds the best values of parameters, and shows stored tuners.

use std::path::Path;

use analysis::figures::Required;
use app::Error;
use app::dry_run::Intended;
use app::trials::Use;
use app::tune::{Tuning, forecast};
use app::watcher::Watcher;
use clap::ArgMatches;
use model::Experiment;
use plan::{Draft, TunePlan};
use render::as_json;
use render::terminal::PAGE_WIDTH;
use study::TuneReport;

use super::live::Live;
use super::signals::stop_on_signals;
use super::{
    DONE, Outcome, dry_run, figure_names, flags, password, print_document, required, stored,
    trial_options,
};
use crate::shell::Shell;

pub(crate) fn run(mut tune_plan: TunePlan, matches: &ArgMatches, shell: &Shell) -> Outcome {
    trial_options::is_kept(matches)?;
    let own_target = |workload: &str| dry_run::default_target(workload, matches, shell);
    let plan = tune_plan.plan(None, &own_target)?;
    let asked = required::asked(matches)?.limits;
    tune_plan.tune.limits.extend(asked.iter().map(ToString::to_string));
    let limits: Result<Vec<Required>, String> =
        tune_plan.tune.limits.iter().map(|limit| limit.parse()).collect();
    let limits = limits.map_err(|why| Error::Usage(format!("--limits: {why}")))?;
    figure_names::check("--limits", &limits, &plan)?;
    let goal = model::Choice::name(tune_plan.tune.goal);
    figure_names::check_name(&format!("--{goal}"), &tune_plan.tune.figure, &plan)?;
    let tuning = Tuning::new(tune_plan, stored::labels(matches)?, &own_target)?;
    if dry_run::is_asked(matches) {
        let limits = limits.iter().map(ToString::to_string).collect();
        return dry_run::print(&Intended::Tuning(&tuning), limits, matches, shell);
    }
    make(tuning, matches, true, shell)
}

/// Resumes a stored tuner. `named` is the plan file that the user names; `None` without one.
pub(crate) fn resume(
    store: &Path,
    experiment: Experiment,
    named: Option<&Draft>,
    matches: &ArgMatches,
    shell: &Shell,
) -> Outcome {
    make(Tuning::stored(store, experiment, Use::ToGoOn(named))?, matches, false, shell)
}

fn make(mut tuning: Tuning, matches: &ArgMatches, is_new: bool, shell: &Shell) -> Outcome {
    password::give(tuning.target(), matches, shell)?;
    let options = trial_options::options(matches, shell)?;
    let stop = stop_on_signals(shell);
    let mut live = Live::with_metrics(matches, shell)?;
    live.note(&forecast(&tuning)?);
    let result = tuning.run(is_new, &options, &stop, &mut live);
    live.end();
    let result = result?;
    print_report(&result.report, matches, shell)?;
    live.linger(&stop);
    Ok(trial_options::exit_code(&result, &result.report.id, DONE, shell))
}

/// Prints the report of a tuner in the requested format.
pub(crate) fn print_report(report: &TuneReport, matches: &ArgMatches, shell: &Shell) -> Outcome {
    match flags::is_json(matches) {
        true => shell.print(&as_json(report)),
        false => print_document(&render::tune(report), PAGE_WIDTH, matches, shell),
    }
}
