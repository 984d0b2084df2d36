//! `dbdyno history`: a figure over builds, with accepted changes and the pinned baseline.

use std::io::Read as _;

use app::Error;
use app::compare::{acknowledge, history as hold, history_tables, pin_baseline, unacknowledge};
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::numbers::count;
use render::as_json;
use render::terminal::PAGE_WIDTH;
use serde_json::json;
use store::Store;
use study::history::{Acknowledged, HistoryReport, Order, Question, commits_of};

use super::compare::{judge, judged};
use super::flags::Output;
use super::imported::{self, imported_flag, imported_of};
use super::stored::{said, store};
use super::{DONE, FAILED, Outcome, UNDECIDED, flags, github, print_document};
use crate::shell::Shell;

/// Maximum bytes that are read of the file of `--commits`, enough for more than a million commits;
/// the rest is ignored.
const COMMITS_BYTES_MAX: u64 = 64 << 20;

pub(crate) fn command() -> Command {
    let value = |name: &'static str, value_name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value_name).help(help)
    };
    Command::new("history")
        .about("Shows a figure over builds, and where its level changed")
        .after_help(
            "Builds are the values of a label, in the order of versions: dbdyno runs label RUN \
             build=1.2. Commit hashes are ordered by time; --commits orders them by commit. \
             Charts: dbdyno report --history build -o history.html.",
        )
        .args_conflicts_with_subcommands(true)
        .subcommand(ack())
        .subcommand(baseline())
        .subcommand(imported::command())
        .arg(by())
        .args(judged())
        .args(ordered())
        .arg(value("baseline", "BUILD", "Also compare the last build with this one"))
        .arg(imported_flag())
        .arg(value(
            "rows",
            "NAME",
            "Show the means of the last ten builds as a table, with this parameter as rows; or the \
             builds themselves, with the label of --by",
        ))
        .arg(value("columns", "NAME", "Parameter of the columns [default: the other one of two]"))
        .arg(
            Arg::new("fail_on_regression")
                .long("fail-on-regression")
                .action(ArgAction::SetTrue)
                .help("Exit with code 1 if the last build is worse, with 3 if it cannot be judged"),
        )
        .arg(
            flags::undecided(
                "Whether a last build that cannot be judged passes or fails [default: fail]",
            )
            .requires("fail_on_regression"),
        )
}

fn ordered() -> [Arg; 2] {
    [
        Arg::new("order")
            .long("order")
            .value_name("version|time|commit")
            .help("Order of the builds [default: by their names]")
            .value_parser(["version", "time", "commit"])
            .hide_possible_values(true),
        Arg::new("commits").long("commits").value_name("FILE").help(
            "Commits, the oldest first (git log --reverse --format=%H); - is the standard input",
        ),
    ]
}

fn by() -> Arg {
    Arg::new("by")
        .long("by")
        .value_name("LABEL")
        .default_value("build")
        .help("The label whose values are the builds; or day, database or dbdyno (its version)")
}

fn ack() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("ack")
        .about("Acknowledges a change of level, so that it is no longer an alarm")
        .arg(
            Arg::new("build")
                .value_name("BUILD")
                .required_unless_present("list")
                .help("The first build of the new level"),
        )
        .arg(
            Arg::new("reason")
                .long("reason")
                .value_name("TEXT")
                .required_unless_present_any(["list", "undo"])
                .help("Why the new level is accepted"),
        )
        .arg(
            Arg::new("point")
                .long("point")
                .value_name("NAME=VALUE...")
                .default_value("")
                .hide_default_value(true)
                .help("Only at this point, such as \"clients=8\" [default: every point]"),
        )
        .arg(by())
        .args(ordered())
        .arg(flag("undo", "Remove the acknowledgement").conflicts_with("reason"))
        .arg(
            flag("list", "List acknowledgements")
                .conflicts_with_all(["build", "reason", "undo", "point"]),
        )
}

