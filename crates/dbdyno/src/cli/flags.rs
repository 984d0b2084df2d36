//! Flags that several commands have, and flags derived from the declared parameters of plans and
//! workloads.

use std::path::PathBuf;

use app::Error;
use app::build::LoadMethod;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use model::{BadParameter, Choice, Parameter, ParameterKind, choice};
use store::default_path;
use workloads::GroupRole;

use crate::shell::Shell;

/// Creates the command-line flag for a parameter of a workload or a plan. Its value stays text,
/// because `plan` parses it and reports errors.
pub(crate) fn flag(parameter: &'static Parameter, heading: &'static str) -> Arg {
    let default = match parameter.default {
        "" => String::new(),
        default => format!(" [default: {default}]"),
    };
    // sysbench takes both.
    let spelled = Some(parameter.name).filter(|name| name.contains('_'));
    let arg = Arg::new(parameter.name)
        .long(parameter.flag())
        .aliases(spelled)
        .help(format!("{}{default}", parameter.help))
        .help_heading(heading)
        .allow_hyphen_values(true)
        .value_name(parameter.placeholder());
    match parameter.kind {
        // An option that follows is not its value.
        ParameterKind::Switch => {
            arg.num_args(0..=1).default_missing_value("true").allow_hyphen_values(false)
        }
        ParameterKind::Words => arg.action(ArgAction::Append),
        _ => arg,
    }
}

/// Creates the error for a workload's parameter, with the name of its flag.
pub(crate) fn bad_parameter(bad: BadParameter) -> Error {
    match &bad.parameter {
        Some(name) => Error::Usage(format!("--{}: {}", name.replace('_', "-"), bad.why)),
        None => bad.into(),
    }
}

/// Creates the flag for the number of clients in one role of a workload.
pub(crate) fn of_role(role: &'static GroupRole) -> Arg {
    Arg::new(role.name)
        .long(role.name)
        .help(format!("{} [default: {}]", role.help, role.default))
        .help_heading("Clients and load")
        .allow_hyphen_values(true)
        .value_name("N")
}

/// Returns pairs of name and value of those flags among `names` that have a value, be it from the
/// user or a default.
pub(crate) fn given(
    matches: &ArgMatches,
    names: impl IntoIterator<Item = &'static str>,
) -> Vec<(&'static str, &str)> {
    let value = |name| {
        let value = matches.try_get_one::<String>(name).ok().flatten();
        value.map(|value| (name, value.as_str()))
    };
    names.into_iter().filter_map(value).collect()
}

