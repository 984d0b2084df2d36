//! Options of scripts: what they declare, and what sysbench has for all of them.

use mlua::{Lua, Table, Value};
use model::{Choice as _, Parameter, ParameterKind, Settings, interned, parse_switch};

use super::random::{Distribution, Shape};
use super::state::State;

/// Switch: whether an error that is not ignored ends the run.
pub(super) const ERRORS: &str = "fatal_errors";
/// Switch: whether what the script prints goes to the standard output.
pub(super) const PRINTS: &str = "print_to_stdout";
/// Options of a command line of sysbench.
const OF_SYSBENCH: &str = "sysbench_options";

/// Options that every script has and that it does not read by these names.
const OF_RUN: [Parameter; 3] = [
    option(
        ERRORS,
        ParameterKind::Switch,
        "false",
        "End the run at an error that is not ignored, as sysbench does, and do not count it",
    ),
    option(
        PRINTS,
        ParameterKind::Switch,
        "false",
        "Send what the script prints to the standard output, where the results are",
    ),
    option(
        OF_SYSBENCH,
        ParameterKind::Text,
        "",
        "General options of sysbench that the script reads, such as 'time=60;rate=0'",
    ),
];

/// Names of options that scripts can read and that every script has.
const GENERAL: [Parameter; 10] = [
    option(
        "threads",
        ParameterKind::Count { min: 1, max: 100_000 },
        "",
        "Number of threads that the script reads [default: the number of clients]",
    ),
    option(
        "rand_type",
        ParameterKind::Choice(Distribution::NAMES),
        "special",
        "Distribution of the numbers of sysbench.rand.default",
    ),
    option(
        "rand_seed",
        ParameterKind::Count { min: 0, max: 2_147_483_647 },
        "0",
        "Seed with which each client draws what a thread of sysbench draws; 0: dbdyno's seed",
    ),
    option(
        "rand_spec_iter",
        ParameterKind::Count { min: 1, max: 10_000 },
        "12",
        "Number of uniform numbers of which a gaussian one is the mean",
    ),
    option(
        "rand_spec_pct",
        ParameterKind::Number { min: 0.0, max: 100.0 },
        "1",
        "Width of the middle of the distribution special, in percent of the range",
    ),
    option(
        "rand_spec_res",
        ParameterKind::Number { min: 0.0, max: 99.0 },
        "75",
        "Share of the numbers that the distribution special draws from its middle, in percent",
    ),
    option(
        "rand_pareto_h",
        ParameterKind::Number { min: 0.0001, max: 0.9999 },
        "0.2",
        "Parameter h of the distribution pareto",
    ),
    option(
        "rand_zipfian_exp",
        ParameterKind::Number { min: 0.0001, max: 100.0 },
        "0.8",
        "Exponent of the distribution zipfian",
    ),
    option(
        "db_ps_mode",
        ParameterKind::Choice(&["auto", "disable"]),
        "auto",
        "How prepared statements are sent: prepared, or as text (disable)",
    ),
    option(
        "mysql_ignore_errors",
        ParameterKind::Words,
        "1213,1020,1205",
        "Error numbers after which the event is run again, or all; not for PostgreSQL",
    ),
];

/// Names of flags of dbdyno itself. An option of a script with such a name gets `script_` before
/// it.
const TAKEN: [&str; 64] = [
    "arrivals",
    "ask_password",
    "check",
    "clients",
    "confirm",
    "connect_at_once",
    "connect_rate",
    "cpu_profile",
    "data",
    "drain",
    "duration",
    "force",
    "full",
    "help",
    "histogram_max",
    "instruments",
    "keythink_scale",
    "label",
    "load",
    "load_method",
    "loaders",
    "metrics_linger",
    "metrics_listen",
    "monitor",
    "name",
    "network_bandwidth",
    "network_delay",
    "no_build",
    "no_store",
    "objective",
    "order",
    "output",
    "password_file",
    "pause",
    "per_client",
    "pin",
    "placement",
    "processes",
    "queue",
    "queue_at_end",
    "queue_full",
    "queue_wait",
    "quiet",
    "ramp_up",
    "rate",
    "reference",
    "repeat",
    "repeat_rebuild",
    "repeat_restart",
    "report_interval",
    "require",
    "retry_attempts",
    "retry_backoff",
    "retry_on",
    "seed",
    "seek",
    "seek_budget",
    "settle",
    "settle_limit",
    "store",
    "target",
    "transactions",
    "undecided",
    "vary",
];

