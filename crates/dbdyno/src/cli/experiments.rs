//! `dbdyno experiments`, and `dbdyno run` for an experiment: with varied parameters or repeats.

use app::Error;
use app::build::LoadMethod;
use app::dry_run::Intended;
use app::experiment::{
    AskedTables, Planned, forecast, matrices, plan, planned, points_by, report_by, resume,
    run as run_experiment, too_few_repeats,
};
use app::report_source::ExperimentSource;
use app::watcher::Watcher;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::numbers::in_percent;
use model::{Choice, DataPolicy, Direction, Experiment, Status, Walk, numbers};
use plan::{REPEATS_MOST, Varied, varied_to_toml};
use render::document::Validity;
use render::list::short_id;
use render::terminal::{LIST_WIDTH, PAGE_WIDTH};
use render::{Document, as_json, experiment_list, for_shell};
use store::{ExperimentFilter, Store};
use study::comparison::MIN_EFFECT;
use study::{ComparisonReport, ExperimentReport};

use super::flags::Output;
use super::live::Live;
use super::metrics;
use super::own_folder::own_target;
use super::required::RequiredResults;
use super::runs::full_flag;
use super::signals::stop_on_signals;
use super::stored::{asked, bad, label_flag, labels, said, store};
use super::trial_options::{exit_code, is_kept, options};
use super::{
    Outcome, draft_from_args, dry_run, figure_names, flags, hosts, password, print_document,
    required, seek, server_restart, tune,
};
use crate::lists::{experiment_lines, experiments_json};
use crate::shell::Shell;

pub(crate) fn command() -> Command {
    let id = || {
        Arg::new("id").required(true).value_name("ID").help(
            "An experiment's id, the beginning or end of one, its name, or 'last' (the newest)",
        )
    };
    let resume = Command::new("resume")
        .about("Runs an experiment's remaining trials")
        .arg(id())
        .arg(Arg::new("plan").long("plan").value_name("PLAN.toml").help(
            "Plan file of the experiment; required if it has commands, which are never \
                       taken from the store",
        ))
        .arg(
            label_flag()
                .help("Label the remaining trials (kernel=6.1), in place of the plan's label"),
        )
        .arg(flags::checks())
        .arg(flags::no_build())
        .arg(flags::load_method_of(LoadMethod::NAMES))
        .args(server_restart::flags())
        .args(hosts::flags())
        .args(metrics::flags())
        .args(required::flags())
        .arg(flags::quiet("No progress, and of the report only the result or the limits"));
    Command::new("experiments")
        .about("Lists, shows, resumes and removes experiments")
        .subcommand(list_command())
        .subcommand(
            Command::new("show")
                .about("Shows an experiment's results")
                .arg(id())
                .arg(
                    Arg::new("plan")
                        .long("plan")
                        .action(ArgAction::SetTrue)
                        .help("Only the plan, as a file that 'dbdyno run' repeats"),
                )
                .arg(
                    Arg::new("figure").long("figure").value_name("NAME").help(
                        "Figure to judge points by: tps, p99, reads, new_order.p99 or any other",
                    ),
                )
                .arg(
                    full_flag("The full report: all sections, without a limit of lines")
                        .conflicts_with("plan"),
                )
                .args(table_flags().map(|flag| flag.conflicts_with_all(["plan", "require"])))
                .args(required::flags().map(|flag| flag.conflicts_with("plan"))),
        )
        .subcommand(password::add(resume))
        .subcommand(Command::new("rm").about("Removes an experiment; its runs are kept").arg(id()))
}

/// Creates the flags that print the points of an experiment (combinations of varied values) as a
/// table of one or two varied parameters.
pub(super) fn table_flags() -> [Arg; 3] {
    let axis = |name: &'static str, help| Arg::new(name).long(name).value_name("AXIS").help(help);
    [
        axis("rows", "Show the figure as a table with this axis as rows"),
        axis("columns", "Axis of the columns [default: the other one of two]"),
        Arg::new("relative_to")
            .long("relative-to")
            .value_name("VALUE")
            .help("Show cells as ratios to the cells of this column (or row), with intervals"),
    ]
}

pub(super) fn asked_tables(matches: &ArgMatches) -> AskedTables<'_> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let [rows, columns, relative_to] = ["rows", "columns", "relative_to"].map(text);
    AskedTables { rows, columns, relative_to }
}

