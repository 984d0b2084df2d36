//! `dbdyno run` with something to vary, and `dbdyno experiments`: what the store remembers of it.

use analysis::ExperimentReport;
use app::Error;
use app::build::BuildOptions;
use app::experiment::{
    ExperimentResult, Planned, forecast, plan, planned, points_by, report_by, resume,
    run as run_experiment,
};
use app::trial_runner::ExperimentOptions;
use app::watcher::Watcher;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::{DataPolicy, Experiment};
use plan::{Draft, decide_all, varied_to_toml};
use render::{Style, experiment, experiment_list, experiment_list_csv, experiment_list_markdown};
use store::{ExperimentFilter, Store};

use super::live::Live;
use super::metrics::{self, Metrics};
use super::required::RequiredResults;
use super::run::own_target;
use super::runs::{asked, bad, labels, said, store};
use super::{
    DONE, FAILED, INTERRUPTED, Outcome, flags, password, plan_from, print, print_document,
    required, seek,
};
use crate::lists::{experiment_lines, experiments_json};

pub(crate) fn command() -> Command {
    let id = || {
        Arg::new("id")
            .required(true)
            .value_name("ID")
            .help("An experiment's id, the beginning or end of one, or 'last'")
    };
    let resume = Command::new("resume")
        .about("Makes the trials of an experiment that were not made")
        .arg(id())
        .arg(
            Arg::new("plan")
                .long("plan")
                .value_name("PLAN.toml")
                .help("Its plan file, where it has commands: they are taken from no store"),
        )
        .arg(flags::checks())
        .arg(flags::no_build())
        .arg(flags::load_method_of(&["bulk", "insert"]))
        .args(metrics::flags())
        .arg(required::flag())
        .arg(flags::quiet("No live view, no progress"));
    Command::new("experiments")
        .about("Lists, shows, resumes and removes experiments")
        .subcommand(list_command())
        .subcommand(
            Command::new("show")
                .about("Shows what an experiment has shown")
                .arg(id())
                .arg(
                    Arg::new("plan")
                        .long("plan")
                        .action(ArgAction::SetTrue)
                        .help("Its plan alone, as a file that 'dbdyno run' repeats"),
                )
                .arg(Arg::new("figure").long("figure").value_name("NAME").help(
                    "Judge points by this figure: tps, p99, reads, new_order.p99 or any other",
                ))
                .arg(required::flag()),
        )
        .subcommand(password::add(resume))
        .subcommand(Command::new("rm").about("Removes an experiment; its runs are kept").arg(id()))
}

fn list_command() -> Command {
    Command::new("list")
        .about("Lists experiments, newest first")
        .after_help(
            "Example:\n  dbdyno experiments list --where 'workload=tpcc and axis=clients and \
             started>-7d' --sort -done\n\nColumns: id, started, status, name, axis, workload, \
             trials, done. Signs: = != < <= > >= and ~ (contains); 'and', 'or', 'not' and brackets.",
        )
        .args(asked(
            "Those of which this holds, such as 'workload=tpcc and axis=clients'",
            "What comes first, such as name; -done is from the highest down",
        ))
}

pub(crate) fn experiments(matches: &ArgMatches) -> Outcome {
    match matches.subcommand() {
        Some(("show", sub)) => show(sub),
        Some(("resume", sub)) => go_on(sub),
        Some(("rm", sub)) => remove(sub),
        Some((_, sub)) => list(sub, &filter(sub)?),
        None => list(matches, &ExperimentFilter::default()),
    }
}

/// Runs a draft that varies something.
pub(crate) fn run(draft: &Draft, matches: &ArgMatches) -> Outcome {
    is_kept(matches)?;
    required::asked(matches)?;
    let varied = decide_all(draft, &own_target)?;
    let seed = varied.points.first().map_or(1, |(_, plan)| plan.seed);
    walk(plan(varied, seed, labels(matches)?), matches, true)
}

fn walk(mut planned: Planned, matches: &ArgMatches, is_new: bool) -> Outcome {
    let is_built = planned.experiment.data == DataPolicy::Rebuild
        || planned.experiment.nesting.rebuilds.is_some();
    if is_built && matches.get_flag("no_build") {
        let why = "--no-build: data that are built again (--data rebuild, --repeat-rebuild) must \
                   be built: leave one of them out";
        return Err(Error::Usage(why.to_owned()));
    }
    // One password is asked for once.
    let mut known: Vec<(model::Target, model::Target)> = Vec::new();
    for plan in &mut planned.plans {
        let before = plan.target.clone();
        match known.iter().find(|(target, _)| *target == before) {
            Some((_, with_password)) => plan.target = with_password.clone(),
            None => {
                password::give(&mut plan.target, matches)?;
                known.push((before, plan.target.clone()));
            }
        }
    }
    let options = options(matches)?;
    let stop = super::stop_on_signals();
    let mut live = Live::new(matches.get_flag("quiet")).telling(Metrics::begin(matches)?);
    live.note(&forecast(&planned));
    let result = match is_new {
        true => run_experiment(planned, &options, &stop, &mut live),
        false => resume(planned, &options, &stop, &mut live),
    };
    live.end();
    let ExperimentResult { report, is_good, is_interrupted } = result?;
    let required = required(&report, matches)?;
    told(&report, matches, &required)?;
    live.linger(&stop);
    Ok(match (is_interrupted, is_good && required.is_met()) {
        (true, _) => {
            super::say(&format!(
                "interrupted; go on with: dbdyno experiments resume {}",
                report.id
            ));
            INTERRUPTED
        }
        (false, true) => DONE,
        (false, false) => FAILED,
    })
}

