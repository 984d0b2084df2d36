//! The command line: subcommands, exit codes, output.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 a run, check or limit
//! failed, 2 invalid input, 130 interrupted.

mod against;
mod brief;
mod compare;
mod config;
mod confirm;
mod data;
mod datagen;
mod draft_from_args;
#[cfg(feature = "terminal")]
mod drawing;
#[cfg(not(feature = "terminal"))]
#[path = "no_drawing.rs"]
mod drawing;
mod drop_in;
mod dry_run;
mod examples;
mod experiments;
mod export;
mod figure_names;
mod first_steps;
mod flags;
mod github;
mod habits;
mod history;
#[cfg(feature = "agents")]
mod hosts;
#[cfg(not(feature = "agents"))]
#[path = "no_hosts.rs"]
mod hosts;
mod imported;
mod last_line;
mod list;
mod live;
#[cfg(feature = "terminal")]
mod manual;
#[cfg(not(feature = "terminal"))]
#[path = "no_manual.rs"]
mod manual;
#[cfg(feature = "pages")]
mod metrics;
#[cfg(not(feature = "pages"))]
#[path = "no_metrics.rs"]
mod metrics;
mod no_data;
mod output_file;
mod own_folder;
#[cfg(feature = "pages")]
mod page;
#[cfg(not(feature = "pages"))]
#[path = "no_page.rs"]
mod page;
mod password;
mod password_files;
#[cfg(feature = "pages")]
mod push;
#[cfg(not(feature = "pages"))]
#[path = "no_push.rs"]
mod push;
mod rejected;
mod report;
mod required;
mod restore;
mod run;
mod run_options;
mod runs;
mod script_host;
mod script_words;
mod scripts;
mod seek;
mod selfcheck;
mod server_params;
mod server_restart;
mod show;
mod signals;
mod stored;
mod target_from;
mod translate;
mod trial_options;
mod tune;
#[cfg(feature = "pages")]
mod web;

use std::process::ExitCode;
use std::sync::Arc;

use app::Error;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};
use model::Choice;
use render::Document;
use signal_hook::consts::SIGXFSZ;

use flags::Output;

pub(crate) use crate::outcome::{
    DONE, FAILED, INTERRUPTED, Outcome, UNDECIDED, UNREACHABLE, USAGE,
};
use crate::shell::Shell;

/// Runs the program with the command line, signals and terminal of this process. If a run of dbdyno
/// has started the process as its helper, runs that helper instead. Passwords in the command line
/// are hidden.
pub(crate) fn main() -> ExitCode {
    // Hidden subcommands, which only runs of dbdyno start.
    let served = match std::env::args_os().nth(1) {
        Some(word) if word == app::NETWORK_PATH => Some(network_path::serve()),
        Some(word) if word == app::run::AGENT => {
            let words: Vec<String> =
                std::env::args_os().skip(2).filter_map(|word| word.into_string().ok()).collect();
            Some(app::run::serve_agent(&words))
        }
        _ => None,
    };
    if let Some(served) = served {
        return served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let shell = Shell::of_process();
    let hook_shell = shell.clone();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or(String::new(), |place| format!(" ({place})"));
        let words = panic.payload_as_str().unwrap_or("no words");
        hook_shell
            .say(&format!("dbdyno: this is a bug in dbdyno, please report it: {words}{place}"));
    }));
    // A file at the size limit counts as one that cannot be written: the run continues.
    let limited = signal_hook::flag::register(SIGXFSZ, Arc::default());
    if let Err(error) = limited {
        shell.say(&format!("dbdyno: SIGXFSZ cannot be handled, and would end it: {error}"));
    }
    let words = match words_of_process() {
        Ok(words) => words,
        Err(why) => {
            shell.say(&format!("dbdyno: {why}"));
            return ExitCode::from(USAGE);
        }
    };
    password::hide();
    ExitCode::from(run(&words, &shell))
}

/// Reads the command line. Fails if it, or an environment variable that dbdyno uses, is not UTF-8,
/// because a changed or ignored name would be that of another file.
fn words_of_process() -> Result<Vec<String>, String> {
    let is_ours = |name: &str| {
        name.starts_with("DBDYNO_") || ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"].contains(&name)
    };
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if is_ours(&name) && value.to_str().is_none() {
            return Err(format!("{name} is not valid UTF-8: rename the file, or unset it"));
        }
    }
    let word = |(nth, word): (usize, std::ffi::OsString)| {
        // Not repeated, since it may be a URL with a password.
        word.into_string().map_err(|_| {
            format!("word {nth} of the command line is not valid UTF-8: rename the file")
        })
    };
    std::env::args_os().enumerate().map(word).collect()
}