const fn option(
    name: &'static str,
    kind: ParameterKind,
    default: &'static str,
    help: &'static str,
) -> Parameter {
    // Which options shape the tables is known to the script alone.
    Parameter { name, kind, default, help, shapes_data: false }
}

/// Kinds of options, as scripts name them by `sysbench.cmdline.ARG_...`.
mod kind {
    pub(super) const BOOL: i64 = 1;
    pub(super) const INT: i64 = 2;
    pub(super) const SIZE: i64 = 3;
    pub(super) const DOUBLE: i64 = 4;
    pub(super) const STRING: i64 = 5;
    pub(super) const LIST: i64 = 6;
}

/// General options of sysbench 1.0.20 that scripts may read, beside those in [`GENERAL`], with
/// their kinds and defaults.
const SYSBENCH: &[(&str, i64, &str)] = &[
    ("db_debug", kind::BOOL, ""),
    ("debug", kind::BOOL, ""),
    ("events", kind::INT, "0"),
    ("forced_shutdown", kind::STRING, "off"),
    ("help", kind::BOOL, ""),
    ("histogram", kind::BOOL, ""),
    ("max_requests", kind::INT, "0"),
    ("max_time", kind::INT, "0"),
    ("mysql_compression", kind::BOOL, ""),
    ("mysql_db", kind::STRING, "sbtest"),
    ("mysql_debug", kind::BOOL, ""),
    ("mysql_dry_run", kind::BOOL, ""),
    ("mysql_host", kind::LIST, "localhost"),
    ("mysql_password", kind::STRING, ""),
    ("mysql_port", kind::LIST, "3306"),
    ("mysql_socket", kind::LIST, ""),
    ("mysql_ssl", kind::BOOL, ""),
    ("mysql_ssl_cipher", kind::STRING, ""),
    ("mysql_user", kind::STRING, "sbtest"),
    ("percentile", kind::INT, "95"),
    ("pgsql_db", kind::STRING, "sbtest"),
    ("pgsql_host", kind::STRING, "localhost"),
    ("pgsql_password", kind::STRING, ""),
    ("pgsql_port", kind::INT, "5432"),
    ("pgsql_user", kind::STRING, "sbtest"),
    ("rate", kind::INT, "0"),
    ("report_checkpoints", kind::LIST, ""),
    ("report_interval", kind::INT, "0"),
    ("thread_stack_size", kind::SIZE, "64K"),
    ("time", kind::INT, "0"),
    ("tx_rate", kind::INT, "0"),
    ("validate", kind::BOOL, ""),
    ("verbosity", kind::INT, "3"),
    ("version", kind::BOOL, ""),
];

/// An option that a script declares.
#[derive(Clone)]
pub(super) struct Declared {
    /// Name by which the script reads the option.
    name: String,
    /// Name as the script declares it.
    written: String,
    help: String,
    kind: i64,
    /// Text of the default; `None` if there is none.
    default: Option<String>,
}

/// An option that a script declares, as sysbench lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredOption {
    /// Name as the script declares it.
    pub name: String,
    /// Form of the value, such as `=N`.
    pub form: &'static str,
    pub help: String,
    /// Default as sysbench prints it; `None` if there is none.
    pub default: Option<String>,
}

