//! `dbdyno build`, `check`, `settle` and `drop`: commands for a workload's data, without a load.

use std::time::Duration;

use app::build::{
    Both, BuildOptions, BuildPart, Built, LoadMethod, build_both, checksums_interruptible,
    drop_data as drop_tables, unmarked_tables,
};
use app::check::Answers;
use app::open::{
    Data, OpenTarget, Opened, check_workload, has_all_tables, is_apart_from, open_target,
    resolve_workload_interruptible,
};
use app::run::data_build::{DataBuild, DataBuilt};
use app::script_commands::{
    CLEANUP, CommandDone, PREPARE, build as build_script, clean_up, command_named, hand_host,
    has_tables_to_check,
};
use app::settle::{Incomplete, Settled, StepDone, ToSettle, settling_at};
use app::watcher::Watcher;
use app::{Error, Stop};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::Choice;
use model::{CheckResult, Target};
use plan::managed::is_managed;
use serde_json::{Value, json};
use store::Store;

use super::live::Live;
use super::no_data::no_data;
use super::own_folder::{make_data_folder, target_unnamed, tell_choice};
use super::run::add_parameters;
use super::signals::stop_on_signals;
use super::{
    DONE, FAILED, Outcome, against, confirm, flags, named, password, script_host, script_words,
    stored, target_from, workload_argument,
};
use crate::shell::Shell;

pub(crate) fn commands(words: &[String]) -> Result<Vec<Command>, Error> {
    let shared = |name: &'static str, about: &'static str| -> Result<Command, Error> {
        let command = target_from::add(password::add(Command::new(name)))
            .about(about)
            .arg(workload_argument())
            .arg(
                Arg::new("target")
                    .long("target")
                    .value_name("URL")
                    .help("Database [default: an embedded database file of the workload]"),
            )
            .arg(flags::seed())
            .args(script_words::flags())
            .arg(script_host::flag())
            .arg(flags::quiet("Show no progress"));
        let what = named(words, name);
        let entry = what.as_deref().and_then(|what| plan::workload_named(what).ok());
        // Which options of a script shape its tables is known to the script alone.
        let is_script = entry.is_some_and(|entry| entry.source.is_some());
        let is_wanted = |parameter: &model::Parameter| is_script || parameter.shapes_data;
        add_parameters(command, what.as_deref(), &is_wanted)
    };
    let loaders =
        Arg::new("loaders").long("loaders").value_name("N").default_value("0").help(
            "Parallel sessions for loading, where supported; 0: one per core, but at least 4",
        );
    let settle = Arg::new("settle")
        .long("settle")
        .action(ArgAction::SetTrue)
        .help("Bring the database to rest after the build, as 'dbdyno settle' does");
    let sums = Arg::new("checksums")
        .long("checksums")
        .action(ArgAction::SetTrue)
        .help("Print a checksum of each table; the same seed gives the same checksums");
    let against = Arg::new("against")
        .long("against")
        .value_name("URL")
        .help("Compare the answers of the queries with those of this database too");
    let force = Arg::new("force")
        .long("force")
        .action(ArgAction::SetTrue)
        .help("Also drop tables that dbdyno did not build, after you confirm it");
    let confirm = Arg::new("confirm")
        .long("confirm")
        .value_name("DATABASE")
        .requires("force")
        .help("Name of the database: confirms --force without a question");
    Ok(vec![
        shared("build", "Builds a workload's data; resumes an interrupted build")?
            .arg(loaders)
            .arg(flags::no_store().help("Do not store the build as a run"))
            .arg(stored::label_flag())
            .arg(flags::load_method_of(&["bulk", "insert", "both"]))
            .args(parts())
            .arg(settle)
            .arg(settle_limit()),
        shared("check", "Checks that a workload's data are consistent")?.args([sums, against]),
        shared("settle", "Waits until background work (purge, vacuum, write-back) has ended")?
            .arg(settle_limit()),
        shared("drop", "Drops a workload's tables")?.args([force, confirm]),
    ])
}

