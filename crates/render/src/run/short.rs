//! The first page of a run, which fits a screen: throughput, latency, errors, findings, checks, and
//! suggested commands.
//!
//! Not here: the full page, which has all in sections.

use std::iter::once;

use analysis::report::Report;
use model::numbers::{self, count};
use model::{Finding, Load, Severity};

use super::{checks, disturbances, head, parts, ran, transactions, why};
use crate::document::{Block, Document, Section, Text, Validity, Verdict};
use crate::first_page::{
    NOTES_MOST, WARNINGS_MOST, WIDTH, WITH_FULL, first_sentence, fitting, in_brief, more,
    next_block, up_to_clause,
};
use crate::list::short_id;

/// Largest number of warnings on a run's first page with which each is followed by its advice.
const ADVISED_MOST: usize = 2;

/// Largest number of parts of a transaction's time that a run's first page names; smaller ones are
/// added up as `others`.
const PARTS_MOST: usize = 4;

/// Input for the first page of a run, in addition to its report.
pub struct Short<'s> {
    /// Function that is called with workload, parameter and value. Parameters for which it returns
    /// true are left out as defaults.
    pub is_default: &'s dyn Fn(&str, &str, &str) -> bool,
    /// True if the run is in the store, so that commands can show it again.
    pub is_stored: bool,
    /// Commands that the page suggests, each with its purpose.
    pub next: Vec<(String, String)>,
}

/// Largest number of lines of a run's first page, so that it fits a screen.
const LINES_MOST: usize = 40;

/// Largest lengths of the lists on a run's first page. Smaller ones are tried until the page fits a
/// screen.
struct Room {
    warnings: usize,
    /// Largest length of a warning, in characters. `None` if it is not cut; a few warnings then
    /// have advice, too.
    warning_letters: Option<usize>,
    types: usize,
    metrics: usize,
    disturbances: usize,
    /// True if the purposes of suggested commands are printed, which may take a line each.
    has_purposes: bool,
}

/// Limits of a run's first page that are tried one after the other until it fits a screen, the most
/// generous first.
const ROOMS: [Room; 6] = [
    Room { warnings: WARNINGS_MOST, types: 8, metrics: 4, disturbances: 3, ..LARGEST },
    Room { warnings: WARNINGS_MOST, types: 8, metrics: 2, disturbances: 1, ..LARGEST },
    Room { warnings: WARNINGS_MOST, types: 5, metrics: 0, has_purposes: false, ..LARGEST },
    // Warnings are the last to go: each keeps a line or two.
    Room { warning_letters: Some(132), types: 5, ..SMALL },
    Room { warning_letters: Some(66), types: 5, ..SMALL },
    Room { warning_letters: Some(66), types: 3, ..SMALL },
];

const LARGEST: Room = Room {
    warnings: WARNINGS_MOST,
    warning_letters: None,
    types: 8,
    metrics: 4,
    disturbances: 1,
    has_purposes: true,
};

const SMALL: Room = Room { metrics: 0, has_purposes: false, ..LARGEST };

/// Returns the first page of a run for a terminal. Lists are shortened until it fits a screen.
pub fn run_short(report: &Report, with: &Short<'_>) -> Document {
    fitting(LINES_MOST, ROOMS.iter().map(|room| in_room(report, with, room)))
}

fn in_room(report: &Report, with: &Short<'_>, room: &Room) -> Document {
    let mut page = Document::new(head::kind(report), head::title(report));
    let verdict = head::verdict(report);
    page.verdicts = vec![Verdict { headline: Text::from(title(report)), ..verdict }];
    page.summary = vec![Block::pairs(figures(report))];
    page.validity = Some(validity(report, room));
    page.sections = vec![
        (parts::of(report).types_shortly)(report, room.types),
        metrics(report, room),
        Section::new("checks", "Checks", vec![Block::pairs(checked(report, with, room))]),
        Section::new("next", "Next", next(report, with, room)),
    ];
    page
}

/// Returns the first line of a run's first page: `tpcc on MariaDB 10.11.14, 4 clients, measured 30
/// s`.
fn title(report: &Report) -> String {
    let what = if report.workload.is_empty() { &report.name } else { &report.workload };
    let mut parts = vec![format!("{what} on {}", report.database)];
    parts.push(count(u64::from(report.clients), "client"));
    let is_closed = matches!(report.load, Some(Load::Closed));
    parts.extend((!is_closed).then(|| head::load(report)));
    parts.push(match head::ending(report) {
        Some(ending) => ending,
        None => format!("measured {}", numbers::seconds(report.measured_seconds)),
    });
    parts.join(", ")
}

/// Returns the labelled lines with the main figures of a run's first page, and what limits it.
fn figures(report: &Report) -> Vec<(&'static str, String)> {
    let mut figures = (parts::of(report).figures)(report);
    figures.retain(|(_, words)| !words.is_empty());
    figures.extend(why::replicas(report).into_iter().map(|words| ("replica", words)));
    figures.extend(limited_by(report).map(|words| ("limited by", words)));
    figures.extend(report.limits.iter().map(|limit| ("limit", limit.text.clone())));
    figures
}

/// Returns what limits throughput, with its evidence; `None` if no evidence shows it.
fn limited_by(report: &Report) -> Option<String> {
    report.limited_by.as_ref().map(|limited| limited.text.clone())
}