fn list_command() -> Command {
    Command::new("list")
        .about("Lists experiments, newest first")
        .after_help(
            "Columns: id, started, status, name, axis, workload, \
             trials, done. Operators: = != < <= > >= and ~ (contains); 'and', 'or', 'not' and \
             brackets.",
        )
        .args(asked(
            "Condition, such as 'workload=tpcc and axis=clients'",
            "Columns to sort by, such as name; -done is descending",
        ))
}

pub(crate) fn experiments(matches: &ArgMatches, shell: &Shell) -> Outcome {
    match matches.subcommand() {
        Some(("show", sub)) => show(sub, shell),
        Some(("resume", sub)) => go_on(sub, shell),
        Some(("rm", sub)) => remove(sub, shell),
        Some((_, sub)) => list(sub, &filter(sub)?, shell),
        None => list(matches, &ExperimentFilter::default(), shell),
    }
}

/// Returns true if the subcommand prints a document, which all output formats support: the list,
/// and `show` without `--plan`.
pub(crate) fn is_document(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        None | Some(("list", _)) => true,
        Some(("show", show)) => !show.get_flag("plan"),
        Some(_) => false,
    }
}

pub(crate) fn run(varied: Varied, matches: &ArgMatches, shell: &Shell) -> Outcome {
    is_kept(matches)?;
    let required = required::asked(matches)?;
    let check = |plan| figure_names::check("--require", &required.limits, plan);
    varied.points.iter().try_for_each(|(_, plan)| check(plan))?;
    let seed = varied.points.first().map_or(1, |(_, plan)| plan.seed);
    let planned = plan(varied, seed, labels(matches)?)?;
    if dry_run::is_asked(matches) {
        may_build(&planned, matches)?;
        return dry_run::print(&Intended::Experiment(&planned), required.words(), matches, shell);
    }
    walk(planned, matches, true, shell)
}

/// Fails if an experiment needs to build data and `--no-build` is given.
fn may_build(planned: &Planned, matches: &ArgMatches) -> Result<(), Error> {
    let is_built = planned.experiment.data == DataPolicy::Rebuild
        || planned.experiment.nesting.rebuilds.is_some();
    if is_built && matches.get_flag("no_build") {
        let why = "--no-build: data that are built again (--data rebuild, --repeat-rebuild) must \
                   be built: drop one of them";
        return Err(Error::Usage(why.to_owned()));
    }
    Ok(())
}

fn walk(mut planned: Planned, matches: &ArgMatches, is_new: bool, shell: &Shell) -> Outcome {
    may_build(&planned, matches)?;
    // Ask for each password once.
    let mut known: Vec<(model::Target, model::Target)> = Vec::new();
    for plan in &mut planned.plans {
        let before = plan.target.clone();
        match known.iter().find(|(target, _)| *target == before) {
            Some((_, with_password)) => plan.target = with_password.clone(),
            None => {
                password::give(&mut plan.target, matches, shell)?;
                known.push((before, plan.target.clone()));
            }
        }
    }
    let options = options(matches, shell)?;
    let stop = stop_on_signals(shell);
    let mut live = Live::with_metrics(matches, shell)?;
    if is_new {
        live.note(&forecast(&planned));
        too_few_repeats(&planned).iter().for_each(|words| live.note(words));
    }
    let result = match is_new {
        true => run_experiment(planned, &options, &stop, &mut live),
        false => resume(planned, &options, &stop, &mut live),
    };
    live.end();
    let result = result?;
    let report = &result.report;
    let required = required(report, matches, shell)?;
    if required.is_asked() {
        let store = store(matches, shell)?;
        let judged = required.judged();
        let put = store.put_experiment_limits(&report.id, required::OPTION, &judged);
        required::tell_lost(put.map_err(said), shell);
    }
    print_report(report, matches, &required, shell)?;
    live.linger(&stop);
    let code = exit_code(&result, &report.id, required.exit_code(), shell);
    required.end(code, matches, shell);
    Ok(code)
}

