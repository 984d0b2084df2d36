//! What the options and commands of sysbench, pgbench and HammerDB are called here: whoever types
//! one out of habit learns which of ours is meant.
//!
//! Not here: misspelt words of our own (clap finds the nearest).

use clap::error::{ContextKind, ContextValue, Error};

/// Words that mean the same, and what to write instead.
type Alias = (&'static [&'static str], &'static str);

const LOADERS: &str = "--loaders";

/// Words of commands, wherever they stand.
const COMMANDS: &[Alias] = &[
    (&["prepare", "init", "initialize", "buildschema", "-i", "--initialize"], "dbdyno build"),
    (&["cleanup", "deleteschema", "destroy"], "dbdyno drop"),
    (&["checkschema"], "dbdyno check"),
    (&["vurun", "bench", "benchmark"], "dbdyno run"),
];

/// Options for how many work at once: clients of a load, sessions of a build.
const WORKERS: &[&str] = &[
    "--threads",
    "--num-threads",
    "--vu",
    "--vus",
    "--virtual-users",
    "--num_vu",
    "--users",
    "--connections",
    "--terminals",
    "--client",
    "-c",
];

/// Options of a load and of its data.
const OPTIONS: &[Alias] = &[
    (WORKERS, "--clients"),
    (&["--time", "--max-time", "--runtime", "--seconds", "-T"], "--duration, such as 60s"),
    (&["--warmup-time", "--warmup", "--rampup", "--ramp-up-time"], "--ramp-up, such as 10s"),
    (&["--events", "--max-requests", "--iterations", "-t"], "--transactions"),
    (
        &["--scale", "--scale-factor", "-s", "--count-ware", "--count_ware"],
        "--warehouses for tpcc, --scale for tpcb, --tables and --table-size for the others",
    ),
    (&["--progress", "-P"], "--report-interval, such as 10s; the live view has every second"),
    (&["-R", "--target-rate"], "--rate, such as 500"),
    (&["-L", "--latency-limit"], "--objective, such as 'p99<20ms', with --seek"),
    (&["-M", "--protocol", "--db-ps-mode"], "?statements= in the URL of --target"),
    (&["-j", "--jobs"], "nothing: threads are as many as the clients need (--placement)"),
    (&["--rand-seed", "--random-seed"], "--seed"),
    (&["--percentile", "--latency"], "nothing: the report has p50, p95, p99 and p99.9"),
    (&["--histogram"], "dbdyno runs export last -o times.hlog after the run"),
    (&["-f", "--file"], "a workload or a plan; scripts of SQL are not run"),
    (
        &["--isolation", "--isolation-level", "--trx-level", "--trx_level"],
        "the setting of the server, or --vary server.NAME=VALUE,VALUE with its name there",
    ),
    (
        &[
            "--host",
            "--hostname",
            "--port",
            "--user",
            "--username",
            "--database",
            "--dbname",
            "--db",
            "--db-driver",
            "--socket",
            "--url",
            "--dsn",
            "-U",
            "-d",
            "-p",
            "-H",
            "-S",
            "-u",
            "-D",
        ],
        "--target 'mariadb://user@host:3306/database' (or postgres://..., sqlite:FILE)",
    ),
    (&["--password", "--passwd", "-W"], "--ask-password, --password-file or DBDYNO_PASSWORD"),
];

/// What to say of a word that is no argument of ours, if it is one of another program's;
/// `command` is the subcommand in which it stands.
pub(crate) fn sentence_of(error: &Error, command: &str) -> Option<String> {
    let context = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let word = context.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    })?;
    let word = word.split('=').next().unwrap_or(word);
    let instead = instead_of(word, command)?;
    Some(format!("'{word}' is not an argument of dbdyno: write {instead}"))
}

fn instead_of(word: &str, command: &str) -> Option<String> {
    let of = |aliases: &[Alias]| {
        let found = aliases.iter().find(|(names, _)| names.contains(&word));
        found.map(|(_, instead)| (*instead).to_owned())
    };
    if let Some(command) = of(COMMANDS) {
        return Some(command);
    }
    match command {
        "" => {
            // As sysbench calls its scripts.
            let name = word.trim_end_matches(".lua").replace('_', "-").to_ascii_lowercase();
            workloads::by_name(&name).ok().map(|entry| format!("dbdyno run {}", entry.name))
        }
        "build" if WORKERS.contains(&word) || matches!(word, "-j" | "--jobs") => {
            Some(LOADERS.to_owned())
        }
        "run" | "build" | "check" | "settle" | "drop" | "datagen" => {
            let is_of_server = ["--mysql-", "--pgsql-"].iter().find_map(|p| word.strip_prefix(p));
            match is_of_server {
                Some(rest) => instead_of(&format!("--{rest}"), command),
                None => of(OPTIONS),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_another_program_is_known_by_ours() {
        let check = |command: &str, word: &str, expect: Option<&str>| {
            let instead = instead_of(word, command);
            let is_so = match (&instead, expect) {
                (Some(instead), Some(expect)) => instead.starts_with(expect),
                (instead, expect) => instead.is_none() && expect.is_none(),
            };
            assert!(is_so, "{command} {word}: {instead:?}");
        };
        check("run", "--threads", Some("--clients"));
        check("build", "--threads", Some("--loaders"));
        check("run", "--vu", Some("--clients"));
        check("run", "-c", Some("--clients"));
        check("run", "-T", Some("--duration"));
        check("run", "--mysql-host", Some("--target"));
        check("run", "--pgsql-password", Some("--ask-password"));
        check("run", "--isolation", Some("the setting of the server"));
        check("build", "--scale", Some("--warehouses"));
        check("", "prepare", Some("dbdyno build"));
        check("run", "cleanup", Some("dbdyno drop"));
        check("", "oltp_read_write", Some("dbdyno run oltp-read-write"));
        check("", "TPCC", Some("dbdyno run tpcc"));
        check("runs", "--threads", None);
        check("run", "--warehuoses", None);
        check("", "frobnicate", None);
    }
}