impl Declared {
    /// Returns the options that a script whose body has run declares, in the order of their names.
    pub(super) fn all(state: &State) -> mlua::Result<Vec<Declared>> {
        let rows: Vec<(String, String, i64, Option<String>)> = {
            let list: mlua::Function = state.rust().get("declared")?;
            let table: Vec<Table> = list.call(())?;
            let row = |row: Table| Ok((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
            table.into_iter().map(row).collect::<mlua::Result<_>>()?
        };
        let mut all: Vec<Declared> = rows
            .into_iter()
            .map(|(name, help, kind, default)| Declared {
                name: name.replace('-', "_"),
                written: name,
                help,
                kind,
                default,
            })
            .collect();
        // What every script has keeps its form, whatever the script says of it.
        all.retain(|one| !GENERAL.iter().chain(&OF_RUN).any(|row| row.name == one.name));
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn parameter(&self) -> Parameter {
        let (all_low, all_high) = (f64::MIN, f64::MAX);
        let is_number = matches!(self.kind, kind::INT | kind::DOUBLE);
        let of_kind = match self.kind {
            kind::BOOL => ParameterKind::Switch,
            _ if is_number => ParameterKind::Number { min: all_low, max: all_high },
            kind::LIST => ParameterKind::Words,
            _ => ParameterKind::Text,
        };
        // A number or switch without a default is 0 or false, as in sysbench.
        let default = match (self.default.as_deref().unwrap_or_default(), self.kind) {
            ("", kind::BOOL) => "false",
            ("", _) if is_number => "0",
            (default, _) => default,
        };
        let help = self.help.trim().trim_end_matches('.');
        let help = if help.is_empty() { "An option of the script" } else { help };
        option(parameter_name(&self.name), of_kind, interned(default), interned(help))
    }
}

/// Converts the text of an option of this kind to what the script gets.
fn value(lua: &Lua, kind: i64, text: &str) -> mlua::Result<Value> {
    Ok(match kind {
        kind::BOOL => Value::Boolean(parse_switch(text).unwrap_or(false)),
        kind::INT | kind::SIZE | kind::DOUBLE => number(text),
        kind::LIST => Value::Table(words(lua, text)?),
        _ => Value::String(lua.create_string(text)?),
    })
}

/// Reads a number as sysbench does, with K, M, G or T for powers of 1024.
fn number(text: &str) -> Value {
    let plain = text.trim_end_matches(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']);
    let power = match text[plain.len()..].to_ascii_uppercase().as_str() {
        "K" => 1024f64,
        "M" => 1024f64.powi(2),
        "G" => 1024f64.powi(3),
        "T" => 1024f64.powi(4),
        _ => 1.0,
    };
    let value = model::parse_number(plain).unwrap_or(0.0);
    Value::Number(value * power)
}

/// Whether all scripts have this parameter.
pub(super) fn is_of_every_script(name: &str) -> bool {
    GENERAL.iter().chain(&OF_RUN).any(|row| row.name == name)
}

/// Returns the name of the parameter for an option that a script declares.
pub(super) fn parameter_name(name: &str) -> &'static str {
    match TAKEN.contains(&name) {
        true => interned(&format!("script_{name}")),
        false => interned(name),
    }
}

/// Returns the options that a script declares as sysbench lists them.
pub(super) fn declared(all: &[Declared]) -> Vec<DeclaredOption> {
    let row = |one: Declared| DeclaredOption {
        form: match one.kind {
            kind::BOOL => "[=on|off]",
            kind::LIST => "=[LIST,...]",
            // Without a default, numbers are texts there.
            kind::INT | kind::DOUBLE if one.default.is_some() => "=N",
            kind::SIZE if one.default.is_some() => "=SIZE",
            _ => "=STRING",
        },
        default: match (one.kind, one.default) {
            (kind::BOOL, Some(text)) => {
                let is_on = parse_switch(&text).unwrap_or(false);
                Some(if is_on { "on" } else { "off" }.to_owned())
            }
            (_, default) => default,
        },
        name: one.written,
        help: one.help,
    };
    all.iter().cloned().map(row).collect()
}

/// Returns the parameters of a script. `global_names` are those that it reads, if it declares no
/// options, so that they are its options.
pub(super) fn parameters(declared: &[Declared], global_names: Option<&[String]>) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = match global_names {
        None => declared.iter().map(Declared::parameter).collect(),
        Some(names) => {
            let of_global = |name: &String| {
                let help = "A global variable that the script reads";
                option(parameter_name(name), ParameterKind::Text, "", help)
            };
            // What every script has keeps its form here too.
            names.iter().filter(|name| !is_of_every_script(name)).map(of_global).collect()
        }
    };
    let is_new = |row: &&Parameter| !all.iter().any(|other| other.name == row.name);
    let general: Vec<Parameter> = GENERAL.iter().chain(&OF_RUN).filter(is_new).copied().collect();
    all.extend(general);
    all
}

/// Sets the global variables of an old script that the user gave as options.
fn set_globals(state: &State, settings: &Settings) -> mlua::Result<()> {
    let globals = state.globals();
    let is_of_run = |name: &str| OF_RUN.iter().any(|row| row.name == name);
    for (name, text) in settings.written().filter(|(name, _)| !is_of_run(name)) {
        globals.set(name.strip_prefix("script_").unwrap_or(name), text)?;
    }
    Ok(())
}

/// Returns the text of a general option of sysbench that the user gave for scripts to read.
pub(super) fn general<'s>(settings: &'s Settings, name: &str) -> Option<&'s str> {
    let given = settings.written().find(|(key, _)| *key == OF_SYSBENCH).map(|(_, text)| text)?;
    let mut pairs = given.split(';').rev().filter_map(|pair| pair.split_once('='));
    pairs.find(|(given, _)| *given == name).map(|(_, text)| text)
}

