//! `dbdyno history import`, which stores figures that were measured by other programs, and
//! `--imported`, which shows them together with dbdyno's.
//!
//! Not here: parsing a file (`app`).

use std::fmt::Display;
use std::path::Path;

use app::Error;
use app::imported::{FILE_BYTES_MAX, keep, named, read, remove};
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::Imported;
use model::numbers::count;
use render::imported_list;
use render::terminal::LIST_WIDTH;
use serde_json::json;
use store::{IfKnown, Store, utc};

use super::export::STDOUT;
use super::stored::{said, store};
use super::{Outcome, flags, print_document};
use crate::shell::Shell;

pub(super) fn command() -> Command {
    Command::new("import")
        .about("Imports figures that were measured elsewhere, from CSV")
        .after_help(
            "Each line is one value, with the columns figure (tps, p99, ...) and value and, if \
             known, unit, error (half the width of the 95 % interval), count (of runs) and time. \
             All other columns say what was varied, or name the version:\n\n  \
             version,clients,figure,value\n  1.2,8,tps,5102\n\nThen: dbdyno history --imported \
             NAME --by version",
        )
        .arg(
            Arg::new("file")
                .value_name("FILE.csv")
                .required_unless_present_any(["list", "remove"])
                .help("The file; - is the standard input"),
        )
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .help("Name of the imported figures [default: the file's name]"),
        )
        .arg(Arg::new("source").long("source").value_name("TEXT").help(
            "Source of the figures [default: the file's first line, if it begins with \
                       #]",
        ))
        .arg(flag("replace", "Replace the figures of this name"))
        .arg(
            flag("list", "List the imported figures")
                .conflicts_with_all(["file", "name", "source", "replace", "remove"]),
        )
        .arg(
            Arg::new("remove")
                .long("remove")
                .value_name("NAME")
                .conflicts_with_all(["file", "name", "source", "replace"])
                .help("Remove the imported figures of this name"),
        )
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Creates the flag `--imported`, which shows imported figures together with those measured by
/// dbdyno.
pub(super) fn imported_flag() -> Arg {
    Arg::new("imported")
        .long("imported")
        .value_name("NAME")
        .action(ArgAction::Append)
        .help("Also show figures imported with 'dbdyno history import'; may be repeated")
}

/// Reads the imported figures that `--imported` names.
pub(super) fn imported_of(store: &Store, matches: &ArgMatches) -> Result<Vec<Imported>, Error> {
    let names = matches.get_many::<String>("imported").into_iter().flatten();
    named(store, &names.cloned().collect::<Vec<String>>())
}

/// Returns true if the arguments make the command print a document: only the list is one.
pub(super) fn is_document(matches: &ArgMatches) -> bool {
    matches.get_flag("list")
}

pub(super) fn import(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    if matches.get_flag("list") {
        return list(&store(matches, shell)?, matches, shell);
    }
    if let Some(name) = text("remove") {
        remove(&store(matches, shell)?, name)?;
        return shell.print(&format!("removed the imported {name}\n"));
    }
    let file = text("file").expect("clap requires it");
    let name = match (text("name"), file) {
        (Some(name), _) => name.to_owned(),
        (None, STDOUT) => {
            let why = "what comes from the standard input has no name: write --name";
            return Err(Error::Usage(why.to_owned()));
        }
        (None, file) => stem(file),
    };
    let written = contents(file, shell)?;
    let imported = read(&name, text("source"), &written).map_err(|why| match why {
        Error::Usage(why) => Error::Usage(format!("{file}: {why}")),
        other => other,
    })?;
    let known = match matches.get_flag("replace") {
        true => IfKnown::Replace,
        false => IfKnown::Refuse,
    };
    let store = Store::open(&flags::store_to_write(matches, shell)?).map_err(said)?;
    keep(&store, &imported, known)?;
    shell.print(&summary(&imported))
}

/// Returns the sentence about an import of figures, and a command that shows what was imported.
fn summary(imported: &Imported) -> String {
    let Imported { name, columns, values, .. } = imported;
    let n = count(values.len() as u64, "value");
    let figures = imported.figures().join(", ");
    let by = match columns.is_empty() {
        true => String::new(),
        false => format!(" by {}", columns.join(", ")),
    };
    let next = match columns.iter().find(|column| names_builds(column)) {
        Some(build) => format!("dbdyno history --imported {name} --by {build}"),
        None => format!("dbdyno report EXPERIMENT --imported {name} -o page.html"),
    };
    format!("imported {n} of {figures}{by} as {name}\n  {next}\n")
}

/// Returns true if a column of an imported file names a version of the measured software, over
/// which a history can be made; false for a condition.
fn names_builds(column: &str) -> bool {
    ["version", "build", "release", "commit", "kernel", "date", "day"].contains(&column)
}

/// Returns the name of a file without its folder and extension.
fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem();
    stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

fn contents(file: &str, shell: &Shell) -> Result<String, Error> {
    let cannot = |why: &dyn Display| Error::Usage(format!("{file} cannot be read: {why}"));
    if file != STDOUT {
        return app::imported::contents(Path::new(file)).map_err(|error| cannot(&error));
    }
    let text = shell.read(FILE_BYTES_MAX).map_err(|error| cannot(&error))?;
    match text.len() as u64 == FILE_BYTES_MAX {
        true => Err(cannot(&"it is longer than 64 MB")),
        false => Ok(text),
    }
}

fn list(store: &Store, matches: &ArgMatches, shell: &Shell) -> Outcome {
    let rows = store.all_imported().map_err(said)?;
    if flags::is_json(matches) {
        let one = |row: &store::ImportedRow| {
            let Imported { name, source, columns, values } = &row.imported;
            let since = utc(row.since_unix_ms);
            let (figures, n) = (row.imported.figures(), values.len());
            json!({
                "name": name, "source": source, "columns": columns, "figures": figures,
                "values": n, "since": since,
            })
        };
        let all: Vec<serde_json::Value> = rows.iter().map(one).collect();
        return shell.print(&format!("{:#}\n", json!(all)));
    }
    print_document(&imported_list(&rows), LIST_WIDTH, matches, shell)
}
