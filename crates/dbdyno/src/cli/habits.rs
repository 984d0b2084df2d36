//! Options and commands of sysbench, pgbench, HammerDB, BenchBase and mysqlslap, with their
//! equivalents in dbdyno. The error for an unknown word names the equivalent in a sentence.
//!
//! Only words that dbdyno's own parser has rejected are looked up, so no option of dbdyno changes
//! its meaning. Not here: misspelt words of dbdyno (clap finds the nearest).

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error};
use model::Parameter;

use app::stored_report::SIZES;

/// Words of another benchmark program that have the same meaning, and what to write in dbdyno
/// instead.
struct Habit {
    /// Spellings of the word in the other program.
    words: &'static [&'static str],
    /// Name of the other program. [`SEVERAL`] stands for more than one, which answers do not name.
    program: &'static str,
    /// Commands of dbdyno in which the words are recognized.
    at: Place,
    /// Text to write in dbdyno. `VALUE` stands for the value that the user gave to the word.
    instead: &'static str,
}

/// Commands of dbdyno in which a word of another benchmark program is recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// No subcommand at all (the word is the first one), and each command that works on a database.
    Command,
    /// The command `build`, which creates and loads tables.
    Build,
    /// Each command that works on a database. An option of one letter is also recognized without a
    /// command.
    Load,
    /// The command of dbdyno with this name.
    In(&'static str),
}

const fn habit(
    words: &'static [&'static str],
    program: &'static str,
    at: Place,
    instead: &'static str,
) -> Habit {
    Habit { words, program, at, instead }
}

const SYSBENCH: &str = "sysbench";
const PGBENCH: &str = "pgbench";
const HAMMERDB: &str = "HammerDB";
const BENCHBASE: &str = "BenchBase";
const SLAP: &str = "mysqlslap";
const SEVERAL: &str = "other programs";

/// Options of other programs for their concurrency: threads of a load, or sessions of a build.
const WORKERS: &[&str] = &[
    "--threads",
    "--num-threads",
    "--vu",
    "--vus",
    "--virtual-users",
    "--num_vu",
    "--num-vu",
    "--users",
    "--connections",
    "--terminals",
    "--client",
    "--concurrency",
    "-c",
];

