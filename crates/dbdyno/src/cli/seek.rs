//! `dbdyno run` for a search, and `dbdyno experiments` for stored searches.

use std::path::Path;

use analysis::figures::Required;
use app::Error;
use app::dry_run::Intended;
use app::seek::{Search, forecast};
use app::trials::Use;
use app::watcher::Watcher;
use clap::ArgMatches;
use model::Experiment;
use plan::{Draft, SeekPlan};
use render::as_json;
use render::terminal::PAGE_WIDTH;
use study::SeekReport;

use super::live::Live;
use super::signals::stop_on_signals;
use super::{
    DONE, Outcome, dry_run, figure_names, flags, password, print_document, stored, trial_options,
};
use crate::shell::Shell;

pub(crate) fn run(sought: SeekPlan, matches: &ArgMatches, shell: &Shell) -> Outcome {
    if matches.contains_id("require") {
        let why = "--require: a search takes its limits from --objective: write them there";
        return Err(Error::Usage(why.to_owned()));
    }
    trial_options::is_kept(matches)?;
    let own_target = |workload: &str| dry_run::default_target(workload, matches, shell);
    let plan = sought.plan(sought.seek.low, 0, &own_target)?;
    let limits = sought.seek.objectives.iter().filter_map(Required::of_objective);
    figure_names::check("--objective", &limits.collect::<Vec<_>>(), &plan)?;
    let note = sought.note();
    let search = Search::new(sought, stored::labels(matches)?, &own_target)?;
    if dry_run::is_asked(matches) {
        return dry_run::print(&Intended::Search(&search), Vec::new(), matches, shell);
    }
    make(search, matches, true, note.as_deref(), shell)
}

/// Resumes a stored search. `named` is the plan file that the user names; `None` without one.
pub(crate) fn resume(
    store: &Path,
    experiment: Experiment,
    named: Option<&Draft>,
    matches: &ArgMatches,
    shell: &Shell,
) -> Outcome {
    make(Search::stored(store, experiment, Use::ToGoOn(named))?, matches, false, None, shell)
}

fn make(
    mut search: Search,
    matches: &ArgMatches,
    is_new: bool,
    note: Option<&str>,
    shell: &Shell,
) -> Outcome {
    password::give(search.target(), matches, shell)?;
    let options = trial_options::options(matches, shell)?;
    let stop = stop_on_signals(shell);
    let mut live = Live::with_metrics(matches, shell)?;
    note.into_iter().for_each(|note| live.note(note));
    live.note(&forecast(&search));
    let result = search.run(is_new, &options, &stop, &mut live);
    live.end();
    let result = result?;
    print_report(&result.report, matches, shell)?;
    live.linger(&stop);
    Ok(trial_options::exit_code(&result, &result.report.id, DONE, shell))
}

/// Prints the report of a search in the requested format.
pub(crate) fn print_report(report: &SeekReport, matches: &ArgMatches, shell: &Shell) -> Outcome {
    match flags::is_json(matches) {
        true => shell.print(&as_json(report)),
        false => print_document(&render::seek(report), PAGE_WIDTH, matches, shell),
    }
}