/// Returns the flags for a part of the data.
fn parts() -> [Arg; 2] {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    [
        flag("tables-only", "Create the tables alone, to change them before a build fills them"),
        flag("data-only", "Fill your own tables, which are empty; create no table and no index")
            .conflicts_with("tables-only"),
    ]
}

fn part_of(matches: &ArgMatches) -> BuildPart {
    match (matches.get_flag("tables-only"), matches.get_flag("data-only")) {
        (true, _) => BuildPart::Tables,
        (_, true) => BuildPart::Rows,
        _ => BuildPart::All,
    }
}

/// Fails for the reason `why` if only a part of the data is wanted.
fn is_whole(matches: &ArgMatches, why: &str) -> Result<(), Error> {
    match part_of(matches) {
        BuildPart::All => Ok(()),
        _ => Err(Error::Usage(format!("{why}: leave out --tables-only or --data-only"))),
    }
}

fn settle_limit() -> Arg {
    Arg::new("settle_limit")
        .long("settle-limit")
        .value_name("DURATION")
        .default_value("10m")
        .help("Time limit for bringing the database to rest")
}

/// Target and workload that the command line names, both opened.
struct Found {
    target: Target,
    opened: Opened,
    /// The target, opened. Dropping it ends a server that was started for it.
    open_target: OpenTarget,
}

/// Opens the target and the workload that the command line names. Only a build (`is_build`) creates
/// a missing database; every other command refuses a managed server.
fn opened(
    matches: &ArgMatches,
    is_build: bool,
    stop: &Stop,
    live: &mut Live,
    shell: &Shell,
) -> Result<Found, Error> {
    let name = matches.get_one::<String>("workload").expect("clap requires it");
    let entry = workloads::by_name(name)?;
    let mut target = match target_from::given(matches, shell)? {
        Some(target) => target,
        None => {
            let target = target_unnamed(entry.name, shell).map_err(Error::Usage)?;
            make_data_folder(shell).map_err(Error::Failed)?;
            if !flags::is_quiet(matches, shell) {
                tell_choice(entry.name, shell);
            }
            target
        }
    };
    if is_managed(&target) && !is_build {
        let why = "a managed server begins empty and is removed with its command, so there is \
                   nothing to check, to settle or to drop; 'dbdyno run' checks its data before and \
                   after the load, and settles them with --settle";
        return Err(Error::Usage(why.to_owned()));
    }
    is_apart_from(flags::store_path(matches, shell).ok().as_deref(), &target)?;
    if is_build && !flags::is_unstored(matches, shell)? {
        // Fail early if the store cannot be written.
        Store::check(&flags::store_to_write(matches, shell)?).map_err(stored::said)?;
    }
    password::give(&mut target, matches, shell)?;
    let seed = flags::number(matches, "seed")?;
    let parameters = script_words::parameters(matches, entry)?;
    check_workload(&target, entry.name, &parameters, seed).map_err(flags::bad_parameter)?;
    let open_target = open_target(&target, seed, is_build, stop, &mut |text| live.doing(text))?;
    for text in open_target.sentences() {
        live.note(&text);
    }
    let opened = resolve_workload_interruptible(
        &open_target.database,
        &target,
        entry.name,
        &parameters,
        seed,
        stop,
    )?;
    Ok(Found { target, opened, open_target })
}

