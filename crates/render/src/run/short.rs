//! The first page of a run, which fits a screen: throughput, latency, errors, findings, checks, and
//! suggested commands.
//!
//! Not here: the full page, which has all in sections.

use std::iter::once;

use analysis::report::{CountsReport, Report};
use model::numbers::{self, NONE, count, significant};
use model::{Finding, Load, Severity, format_count};

use super::{checks, disturbances, head, over_time, ran, sequence, transactions, why};
use crate::document::{Block, Document, Quantity, Section, Text, Validity, Value, Verdict};
use crate::first_page::{
    NOTES_MOST, WARNINGS_MOST, WIDTH, WITH_FULL, first_sentence, fitting, in_brief, more,
    next_block, up_to_clause,
};
use crate::list::short_id;
use crate::spark::sparkline;

/// Largest number of warnings on a run's first page with which each is followed by its advice.
const ADVISED_MOST: usize = 2;

/// Largest number of parts of a transaction's time that a run's first page names; smaller ones are
/// added up as `others`.
const PARTS_MOST: usize = 4;

/// Largest length of a server's error message on a run's first page, in characters; a longer one is
/// cut.
const MESSAGE_LETTERS_MOST: usize = 80;

/// Width of the sparkline of throughput, in columns, so that its range fits on the same line.
const CURVE_WIDTH: usize = 30;

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
        types(report, room),
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

/// Returns the labelled lines of a run's first page with throughput, latency, errors and commits
/// per second.
fn figures(report: &Report) -> Vec<(&'static str, String)> {
    if report.is_sequence() {
        let mut figures = sequence::figures(report);
        figures.retain(|(_, words)| !words.is_empty());
        figures.extend(limited_by(report).map(|words| ("limited by", words)));
        return figures;
    }
    let mut figures = vec![
        ("throughput", throughput(report)),
        ("latency", times(report)),
        ("errors", errors(report)),
        ("per second", per_second(report)),
    ];
    figures.extend(why::connecting(report).map(|words| ("connecting", words)));
    figures.extend(why::replicas(report).into_iter().map(|words| ("replica", words)));
    figures.extend(limited_by(report).map(|words| ("limited by", words)));
    figures
}

/// Returns what limits throughput, with its evidence; `None` if no evidence shows it.
fn limited_by(report: &Report) -> Option<String> {
    report.limited_by.as_ref().map(|limited| limited.text.clone())
}

/// Describes throughput with its error: `2,471 TPS ± 320, 64,100 NOPM`. The second rate is the
/// primary metric, or else QPS.
fn throughput(report: &Report) -> String {
    let mut parts = vec![head::tps(Text::default(), report, ["", head::NO_CI]).plain()];
    match (head::known(report).first(), report.block.qps) {
        (Some((value, metric)), _) => parts.push(head::known_words(*value, metric, head::NO_CI)),
        (None, Some(qps)) if qps > 0.0 => parts.push(format!("{} QPS", significant(qps, 4))),
        _ => {}
    }
    parts.join(", ")
}

/// Largest number of reasons for missing confidence intervals that a run's first page lists; if
/// there are more, it says that `--full` shows them.
const REASONS_MOST: usize = 2;

/// Quantiles of response time in the line on latency of a run's first page.
const QUANTILES: [&str; 3] = ["p50", "p95", "p99"];

/// Describes response times: `p50 0.672, p95 8.95, p99 17.2 (15.9 to 19.0), max 132 ms`. Only p99
/// has its confidence interval, for lack of room; quantiles without one are marked.
fn times(report: &Report) -> String {
    let known = QUANTILES.map(|field| (field, head::of_all_offered(report, field)));
    let known = || known.iter().filter(|(_, quantity)| quantity.value != Value::Unknown);
    // If no figure has an interval, a single mark at the end stands for all.
    let has_none = known().all(|(_, quantity)| head::lacks_interval(quantity));
    let to_words = |(field, quantity): &(&str, Quantity)| {
        let quantity = Quantity { unit: "", ..*quantity };
        let interval = match quantity.error() {
            words if *field == "p99" && !words.is_empty() => format!(" ({words})"),
            _ if !has_none && head::lacks_interval(&quantity) => head::NO_CI.to_owned(),
            _ => String::new(),
        };
        format!("{field} {}{interval}", quantity.value())
    };
    let mut parts: Vec<String> = known().map(to_words).collect();
    let mark = if has_none && !parts.is_empty() { head::NO_CI } else { "" };
    let max = report.block.response_ms.max;
    parts.extend(max.map(|max| format!("max {} ms{mark}", significant(max, 3))));
    if parts.is_empty() { "nothing finished".to_owned() } else { parts.join(", ") }
}

/// Lists the reasons why figures of the first page have no confidence interval, each once with its
/// figures.
fn without_interval(report: &Report) -> Vec<String> {
    if report.is_sequence() {
        return vec!["no CI: each time is of one execution; repeat the run".to_owned()];
    }
    let block = &report.block;
    let tps = block.tps_ci95_reason.as_deref().filter(|_| block.tps_ci95.is_none());
    let mut all: Vec<(&str, &str)> = tps.map(|why| ("TPS", why)).into_iter().collect();
    all.extend(QUANTILES.into_iter().filter_map(|field| {
        let lacks = head::lacks_interval(&head::of_all_offered(report, field));
        Some((field, block.offered_ms.interval_reasons.get(field).filter(|_| lacks)?.as_str()))
    }));
    let known = head::known(report);
    let first =
        known.first().map(|(_, metric)| *metric).filter(|metric| metric.half_width.is_none());
    all.extend(first.and_then(|metric| Some((metric.title.as_str(), metric.reason.as_deref()?))));
    let mut reasons: Vec<&str> = Vec::new();
    for (_, why) in &all {
        if !reasons.contains(why) {
            reasons.push(why);
        }
    }
    let line = |why: &str| {
        let names: Vec<&str> = all.iter().filter(|one| one.1 == why).map(|one| one.0).collect();
        format!("no CI of {}: {why}", names.join(", "))
    };
    let more = (reasons.len() > REASONS_MOST).then(|| format!("more reasons {WITH_FULL}"));
    let unusable = head::unusable(report).into_iter();
    unusable.chain(reasons.into_iter().take(REASONS_MOST).map(line)).chain(more).collect()
}

