//! `dbdyno sysbench`: runs a command line of sysbench.
//!
//! Not here: the options (`sysbench_options`), and the format of the report (render).

use std::path::Path;
use std::sync::Arc;

use analysis::report::{Report, Status};
use app::by_end::{ByEnd, Ended};
use app::open::{open_target, resolve_workload_interruptible};
use app::run::{RunOptions, run as run_plan};
use app::script_commands::run_command;
use app::script_error::{ScriptError, ScriptStep};
use app::watcher::Intervals;
use app::{Error, Stop};
use model::{
    Parameter, ParameterKind, Plan, ScriptReports, Source, StopReason, Target, did_you_mean,
};
use plan::GroupDraft;
use render::drop_in::sysbench::{
    Beginning, Figures, INITIALIZING, OptionRow, beginning, option_group, report as page,
    version_line,
};
use workloads::Entry;

use super::hints::Speaks;
use super::sysbench_hooks::{declared_options, has_own_help, own_reports, takes_any_option};
use super::sysbench_options::{Options, usage};
use super::sysbench_progress::{DEBUG, Notices, Told, reconnects};
use super::{
    elapsed_s, given, meant_file, plan_of, tell_nothing_finished, tell_queued, unsupported,
};
use crate::cli::signals::cancel_on_signals;
use crate::cli::{DONE, FAILED, INTERRUPTED, Outcome};
use crate::shell::Shell;

const PROGRAM: &str = "sysbench";
/// Description of the command in lists.
pub(super) const ABOUT: &str = "Takes sysbench's command line, and prints sysbench's report";
/// Folder in which the package of sysbench has its scripts.
const SCRIPTS: &str = "/usr/share/sysbench";
/// Tests of sysbench that use no database.
const OTHER_TESTS: [&str; 5] = ["cpu", "fileio", "memory", "mutex", "threads"];
/// Parameter of scripts that contains sysbench's general options.
const OF_SCRIPT: &str = "sysbench_options";
/// Parameters of scripts with which they behave as under sysbench.
const SWITCHED_ON: [&str; 2] = ["fatal_errors", "print_to_stdout"];
/// Commands that a test may leave out.
const USUAL: [&str; 3] = ["prepare", "cleanup", "help"];
/// Beginnings of errors of the command line, which sysbench prints as they are.
const NOT_FATAL: [&str; 5] =
    ["invalid option: ", "Invalid value for the ", "Unrecognized ", "a command is required", "'"];
/// What sysbench prints when more events wait than its queue takes.
const QUEUE_FULL: &str = "FATAL: The event queue is full. This means the worker threads are unable \
                          to keep up with the specified event generation rate\n";
/// Highest verbosity of sysbench, at which it prints what its threads do.
const VERBOSITY_MAX: u64 = DEBUG;
/// Exit code of sysbench for any error.
const ERROR: u8 = 1;

/// Runs a command line of sysbench, without the program's name.
pub(super) fn run(words: &[String], shell: &Shell) -> Outcome {
    // sysbench has one exit code for all errors.
    run_words(words, shell).or_else(|error| {
        let error = speaks(words).error(error);
        match &error {
            // What is wrong with a command line is no fatal error of sysbench.
            Error::Usage(why) if NOT_FATAL.iter().any(|begin| why.starts_with(begin)) => {
                shell.say(why);
            }
            error => {
                shell.print(&format!("FATAL: {error}\n"))?;
            }
        }
        Ok(if matches!(error, Error::Interrupted(_)) { INTERRUPTED } else { ERROR })
    })
}

/// Returns whose options the advice of an error names.
fn speaks(words: &[String]) -> Speaks {
    let is_pgsql = |word: &String| word.replace('_', "-") == "--db-driver=pgsql";
    match words.iter().any(is_pgsql) {
        true => Speaks::Pgsql,
        false => Speaks::Mysql,
    }
}