pub(crate) fn build(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let loaders = flags::number(matches, "loaders")? as usize;
    let seed = flags::number_given(matches, "seed")?;
    let settle_limit = limit_of(matches)?;
    let is_kept = !flags::is_unstored(matches, shell)?;
    let settles = matches.get_flag("settle");
    let is_stored = is_kept || settles;
    let store = is_stored.then(|| flags::store_to_write(matches, shell)).transpose()?;
    let store = store.unwrap_or_default();
    let stop = stop_on_signals(shell);
    let mut live = Live::new(shell, flags::is_quiet(matches, shell));
    let Found { target, opened, mut open_target } = opened(matches, true, &stop, &mut live, shell)?;
    hand_host(&opened, script_host::of_flag(matches, shell).as_ref())?;
    let workload = matches.get_one::<String>("workload").expect("clap requires it");
    let is_both = matches.get_one::<String>("load_method").is_some_and(|method| method == "both");
    if let Some(command) = command_named(&opened, workload, PREPARE)? {
        is_whole(matches, "a script creates its tables and rows itself")?;
        let done = build_script(&opened, &command, loaders, &stop);
        live.end();
        return tell_command(&target, &done?, matches, shell);
    }
    if is_both {
        is_whole(matches, "--load-method both builds all data twice")?;
    }
    let part = part_of(matches);
    if opened.data == Data::Built || (opened.data == Data::Unmarked && part == BuildPart::Rows) {
        has_all_tables(&opened, &target, &stop)?;
    }
    let labels = stored::labels(matches)?;
    let of_method = |method: LoadMethod| DataBuild {
        opened: &opened,
        workload,
        target: &target,
        options: BuildOptions { loaders, method, seed, part },
        store: store.clone(),
        is_kept,
        labels: labels.clone(),
        settle: settles.then_some(settle_limit),
        command: command_of(&target, workload, method, matches),
    };
    if is_both {
        let (mut runs, mut settled) = (Vec::new(), Vec::new());
        let both = build_both(&opened, &stop, &mut |method| {
            let made = of_method(method).make(&mut open_target, &stop, &mut live)?;
            runs.extend(made.run.map(|run| run.0));
            settled.extend(made.settled);
            Ok(made.built)
        });
        live.end();
        return tell_both(&target, &both?, (&runs, &settled), matches, shell);
    }
    let made = of_method(flags::load_method(matches)).make(&mut open_target, &stop, &mut live);
    live.end();
    tell_built(&target, made?, &mut live, matches, shell)
}

/// Prints what a build did.
fn tell_built(
    target: &Target,
    made: DataBuilt,
    live: &mut Live,
    matches: &ArgMatches,
    shell: &Shell,
) -> Outcome {
    let DataBuilt { built, settled, run } = made;
    if flags::is_json(matches) {
        let mut value = built_json(target, &built);
        value["run_id"] = run.map(|run| run.0).into();
        if let Some(settled) = &settled {
            value["settled"] = settled_json(settled);
        }
        shell.print(&format!("{value:#}\n"))?;
    } else {
        let lost = match is_managed(target) {
            true => {
                "; they are deleted with their server: to keep data, build them on a server of \
                 yours (--target)"
            }
            false => "",
        };
        shell.print(&format!("{target}: {}{lost}\n", built.sentence()))?;
        settled.iter().try_for_each(|result| shell.print(&settled_text(result)).map(drop))?;
        run.iter().for_each(|run| live.note(&stored_as(&run.0)));
    }
    Ok(if settled.is_some_and(|result| !result.incomplete.is_empty()) { FAILED } else { DONE })
}

/// Prints what a command of a script did.
fn tell_command(
    target: &Target,
    done: &CommandDone,
    matches: &ArgMatches,
    shell: &Shell,
) -> Outcome {
    let CommandDone { name, threads, seconds, traffic } = done;
    let target = target.to_string();
    let script = matches.get_one::<String>("workload").expect("clap requires it");
    if flags::is_json(matches) {
        let value = json!({
            "target": target,
            "script": script,
            "command": name,
            "sessions": threads,
            "statements": traffic.queries(),
            "rows": traffic.rows,
            "seconds": seconds,
        });
        return shell.print(&format!("{value:#}\n"));
    }
    shell.print(&format!("{target}: {}\n", done.sentence(script)))
}

/// Returns the message that the build of data was stored as a run, with the command that shows it.
fn stored_as(run: &str) -> String {
    format!("stored: dbdyno runs show {}", render::list::short_id(run))
}

