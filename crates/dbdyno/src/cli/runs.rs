//! `dbdyno runs`: lists, shows, labels and removes stored runs. Not here: export to other formats
//! (`export`).

use analysis::report::{Options, Report};
use app::Error;
use app::stored_report::{identity_of, stored_report, stored_tally};
use app::trials::{FIGURES, check_names};
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::{NS_PER_S, Placement, RunId, Severity, Status, numbers};
use render::document::{Block, Section};
use render::list::folded_run_list;
use render::terminal::{LIST_WIDTH, PAGE_WIDTH, is_blank};
use render::{Document, Table, run_list, run_tables};
use serde_json::{Map, Value, json};
use store::{Filter, Query, RunRow, Sort, Store};

use super::flags::Output;
#[cfg(feature = "pages")]
use super::push;
use super::required::RequiredResults;
use super::stored::{all_found, asked, bad, experiment_of_last, id, key_value, said, store};
use super::{DONE, Outcome, export, flags, print_document, required};
use crate::lists::run_list_json;
use crate::shell::Shell;

/// Maximum entries of a list of runs as text, unless `--limit` is given. Other formats list all.
const LISTED: usize = 20;

/// Flags of `runs show` that print parts of a run as tables, with their help, in the order of the
/// output.
const PARTS: [(&str, &str); 6] = [
    ("config", "Only the configuration: the plan with all defaults filled in"),
    ("settings", "Only the server's settings"),
    ("timing", "Only the timing by transaction type: calls, min, avg, max, total, percentiles"),
    ("per_client", "Only the timing by client (with --output json: added to the report)"),
    ("counter", "Only counts, rates and times per interval (--every)"),
    ("figures", "Only the figures of the run, with the names that --figure and --fail-if accept"),
];

pub(crate) fn command() -> Command {
    let command = Command::new("runs")
        .about("Lists, shows, exports, imports, labels and removes stored runs")
        .subcommand(list_command())
        .subcommand(show_command())
        .subcommand(export::command())
        .subcommand(export::import_command())
        .subcommand(
            Command::new("rm")
                .about("Removes runs")
                .arg(id().num_args(1..).action(ArgAction::Append)),
        )
        .subcommand(
            Command::new("label")
                .about("Sets, removes or lists the labels of a run")
                .arg(id())
                .arg(
                    Arg::new("labels")
                        .value_name("KEY=VALUE")
                        .num_args(0..)
                        .help("Label to set; KEY= removes it, no label lists those of the run"),
                ),
        );
    #[cfg(feature = "pages")]
    let command = command.subcommand(push::command());
    command
}

fn list_command() -> Command {
    Command::new("list")
        .about("Lists runs, newest first")
        .after_help(
            "Columns: id, started, status, name, workload, target, \
             database, clients, duration, tps, primary, nopm, p99, validity, finding, dbdyno, \
             experiment, label.KEY, and every figure of a run by name (dbdyno list figures), \
             such as reads>1000 or new_order.p99<10ms. Operators: = != < <= > >= and ~ \
             (contains); 'and', 'or', 'not' and brackets.",
        )
        .args(asked(
            "Condition, such as 'workload=tpcc and p99<20ms'",
            "Columns to sort by, such as tps; -tps is descending",
        ))
        .arg(
            Arg::new("workload")
                .long("workload")
                .value_name("NAME")
                .help("Only runs of this workload"),
        )
        .arg(
            Arg::new("status")
                .long("status")
                .value_name("STATUS")
                .value_parser(["running", "completed", "interrupted", "failed"])
                .help("Only runs with this status"),
        )
        .arg(
            Arg::new("label")
                .long("label")
                .value_name("KEY[=VALUE]")
                .help("Only runs with this label"),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("N")
                .help("At most N runs; 0 lists all [default: 20 as text, otherwise all]"),
        )
        .arg(Arg::new("trials").long("trials").action(ArgAction::SetTrue).help(
            "A line for each trial, not for each experiment [default: with --where or \
                     --sort, and where the output is not text]",
        ))
}

