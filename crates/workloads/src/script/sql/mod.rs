//! Workloads in SQL with pgbench's meta-commands, from files and plans: own transactions, and
//! pgbench's scripts as they are.
//!
//! A variable that the script reads before it sets it is a parameter of the workload. Not here: the
//! language (`script::pgbench`), and the rows that standard workloads build.

mod builder;
mod builtin;
mod client;
mod compiled;
mod givable;
mod sections;
mod words;
mod workload;

use std::sync::Arc;

use model::{BadParameter, Parameter, ParameterKind, Source, Workload, interned};

pub use self::builtin::{BUILTINS, Builtin, builtin};
use self::compiled::Compiled;
pub use self::workload::{TimedCommand, timed_commands};
use crate::{Entry, Language, Make};

/// Language of files whose names end with `.sql`.
pub(crate) static LANGUAGE: Language =
    Language { extension: "sql", is_code: false, read, modules: None };

/// Language of scripts with pgbench's own extension.
pub(crate) static PGBENCH: Language =
    Language { extension: "pgbench", is_code: false, read, modules: None };

/// Name of the parameter for the way in which statements are sent.
pub const MODE: &str = "mode";
/// Name of the parameter for the seed of pgbench's random numbers.
pub const RANDOM_SEED: &str = "random_seed";
/// Name of the parameter for the number of clients among which the random numbers are divided.
pub const RANDOM_CLIENTS: &str = "random_clients";
/// Name of the parameter for what happens to a variable without a value.
pub const UNSET: &str = "unset";

/// Name of the parameter for what a client does after an error.
pub const ON_ERROR: &str = "on_error";
/// Value of [`ON_ERROR`] with which an error ends the client, as in pgbench.
pub const END_CLIENT: &str = "end_client";
/// Name of the parameter that records the time of each command.
pub const COMMAND_TIMES: &str = "command_times";

/// Parameters that each workload in this language has, besides its variables.
static OWN: [Parameter; 6] = [
    Parameter::option(
        MODE,
        ParameterKind::Choice(&["simple", "prepared"]),
        "simple",
        "Send statements as text with their values (simple), or prepare each once per connection",
    ),
    Parameter::option(
        RANDOM_SEED,
        ParameterKind::Text,
        "",
        "Draw the same random numbers as pgbench with this --random-seed [default: numbers that \
         depend only on the plan's seed and the transaction]",
    ),
    Parameter::option(
        RANDOM_CLIENTS,
        ParameterKind::Count { min: 1, max: 1_000_000 },
        "1",
        "Clients (pgbench's -c) among which --random-seed divides the random numbers",
    ),
    Parameter::option(
        UNSET,
        ParameterKind::Choice(&["refuse", "keep"]),
        "refuse",
        "Variables without a value: refuse the script, or send them as they are written",
    ),
    Parameter::option(
        ON_ERROR,
        ParameterKind::Choice(&["continue", END_CLIENT]),
        "continue",
        "After an error other than a serialization failure or a deadlock: continue with the next \
         transaction, or end the client, as pgbench does; pgbench's limits to COPY and pipelines \
         then hold too",
    ),
    Parameter::option(
        COMMAND_TIMES,
        ParameterKind::Choice(&["off", "on"]),
        "off",
        "Record the time of each command of a script as a custom metric",
    ),
];

/// Variables that every script has: those of pgbench, [`ROW`] and [`ROW_COUNT`].
const PREDEFINED: [&str; 7] =
    ["client_id", CLIENTS, "scale", "random_seed", "default_seed", ROW, ROW_COUNT];
/// Variable with the number of clients.
const CLIENTS: &str = "clients";
/// Variable with the number of the current repetition of a section that builds rows, from 1.
const ROW: &str = "row";
/// Variable with the number of rows that the last SQL command returned or changed, named as in
/// psql.
const ROW_COUNT: &str = "ROW_COUNT";

/// Composes one script of several files, each with its weight and the text that was read.
pub fn composed<'a>(files: impl IntoIterator<Item = (&'a str, u64, &'a str)>) -> String {
    let mut text = String::new();
    let mut names: Vec<String> = Vec::new();
    for (file, weight, content) in files {
        let stem = Source::new(file, "").stem().to_owned();
        let is_name = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
        let stem: String =
            stem.chars().map(|letter| if is_name(letter) { letter } else { '_' }).collect();
        let is_new = |name: &String| !names.contains(name);
        let numbered = (2..).map(|n| format!("{stem}-{n}"));
        let name = std::iter::once(stem.clone()).chain(numbered).find(is_new);
        let name = name.expect("there are numbers enough");
        text.push_str(&sections::header_of(&name, weight, file));
        text.push_str(content);
        if !content.ends_with('\n') {
            text.push('\n');
        }
        names.push(name);
    }
    text
}

fn read(source: &'static Source) -> Result<Entry, BadParameter> {
    let compiled = Compiled::read(source)?;
    let variable = |name: &String| {
        let default = if name == "scale" { "1" } else { "" };
        let help = "Variable of the script";
        let id = compiled.names.lookup(name);
        Parameter {
            shapes_data: id.is_some_and(|id| compiled.shapes_data(id)),
            ..Parameter::option(interned(name), ParameterKind::Text, default, help)
        }
    };
    let is_new = |name: &&String| OWN.iter().all(|own| own.name != name.as_str());
    let mut parameters = OWN.to_vec();
    parameters.extend(compiled.declared.iter().map(|(id, default, help)| {
        let name = interned(compiled.names.name_of(*id));
        Parameter {
            shapes_data: compiled.shapes_data(*id),
            ..Parameter::option(name, ParameterKind::Text, default, help)
        }
    }));
    parameters.extend(compiled.variables().iter().filter(is_new).map(variable));
    Ok(Entry {
        name: &source.name,
        data: interned(source.stem()),
        summary: "Own transactions, in SQL",
        parameters: parameters.leak(),
        roles: &[],
        make,
        source: None,
    })
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let source = make.source.expect("it was read from a file");
    Ok(Arc::new(workload::Scripts::new(Compiled::read(source)?, source, make)?))
}