/// Returns the command line that repeats a build with the same target, method and given parameters.
fn command_of(target: &Target, workload: &str, method: LoadMethod, matches: &ArgMatches) -> String {
    let target = render::for_shell(&target.to_string());
    let mut words = format!("dbdyno build {workload} --target {target}");
    let parameters = workloads::by_name(workload).map_or(&[][..], |entry| entry.parameters);
    let names = parameters.iter().map(|row| row.name).chain(["seed", "loaders"]);
    let given = flags::given(matches, names);
    let is_written = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    for (name, value) in given.into_iter().filter(|(name, _)| is_written(name)) {
        words += &format!(" --{} {}", name.replace('_', "-"), render::for_shell(value));
    }
    let part = match part_of(matches) {
        BuildPart::All => "",
        BuildPart::Tables => " --tables-only",
        BuildPart::Rows => " --data-only",
    };
    format!("{words} --load-method {}{part}", method.name())
}

fn limit_of(matches: &ArgMatches) -> Result<Duration, Error> {
    let text = matches.get_one::<String>("settle_limit").expect("it has a default");
    match model::parse_duration(text) {
        Ok(ns) if ns > 0 => Ok(Duration::from_nanos(ns)),
        Ok(_) => Err(Error::Usage("--settle-limit: it must be above 0".to_owned())),
        Err(bad) => Err(Error::Usage(format!("--settle-limit: {bad}"))),
    }
}

fn settle_now(task: &ToSettle<'_>, stop: &Stop, live: &mut Live) -> Result<Settled, Error> {
    let settling = settling_at(task)?;
    app::settle::settle(task, &settling, stop, live)
}

pub(crate) fn settle(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let limit = limit_of(matches)?;
    let stop = stop_on_signals(shell);
    let mut live = Live::new(shell, flags::is_quiet(matches, shell));
    let Found { target, opened, open_target } = opened(matches, false, &stop, &mut live, shell)?;
    if matches!(opened.data, Data::Absent | Data::Unfinished) {
        let name = matches.get_one::<String>("workload").expect("clap requires it");
        return Err(no_data(&target, name, opened.data));
    }
    let store = flags::store_to_write(matches, shell)?;
    let task = ToSettle::new(&open_target, &target, &opened, &store, limit);
    let settled = settle_now(&task, &stop, &mut live);
    live.end();
    let settled = settled?;
    if settled.is_interrupted {
        return Err(app::settle::interrupted());
    }
    if flags::is_json(matches) {
        let mut value = settled_json(&settled);
        value["target"] = target.to_string().into();
        shell.print(&format!("{value:#}\n"))?;
    } else {
        shell.print(&format!("{target}: {}", settled_text(&settled)))?;
    }
    Ok(if settled.incomplete.is_empty() { DONE } else { FAILED })
}

fn settled_text(settled: &Settled) -> String {
    let mut text = format!("{}\n", settled.sentence());
    for step in &settled.incomplete {
        text += &format!("not at rest: {}\n", step.sentence());
    }
    text
}

fn settled_json(settled: &Settled) -> Value {
    let step = |step: &StepDone| {
        let level = step
            .level
            .map(|(name, before, after)| json!({"name": name, "before": before, "after": after}));
        json!({"name": step.name, "seconds": step.seconds, "level": level})
    };
    json!({
        "at_rest": settled.is_at_rest(),
        "left": settled.left(),
        "seconds": settled.seconds,
        "commits": settled.commits,
        "written_bytes": settled.written_bytes,
        "steps": settled.steps.iter().map(step).collect::<Vec<_>>(),
        "incomplete": settled.incomplete.iter().map(Incomplete::sentence).collect::<Vec<_>>(),
    })
}

fn built_json(target: &Target, built: &Built) -> Value {
    json!({
        "target": target.to_string(),
        "found": format!("{:?}", built.found).to_lowercase(),
        "rows": built.n_rows,
        "rows_before": built.n_rows_before,
        "seconds": built.seconds,
        "index_seconds": built.index_seconds,
        "analyse_seconds": built.analyse_seconds,
        "method": built.method.name(),
        "loaders": built.loaders,
        "reconnects": built.reconnects,
        "bulk_refused": built.bulk_refused,
    })
}

