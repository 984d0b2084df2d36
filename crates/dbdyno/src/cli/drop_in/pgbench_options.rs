//! pgbench's options, as its manual of version 18 lists them.
//!
//! Not here: what dbdyno does with them.

use app::Error;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::cli::script_host;

/// Description of the command in lists.
pub(super) const ABOUT: &str = "Takes pgbench's command line, and prints pgbench's report";

/// Options with a value: id, letter, long name, name of the value, and help.
const WITH_VALUE: &[(&str, Option<char>, &str, &str, &str)] = &[
    (
        "init_steps",
        Some('I'),
        "init-steps",
        "STEPS",
        "With -i: steps of dtgGvpf in their order: drop, create tables, generate rows, vacuum, \
         primary and foreign keys [default: dtgvp]",
    ),
    (
        "fillfactor",
        Some('F'),
        "fillfactor",
        "NUM",
        "With -i: percentage up to which pages are filled [default: 100]",
    ),
    (
        "index_tablespace",
        None,
        "index-tablespace",
        "TABLESPACE",
        "With -i: tablespace of the indexes",
    ),
    (
        "partition_method",
        None,
        "partition-method",
        "range|hash",
        "With -i: how the accounts are divided [default: range]",
    ),
    ("partitions", None, "partitions", "NUM", "With -i: partitions of the accounts [default: 0]"),
    (
        "scale",
        Some('s'),
        "scale",
        "NUM",
        "With -i: branches, with 100,000 accounts each; else the value of :scale [default: 1]",
    ),
    ("tablespace", None, "tablespace", "TABLESPACE", "With -i: tablespace of the tables"),
    ("client", Some('c'), "client", "NUM", "Clients, each with a connection [default: 1]"),
    (
        "jobs",
        Some('j'),
        "jobs",
        "NUM",
        "Threads; dbdyno reports them and chooses its own [default: 1]",
    ),
    (
        "latency_limit",
        Some('L'),
        "latency-limit",
        "NUM",
        "Count transactions that take longer than NUM ms; with -R, skip those that are late",
    ),
    (
        "protocol",
        Some('M'),
        "protocol",
        "simple|extended|prepared",
        "How statements are sent [default: simple]",
    ),
    ("progress", Some('P'), "progress", "NUM", "Print a line of progress every NUM seconds"),
    (
        "rate",
        Some('R'),
        "rate",
        "NUM",
        "Transactions per second that are due, at random intervals [default: as many as can be]",
    ),
    ("transactions", Some('t'), "transactions", "NUM", "Transactions of each client [default: 10]"),
    ("time", Some('T'), "time", "NUM", "Seconds of the run, instead of -t"),
    (
        "aggregate_interval",
        None,
        "aggregate-interval",
        "NUM",
        "With -l: a line for every NUM seconds",
    ),
    (
        "log_prefix",
        None,
        "log-prefix",
        "PREFIX",
        "With -l: beginning of the name of the log [default: pgbench_log]",
    ),
    (
        "max_tries",
        None,
        "max-tries",
        "NUM",
        "Tries of a transaction that ends in a conflict; 0: no limit [default: 1]",
    ),
    (
        "random_seed",
        None,
        "random-seed",
        "SEED",
        "Seed of the random numbers: a number, time or rand [default: time]",
    ),
    (
        "sampling_rate",
        None,
        "sampling-rate",
        "NUM",
        "With -l: share of the transactions that is logged, such as 0.01",
    ),
    ("show_script", None, "show-script", "NAME", "Print a builtin script, and end"),
    ("dbname", Some('d'), "dbname", "DBNAME", "Database, or a connection string or URL"),
    ("host", Some('h'), "host", "HOSTNAME", "Host of the server, or folder of its socket"),
    ("port", Some('p'), "port", "PORT", "Port of the server"),
    ("username", Some('U'), "username", "USERNAME", "User"),
];

/// Options without a value: id, letter, long name and help.
const SWITCHES: &[(&str, Option<char>, &str, &str)] = &[
    ("initialize", Some('i'), "initialize", "Build the tables and end"),
    ("no_vacuum", Some('n'), "no-vacuum", "Do not vacuum before the run; with -i, not at all"),
    ("quiet", Some('q'), "quiet", "With -i: without effect, since no progress is printed"),
    ("foreign_keys", None, "foreign-keys", "With -i: create foreign keys"),
    ("unlogged_tables", None, "unlogged-tables", "With -i: create unlogged tables"),
    ("connect", Some('C'), "connect", "Open a connection for each transaction"),
    ("log", Some('l'), "log", "Write a log of the transactions"),
    (
        "report_per_command",
        Some('r'),
        "report-per-command",
        "Report the mean latency of each command",
    ),
    ("vacuum_all", Some('v'), "vacuum-all", "Vacuum all tables before the run"),
    (
        "exit_on_abort",
        None,
        "exit-on-abort",
        "Without effect: the other clients go on when an error ends one",
    ),
    ("failures_detailed", None, "failures-detailed", "Report failures by their causes"),
    ("progress_timestamp", None, "progress-timestamp", "With -P: print the time since 1970"),
    (
        "verbose_errors",
        None,
        "verbose-errors",
        "Without effect: each client that an error ends is named",
    ),
    ("debug", None, "debug", "Not supported: dbdyno show with the script shows each statement"),
];

/// Options that choose scripts; their order on the command line is that of the scripts.
const SCRIPTS: &[(&str, char, &str, bool, &str)] = &[
    (
        "builtin",
        'b',
        "builtin",
        true,
        "Builtin script with a weight: tpcb-like, simple-update, select-only; list lists them",
    ),
    ("file", 'f', "file", true, "Script in a file, with a weight"),
    ("skip_some_updates", 'N', "skip-some-updates", false, "The same as -b simple-update"),
    ("select_only", 'S', "select-only", false, "The same as -b select-only"),
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
                .action(ArgAction::Append)
                .help("Set a variable of the scripts"),
        )
        .arg(Arg::new("store").long("store").value_name("FILE").help("File that stores the runs"))
        .arg(
            Arg::new("no_store")
                .long("no-store")
                .action(ArgAction::SetTrue)
                .help("Do not store the run"),
        )
        .arg(script_host::flag())
        .arg(
            Arg::new("database")
                .value_name("DBNAME")
                .help("Database, or a connection string or URL"),
        );
    for (id, letter, long, value, help) in WITH_VALUE {
        let arg = Arg::new(*id).long(*long).value_name(*value).help(*help);
        let arg = arg.allow_hyphen_values(true);
        command = command.arg(letter.map_or(arg.clone(), |letter| arg.short(letter)));
    }
    for (id, letter, long, help) in SWITCHES {
        let arg = Arg::new(*id).long(*long).action(ArgAction::Count).help(*help);
        command = command.arg(letter.map_or(arg.clone(), |letter| arg.short(letter)));
    }
    for (id, letter, long, has_value, help) in SCRIPTS {
        let arg = Arg::new(*id).long(*long).short(*letter).help(*help);
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
