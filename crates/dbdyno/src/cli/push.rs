//! `dbdyno runs push`, and `--push` of other commands: sends stored runs to the store of a team,
//! which `dbdyno web` serves.
//!
//! Runs that are there already are not sent again, so the command may be repeated at any time. Not
//! here: the connection, and what the service does (web).

mod connection;

use app::Error;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::numbers::count;
use model::{RunId, Status};
use serde_json::Value;
use store::{Filter, Store};

use self::connection::{Connection, Url};
use super::export::named;
use super::stored::{id, said, store};
use super::{DONE, Outcome, flags};
use crate::shell::Shell;
use crate::web::{KNOWN, PUSH, WriterToken};

/// Environment variable with the token, which a process list does not show.
const VARIABLE: &str = "DBDYNO_PUSH_TOKEN";
/// Number of runs that are asked for at once.
const ASKED_AT_ONCE: usize = 1000;

pub(super) fn command() -> Command {
    Command::new("push")
        .about("Sends runs to the store of a team, which 'dbdyno web' serves there")
        .after_help(
            "Runs that are there already are not sent again. 'dbdyno web writer add NAME' on the \
             host of the service prints the token.",
        )
        .arg(
            Arg::new("url")
                .required(true)
                .value_name("URL")
                .help("Address of the service, such as https://bench.example:8421"),
        )
        .arg(
            id().required(false)
                .num_args(0..)
                .action(ArgAction::Append)
                .help("Runs, experiments, or KEY=VALUE (all runs with a label) [default: all]"),
        )
        .arg(token_flag())
}

fn token_flag() -> Arg {
    Arg::new("push_token").long("token").value_name("TOKEN").help(
        "Token of a writer (or put it in DBDYNO_PUSH_TOKEN); the command line shows *** instead",
    )
}

/// Creates the flag `--push` of commands that measure.
pub(super) fn flags() -> [Arg; 1] {
    [Arg::new("push").long("push").value_name("URL").help(
        "Send the stored runs to this service when they have ended, as 'runs push' does (token: \
         DBDYNO_PUSH_TOKEN)",
    )]
}

pub(super) fn push(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let url = Url::parse(matches.get_one::<String>("url").expect("clap requires it"))?;
    let token = matches.get_one::<String>("push_token").cloned();
    let token = token_of(token, shell)?;
    let store = store(matches, shell)?;
    let runs = match matches.contains_id("id") {
        true => named(&store, matches)?,
        false => ended(&store, 0)?,
    };
    let mut connection = Connection::to(&url, token)?;
    let sent = send(&store, &runs, &mut connection, shell)?;
    let there = runs.len() - sent;
    let known = if there > 0 { format!("; {there} were there already") } else { String::new() };
    shell.print(&format!("pushed {} to {url}{known}\n", count(sent as u64, "run")))?;
    Ok(DONE)
}

fn token_of(given: Option<String>, shell: &Shell) -> Result<WriterToken, Error> {
    let none = || {
        Error::Usage(
            "a push needs a token: 'dbdyno web writer add NAME' on the host of the service prints \
             one; put it in DBDYNO_PUSH_TOKEN"
                .to_owned(),
        )
    };
    WriterToken::parse(&given.or_else(|| shell.variable(VARIABLE)).ok_or_else(none)?)
}

/// Returns the ended runs of a store that began at or after a time (Unix, in milliseconds), oldest
/// first.
fn ended(store: &Store, from_unix_ms: i64) -> Result<Vec<RunId>, Error> {
    let rows = store.list(&Filter::default()).map_err(said)?;
    let is_ended =
        |row: &store::RunRow| row.status != Status::Running && row.started_unix_ms >= from_unix_ms;
    Ok(rows.into_iter().rev().filter(is_ended).map(|row| row.run).collect())
}

/// Sends those runs that the service lacks, one at a time. Returns how many were sent.
fn send(
    store: &Store,
    runs: &[RunId],
    connection: &mut Connection,
    shell: &Shell,
) -> Result<usize, Error> {
    let mut lacking: Vec<&RunId> = Vec::new();
    for some in runs.chunks(ASKED_AT_ONCE) {
        let ids: Vec<&str> = some.iter().map(|run| run.0.as_str()).collect();
        let answer = connection.post_json(KNOWN, &serde_json::json!(ids))?;
        let known = answer["known"].as_array().map_or(&[][..], Vec::as_slice);
        let is_known = |run: &&RunId| known.iter().any(|id| id.as_str() == Some(&run.0));
        lacking.extend(some.iter().filter(|run| !is_known(run)));
    }
    let folder = tempfile::tempdir()
        .map_err(|error| Error::Failed(format!("no folder for the file of runs: {error}")))?;
    let path = folder.path().join("push.dbdyno");
    for (nth, run) in lacking.iter().enumerate() {
        if lacking.len() > 1 && shell.writes_terminal() {
            shell.say(&format!("pushing run {} of {}", nth + 1, lacking.len()));
        }
        store.export_to(&path, std::slice::from_ref(*run)).map_err(said)?;
        let read = |error| Error::Failed(format!("{}: {error}", path.display()));
        let sent = connection.post_file(PUSH, std::fs::read(&path).map_err(read)?);
        let answer: Value = sent.map_err(|error| so_far(error, nth, lacking.len()))?;
        debug_assert!(answer["pushed"].is_array(), "{answer}");
    }
    Ok(lacking.len())
}

/// Adds to an error how many runs were sent before it.
fn so_far(error: Error, n_sent: usize, n_all: usize) -> Error {
    match error {
        Error::Unreachable(why) if n_sent > 0 => Error::Unreachable(format!(
            "{why}; {n_sent} of {n_all} runs were pushed: the same command goes on from there"
        )),
        error => error,
    }
}

/// Does what a command that measures does and, with `--push`, sends the runs that it has stored. A
/// push that fails is reported, and changes no exit code: the runs stay in the store.
pub(super) fn after(matches: &ArgMatches, shell: &Shell, measure: &dyn Fn() -> Outcome) -> Outcome {
    let Some(url) = matches.get_one::<String>("push") else { return measure() };
    // What is wrong is said before the load.
    let address = Url::parse(url)?;
    let token = token_of(None, shell)?;
    if flags::is_unstored(matches, shell)? {
        let why = "--push: without a store there is nothing to send: leave out --no-store";
        return Err(Error::Usage(why.to_owned()));
    }
    let from_unix_ms = app::unix_ms();
    let outcome = measure();
    let pushed = store(matches, shell).and_then(|store| {
        let runs = ended(&store, from_unix_ms)?;
        let mut connection = Connection::to(&address, token.clone())?;
        send(&store, &runs, &mut connection, shell)
    });
    match pushed {
        Ok(sent) => shell.say(&format!("pushed {} to {address}", count(sent as u64, "run"))),
        Err(error) => shell.say(&format!(
            "warning: not pushed: {error}; the runs are stored here, and 'dbdyno runs push {url}' \
             sends them later"
        )),
    }
    outcome
}
