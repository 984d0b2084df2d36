//! `dbdyno run`: runs a workload or a plan, and prints the report.

use std::cell::RefCell;

use app::Error;
use app::build::BuildOptions;
use app::dry_run::Intended;
use app::run::{RunOptions, run as run_plan};
use clap::{ArgMatches, Command};
use model::{EventLoopChoice, Plan, RunId};
use plan::{Task, decide_task};
use store::Store;

use super::live::Live;
use super::own_folder::tell_choice;
use super::runs::RunIn;
use super::signals::stop_on_signals;
use super::{
    FAILED, INTERRUPTED, Outcome, draft_from_args, dry_run, experiments, figure_names, flags,
    hosts, named, password, push, required, run_options, runs, script_host, seek, server_restart,
    stored, tune,
};
use crate::shell::Shell;

pub(crate) fn command(words: &[String]) -> Result<Command, Error> {
    with_workload(run_options::command(), words)
}

/// Returns the command `tune`, which is `run` with a figure to maximize or minimize.
pub(crate) fn tune_command(words: &[String]) -> Result<Command, Error> {
    let about = "Finds the best values of settings and parameters";
    with_workload(run_options::command().name("tune").about(about), words)
}

pub(crate) fn tune(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let what = matches.get_one::<String>("what").expect("clap requires it");
    let draft = draft_from_args::draft(what, matches, shell)?;
    if !["maximize", "minimize"].iter().any(|key| draft.experiment.contains_key(key)) {
        let why = "dbdyno tune needs a figure: write --maximize tps, or --minimize p99";
        return Err(Error::Usage(why.to_owned()));
    }
    run(matches, shell)
}

/// Adds the options of the workload that the command line names after this command.
fn with_workload(mut command: Command, words: &[String]) -> Result<Command, Error> {
    let what = named(words, command.get_name());
    let named = what.as_deref().and_then(|what| plan::workload_named(what).ok());
    if named.is_none() {
        const MORE: &str = "Each workload adds its own options: see dbdyno run tpcc --help.";
        command = command.after_help(MORE);
    }
    command = command.args(named.iter().flat_map(|entry| entry.roles).map(flags::of_role));
    add_parameters(command, what.as_deref(), &|parameter| !parameter.name.is_empty())
}

/// Adds to a command those parameters of a workload, as flags, for which `wanted` returns true.
/// `what` names a workload or a plan file, whose first group has the workload; no flag is added if
/// the plan cannot be read.
pub(crate) fn add_parameters(
    mut command: Command,
    what: Option<&str>,
    wanted: &dyn Fn(&model::Parameter) -> bool,
) -> Result<Command, Error> {
    let Some(what) = what else {
        return Ok(command);
    };
    let entry = match what.ends_with(".toml") {
        true => match draft_from_args::workload_of_file(what) {
            Some(entry) => entry,
            // The file's error is reported when it is read.
            None => return Ok(command),
        },
        false => {
            plan::workload_named(what).map_err(|bad| draft_from_args::no_workload(what, &bad))?
        }
    };
    let names: Vec<String> =
        command.get_arguments().map(|known| known.get_id().as_str().to_owned()).collect();
    // A variable of a script may be called as an option: it is given by --define.
    let is_new = |parameter: &&model::Parameter| !names.iter().any(|name| name == parameter.name);
    for parameter in entry.parameters.iter().filter(|row| wanted(row)).filter(is_new) {
        command = command.arg(flags::flag(parameter, "Workload"));
    }
    Ok(command)
}

pub(crate) fn run(matches: &ArgMatches, shell: &Shell) -> Outcome {
    push::after(matches, shell, &|| decide_and_run(matches, shell))
}

fn decide_and_run(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let what = matches.get_one::<String>("what").expect("clap requires it");
    let draft = draft_from_args::draft(what, matches, shell)?;
    let unnamed = RefCell::new(String::new());
    let task = decide_task(&draft, &|workload| {
        unnamed.replace(workload.to_owned());
        dry_run::default_target(workload, matches, shell)
    })?;
    if !flags::is_quiet(matches, shell) {
        tell_choice(&unnamed.take(), shell);
    }
    app::managed::check_programs(&draft)?;
    match task {
        Task::Search(search) => seek::run(*search, matches, shell),
        Task::Experiment(experiment) => experiments::run(experiment, matches, shell),
        Task::Tuning(tune_plan) => tune::run(*tune_plan, matches, shell),
        Task::Run(plan) => run_once(*plan, matches, shell),
    }
}

fn run_once(mut plan: Plan, matches: &ArgMatches, shell: &Shell) -> Outcome {
    let required = required::asked(matches)?;
    figure_names::check("--require", &required.limits, &plan)?;
    if dry_run::is_asked(matches) {
        return dry_run::print(&Intended::Run(&plan), required.words(), matches, shell);
    }
    password::give(&mut plan.target, matches, shell)?;
    let checks = flags::checks_of(matches);
    let store = match flags::is_unstored(matches, shell)? {
        true => None,
        false => Some(flags::store_to_write(matches, shell)?),
    };
    let kept = if store.is_some() { RunIn::StoreNow } else { RunIn::NoStore };
    let options = RunOptions {
        store,
        check_before: checks.before(),
        check_after: checks.after(),
        build: !matches.get_flag("no_build"),
        load: BuildOptions { method: flags::load_method(matches), ..BuildOptions::default() },
        sample_hook: None,
        trial: None,
        labels: stored::labels(matches)?,
        before: Vec::new(),
        script_host: script_host::of_flag(matches, shell),
        hosts: hosts::of_flag(matches, shell),
        event_loop: EventLoopChoice::Auto,
        restart: server_restart::of_flags(matches, shell)?,
    };
    let stop = stop_on_signals(shell);
    let mut live = Live::with_metrics(matches, shell)?;
    let result = run_plan(plan, options, &stop, &mut live);
    // Includes a stop during settling or checks after the load.
    let is_interrupted = stop.is_asked();
    live.end();
    let result = result?;
    let report = match matches.get_flag("per_client") {
        true => result.report.with_clients(&result.tally),
        false => result.report,
    };
    let required = required::of_run(&required, &report);
    if kept == RunIn::StoreNow && required.is_asked() {
        let run = RunId(report.run_id.clone());
        let put = |store: Store| Ok(store.put_run_limits(&run, &required.judged())?);
        required::tell_lost(stored::store(matches, shell).and_then(put), shell);
    }
    runs::show_report(&report, matches, &required, kept, shell)?;
    live.linger(&stop);
    let code = match (result.is_interrupted || is_interrupted, result.is_good) {
        (true, _) => INTERRUPTED,
        (false, true) => required.exit_code(),
        (false, false) => FAILED,
    };
    required.end(code, matches, shell);
    Ok(code)
}