/// Runs a command line, whose first word is the program's name, and returns the exit code.
pub fn run(words: &[String], shell: &Shell) -> u8 {
    if let Some(outcome) = drop_in::run(words, shell) {
        return outcome.unwrap_or_else(|error| tell(&error, words, shell));
    }
    // Suggested commands repeat the words as the user wrote them.
    let written = listed(words);
    let words = match script_words::resolved(written.clone(), shell) {
        Ok(words) => words,
        Err(error) => return tell(&error, words, shell),
    };
    let words = &words;
    let outcome = match command(words).map(|command| parse(command, words, shell)) {
        Ok(Ok(matches)) => {
            let with_settings = shell.with_settings().map(|shell| shell.called(&written));
            let outcome = with_settings.and_then(|shell| dispatch(&matches, &shell));
            if let (Err(error), Output::Github) = (&outcome, flags::output_of(&matches)) {
                github::annotate("error", &without_passwords(&error.to_string(), words), shell);
            }
            outcome
        }
        Ok(Err(code)) => Ok(code),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => tell(&error, words, shell),
    }
}

/// Inserts `list` where it was left out: `dbdyno runs --limit 0` means `dbdyno runs list --limit
/// 0`, and likewise for experiments.
fn listed(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    let of_many = match words.get(1).map(String::as_str) {
        Some("runs") => runs::command(),
        Some("experiments") => experiments::command(),
        _ => return words,
    };
    let is_option = |word: &String| word.starts_with('-') && !matches!(&**word, "-h" | "--help");
    let is_named = |word: &String| of_many.find_subcommand(word).is_some();
    if words.get(2).is_some_and(is_option) && !words[2..].iter().any(is_named) {
        words.insert(2, "list".to_owned());
    }
    words
}

/// Parses the command line. Prints help and version on stdout, and errors in one sentence on
/// stderr; the `Err` is then the exit code, 0 or 2.
fn parse(mut command: Command, words: &[String], shell: &Shell) -> Result<ArgMatches, u8> {
    command.try_get_matches_from_mut(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            if let Some(sentence) = habits::sentence_of_host(words) {
                return tell(&Error::Usage(sentence), words, shell);
            }
            if is_brief(words) && !error.use_stderr() {
                let page = match named_command(&command, words) {
                    (named, path) if path.contains(' ') => brief::page(named, &path),
                    _ => brief::of_program(&command, SECTIONS),
                };
                return shell.print(&page).unwrap_or(FAILED);
            }
            shell.show(&error);
            if error.use_stderr() { USAGE } else { DONE }
        }
        _ => {
            let (named, help) = named_command(&command, words);
            let subcommand = help.split(' ').nth(1).unwrap_or_default();
            let sentence = habits::sentence_of(&error, subcommand, words);
            let other = || habits::sentence_of_other(&error, &command, subcommand);
            let sentence = sentence.or_else(other);
            let own = || rejected::sentence(&error, named, &help);
            let mut sentence = sentence.unwrap_or_else(own);
            if error.kind() == ErrorKind::MissingRequiredArgument {
                let newest = examples::of_newest(&help);
                sentence.extend(newest.map(|newest| format!("; the newest is 'last': {newest}")));
            }
            tell(&Error::Usage(format!("{sentence}; see '{help} --help'")), words, shell)
        }
    })
}

/// Returns true if the brief help (`-h`) is requested.
fn is_brief(words: &[String]) -> bool {
    words.iter().any(|word| word == "-h")
}

/// Joins the lines of clap's error text that come before the usage into one sentence.
fn sentence_of(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    // An unknown option is not a value either.
    let lines = lines.filter(|line| !line.contains(" as a value, use '-- "));
    lines.fold(String::new(), |sentence, line| {
        let line = line.trim_start_matches("error: ").trim_start_matches("tip: ");
        let line = line.trim_start_matches('[').trim_end_matches(']');
        let between = match sentence.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        };
        sentence + between + line
    })
}