fn baseline() -> Command {
    Command::new("baseline")
        .about("Pins a build that the last build is always compared with")
        .arg(
            Arg::new("build")
                .value_name("BUILD")
                .conflicts_with("clear")
                .help("The build; without it, the pinned one is shown"),
        )
        .arg(by())
        .arg(Arg::new("clear").long("clear").action(ArgAction::SetTrue).help("Unpin the baseline"))
        .arg(
            Arg::new("list")
                .long("list")
                .action(ArgAction::SetTrue)
                .help("List the pinned baseline of each label")
                .conflicts_with_all(["build", "clear"]),
        )
}

pub(crate) fn history(matches: &ArgMatches, shell: &Shell) -> Outcome {
    match matches.subcommand() {
        Some(("ack", matches)) => return acked(matches, shell),
        Some(("baseline", matches)) => return pinned(matches, shell),
        Some(("import", matches)) => return imported::import(matches, shell),
        _ => {}
    }
    let by = matches.get_one::<String>("by").expect("it has a default");
    let store = store(matches, shell)?;
    let question = Question {
        order: order(matches, shell)?,
        baseline: matches.get_one::<String>("baseline").cloned(),
        imported: imported_of(&store, matches)?,
        ..Question::new(by, judge(matches)?)
    };
    let report = hold(&store, &question)?;
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let tables = history_tables(&report, text("rows"), text("columns"))?;
    match (tables, flags::output_of(matches)) {
        (Some(tables), Output::Json) => shell.print(&as_json(&tables)),
        (Some(tables), _) => print_document(&render::matrices(&tables), PAGE_WIDTH, matches, shell),
        (None, Output::Json) => shell.print(&as_json(&report)),
        (None, _) => {
            let mut page = render::history(&report);
            github::soften(&mut page.verdicts, matches);
            if flags::output_of(matches) == Output::Text {
                page.repeat = Some(render::next(&[chart_command(matches)]));
            }
            print_document(&page, PAGE_WIDTH, matches, shell)
        }
    }?;
    if !matches.get_flag("fail_on_regression") {
        return Ok(DONE);
    }
    Ok(hold_last(&report, matches, shell))
}

/// Returns the command that writes a history with its charts, with the command's purpose.
fn chart_command(matches: &ArgMatches) -> (String, String) {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let option = |name: &str, value: &str| format!(" --{name} {}", render::for_shell(value));
    let options = ["figure", "imported"]
        .into_iter()
        .filter_map(|name| Some(option(name, text(name)?)))
        .collect::<String>();
    let by = render::for_shell(text("by").expect("it has a default"));
    (format!("dbdyno report --history {by}{options} -o history.html"), "charts".to_owned())
}

