//! The first page of a run: what fits a screen and is read in ten seconds. How fast, how surely,
//! what is wrong, what was checked, and what to do next.
//!
//! Not here: all else, which the whole page has in sections.

use std::iter::once;

use analysis::report::Report;
use model::numbers::{self, count, significant};
use model::{Finding, Load, Severity, format_count};

use super::{checks, disturbances, head, over_time, ran, transactions, why};
use crate::document::{Block, Document, Quantity, Section, Text, Validity, Value, Verdict};
use crate::first_page::{
    NOTES_MOST, WARNINGS_MOST, WITH_FULL, first_sentence, in_brief, more, next_block,
};
use crate::list::short_id;
use crate::spark::sparkline;

/// Largest number of warnings that are shown with advice: more would fill the page.
const ADVISED_MOST: usize = 2;

/// Largest number of parts of the time of a transaction.
const PARTS_MOST: usize = 4;

/// Largest number of disturbances that are shown.
const DISTURBANCES_MOST: usize = 3;

/// Largest length of a server's error message.
const MESSAGE_LETTERS_MOST: usize = 80;

/// Largest number of transaction types.
const TYPES_MOST: usize = 8;

/// Largest number of custom metrics.
const METRICS_MOST: usize = 4;

/// Width of the curve of throughput, in columns: the rest follows in the same line of 80.
const CURVE_WIDTH: usize = 30;

/// Input of the first page besides the report.
pub struct Short<'s> {
    /// Function that returns true for a default value, which is left out. It takes workload,
    /// parameter and value.
    pub is_default: &'s dyn Fn(&str, &str, &str) -> bool,
    /// True if the run is stored.
    pub is_stored: bool,
    /// Suggested commands, each with its purpose.
    pub next: Vec<(String, String)>,
}

/// Makes the first page of a run.
pub fn run_short(report: &Report, with: &Short<'_>) -> Document {
    let mut page = Document::new(head::kind(report), head::title(report));
    let verdict = head::verdict(report);
    page.verdicts = vec![Verdict { headline: Text::from(title(report)), ..verdict }];
    page.summary = vec![Block::pairs(figures(report))];
    page.validity = Some(validity(report));
    page.sections = vec![
        types(report),
        metrics(report),
        Section::new("checks", "Checks", vec![Block::pairs(checked(report, with))]),
        Section::new("next", "Next", next(report, with)),
    ];
    page
}

/// Returns the title: `tpcc on MariaDB 10.11.14, 4 clients, measured 30 s`.
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

/// Returns the lines with the main figures.
fn figures(report: &Report) -> Vec<(&'static str, String)> {
    vec![
        ("throughput", throughput(report)),
        ("latency", times(report)),
        ("errors", errors(report)),
        ("per second", per_second(report)),
    ]
}

/// Describes throughput: `2,471 TPS ± 320, 64,100 NOPM`; with the workload's first rate, or
/// statements.
fn throughput(report: &Report) -> String {
    let mut parts = vec![head::tps(Text::default(), report, "").plain()];
    if report.block.tps > Some(0.0) && report.block.tps_ci95.is_none() {
        parts[0].push_str(" (no CI)");
    }
    let known = head::known(report);
    match (known.first(), report.block.qps) {
        (Some((value, of)), _) => parts.push(head::known_words(*value, of)),
        (None, Some(qps)) if qps > 0.0 => parts.push(format!("{} QPS", significant(qps, 4))),
        _ => {}
    }
    parts.join(", ")
}

/// Describes response times: `p50 0.672, p95 8.95, p99 17.2 (15.9 to 19.0), max 132 ms`.
fn times(report: &Report) -> String {
    let shown = |field: &'static str| {
        let of = Quantity { unit: "", ..head::of_all_offered(report, field) };
        let interval = match of.error() {
            words if field == "p99" && !words.is_empty() => format!(" ({words})"),
            _ => String::new(),
        };
        (of.value != Value::Unknown).then(|| format!("{field} {}{interval}", of.value()))
    };
    let mut parts: Vec<String> = ["p50", "p95", "p99"].into_iter().filter_map(shown).collect();
    let max = report.block.response_ms.max;
    parts.extend(max.map(|max| format!("max {} ms", significant(max, 3))));
    if parts.is_empty() { "nothing finished".to_owned() } else { parts.join(", ") }
}

/// Describes the losses among offered transactions.
fn errors(report: &Report) -> String {
    let counts = &report.block.counts;
    let of = |n: u64, word: &str| format!("{} {word}", format_count(n));
    let mut parts =
        vec![format!("{} of {} failed", format_count(counts.failed), format_count(counts.offered))];
    parts.push(of(counts.retried, "retried"));
    parts.extend((counts.dropped > 0).then(|| of(counts.dropped, "dropped")));
    parts.extend((counts.unfinished > 0).then(|| of(counts.unfinished, "unfinished")));
    parts.extend((counts.unknown > 0).then(|| of(counts.unknown, "with unknown outcome")));
    let most = report.block.errors.iter().max_by_key(|of| of.count);
    // An error needs the room more.
    parts.extend(most.is_none().then(|| transactions::rolled_back(report)).flatten());
    let most = most.map(|of| {
        format!("; most often {}: {}", of.kind, numbers::cut(&of.message, MESSAGE_LETTERS_MOST))
    });
    parts.join(", ") + &most.unwrap_or_default()
}

