//! Findings on the environment of the run: build, machine, host and durability of the database.

use model::numbers::significant;
use model::{CommitRisk, FactValue, Gauge, Severity};

use super::others_cpu::{self, OTHERS_PERCENT_MAX};
use super::{FindingText, count};
use crate::gauges::points;
use crate::host::{self, Machine};
use crate::tally::Tally;

/// Largest share of CPU time, in percent, that other virtual machines may steal without a finding.
/// More is noise that no repetition removes.
const STEAL_PERCENT_MAX: f64 = 2.0;

/// Largest difference between the clocks of two processes without a finding, in seconds, beyond the
/// error of the comparison. A larger one shifts the ages of records that one process stamps and
/// another reads. On one machine clocks differ by microseconds.
const CLOCK_OFFSET_S_MAX: f64 = 100e-6;

/// Largest number of changed settings that a finding lists; the others are shown as a number, such
/// as `and 3 more`.
const CHANGES_SHOWN_MAX: usize = 8;

enum EnvironmentFinding {
    SettingsChanged { changes: Vec<String> },
    DebugBuild,
    NoisyMachine { percent: f64, machine: String },
    OtherCpuLoad { percent: f64, processors: f64, machine: String },
    Embedded,
    SameHost,
    AgentLost { at: String },
    MonitorLost { agent: String, at: String },
    NotDurable(CommitRisk),
    Pooled,
    IdleClosed { count: u64, limit: Option<(&'static str, String)> },
    AnswersCached { settings: String },
    ClocksDiffer { process: u32, ahead_s: f64, error_s: f64 },
}

impl EnvironmentFinding {
    fn text(self) -> FindingText {
        let (id, severity) = self.id();
        FindingText { id, severity, text: self.sentence() }
    }

    fn id(&self) -> (&'static str, Severity) {
        use EnvironmentFinding as Is;
        match self {
            Is::SettingsChanged { .. } => ("settings_changed", Severity::Warning),
            Is::DebugBuild => ("debug_build", Severity::Warning),
            Is::NoisyMachine { .. } => ("noisy_machine", Severity::Warning),
            Is::OtherCpuLoad { .. } => ("other_cpu_load", Severity::Warning),
            Is::ClocksDiffer { .. } => ("clocks_differ", Severity::Warning),
            Is::AgentLost { .. } => ("agent_lost", Severity::Warning),
            Is::MonitorLost { .. } => ("monitor_lost", Severity::Note),
            Is::Embedded | Is::SameHost => ("same_host", Severity::Note),
            Is::NotDurable(_) => ("not_durable", Severity::Note),
            Is::Pooled => ("pooled", Severity::Note),
            Is::IdleClosed { .. } => ("idle_connections_closed", Severity::Warning),
            Is::AnswersCached { .. } => ("answers_cached", Severity::Warning),
        }
    }

    fn sentence(self) -> String {
        use EnvironmentFinding as Is;
        match self {
            Is::SettingsChanged { changes } => format!(
                "Settings of the database changed between the beginning and the end of the run: \
                 {}.",
                changes.join(", ")
            ),
            Is::DebugBuild => {
                "dbdyno was built without optimisation: its overhead is part of the figures."
                    .to_owned()
            }
            Is::NoisyMachine { percent, machine } => format!(
                "Other virtual machines took {percent:.1} % of {machine}'s CPU time (steal)."
            ),
            Is::OtherCpuLoad { percent, processors, machine } => format!(
                "Other programs took at least {percent:.0} % of {machine}'s CPU time ({} of \
                 {processors} processors, user time alone).",
                significant(percent / 100.0 * processors, 2)
            ),
            Is::ClocksDiffer { process, ahead_s, error_s } => format!(
                "The clock of process {process} was {} ± {} ms {} dbdyno's own: the age of a \
                 record that one process stamps and the other reads is wrong by this amount.",
                significant(ahead_s.abs() * 1e3, 3),
                significant(error_s * 1e3, 2),
                if ahead_s > 0.0 { "ahead of" } else { "behind" }
            ),
            Is::AgentLost { at } => {
                format!("The run went on without an agent, last heard at {at}.")
            }
            Is::MonitorLost { agent, at } => {
                format!("The readings of {agent} are missing from {at}.")
            }
            Is::Embedded => "The database runs in the generator's process and shares its CPUs. \
                             The client's CPU time includes the database's."
                .to_owned(),
            Is::SameHost => "Generator and server share one host: they compete for its CPUs, and \
                             the figures include no network."
                .to_owned(),
            Is::NotDurable(CommitRisk { mode, loss }) => format!("{mode}: {loss}."),
            Is::Pooled => "A pooler hands out the server's connections: settings and durability \
                           were read on one of them, and may differ on the others."
                .to_owned(),
            Is::IdleClosed { count, limit } => idle_closed_text(count, limit),
            Is::AnswersCached { settings } => format!(
                "The server has a cache of query results ({settings}): a read that is repeated \
                 before its tables change is answered without being executed."
            ),
        }
    }
}

fn idle_closed_text(n_closed: u64, limit: Option<(&str, String)>) -> String {
    format!(
        "{} closed while clients paused, and made again before the next transaction: by {}a proxy \
         or pooler in between.",
        match n_closed {
            1 => "1 connection was".to_owned(),
            n => format!("{} were", count(n, "connection")),
        },
        limit.map_or_else(String::new, |(name, value)| {
            format!("the server ({name}={value}), or ")
        })
    )
}

pub(super) fn look(tally: &Tally) -> Vec<FindingText> {
    let debug = tally.fact("build", "profile").is_some_and(|profile| *profile == "debug");
    let is_pooled = tally.fact("connection", "pooler").and_then(FactValue::yes_no) == Some(true);
    let all = [
        debug.then_some(EnvironmentFinding::DebugBuild),
        Machine::all(tally).find_map(|machine| noisy_machine(tally, machine)),
        Machine::all(tally).find_map(|machine| other_cpu_load(tally, machine)),
        clocks_differ(tally),
        host::lost_agent(tally).map(|at| EnvironmentFinding::AgentLost { at: at.to_string() }),
        monitor_lost(tally),
        host(tally),
        CommitRisk::read(|about, name| tally.fact(about, name)).map(EnvironmentFinding::NotDurable),
        tally
            .fact("cache", "query_results")
            .map(|settings| EnvironmentFinding::AnswersCached { settings: settings.to_string() }),
        settings_changed(tally),
        is_pooled.then_some(EnvironmentFinding::Pooled),
        idle_closed(tally),
    ];
    all.into_iter().flatten().map(EnvironmentFinding::text).collect()
}

/// Returns a finding if connections were closed while clients paused, with the server's limit for
/// idle connections if it has one; `None` if none were closed.
fn idle_closed(tally: &Tally) -> Option<EnvironmentFinding> {
    let n_lost = tally.fact("client", "idle_connections_lost")?.count().filter(|n| *n > 0)?;
    let limit = IDLE_LIMITS.iter().find_map(|name| {
        let value = tally.fact("database", name)?.to_string();
        (value != "0").then_some((*name, value))
    });
    Some(EnvironmentFinding::IdleClosed { count: n_lost, limit })
}

/// Settings by which servers close idle connections; 0 means no limit.
const IDLE_LIMITS: [&str; 2] = ["wait_timeout", "idle_session_timeout"];

fn host(tally: &Tally) -> Option<EnvironmentFinding> {
    match host::place(tally) {
        Some(host::Place::WithinUs) => Some(EnvironmentFinding::Embedded),
        Some(host::Place::ThisHost) => Some(EnvironmentFinding::SameHost),
        None if host::has_clients_beside_server(tally) => Some(EnvironmentFinding::SameHost),
        None => None,
    }
}

/// Returns a finding if other virtual machines took much of a machine's CPU time; `None` if they
/// did not, or if that is not known.
fn noisy_machine(tally: &Tally, machine: Machine<'_>) -> Option<EnvironmentFinding> {
    let percent = match machine == Machine::OURS {
        true => tally.fact("machine", "steal_percent")?.as_percent()?,
        false => {
            let about = machine.about("machine");
            let is_it = |gauge: &Gauge| gauge.about == about && gauge.name == "cpu_steal";
            let place = tally.gauges.iter().position(is_it)?;
            let all = points(&tally.gauges, &tally.readings).swap_remove(place);
            let measured = tally.seconds();
            let inside = all.iter().filter(|(second, _)| measured.contains(second));
            let values: Vec<f64> = inside.map(|(_, value)| *value).collect();
            values.iter().sum::<f64>() / values.len() as f64
        }
    };
    let machine = machine.title().to_owned();
    (percent > STEAL_PERCENT_MAX).then_some(EnvironmentFinding::NoisyMachine { percent, machine })
}

/// Returns a finding if programs other than the generator and the server used much of a machine's
/// CPU time; `None` if they did not, or if that is not known.
fn other_cpu_load(tally: &Tally, machine: Machine<'_>) -> Option<EnvironmentFinding> {
    let processors = machine.processors(tally)?;
    let seconds = others_cpu::by_second(tally, machine)?;
    let percent = seconds.values().map(|cpu| cpu.others).sum::<f64>() / seconds.len() as f64;
    let machine = machine.title().to_owned();
    (percent > OTHERS_PERCENT_MAX).then_some(EnvironmentFinding::OtherCpuLoad {
        percent,
        processors,
        machine,
    })
}

/// Returns a finding if an agent that monitored its host was lost; `None` if none was.
fn monitor_lost(tally: &Tally) -> Option<EnvironmentFinding> {
    let mut facts = tally.facts.iter().filter(|fact| fact.about == host::MONITORED);
    let (agent, at) =
        facts.find_map(|fact| Some((fact.name.strip_suffix("_lost_at")?, &fact.value)))?;
    Some(EnvironmentFinding::MonitorLost { agent: agent.to_owned(), at: at.to_string() })
}

/// Returns a finding if clocks of client processes differ from this process's by too much, with the
/// one that differs most; `None` if none does.
fn clocks_differ(tally: &Tally) -> Option<EnvironmentFinding> {
    let seconds = |process: u32, name: &str| {
        let name = format!("process_{process}_clock_offset_{name}_s");
        tally.fact("processes", &name).and_then(FactValue::as_seconds)
    };
    let offsets = |process: u32| {
        ["first", "last"].into_iter().filter_map(move |when| {
            let ahead_s = seconds(process, when)?;
            let error_s = seconds(process, &format!("{when}_error"))?;
            Some((process, ahead_s, error_s))
        })
    };
    // Stamps of agents on other hosts are corrected by their offset: what is left is its drift.
    let is_corrected = |process: u32| {
        let name = format!("process_{process}_is_here");
        tally.fact("processes", &name).and_then(FactValue::yes_no) == Some(false)
    };
    let left = |(process, ahead_s, error_s): (u32, f64, f64)| {
        let corrected_s = seconds(process, "first").filter(|_| is_corrected(process));
        (process, ahead_s - corrected_s.unwrap_or(0.0), error_s)
    };
    let is_there =
        |process: &u32| tally.fact("processes", &format!("process_{process}_clients")).is_some();
    let too_far = (1..)
        .take_while(is_there)
        .flat_map(offsets)
        .map(left)
        .filter(|(_, ahead_s, error_s)| ahead_s.abs() - error_s > CLOCK_OFFSET_S_MAX);
    let (process, ahead_s, error_s) = too_far.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    Some(EnvironmentFinding::ClocksDiffer { process, ahead_s, error_s })
}

fn settings_changed(tally: &Tally) -> Option<EnvironmentFinding> {
    let changed = tally.facts.iter().filter(|fact| fact.about == "changed");
    let mut changes: Vec<String> = changed.map(|f| format!("{} {}", f.name, f.value)).collect();
    if changes.len() > CHANGES_SHOWN_MAX {
        let more = changes.len() - CHANGES_SHOWN_MAX;
        changes.truncate(CHANGES_SHOWN_MAX);
        changes.push(format!("and {more} more"));
    }
    (!changes.is_empty()).then_some(EnvironmentFinding::SettingsChanged { changes })
}
