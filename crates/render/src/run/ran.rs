//! The section on what ran: target, network path, groups and phases, and folded the server's
//! settings and all facts.

use analysis::report::{GroupReport, Report};
use model::numbers::{self, count, significant};
use model::{FactValue, Finding, StopCondition};

use crate::document::{Block, Length, Place, Section};

/// Text that stands for an empty setting or fact.
const EMPTY: &str = "(empty)";

/// A labelled line about the setup of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Label of the line; empty if it continues the line above.
    pub(crate) label: String,
    /// Parts of the line's text. An experiment's page shows only the parts that all its trials
    /// have.
    pub(crate) parts: Vec<String>,
    /// Separator between two parts of the line.
    between: &'static str,
}

impl Line {
    fn new(label: &str, parts: Vec<String>) -> Line {
        Line { label: label.to_owned(), parts, between: ", " }
    }

    /// Returns the text of the line, all parts joined.
    pub(crate) fn words(&self) -> String {
        self.parts.join(self.between)
    }
}

pub(super) fn section(report: &Report) -> Section {
    let lines = lines(report);
    let lines = lines.iter().map(|line| (line.label.clone(), line.words()));
    let mut blocks = vec![Block::pairs(lines)];
    if !report.settings.is_empty() {
        let title = format!("Settings of the server ({})", report.settings.0.len());
        blocks.push(values(title, report.settings.0.clone()));
    }
    for (about, facts) in &report.facts {
        let title = format!("Facts: {about} ({})", facts.len());
        let facts = facts.iter().map(|(name, value)| (name.clone(), value.to_string()));
        blocks.push(values(title, facts.collect()));
    }
    let section = Section::new("ran", "What ran", blocks);
    Section { where_drawn: Place::Last, ..section }
}

/// Returns a folded list of names with their values.
fn values(title: String, all: Vec<(String, String)>) -> Block {
    let value = |value: String| if value.is_empty() { EMPTY.to_owned() } else { value };
    let all = all.into_iter().map(|(name, words)| (name, value(words)));
    Block::details(title, Length::Long, vec![Block::pairs(all)])
}

/// Returns the lines about the setup of a run: target, network, load of each group, parameters,
/// phases and settling.
pub(crate) fn lines(report: &Report) -> Vec<Line> {
    let mut lines = vec![Line::new("target", target(report))];
    lines.extend(network_path(report).map(|parts| Line::new("network", parts)));
    lines.extend(path(report).map(|parts| Line::new("path", parts)));
    let is_one = report.groups.len() == 1;
    for group in &report.groups {
        // With several groups, parameters follow the group's name.
        let (label, of_parameters) =
            if is_one { ("load", group.workload.as_str()) } else { (group.name.as_str(), "") };
        let workload = Some(&group.workload).filter(|workload| !is_one && *workload != label);
        let place = group.target.as_ref().map(|target| format!("at {target}"));
        let load = load(report, group).into_iter().chain(place);
        let parts = workload.cloned().into_iter().chain(load);
        lines.push(Line::new(label, parts.collect()));
        lines.push(Line::new("", group.closed_form.iter().cloned().collect()));
        let parameters = group.parameters.iter().filter(|(name, _)| !group.load.ignores(name));
        let parameters = parameters.map(|(name, value)| format!("{name}={value}"));
        let parameters = Line::new(of_parameters, parameters.collect());
        lines.push(Line { between: " ", ..parameters });
    }
    lines.push(Line::new("phases", phases(report)));
    let settled = [("settle_before", "before the load"), ("settle_after", "after the load")];
    for (about, when) in settled {
        lines.extend(settling(report, about, when).map(|(name, parts)| Line::new(name, parts)));
    }
    lines
}

/// Returns the target's URL, followed by those modes of the database that the URL does not have as
/// options.
pub(super) fn target(report: &Report) -> Vec<String> {
    let (_, options) = report.target.split_once('?').unwrap_or_default();
    let is_new = |mode: &&String| options.split('&').all(|option| option != mode.as_str());
    std::iter::once(&report.target).chain(report.modes.iter().filter(is_new)).cloned().collect()
}

