//! Commands of HammerDB: what a script sets, and each run that it starts.
//!
//! Not here: the meaning of parameters in a plan (dictionary).

use std::collections::BTreeMap;

use super::databases::{Server, by_name};
use super::interpreter::Commands;
use super::notes::Notes;
use super::steps::Value;

/// Commands that a run of dbdyno makes superfluous, or whose counterpart is another command, with
/// what to know about them.
const KNOWN: &[(&[&str], &str)] = &[
    (&["loadscript", "vucreate", "vudestroy", "clearscript", "update", "vwait"], "dbdyno run"),
    (&["runtimer", "waittocomplete"], "dbdyno run, which ends after its duration"),
    (&["tcstart", "tcstop", "tcstatus"], "each run has the rates of each interval"),
    (&["metstart", "metstop", "metstatus"], "each run has metrics of machine and server"),
    (&["jobs", "job"], "dbdyno runs"),
    (&["buildschema"], "dbdyno run, which builds missing data, or dbdyno build"),
    (&["checkschema"], "dbdyno run, which checks the data before and after, or dbdyno check"),
    (&["datagenrun", "dgset"], "dbdyno datagen"),
    (&["librarycheck"], "no library of the database is needed"),
    (&["wsstart", "wsstop", "wsport", "wsstatus"], "dbdyno web"),
    (
        &[
            "puts",
            "print",
            "open",
            "close",
            "flush",
            "fconfigure",
            "write",
            "os.path.join",
            "os.makedirs",
            "os.path.abspath",
            "os.getcwd",
            "pwd",
            "file mkdir",
            "file join",
            "file exists",
            "file delete",
            "glob",
            "gets",
            "read",
            "eof",
            "clock seconds",
            "clock format",
            "datetime.now",
            "datetime.datetime.now",
            "time.time",
            "format",
            ".write",
            ".close",
            ".format",
            ".strftime",
            ".flush",
            "sys.stdout.flush",
        ],
        "the script's own output; dbdyno reports and stores each run",
    ),
];
/// Commands that have no counterpart, with the reason.
const LEFT_OUT: &[(&[&str], &str)] = &[
    (
        &["customscript", "distributescript", "savescript"],
        "dbdyno does not run scripts in this language; dbdyno run -f FILE runs own SQL",
    ),
    (&["custommonitor"], "a monitor of one's own: [[at]] executes SQL during a run"),
    (&["switchmode"], "further load generators: see processes in docs/reference/plan.md"),
    (&["steprun"], "steps of users in a file: rate = \"steps ...\" or [experiment.vary] clients"),
    (&["giset", "metset", "ciset", "citmp"], "a setting of the program itself"),
    (
        &["deleteschema"],
        "a plan drops nothing: type dbdyno drop with the workload and the target of this plan",
    ),
    (
        &["exec", "system", "os.system", "subprocess.run", "subprocess.call"],
        "another program; [[at]] with command = \"...\" runs one at a time of the run",
    ),
];
/// Options of virtual users that have no counterpart, with the reason.
const OF_USERS: &[(&[&str], &str)] = &[
    (
        &["showoutput", "logtotemp", "unique", "nobuff", "timestamps"],
        "the script's own output; dbdyno reports and stores each run",
    ),
    (&["delay"], "a pause between connects: clients connect before the load begins"),
    (&["repeat", "iterations"], "users that begin again: [experiment] repeat repeats runs"),
];

/// A value of the dictionary with the line that set it.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) value: Value,
    pub(super) line: usize,
    /// Name in the script, such as `mysql_count_ware`.
    pub(super) name: String,
}

/// What holds when a script starts a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) server: Option<&'static Server>,
    pub(super) is_analytical: bool,
    /// Values by dictionary and name, without the prefix of the database: `tpcc`, `count_ware`.
    pub(super) values: BTreeMap<(String, String), Set>,
    pub(super) users: Option<Set>,
    /// Seconds of `tcset refreshrate`.
    pub(super) refresh_rate: Option<Set>,
}

/// State of a script, and what was seen in it.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) notes: Notes,
    pub(super) now: Run,
    pub(super) runs: Vec<Run>,
    /// Line and name of a database that dbdyno does not measure.
    pub(super) foreign: Option<(usize, String)>,
    /// Longest pause after a run, in ms.
    pub(super) pause_ms: u64,
    /// Whether any command of HammerDB was seen.
    pub(super) has_commands: bool,
    /// Whether the script builds data.
    pub(super) has_built: bool,
    /// Lines of the commands that only check or drop data, with what they do in a word.
    pub(super) without_load: Vec<(usize, &'static str)>,
}

impl Script {
    fn dbset(&mut self, line: usize, args: &[Value]) {
        let what = args.first().and_then(Value::text).unwrap_or_default().to_ascii_lowercase();
        let Some(name) = args.get(1).and_then(Value::text) else {
            self.notes.left_out(line, &format!("dbset {what}"), "its value is not known");
            return;
        };
        let command = format!("dbset {what} {name}");
        match what.as_str() {
            "db" => match by_name(&name) {
                Some(server) => {
                    self.now.server = Some(server);
                    self.foreign = None;
                    self.notes.translated(line, &command, "target, its scheme");
                }
                None => self.foreign = Some((line, name)),
            },
            "bm" => {
                self.now.is_analytical = name.to_ascii_uppercase().ends_with('H');
                let workload = if self.now.is_analytical { "tpch" } else { "tpcc" };
                self.notes.translated(line, &command, format!("workload = {workload}"));
            }
            _ => self.notes.left_out(line, &command, "dbdyno does not know this command"),
        }
    }

