//! `dbdyno pgbench`: runs a command line of pgbench.
//!
//! Not here: the options (`pgbench_options`), and the format of the report (render).

use std::sync::Arc;

use analysis::report::Report;
use app::by_end::{ByEnd, Ended};
use app::run::{RunOptions, RunResult, run as run_plan};
use app::watcher::Intervals;
use app::{Error, SampleHook};
use clap::ArgMatches;
use model::{DbErrorKind, KindIndex, NS_PER_MS, Plan, ScriptHost, Source, Target, did_you_mean};
use plan::GroupDraft;
use render::drop_in::{CommandWords, Losses, PgbenchWords, RETRIED, pgbench as page};
use workloads::script::sql::{self, BUILTINS, Builtin, builtin};

use super::connection::Connection;
use super::hints::Speaks;
use super::pgbench_commands::CountingHost;
use super::pgbench_log::{Log, LogOptions};
use super::pgbench_options::{self, is_set, number, scripts, text};
use super::pgbench_progress::{Told, failed_with, retried};
use super::pgbench_tables::Tables;
use super::{
    elapsed_s, given, meant_file, plan_of, refused, tell_nothing_finished, tell_queued, unsupported,
};
use crate::cli::script_host::OfProcess;
use crate::cli::signals::cancel_on_signals;
use crate::cli::{DONE, FAILED, INTERRUPTED, Outcome};
use crate::shell::Shell;

const PROGRAM: &str = "pgbench";
/// Name of the workload that the scripts of a command line become.
const SCRIPT: &str = "pgbench.sql";
/// Query that pgbench sends to learn the scale of its tables.
const SCALE: &str = "SELECT count(*) FROM pgbench_branches";
/// Statements with which pgbench cleans its tables before a run.
const VACUUM: [&str; 3] =
    ["VACUUM pgbench_branches", "VACUUM pgbench_tellers", "TRUNCATE pgbench_history"];

/// Exit code of pgbench if it cannot begin, such as for a wrong option or an error in a script.
const REFUSED: u8 = 1;
/// Exit code of pgbench if an error has ended a client.
const ABORTED: u8 = 2;

/// Runs a command line of pgbench, without the program's name.
pub(super) fn run(words: &[String], shell: &Shell) -> Outcome {
    match run_line(words, shell) {
        Err(error) if !matches!(error, Error::Interrupted(_)) => {
            crate::cli::tell(&Speaks::Libpq.error(error), words, shell);
            Ok(REFUSED)
        }
        outcome => outcome,
    }
}

fn run_line(words: &[String], shell: &Shell) -> Outcome {
    let line = std::iter::once(format!("dbdyno {PROGRAM}")).chain(words.iter().cloned());
    let matches = match pgbench_options::command().try_get_matches_from(line) {
        Ok(matches) => matches,
        Err(error) => {
            let code = refused(&error, &pgbench_options::command(), PROGRAM, shell)?;
            return Ok(if code == DONE { DONE } else { REFUSED });
        }
    };
    if matches.get_flag("version") {
        shell.print(&format!("{}\n", version()))?;
        return Ok(DONE);
    }
    if let Some(name) = text(&matches, "show_script") {
        return show_script(name, shell);
    }
    if scripts(&matches).iter().any(|(id, value)| *id == "builtin" && value == "list") {
        return list_scripts(shell);
    }
    refuse_unsupported(&matches)?;
    let target = target(&matches, shell)?;
    if is_set(&matches, "initialize") {
        Tables::read(&matches)?.build(&target, shell)?;
        return Ok(DONE);
    }
    Asked::read(&matches, &target, shell)?.run(&matches, target, shell)
}

fn version() -> String {
    format!("pgbench (dbdyno {})", app::run::version_of_ours())
}

/// Refuses the options of pgbench that dbdyno does not have.
fn refuse_unsupported(matches: &ArgMatches) -> Result<(), Error> {
    if is_set(matches, "debug") {
        let instead = "write dbdyno show with the script to see each statement";
        return Err(unsupported(PROGRAM, "--debug", instead));
    }
    for id in ["sampling_rate", "aggregate_interval", "log_prefix"] {
        if text(matches, id).is_some() && !is_set(matches, "log") {
            let option = id.replace('_', "-");
            return Err(Error::Usage(format!("--{option} belongs to the log: add -l")));
        }
    }
    Ok(())
}