fn show_command() -> Command {
    let mut command =
        Command::new("show").about("Shows a run's report, or parts of it").arg(id()).arg(
            Arg::new("plan")
                .long("plan")
                .action(ArgAction::SetTrue)
                .help("Only the plan, as a file that 'dbdyno run' repeats"),
        );
    for (name, help) in PARTS {
        let flag = Arg::new(name).long(name.replace('_', "-")).action(ArgAction::SetTrue);
        command = command.arg(flag.help(help).help_heading("Parts, as tables"));
    }
    command = command.arg(full_flag(FULL)).arg(section_flag(render::RUN_SECTIONS));
    command.args(required::flags().map(|flag| flag.conflicts_with("plan"))).arg(
        Arg::new("every")
            .long("every")
            .value_name("DURATION")
            .default_value("1s")
            .help_heading("Parts, as tables")
            .help("Interval of --counter, in whole seconds"),
    )
}

pub(crate) fn runs(matches: &ArgMatches, shell: &Shell) -> Outcome {
    match matches.subcommand() {
        Some(("show", sub)) => show(sub, shell),
        Some(("export", sub)) => export::export(sub, shell),
        Some(("import", sub)) => export::import(sub, shell),
        #[cfg(feature = "pages")]
        Some(("push", sub)) => push::push(sub, shell),
        Some(("rm", sub)) => remove(sub, shell),
        Some(("label", sub)) => label(sub, shell),
        Some((_, sub)) => list(sub, shell),
        None => list_filtered(matches, Filter::default(), None, true, shell),
    }
}

/// Returns true if the arguments make the command print a document, so that it supports all output
/// formats: a list, or exactly one part of a run.
pub(crate) fn is_document(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        None | Some(("list", _)) => true,
        Some(("show", show)) => {
            let parts = PARTS.iter().filter(|(name, _)| show.get_flag(name));
            !show.get_flag("plan") && parts.count() == 1
        }
        Some(_) => false,
    }
}

/// Returns true if the command is `show`, for the page of a run or for parts of it as tables.
pub(crate) fn is_page(matches: &ArgMatches) -> bool {
    matches.subcommand_matches("show").is_some_and(|show| !show.get_flag("plan"))
}

/// Returns true if the command line is `dbdyno runs show`, which can print single parts of a run.
pub(crate) fn has_parts(matches: &ArgMatches) -> bool {
    let runs = matches.subcommand_matches("runs");
    runs.is_some_and(|runs| runs.subcommand_name() == Some("show"))
}

fn found(store: &Store, matches: &ArgMatches) -> Result<RunId, Error> {
    let name = matches.get_one::<String>("id").expect("clap requires it");
    store.find(name).map_err(said)
}

fn list(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let limit = text("limit").map(|text| model::parse_count(&text)).transpose();
    let limit = limit.map_err(|bad| Error::Usage(format!("--limit: {bad}")))?;
    let label = text("label").map(|label| match label.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (label, None),
    });
    let now_unix_ms = app::unix_ms();
    let query = text("where").map(|text| Query::parse(&text, now_unix_ms, FIGURES)).transpose();
    let sort = text("sort").map(|text| Sort::parse(&text, FIGURES)).transpose();
    let filter = Filter {
        workload: text("workload"),
        status: text("status").and_then(|name| Status::by_name(&name)),
        label,
        query: query.map_err(bad("--where"))?,
        sort: sort.map_err(bad("--sort"))?.unwrap_or_default(),
        ..Filter::default()
    };
    check_names(&store(matches, shell)?, filter.query.as_ref(), &filter.sort)?;
    let is_plain = text("where").is_none() && text("sort").is_none();
    let is_folded = is_plain && !matches.get_flag("trials");
    list_filtered(matches, filter, limit, is_folded, shell)
}

/// Lists runs: at most `limit`, all if that is 0, and the default number if it is `None`. Prints a
/// note if the default shortens the list. `is_folded` makes one entry of the runs of an experiment.
fn list_filtered(
    matches: &ArgMatches,
    mut filter: Filter,
    limit: Option<u64>,
    is_folded: bool,
    shell: &Shell,
) -> Outcome {
    let is_for_people = flags::output_of(matches) == Output::Text;
    let most = match limit {
        Some(0) => None,
        Some(limit) => Some(usize::try_from(limit).unwrap_or(usize::MAX)),
        None => is_for_people.then_some(LISTED),
    };
    let is_folded = is_folded && is_for_people;
    // One more reveals that there are more; folded experiments have an unknown number of runs.
    filter.limit = most.filter(|_| !is_folded).map(|most| most.saturating_add(1));
    let store = store(matches, shell)?;
    let mut rows = store.list(&filter).map_err(said)?;
    // Only people see it, and every report is read for it.
    let errors_of = |row: &RunRow| match is_for_people && most.is_some() {
        true => identity_of(&store, row).unwrap_or_default().errors,
        false => render::Errors::default(),
    };
    let (mut page, has_more) = if is_folded {
        let (page, is_all) = folded_run_list(&rows, most.unwrap_or(usize::MAX), &errors_of);
        (page, !is_all)
    } else {
        let has_more = most.is_some_and(|most| rows.len() > most);
        rows.truncate(most.unwrap_or(usize::MAX));
        if flags::is_json(matches) {
            return shell.print(&format!("{:#}\n", run_list_json(&rows)));
        }
        (run_list(&rows, &errors_of), has_more)
    };
    if has_more && limit.is_none() {
        let words = format!("only {LISTED} runs are shown: --limit 0 lists all");
        page.section("rest", "", vec![Block::paragraphs([words])]);
    }
    print_document(&page, LIST_WIDTH, matches, shell)
}