/// Returns the innermost subcommand that the command line names, and its path, which begins with
/// the program's name.
fn named_command<'c>(command: &'c Command, words: &[String]) -> (&'c Command, String) {
    let mut path = command.get_name().to_owned();
    let mut at = command;
    for word in words.iter().skip(1) {
        let Some(subcommand) = at.find_subcommand(word) else { break };
        path += &format!(" {word}");
        at = subcommand;
    }
    (at, path)
}

/// Masks passwords in an error's text: those of URLs among the words of the command line, which an
/// error may repeat. A password is masked where it follows its user. Elsewhere it is masked only if
/// it is long: a short one would be masked within other words too, and so be revealed.
fn without_passwords(text: &str, words: &[String]) -> String {
    const LETTERS_ALONE: usize = 8;
    let mut text = text.to_owned();
    for word in words {
        let Some((_, authority)) = word.split_once("://") else { continue };
        let Some((user, rest)) = authority.split_once(':') else { continue };
        // The first colon belongs to a host, or to an IPv6 address.
        if user.contains('@') || user.starts_with('[') {
            continue;
        }
        let whole = rest.rsplit_once('@').map(|(password, _)| password);
        // Without its '@', or with a '/' in it, it looks like a port.
        let part = rest.split(['@', '/']).next().filter(|part| part.parse::<u64>().is_err());
        for password in whole.into_iter().chain(part).filter(|password| !password.is_empty()) {
            text = text.replace(&format!("://{user}:{password}"), &format!("://{user}:***"));
            if password.chars().count() >= LETTERS_ALONE {
                text = text.replace(password, "***");
            }
        }
    }
    text
}

/// Prints an error on stderr in one sentence, and returns its exit code.
fn tell(error: &Error, words: &[String], shell: &Shell) -> u8 {
    shell.say(&without_passwords(&format!("dbdyno: {error}"), words));
    match error {
        Error::Usage(_) => USAGE,
        Error::Failed(_) | Error::Script(_) => FAILED,
        Error::Unreachable(_) => UNREACHABLE,
        Error::Interrupted(_) => INTERRUPTED,
    }
}

/// Allows each switch of a command and its subcommands to be repeated, without effect.
fn repeatable(command: Command) -> Command {
    let twice = |arg: clap::Arg| match arg.get_action() {
        clap::ArgAction::SetTrue => {
            let id = arg.get_id().clone();
            arg.overrides_with(id)
        }
        _ => arg,
    };
    command.mut_args(twice).mut_subcommands(repeatable)
}

fn command(words: &[String]) -> Result<Command, Error> {
    let about = "Database load testing: builds data, drives load, measures, keeps every run";
    let command = Command::new("dbdyno")
        .version(app::run::version_of_ours())
        .about(about)
        .override_usage("dbdyno [OPTIONS] <COMMAND>")
        .max_term_width(brief::WIDTH)
        .arg(flags::store())
        .arg(flags::output())
        .subcommand(run::command(words)?)
        .subcommand(run::tune_command(words)?)
        .subcommands(data::commands(words)?)
        .subcommand(datagen::command(words)?)
        .subcommand(show::command(words)?)
        .subcommand(runs::command())
        .subcommand(experiments::command())
        .subcommand(restore::command())
        .subcommand(compare::command())
        .subcommand(history::command())
        .subcommand(report::command())
        .subcommand(selfcheck::command())
        .subcommand(list::command())
        .subcommand(config::command())
        .subcommand(translate::command())
        .subcommands(drop_in::commands())
        .subcommands(hosts::commands())
        .subcommands(manual::commands());
    #[cfg(feature = "pages")]
    let command = command.subcommand(web::command());
    // Next to long flags there is no room for text on a narrow terminal.
    let command = command.mut_subcommands(|sub| match sub.has_subcommands() {
        true => sub,
        false => sub.next_line_help(true),
    });
    Ok(in_sections(examples::added(repeatable(command))))
}

/// Sections of the program's help: title, and names of the commands. Each command is in one of
/// them.
const SECTIONS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "tune", "show", "experiments"]),
    ("Other programs' command lines and files", &["sysbench", "pgbench", "translate"]),
    ("Data", &["build", "check", "settle", "drop"]),
    ("Results", &["runs", "compare", "history", "report", "web"]),
    (
        "Everything else",
        &[
            "datagen",
            "list",
            "config",
            "restore",
            "selfcheck",
            "hub",
            "agent",
            "agents",
            "completions",
            "man",
            "help",
        ],
    ),
];