/// Begins the log of transactions; `None` if the command line asks for none.
fn begin_log(matches: &ArgMatches, asked: &Asked) -> Result<Option<(Log, SampleHook)>, Error> {
    if !is_set(matches, "log") {
        return Ok(None);
    }
    let every_s = number(matches, "aggregate_interval", 1)?;
    let sampling_rate = text(matches, "sampling_rate").map(|text| {
        text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate <= 1.0).ok_or_else(|| {
            Error::Usage(format!("--sampling-rate: '{text}' is not above 0 and up to 1"))
        })
    });
    if sampling_rate.is_some() && every_s.is_some() {
        let why = "give --sampling-rate or --aggregate-interval, not both";
        return Err(Error::Usage(why.to_owned()));
    }
    let options = LogOptions {
        sampling_rate: sampling_rate.transpose()?.unwrap_or(1.0),
        every_s,
        seconds: asked.seconds,
        has_rate: asked.rate.is_some(),
        has_retries: asked.tries != 1,
        is_detailed: is_set(matches, "failures_detailed"),
    };
    let prefix = text(matches, "log_prefix").unwrap_or("pgbench_log");
    let path = format!("{prefix}.{}", std::process::id());
    Log::begin(&path, (asked.clients, asked.threads), options).map(Some)
}

fn show_script(name: &str, shell: &Shell) -> Outcome {
    let script = builtin_named(name)?;
    shell.say(&format!("-- {}: {}", script.name, script.title));
    shell.print(script.text)?;
    Ok(DONE)
}

fn list_scripts(shell: &Shell) -> Outcome {
    let mut page = "Available builtin scripts:\n".to_owned();
    for script in &BUILTINS {
        page += &format!("  {:>13}: {}\n", script.name, script.title);
    }
    shell.print(&page)?;
    Ok(DONE)
}

fn builtin_named(name: &str) -> Result<&'static Builtin, Error> {
    builtin(name).ok_or_else(|| {
        let names: Vec<&str> = BUILTINS.iter().map(|one| one.name).collect();
        let meant = did_you_mean(name, names.iter().copied());
        let names = names.join(", ");
        Error::Usage(format!("there is no builtin script '{name}'{meant}: write {names}"))
    })
}

fn target(matches: &ArgMatches, shell: &Shell) -> Result<Target, Error> {
    let owned = |id: &str| text(matches, id).map(str::to_owned);
    let connection = Connection {
        host: owned("host"),
        port: owned("port"),
        user: owned("username"),
        database: owned("dbname").or_else(|| owned("database")),
    };
    let mut target = connection.target(shell)?;
    // The other modes send prepared statements: named ones, or one at each execution.
    if text(matches, "protocol") == Some("extended") {
        target.options.push(("statements".to_owned(), "unnamed".to_owned()));
    }
    Ok(target)
}

/// What a command line asks for.
struct Asked {
    scripts: Vec<Scripted>,
    scale: i64,
    clients: u64,
    threads: u64,
    transactions: Option<u64>,
    seconds: u64,
    tries: u64,
    seed: Option<String>,
    rate: Option<String>,
    limit_ms: Option<f64>,
    uses_tables: bool,
}

struct Scripted {
    name: String,
    title: String,
    weight: u64,
    text: String,
}