fn show(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = store(matches, shell)?;
    let run = found(&store, matches)?;
    if matches.get_flag("plan") {
        return shell.print(&store.plan(&run).map_err(said)?);
    }
    let parts: Vec<&str> =
        PARTS.iter().map(|(name, _)| *name).filter(|name| matches.get_flag(name)).collect();
    let report =
        stored_report(&store, &run, Options { per_client: parts.contains(&"per_client") })?;
    let is_whole = parts.is_empty() || (parts == ["per_client"] && flags::is_json(matches));
    let required = required::of_run(&required::asked(matches)?, &report).all_known()?;
    if is_whole {
        tell_trial(&store, &run, matches, shell)?;
        show_report(&report, matches, &required, RunIn::StoreBefore, shell)?;
    } else {
        required.print(matches, shell)?;
        show_parts(&store, &run, &report, &parts, matches, shell)?;
    }
    required.end(required.exit_code(), matches, shell);
    Ok(required.exit_code())
}

/// Prints of which experiment the run is a trial, if the user named it `last`, since the user may
/// mean the experiment.
fn tell_trial(
    store: &Store,
    run: &RunId,
    matches: &ArgMatches,
    shell: &Shell,
) -> Result<(), Error> {
    if let Some(id) = experiment_of_last(store, run, matches)? {
        shell.say(&format!(
            "this is the last trial of experiment {id}: 'dbdyno experiments show {id}' shows all"
        ));
    }
    Ok(())
}

fn show_parts(
    store: &Store,
    run: &RunId,
    report: &Report,
    parts: &[&str],
    matches: &ArgMatches,
    shell: &Shell,
) -> Outcome {
    let every_s = every_s(matches)?;
    let table = |part: &&str| -> Result<Table, Error> {
        Ok(match *part {
            "config" => run_tables::config(report),
            "settings" => run_tables::settings(report),
            "figures" => run_tables::figures(report),
            "per_client" => run_tables::per_client(report),
            "counter" => run_tables::counter(&stored_tally(store, run)?, every_s),
            _ => run_tables::timing(report),
        })
    };
    let tables: Vec<Table> = parts.iter().map(table).collect::<Result<_, Error>>()?;
    if flags::is_json(matches) {
        let parts = tables.iter().map(|table| (table.name.to_owned(), table.json()));
        let mut object = Map::new();
        object.insert("schema".to_owned(), json!("dbdyno.parts/1"));
        object.insert("run_id".to_owned(), json!(run.0));
        object.extend(parts);
        return shell.print(&format!("{:#}\n", Value::Object(object)));
    }
    print_document(&Document::from(tables), AS_WIDE_AS_NEEDED, matches, shell)
}

/// Columns for tables if there is no terminal: as many as they need, since no column may be left
/// out.
const AS_WIDE_AS_NEEDED: usize = usize::MAX;

/// Parses `--every`, the interval of `--counter`, in whole seconds.
fn every_s(matches: &ArgMatches) -> Result<u32, Error> {
    let text = matches.get_one::<String>("every").expect("it has a default");
    let ns = model::parse_duration(text);
    let ns = ns.map_err(|bad| Error::Usage(format!("--every: {bad}")))?;
    let seconds = u32::try_from(ns / NS_PER_S).unwrap_or(u32::MAX);
    match seconds > 0 && ns % NS_PER_S == 0 {
        true => Ok(seconds),
        false => Err(Error::Usage(format!(
            "--every: '{text}' is not whole seconds: runs are kept second by second"
        ))),
    }
}