fn run_words(words: &[String], shell: &Shell) -> Outcome {
    let options = Options::read(words, shell)?;
    if options.switch("version")? {
        shell.print(&version_line(&app::run::version_of_ours()))?;
        return Ok(DONE);
    }
    let Some(test) = &options.test else {
        shell.print(&usage())?;
        return Ok(if options.switch("help")? || options.is_empty() { DONE } else { ERROR });
    };
    if OTHER_TESTS.contains(&test.as_str()) {
        return Err(unsupported(PROGRAM, &format!("test '{test}'"), "it measures databases only"));
    }
    let threads = options.number("threads")?;
    if threads == 0 {
        return Err(Error::Usage("Invalid value for --threads: 0.".to_owned()));
    }
    let verbosity = options.number("verbosity")?;
    if verbosity > VERBOSITY_MAX {
        shell.print(&format!("Invalid value for verbosity: {verbosity}\n"))?;
        return Ok(ERROR);
    }
    let percentile = options.number("percentile")?;
    if percentile > 100 {
        return Err(Error::Usage(format!("Invalid value for --percentile: {percentile}")));
    }
    if percentile == 0 && options.switch("histogram")? {
        return Err(Error::Usage("--histogram cannot be used with --percentile=0".to_owned()));
    }
    let verbosity = if options.switch("debug")? { VERBOSITY_MAX } else { verbosity };
    let notices = Notices { shell: shell.clone(), verbosity };
    let script = script_of(test)?;
    let Some(command) = options.command.as_deref() else {
        return Err(Error::Usage(format!(
            "a command is required: write dbdyno sysbench {test} prepare, run, cleanup or help"
        )));
    };
    notices.print(&version_line(&app::run::version_of_ours()))?;
    let entry = plan::workload_named(&script)?;
    let asked = Asked { entry, options: &options, test, notices };
    match command {
        "help" => asked.help(shell),
        "run" => asked.run(shell),
        command => asked.command(command, shell),
    }
}

/// Returns the workload that a test names: a script, one of sysbench's package, or dbdyno's own of
/// the same name where that package is not installed.
fn script_of(test: &str) -> Result<String, Error> {
    if Path::new(test).is_file() {
        let name = test.to_owned();
        return match workloads::language_of(test) {
            Some(_) => Ok(name),
            // sysbench takes scripts under any name.
            None => {
                let text = files::read_text(test, model::Source::BYTES_MAX)
                    .map_err(|error| Error::Usage(format!("{test}: {error}")))?;
                let name = format!("{test}.lua");
                plan::read_script(&name, &text)?;
                Ok(name)
            }
        };
    }
    let stem = test.trim_end_matches(".lua");
    let of_package = format!("{SCRIPTS}/{stem}.lua");
    if Path::new(&of_package).is_file() {
        return Ok(of_package);
    }
    let own = stem.replace('_', "-");
    match workloads::is_compiled_in(&own) {
        true => Ok(own),
        false => {
            let of_package = files_of(SCRIPTS);
            let own = workloads::ALL.iter().map(|entry| entry.name.replace('-', "_"));
            let names: Vec<String> = of_package.into_iter().chain(own).collect();
            let mut meant = did_you_mean(stem, names.iter().map(String::as_str));
            if meant.is_empty() {
                meant = meant_file(test);
            }
            Err(Error::Usage(format!(
                "Cannot find benchmark '{test}': no such script here or in {SCRIPTS}{meant}"
            )))
        }
    }
}

/// Returns the names of the scripts in a folder.
fn files_of(folder: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(".lua").map(str::to_owned)).collect()
}

/// Returns the target of what needs no database.
fn without_database() -> Result<Target, Error> {
    Target::parse("sim:").map_err(|bad| Error::Usage(bad.to_string()))
}

/// Whether a parameter of scripts is dbdyno's own and no option of sysbench.
fn is_own(name: &str) -> bool {
    name == OF_SCRIPT || SWITCHED_ON.contains(&name)
}