impl Asked {
    fn read(matches: &ArgMatches, target: &Target, shell: &Shell) -> Result<Asked, Error> {
        let scripts = read_scripts(matches, shell)?;
        let uses_tables = scripts.iter().any(|script| script.title.starts_with("<builtin"));
        let given = number(matches, "scale", 1)?;
        let scale = match (uses_tables, given) {
            (false, given) => given.unwrap_or(1) as i64,
            (true, _) => app::statements::number(target, SCALE)?.ok_or_else(|| {
                Error::Failed(format!(
                    "there are no tables of pgbench in {target}: write dbdyno pgbench -i"
                ))
            })?,
        };
        let (transactions, seconds) =
            (number(matches, "transactions", 1)?, number(matches, "time", 1)?);
        if transactions.is_some() && seconds.is_some() {
            let why = "give a number of transactions (-t) or a time (-T), not both";
            return Err(Error::Usage(why.to_owned()));
        }
        let limit_ms = text(matches, "latency_limit").map(|text| {
            text.parse::<f64>().ok().filter(|limit| *limit > 0.0).ok_or_else(|| {
                Error::Usage(format!("--latency-limit: '{text}' is no number of milliseconds"))
            })
        });
        let rate = text(matches, "rate").map(|text| {
            let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0);
            rate.map(|rate| rate.to_string()).ok_or_else(|| {
                Error::Usage(format!("--rate: '{text}' is no number of transactions per second"))
            })
        });
        let rate = rate.transpose()?;
        Ok(Asked {
            scripts,
            scale,
            clients: number(matches, "client", 1)?.unwrap_or(1),
            threads: number(matches, "jobs", 1)?.unwrap_or(1),
            transactions: match seconds {
                Some(_) => None,
                None => Some(transactions.unwrap_or(10)),
            },
            seconds: seconds.unwrap_or(0),
            tries: number(matches, "max_tries", 0)?.unwrap_or(1),
            seed: seed(matches, shell)?,
            rate,
            limit_ms: limit_ms.transpose()?,
            uses_tables,
        })
    }

    fn run(self, matches: &ArgMatches, target: Target, shell: &Shell) -> Outcome {
        let plan = self.plan(matches, &target)?;
        shell.print(&format!("{}\n", version()))?;
        if self.uses_tables && !is_set(matches, "no_vacuum") {
            app::statements::execute(&target, &VACUUM)?;
            shell.say("starting vacuum...end.");
            if is_set(matches, "vacuum_all") {
                app::statements::execute(&target, &["VACUUM ANALYZE pgbench_accounts"])?;
                shell.say("starting vacuum pgbench_accounts...end.");
            }
        }
        let stop = cancel_on_signals(shell);
        let every_s = number(matches, "progress", 1)?;
        let by_end = ByEnd::new(every_s);
        let mut told = Told {
            shell: shell.clone(),
            intervals: Intervals::new(every_s.map(|every| every as i64)),
            by_end: Arc::clone(&by_end),
            has_time_stamps: is_set(matches, "progress_timestamp"),
            has_rate: self.rate.is_some(),
            has_limit: self.rate.is_some() && self.limit_ms.is_some(),
            has_retries: self.tries != 1,
        };
        let store = super::store(text(matches, "store"), matches.get_flag("no_store"), shell)?;
        // Also without programs, since debug() prints.
        let host = Arc::new(CountingHost::new(OfProcess::of_flag(matches, shell)));
        let script_host: Option<Arc<dyn ScriptHost>> = Some(Arc::clone(&host) as _);
        let by_end_hook = by_end.hook();
        let (log, log_hook) = begin_log(matches, &self)?.unzip();
        let sample_hook: SampleHook = Arc::new(move |recorded| {
            by_end_hook(recorded);
            log_hook.iter().for_each(|log| log(recorded));
        });
        let options = RunOptions {
            script_host,
            hosts: None,
            sample_hook: Some(sample_hook),
            ..RunOptions::on_data_as_they_are(store)
        };
        let result = run_plan(plan, options, &stop, &mut told)?;
        log.map(Log::end).transpose()?;
        told.tell(result.report.measured_seconds as i64);
        let commands = match is_set(matches, "report_per_command") {
            true => host.commands(SCRIPT),
            false => Vec::new(),
        };
        self.report(matches, &result, (&by_end.all(), commands), shell)
    }

    fn report(
        &self,
        matches: &ArgMatches,
        result: &RunResult,
        (ended, commands): (&Ended, Vec<Vec<CommandWords>>),
        shell: &Shell,
    ) -> Outcome {
        let report = &result.report;
        let limit = |limit_ms: f64| {
            let within = (limit_ms * NS_PER_MS as f64) as u64;
            let times = &ended.response;
            (limit_ms, times.count() - times.count_at_or_below(within))
        };
        let aborted = aborted(ended);
        let losses = |kind: Option<KindIndex>| Losses {
            failed: RETRIED.map(|error| failed_with(ended, kind, error)),
            retried: retried(ended, kind),
        };
        let scripts = 0..self.scripts.len() as KindIndex;
        let words = PgbenchWords {
            commands,
            losses: losses(None),
            losses_of_scripts: scripts.map(|script| losses(Some(script))).collect(),
            version: version(),
            scripts: self.scripts.iter().map(|one| (one.title.clone(), one.weight)).collect(),
            scale: self.scale,
            mode: text(matches, "protocol").unwrap_or("simple").to_owned(),
            threads: self.threads.min(self.clients) as u32,
            tries: self.tries as u32,
            transactions: self.transactions,
            seconds: self.seconds,
            is_detailed: is_set(matches, "failures_detailed"),
            is_measured: text(matches, "progress").is_some()
                || self.rate.is_some()
                || self.limit_ms.is_some(),
            lag_ms: self.rate.as_ref().map(|_| lag_ms(ended)),
            elapsed_s: elapsed_s(report),
            connects_each: is_set(matches, "connect"),
            late: self.limit_ms.map(limit),
        };
        shell.print(&page(report, &words))?;
        tell_queued("transactions", report, self.rate.is_some(), shell);
        tell_nothing_finished(report, shell);
        if let Some(reason) = &report.reason {
            shell.say(&format!("dbdyno: {}", Speaks::Libpq.reworded(reason)));
        }
        tell_aborted(&aborted, report, shell);
        Ok(match (result.is_interrupted, report.status) {
            (true, _) => INTERRUPTED,
            (false, _) if !aborted.is_empty() => ABORTED,
            (false, analysis::report::Status::Completed) => DONE,
            (false, _) => FAILED,
        })
    }

    /// Returns the plan of the run that pgbench would make.
    fn plan(&self, matches: &ArgMatches, target: &Target) -> Result<Plan, Error> {
        let parts = self.scripts.iter();
        let composed =
            sql::composed(parts.map(|one| (one.name.as_str(), one.weight, one.text.as_str())));
        plan::read_script(SCRIPT, &composed).map_err(|bad| Error::Usage(bad.to_string()))?;
        let mut group = GroupDraft::default();
        group.values.insert("script", given(&composed));
        self.put_load(&mut group);
        if is_set(matches, "connect") {
            group.values.insert("connect", given("transaction"));
        }
        self.put_parameters(&mut group, matches)?;
        let tries = match self.tries {
            0 => "1000".to_owned(),
            tries => tries.to_string(),
        };
        let seconds = format!("{}s", self.seconds.max(1));
        let retried = RETRIED.join(",");
        let mut values = vec![
            ("name", PROGRAM),
            ("ramp_up", "0s"),
            // Transactions that run at the end are awaited.
            ("drain", "1h"),
            ("retry_attempts", &tries),
            ("retry_backoff", "0s"),
            ("retry_on", &retried),
        ];
        if self.transactions.is_none() {
            values.push(("duration", &seconds));
        }
        plan_of(target, group, &values)
    }

    /// Sets clients, number of transactions and rate of a group.
    fn put_load(&self, group: &mut GroupDraft) {
        group.values.insert("workload", given(SCRIPT));
        group.values.insert("clients", given(&self.clients.to_string()));
        if let Some(transactions) = self.transactions {
            let count = match self.rate {
                Some(_) => (transactions * self.clients).to_string(),
                None => format!("{transactions} per client"),
            };
            group.values.insert("transactions", given(&count));
        }
        if let Some(rate) = &self.rate {
            group.values.insert("load", given("open"));
            group.values.insert("rate", given(rate));
            // pgbench lets transactions wait without a limit.
            group.values.insert("queue", given("100000000"));
            group.values.insert("queue_at_end", given("leave"));
            if let Some(limit_ms) = self.limit_ms {
                group.values.insert("queue_wait", given(&format!("{limit_ms}ms")));
            }
        }
    }

    /// Sets the parameters of the script: how it is executed, and its variables.
    fn put_parameters(&self, group: &mut GroupDraft, matches: &ArgMatches) -> Result<(), Error> {
        let mode = match text(matches, "protocol").unwrap_or("simple") {
            "simple" => "simple",
            "extended" | "prepared" => "prepared",
            other => {
                let why = format!("-M {other}: write simple, extended or prepared");
                return Err(Error::Usage(why));
            }
        };
        let parameters = &mut group.parameters;
        parameters.push((sql::MODE.to_owned(), given(mode)));
        parameters.push((sql::UNSET.to_owned(), given("keep")));
        parameters.push((sql::ON_ERROR.to_owned(), given(sql::END_CLIENT)));
        if is_set(matches, "report_per_command") {
            parameters.push((sql::COMMAND_TIMES.to_owned(), given("on")));
        }
        parameters.push((sql::RANDOM_CLIENTS.to_owned(), given(&self.clients.to_string())));
        if let Some(seed) = &self.seed {
            parameters.push((sql::RANDOM_SEED.to_owned(), given(seed)));
        }
        let mut defined: Vec<(String, String)> = vec![("scale".to_owned(), self.scale.to_string())];
        for text in matches.get_many::<String>("define").into_iter().flatten() {
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| Error::Usage(format!("--define: '{text}' is not NAME=VALUE")))?;
            defined.retain(|(other, _)| other != name);
            defined.push((name.to_owned(), value.to_owned()));
        }
        // A variable that no script has is no error in pgbench.
        let entry = plan::workload_named(SCRIPT)?;
        let is_known = |name: &str| entry.parameters.iter().any(|row| row.name == name);
        for (name, value) in defined.into_iter().filter(|(name, _)| is_known(name)) {
            parameters.push((name, given(&value)));
        }
        Ok(())
    }
}