/// Draws throughput by second as a curve, with its range and stalls.
fn per_second(report: &Report) -> String {
    let values = over_time::per_second(report);
    let Some(stalls) = over_time::stalls(report) else { return String::new() };
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let curve = sparkline(&values, CURVE_WIDTH);
    format!("{curve}  {} to {} TPS, {stalls}", numbers::exact(low), numbers::exact(high))
}

/// Returns the findings more severe than notes, the most severe first.
fn validity(report: &Report) -> Validity {
    let mut all: Vec<&Finding> =
        report.findings.iter().filter(|of| of.severity > Severity::Note).collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.severity));
    let is_advised = all.len() <= ADVISED_MOST;
    let shown = all.iter().take(WARNINGS_MOST).map(|of| shortened(of, is_advised));
    let mut shown: Vec<Finding> = shown.collect();
    let more = more(all.len(), WARNINGS_MOST).map(|more| format!("{more}."));
    shown.extend(more.map(|text| Finding::new("more", Severity::Warning, text)));
    Validity::of(head::answer(report), &shown)
}

/// Shortens a finding to its observation, and the first sentence of its advice if there is room.
fn shortened(finding: &Finding, is_advised: bool) -> Finding {
    let observed = finding.observed.as_deref().unwrap_or_else(|| first_sentence(&finding.text));
    let advice = finding.text.strip_prefix(observed).unwrap_or_default().trim();
    let text = match first_sentence(advice) {
        first if is_advised && !first.is_empty() => format!("{observed} {first}"),
        _ => in_brief(observed),
    };
    Finding { text, ..finding.clone() }
}

/// Makes the section on groups or transaction types, if there are several.
fn types(report: &Report) -> Section {
    let table = transactions::by_type_shortly(report);
    let n_groups = report.groups.len();
    let mut blocks = Vec::new();
    if n_groups > 1 {
        blocks.push(Block::Table(transactions::by_group(report)));
    } else if table.rows.len() > 1 {
        blocks.push(Block::Table(table.shown_max(TYPES_MOST, WITH_FULL)));
    }
    Section::new("transactions", "Transactions", blocks)
}

/// Describes checks, setup and remarks.
fn checked(report: &Report, with: &Short<'_>) -> Vec<(&'static str, String)> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    pairs.extend(why::shortly(report, PARTS_MOST).map(|words| ("time goes", words)));
    let events = report.disturbances.iter().take(DISTURBANCES_MOST).map(disturbances::sentence);
    pairs.extend(events.map(|words| ("disturbed", words)));
    pairs.extend([("data", checks::data(report)), ("setup", setup(report, with))]);
    for note in notes(report).take(n_notes(report)) {
        pairs.push(("note", in_brief(note.observed.as_deref().unwrap_or(&note.text))));
    }
    pairs.retain(|(_, words)| !words.is_empty());
    pairs
}

/// Notes that the page has not said already: its first lines say how far the run came.
fn notes(report: &Report) -> impl Iterator<Item = &Finding> {
    let is_new = |of: &&Finding| of.severity == Severity::Note && of.id != "interrupted";
    report.findings.iter().filter(is_new)
}

/// Returns how many notes fit a screen: each warning after the first takes the room of one.
fn n_notes(report: &Report) -> usize {
    let n_warnings = report.findings.iter().filter(|of| of.severity > Severity::Note).count();
    NOTES_MOST.saturating_sub(n_warnings.saturating_sub(1))
}

/// Describes the setup, without defaults.
fn setup(report: &Report, with: &Short<'_>) -> String {
    let mut parts = ran::target(report);
    parts.extend(parameters(report, with.is_default));
    parts.push(format!("{} ramp-up", numbers::seconds(report.phases.ramp_up_s)));
    parts.push(format!("seed {}", report.seed));
    parts.join(", ")
}

/// Returns the parameters of the only group that are not defaults: `warehouses=4`.
pub(super) fn parameters(
    report: &Report,
    is_default: &dyn Fn(&str, &str, &str) -> bool,
) -> Vec<String> {
    let [group] = report.groups.as_slice() else { return Vec::new() };
    let shown =
        group.parameters.iter().filter(|(name, value)| !is_default(&group.workload, name, value));
    shown.map(|(name, value)| format!("{name}={value}")).collect()
}

/// Describes the confidence and the stored run, with suggested commands.
fn next(report: &Report, with: &Short<'_>) -> Vec<Block> {
    let mut parts = vec![match with.is_stored {
        true => format!("stored as {}", short_id(&report.run_id)),
        false => "not stored".to_owned(),
    }];
    match (&report.block.tps_ci95, &report.block.tps_ci95_reason) {
        (Some(_), _) => parts.push("± and (a to b) are 95 % CIs within this run".to_owned()),
        (None, Some(why)) => parts.push(format!("no CI of TPS: {why}")),
        (None, None) => {}
    }
    if let Some(more @ 1..) = notes(report).count().checked_sub(n_notes(report)) {
        parts.push(count(more as u64, "more note"));
    }
    let legal = report.notice().map(str::to_owned);
    let lines: Vec<String> = legal.into_iter().chain([parts.join("; ")]).collect();
    once(Block::paragraphs(lines)).chain(next_block(&with.next)).collect()
}

/// Makes the section on custom metrics that are distributions, such as ages.
fn metrics(report: &Report) -> Section {
    let table = transactions::distributions(report).shown_max(METRICS_MOST, WITH_FULL);
    let table = (!table.is_empty()).then_some(Block::Table(table));
    Section::new("custom", "Custom metrics", table.into_iter().collect())
}
