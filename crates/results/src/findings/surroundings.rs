//! Findings on what the run was made with: build, machine, host and durability of the database.

use model::{Severity, Target};

use super::Words;
use crate::tally::Tally;

/// More time stolen by other virtual machines than this is noise that no repetition removes.
const STEAL_PERCENT_MAX: f64 = 2.0;

/// Settings that changed, as many as are named.
const CHANGES_SHOWN_MAX: usize = 8;

/// Modes in which a commit that was acknowledged may be lost, and how.
const NOT_DURABLE: &[(&str, &str, &str)] = &[
    ("synchronous", "off", "a loss of power may lose commits and damage the file"),
    ("journal_mode", "off", "a crash damages the file"),
    ("journal_mode", "memory", "a crash damages the file"),
    ("fsync", "off", "a loss of power may lose commits and damage the data"),
    ("full_page_writes", "off", "a loss of power may damage the data"),
    ("synchronous_commit", "off", "a crash may lose the last commits"),
    ("innodb_flush_log_at_trx_commit", "0", "a crash may lose the last second of commits"),
    ("innodb_flush_log_at_trx_commit", "2", "a loss of power may lose the last second of commits"),
];

enum Surroundings {
    SettingsChanged { changes: Vec<String> },
    DebugBuild,
    NoisyMachine { percent: f64 },
    Embedded,
    SameHost,
    NotDurable { mode: String, how: &'static str },
}

impl Surroundings {
    fn words(self) -> Words {
        match self {
            Surroundings::SettingsChanged { changes } => Words {
                id: "settings_changed",
                severity: Severity::Warning,
                text: format!(
                    "Settings of the database changed between the beginning and the end of the \
                     run: {}.",
                    changes.join(", ")
                ),
            },
            Surroundings::DebugBuild => Words {
                id: "debug_build",
                severity: Severity::Warning,
                text: "dbdyno itself was built without optimisation: its own cost is part of the \
                       figures."
                    .to_owned(),
            },
            Surroundings::NoisyMachine { percent } => Words {
                id: "noisy_machine",
                severity: Severity::Warning,
                text: format!(
                    "Other virtual machines took {percent:.1} % of this machine's CPU time (steal)."
                ),
            },
            Surroundings::Embedded => Words {
                id: "same_host",
                severity: Severity::Note,
                text: "The database lives within the generator and shares its CPUs. The client's \
                       CPU time contains the database's."
                    .to_owned(),
            },
            Surroundings::SameHost => Words {
                id: "same_host",
                severity: Severity::Note,
                text: "Generator and server share one host: they compete for its CPUs, and no \
                       network is part of the figures."
                    .to_owned(),
            },
            Surroundings::NotDurable { mode, how } => Words {
                id: "not_durable",
                severity: Severity::Note,
                text: format!("{mode}: {how}."),
            },
        }
    }
}

pub(super) fn look(tally: &Tally) -> Vec<Words> {
    let debug = tally.fact("build", "profile") == Some("debug");
    let steal = tally.fact("machine", "steal_percent").and_then(|text| text.parse().ok());
    let noisy = steal.filter(|percent| *percent > STEAL_PERCENT_MAX);
    let all = [
        debug.then_some(Surroundings::DebugBuild),
        noisy.map(|percent| Surroundings::NoisyMachine { percent }),
        host(tally),
        not_durable(tally),
        settings_changed(tally),
    ];
    all.into_iter().flatten().map(Surroundings::words).collect()
}

/// Where the server is, as its URL tells: a file, this host, or another one.
fn host(tally: &Tally) -> Option<Surroundings> {
    let target = Target::parse(&tally.description.as_ref()?.target).ok()?;
    let is_path = |name: &str| name.starts_with('/');
    let socket = ["socket", "host"].iter().any(|option| target.option(option).is_some_and(is_path));
    match target.hosts.as_slice() {
        _ if target.scheme == "sim" => None,
        _ if target.scheme == "managed" || socket => Some(Surroundings::SameHost),
        [] => Some(Surroundings::Embedded),
        hosts if hosts.iter().any(|host| host.is_here() || is_path(&host.name)) => {
            Some(Surroundings::SameHost)
        }
        _ => None,
    }
}

fn settings_changed(tally: &Tally) -> Option<Surroundings> {
    let changed = tally.facts.iter().filter(|fact| fact.about == "changed");
    let mut changes: Vec<String> = changed.map(|f| format!("{} {}", f.name, f.value)).collect();
    if changes.len() > CHANGES_SHOWN_MAX {
        let more = changes.len() - CHANGES_SHOWN_MAX;
        changes.truncate(CHANGES_SHOWN_MAX);
        changes.push(format!("and {more} more"));
    }
    (!changes.is_empty()).then_some(Surroundings::SettingsChanged { changes })
}

fn not_durable(tally: &Tally) -> Option<Surroundings> {
    // What lives in memory has no file to damage, and nobody expects it to last.
    let target = tally.description.as_ref().and_then(|told| Target::parse(&told.target).ok());
    if target.is_some_and(|target| target.path == ":memory:") {
        return None;
    }
    let found = NOT_DURABLE.iter().find(|(name, value, _)| has_mode(tally, name, value));
    if let Some((name, value, how)) = found {
        return Some(Surroundings::NotDurable { mode: format!("{name}={value}"), how });
    }
    // https://www.sqlite.org/pragma.html#pragma_synchronous: WAL mode loses durability with it.
    let wal = has_mode(tally, "journal_mode", "wal");
    let lazy = wal && has_mode(tally, "synchronous", "normal");
    let mode = "journal_mode=wal with synchronous=normal".to_owned();
    let how = "a loss of power may lose the last commits";
    lazy.then_some(Surroundings::NotDurable { mode, how })
}

/// Whether a mode is in force: as the description has it, or as a fact of the database.
fn has_mode(tally: &Tally, name: &str, value: &str) -> bool {
    let modes = tally.description.iter().flat_map(|told| &told.modes);
    let mut told = modes.filter_map(|mode| mode.split_once('='));
    let short = name.strip_suffix("_mode").unwrap_or(name);
    let is =
        |(key, of): (&str, &str)| (key == name || key == short) && of.eq_ignore_ascii_case(value);
    let fact = tally.fact("database", name).or_else(|| tally.fact("mode", name));
    told.any(is) || fact.is_some_and(|fact| fact.eq_ignore_ascii_case(value))
}