/// How an experiment is done, as the command line says.
pub(crate) fn options(matches: &ArgMatches) -> Result<ExperimentOptions, Error> {
    let checks = matches.get_one::<String>("check").map(String::as_str);
    Ok(ExperimentOptions {
        store: flags::store_to_write(matches)?,
        check_before: matches!(checks, Some("both" | "before")),
        check_after: matches!(checks, Some("both" | "after")),
        build: !matches.get_flag("no_build"),
        load: BuildOptions { method: flags::load_method(matches), ..BuildOptions::default() },
    })
}

/// Refuses an experiment whose trials are not kept.
pub(crate) fn is_kept(matches: &ArgMatches) -> Result<(), Error> {
    match matches.get_flag("no_store") {
        true => Err(Error::Usage(
            "--no-store: the trials of an experiment are kept; name another file with --store"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

fn told(report: &ExperimentReport, matches: &ArgMatches, required: &RequiredResults) -> Outcome {
    match flags::is_json(matches) {
        true => print(&required.json(report)),
        false => {
            print_document(&experiment(report, &[]), &Style::default(), matches)?;
            print(&required.text(matches))
        }
    }
}

/// Holds the limits that are asked for against each point.
fn required(report: &ExperimentReport, matches: &ArgMatches) -> Result<RequiredResults, Error> {
    let mut results = RequiredResults::default();
    let asked = required::asked(matches)?;
    if asked.is_empty() {
        return Ok(results);
    }
    let store = store(matches)?;
    let experiment = store.find_experiment(&report.id).map_err(said)?;
    let figures: Vec<&str> = asked.iter().map(|limit| limit.figure.as_str()).collect();
    for (limit, found) in asked.iter().zip(points_by(&store, &experiment, &figures)?) {
        match found {
            Ok(report) => results.add_points(limit, &report),
            Err(why) => results.add_lost(why),
        }
    }
    Ok(results)
}

fn found(store: &Store, matches: &ArgMatches) -> Result<Experiment, Error> {
    let name = matches.get_one::<String>("id").expect("clap requires it");
    store.find_experiment(name).map_err(said)
}

/// Which experiments are asked for.
fn filter(matches: &ArgMatches) -> Result<ExperimentFilter, Error> {
    let mut filter = ExperimentFilter::default();
    if let Some(text) = matches.get_one::<String>("where") {
        filter = filter.that(text, app::unix_ms()).map_err(bad("--where"))?;
    }
    if let Some(text) = matches.get_one::<String>("sort") {
        filter = filter.by(text).map_err(bad("--sort"))?;
    }
    Ok(filter)
}

fn list(matches: &ArgMatches, filter: &ExperimentFilter) -> Outcome {
    let store = store(matches)?;
    if flags::is_json(matches) {
        return print(&format!("{:#}\n", experiments_json(&store, filter)?));
    }
    let all = experiment_lines(&store, filter)?;
    print(&match flags::output_of(matches) {
        "csv" => experiment_list_csv(&all),
        "markdown" => experiment_list_markdown(&all),
        _ => experiment_list(&all),
    })
}

fn show(matches: &ArgMatches) -> Outcome {
    let store = store(matches)?;
    let experiment = found(&store, matches)?;
    if matches.get_flag("plan") {
        return match varied_to_toml(&experiment) {
            Some(plan) => print(&plan),
            None => Err(Error::Usage(format!(
                "no plan with axes makes {} again: it is a search, has commands, or its points \
                 differ by more than their axes; 'dbdyno runs show RUN --plan' has that of a trial",
                experiment.id
            ))),
        };
    }
    if experiment.seek.is_some() {
        return seek::told(&app::seek::report(&store, &experiment)?, matches);
    }
    let figure = matches.get_one::<String>("figure").map(String::as_str);
    let report = report_by(&store, &experiment, figure)?;
    let required = required(&report, matches)?;
    told(&report, matches, &required)?;
    Ok(if required.is_met() { DONE } else { FAILED })
}

fn go_on(matches: &ArgMatches) -> Outcome {
    let store = store(matches)?;
    let experiment = found(&store, matches)?;
    let named = matches.get_one::<String>("plan").map(|path| plan_from::read_file(path));
    let named = named.transpose()?;
    if experiment.seek.is_some() {
        return seek::resume(store.path(), experiment, named.as_ref(), matches);
    }
    let planned = planned(store.path(), experiment, named.as_ref(), &own_target)?;
    walk(planned, matches, false)
}

fn remove(matches: &ArgMatches) -> Outcome {
    let store = store(matches)?;
    let experiment = found(&store, matches)?;
    store.remove_experiment(&experiment).map_err(said)?;
    print(&format!("removed {}; its runs are kept\n", experiment.id))
}