/// Sets a help template in which the program's commands are listed in sections, which clap does not
/// support.
fn in_sections(command: Command) -> Command {
    const NAME_ROOM: usize = 13;
    let about = |name: &str| {
        let found = command.find_subcommand(name).and_then(Command::get_about);
        let help = (name == "help").then(|| "Shows the help of a command".to_owned());
        found.map(ToString::to_string).or(help)
    };
    let section = |(title, names): &(&str, &[&str])| {
        let line = |name: &&str| Some(format!("  {name:<NAME_ROOM$}{}\n", about(name)?));
        format!("{title}:\n{}\n", names.iter().filter_map(line).collect::<String>())
    };
    let sections: String = SECTIONS.iter().map(section).collect();
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n";
    command.help_template(format!("{template}{sections}Options:\n{{options}}{{after-help}}"))
}

fn dispatch(matches: &ArgMatches, shell: &Shell) -> Outcome {
    is_written_so(matches)?;
    restore::offer(matches, shell);
    let all = || command(&["dbdyno".to_owned()]);
    match matches.subcommand() {
        Some(("run", matches)) => run::run(matches, shell),
        Some(("tune", matches)) => run::tune(matches, shell),
        Some(("build", matches)) => data::build(matches, shell),
        Some(("check", matches)) => data::check(matches, shell),
        Some(("settle", matches)) => data::settle(matches, shell),
        Some(("datagen", matches)) => datagen::datagen(matches, shell),
        Some(("drop", matches)) => data::drop_data(matches, shell),
        Some(("show", matches)) => show::show(matches, shell),
        Some(("runs", matches)) => runs::runs(matches, shell),
        Some(("experiments", matches)) => experiments::experiments(matches, shell),
        Some(("restore", matches)) => restore::restore(matches, shell),
        Some(("compare", matches)) => compare::compare(matches, shell),
        Some(("history", matches)) => history::history(matches, shell),
        Some(("report", matches)) => report::report(matches, shell),
        #[cfg(feature = "pages")]
        Some(("web", matches)) => web::web(matches, shell),
        Some(("selfcheck", matches)) => selfcheck::selfcheck(matches, shell),
        Some(("list", matches)) => list::list(matches, shell),
        Some(("config", matches)) => config::config(matches, shell),
        Some(("translate", matches)) => translate::translate(matches, shell),
        Some(("completions", matches)) => manual::completions(matches, all()?, shell),
        Some(("man", matches)) => manual::man(matches, all()?, shell),
        Some((name, of_hosts)) => match hosts::dispatch(name, of_hosts, shell) {
            Some(outcome) => outcome,
            None => first_steps::first_steps(matches, shell),
        },
        None => first_steps::first_steps(matches, shell),
    }
}

/// Checks that the command supports the requested output format. Fails otherwise, with the formats
/// that the command supports.
fn is_written_so(matches: &ArgMatches) -> Result<(), Error> {
    let (format, written) = (flags::output_of(innermost(matches)), formats(matches));
    if written.contains(&format) {
        return Ok(());
    }
    let format = format.name();
    let written: Vec<&str> = written.iter().map(|format| format.name()).collect();
    let (last, others) = written.split_last().expect("every command writes text");
    let of_a_part = match runs::has_parts(matches) {
        true => "; a part alone, such as --timing, is written as csv too",
        false => "",
    };
    Err(Error::Usage(format!(
        "--output {format}: this command does not write it; choose {} or {last}{of_a_part}",
        others.join(", ")
    )))
}

/// Returns the output formats that the requested command supports.
fn formats(matches: &ArgMatches) -> Vec<Output> {
    let is_document = match matches.subcommand() {
        Some(("compare" | "show", _)) => true,
        Some(("history", history)) => history::is_document(history),
        Some(("runs", runs)) => runs::is_document(runs),
        Some(("experiments", experiments)) => experiments::is_document(experiments),
        Some(("list", _)) => true,
        Some(("config", config)) => config.subcommand().is_none(),
        Some(("selfcheck", selfcheck)) => selfcheck::is_document(selfcheck),
        _ => false,
    };
    // Pages with a verdict, which annotates a job.
    let is_page = match matches.subcommand() {
        Some(("run" | "tune" | "compare", _)) => true,
        Some(("history", history)) => history.subcommand().is_none(),
        Some(("runs", runs)) => runs::is_page(runs),
        Some(("experiments", experiments)) => {
            matches!(experiments.subcommand_name(), Some("show" | "resume"))
        }
        _ => false,
    };
    let is_written = |format: &Output| match format {
        Output::Text | Output::Json => true,
        Output::Markdown => is_document || is_page,
        Output::Csv => is_document,
        Output::Github => is_page,
    };
    Output::ALL.iter().copied().filter(is_written).collect()
}

