//! `dbdyno runs export` and `dbdyno runs import`: runs as files for other programs and people.

use std::path::{Path, PathBuf};

use analysis::report::{Options, Report, Status};
use app::Error;
use app::stored_report::{check_run, stored_report, stored_tally};
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::RunId;
use model::numbers::count;
use render::list::short_id;
use render::{as_json, seconds_csv};
use serde_json::{Value, json};
use store::{Filter, Imported, Store, StoreError, StoreErrorKind, is_exported};

use super::output_file::{OutputFile, extension};
use super::stored::{add_new, experiment_of_last, id, said, store};
use super::{DONE, Outcome, flags};
use crate::shell::Shell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// JSON: the report of each run, with all its parts.
    Json,
    /// CSV: the figures of each second of each run, one second per line.
    Csv,
    /// Interval log of HdrHistogram: the response times of one run.
    Hlog,
    /// SQLite file with the selected runs, which `dbdyno runs import` reads.
    Dbdyno,
}

impl Format {
    const ALL: [(&str, Format); 4] = [
        ("json", Format::Json),
        ("csv", Format::Csv),
        ("hlog", Format::Hlog),
        ("dbdyno", Format::Dbdyno),
    ];

    fn by_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, format)| format)
    }
}

pub(super) fn command() -> Command {
    Command::new("export")
        .about("Exports runs to a file: JSON, CSV, an HdrHistogram log, or a file to import")
        .arg(
            id().help(
                "A run, an experiment (its trials), KEY=VALUE (all runs with a label), or 'last' \
                 (the newest run)",
            )
            .num_args(1..)
            .action(ArgAction::Append),
        )
        .arg(
            Arg::new("file")
                .long("file")
                .short('o')
                .value_name("FILE")
                .help("Output file [default: stdout]"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("json|csv|hlog|dbdyno")
                .value_parser(Format::ALL.map(|(name, _)| name))
                .hide_possible_values(true)
                .help(
                    "The report (json), its seconds (csv), response times as an HdrHistogram \
                     interval log (hlog), or a file for 'runs import' (dbdyno) [default: by the \
                     file's extension; json without one, and on stdout]",
                ),
        )
}

pub(super) fn import_command() -> Command {
    Command::new("import")
        .about("Imports the runs of a file that 'runs export' wrote, or of a whole store")
        .arg(Arg::new("path").required(true).value_name("FILE").help("The file"))
}

/// Name of a file that stands for the standard output.
pub(super) const STDOUT: &str = "-";

pub(super) fn export(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let name = matches.get_one::<String>("file").filter(|name| *name != STDOUT);
    let format = format(matches, name)?;
    // An earlier export may be replaced, for example each night.
    let may_replace = |path: &Path| format == Format::Dbdyno && is_exported(path);
    let file = name.map(|name| OutputFile::named_unless(name, may_replace, matches, shell));
    let file = file.transpose()?;
    let store = store(matches, shell)?;
    let runs = named(&store, matches)?;
    if let [run] = &runs[..]
        && let Some(id) = experiment_of_last(&store, run, matches)?
    {
        shell.say(&format!(
            "this is the last trial of experiment {id}: 'dbdyno runs export {id}' exports all"
        ));
    }
    let (text, file) = match (format, file) {
        (Format::Dbdyno, None) => {
            let why = "--format dbdyno is a file: name it with -o runs.dbdyno";
            return Err(Error::Usage(why.to_owned()));
        }
        (Format::Dbdyno, Some(file)) => {
            store.export_to(file.path(), &runs).map_err(said)?;
            return wrote(file.path(), runs.len(), shell);
        }
        (Format::Json, file) => (reports_json(&reports(&store, &runs, shell)?), file),
        (Format::Csv, file) => (seconds_csv(&reports(&store, &runs, shell)?), file),
        (Format::Hlog, file) => (interval_log(&store, &runs)?, file),
    };
    let Some(file) = file else {
        return shell.print(&text);
    };
    file.write(text.as_bytes())?;
    wrote(file.path(), runs.len(), shell)
}

/// Returns the runs that the command line names for an export, without duplicates: by id or name,
/// by label, or as the trials of an experiment.
pub(super) fn named(store: &Store, matches: &ArgMatches) -> Result<Vec<RunId>, Error> {
    let mut runs: Vec<RunId> = Vec::new();
    for name in matches.get_many::<String>("id").expect("clap requires one") {
        if let Some((key, value)) = name.split_once('=') {
            let label = Some((key.to_owned(), Some(value.to_owned())));
            let rows = store.list(&Filter { label, ..Filter::default() }).map_err(said)?;
            if rows.is_empty() {
                return Err(Error::Usage(format!("no run has the label {name}")));
            }
            add_new(&mut runs, rows.into_iter().rev().map(|row| row.run));
            continue;
        }
        // As for a report: the trials of an experiment have its name.
        let experiment = store.find_experiment(name).ok().filter(|_| name != store::LAST);
        let found = match experiment {
            Some(experiment) => {
                let trials = store.trials(&experiment).map_err(said)?;
                trials.into_iter().map(|trial| trial.run.run).collect()
            }
            None => vec![store.find(name).map_err(said)?],
        };
        add_new(&mut runs, found);
    }
    Ok(runs)
}

/// Returns the format of an export from `--format`, else from the extension of the file. Without an
/// extension or a file it is JSON; an unknown extension is an error.
fn format(matches: &ArgMatches, file: Option<&String>) -> Result<Format, Error> {
    if let Some(named) = matches.get_one::<String>("format").and_then(|name| Format::by_name(name))
    {
        return Ok(named);
    }
    let Some((file, end)) = file.map(|file| (file, extension(file))) else {
        return Ok(Format::Json);
    };
    let format = if end.is_empty() { Some(Format::Json) } else { Format::by_name(&end) };
    format.ok_or_else(|| {
        let known = Format::ALL.map(|(name, _)| name).join(", ");
        Error::Usage(format!("-o {file}: unknown extension; choose a --format: {known}"))
    })
}

fn wrote(path: &Path, n_runs: usize, shell: &Shell) -> Outcome {
    let plural = if n_runs == 1 { "" } else { "s" };
    shell.print(&format!("wrote {n_runs} run{plural} to {}\n", path.display()))
}

/// Reads the reports of runs, and warns of runs that are still running.
fn reports(store: &Store, runs: &[RunId], shell: &Shell) -> Result<Vec<Report>, Error> {
    let report = |run| stored_report(store, run, Options { per_client: true });
    let all: Vec<Report> = runs.iter().map(report).collect::<Result<_, _>>()?;
    for report in all.iter().filter(|report| report.status == Status::Running) {
        let run = short_id(&report.run_id);
        shell.say(&format!("warning: the run {run} goes on: its figures are those so far"));
    }
    Ok(all)
}

/// Formats one report as a JSON object, and several as an object with a list of them.
fn reports_json(reports: &[Report]) -> String {
    match reports {
        [report] => as_json(report),
        reports => {
            let reports = serde_json::to_value(reports).expect("a report is numbers and words");
            let list = json!({"schema": "dbdyno.reports/1", "reports": reports});
            format!("{list:#}\n")
        }
    }
}

fn interval_log(store: &Store, runs: &[RunId]) -> Result<String, Error> {
    match runs {
        [run] => {
            // A log has a line for each second.
            stored_tally(store, run)?;
            store::interval_log(store, run).map_err(said)
        }
        _ => Err(Error::Usage(
            "an interval log has the seconds of one run: export one at a time".to_owned(),
        )),
    }
}

pub(super) fn import(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let path = PathBuf::from(matches.get_one::<String>("path").expect("clap requires it"));
    let ours = flags::store_to_write(matches, shell)?;
    // A wrong file name must not create a store.
    if !path.exists() {
        return Err(Error::Usage(format!("there is no file {}", path.display())));
    }
    if !ours.exists() {
        // Nor must a damaged file.
        Store::check_sent(&path).map_err(|error| not_imported(&path, error))?;
    }
    // A new user may begin with an import, so the store may not exist.
    let store = Store::open(&ours).map_err(said)?;
    let imported = store.import(&path, check_run).map_err(|error| not_imported(&path, error))?;
    if imported.new.is_empty() && imported.known.is_empty() {
        return Err(Error::Failed(format!("{} has no runs", path.display())));
    }
    if flags::is_json(matches) {
        let ids = |runs: &[RunId]| runs.iter().map(|run| json!(run.0)).collect::<Value>();
        let (new, known) = (ids(&imported.new), ids(&imported.known));
        let value = json!({
            "schema": "dbdyno.imported/1",
            "imported": new,
            "known": known,
            "acknowledged": imported.acknowledged,
            "baselines": imported.baselines,
        });
        return shell.print(&format!("{value:#}\n"));
    }
    shell.print(&summary(&imported)).map(|_| DONE)
}

/// Converts an error of an import. A file that is no store may be a report, which has no runs that
/// could be imported.
fn not_imported(path: &Path, error: StoreError) -> Error {
    match error.kind {
        StoreErrorKind::NotAStore if path.is_file() => Error::Usage(format!(
            "{} is not a file for import: write one with dbdyno runs export RUN -o NAME.dbdyno",
            path.display()
        )),
        _ => said(error),
    }
}

/// Largest number of runs that [`summary`] names; `...` stands for the others.
const NAMED_MOST: usize = 5;

/// Returns a sentence with the runs that were imported and skipped, such as
/// `imported 12 runs: 0193f7c2, 0193f7d5, ...; skipped 1 that exists already: 0193f7a1`, and other
/// entries added.
fn summary(all: &Imported) -> String {
    let Imported { new, known, .. } = all;
    let named = |runs: &[RunId]| {
        let mut ids: Vec<&str> = runs.iter().take(NAMED_MOST).map(|run| short_id(&run.0)).collect();
        ids.extend((runs.len() > NAMED_MOST).then_some("..."));
        ids.join(", ")
    };
    let imported = (!new.is_empty())
        .then(|| format!("imported {}: {}", count(new.len() as u64, "run"), named(new)));
    let skipped = (!known.is_empty()).then(|| {
        let exist = if known.len() == 1 { "exists" } else { "exist" };
        format!("skipped {} that {exist} already: {}", known.len(), named(known))
    });
    let decided = [(all.acknowledged, "acknowledgement"), (all.baselines, "baseline")];
    let decided = decided.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(n, what));
    let decided: Vec<String> = decided.collect();
    let added = (!decided.is_empty()).then(|| format!("added {}", decided.join(" and ")));
    imported.into_iter().chain(skipped).chain(added).collect::<Vec<_>>().join("; ") + "\n"
}
