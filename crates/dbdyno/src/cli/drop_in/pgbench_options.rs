//! pgbench's options, as its manual of version 18 lists them.
//!
//! Not here: what dbdyno does with them.

use app::Error;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::cli::script_host;

/// Description of the command in lists.
pub(super) const ABOUT: &str = "Takes pgbench's command line, and prints pgbench's report";

/// Options with a value: id, letter, long name, and name of the value.
const WITH_VALUE: &[(&str, Option<char>, &str, &str)] = &[
    ("init_steps", Some('I'), "init-steps", "STEPS"),
    ("fillfactor", Some('F'), "fillfactor", "NUM"),
    ("index_tablespace", None, "index-tablespace", "TABLESPACE"),
    ("partition_method", None, "partition-method", "range|hash"),
    ("partitions", None, "partitions", "NUM"),
    ("scale", Some('s'), "scale", "NUM"),
    ("tablespace", None, "tablespace", "TABLESPACE"),
    ("client", Some('c'), "client", "NUM"),
    ("jobs", Some('j'), "jobs", "NUM"),
    ("latency_limit", Some('L'), "latency-limit", "NUM"),
    ("protocol", Some('M'), "protocol", "simple|extended|prepared"),
    ("progress", Some('P'), "progress", "NUM"),
    ("rate", Some('R'), "rate", "NUM"),
    ("transactions", Some('t'), "transactions", "NUM"),
    ("time", Some('T'), "time", "NUM"),
    ("aggregate_interval", None, "aggregate-interval", "NUM"),
    ("log_prefix", None, "log-prefix", "PREFIX"),
    ("max_tries", None, "max-tries", "NUM"),
    ("random_seed", None, "random-seed", "SEED"),
    ("sampling_rate", None, "sampling-rate", "NUM"),
    ("show_script", None, "show-script", "NAME"),
    ("dbname", Some('d'), "dbname", "DBNAME"),
    ("host", Some('h'), "host", "HOSTNAME"),
    ("port", Some('p'), "port", "PORT"),
    ("username", Some('U'), "username", "USERNAME"),
];

/// Options without a value: id, letter and long name.
const SWITCHES: &[(&str, Option<char>, &str)] = &[
    ("initialize", Some('i'), "initialize"),
    ("no_vacuum", Some('n'), "no-vacuum"),
    ("quiet", Some('q'), "quiet"),
    ("foreign_keys", None, "foreign-keys"),
    ("unlogged_tables", None, "unlogged-tables"),
    ("connect", Some('C'), "connect"),
    ("log", Some('l'), "log"),
    ("report_per_command", Some('r'), "report-per-command"),
    ("vacuum_all", Some('v'), "vacuum-all"),
    ("exit_on_abort", None, "exit-on-abort"),
    ("failures_detailed", None, "failures-detailed"),
    ("progress_timestamp", None, "progress-timestamp"),
    ("verbose_errors", None, "verbose-errors"),
    ("debug", None, "debug"),
];

/// Options that choose scripts; their order on the command line is that of the scripts.
const SCRIPTS: &[(&str, char, &str, bool)] = &[
    ("builtin", 'b', "builtin", true),
    ("file", 'f', "file", true),
    ("skip_some_updates", 'N', "skip-some-updates", false),
    ("select_only", 'S', "select-only", false),
];

/// Returns the command with all of pgbench's options.
pub(super) fn command() -> Command {
    let mut command = Command::new("pgbench")
        .about(ABOUT)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .infer_long_args(true)
        .args_override_self(true)
        .arg(
            Arg::new("help")
                .long("help")
                .short('?')
                .action(ArgAction::Help)
                .help("Show these options"),
        )
        .arg(
            Arg::new("version")
                .long("version")
                .short('V')
                .action(ArgAction::SetTrue)
                .help("Show the version"),
        )
        .arg(
            Arg::new("define")
                .short('D')
                .long("define")
                .value_name("NAME=VALUE")
                .action(ArgAction::Append),
        )
        .arg(Arg::new("store").long("store").value_name("FILE").help("File that stores the runs"))
        .arg(
            Arg::new("no_store")
                .long("no-store")
                .action(ArgAction::SetTrue)
                .help("Do not store the run"),
        )
        .arg(script_host::flag())
        .arg(Arg::new("database").value_name("DBNAME"));
    for (id, letter, long, value) in WITH_VALUE {
        let arg = Arg::new(*id).long(*long).value_name(*value).allow_hyphen_values(true);
        command = command.arg(letter.map_or(arg.clone(), |letter| arg.short(letter)));
    }
    for (id, letter, long) in SWITCHES {
        let arg = Arg::new(*id).long(*long).action(ArgAction::Count);
        command = command.arg(letter.map_or(arg.clone(), |letter| arg.short(letter)));
    }
    for (id, letter, long, has_value) in SCRIPTS {
        let arg = Arg::new(*id).long(*long).short(*letter);
        let arg = arg.action(ArgAction::Append);
        let arg = match has_value {
            true => arg.value_name("NAME[@W]"),
            false => arg.num_args(0).default_missing_value(""),
        };
        command = command.arg(arg);
    }
    command
}

/// Returns the scripts that the options choose, in the order of the command line: the option's id
/// and its value.
pub(super) fn scripts(matches: &ArgMatches) -> Vec<(&'static str, String)> {
    let mut found: Vec<(usize, &'static str, String)> = Vec::new();
    for (id, ..) in SCRIPTS {
        let indices = matches.indices_of(id).into_iter().flatten();
        let values = matches.get_many::<String>(id).into_iter().flatten().cloned();
        found.extend(indices.zip(values).map(|(index, value)| (index, *id, value)));
    }
    found.sort();
    found.into_iter().map(|(_, id, value)| (id, value)).collect()
}

/// Returns the value of an option; `None` if it is not given.
pub(super) fn text<'a>(matches: &'a ArgMatches, id: &str) -> Option<&'a str> {
    matches.get_one::<String>(id).map(String::as_str)
}

/// Whether a switch is given.
pub(super) fn is_set(matches: &ArgMatches, id: &str) -> bool {
    matches.get_count(id) > 0
}

/// Reads a number of an option, at least `least`; `None` if it is not given.
///
/// # Errors
///
/// Another word, or a lower number.
pub(super) fn number(matches: &ArgMatches, id: &str, least: u64) -> Result<Option<u64>, Error> {
    let Some(text) = text(matches, id) else { return Ok(None) };
    let number = text.parse::<u64>().ok().filter(|number| *number >= least);
    number.map(Some).ok_or_else(|| {
        let id = id.replace('_', "-");
        Error::Usage(format!("--{id}: '{text}' is not a whole number of at least {least}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_keep_the_order_of_the_command_line() {
        let line = "pgbench -f a.sql@3 -S -b tpcb -fb.sql -c10 -T 5 --proto simple bench";
        let matches = command().try_get_matches_from(line.split(' ')).expect("pgbench's options");
        let scripts = scripts(&matches);
        let scripts: Vec<(&str, &str)> =
            scripts.iter().map(|(id, value)| (*id, value.as_str())).collect();
        let expect =
            [("file", "a.sql@3"), ("select_only", ""), ("builtin", "tpcb"), ("file", "b.sql")];
        assert_eq!(scripts, expect);
        assert_eq!(matches.get_one::<String>("client").map(String::as_str), Some("10"));
        assert_eq!(matches.get_one::<String>("protocol").map(String::as_str), Some("simple"));
        assert_eq!(matches.get_one::<String>("database").map(String::as_str), Some("bench"));
    }
}