/// Fills `sysbench.opt`; for an old script also its global variables of the same names.
pub(super) fn fill(
    state: &State,
    settings: &Settings,
    threads: u32,
    is_old: bool,
) -> mlua::Result<()> {
    let lua = state.lua();
    let options: Table = state.sysbench()?.get("opt")?;
    let text_of = |name: &str| settings.written().find(|(key, _)| *key == name).map(|(_, v)| v);
    for (name, kind, default) in SYSBENCH {
        let text = general(settings, name).unwrap_or(default);
        options.set(*name, value(lua, *kind, text)?)?;
    }
    for row in &GENERAL {
        let Some(text) = text_of(row.name) else { continue };
        match row.kind {
            ParameterKind::Count { .. } | ParameterKind::Number { .. } => {
                options.set(row.name, number(text))?;
            }
            ParameterKind::Words => options.set(row.name, words(lua, text)?)?,
            _ => options.set(row.name, text)?,
        }
    }
    options.set("threads", threads)?;
    options.set("num_threads", threads)?;
    let ignored = text_of("mysql_ignore_errors").unwrap_or_default();
    state.rust().set("ignored_errors", words(lua, ignored)?)?;
    for declared in Declared::all(state)? {
        let text = text_of(parameter_name(&declared.name)).or(declared.default.as_deref());
        let text = text.unwrap_or_default();
        options.set(declared.name.as_str(), value(lua, declared.kind, text)?)?;
    }
    if is_old {
        set_globals(state, settings)?;
        let globals = state.globals();
        for pair in options.pairs::<String, Value>() {
            let (name, value) = pair?;
            if globals.raw_get::<Value>(name.as_str())?.is_nil() {
                globals.raw_set(name, value)?;
            }
        }
    }
    Ok(())
}

fn words(lua: &Lua, text: &str) -> mlua::Result<Table> {
    lua.create_sequence_from(text.split(',').filter(|word| !word.is_empty()))
}

/// Returns the shape of random numbers that the options describe.
pub(super) fn shape(settings: &Settings) -> Shape {
    Shape {
        default: settings.chosen("rand_type"),
        iterations: settings.count("rand_spec_iter") as u32,
        middle_percent: settings.number("rand_spec_pct"),
        middle_share: settings.number("rand_spec_res"),
        pareto_h: settings.number("rand_pareto_h"),
        zipfian_exponent: settings.number("rand_zipfian_exp"),
    }
}