/// Counts failed, retried, dropped, unfinished and unknown transactions, and names the most
/// frequent error.
fn errors(report: &Report) -> String {
    let mut parts = counted(&report.block.counts);
    let most = report.block.errors.iter().max_by_key(|error| error.count);
    // Intended rollbacks are left out if an error needs the room.
    parts.extend(most.is_none().then(|| transactions::rolled_back(report)).flatten());
    let most = most.map(|error| {
        format!(
            "; most often {}: {}",
            error.kind,
            numbers::cut(&error.message, MESSAGE_LETTERS_MOST)
        )
    });
    parts.join(", ") + &most.unwrap_or_default()
}

/// Counts failed, retried, dropped, unfinished and unknown transactions, each in words; the last
/// three only if there are any.
pub(super) fn counted(counts: &CountsReport) -> Vec<String> {
    let counted = |n: u64, word: &str| format!("{} {word}", format_count(n));
    let mut parts =
        vec![format!("{} of {} failed", format_count(counts.failed), format_count(counts.offered))];
    parts.push(counted(counts.retried, "retried"));
    parts.extend((counts.ignored > 0).then(|| counted(counts.ignored, "ignored")));
    parts.extend((counts.dropped > 0).then(|| counted(counts.dropped, "dropped")));
    parts.extend((counts.unfinished > 0).then(|| counted(counts.unfinished, "unfinished")));
    parts.extend((counts.unknown > 0).then(|| counted(counts.unknown, "with unknown outcome")));
    parts
}

/// Draws commits per second as a sparkline, with their range and the stalls; empty if no second was
/// measured, or each has another transaction of a fixed sequence.
fn per_second(report: &Report) -> String {
    if report.is_sequence() {
        return String::new();
    }
    let values = over_time::per_second(report);
    let Some(stalls) = over_time::stalls(report) else { return String::new() };
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let curve = sparkline(&values, CURVE_WIDTH);
    let rest = over_time::left_out(report).map_or_else(String::new, |rest| format!("; {rest}"));
    format!("{curve}  {} to {} TPS, {stalls}{rest}", numbers::exact(low), numbers::exact(high))
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

/// Returns the table of groups for a run's first page or, with a single group, of transaction
/// types; empty if there is only one of these.
fn types(report: &Report, room: &Room) -> Section {
    if report.is_sequence() && report.groups.len() == 1 {
        let table = Block::Table(sequence::by_type_shortly(report));
        return Section::new("transactions", "Transactions", vec![table]);
    }
    let table = transactions::by_type_shortly(report, room.types);
    let n_groups = report.groups.len();
    let mut blocks = Vec::new();
    if n_groups > 1 {
        let table = transactions::by_group_shortly(report);
        blocks.push(Block::Table(table.shown_max(room.types, WITH_FULL)));
    } else if table.rows.len() > 1 {
        blocks.push(Block::Table(table.shown_max(room.types, WITH_FULL)));
    }
    Section::new("transactions", "Transactions", blocks)
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

/// Says what the errors in the lines on throughput and latency are; `None` if there are none.
fn what_errors_are(report: &Report) -> Option<String> {
    let has =
        |mark: &str| [throughput(report), times(report)].iter().any(|line| line.contains(mark));
    let marks = match (has("±"), has(" to ")) {
        (true, true) => "± and (a to b) are 95 % CIs",
        (true, false) => "± is a 95 % CI",
        (false, true) => "(a to b) is a 95 % CI",
        (false, false) => return None,
    };
    Some(format!("{marks} within this run"))
}

/// Makes the last block of the first page: where the run is stored, what errors mean, why intervals
/// are missing, and suggested commands.
fn next(report: &Report, with: &Short<'_>, room: &Room) -> Vec<Block> {
    let mut parts = vec![match with.is_stored {
        true => format!("stored as {}", short_id(&report.run_id)),
        false => "not stored".to_owned(),
    }];
    parts.extend(what_errors_are(report));
    parts.extend(without_interval(report));
    parts.extend(has_short_type(report).then(|| format!("{NONE}: too few samples")));
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

/// Returns true if the first page shows transaction types, and one of them has too few samples for
/// its p99.
fn has_short_type(report: &Report) -> bool {
    let is_shown =
        !report.is_sequence() && report.groups.len() <= 1 && report.block.transactions.0.len() > 1;
    is_shown && transactions::has_short_type(report)
}

/// Returns the table of custom metrics that are distributions, such as ages, for a run's first
/// page.
fn metrics(report: &Report, room: &Room) -> Section {
    let table = transactions::distributions(report).shown_max(room.metrics, WITH_FULL);
    let table = (!table.is_empty() && room.metrics > 0).then_some(Block::Table(table));
    Section::new("custom", "Custom metrics", table.into_iter().collect())
}