fn print_report(
    report: &ExperimentReport,
    matches: &ArgMatches,
    required: &RequiredResults,
    shell: &Shell,
) -> Outcome {
    let store = store(matches, shell)?;
    let of_store = store.find_experiment(&report.id).map_err(said)?;
    let source = ExperimentSource::read(&store, &of_store, report.clone())?;
    match flags::is_json(matches) {
        true => {
            required.print(matches, shell)?;
            shell.print(&required.json(&source.json()))
        }
        false => {
            let mut page = source.document();
            let verdict = || Document {
                verdicts: page.verdicts.iter().take(1).cloned().collect(),
                validity: page.validity.clone().and_then(Validity::if_invalid),
                ..Document::default()
            };
            if let Some(printed) = required.print_if_quiet(verdict, matches, shell) {
                return printed;
            }
            let is_full = matches.try_get_one("full").ok().flatten().copied().unwrap_or(false);
            let is_short = flags::output_of(matches) == Output::Text && !is_full;
            if is_short {
                shorten(&mut page, &source);
            }
            required.put_before(&mut page, matches, shell)?;
            if is_short {
                render::fit_screen(&mut page);
            }
            print_document(&page, PAGE_WIDTH, matches, shell)
        }
    }
}

/// Sections of an experiment's page that its first page leaves out.
const LEFT_OUT: [&str; 6] =
    ["executions", "ran", "no-law", "median_why", "median_errors", "median_checks"];

/// Shortens the page of an experiment for a terminal: leaves out what pages of single runs show,
/// and suggests commands if the experiment is complete.
fn shorten(page: &mut Document, source: &ExperimentSource) {
    let report = &source.report;
    page.sections.retain(|section| !LEFT_OUT.contains(&section.id));
    let has_ended = report.status.is_none_or(|status| status == Status::Completed);
    if render::is_unfinished(report) || !has_ended {
        return;
    }
    page.repeat = Some(render::next(&next_commands(source)));
}

/// Returns the commands that an experiment's page suggests, each with its purpose.
fn next_commands(source: &ExperimentSource) -> Vec<(String, String)> {
    let report = &source.report;
    let id = short_id(&report.id);
    let by = match report.axes.as_slice() {
        [first, _, ..] => format!(" --by {}", for_shell(model::short_axis(&first.name))),
        _ => String::new(),
    };
    let sides = (format!("dbdyno compare {id}{by}"), "side by side");
    // The page of a comparison has the ratios, too.
    let by_axis = match (&source.sides, report.axes.as_slice()) {
        (Some(_), [axis]) => format!(" --by {}", for_shell(model::short_axis(&axis.name))),
        _ => String::new(),
    };
    let has_times = report.points.iter().any(|point| !point.executions.is_empty());
    let times = (format!("dbdyno experiments show {id} --full"), "time of each transaction");
    let times = has_times.then_some(times);
    let others = [
        (format!("dbdyno report {id}{by_axis} -o experiment.html"), "charts"),
        (format!("dbdyno runs list --where experiment={id}"), "each trial"),
    ];
    // Where no run of a side counts, there is nothing to compare.
    let has_failed = report.points.iter().any(|point| point.why_none_counts.is_some());
    let sides = (!report.axes.is_empty() && !has_failed).then_some(sides);
    let decided = source.sides.as_ref().filter(|all| sides.is_some() && !render::is_open(all));
    let gate = decided.filter(|all| has_runs_of_a_gate(all)).map(|all| {
        let command = format!("dbdyno compare {id}{by} --fail-if '{}'", limit_on_losses(all));
        (command, "a gate")
    });
    let open = source.sides.as_ref().filter(|sides| render::is_open(sides));
    let open = open.filter(|_| report.plan.is_some());
    let more = open.map(|sides| until_decided(id, sides, render::repeat_s(report, &source.trials)));
    let rest = sides
        .into_iter()
        .chain(gate)
        .chain(times)
        .chain(others)
        .map(|(command, why)| (command, why.to_owned()));
    more.into_iter().chain(rest).collect()
}

/// Returns the command that repeats an experiment until the comparison of its varied values is
/// decided, with the command's purpose. `repeat_s` is the least time of one repeat in seconds, if
/// known.
pub(super) fn until_decided(
    id: &str,
    sides: &ComparisonReport,
    repeat_s: Option<f64>,
) -> (String, String) {
    let command = format!(
        "dbdyno experiments show {} --plan > plan.toml && dbdyno run plan.toml {}",
        for_shell(id),
        repeat_until_decided(sides)
    );
    (command, until_decided_words(sides, repeat_s))
}

/// Runs a side that a gate should have: from six repeats on, a limit is broken by runs in pairs, as
/// it is passed.
const RUNS_OF_A_GATE: u64 = 6;