fn tell_both(
    target: &Target,
    both: &Both,
    (runs, settled): (&[String], &[Settled]),
    matches: &ArgMatches,
    shell: &Shell,
) -> Outcome {
    if flags::is_json(matches) {
        let mut value = json!({
            "target": target.to_string(),
            "insert": built_json(target, &both.insert),
            "bulk": built_json(target, &both.bulk),
            "insert_to_bulk": both.ratio(),
            "insert_to_bulk_load": both.load_ratio(),
            "checksums_equal": both.different.is_empty(),
            "different": both.different,
            "run_ids": runs,
        });
        for (method, settled) in ["insert", "bulk"].iter().zip(settled) {
            value[method]["settled"] = settled_json(settled);
        }
        shell.print(&format!("{value:#}\n"))?;
    } else {
        let (insert, bulk) = (both.insert.sentence(), both.bulk.sentence());
        let sums = match both.different.as_slice() {
            [] => "checksums equal".to_owned(),
            tables => format!("checksums DIFFER in {}", tables.join(", ")),
        };
        let (load, ratio) = (both.load_ratio(), both.ratio());
        shell.print(&format!(
            "{target}:\n  {insert}\n  {bulk}\n  insert takes {ratio:.2} times as long as bulk, \
             and {load:.2} times to load the rows alone (one build each); {sums}\n"
        ))?;
        for (method, settled) in ["insert", "bulk"].iter().zip(settled) {
            shell.print(&format!("  after {method}: {}", settled_text(settled)))?;
        }
        if let [insert, bulk] = runs {
            let short = [insert, bulk].map(|run| render::list::short_id(run));
            shell.say(&format!("stored: dbdyno compare {} {}", short[0], short[1]));
        }
    }
    let is_settled = settled.iter().all(|result| result.incomplete.is_empty());
    Ok(if both.different.is_empty() && is_settled { DONE } else { FAILED })
}

pub(crate) fn check(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let stop = stop_on_signals(shell);
    let mut live = Live::new(shell, flags::is_quiet(matches, shell));
    let Found { target, opened, open_target: _open_target } =
        opened(matches, false, &stop, &mut live, shell)?;
    let name = matches.get_one::<String>("workload").expect("clap requires it");
    let has_checks = !opened.workload.checks(opened.database.dialect()).is_empty();
    match opened.data {
        // Scripts check data that they have built themselves.
        Data::None if has_checks => has_tables_to_check(&opened, &stop)?,
        Data::None => return Err(Error::Usage(format!("{name} has no data to check"))),
        Data::Absent | Data::Unfinished => return Err(no_data(&target, name, opened.data)),
        Data::Unmarked | Data::Built => has_all_tables(&opened, &target, &stop)?,
    }
    let (database, workload) = (&opened.database, &opened.workload);
    let results = app::check::check_interruptible(database, workload, &stop, &mut |title| {
        live.doing(&format!("checking {title}"))
    })?;
    let answers = app::check::answers_interruptible(database, workload, &stop, &mut |title| {
        live.doing(&format!("comparing {title}"))
    })?;
    let (answers, not_compared) = match answers {
        Answers::Compared(answers) => (answers, None),
        Answers::NotCompared(why) => (Vec::new(), Some(why)),
    };
    let against = against::compare(&opened, matches, &stop, &mut live, shell)?;
    let sums = match matches.get_flag("checksums") {
        true => checksums_interruptible(&opened, &stop)?,
        false => Vec::new(),
    };
    live.end();
    let count_failed =
        |all: &[CheckResult]| all.iter().filter(|result| result.n_failed > 0).count();
    let (n_failed, n_wrong) = (count_failed(&results), count_failed(&answers));
    let n_other = count_failed(&against);
    if flags::is_json(matches) {
        let sum = |s: &app::build::Checksum| json!({"table": s.table, "rows": s.n_rows, "checksum": format!("{:016x}", s.sum)});
        let sums: Vec<_> = sums.iter().map(sum).collect();
        let mut value = json!({"target": target.to_string(), "checks": results, "checksums": sums});
        if !answers.is_empty() {
            value["answers"] = json!(answers);
        }
        if let Some(why) = not_compared {
            value["answers_not_compared"] = json!(why);
        }
        if !against.is_empty() {
            value["answers_against"] = json!(against);
        }
        shell.print(&format!("{value:#}\n"))?;
    } else {
        let mut text: String = results.iter().map(check_text).collect();
        for sum in &sums {
            let (table, n_rows) = (&sum.table, model::format_count(sum.n_rows));
            text += &format!("checksum {table:<12} {:016x} {n_rows:>14} rows\n", sum.sum);
        }
        text.extend(answers.iter().map(answer_text));
        text += &format!("{} of {} checks pass\n", results.len() - n_failed, results.len());
        if !answers.is_empty() {
            let n_right = answers.len() - n_wrong;
            text += &format!("{n_right} of {} answers are right\n", answers.len());
        }
        if let Some(why) = not_compared {
            text += &format!("answers not compared: {why}\n");
        }
        text += &against::text(&against);
        shell.print(&text)?;
    }
    Ok(if n_failed + n_wrong + n_other == 0 { DONE } else { FAILED })
}