/// Describes how the database came to rest before or after the load (`when`): whether it did, how
/// long it took, and how background work fell. `about` is the subject of the facts on it. `None` if
/// dbdyno did not wait for that.
pub(super) fn settling(
    report: &Report,
    about: &str,
    when: &str,
) -> Option<(&'static str, Vec<String>)> {
    let facts = report.facts.get(about)?;
    let took = facts.get("took_s")?.as_seconds()?;
    let took = model::format_duration((took * 1e3).round() as u64 * model::NS_PER_MS);
    let begins = format!("Not at rest {when}: ");
    let says_not =
        |finding: &Finding| finding.id == "not_settled" && finding.text.starts_with(&begins);
    let (name, mut parts) = match report.findings.iter().any(says_not) {
        true => ("not settled", vec![format!("{when} within {took}")]),
        false => ("settled", vec![format!("{when} in {took}")]),
    };
    for (name, before) in facts.iter() {
        let Some(level) = name.strip_suffix("_before") else { continue };
        let after = facts.get(&format!("{level}_after"))?.count()?;
        let before = before.count()?;
        let shown = [before, after].map(model::format_count);
        let level = level.replace("_per_s", "/s").replace('_', " ");
        parts.push(format!("{level} {} to {}", shown[0], shown[1]));
    }
    let bytes = facts.get("written_bytes").and_then(FactValue::bytes);
    parts.extend(bytes.map(|bytes| format!("{} written", numbers::bytes(bytes))));
    Some((name, parts))
}

/// Describes the network path that dbdyno simulated for the plan, with delay and measured round
/// trips; `None` if the plan asked for none.
fn network_path(report: &Report) -> Option<Vec<String>> {
    let facts = report.facts.get("network_path")?;
    let as_ms = |name: &str| facts.get(name)?.as_seconds().map(|seconds| seconds * 1e3);
    let in_ms = |name: &str| as_ms(name).map(|of_ms| format!("{} ms", significant(of_ms, 3)));
    let mut parts = vec![format!("a path with {} of delay in each direction", in_ms("delay_s")?)];
    parts.extend(facts.get("bandwidth").map(ToString::to_string));
    let direct =
        in_ms("round_trip_direct_s").map_or(String::new(), |time| format!(" ({time} directly)"));
    parts.extend(in_ms("round_trip_s").map(|time| format!("an empty query took {time}{direct}")));
    let most = in_ms("late_max_s").map_or(String::new(), |most| format!(", at most {most}"));
    let late =
        in_ms("late_mean_s").map(|mean| format!("bytes were late by {mean} on average{most}"));
    parts.extend(late);
    parts.extend(facts.get("cpu_s").map(|cpu| format!("its process used {cpu} s of CPU")));
    Some(parts)
}

/// Describes the round trip and bandwidth to the server as measured before the load; `None` if they
/// were not measured.
fn path(report: &Report) -> Option<Vec<String>> {
    let facts = report.facts.get("path")?;
    let ms = facts.get("round_trip_min_s")?.as_seconds()? * 1e3;
    let mut parts = vec![format!("shortest round trip {} ms", significant(ms, 3))];
    parts.extend(
        facts.get("bandwidth").map(|bandwidth| format!("bandwidth {bandwidth} (a large reply)")),
    );
    Some(parts)
}

fn load(report: &Report, group: &GroupReport) -> Vec<String> {
    let clients = count(group.clients.into(), "client");
    let mut parts = match (report.placement.as_str(), group.clients) {
        ("thread", 1) => vec![format!("{clients} on a thread")],
        ("thread", _) => vec![clients, "a thread each".to_owned()],
        ("loop", 1) => vec![format!("{clients} on an event loop{}", waiting_by(report))],
        ("loop", _) => vec![format!("{clients} on event loops{}", waiting_by(report))],
        _ => vec![format!("{clients} in virtual time")],
    };
    let has_agents = report.fact("processes", "process_1_agent").is_some();
    parts.extend(match group.processes {
        0 => None,
        1 if has_agents => Some("on an agent".to_owned()),
        n if has_agents => Some(format!("on {n} agents")),
        1 => Some("in a separate process".to_owned()),
        n => Some(format!("in {n} separate processes")),
    });
    parts.extend(numbers::load_parts(&group.load));
    parts.extend(match group.stop_condition {
        StopCondition::Time | StopCondition::Sequence => None,
        StopCondition::Transactions(n) => Some(format!("until {}", count(n, "transaction"))),
        StopCondition::TransactionsPerClient(n) => {
            Some(format!("until {} of each client", count(n, "transaction")))
        }
    });
    parts
}

/// The interface of the kernel by which event loops waited; empty if it is not known.
fn waiting_by(report: &Report) -> String {
    let name = report.facts.get("client").and_then(|facts| facts.get("event_loop"));
    name.map_or(String::new(), |name| format!(" ({name})"))
}

fn phases(report: &Report) -> Vec<String> {
    let phases = &report.phases;
    let measured = report.measured_seconds;
    let planned = if (measured - phases.measure_s).abs() > 0.05 && phases.measure_s > 0.0 {
        format!(" of {}", numbers::seconds(phases.measure_s))
    } else {
        String::new()
    };
    let short = (0.001..1.0).contains(&measured);
    let measured = if short { format!("{measured:.3} s") } else { numbers::seconds(measured) };
    vec![
        format!("{} ramp-up", numbers::seconds(phases.ramp_up_s)),
        format!("{measured}{planned} measured"),
        format!("seed {}", report.seed),
    ]
}