/// Whether a script, or a file that it loads, names a database, or may load another that does.
fn names_database(source: &Source) -> bool {
    // Modules of Lua itself.
    const OF_LUA: [&str; 8] = ["ffi", "bit", "jit", "string", "table", "math", "io", "os"];
    let has = |text: &str| ["sql", "db_"].iter().any(|word| text.contains(word));
    let loads_more = |text: &str| {
        text.contains("dofile")
            || text.contains("loadfile")
            || text.split("require").skip(1).any(|rest| {
                let is_quote = |letter: char| "(\"' ".contains(letter);
                let name = rest.trim_start_matches(is_quote);
                let end = name.find(|letter: char| !letter.is_ascii_alphanumeric());
                !OF_LUA.contains(&&name[..end.unwrap_or(name.len())])
            })
    };
    has(&source.text)
        || source.modules.values().any(|text| has(text))
        || (source.modules.is_empty() && loads_more(&source.text))
}

/// Whether a value is one that sysbench takes for a switch.
fn is_switch(value: &str) -> bool {
    matches!(value, "on" | "off" | "true" | "false" | "1" | "0")
}

/// Returns a parameter's name as users of sysbench write it.
fn written(name: &str) -> String {
    name.strip_prefix("script_").unwrap_or(name).replace('_', "-")
}

/// Returns a parameter of a workload of dbdyno as sysbench lists options.
fn of_parameter(row: &Parameter) -> OptionRow {
    let form = match row.kind {
        ParameterKind::Switch => "[=on|off]",
        ParameterKind::Count { .. } | ParameterKind::Number { .. } => "=N",
        ParameterKind::Words => "=[LIST,...]",
        _ => "=STRING",
    };
    OptionRow {
        flag: format!("--{}{form}", row.name),
        help: row.help.to_owned(),
        default: Some(row.default.to_owned()).filter(|default| !default.is_empty()),
    }
}

/// What a command line asks for.
struct Asked<'a> {
    entry: &'static Entry,
    options: &'a Options,
    test: &'a str,
    notices: Notices,
}