/// Names the clients that an error has ended.
fn tell_aborted(aborted: &[(u32, KindIndex, DbErrorKind)], report: &Report, shell: &Shell) {
    for (client, script, error) in aborted {
        let known = report.block.errors.iter().find(|known| known.kind == error.name());
        let message = known.map_or_else(|| error.name(), |known| &known.message);
        shell.say(&format!(
            "dbdyno {PROGRAM}: error: client {client} script {script} aborted: {message}"
        ));
    }
    if !aborted.is_empty() {
        shell.say(&format!(
            "dbdyno {PROGRAM}: error: Run was aborted; the above results are incomplete."
        ));
    }
}

/// Returns the mean and the longest lag of the schedule, in milliseconds.
fn lag_ms(ended: &Ended) -> (f64, f64) {
    let mean_ns = if ended.lag.count == 0 { 0.0 } else { ended.lag.mean() };
    (mean_ns / 1e6, ended.lag.max as f64 / 1e6)
}

/// Returns the clients that an error has ended, each with its script and the error: all errors but
/// those after which a retry may help.
fn aborted(ended: &Ended) -> Vec<(u32, KindIndex, DbErrorKind)> {
    let is_retried = |error: &DbErrorKind| RETRIED.contains(&error.name());
    let failures = ended.failures.keys().copied();
    failures.filter(|(_, _, error)| !is_retried(error)).collect()
}