/// Returns a usual limit on a loss in the primary figure of a comparison, such as `tps<-5%`.
pub(super) fn limit_on_losses(report: &ComparisonReport) -> String {
    match report.better == Direction::Lower {
        true => format!("{}>+5%", report.primary),
        false => format!("{}<-5%", report.primary),
    }
}

/// Returns true if every side has as many runs as a gate should have.
pub(super) fn has_runs_of_a_gate(report: &ComparisonReport) -> bool {
    let points = report.pairs.iter().flat_map(|pair| &pair.points);
    let mut figures = points.flat_map(|point| [point.primary.baseline, point.primary.side]);
    figures.all(|figure| figure.is_none_or(|figure| figure.count >= RUNS_OF_A_GATE))
}

/// Why a gate's experiment is repeated with a fixed number of repeats.
pub(super) const FOR_GATE: &str = "again, with more repeats: a limit is judged by a fixed number";

/// Returns the command that repeats an experiment with more repeats, for a limit that is undecided,
/// with the command's purpose.
pub(super) fn more_repeats(id: &str, sides: &ComparisonReport) -> (String, String) {
    let command = format!(
        "dbdyno experiments show {} --plan > plan.toml && dbdyno run plan.toml {}",
        for_shell(id),
        repeat_for_gate(sides)
    );
    (command, FOR_GATE.to_owned())
}

/// Returns the option for twice as many repeats as the comparison has, and for at least as many as
/// are compared in pairs.
pub(super) fn repeat_for_gate(sides: &ComparisonReport) -> String {
    let most = sides.sides.iter().map(|side| side.runs.len() as u32).max().unwrap_or(0);
    let points = sides.pairs.first().map_or(1, |pair| pair.points.len().max(1) as u32);
    format!("--repeat {}", REPEATS_IN_PAIRS.max(2 * most / points))
}

/// Largest difference, as a fraction, that anybody would repeat runs to find. If even the largest
/// number of repeats seems to detect only larger ones, too few runs were made to know the noise.
const EFFECT_LOOKED_FOR_MOST: f64 = 0.1;

/// Number of repeats that is proposed when too few runs were made to know the noise: from 6 on,
/// those of a repeat are compared in pairs.
const REPEATS_IN_PAIRS: u32 = 8;

/// Returns the option `--repeat until=decided`, which repeats an experiment until its comparison
/// has a verdict, with the smallest effect that matters unless it is the default.
pub(super) fn repeat_until_decided(sides: &ComparisonReport) -> String {
    let effect = effect_within_reach(sides);
    if effect > EFFECT_LOOKED_FOR_MOST {
        return format!("--repeat {REPEATS_IN_PAIRS}");
    }
    let effect = match effect == MIN_EFFECT {
        true => String::new(),
        false => format!(",min_effect={}%", in_percent(effect)),
    };
    format!("--repeat until=decided{effect}")
}

/// Returns the smallest difference, as a fraction, that `--repeat until=decided` can look for: the
/// comparison's `min_effect` or, if even the largest number of repeats would not detect that, the
/// next larger round value that they detect.
fn effect_within_reach(sides: &ComparisonReport) -> f64 {
    const ROUND: [f64; 7] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
    let detected = render::detected_by(sides, REPEATS_MOST);
    match detected > sides.min_effect {
        true => ROUND.into_iter().find(|round| *round >= detected).unwrap_or(sides.min_effect),
        false => sides.min_effect,
    }
}

/// Returns the purpose of a command with `--repeat until=decided`, as text for the user. Names the
/// difference that can be detected if it is larger than the comparison's `min_effect`. `repeat_s`
/// is the least time of one repeat in seconds, if known.
pub(super) fn until_decided_words(sides: &ComparisonReport, repeat_s: Option<f64>) -> String {
    let takes = repeat_s.map(|each_s| format!(" of {} or more", numbers::seconds(each_s)));
    let takes = takes.unwrap_or_default();
    let most = format!("at most {REPEATS_MOST} repeats{takes}");
    match effect_within_reach(sides) {
        effect if effect == sides.min_effect => format!("again, until it is decided ({most})"),
        effect if effect > EFFECT_LOOKED_FOR_MOST => {
            format!("again, with {REPEATS_IN_PAIRS} repeats{takes}, which are compared in pairs")
        }
        effect => format!(
            "again, until a difference of {} % is decided ({most}); for {} % it takes more",
            in_percent(effect),
            in_percent(sides.min_effect)
        ),
    }
}