impl Asked<'_> {
    /// Name of the test as sysbench shows it.
    fn name(&self) -> &str {
        self.test.rsplit('/').next().unwrap_or(self.test)
    }

    /// Prints the options of the test, or lets the script print its own help.
    fn help(&self, shell: &Shell) -> Outcome {
        let name = self.name();
        if self.entry.source.is_some_and(has_own_help) {
            return self.command_at(&without_database()?, "help", shell);
        }
        let rows = match self.entry.source {
            Some(source) => declared_options(source)?,
            None => self.entry.parameters.iter().map(of_parameter).collect(),
        };
        if rows.is_empty() {
            let why = format!("'{name}' test does not implement the 'help' command.");
            return Err(Error::Usage(why));
        }
        let mut out = option_group(&format!("{name} options:"), &rows);
        out.push('\n');
        shell.print(&out)?;
        Ok(DONE)
    }

    /// Runs a command of the script other than its load, such as `prepare`.
    fn command(&self, name: &str, shell: &Shell) -> Outcome {
        self.command_at(&self.target()?, name, shell)
    }

    fn command_at(&self, target: &Target, name: &str, shell: &Shell) -> Outcome {
        let threads = self.options.number("threads")?.max(1);
        let stop = cancel_on_signals(shell);
        if self.entry.source.is_none() {
            return self.command_of_own(name, target, threads, shell);
        }
        let parameters = self.parameters()?;
        let open = open_target(target, 1, true, &stop, &mut |_| {})?;
        let opened = resolve_workload_interruptible(
            &open.database,
            target,
            self.entry.name,
            &parameters,
            1,
            &stop,
        )?;
        let script = opened.workload.script().expect("a file in Lua is a script");
        let commands = script.commands()?;
        let Some(command) = commands.iter().find(|command| command.name == name) else {
            shell.say(&match USUAL.contains(&name) {
                true => format!("'{}' test does not implement the '{name}' command.", self.name()),
                false => format!("Unknown command: {name}"),
            });
            return Ok(ERROR);
        };
        if command.is_parallel && threads > 1 {
            self.notices.print(INITIALIZING)?;
        }
        let ran = run_command(&opened, command, threads as usize, &stop);
        match ran {
            Ok(_) => Ok(DONE),
            // Its function has returned false.
            Err(Error::Script(error)) if error.error.message.is_empty() => Ok(ERROR),
            Err(error) => Err(self.fatal(error)),
        }
    }

    /// Runs a command of sysbench on a workload of dbdyno.
    fn command_of_own(&self, name: &str, target: &Target, threads: u64, shell: &Shell) -> Outcome {
        let command = match name {
            "prepare" => "build",
            "cleanup" => "drop",
            other => {
                return Err(unsupported(
                    PROGRAM,
                    &format!("command '{other}' of {}", self.test),
                    "install the package sysbench, whose script has it",
                ));
            }
        };
        if target.password.is_some() {
            let instead = "write DBDYNO_PASSWORD=... dbdyno build, or install sysbench's scripts";
            return Err(unsupported(PROGRAM, "a password for its own workloads", instead));
        }
        let mut words: Vec<String> =
            ["dbdyno", command, self.entry.name, "--target"].map(str::to_owned).to_vec();
        words.push(target.to_string());
        words.push("--quiet".to_owned());
        if command == "build" {
            words.push(format!("--loaders={threads}"));
        } else {
            words.push("--force".to_owned());
        }
        for (name, value) in self.parameters()? {
            words.push(format!("--{}={value}", name.replace('_', "-")));
        }
        Ok(crate::cli::run(&words, shell))
    }

    /// Returns the script's own parameters among the options. An option that nobody knows is an
    /// error.
    fn parameters(&self) -> Result<Vec<(String, String)>, Error> {
        let mut found = Vec::new();
        let takes_any = self.entry.source.is_some_and(takes_any_option);
        if self.entry.parameters.iter().any(|row| row.name == OF_SCRIPT) {
            found.push((OF_SCRIPT.to_owned(), self.options.general()));
            found.extend(SWITCHED_ON.map(|name| (name.to_owned(), "on".to_owned())));
        }
        for (name, value) in self.options.of_script() {
            // Options with the name of one of dbdyno's flags have another one in scripts.
            let known = name.replace('-', "_");
            let names = [known.clone(), format!("script_{known}")];
            let row = self.entry.parameters.iter().find(|row| names.contains(&row.name.to_owned()));
            match row {
                Some(row) if row.kind == ParameterKind::Switch && !is_switch(value) => {
                    return Err(Options::unknown(name, value, &[]));
                }
                Some(row) => found.push((row.name.to_owned(), value.to_owned())),
                None if Options::is_general(name) || takes_any => {}
                None => {
                    let known = self.entry.parameters.iter().map(|row| row.name);
                    let known: Vec<String> =
                        known.filter(|name| !is_own(name)).map(written).collect();
                    return Err(Options::unknown(name, value, &known));
                }
            }
        }
        Ok(found)
    }

    fn run(&self, shell: &Shell) -> Outcome {
        let target = self.target()?;
        let plan = self.plan(&target)?;
        let options = self.options;
        let every_s = Some(options.number("report-interval")?).filter(|every| *every > 0);
        let stop: Arc<Stop> = cancel_on_signals(shell);
        let reports = match self.entry.source {
            Some(source) if source.name.ends_with(".lua") => own_reports(source)?,
            _ => ScriptReports::default(),
        };
        let of_script = every_s.filter(|_| !reports.intervals).map(|every| every as i64);
        let by_end = ByEnd::new(of_script.map(|every_s| every_s as u64));
        let conclude = |report: &Report, reason: Option<&StopReason>| {
            self.conclude(report, reason, &by_end.all(), reports.runs)
        };
        let mut told = Told {
            notices: self.notices.clone(),
            options: Some(beginning(&self.beginning(every_s)?)),
            intervals: Intervals::new(of_script),
            by_end: Arc::clone(&by_end),
            threads: options.number("threads")? as u32,
            percentile: options.number("percentile")?,
            has_rate: self.rate().is_some(),
            has_begun: false,
            has_failed_report: false,
            conclude: &conclude,
            outcome: None,
        };
        let named = options.store.as_deref();
        let is_off = named == Some("");
        let store = super::store(named.filter(|name| !name.is_empty()), is_off, shell)?;
        let sample_hook = Some(by_end.hook());
        let run_options = RunOptions { sample_hook, ..RunOptions::on_data_as_they_are(store) };
        if let Err(error) = run_plan(plan, run_options, &stop, &mut told) {
            let is_init = matches!(&error, Error::Script(error) if error.step == ScriptStep::Init);
            if !is_init {
                told.show_options();
            }
            return Err(self.fatal(error));
        }
        let outcome = told.outcome.expect("a run that has ended is concluded")?;
        Ok(if told.has_failed_report && outcome == DONE { ERROR } else { outcome })
    }

    /// Returns what sysbench prints first of a run.
    fn beginning(&self, every_s: Option<u64>) -> Result<Beginning, Error> {
        let options = self.options;
        Ok(Beginning {
            threads: options.number("threads")? as u32,
            rate: self.rate().map(str::to_owned),
            every_s,
            seed: Some(options.number("rand-seed")?).filter(|seed| *seed > 0),
            is_debug: options.switch("debug")?,
            is_validated: options.switch("validate")?,
        })
    }

    fn rate(&self) -> Option<&str> {
        self.options.text("rate").filter(|rate| *rate != "0")
    }

    /// Returns the database that the options name; for a script that names none, one that is not
    /// there.
    fn target(&self) -> Result<Target, Error> {
        match self.entry.source.is_none_or(names_database) {
            true => self.options.target(),
            false => without_database(),
        }
    }

    /// Prints how a run ended, and its report if it has one.
    fn conclude(
        &self,
        report: &Report,
        reason: Option<&StopReason>,
        ended: &Ended,
        has_own: bool,
    ) -> Outcome {
        let shell = &self.notices.shell;
        if report.status == Status::QueueFull {
            shell.print(QUEUE_FULL)?;
            return Ok(ERROR);
        }
        if let Some(StopReason::Failed { why, is_of_workload, remedy }) = reason {
            // Where sysbench prints it, and without a report.
            let remedy = remedy.iter().map(|_| self.prepare_first()).collect::<String>();
            let why = self.speaks()?.reworded(why);
            let what = if *is_of_workload { "`thread_run' function failed: " } else { "" };
            shell.print(&format!("FATAL: {what}{why}{remedy}\n"))?;
            return Ok(ERROR);
        }
        self.report(report, ended, has_own)
    }

    /// Returns an error of the script as sysbench says it.
    fn fatal(&self, error: Error) -> Error {
        let Error::Script(error) = error else { return error };
        let ScriptError { step, error, remedy } = *error;
        let remedy = remedy.iter().map(|_| self.prepare_first()).collect::<String>();
        let (called, end) = match &step {
            ScriptStep::Clients { .. } => ("thread_init", "\nFATAL: Thread initialization failed!"),
            ScriptStep::Command(name) if USUAL.contains(&name.as_str()) => (name.as_str(), ""),
            ScriptStep::Command(_) => ("sysbench.cmdline.call_command", ""),
            ScriptStep::Init => ("init", ""),
            ScriptStep::Done => ("done", ""),
            ScriptStep::Report => ("report", ""),
        };
        let why = error.message;
        Error::Failed(format!("`{called}' function failed: {why}{remedy}{end}"))
    }

    /// Returns whose options the advice of an error names.
    fn speaks(&self) -> Result<Speaks, Error> {
        Ok(match self.options.target()?.scheme.as_str() {
            "mysql" => Speaks::Mysql,
            _ => Speaks::Pgsql,
        })
    }

    /// Says how to create the tables that the script misses.
    fn prepare_first(&self) -> String {
        format!("; run prepare first: dbdyno sysbench {} prepare, with the same options", self.test)
    }

    /// Prints the report, unless the script has printed its own.
    fn report(&self, report: &Report, ended: &Ended, has_own: bool) -> Outcome {
        let (shell, sent) = (&self.notices.shell, ended.traffic);
        let n_threads = self.options.number("threads")? as u32;
        let threads = (0..n_threads).map(|thread| {
            let (count, sum_ns) = ended.clients.get(&thread).copied().unwrap_or_default();
            (count, sum_ns as f64 / 1e9)
        });
        let figures = Figures {
            latency: &ended.response,
            statements: [sent.reads, sent.writes, sent.others],
            percentile: self.options.number("percentile")?,
            errors: sent.refused,
            reconnects: reconnects(&report.block.errors),
            seconds: elapsed_s(report),
            threads: threads.collect(),
            has_database: self.entry.source.is_none_or(names_database),
            has_histogram: self.options.switch("histogram")?,
        };
        if !has_own {
            if report.status == Status::Completed {
                let events = self.options.number("events")?;
                let is_counted = events > 0 && ended.response.count() >= events;
                self.notices.tell_end(is_counted, n_threads)?;
            }
            self.notices.print(&page(&figures))?;
        }
        tell_queued("events", report, self.rate().is_some(), shell);
        tell_nothing_finished(report, shell);
        if let Some(reason) = &report.reason {
            shell.print(&format!("FATAL: {}\n", self.speaks()?.reworded(reason)))?;
        }
        let has_only_failed = ended.response.is_empty() && !ended.failures.is_empty();
        Ok(match report.status {
            Status::Interrupted => INTERRUPTED,
            // The events of sysbench would be tried for ever.
            Status::Completed if has_only_failed => ERROR,
            Status::Completed => DONE,
            _ => FAILED,
        })
    }

    /// Returns the plan of the run that sysbench would make.
    fn plan(&self, target: &Target) -> Result<Plan, Error> {
        let options = self.options;
        let mut group = GroupDraft::default();
        group.values.insert("workload", given(self.entry.name));
        if let Some(source) = self.entry.source.filter(|source| plan::is_unwritten(source)) {
            group.values.insert("script", given(&source.text));
        }
        let threads = options.number("threads")?.max(1);
        group.values.insert("clients", given(&threads.to_string()));
        let events = options.number("events")?;
        if events > 0 {
            group.values.insert("transactions", given(&events.to_string()));
        }
        if let Some(rate) = self.rate() {
            group.values.insert("load", given("open"));
            group.values.insert("rate", given(rate));
            // The length of sysbench's own queue, beyond which it ends.
            group.values.insert("queue", given("131072"));
            group.values.insert("queue_full", given("stop"));
            group.values.insert("queue_at_end", given("leave"));
        }
        for (name, value) in self.parameters()? {
            group.parameters.push((name, given(&value)));
        }
        let seconds = match options.number("time")? {
            // Without a limit, the number of events ends the run, or the user.
            0 if events > 0 => None,
            // The longest duration there is: a year.
            0 => Some("365d".to_owned()),
            seconds => Some(format!("{seconds}s")),
        };
        let ramp_up = format!("{}s", options.number("warmup-time")?);
        let mut values = vec![
            ("name", PROGRAM),
            ("ramp_up", &ramp_up),
            // Events that run at the end are awaited.
            ("drain", "1h"),
            // An event is run again until it succeeds.
            ("retry_attempts", "1000"),
            ("retry_backoff", "0s"),
        ];
        values.extend(seconds.as_deref().map(|seconds| ("duration", seconds)));
        plan_of(target, group, &values)
    }
}