fn check_text(result: &CheckResult) -> String {
    let CheckResult { id, title, n_failed, examples } = result;
    if *n_failed == 0 {
        return format!("ok      {id:<10} {title}\n");
    }
    let mut text = format!("FAILED  {id:<10} {title}: {n_failed} rows break it\n");
    for example in examples {
        text += &format!("          {example}\n");
    }
    text
}

fn answer_text(result: &CheckResult) -> String {
    let CheckResult { id, title, n_failed, examples } = result;
    match n_failed {
        0 => format!("ok      {id:<10} answer: {title}\n"),
        _ => format!("FAILED  {id:<10} answer: {title}: {}\n", examples.join("; ")),
    }
}

/// Returns the names of a few tables, or the first and the last of many with their number.
fn named_or_counted(tables: &[String]) -> String {
    match tables {
        [first, .., last] if tables.len() > 100 => {
            format!("{} tables, from {first} to {last}", model::format_count(tables.len() as u64))
        }
        _ => tables.join(", "),
    }
}

pub(crate) fn drop_data(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let stop = stop_on_signals(shell);
    let mut live = Live::new(shell, flags::is_quiet(matches, shell));
    let Found { target, opened, open_target: _open_target } =
        opened(matches, false, &stop, &mut live, shell)?;
    let name = matches.get_one::<String>("workload").expect("clap requires it");
    if let Some(command) = command_named(&opened, name, CLEANUP)? {
        hand_host(&opened, script_host::of_flag(matches, shell).as_ref())?;
        let done = clean_up(&opened, &command, &stop);
        live.end();
        return tell_command(&target, &done?, matches, shell);
    }
    if opened.data == Data::None {
        return Err(Error::Usage(format!("{name} has no data to drop")));
    }
    let store = flags::store_path(matches, shell).unwrap_or_default();
    app::run::is_unused(&store, &target)?;
    let is_forced = matches.get_flag("force");
    if is_forced {
        live.doing("counting the rows of tables that dbdyno did not build");
        let tables = unmarked_tables(&opened, &stop)?;
        live.end();
        let named = matches.get_one::<String>("confirm").map(String::as_str);
        confirm::is_to_be_dropped(&target, &tables, named, &stop, shell)?;
    }
    let dropped = drop_tables(&opened, is_forced)?;
    if flags::is_json(matches) {
        let value = json!({"target": target.to_string(), "dropped": dropped});
        return shell.print(&format!("{value:#}\n"));
    }
    shell.print(&match dropped.is_empty() {
        true => format!("{target}: there were no tables of {name}\n"),
        false => format!("{target}: dropped {}\n", named_or_counted(&dropped)),
    })
}