/// Returns the exit code for `--fail-on-regression`. It is that of a failure, after printing the
/// reason, if the last build is worse, and [`UNDECIDED`] if it cannot be judged and `--undecided
/// pass` is not given.
fn hold_last(report: &HistoryReport, matches: &ArgMatches, shell: &Shell) -> u8 {
    let regressions = report.regressions();
    if let [first, others @ ..] = &regressions[..] {
        let more = match others.len() {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let accepting: Vec<String> =
            report.accepting().iter().map(|command| format!("'{command}'")).collect();
        let accepting = match accepting.is_empty() {
            true => String::new(),
            false => format!("; if that is intended, accept it: {}", accepting.join(", then ")),
        };
        let text =
            format!("dbdyno: --fail-on-regression: {first}{more}{accepting} (exit code {FAILED})");
        github::say("error", &text, matches, shell);
        return FAILED;
    }
    let undecided = undecided_by(report);
    if undecided.is_empty() || !flags::fails_undecided(matches) {
        return DONE;
    }
    let text = format!(
        "dbdyno: --fail-on-regression is undecided: {undecided}; let it pass with --undecided pass \
         (exit code {UNDECIDED})"
    );
    github::say("error", &text, matches, shell);
    UNDECIDED
}

/// Builds from which on more of them would hardly show smaller losses: their noise is known then.
const MANY_BUILDS: u64 = 9;

/// Returns the reason why the last build of a history cannot be judged; empty if it can be.
fn undecided_by(report: &HistoryReport) -> String {
    if let Some(build) = report.measured_now() {
        return format!("{build} is still being measured");
    }
    let noun = report.noun();
    if let Some(newest) = &report.measured_last {
        return match report.unlisted.contains(newest) {
            true => format!("--commits lacks {newest}, which was measured last"),
            false => {
                format!("{newest} was measured last, but another {noun} is the last: --order time")
            }
        };
    }
    if let Some(lost) = report.points.iter().find(|point| !point.lost.is_empty()) {
        return lost.lost.clone();
    }
    let at = match (report.n_undecided(), report.points.len()) {
        (0, _) => return String::new(),
        (_, 1) => String::new(),
        (n, all) => format!(" at {n} of {all} points"),
    };
    let here = report.points.iter().filter(|point| point.lacks.is_none());
    let last = here.filter_map(|point| point.builds.last()).next_back();
    let last = last.map_or_else(String::new, |last| format!(" {}", last.build));
    let noisy = report.points.iter().filter_map(|point| {
        let last = point.last.as_ref().filter(|last| last.is_noisy)?;
        Some((last.seen_from, point.builds.len().saturating_sub(1) as u64))
    });
    let why = match noisy.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((seen_from, n_before)) => {
            let percent = model::numbers::significant(seen_from * 100.0, 2);
            let only = format!("only a loss of more than {percent} % would be seen");
            match n_before < MANY_BUILDS {
                true => {
                    let before = count(n_before, noun);
                    format!("the {before} before it are too few for their noise: {only}")
                }
                false => format!("the {noun}s before it vary too much: {only}"),
            }
        }
        None => format!("too few {noun}s are before it"),
    };
    format!("the last {noun}{last} cannot be judged, since {why}{at}")
}

/// Returns true if the arguments make the command print a document, so that it supports all output
/// formats: a history, or the list of imports.
pub(crate) fn is_document(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        None => true,
        Some(("import", import)) => imported::is_document(import),
        Some(_) => false,
    }
}

/// Returns the order of the builds in a history, from `--order` and `--commits`; a list of commits
/// is an order. `None` if neither is given.
fn order(matches: &ArgMatches, shell: &Shell) -> Result<Option<Order>, Error> {
    let order = matches.get_one::<String>("order").map(String::as_str);
    match (order, matches.get_one::<String>("commits")) {
        (None | Some("commit"), Some(file)) => Ok(Some(Order::Commits(commits(file, shell)?))),
        (Some(other), Some(_)) => {
            Err(Error::Usage(format!("--commits is for --order commit, not {other}")))
        }
        (Some("commit"), None) => Err(Error::Usage(
            "--order commit needs --commits FILE: git log --reverse --format=%H > commits.txt"
                .to_owned(),
        )),
        (Some("time"), None) => Ok(Some(Order::Time)),
        (Some(_), None) => Ok(Some(Order::Version)),
        (None, None) => Ok(None),
    }
}

fn commits(file: &str, shell: &Shell) -> Result<Vec<String>, Error> {
    let read = match file {
        "-" => shell.read(COMMITS_BYTES_MAX),
        file => std::fs::File::open(file).and_then(|opened| {
            let mut text = String::new();
            opened.take(COMMITS_BYTES_MAX).read_to_string(&mut text).map(|_| text)
        }),
    };
    let text =
        read.map_err(|error| Error::Usage(format!("--commits {file} cannot be read: {error}")))?;
    let commits = commits_of(&text);
    match commits.is_empty() {
        true => Err(Error::Usage(format!(
            "--commits {file} is empty: write it with git log --reverse --format=%H"
        ))),
        false => Ok(commits),
    }
}

