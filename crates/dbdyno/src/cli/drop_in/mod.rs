//! Command lines of other programs: `dbdyno pgbench ...` takes pgbench's own options and prints its
//! report, while the run is measured, judged and stored as any other.
//!
//! Not here: scripts in the options of dbdyno itself (`script_words`).

mod connection;
mod hints;
mod pgbench;
mod pgbench_commands;
mod pgbench_log;
mod pgbench_options;
mod pgbench_progress;
mod pgbench_tables;
mod sysbench;
#[cfg(feature = "lua")]
mod sysbench_hooks;
#[cfg(not(feature = "lua"))]
#[path = "no_hooks.rs"]
mod sysbench_hooks;
mod sysbench_options;
mod sysbench_progress;
mod sysbench_table;

use std::path::{Path, PathBuf};

use analysis::report::Report;
use app::Error;
use clap::{Arg, Command};
use model::{Plan, Target, did_you_mean, numbers};
use plan::{Draft, From, GroupDraft, Task, Written, decide_task};

use super::{Outcome, USAGE, flags};
use crate::shell::Shell;

/// Returns the commands that take the command lines of other programs, for lists of commands.
pub(super) fn commands() -> [Command; 2] {
    // Their own parsers read the words.
    let words = || {
        Arg::new("words").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true).hide(true)
    };
    [
        Command::new("sysbench").about(sysbench::ABOUT).arg(words()),
        Command::new("pgbench").about(pgbench_options::ABOUT).arg(words()),
    ]
}

/// Runs the command line of another program; `None` if the words are one of dbdyno's own.
pub(super) fn run(words: &[String], shell: &Shell) -> Option<Outcome> {
    let run = match words.get(1)?.as_str() {
        "sysbench" => sysbench::run,
        "pgbench" => pgbench::run,
        _ => return None,
    };
    Some(shell.with_settings().and_then(|shell| run(&words[2..], &shell)))
}

/// Creates the error for an option that dbdyno does not have.
fn unsupported(program: &str, option: &str, instead: &str) -> Error {
    Error::Usage(format!("dbdyno {program} has no {option}: {instead}"))
}

/// Prints an error of clap in one sentence, and returns the exit code.
fn refused(error: &clap::Error, command: &Command, program: &str, shell: &Shell) -> Outcome {
    if !error.use_stderr() {
        shell.show(error);
        return Ok(super::DONE);
    }
    shell.say(&format!(
        "dbdyno: {}; see 'dbdyno {program} --help'",
        super::rejected::sentence(error, command, &format!("dbdyno {program}"))
    ));
    Ok(USAGE)
}

/// Tells how many transactions, which are called `what`, were still queued when the load ended.
fn tell_queued(what: &str, report: &Report, has_rate: bool, shell: &Shell) {
    let n = report.block.counts.unfinished;
    if has_rate && n > 0 {
        let queued = numbers::thousands(&n.to_string());
        shell.say(&format!(
            "dbdyno: {queued} {what} that had arrived were not executed when the load ended: the \
             rate is above the capacity (dbdyno runs show last)"
        ));
    }
}

/// Tells why nothing finished, if that is so.
fn tell_nothing_finished(report: &Report, shell: &Shell) {
    const WHY: [&str; 2] = ["nothing_finished", "still_running"];
    for finding in report.findings.iter().filter(|finding| WHY.contains(&finding.id.as_str())) {
        let observed = finding.observed.as_ref().unwrap_or(&finding.text);
        let most = report.block.errors.iter().max_by_key(|error| error.count);
        let why = most.map(|error| format!(" Most often: {}", error.message));
        shell.say(&format!("dbdyno: {observed}{}", why.unwrap_or_default()));
    }
}

/// Returns the question whether a file of a similar name in the same folder is meant; empty if
/// there is none.
fn meant_file(name: &str) -> String {
    let path = Path::new(name);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let names = files.flatten().map(|file| file.path().display().to_string());
    let names: Vec<String> = names.map(|found| found.trim_start_matches("./").to_owned()).collect();
    did_you_mean(name.trim_start_matches("./"), names.iter().map(String::as_str))
}

/// Returns the time from the start of the measured phase until the last client ended, in seconds.
fn elapsed_s(report: &Report) -> f64 {
    let elapsed_s = report.elapsed_seconds.unwrap_or(0.0) - report.phases.ramp_up_s;
    elapsed_s.max(report.measured_seconds)
}

/// Returns a value as a plan has it.
fn given(text: &str) -> Written {
    Written::new(text, From::Default)
}

/// Returns the plan of a run of one group on a target, with these values of the plan itself.
fn plan_of(
    target: &Target,
    group: GroupDraft,
    values: &[(&'static str, &str)],
) -> Result<Plan, Error> {
    let mut draft = Draft { groups: vec![group], ..Draft::default() };
    draft.values.extend(values.iter().map(|(name, value)| (*name, given(value))));
    let task = decide_task(&draft, &|_| Ok(target.clone()))?;
    let Task::Run(mut plan) = task else {
        unreachable!("it varies nothing");
    };
    // With its password.
    plan.target = target.clone();
    Ok(*plan)
}

/// Returns the file that stores a run, as for runs of dbdyno's own; `None` if the user wants none.
/// `named` is the value of `--store`.
fn store(named: Option<&str>, is_off: bool, shell: &Shell) -> Result<Option<PathBuf>, Error> {
    if is_off || (named.is_none() && flags::is_store_off_by_default(shell)) {
        return Ok(None);
    }
    flags::named_store_to_write(named, true, shell).map(Some)
}
