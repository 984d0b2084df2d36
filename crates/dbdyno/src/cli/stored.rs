//! Shared arguments of commands on the store: runs, conditions, labels.
//!
//! Not here: the commands.

use app::Error;
use clap::{Arg, ArgAction, ArgMatches};
use model::RunId;
use store::{BadQuery, LAST, Store, StoreErrorKind, why_no_label};

use super::flags;
use crate::shell::Shell;

/// Creates the positional argument that names a run.
pub(super) fn id() -> Arg {
    Arg::new("id")
        .required(true)
        .value_name("ID")
        .help("A run's id, the beginning or end of one, its name, or 'last' (the newest run)")
}

/// Creates the flags `--where` and `--sort` of a list; the arguments are their help texts.
pub(super) fn asked(conditions: &'static str, order: &'static str) -> [Arg; 2] {
    let sort = Arg::new("sort").long("sort").value_name("COLUMN,...").allow_hyphen_values(true);
    [Arg::new("where").long("where").value_name("CONDITIONS").help(conditions), sort.help(order)]
}

/// Returns a function that turns the error of invalid conditions (`--where`) or an invalid order
/// (`--sort`) into a usage error that names `flag`.
pub(super) fn bad(flag: &'static str) -> impl Fn(BadQuery) -> Error {
    move |bad| Error::Usage(format!("{flag}: {bad}"))
}

/// Opens the store for a command that needs stored runs. Fails if the store does not exist.
pub(super) fn store(matches: &ArgMatches, shell: &Shell) -> Result<Store, Error> {
    let path = flags::store_path(matches, shell)?;
    let is_off = !path.exists() && flags::is_store_off(matches, shell);
    Store::open_existing(&path).map_err(|error| match is_off {
        true => Error::Failed(format!(
            "there is no store {}, because the store is off: 'dbdyno config unset store' keeps runs",
            path.display()
        )),
        false if error.kind == StoreErrorKind::Missing => Error::Usage(format!(
            "{error}, such as 'dbdyno run tpcc'; or name another store (--store FILE)"
        )),
        false => said(error),
    })
}

/// Converts a store error into an error of the command: a usage error for a wrong name or a run
/// that has not ended, else a failure.
pub(super) fn said(error: store::StoreError) -> Error {
    // A request for the result of a running run is a usage error.
    let is_misuse = error.kind.is_wrong_name() || error.kind == StoreErrorKind::UnderWay;
    (if is_misuse { Error::Usage } else { Error::Failed })(error.to_string())
}

/// Finds the runs that the command line names, without duplicates. Fails if one is unknown.
pub(super) fn all_found(store: &Store, matches: &ArgMatches) -> Result<Vec<RunId>, Error> {
    let names = matches.get_many::<String>("id").expect("clap requires one");
    let mut runs: Vec<RunId> = Vec::new();
    for name in names {
        add_new(&mut runs, [store.find(name).map_err(said)?]);
    }
    Ok(runs)
}

/// Appends those runs to `runs` that are not yet in it.
pub(super) fn add_new(runs: &mut Vec<RunId>, found: impl IntoIterator<Item = RunId>) {
    for run in found {
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
}

/// Creates the flag `--label`, for labels of a new run or of every run of an experiment.
pub(super) fn label_flag() -> Arg {
    Arg::new("label")
        .long("label")
        .value_name("KEY=VALUE")
        .action(ArgAction::Append)
        .help("Label the run, or every run of an experiment (build=1.2.7); may be repeated")
}

/// Parses `--label`. Fails if a value is missing, or a key occurs twice.
pub(super) fn labels(matches: &ArgMatches) -> Result<Vec<(String, String)>, Error> {
    let written = matches.get_many::<String>("label").into_iter().flatten();
    let label = |label: &String| match key_value(label)? {
        (_, "") => Err(Error::Usage(format!("--label {label}: the value is missing"))),
        (key, value) => Ok((key.to_owned(), value.to_owned())),
    };
    let labels: Vec<(String, String)> = written.map(label).collect::<Result<_, _>>()?;
    for (place, (key, value)) in labels.iter().enumerate() {
        if let Some((_, other)) = labels[..place].iter().find(|(earlier, _)| earlier == key) {
            return Err(Error::Usage(format!(
                "--label {key}={value}: '{key}' is '{other}' already: give each key one value"
            )));
        }
    }
    Ok(labels)
}

/// Splits a label at its `=` into key and value. Fails if it has no key, or if the store does not
/// accept it.
pub(super) fn key_value(label: &str) -> Result<(&str, &str), Error> {
    let pair = label.split_once('=').filter(|(key, _)| !key.is_empty());
    let pair =
        pair.ok_or_else(|| Error::Usage(format!("'{label}' is not a label: write key=value")))?;
    match why_no_label(pair.0, pair.1) {
        Some(why) => Err(Error::Usage(why)),
        None => Ok(pair),
    }
}

/// Returns the short id of the experiment of which `run` is a trial; `None` if it is no trial, or
/// if the user did not name it as `last`.
pub(super) fn experiment_of_last(
    store: &Store,
    run: &RunId,
    matches: &ArgMatches,
) -> Result<Option<String>, Error> {
    if matches.get_one::<String>("id").is_none_or(|name| name != LAST) {
        return Ok(None);
    }
    let row = store.row(run).map_err(said)?;
    Ok(row.and_then(|row| Some(render::list::short_id(&row.experiment?).to_owned())))
}