/// All known words of other benchmark programs. Of several entries for a word, the first one in a
/// matching place is used, so the narrower place comes first.
const HABITS: &[Habit] = &[
    // Commands.
    habit(&["prepare"], SYSBENCH, Place::Command, "dbdyno build WORKLOAD, or dbdyno sysbench"),
    habit(&["cleanup"], SYSBENCH, Place::Command, "dbdyno drop WORKLOAD, or dbdyno sysbench"),
    habit(
        &["warmup", "prewarm"],
        SYSBENCH,
        Place::Command,
        "dbdyno run WORKLOAD with --ramp-up, such as 30s",
    ),
    habit(
        &["init", "initialize", "-i", "--initialize", "-I", "--init-steps"],
        PGBENCH,
        Place::Command,
        "dbdyno build tpcb, or dbdyno pgbench -i",
    ),
    habit(&["buildschema"], HAMMERDB, Place::Command, "dbdyno build tpcc"),
    habit(&["checkschema"], HAMMERDB, Place::Command, "dbdyno check tpcc"),
    habit(&["deleteschema"], HAMMERDB, Place::Command, "dbdyno drop tpcc"),
    habit(
        &["vurun", "vucreate", "loadscript"],
        HAMMERDB,
        Place::Command,
        "dbdyno run tpcc, or dbdyno translate FILE for a script",
    ),
    habit(&["vuset"], HAMMERDB, Place::Command, "dbdyno run tpcc with --clients N"),
    habit(&["dbset"], HAMMERDB, Place::Command, "--target URL, such as mariadb://user@host/db"),
    habit(
        &["diset", "giset"],
        HAMMERDB,
        Place::Command,
        "an option of dbdyno run or build (dbdyno run tpcc --help), or a key of a plan",
    ),
    habit(
        &["tcstart", "tcstop", "tcstatus", "metstart", "metstop", "metset"],
        HAMMERDB,
        Place::Command,
        "nothing: the live view has the rates, and --monitor the metrics, in every run",
    ),
    habit(
        &["vudestroy", "vucomplete", "vustatus"],
        HAMMERDB,
        Place::Command,
        "nothing: a run ends by itself, or by Ctrl-C with its report",
    ),
    habit(&["jobs"], HAMMERDB, Place::Command, "dbdyno runs"),
    habit(&["datagenrun", "dgset"], HAMMERDB, Place::Command, "dbdyno datagen tpcc"),
    habit(&["steprun"], HAMMERDB, Place::Command, "--rate 'steps 500 for 30s, 2000' or --vary"),
    habit(&["wsstart", "hammerdbws"], HAMMERDB, Place::Command, "dbdyno web"),
    habit(
        &["customscript", "clearscript", "savescript"],
        HAMMERDB,
        Place::Command,
        "dbdyno run -f FILE for own SQL, or dbdyno translate FILE",
    ),
    habit(
        &["tpcb-like", "simple-update"],
        PGBENCH,
        Place::Command,
        "dbdyno run tpcb, or dbdyno pgbench -b NAME",
    ),
    habit(
        &["select-only"],
        PGBENCH,
        Place::Command,
        "dbdyno run oltp-point-select, or dbdyno pgbench -S",
    ),
    habit(
        &["destroy", "delete"],
        SEVERAL,
        Place::Command,
        "dbdyno drop WORKLOAD for data, dbdyno runs rm RUN for a run",
    ),
    habit(&["resume", "continue"], SEVERAL, Place::Command, "dbdyno experiments resume ID"),
    habit(&["print"], HAMMERDB, Place::Command, "dbdyno list parameters"),
    habit(
        &["-o", "--out", "--chart", "--html"],
        SEVERAL,
        Place::In("history"),
        "dbdyno report --history build -o history.html",
    ),
    habit(&["last"], SEVERAL, Place::In("runs"), "dbdyno runs show last"),
    habit(&["delete", "remove", "del", "drop"], SEVERAL, Place::In("runs"), "dbdyno runs rm RUN"),
    habit(&["compare", "diff"], SEVERAL, Place::In("runs"), "dbdyno compare RUN RUN"),
    habit(
        &["delete", "remove", "del", "drop"],
        SEVERAL,
        Place::In("experiments"),
        "dbdyno experiments rm ID",
    ),
    habit(&["compare", "diff"], SEVERAL, Place::In("experiments"), "dbdyno compare ID --by AXIS"),
    habit(&["report"], SEVERAL, Place::In("runs"), "dbdyno report RUN -o run.html"),
    habit(&["-n"], SEVERAL, Place::In("runs"), "--limit VALUE"),
    habit(&["--json"], SEVERAL, Place::In("runs"), "--output json"),
    habit(
        &["--host", "--port", "--bind", "-p"],
        SEVERAL,
        Place::In("web"),
        "--listen, such as 127.0.0.1:9000",
    ),
    habit(&["load"], SEVERAL, Place::Command, "dbdyno build WORKLOAD"),
    habit(
        &["bench", "benchmark", "execute", "start"],
        SEVERAL,
        Place::Command,
        "dbdyno run WORKLOAD",
    ),
    habit(&["status", "ps", "ls", "result", "results"], SEVERAL, Place::Command, "dbdyno runs"),
    habit(
        &["stop", "kill", "abort"],
        SEVERAL,
        Place::Command,
        "nothing: Ctrl-C ends a run with its report, and so does Stop on its page (dbdyno web)",
    ),
    habit(&["export"], SEVERAL, Place::Command, "dbdyno runs export RUN -o FILE"),
    habit(&["import"], SEVERAL, Place::Command, "dbdyno runs import FILE"),
    habit(&["label", "tag"], SEVERAL, Place::Command, "dbdyno runs label RUN KEY=VALUE"),
    habit(&["ack", "acknowledge"], SEVERAL, Place::Command, "dbdyno history ack BUILD"),
    habit(&["plot", "graph", "chart"], SEVERAL, Place::Command, "dbdyno report RUN -o FILE.html"),
    habit(&["diff"], SEVERAL, Place::Command, "dbdyno compare RUN RUN"),
    habit(&["create"], SEVERAL, Place::Command, "dbdyno build WORKLOAD"),
    habit(&["clean"], SEVERAL, Place::Command, "dbdyno drop WORKLOAD"),
    habit(
        &["hammerdb", "hammerdbcli", "benchbase"],
        SEVERAL,
        Place::Command,
        "dbdyno translate FILE for its script or configuration, or dbdyno run WORKLOAD",
    ),
    habit(
        &["mysqlslap"],
        SEVERAL,
        Place::Command,
        "dbdyno run WORKLOAD, such as oltp-read-write, tpcb or tpcc",
    ),
    habit(&["rm"], SEVERAL, Place::Command, "dbdyno runs rm RUN, or dbdyno drop WORKLOAD for data"),
    habit(&["ui", "gui", "serve", "server"], SEVERAL, Place::Command, "dbdyno web"),
    habit(&["version"], SEVERAL, Place::Command, "-V"),
    // Clients, length, rate.
    habit(WORKERS, SEVERAL, Place::Build, "--loaders VALUE"),
    habit(&["-j", "--jobs"], PGBENCH, Place::Build, "--loaders VALUE"),
    habit(WORKERS, SEVERAL, Place::Load, "--clients VALUE"),
    habit(
        &["-j", "--jobs"],
        PGBENCH,
        Place::Load,
        "nothing: threads are as many as the clients need (--placement, --processes)",
    ),
    habit(
        &["--time", "--max-time", "--runtime", "--seconds", "-T"],
        SEVERAL,
        Place::Load,
        "--duration VALUEs",
    ),
    habit(
        &["--maria_duration", "--mysql_duration", "--pg_duration", "--mssqls_duration"],
        "HammerDB (in minutes)",
        Place::Load,
        "--duration VALUEm",
    ),
    habit(
        &["--maria_rampup", "--mysql_rampup", "--pg_rampup", "--mssqls_rampup"],
        "HammerDB (in minutes)",
        Place::Load,
        "--ramp-up VALUEm",
    ),
    habit(
        &["--warmup-time", "--warmup", "--rampup", "--rampup_time", "--ramp-up-time"],
        SEVERAL,
        Place::Load,
        "--ramp-up VALUEs",
    ),
    habit(
        &["--events", "--max-requests", "--total_iterations", "--number-of-queries"],
        SEVERAL,
        Place::Load,
        "--transactions VALUE",
    ),
    habit(&["-t"], PGBENCH, Place::Load, "--transactions 'VALUE per client'"),
    habit(&["--iterations"], SLAP, Place::Load, "--repeat VALUE"),
    habit(&["--tx-rate"], SYSBENCH, Place::Load, "--load open --rate VALUE"),
    habit(&["-R", "--target-rate"], PGBENCH, Place::Load, "--load open --rate VALUE"),
    habit(
        &["-L", "--latency-limit"],
        PGBENCH,
        Place::Load,
        "--objective, such as 'p99<20ms', with --seek, or --require 'p99<20ms'",
    ),
    habit(&["--max-tries"], PGBENCH, Place::Load, "--retry-attempts VALUE"),
    habit(
        &["--mysql-ignore-errors"],
        SYSBENCH,
        Place::Load,
        "--retry-on deadlock,lock_timeout,serialization,busy,VALUE",
    ),
    habit(
        &["--continue-on-error"],
        SEVERAL,
        Place::Load,
        "--retry-on, such as deadlock,lock_timeout",
    ),
    habit(&["--forced-shutdown"], SYSBENCH, Place::Load, "--drain, such as 10s"),
    habit(
        &["--keyandthink", "--thinktime", "--async_scale", "--async_client"],
        HAMMERDB,
        Place::Load,
        "--load keythink, with --keythink-scale",
    ),
    // Data.
    habit(
        &["--scale", "--scale-factor", "--scalefactor", "-s"],
        SEVERAL,
        Place::Load,
        "--warehouses for tpcc, --scale for tpcb, --tables and --table-size for the others",
    ),
    habit(
        &["--count-ware", "--count_ware", "--mysql_count_ware", "--pg_count_ware"],
        HAMMERDB,
        Place::Load,
        "--warehouses VALUE",
    ),
    habit(&["--allwarehouse"], HAMMERDB, Place::Load, "--home all"),
    habit(
        &["--tables", "--table-size", "--oltp-tables-count"],
        SYSBENCH,
        Place::Load,
        "--warehouses for tpcc; the workloads oltp-... have --tables and --table-size",
    ),
    habit(
        &["--table_size", "--oltp-table-size", "--oltp_table_size"],
        SYSBENCH,
        Place::Load,
        "--table-size VALUE with the workloads oltp-..., --warehouses for tpcc",
    ),
    habit(
        &["--force_pk", "--force-pk"],
        SYSBENCH,
        Place::Load,
        "nothing: tables have primary keys unless --secondary says otherwise",
    ),
    habit(
        &["--mysql_table_options", "--mysql-table-options"],
        SYSBENCH,
        Place::Load,
        "--engine NAME; other options of tables by ALTER TABLE after dbdyno build",
    ),
    habit(
        &["--mysql-ssl-cert", "--mysql-ssl-key", "--mysql_ssl_cert", "--mysql_ssl_key"],
        SYSBENCH,
        Place::Load,
        "?tls_cert=FILE&tls_key=FILE in the URL of --target",
    ),
    habit(&["--report-csv", "--report_csv"], SYSBENCH, Place::Load, "--output csv"),
    habit(
        &["--script"],
        SEVERAL,
        Place::Load,
        "a workload of 'dbdyno list workloads', or a Lua script of sysbench: dbdyno run my.lua",
    ),
    habit(
        &["--mysql-storage-engine", "--mysql_storage_engine", "--create_table_options"],
        SYSBENCH,
        Place::Load,
        "--engine VALUE",
    ),
    habit(
        &["-n", "--no-vacuum", "-v", "--vacuum-all"],
        PGBENCH,
        Place::Load,
        "--settle before (or off, the default)",
    ),
    habit(
        &["--partitions", "--partition-method"],
        PGBENCH,
        Place::Load,
        "--partitions with the workload tpcc",
    ),
    habit(
        &["--foreign-keys", "--tablespace", "--index-tablespace", "--unlogged-tables"],
        PGBENCH,
        Place::Load,
        "nothing, as there is no such option; or --engine unlogged for unlogged tables",
    ),
    habit(
        &["-F", "--fillfactor"],
        PGBENCH,
        Place::Load,
        "nothing: set the fill factor by ALTER TABLE after dbdyno build",
    ),
    habit(&["--no-drop", "--create-schema"], SLAP, Place::Load, "the database in --target URL"),
    habit(
        &[
            "--range-size",
            "--range_size",
            "--rand-type",
            "--skip-trx",
            "--skip_trx",
            "--auto_inc",
            "--auto-inc",
            "--create_secondary",
            "--create-secondary",
            "--point-selects",
            "--point_selects",
            "--simple-ranges",
            "--sum-ranges",
            "--order-ranges",
            "--distinct-ranges",
            "--index-updates",
            "--index_updates",
            "--non-index-updates",
            "--non_index_updates",
            "--delete-inserts",
            "--delete_inserts",
        ],
        SYSBENCH,
        Place::Load,
        "it with one of the workloads oltp-..., such as dbdyno run oltp-read-write (others have no \
         such option)",
    ),
    habit(
        &["--thread-init-timeout", "--thread-stack-size", "--validate"],
        SYSBENCH,
        Place::Load,
        "nothing: clients connect before the load begins, and checks run before and after it",
    ),
    // Statements and scripts.
    habit(
        &["-b", "--builtin", "--bench"],
        SEVERAL,
        Place::Load,
        "the workload behind the command: dbdyno run tpcc, dbdyno run tpcb",
    ),
    habit(
        &["-N", "--skip-some-updates"],
        PGBENCH,
        Place::Load,
        "nothing: tpcb has pgbench's default transaction alone",
    ),
    habit(
        &["--select-only"],
        PGBENCH,
        Place::Load,
        "the workload oltp-point-select: dbdyno run oltp-point-select",
    ),
    habit(
        &["-S"],
        "pgbench (selects only) or mysql (a socket)",
        Place::Load,
        "dbdyno run oltp-point-select, or --target 'mariadb://user@localhost/db?socket=FILE'",
    ),
    habit(
        &["-M", "--protocol", "--db-ps-mode", "--prepared", "--no-stored-procs"],
        SEVERAL,
        Place::Load,
        "--mode for tpcc (prepared, procedures, batched, text), or ?statements= in the URL of \
         --target",
    ),
    habit(&["--storedprocs", "--stored-procs"], HAMMERDB, Place::Load, "--mode procedures"),
    habit(
        &["--query", "--test"],
        SEVERAL,
        Place::Load,
        "--sql 'STATEMENTS', -f FILE, or a workload",
    ),
    habit(
        &["-a", "--auto-generate-sql", "--auto-generate-sql-load-type"],
        SLAP,
        Place::Load,
        "a workload, such as oltp-read-write or oltp-insert",
    ),
    habit(
        &["-x", "--config-file"],
        SEVERAL,
        Place::Load,
        "dbdyno translate FILE > plan.toml, then dbdyno run plan.toml",
    ),
    habit(
        &["-C", "--reconnect", "--detach"],
        SEVERAL,
        Place::Load,
        "--connect transaction: a new connection for each",
    ),
    habit(
        &["--isolation", "--isolation-level", "--trx-level", "--trx_level"],
        SEVERAL,
        Place::Load,
        "the setting of the server, or --vary server.NAME=VALUE,VALUE with its name there",
    ),
    habit(&["--rand-seed", "--random-seed"], SEVERAL, Place::Load, "--seed VALUE"),
    // Output.
    habit(
        &["--progress", "-P", "--interval-monitor", "--sample", "--refreshrate"],
        SEVERAL,
        Place::Load,
        "--report-interval, such as 1s; on a terminal the live view has every second",
    ),
    habit(
        &["--percentile", "--latency"],
        SEVERAL,
        Place::Load,
        "nothing: the report has p50, p95, p99 and p99.9",
    ),
    habit(
        &["--histogram"],
        SYSBENCH,
        Place::Load,
        "dbdyno runs export last -o times.hlog after the run",
    ),
    habit(
        &["--report-checkpoints"],
        SYSBENCH,
        Place::Load,
        "dbdyno runs show last --counter --every 10s after the run",
    ),
    habit(
        &["-r", "--report-per-command", "--report-latencies"],
        PGBENCH,
        Place::Load,
        "dbdyno show WORKLOAD for the statements of a transaction, or --instruments true",
    ),
    habit(
        &["-l", "--log", "--log-prefix", "--aggregate-interval", "--sampling-rate"],
        PGBENCH,
        Place::Load,
        "dbdyno runs export last -o seconds.csv after the run",
    ),
    habit(
        &["--timeprofile", "--xtprof"],
        HAMMERDB,
        Place::Load,
        "dbdyno runs show last --timing after the run",
    ),
    habit(&["--failures-detailed"], PGBENCH, Place::Load, "nothing: the report has all errors"),
    habit(
        &["--verbosity", "--debug", "--verbose-errors"],
        SEVERAL,
        Place::Load,
        "--quiet, or nothing",
    ),
    habit(&["--csv"], SLAP, Place::Load, "dbdyno runs export last -o seconds.csv after the run"),
    habit(&["--json", "--json-histograms"], SEVERAL, Place::Load, "--output json"),
    habit(
        &["--create", "--execute", "--clear"],
        BENCHBASE,
        Place::Load,
        "a command of its own: dbdyno build, dbdyno run or dbdyno drop",
    ),
    habit(
        &["--only-print", "--mysql-dry-run"],
        SEVERAL,
        Place::Load,
        "dbdyno run with --dry-run, or dbdyno show WORKLOAD, which prints its statements",
    ),
    // The server.
    habit(
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
            "--dbtype",
            "--socket",
            "--url",
            "--dsn",
            "-U",
            "-d",
            "-p",
            "-H",
            "-u",
        ],
        SEVERAL,
        Place::Load,
        "--target 'mariadb://user@host:3306/database' (or postgres://..., sqlite:FILE)",
    ),
    habit(
        &["--password", "--passwd", "-W"],
        SEVERAL,
        Place::Load,
        "--ask-password, --password-file or DBDYNO_PASSWORD",
    ),
    habit(
        &["--ssl", "--sslmode", "--ssl-mode", "--ssl-ca"],
        SEVERAL,
        Place::Load,
        "?tls=require (or verify-full) in the URL of --target",
    ),
    habit(
        &["--compression", "--compress"],
        SEVERAL,
        Place::Load,
        "?compress=zlib in the URL of --target",
    ),
];

