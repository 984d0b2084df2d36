//! Translation of files of other benchmark programs into plans: scripts of HammerDB's command line
//! and configurations of BenchBase.
//!
//! Pure functions of a text. A translation says what became of each word, and lists those without a
//! counterpart. Not here: scripts that dbdyno runs as they are (workloads).

mod benchbase;
mod commands;
mod databases;
mod dictionary;
mod expression;
mod interpreter;
mod keys;
mod mixes;
mod notes;
mod python;
mod settings;
mod steps;
mod tcl;
#[cfg(test)]
mod tests;

use self::commands::Script;
pub use self::interpreter::Environment;
use self::interpreter::Interpreter;
use self::keys::Key;
use self::notes::Notes;
use self::settings::{Settings, draft_of};
use self::steps::Fault;
use crate::bad_plan::BadPlan;
use crate::draft::Draft;
use crate::print_draft::draft_to_toml;
use crate::written::{From, Written};

/// Kind of file that can be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    HammerDbTcl,
    HammerDbPython,
    BenchBase,
}

impl FileKind {
    /// Returns the description of the kind within a sentence.
    pub fn what(self) -> &'static str {
        match self {
            FileKind::HammerDbTcl => "a script of HammerDB",
            FileKind::HammerDbPython => "a script of HammerDB in Python",
            FileKind::BenchBase => "a configuration of BenchBase",
        }
    }
}

/// Commands with which a script of HammerDB is recognized.
const COMMANDS: [&str; 7] =
    ["dbset", "diset", "vuset", "buildschema", "vurun", "deleteschema", "checkschema"];

/// A plan made of a file of another program.
#[derive(Clone, Debug)]
pub struct Translation {
    pub kind: FileKind,
    pub draft: Draft,
    /// What was translated, and what has no counterpart, as TOML comments.
    pub comments: String,
    /// Number of words without a counterpart.
    pub n_left_out: usize,
}

impl Translation {
    /// Returns the plan as TOML, below the comments.
    pub fn to_toml(&self) -> String {
        format!("{}\n{}", self.comments, draft_to_toml(&self.draft))
    }
}

/// Returns the kind of a file by what is in it; `None` if it cannot be translated.
pub fn kind_of(text: &str) -> Option<FileKind> {
    let is_shell = text.starts_with("#!") && {
        let first = text.lines().next().unwrap_or_default();
        first.ends_with("sh") && !first.ends_with("tclsh") && !first.ends_with("wish")
    };
    if is_shell {
        return None;
    }
    let begins = |line: &str, end: &[char]| {
        COMMANDS.iter().any(|command| {
            let rest = line.trim_start().strip_prefix(command);
            rest.is_some_and(|rest| rest.trim_start_matches(' ').starts_with(end))
        })
    };
    if text.lines().any(|line| begins(line, &['('])) {
        return Some(FileKind::HammerDbPython);
    }
    let is_command = |line: &str| {
        let line = line.trim();
        COMMANDS.iter().any(|command| {
            let rest = line.strip_prefix(command);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', ';']))
        })
    };
    if text.lines().any(is_command) {
        return Some(FileKind::HammerDbTcl);
    }
    let is_xml = text.trim_start_matches('\u{feff}').trim_start().starts_with('<');
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_configuration = is_xml && has(&["<parameters"]) && has(&["<works", "<dbtype", "<type"]);
    is_configuration.then_some(FileKind::BenchBase)
}

/// Translates a file; `name` is its name.
///
/// # Errors
///
/// A file of no known kind, or for a database or a benchmark that dbdyno does not have.
pub fn translate(
    name: &str,
    text: &str,
    environment: &Environment<'_>,
) -> Result<Translation, BadPlan> {
    let Some(kind) = kind_of(text) else {
        return Err(BadPlan(format!(
            "{name} is neither a script of HammerDB's command line nor a configuration of \
             BenchBase, which dbdyno translates"
        )));
    };
    let mut notes = Notes::default();
    let mut draft = match kind {
        FileKind::BenchBase => {
            let (settings, workload) =
                benchbase::settings_of(name, text, &mut notes).map_err(BadPlan)?;
            plan_of(&[settings], &workload, &mut notes)
        }
        kind => {
            let (runs, workload) = hammerdb(name, kind, text, environment, &mut notes)?;
            plan_of(&runs, workload, &mut notes)
        }
    };
    draft.values.insert("name", Written::new(stem(name), From::Default));
    let comments =
        notes.comments(&format!("Translated from {}, {}.", notes::short(name), kind.what()));
    Ok(Translation { kind, draft, comments, n_left_out: notes.n_left_out() })
}