/// Returns the arguments of the innermost subcommand on the command line; clap passes the global
/// flags to it too.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, matches)| innermost(matches))
}

/// Prints a document in the requested format, except JSON, which each command prints itself. Text
/// is as wide as the terminal, or has `width` columns if there is no terminal.
pub(crate) fn print_document(
    document: &Document,
    width: usize,
    matches: &ArgMatches,
    shell: &Shell,
) -> Outcome {
    match flags::output_of(matches) {
        Output::Markdown => shell.print(&render::markdown::markdown(document)),
        Output::Csv => shell.print(&render::csv::csv(document)),
        Output::Github => github::print(document, shell),
        Output::Text | Output::Json => shell.print_page(document, &shell.style(width)),
    }
}

/// Name that stands for a plan from standard input.
pub(crate) const STDIN: &str = "-";

/// Creates the draft of the plan that a command line `dbdyno run ...` describes, without running
/// it.
#[cfg(feature = "pages")]
pub(crate) fn draft_of(words: &[String], shell: &Shell) -> Result<plan::Draft, Error> {
    let parsed = command(words)?.try_get_matches_from(words);
    let matches = parsed.map_err(|error| Error::Usage(sentence_of(&error.to_string())))?;
    let run = matches.subcommand_matches("run");
    let what = run.and_then(|run| Some((run, run.get_one::<String>("what")?)));
    let (run, what) = what.ok_or_else(|| Error::Usage("this is not 'dbdyno run'".to_owned()))?;
    draft_from_args::draft(what, run, shell)
}

/// Returns the workload or plan that the command line names after `subcommand`, found before
/// parsing, because the workload's parameters become flags. `None` if there is none, for a plan
/// from standard input, or if the line is of another command, such as `history --by build`.
pub(crate) fn named(words: &[String], subcommand: &str) -> Option<String> {
    let words = words.get(1..)?;
    let at = words.iter().position(|word| word == subcommand)?;
    let is_value = |at: usize| {
        at.checked_sub(1).is_some_and(|at| words[at].starts_with("--") && !words[at].contains('='))
    };
    if (0..at).any(|at| !words[at].starts_with('-') && !is_value(at)) {
        return None;
    }
    let mut rest = words[at + 1..].iter();
    let first = rest.clone().next()?;
    match first.as_str() {
        // A plan from standard input is not known yet.
        STDIN => return None,
        word if !word.starts_with('-') => return Some(first.clone()),
        _ => {}
    }
    let is_workload_or_plan = |word: &&String| {
        let is_file = word.ends_with(".toml") || workloads::language_of(word).is_some();
        is_file || workloads::by_name(word).is_ok()
    };
    rest.find(is_workload_or_plan).cloned()
}