/// Returns the scripts of a command line; without any, pgbench's default one.
fn read_scripts(matches: &ArgMatches, shell: &Shell) -> Result<Vec<Scripted>, Error> {
    let of_builtin = |script: &'static Builtin, weight: u64| Scripted {
        name: script.name.to_owned(),
        title: script.title.to_owned(),
        weight,
        text: script.text.to_owned(),
    };
    let mut found = Vec::new();
    for (id, value) in scripts(matches) {
        let (name, weight) = match value.rsplit_once('@') {
            Some((name, weight)) => (
                name,
                weight.parse::<u64>().map_err(|_| {
                    Error::Usage(format!("'{weight}' is no weight of the script {name}"))
                })?,
            ),
            None => (value.as_str(), 1),
        };
        found.push(match id {
            "builtin" => of_builtin(builtin_named(name)?, weight),
            "skip_some_updates" => of_builtin(builtin_named("simple-update")?, 1),
            "select_only" => of_builtin(builtin_named("select-only")?, 1),
            _ => Scripted {
                name: name.to_owned(),
                title: name.to_owned(),
                weight,
                text: match name {
                    "-" => shell.read(Source::BYTES_MAX),
                    _ => files::read_text(name, Source::BYTES_MAX),
                }
                .map_err(|error| {
                    let meant = meant_file(name);
                    Error::Usage(format!("the script {name} cannot be read: {error}{meant}"))
                })?,
            },
        });
    }
    if found.is_empty() {
        found.push(of_builtin(&BUILTINS[0], 1));
    }
    Ok(found)
}

/// Returns the seed of the random numbers; `None` if each run has others.
fn seed(matches: &ArgMatches, shell: &Shell) -> Result<Option<String>, Error> {
    let variable = shell.variable("PGBENCH_RANDOM_SEED");
    match text(matches, "random_seed").map(str::to_owned).or(variable).as_deref() {
        None | Some("time" | "rand") => Ok(Some(app::unix_ms().to_string())),
        Some(text) if text.parse::<u64>().is_ok() => Ok(Some(text.to_owned())),
        Some(text) => Err(Error::Usage(format!(
            "--random-seed: '{text}' is neither a whole number nor time or rand"
        ))),
    }
}