fn remove(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = store(matches, shell)?;
    let runs = all_found(&store, matches)?;
    if let [run] = &runs[..] {
        tell_trial(&store, run, matches, shell)?;
    }
    store.remove(&runs).map_err(said)?;
    let shown: String = runs.iter().map(|run| format!("removed {run}\n")).collect();
    shell.print(&shown)
}

fn label(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = store(matches, shell)?;
    let run = found(&store, matches)?;
    tell_trial(&store, &run, matches, shell)?;
    let written = matches.get_many::<String>("labels").into_iter().flatten();
    // Parse all before the first is set, so that an error changes nothing.
    let labels: Vec<(&str, &str)> =
        written.map(|label| key_value(label)).collect::<Result<_, _>>()?;
    for (key, value) in labels {
        match value {
            "" if store.unlabel(&run, key).map_err(said)? => {}
            "" => shell.say(&format!("the run has no label '{key}': nothing was removed")),
            value => store.label(&run, key, value).map_err(said)?,
        }
    }
    let labels = store.labels(&run).map_err(said)?;
    if labels.is_empty() && !matches.contains_id("labels") {
        shell.say("the run has no label: KEY=VALUE after the run sets one");
    }
    let shown: String = labels.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    shell.print(&shown).map(|_| DONE)
}

/// Origin of the run whose report is shown. The suggested commands depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunIn {
    /// Run that an earlier command stored. Its report is read from the store.
    StoreBefore,
    /// Run that this command has just made and stored.
    StoreNow,
    /// Run that is not in the store at all.
    NoStore,
}

pub(crate) const FULL: &str =
    "The full report: intervals, all metrics, clauses of a standard, generator";

pub(crate) fn full_flag(help: &'static str) -> Arg {
    Arg::new("full").long("full").action(ArgAction::SetTrue).help(help)
}