fn plan_of(runs: &[Settings], workload: &str, notes: &mut Notes) -> Draft {
    let mut draft = draft_of(runs, notes);
    for group in &mut draft.groups {
        group.values.insert("workload", Written::new(workload, From::Default));
    }
    draft
}

/// Executes a script, and returns the keys of a plan for each run, with the workload.
fn hammerdb(
    name: &str,
    kind: FileKind,
    text: &str,
    environment: &Environment<'_>,
    notes: &mut Notes,
) -> Result<(Vec<Settings>, &'static str), BadPlan> {
    let at_fault = |Fault { line, why }: Fault| BadPlan(format!("{name}:{line}: {why}"));
    let lines = match kind {
        FileKind::HammerDbPython => python::parse(text),
        _ => tcl::parse(text),
    };
    let lines = lines.map_err(at_fault)?;
    let mut interpreter = Interpreter::new(Script::default(), environment);
    interpreter.run(&lines).map_err(at_fault)?;
    let mut script = interpreter.commands;
    if let Some((line, foreign)) = &script.foreign {
        return Err(BadPlan(format!(
            "{name}:{line}: it is {} for {}, which dbdyno does not measure: write {} for another server",
            kind.what(),
            notes::short(foreign),
            databases::OF_HAMMERDB,
        )));
    }
    if !script.has_commands {
        let why = "the script reached none of its commands: the plan is empty";
        script.notes.left_out(0, "the script", why);
    }
    *notes = std::mem::take(&mut script.notes);
    let does_run = !script.runs.is_empty();
    let mut runs = std::mem::take(&mut script.runs);
    if !does_run {
        let settings = dictionary::settings_of(&script.now, false, 1, &mut Notes::default());
        let words = words_of(&settings, script.now.is_analytical);
        // What a script drops at last is what it is for.
        if let Some((line, what)) = script.without_load.last().filter(|_| !script.has_built) {
            return Err(BadPlan(format!(
                "{name}:{line}: the script runs no load: to {what} its data, type dbdyno {what} \
                 {words}"
            )));
        }
        let text = format!("to build alone, type dbdyno build {words}");
        notes.translated(0, "the script starts no run", text);
        runs.push(script.now.clone());
    }
    let is_analytical = runs[0].is_analytical;
    for other in runs.iter().filter(|run| run.is_analytical != is_analytical) {
        let line = other.users.as_ref().map_or(0, |users| users.line);
        notes.left_out(line, "a run of another workload", "a plan has one: translate it apart");
    }
    runs.retain(|run| run.is_analytical == is_analytical);
    let settings = runs.iter().map(|run| {
        let mut settings = dictionary::settings_of(run, does_run, environment.cpus, notes);
        if runs.len() > 1 && script.pause_ms > 0 {
            settings.insert(Key::Experiment("pause"), pause_of(script.pause_ms));
        }
        settings
    });
    let settings = settings.collect();
    if script.pause_ms > 0 {
        notes.translated(0, "pauses", "[experiment] pause, between runs");
    }
    Ok((settings, if is_analytical { "tpch" } else { "tpcc" }))
}

/// Returns the words of a command about the data of a script: the workload, its size, the target.
fn words_of(settings: &Settings, is_analytical: bool) -> String {
    let (workload, size) = if is_analytical { ("tpch", "scale") } else { ("tpcc", "warehouses") };
    let of_size = settings.get(&Key::Parameter(size));
    let of_size = of_size.map_or(String::new(), |value| format!(" --{size} {value}"));
    let target = settings.get(&Key::Plan("target"));
    let target = target.map_or("URL".to_owned(), |url| format!("'{}'", url.replace('\'', "%27")));
    format!("{workload}{of_size} --target {target}")
}

fn pause_of(ms: u64) -> String {
    if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") }
}

/// Returns the name of a file without its folder and its extension.
fn stem(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    notes::short(if stem.is_empty() { last } else { stem })
}