pub(crate) fn store() -> Arg {
    Arg::new("store").long("store").global(true).value_name("FILE").help_heading("Everywhere").help(
        "File that stores the runs [env: DBDYNO_STORE] [default: \
         ~/.local/share/dbdyno/runs.sqlite; XDG_DATA_HOME replaces ~/.local/share]",
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Text,
    Json,
    Markdown,
    Csv,
    Github,
}

choice!(Output { Text = "text", Json = "json", Markdown = "markdown", Csv = "csv", Github = "github" });

pub(crate) fn output() -> Arg {
    Arg::new("output")
        .long("output")
        .global(true)
        .value_name("text|json|markdown|csv|github")
        .value_parser(
            PossibleValuesParser::new(Output::NAMES).map(|name| {
                Output::by_name(&name).expect("clap lets nothing but the names through")
            }),
        )
        .hide_possible_values(true)
        .help_heading("Everywhere")
        .help(
            "Output format (markdown, csv, github: for commands that support them; github: \
             annotations and the summary of a job) [default: text]",
        )
}

/// Creates the flag `--seed` of commands that work on data without a load.
pub(crate) fn seed() -> Arg {
    Arg::new("seed").long("seed").value_name("N").default_value("1").help("Seed of the data")
}

/// Creates the flag `--quiet`; `what` says what the flag hides.
pub(crate) fn quiet(what: &'static str) -> Arg {
    Arg::new("quiet").long("quiet").short('q').action(ArgAction::SetTrue).help(what)
}

/// Parses the number given to a flag that has a default.
pub(crate) fn number(matches: &ArgMatches, name: &str) -> Result<u64, Error> {
    let text = matches.get_one::<String>(name).expect("it has a default");
    model::parse_count(text).map_err(|bad| Error::Usage(format!("--{name}: {bad}")))
}

/// Parses the number given to a flag; `None` if the user did not give the flag.
pub(crate) fn number_given(matches: &ArgMatches, name: &str) -> Result<Option<u64>, Error> {
    match matches.value_source(name) {
        Some(ValueSource::CommandLine) => number(matches, name).map(Some),
        _ => Ok(None),
    }
}

pub(crate) fn no_store() -> Arg {
    Arg::new("no_store")
        .long("no-store")
        .action(ArgAction::SetTrue)
        .conflicts_with("store")
        .help("Do not store the run")
}

/// Returns true if the user's lasting default disables storing, and neither `--store` nor
/// `DBDYNO_STORE` overrides it.
pub(crate) fn is_store_off(matches: &ArgMatches, shell: &Shell) -> bool {
    is_store_off_by_default(shell) && !matches.contains_id("store")
}

/// Returns true if the user's lasting default is to store nothing.
pub(crate) fn is_store_off_by_default(shell: &Shell) -> bool {
    shell.setting("store") == Some("off") && shell.variable("DBDYNO_STORE").is_none()
}

/// Returns true if a single run or build is not to be stored, because of `--no-store` or the user's
/// lasting default. Fails if there are labels, which need the store.
pub(crate) fn is_unstored(matches: &ArgMatches, shell: &Shell) -> Result<bool, Error> {
    let is_off = is_store_off(matches, shell);
    let is_labelled = matches.contains_id("label");
    match (matches.get_flag("no_store"), is_off) {
        (true, _) if is_labelled => Err(Error::Usage(
            "--no-store: labels are kept in the store: drop one of them".to_owned(),
        )),
        (_, true) if is_labelled => Err(Error::Usage(
            "--label: the store is off ('dbdyno config'): name one with --store".to_owned(),
        )),
        (is_flag, is_off) => Ok(is_flag || is_off),
    }
}

/// Returns true if the live view and progress are hidden, by `--quiet` or the user's lasting
/// default.
pub(crate) fn is_quiet(matches: &ArgMatches, shell: &Shell) -> bool {
    matches.get_flag("quiet") || shell.setting("live") == Some("off")
}

/// Times at which the data are checked: before the load, after it, both or never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Checks {
    Both,
    Before,
    After,
    Off,
}

choice!(Checks { Both = "both", Before = "before", After = "after", Off = "off" });

impl Checks {
    /// Returns true if the data are to be checked before the load.
    pub(crate) fn before(self) -> bool {
        matches!(self, Checks::Both | Checks::Before)
    }

    /// Returns true if the data are to be checked after the load.
    pub(crate) fn after(self) -> bool {
        matches!(self, Checks::Both | Checks::After)
    }
}

pub(crate) fn checks_of(matches: &ArgMatches) -> Checks {
    let name = matches.get_one::<String>("check").expect("it has a default");
    Checks::by_name(name).expect("clap knows its values")
}

pub(crate) fn checks() -> Arg {
    Arg::new("check")
        .long("check")
        .value_name(Checks::NAMES.join("|"))
        .value_parser(PossibleValuesParser::new(Checks::NAMES))
        .hide_possible_values(true)
        .default_value("both")
        .help("When to check the data")
}

pub(crate) fn no_build() -> Arg {
    Arg::new("no_build")
        .long("no-build")
        .action(ArgAction::SetTrue)
        .help("Fail if the data are missing, instead of building them")
}

