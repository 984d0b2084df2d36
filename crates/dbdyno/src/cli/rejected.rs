//! Sentences on a command line that the parser rejected: a misspelt option or command with the
//! nearest one, a value that is missing or not among the possible ones.
//!
//! Not here: words of other benchmark programs (habits).

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};
use model::{did_you_mean, suggestion};

/// Returns a sentence on a parser's error. `command` is the innermost subcommand that the command
/// line names, and `path` the words of its name: `dbdyno runs show`.
pub(super) fn sentence(error: &Error, command: &Command, path: &str) -> String {
    let get = |kind: ContextKind| error.get(kind).map(said).unwrap_or_default();
    // A spelling with its value names: `--duration <DURATION>`.
    let option = || get(ContextKind::InvalidArg);
    let name = || option().split([' ', '=']).next().unwrap_or_default().to_owned();
    let value = || get(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::UnknownArgument => unknown(&name(), &option(), command, path),
        ErrorKind::InvalidSubcommand => {
            let typed = get(ContextKind::InvalidSubcommand);
            let names = command.get_subcommands().filter(|sub| !sub.is_hide_set());
            let meant = did_you_mean(&typed, names.map(Command::get_name));
            format!("there is no command '{typed}' of '{path}'{meant}")
        }
        ErrorKind::InvalidValue if value().is_empty() => {
            format!("{} needs a value: {}", name(), option())
        }
        ErrorKind::InvalidValue => {
            let all = get(ContextKind::ValidValue);
            let meant = did_you_mean(&value(), all.split(", "));
            format!("{}: '{}' is not one of {all}{meant}", name(), value())
        }
        ErrorKind::TooManyValues => format!("{} takes no value: leave out '{}'", name(), value()),
        ErrorKind::MissingRequiredArgument => {
            format!("{} is missing", get(ContextKind::InvalidArg))
        }
        ErrorKind::ArgumentConflict if get(ContextKind::PriorArg) == option() => {
            format!("{} is given twice: it may be given once", name())
        }
        ErrorKind::ArgumentConflict => {
            format!("{} cannot be used with {}", name(), get(ContextKind::PriorArg))
        }
        _ => super::sentence_of(&error.to_string()),
    }
}

/// Returns a sentence on a word that no option or argument of the command is. `name` is the word
/// without its value.
fn unknown(name: &str, typed: &str, command: &Command, path: &str) -> String {
    if !name.starts_with('-') {
        return format!("'{typed}' is one word too many for '{path}'");
    }
    let is_shown = |arg: &&Arg| !arg.is_hide_set();
    let longs = command.get_arguments().filter(is_shown).filter_map(Arg::get_long);
    let nearest = name.strip_prefix("--").and_then(|long| suggestion(long, longs));
    let meant = match nearest {
        Some(nearest) => format!(" (did you mean '--{nearest}'?)"),
        None => of_workloads(name),
    };
    format!("there is no option '{name}' of '{path}'{meant}")
}

/// Names the workloads that have an option which the workload on the command line lacks: ` (the
/// workload tpcc has it)`. Empty if none has it.
fn of_workloads(name: &str) -> String {
    let has = |entry: &&&workloads::Entry| {
        entry.parameters.iter().any(|parameter| format!("--{}", parameter.flag()) == name)
    };
    let all: Vec<&str> = workloads::ALL.iter().filter(has).map(|entry| entry.name).collect();
    match all[..] {
        [] => String::new(),
        [one] => format!(" (the workload {one} has it)"),
        [first, ..] => format!(" ({} workloads have it, such as {first})", all.len()),
    }
}

/// Formats a part of a parser's error.
fn said(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(all) => all.join(", "),
        value => value.to_string(),
    }
}