fn acked(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
    let (by, point) = (text("by"), text("point").trim().to_owned());
    let store = store(matches, shell)?;
    if matches.get_flag("list") {
        return list(&store, &by, matches, shell);
    }
    let build = text("build");
    let reason = text("reason").trim().to_owned();
    let asked = Acknowledged { build: build.clone(), point, reason, size: None };
    if matches.get_flag("undo") {
        let order = order(matches, shell)?;
        let build = unacknowledge(&store, &by, order.as_ref(), &asked)?;
        return shell.print(&format!("{build} is no longer acknowledged\n"));
    }
    if asked.reason.is_empty() {
        return Err(Error::Usage("--reason is empty: write why it is accepted".to_owned()));
    }
    let order = order(matches, shell)?;
    let found = acknowledge(&store, &by, order.as_ref(), &asked)?;
    let beside = match found.build == build {
        true => String::new(),
        false => format!(", which begins at {}", found.build),
    };
    let text = format!("acknowledged the change{beside}: {}\n", acknowledged_line(&found));
    shell.print(&text)
}

fn list(store: &Store, by: &str, matches: &ArgMatches, shell: &Shell) -> Outcome {
    let all = store.acknowledged(by).map_err(said)?;
    if flags::is_json(matches) {
        return shell.print(&format!("{:#}\n", json!(all)));
    }
    let line = |one: &Acknowledged| acknowledged_line(one) + "\n";
    match all.is_empty() {
        true => shell.print("nothing is acknowledged\n"),
        false => shell.print(&all.iter().map(line).collect::<String>()),
    }
}

/// Formats an accepted change, such as `1.3 clients=8: checksums are on (the figure that changed
/// most changed by about 5 %; ...)`, with the size from which on the change is an alarm again.
fn acknowledged_line(one: &Acknowledged) -> String {
    let point = if one.point.is_empty() { String::new() } else { format!(" {}", one.point) };
    let most = one.size.map_or_else(String::new, |size| {
        // The direction is not kept: a fall has another percentage than the rise that undoes it.
        let percent = |size: f64| model::numbers::significant(100.0 * size.exp_m1().abs(), 2);
        let most = study::history::SIZE_MOST * size;
        let (rise, fall) = (percent(most), percent(-most));
        format!(
            " (the figure that changed most changed by about {} %; a rise of more than {rise} % or \
             a fall of more than {fall} % in any figure is an alarm again)",
            percent(size)
        )
    });
    format!("{}{point}: {}{most}", one.build, one.reason)
}

fn list_baselines(store: &Store, matches: &ArgMatches, shell: &Shell) -> Outcome {
    let all = store.baselines().map_err(said)?;
    if flags::is_json(matches) {
        let all: Vec<_> = all.iter().map(|(by, build)| json!({"by": by, "build": build})).collect();
        return shell.print(&format!("{:#}\n", json!(all)));
    }
    let line = |(by, build): &(String, String)| format!("{by}={build}\n");
    match all.is_empty() {
        true => shell.print("no baseline is pinned\n"),
        false => shell.print(&all.iter().map(line).collect::<String>()),
    }
}

fn pinned(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let by = matches.get_one::<String>("by").expect("it has a default");
    let store = store(matches, shell)?;
    if matches.get_flag("list") {
        return list_baselines(&store, matches, shell);
    }
    if matches.get_flag("clear") {
        let pinned = store.baseline(by).map_err(said)?;
        pin_baseline(&store, by, None)?;
        return match pinned {
            Some(build) => shell.print(&format!("{build} is no longer the baseline\n")),
            None => shell.print("no baseline is pinned\n"),
        };
    }
    if let Some(build) = matches.get_one::<String>("build") {
        pin_baseline(&store, by, Some(build))?;
    }
    match store.baseline(by).map_err(said)? {
        Some(build) => shell.print(&format!("the baseline is {build}\n")),
        None => shell.print("no baseline is pinned\n"),
    }
}