    fn diset(&mut self, line: usize, args: &[Value]) {
        // Some scripts write name and value as one word.
        let words: Vec<Value> = match args {
            [_, Value::Text(both)] if both.trim().contains(' ') => {
                let (name, value) = both.trim().split_once(' ').unwrap_or((both, ""));
                vec![args[0].clone(), Value::Text(name.into()), Value::Text(value.into())]
            }
            args => args.to_vec(),
        };
        let [dictionary, name, value, ..] = words.as_slice() else {
            self.notes.left_out(line, "diset", "it needs a dictionary, a name and a value");
            return;
        };
        let (Some(dictionary), Some(name)) = (dictionary.text(), name.text()) else {
            self.notes.left_out(line, "diset", "its name is not known");
            return;
        };
        let prefixes = ["mysql_", "maria_", "pg_", "my_"];
        let suffix = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(&name);
        // Names of analytics repeat the word.
        let suffix = suffix.strip_prefix("tpch_").unwrap_or(suffix).to_ascii_lowercase();
        let set = Set { value: value.clone(), line, name };
        self.now.values.insert((dictionary.to_ascii_lowercase(), suffix), set);
    }

    fn vuset(&mut self, line: usize, args: &[Value]) {
        let what = args.first().and_then(Value::text).unwrap_or_default().to_ascii_lowercase();
        let value = args.get(1).cloned().unwrap_or(Value::Text(String::new()));
        let command = format!("vuset {what} {}", value.text().unwrap_or_default());
        if what == "vu" {
            self.now.users = Some(Set { value, line, name: "vuset vu".to_owned() });
        } else if let Some((_, why)) = OF_USERS.iter().find(|(names, _)| names.contains(&&*what)) {
            match what.as_str() {
                "iterations" | "repeat" | "delay" if !is_default(&what, &value) => {
                    self.notes.left_out(line, &command, *why);
                }
                _ => self.notes.translated(line, &command, *why),
            }
        } else {
            self.notes.left_out(line, &command, "dbdyno does not know this option");
        }
    }

    fn tcset(&mut self, line: usize, args: &[Value]) {
        let what = args.first().and_then(Value::text).unwrap_or_default();
        if what == "refreshrate" {
            let value = args.get(1).cloned().unwrap_or(Value::Text(String::new()));
            self.now.refresh_rate = Some(Set { value, line, name: "tcset refreshrate".to_owned() });
        } else {
            let why = "the script's own output; dbdyno reports and stores each run";
            self.notes.translated(line, &format!("tcset {what}"), why);
        }
    }

    /// Takes note of a pause, which counts if it lies between runs.
    fn pause(&mut self, line: usize, milliseconds: Option<f64>) {
        let Some(ms) = milliseconds.filter(|ms| *ms >= 1.0 && !self.runs.is_empty()) else {
            self.notes.translated(line, "a pause", "nothing: no run came before it");
            return;
        };
        self.pause_ms = self.pause_ms.max(ms as u64);
    }
}

/// Returns whether an option of virtual users has the value that it has in HammerDB anyway.
fn is_default(what: &str, value: &Value) -> bool {
    let default = if what == "iterations" { "1" } else { "500" };
    value.text().as_deref() == Some(default)
}

impl Commands for Script {
    fn call(&mut self, line: usize, name: &str, args: &[Value]) -> Value {
        let is_named = |(names, _): &&(&[&str], &str)| names.contains(&name);
        self.has_commands |= matches!(name, "dbset" | "diset" | "vuset" | "vurun" | "buildschema");
        self.has_built |= name == "buildschema";
        match name {
            "checkschema" => self.without_load.push((line, "check")),
            "deleteschema" => self.without_load.push((line, "drop")),
            _ => {}
        }
        match name {
            "dbset" => self.dbset(line, args),
            "diset" => self.diset(line, args),
            "vuset" => self.vuset(line, args),
            "tcset" => self.tcset(line, args),
            "vurun" => {
                self.notes.translated(line, name, "dbdyno run");
                self.runs.push(self.now.clone());
                return Value::Text("JOB".to_owned());
            }
            // When the translation goes on, a run has ended.
            "vucomplete" => return Value::of_truth(true),
            "vustatus" => self.notes.translated(line, name, "dbdyno run"),
            "after" => self.pause(line, args.first().and_then(Value::number)),
            "time.sleep" | "sleep" => {
                self.pause(line, args.first().and_then(Value::number).map(|s| s * 1000.0));
            }
            _ => {
                if let Some((_, text)) = KNOWN.iter().find(is_named) {
                    self.notes.translated(line, name, *text);
                } else if let Some((_, why)) = LEFT_OUT.iter().find(is_named) {
                    self.notes.left_out(line, name, *why);
                } else {
                    self.notes.left_out(line, name, "dbdyno does not know this command");
                }
                return Value::Unknown(format!("the value of {name}"));
            }
        }
        Value::Text(String::new())
    }

    fn left_out(&mut self, line: usize, what: &str, reason: &str) {
        // What follows may be a password.
        let word = what.split(['(', '"', '\'', '=']).next().unwrap_or_default();
        self.notes.left_out(line, word, reason);
    }

    fn learned(&mut self, line: usize, what: &str, value: &str) {
        self.notes.translated(line, what, value);
    }
}