pub(crate) fn load_method_of(known: &'static [&'static str]) -> Arg {
    Arg::new("load_method")
        .long("load-method")
        .value_name(known.join("|"))
        .value_parser(PossibleValuesParser::new(known))
        .hide_possible_values(true)
        .default_value("bulk")
        .help(match known.len() {
            2 => "How to load rows: by the fastest method of the database (bulk), or by INSERTs",
            _ => {
                "How to load rows: by the fastest method of the database (bulk), by INSERTs, or by \
                 both, to compare them"
            }
        })
}

/// Returns the method of loading data that the command line requests; bulk loading if it is `both`.
pub(crate) fn load_method(matches: &ArgMatches) -> LoadMethod {
    let name = matches.get_one::<String>("load_method").expect("it has a default");
    // `both` compares the two, and begins with bulk loads.
    LoadMethod::by_name(name).unwrap_or(LoadMethod::Bulk)
}

pub(crate) fn is_json(matches: &ArgMatches) -> bool {
    output_of(matches) == Output::Json
}

/// Creates the flag `--undecided`, which says whether a limit that the runs do not decide passes or
/// fails.
pub(crate) fn undecided(help: &'static str) -> Arg {
    Arg::new("undecided")
        .long("undecided")
        .value_name("pass|fail")
        .value_parser(["pass", "fail"])
        .hide_possible_values(true)
        .help(help)
}

/// Returns true if an undecided limit makes the command fail, as it does unless `--undecided pass`
/// is given.
pub(crate) fn fails_undecided(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("undecided").is_none_or(|is| is == "fail")
}

pub(crate) fn output_of(matches: &ArgMatches) -> Output {
    matches.get_one::<Output>("output").copied().unwrap_or(Output::Text)
}

/// Returns the path of the store, for a command that creates it if needed. Creates the folders of
/// the default path; of a path given by the user, only the last one may be missing.
pub(crate) fn store_to_write(matches: &ArgMatches, shell: &Shell) -> Result<PathBuf, Error> {
    let named = matches.get_one::<String>("store").map(String::as_str);
    named_store_to_write(named, matches.try_contains_id("no_store").is_ok(), shell)
}

/// Returns the path of the store as [`store_to_write`] does; `named` is the value of `--store`, and
/// `has_no_store` says whether the command could do without a store.
pub(crate) fn named_store_to_write(
    named: Option<&str>,
    has_no_store: bool,
    shell: &Shell,
) -> Result<PathBuf, Error> {
    let path = named_store_path(named, has_no_store, shell)?;
    let is_named = named.is_some()
        || shell.variable("DBDYNO_STORE").is_some()
        || shell.setting("store").is_some_and(|store| store != "off");
    if let Some(folder) = path.parent().filter(|_| !is_named) {
        std::fs::create_dir_all(folder).map_err(|error| {
            let folder = folder.display();
            Error::Failed(format!(
                "the folder {folder} for the store cannot be created ({error}): name another file \
                 with --store"
            ))
        })?;
    }
    Ok(path)
}

pub(crate) fn store_path(matches: &ArgMatches, shell: &Shell) -> Result<PathBuf, Error> {
    let named = matches.get_one::<String>("store").map(String::as_str);
    named_store_path(named, matches.try_contains_id("no_store").is_ok(), shell)
}

fn named_store_path(
    named: Option<&str>,
    has_no_store: bool,
    shell: &Shell,
) -> Result<PathBuf, Error> {
    if let Some(path) = named {
        if path.is_empty() {
            let why = "--store: the name of the file is empty: name one, or leave --store out";
            return Err(Error::Usage(why.to_owned()));
        }
        return Ok(PathBuf::from(path));
    }
    let configured = shell.setting("store").filter(|store| *store != "off");
    if let Some(path) = configured.filter(|_| shell.variable("DBDYNO_STORE").is_none()) {
        return Ok(PathBuf::from(path));
    }
    default_path(&|name| shell.variable(name)).ok_or_else(|| {
        let or_none = if has_no_store { ", or run with --no-store" } else { "" };
        let why =
            "neither DBDYNO_STORE, XDG_DATA_HOME nor HOME is set: name the store with --store";
        Error::Usage(format!("{why}{or_none}"))
    })
}