/// Creates the positional argument with the workload's name.
pub(crate) fn workload_argument() -> Arg {
    Arg::new("workload").required(true).value_name("WORKLOAD").help("Workload, such as tpcc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_stands_after_its_command_and_not_after_a_value_of_another() {
        let check = |line: &str, command: &str, expect: Option<&str>| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(named(&words, command).as_deref(), expect, "{line}");
        };
        check("dbdyno build tpcc", "build", Some("tpcc"));
        check("dbdyno --store x.db build tpcc", "build", Some("tpcc"));
        check("dbdyno --store=x.db run --vary clients=1,2 tpcc", "run", Some("tpcc"));
        check("dbdyno run -", "run", None);
        check("dbdyno runs", "run", None);
        check("dbdyno history ack --by build 1.9 --reason x", "build", None);
        check("dbdyno history --by build ack 1.9", "build", None);
        check("dbdyno compare run 1.9", "run", None);
    }

    #[cfg(feature = "pages")]
    #[test]
    fn the_command_of_a_plan_asks_for_that_plan() {
        let shell = Shell::new(std::io::sink(), std::io::sink(), |_| None);
        let target = |_: &str| model::Target::parse("sim:").map_err(|bad| bad.0);
        let check = |text: &str| {
            let draft = plan::read_toml("plan.toml", text).unwrap();
            let words = ["dbdyno", "run"].map(str::to_owned).into_iter();
            let words: Vec<String> = words.chain(draft.words().unwrap()).collect();
            let points = |draft: &plan::Draft| -> Vec<String> {
                let varied = plan::decide_all(draft, &target).unwrap();
                varied.points.iter().map(|(_, plan)| plan::to_toml(plan)).collect()
            };
            assert_eq!(points(&draft_of(&words, &shell).unwrap()), points(&draft), "{words:?}");
        };
        let group = "[[group]]\nworkload = \"tpcc\"\n";
        check(group);
        check(&format!("pin = false\nretry_on = [\"deadlock\", \"busy\"]\n{group}clients = 2\n"));
        check(&format!("{group}load = \"open\"\nrate = 5\nparameters = {{ warehouses = 2 }}\n"));
        check(&format!("{group}[experiment.vary]\nclients = [1, 2]\nmode = [\"text\"]\n"));
        let only_a_file = format!("target = \"managed:mariadb\"\n[server]\na = 1\n{group}");
        assert_eq!(plan::read_toml("plan.toml", &only_a_file).unwrap().words(), None);
    }

    /// Returns all switches of a command and its subcommands, each with the words before it.
    fn switches(command: &Command, before: &[String]) -> Vec<Vec<String>> {
        let is_switch = |arg: &&clap::Arg| matches!(arg.get_action(), clap::ArgAction::SetTrue);
        let flags = command.get_arguments().filter(is_switch).filter_map(clap::Arg::get_long);
        let words = |flag: &str| [before, &[format!("--{flag}")]].concat();
        let mut all: Vec<Vec<String>> = flags.map(words).collect();
        for subcommand in command.get_subcommands() {
            let before = [before, &[subcommand.get_name().to_owned()]].concat();
            all.extend(switches(subcommand, &before));
        }
        all
    }

    #[test]
    fn each_switch_of_each_command_may_be_given_twice() {
        let words = ["dbdyno", "run", "tpcc"].map(str::to_owned);
        let command = command(&words).unwrap();
        let all = switches(&command, &words[..1]);
        assert!(all.len() > 30, "{all:?}");
        for words in all {
            let twice = words.iter().chain(words.last());
            let matched = command.clone().try_get_matches_from(twice);
            // Other words may be missing.
            let said = matched.err().map(|no| no.to_string()).unwrap_or_default();
            assert!(!said.contains("multiple times"), "{words:?}: {said}");
        }
    }

    #[test]
    fn each_command_is_in_a_section() {
        let command = command(&["dbdyno".to_owned()]).unwrap();
        let in_sections: Vec<&str> =
            SECTIONS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let n = in_sections.iter().filter(|name| **name == sub.get_name()).count();
            assert_eq!(n, 1, "{}", sub.get_name());
        }
    }

    #[test]
    fn a_password_is_masked_where_it_stands_and_nowhere_else() {
        let check = |url: &str, text: &str, expect: &str| {
            assert_eq!(without_passwords(text, &["run".to_owned(), url.to_owned()]), expect);
        };
        let url = "mariadb://bench:a@host/data";
        let text = "unexpected argument 'mariadb://bench:a@host/data' found; what a pity";
        check(url, text, "unexpected argument 'mariadb://bench:***@host/data' found; what a pity");
        let slash = "mariadb://bench:12/34@host/data";
        check(slash, &format!("'{slash}'"), "'mariadb://bench:***@host/data'");
        check("mariadb://bench:pw", "'mariadb://bench:pw'", "'mariadb://bench:***'");
        check("mariadb://host:3306/pw", "'mariadb://host:3306/pw'", "'mariadb://host:3306/pw'");
        check("mariadb://[::1]:3306/d", "'[::1]:3306'", "'[::1]:3306'");
        let hosts = "mariadb://b@h1:3306,h2:3307/d";
        check(hosts, &format!("'{hosts}'"), &format!("'{hosts}'"));
        check("mysql://b:hunter2hunter2@h/d", "who is hunter2hunter2?", "who is ***?");
    }
}