/// Tests the limits of `--require` at each point (combination of varied values) of an experiment.
fn required(
    report: &ExperimentReport,
    matches: &ArgMatches,
    shell: &Shell,
) -> Result<RequiredResults, Error> {
    let asked = required::asked(matches)?;
    let mut results = RequiredResults::from_requirements(&asked);
    let asked = asked.limits;
    if asked.is_empty() {
        return Ok(results);
    }
    let store = store(matches, shell)?;
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

/// Parses `--where` and `--sort` of the list of experiments.
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

fn list(matches: &ArgMatches, filter: &ExperimentFilter, shell: &Shell) -> Outcome {
    let store = store(matches, shell)?;
    if flags::is_json(matches) {
        return shell.print(&format!("{:#}\n", experiments_json(&store, filter)?));
    }
    let all = experiment_lines(&store, filter)?;
    print_document(&experiment_list(&all), LIST_WIDTH, matches, shell)
}

fn show(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = store(matches, shell)?;
    let experiment = found(&store, matches)?;
    if matches.get_flag("plan") {
        return match varied_to_toml(&experiment) {
            Some(plan) => shell.print(&plan),
            None => Err(Error::Usage(format!(
                "no plan can repeat {}: it has commands, or its points differ in more \
                 than the varied values; 'dbdyno runs show RUN --plan' prints the plan of one run",
                experiment.id
            ))),
        };
    }
    if !experiment.walk.is_grid() && matches.contains_id("require") {
        let why = "--require: a search or a tuner has limits of its own, which its page shows";
        return Err(Error::Usage(why.to_owned()));
    }
    match experiment.walk {
        Walk::Grid => {}
        Walk::Seek(_) => {
            return seek::print_report(&app::seek::report(&store, &experiment)?, matches, shell);
        }
        Walk::Tune(_) => {
            return tune::print_report(&app::tune::report(&store, &experiment)?, matches, shell);
        }
    }
    let figure = matches.get_one::<String>("figure").map(String::as_str);
    let asked = asked_tables(matches);
    if asked.is_any() {
        if matches.contains_id("require") {
            let why = "--require: tables have no room for limits: leave out --rows and --columns";
            return Err(Error::Usage(why.to_owned()));
        }
        let all = matrices(&store, &experiment, figure, asked)?;
        return match flags::is_json(matches) {
            true => shell.print(&as_json(&all)),
            false => print_document(&render::matrices(&all), PAGE_WIDTH, matches, shell),
        };
    }
    let report = report_by(&store, &experiment, figure)?;
    let required = required(&report, matches, shell)?.all_known()?;
    print_report(&report, matches, &required, shell)?;
    required.end(required.exit_code(), matches, shell);
    Ok(required.exit_code())
}

fn go_on(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = store(matches, shell)?;
    let experiment = found(&store, matches)?;
    let named = matches.get_one::<String>("plan").map(|path| draft_from_args::read_file(path));
    let named = named.transpose()?;
    let experiment = relabelled(experiment, labels(matches)?);
    match experiment.walk {
        Walk::Grid => {}
        Walk::Seek(_) => {
            return seek::resume(store.path(), experiment, named.as_ref(), matches, shell);
        }
        Walk::Tune(_) => {
            return tune::resume(store.path(), experiment, named.as_ref(), matches, shell);
        }
    }
    let own_target = |workload: &str| own_target(workload, shell);
    let planned = planned(store.path(), experiment, named.as_ref(), &own_target)?;
    walk(planned, matches, false, shell)
}

/// Sets labels on the trials of an experiment that are still to run, in place of labels with the
/// same keys.
fn relabelled(mut experiment: Experiment, labels: Vec<(String, String)>) -> Experiment {
    for (key, value) in labels {
        match experiment.labels.iter_mut().find(|(known, _)| *known == key) {
            Some(known) => known.1 = value,
            None => experiment.labels.push((key, value)),
        }
    }
    experiment
}

fn remove(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = store(matches, shell)?;
    let experiment = found(&store, matches)?;
    store.remove_experiment(&experiment).map_err(said)?;
    shell.print(&format!("removed {}; its runs are kept\n", experiment.id))
}