/// Returns a sentence with the words to use in dbdyno, if the command line has a rejected word of
/// another program, such as pgbench; else `None`. `command` is the subcommand on the command line,
/// empty without one; `words` is the whole command line.
pub(crate) fn sentence_of(error: &Error, command: &str, words: &[String]) -> Option<String> {
    let context = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let typed = context.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    })?;
    if words.iter().skip_while(|word| *word != "--").any(|word| word == typed) {
        return Some(format!(
            "'{typed}' stands behind '--', where no options are read: leave out the '--'"
        ));
    }
    let (word, value) = typed.split_once('=').unwrap_or((typed, ""));
    // The parser reports only the word; its value is on the command line.
    let value = match value {
        "" => value_of(word, words),
        value => value,
    };
    // `-d` is a database for some programs, and a duration for others (k6, wrk).
    let is_length = word == "-d" && value.len() > 1 && model::parse_duration(value).is_ok();
    if let Some(habit) = found(if is_length { "-T" } else { word }, command) {
        let program = habit.program;
        let instead = sizes(habit, words).unwrap_or_else(|| with_value(habit.instead, value));
        let instead = match command.is_empty() && instead.starts_with("--") && word.len() == 2 {
            true => format!("dbdyno run WORKLOAD with {instead}"),
            false => instead,
        };
        let what = if word.starts_with('-') { "an option" } else { "a command" };
        let instead = match instead.strip_prefix("nothing: ") {
            Some(why) => format!("leave it out: {why}"),
            None => format!("write {instead}"),
        };
        // Words of several programs are not attributed.
        return Some(match program {
            SEVERAL => format!("there is no '{word}' here: {instead}"),
            _ => format!("'{word}', of {program}, is not {what} of dbdyno: {instead}"),
        });
    }
    let script = (command.is_empty()).then(|| script(word, words)).flatten()?;
    Some(format!("'{word}' is not an argument of dbdyno: write {script}"))
}