/// Creates the flag `--section`, which accepts these names of sections.
pub(crate) fn section_flag<const N: usize>(sections: [&'static str; N]) -> Arg {
    let help = format!("Only these sections of the full report, such as {}", sections[1]);
    Arg::new("section")
        .long("section")
        .value_name("NAME")
        .value_delimiter(',')
        .action(ArgAction::Append)
        .value_parser(sections)
        .help(help)
}

/// Returns a page with only the sections that `--section` names; `None` without the flag. `whole`
/// builds the full page, from which the sections are taken.
pub(crate) fn of_sections(
    matches: &ArgMatches,
    whole: impl FnOnce() -> Document,
) -> Option<Document> {
    let names = matches.try_get_many::<String>("section").ok().flatten()?;
    let names: Vec<&str> = names.map(String::as_str).collect();
    let mut page = Document { repeat: None, n_answering: 0, scene: Vec::new(), ..whole() };
    page.validity.iter_mut().for_each(|validity| validity.remarks.clear());
    page.sections.retain(|section| names.contains(&section.id));
    let is_shown =
        |name: &&str| page.sections.iter().any(|section| section.id == *name && !is_blank(section));
    let absent: Vec<String> =
        names.iter().filter(|name| !is_shown(name)).map(|name| absent(name)).collect();
    page.sections.push(Section::new("absent", "", vec![Block::paragraphs(absent)]));
    Some(page)
}

/// Returns the sentence that a section of a report has nothing to show, with the reason, such as
/// the option that records its data.
fn absent(section: &str) -> String {
    let why = match section {
        "cpu" => "no CPU profile was recorded (--cpu-profile on)",
        "custom" => "the workload has no custom metrics",
        "disturbances" => "the plan has no disturbances ([[at]])",
        "curves" => "charts are on a page: dbdyno report, or dbdyno web",
        "errors" => "the database reported no errors",
        "figures" => "the section result has them all",
        "gauges" => "no metric changed much",
        "executions" => "the runs execute no fixed sequence of transactions",
        "each_transaction" => "statements and waits were not counted",
        "why" => {
            "the time is split on a server only: an embedded database runs in dbdyno's process, \
             whose functions --cpu-profile on shows"
        }
        _ => "there is nothing to show",
    };
    format!("{section}: {why}.")
}

/// Names the sections of a full page below its headline: those of `names` that have something to
/// show. `alone` is what the user writes to see one of them.
pub(crate) fn naming_sections(mut page: Document, names: &[&str], alone: &str) -> Document {
    let is_named = |section: &&Section| names.contains(&section.id) && !is_blank(section);
    let named = page.sections.iter().filter(is_named).map(|section| section.id);
    let named = named.collect::<Vec<_>>().join(", ");
    if let Some(verdict) = page.verdicts.first_mut() {
        verdict.details.push(format!("Sections: {named}; one alone: {alone}").into());
    }
    page
}

/// Makes the page of a run. It is short if the output is text, unless `--full` or `--section` is
/// given or the run is a build of data.
fn page_of(report: &Report, matches: &ArgMatches, kept: RunIn, shell: &Shell) -> Document {
    let whole = || match kept {
        RunIn::NoStore => render::run_unstored(report),
        RunIn::StoreBefore | RunIn::StoreNow => render::run(report),
    };
    if let Some(page) = of_sections(matches, whole) {
        return page;
    }
    let is_short = flags::output_of(matches) == Output::Text && !report.is_build();
    if !is_short || matches.get_flag("full") {
        if !is_short || kept == RunIn::NoStore {
            return whole();
        }
        let id = render::list::short_id(&report.run_id);
        let alone = format!("dbdyno runs show {id} --section NAME");
        return naming_sections(whole(), &render::RUN_SECTIONS, &alone);
    }
    let with = render::Short {
        is_default: &app::stored_report::is_default,
        is_stored: kept != RunIn::NoStore,
        next: next_commands(report, kept, shell),
    };
    render::run_short(report, &with)
}

/// Duration that is suggested after a run that was too short for confidence intervals.
const LONGER: &str = "1m";
/// The same in seconds.
const LONGER_S: f64 = 60.0;

/// Returns the commands that a run's short page suggests, each with its purpose.
fn next_commands(report: &Report, kept: RunIn, shell: &Shell) -> Vec<(String, String)> {
    let all = "CIs, all metrics, advice";
    let again = repeats_take(report);
    let may_be_longer = report.measured_seconds < LONGER_S && !report.is_sequence();
    let is_short = report.lacks_intervals() && may_be_longer;
    let commands = match kept {
        RunIn::NoStore => vec![
            (shell.again("--full"), all),
            (shell.again("--output json"), "all of it, for programs"),
        ],
        RunIn::StoreNow => vec![
            ("dbdyno runs show last --full".to_owned(), all),
            ("dbdyno web".to_owned(), "charts of all runs"),
            match shell.again_longer(LONGER).filter(|_| is_short) {
                Some(longer) => (longer, "long enough for CIs"),
                None => (shell.again("--repeat 5"), &*again),
            },
        ],
        RunIn::StoreBefore => {
            let id = render::list::short_id(&report.run_id);
            vec![
                (format!("dbdyno runs show {id} --full"), "all"),
                (format!("dbdyno report {id} -o run.html"), "charts"),
                (format!("dbdyno runs show {id} --plan > plan.toml"), "repeat"),
            ]
        }
    };
    // More runs of the same kind would not be valid either.
    let is_invalid = report.findings.iter().any(|finding| finding.severity == Severity::Invalid);
    let n = if is_invalid && kept == RunIn::StoreNow { 2 } else { commands.len() };
    commands.into_iter().take(n).map(|(command, why)| (command, why.to_owned())).collect()
}

/// Returns the purpose of a command that repeats a run five times, with the least time that this
/// takes, which is not known of a run that ended early.
fn repeats_take(report: &Report) -> String {
    if report.status != analysis::report::Status::Completed {
        return "how much do runs differ?".to_owned();
    }
    let five_s = 5.0 * (report.phases.ramp_up_s + report.measured_seconds);
    let clock = match report.placement == Placement::Simulated.name() {
        true => "of virtual time",
        false => "or more",
    };
    format!("how much do runs differ? {} {clock}", numbers::seconds(five_s))
}

/// Prints the report of a run in the requested format, after the results of the `--require` limits.
/// With `--quiet` it prints only these results, or one line about the run if there are no limits.
pub(crate) fn show_report(
    report: &Report,
    matches: &ArgMatches,
    required: &RequiredResults,
    kept: RunIn,
    shell: &Shell,
) -> Outcome {
    if flags::is_json(matches) {
        required.print(matches, shell)?;
        return shell.print(&required.json(report));
    }
    let line = || render::run_in_a_line(report);
    if let Some(printed) = required.print_if_quiet(line, matches, shell) {
        return printed;
    }
    let mut page = page_of(report, matches, kept, shell);
    required.put_before(&mut page, matches, shell)?;
    print_document(&page, PAGE_WIDTH, matches, shell)
}