/// Returns the validity of the run with its most severe findings, at most as many as `room` allows.
/// Notes are left out.
fn validity(report: &Report, room: &Room) -> Validity {
    let mut all: Vec<&Finding> =
        report.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let is_advised = all.len() <= ADVISED_MOST;
    let to_finding = |finding: &&Finding| match room.warning_letters {
        Some(letters) => {
            let observed = shortened(finding, false);
            Finding { text: up_to_clause(&observed.text, letters), ..observed }
        }
        None => shortened(finding, is_advised),
    };
    let shown = all.iter().take(room.warnings).map(to_finding);
    let mut shown: Vec<Finding> = shown.collect();
    let more = more(all.len(), room.warnings).map(|more| format!("{more}."));
    shown.extend(more.map(|text| Finding::new("more", Severity::Warning, text)));
    Validity::from_findings(head::answer(report), &shown)
}

/// Shortens a finding to its observation, and with `is_advised` the first sentence of its advice.
fn shortened(finding: &Finding, is_advised: bool) -> Finding {
    let observed = finding.observed.as_deref().unwrap_or_else(|| first_sentence(&finding.text));
    let advice = finding.text.strip_prefix(observed).unwrap_or_default().trim();
    let text = match first_sentence(advice) {
        first if is_advised && !first.is_empty() => format!("{observed} {first}"),
        _ => in_brief(observed),
    };
    Finding { text, ..finding.clone() }
}

/// Returns the labelled lines below the tables of a run's first page: parts of the time,
/// disturbances, checks of data, setup and notes. Empty ones are left out.
fn checked(report: &Report, with: &Short<'_>, room: &Room) -> Vec<(&'static str, String)> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    pairs.extend(why::shortly(report, PARTS_MOST).map(|words| ("time goes", words)));
    let events = report.disturbances.iter().take(room.disturbances).map(disturbances::sentence);
    pairs.extend(events.map(|words| ("disturbed", in_brief(&words))));
    let more = more(report.disturbances.len(), room.disturbances);
    pairs.extend(more.map(|words| ("", words)));
    pairs.extend([("data", checks::data(report)), ("setup", setup(report, with))]);
    for note in notes(report).take(n_notes(report)) {
        pairs.push(("note", in_brief(note.observed.as_deref().unwrap_or(&note.text))));
    }
    pairs.retain(|(_, words)| !words.is_empty());
    pairs
}

/// Returns the findings of a run that are notes, the one on durability first, without the one on an
/// interruption, which the page's first line reports.
fn notes(report: &Report) -> impl Iterator<Item = &Finding> {
    let is_new =
        |finding: &&Finding| finding.severity == Severity::Note && finding.id != "interrupted";
    let all = || report.findings.iter().filter(is_new);
    let is_first = |finding: &&Finding| is_not_durable(finding);
    all().filter(is_first).chain(all().filter(move |finding| !is_first(finding)))
}

/// Returns how many notes the first page shows. Each warning after the first takes the room of a
/// note.
fn n_notes(report: &Report) -> usize {
    let n_warnings =
        report.findings.iter().filter(|finding| finding.severity > Severity::Note).count();
    let n = NOTES_MOST.saturating_sub(n_warnings.saturating_sub(1));
    // Commits that a crash loses make the figures incomparable.
    n.max(usize::from(report.findings.iter().any(is_not_durable)))
}

fn is_not_durable(finding: &Finding) -> bool {
    finding.id == "not_durable"
}

/// Describes the setup of a run for its first page, without parameters that have their defaults:
/// target, parameters, ramp-up and seed.
fn setup(report: &Report, with: &Short<'_>) -> String {
    let mut parts = ran::target(report);
    parts.extend(parameters(report, with.is_default));
    parts.push(format!("{} ramp-up", numbers::seconds(report.phases.ramp_up_s)));
    parts.push(format!("seed {}", report.seed));
    parts.join(", ")
}

/// Returns the parameters that are not defaults, such as `warehouses=4`; empty if there are several
/// groups.
pub(super) fn parameters(
    report: &Report,
    is_default: &dyn Fn(&str, &str, &str) -> bool,
) -> Vec<String> {
    let [group] = report.groups.as_slice() else { return Vec::new() };
    let shown =
        group.parameters.iter().filter(|(name, value)| !is_default(&group.workload, name, value));
    shown.map(|(name, value)| format!("{name}={value}")).collect()
}

/// Makes the last block of the first page: where the run is stored, what errors mean, why intervals
/// are missing, and suggested commands.
fn next(report: &Report, with: &Short<'_>, room: &Room) -> Vec<Block> {
    let mut parts = vec![match with.is_stored {
        true => format!("stored as {}", short_id(&report.run_id)),
        false => "not stored".to_owned(),
    }];
    parts.extend((parts::of(report).remarks)(report));
    if let Some(more @ 1..) = notes(report).count().checked_sub(n_notes(report)) {
        parts.push(count(more as u64, "more note"));
    }
    let legal = report.notice().map(str::to_owned);
    let lines: Vec<String> = legal.into_iter().chain([parts.join("; ")]).collect();
    // Beside its command a purpose takes no line.
    let fits = |command: &str, why: &str| command.len() + why.len() < WIDTH - PURPOSE_MARKS;
    let purpose = |command: &str, why: &String| match room.has_purposes || fits(command, why) {
        true => why.clone(),
        false => String::new(),
    };
    let commands = with.next.iter();
    let commands = commands.map(|(command, why)| (command.clone(), purpose(command, why)));
    let commands: Vec<(String, String)> = commands.collect();
    once(Block::paragraphs(lines)).chain(next_block(&commands)).collect()
}

/// Number of columns for indentation and comment marks in the line of a suggested command with its
/// purpose.
const PURPOSE_MARKS: usize = 8;

/// Returns the table of custom metrics that are distributions, such as ages, for a run's first
/// page.
fn metrics(report: &Report, room: &Room) -> Section {
    let table = transactions::distributions(report).shown_max(room.metrics, WITH_FULL);
    let table = (!table.is_empty() && room.metrics > 0).then_some(Block::Table(table));
    Section::new("custom", "Custom metrics", table.into_iter().collect())
}