/// Returns a sentence for an option that the command lacks but another command of dbdyno has; it
/// names the first such command. `None` if there is none.
pub(crate) fn sentence_of_other(error: &Error, root: &Command, command: &str) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let name = typed.split('=').next()?.strip_prefix("--")?;
    // One of its subcommands may lack it.
    if root.find_subcommand(command).is_some_and(Command::has_subcommands) {
        return None;
    }
    let has = |sub: &&Command| sub.get_arguments().any(|arg| arg.get_long() == Some(name));
    let has_own = |sub: &Command| sub.get_arguments().any(|arg| arg.get_long() == Some(name));
    if root.find_subcommand(command).is_some_and(has_own) {
        return None;
    }
    if command == "run" && name == "fail-if" {
        return Some(
            "--fail-if limits a change between two sides: run them first, then write dbdyno \
             compare last --fail-if 'tps<-5%' (a limit on the values of this run: --require \
             'tps>1000')"
                .to_owned(),
        );
    }
    let other = root.get_subcommands().filter(|sub| sub.get_name() != command).find(has)?;
    let here = if command.is_empty() { "dbdyno alone" } else { command };
    Some(format!("'--{name}' is an option of 'dbdyno {}', not of {here}", other.get_name()))
}

/// Returns a sentence for `-h HOST`; `None` if the command line has none. In dbdyno `-h` is the
/// help, and in other programs the server.
pub(crate) fn sentence_of_host(words: &[String]) -> Option<String> {
    let place = words.iter().position(|word| word == "-h")?;
    let host = words.get(place + 1)?;
    let is_host = !host.starts_with('-') && (host.contains('.') || host == "localhost");
    let habit = found("--host", "run").filter(|_| is_host && !host.ends_with(".toml"))?;
    Some(format!("'-h' is the help of dbdyno, not a host: write {}", habit.instead))
}

