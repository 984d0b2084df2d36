//! `dbdyno show`: executes a transaction of each type, or of one, and shows all requests and
//! replies.

use app::Error;
use app::open::{check_workload, is_apart_from, open_target};
use app::trace::{TraceOptions, may_create, trace};
use app::watcher::Watcher;
use clap::{Arg, ArgMatches, Command};
use model::TraceOutcome;
use render::terminal::PAGE_WIDTH;

use super::flags::{self, Output};
use super::live::Live;
use super::own_folder::make_data_folder;
use super::own_folder::target_unnamed;
use super::run::add_parameters;
use super::signals::stop_on_signals;
use super::{
    DONE, FAILED, Outcome, named, password, print_document, script_words, target_from,
    workload_argument,
};
use crate::shell::Shell;

pub(crate) fn command(words: &[String]) -> Result<Command, Error> {
    let count = |name: &'static str, long: &'static str, default: &'static str| {
        Arg::new(name).long(long).value_name("N").default_value(default)
    };
    let command = target_from::add(password::add(Command::new("show")))
        .about("Shows one transaction: statements, round trips, bytes and times")
        .after_help("The transaction is executed, and what it writes is committed, except what a commit would \
             use up: the refresh functions of tpch are rolled back.")
        .arg(workload_argument())
        .arg(
            Arg::new("transaction")
                .long("transaction")
                .value_name("NAME")
                .help("Transaction type, such as new_order [default: one of each type]"),
        )
        .arg(
            Arg::new("target")
                .long("target")
                .value_name("URL")
                .help("Database [default: an embedded database file of the workload]"),
        )
        .arg(flags::seed().help("Seed of the inputs"))
        .arg(count("number", "number", "0").help(
            "Least number of the transaction; the same seed and number give the same inputs, \
                 except time stamps",
        ))
        .arg(count("warm_up", "warm-up", "1").help(
            "Transactions of the same type executed before it on its connection, so that \
             statements are prepared; 0: none",
        ))
        .args(script_words::flags())
        .arg(flags::quiet("Show no progress"));
    // 'runs show' and 'experiments show' name no workload.
    let mut before = words.iter().take_while(|word| *word != "show");
    let is_part = before.any(|word| matches!(word.as_str(), "runs" | "experiments"));
    let what = named(words, "show").filter(|_| !is_part);
    add_parameters(command, what.as_deref(), &|parameter| !parameter.name.is_empty())
}

pub(crate) fn show(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let name = matches.get_one::<String>("workload").expect("clap requires it");
    let entry = workloads::by_name(name)?;
    let named = target_from::given(matches, shell)?;
    let is_named = named.is_some();
    let mut target = match named {
        Some(target) => target,
        None => target_unnamed(entry.name, shell).map_err(Error::Usage)?,
    };
    is_apart_from(flags::store_path(matches, shell).ok().as_deref(), &target)?;
    password::give(&mut target, matches, shell)?;
    let warm_up = flags::number(matches, "warm_up")?;
    let options = TraceOptions {
        workload: entry.name.to_owned(),
        parameters: script_words::parameters(matches, entry)?,
        transaction: matches.get_one::<String>("transaction").cloned(),
        seed: flags::number(matches, "seed")?,
        number: flags::number(matches, "number")?,
        warm_up: u32::try_from(warm_up)
            .map_err(|_| Error::Usage("--warm-up: at most 4294967295".to_owned()))?,
    };
    let stop = stop_on_signals(shell);
    let mut live = Live::new(shell, flags::is_quiet(matches, shell));
    check_workload(&target, &options.workload, &options.parameters, options.seed)
        .map_err(flags::bad_parameter)?;
    let creates = may_create(&options, &target)?;
    if creates && !is_named {
        make_data_folder(shell).map_err(Error::Failed)?;
    }
    let mut open_target =
        open_target(&target, options.seed, creates, &stop, &mut |text| live.doing(text))?;
    for text in open_target.sentences() {
        live.note(&text);
    }
    let shown = trace(&options, &target, &open_target, &stop, &mut |far| live.building(far));
    live.end();
    let shown = shown.map_err(|error| open_target.with_end_of_server(error))?;
    match flags::output_of(matches) {
        Output::Json => shell.print(&format!("{:#}\n", render::trace_json(&shown))),
        _ => print_document(&render::trace(&shown), PAGE_WIDTH, matches, shell),
    }?;
    let is_failed = |outcome: &TraceOutcome| matches!(outcome, TraceOutcome::Failed(_));
    let has_failed = shown.transactions.iter().any(|transaction| is_failed(&transaction.outcome));
    Ok(if has_failed { FAILED } else { DONE })
}