/// Returns size parameters of the workload on the command line, to suggest for a word of another
/// program that means the size of data. `None` for other words.
fn sizes(habit: &Habit, words: &[String]) -> Option<String> {
    habit.instead.contains("--warehouses for tpcc").then_some(())?;
    let entry = words.iter().find_map(|word| workloads::by_name(word).ok())?;
    let is_size = |parameter: &&Parameter| {
        (SIZES.contains(&parameter.name) || parameter.name == "rows") && parameter.shapes_data
    };
    let all = entry.parameters.iter().filter(is_size);
    let all: Vec<String> = all.map(|parameter| format!("--{}", parameter.flag())).collect();
    (!all.is_empty()).then(|| format!("{} for {}", all.join(" and "), entry.name))
}

/// Returns the value that follows a word on the command line: attached to a letter, after `=`, or
/// as the next word. Empty if there is none.
fn value_of<'w>(word: &str, words: &'w [String]) -> &'w str {
    // A number may directly follow a letter: -c10.
    let attached = |typed: &'w str| {
        let value = typed.strip_prefix(word).filter(|_| word.len() == 2)?;
        let is_digit = |byte: u8| byte.is_ascii_digit();
        let is_number = value.split(',').all(|one| !one.is_empty() && one.bytes().all(is_digit));
        is_number.then_some(value)
    };
    if let Some(value) = words.iter().find_map(|typed| attached(typed)) {
        return value;
    }
    let mut rest = words.iter().skip_while(|typed| {
        typed.as_str() != word && typed.split_once('=').is_none_or(|(name, _)| name != word)
    });
    let typed = rest.next().map_or("", String::as_str);
    match typed.split_once('=') {
        Some((_, value)) => value,
        None => rest.next().map_or("", String::as_str),
    }
}

/// Replaces `VALUE` by the typed value if it is a number, several with commas, or a time, else by
/// `N` or a usual number.
/// Other values, such as a password, are not repeated.
fn with_value(instead: &str, value: &str) -> String {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let or = |usual| if is_number { value } else { usual };
    // There, 0 means no limit.
    if value == "0" && instead == "--transactions VALUE" {
        return "nothing: without --transactions a run ends by its --duration".to_owned();
    }
    // Times of other programs have no unit, but a typed unit is kept.
    let is_time = value.len() > 1 && model::parse_duration(value).is_ok();
    let as_typed = |in_unit: String| if is_time { value.to_owned() } else { in_unit };
    let instead = instead.replace("VALUEs", &as_typed(format!("{}s", or("60"))));
    let instead = instead.replace("VALUEm", &as_typed(format!("{}m", or("2"))));
    instead.replace("VALUE", or("N"))
}

/// Finds what a word of another program means in a command of dbdyno; `None` if the word is not
/// known.
fn found(word: &str, command: &str) -> Option<&'static Habit> {
    let on_database = matches!(
        command,
        "run" | "tune" | "build" | "check" | "settle" | "drop" | "datagen" | "show"
    );
    let is_there = |habit: &&Habit| {
        let is_place = match habit.at {
            Place::Command => command.is_empty() || on_database,
            Place::Build => command == "build",
            Place::Load => on_database || command.is_empty() && word.len() == 2,
            Place::In(name) => command == name,
        };
        is_place && habit.words.contains(&word)
    };
    let found = HABITS.iter().find(is_there);
    // Options of sysbench and HammerDB for one database.
    let rest = ["--mysql-", "--pgsql-", "--mysql_", "--maria_", "--pg_"];
    let rest = || rest.iter().find_map(|prefix| word.strip_prefix(prefix));
    found.or_else(|| found_bare(rest()?, command))
}

fn found_bare(rest: &str, command: &str) -> Option<&'static Habit> {
    found(&format!("--{rest}"), command)
}

/// Returns the command of dbdyno that corresponds to a script of sysbench and the command after it,
/// such as `oltp_read_only.lua prepare`; `None` if no workload has the name of the script.
fn script(word: &str, words: &[String]) -> Option<String> {
    let name = word.trim_end_matches(".lua").replace('_', "-").to_ascii_lowercase();
    let entry = workloads::by_name(&name).ok()?;
    let has = |command: &str| words.iter().any(|word| word == command);
    let command = match (has("prepare"), has("cleanup")) {
        (true, _) => "build",
        (_, true) => "drop",
        _ => "run",
    };
    Some(format!("dbdyno {command} {}", entry.name))
}

#[cfg(test)]
mod tests;
