//! The page of a run: verdict and validity, what ran, latency, transactions, course over time,
//! disturbances, errors, metrics and checks.
//!
//! Not here: how figures and findings are computed (analysis), and parts of a run as separate
//! tables (run_tables).

mod build;
mod checks;
mod cpu_profile;
mod disturbances;
mod head;
mod latency;
mod monitoring;
mod over_time;
mod parts;
mod ran;
mod rates;
mod sequence;
mod short;
mod together;
mod transactions;
mod units;
mod why;

use analysis::report::Report;
use model::finding_catalog::label;
use model::numbers::{self, count};
use model::{Load, Severity};

use super::charts::{Chart, Spot, in_spot, of_run};
use super::commands::run_of_plan;
use super::document::{Block, Details, Document, Length, Place, REPEAT, Section, Text, Validity};
use super::list::{Errors, short_id};
use super::wording::begun;
use super::{judged_limits, run_tables};

pub(super) use ran::{Line, lines};
pub use short::{Short, run_short};
pub(super) use together::together;

/// Largest number of rows in the folded table of single clients; the JSON report has all.
const CLIENTS_MOST: usize = 1_000;

/// Largest number of kinds of errors in text and Markdown, which show the others as a number; the
/// JSON report has all.
const ERRORS_MOST: usize = 8;

/// Names of the sections of a run's page, with which users select sections on the command line.
pub const RUN_SECTIONS: [&str; 13] = [
    "ran",
    "latency",
    "transactions",
    "why",
    "cpu",
    "time",
    "disturbances",
    "custom",
    "clients",
    "errors",
    "monitor",
    "checks",
    "units",
];

/// Returns the page of a run, or of a build of data, from its report.
pub fn run(report: &Report) -> Document {
    let charts = of_run(report);
    if report.is_build() {
        return build::page(report, &charts);
    }
    let mut page = Document::new(head::kind(report), head::title(report));
    page.question = vec![head::setup(report)];
    let parts = parts::of(report);
    page.verdicts = vec![parts::verdict(report)];
    page.tiles = (parts.tiles)(report);
    page.validity = Some(Validity::from_findings(head::answer(report), &report.findings));
    let limited = report.limited_by.as_ref().map(|limited| format!("Limited by {}.", limited.text));
    page.verdicts.iter_mut().for_each(|one| one.details.extend(limited.clone().map(Text::from)));
    page.verdicts.extend(judged_limits::verdicts(&report.limits));
    page.sections = vec![
        ran::section(report),
        (parts.latency)(report, &charts),
        (parts.transactions)(report, &charts),
        why::section(report),
        cpu_profile::section(report),
        (parts.over_time)(report, &charts),
        disturbances::section(report),
        transactions::custom(report),
        clients(report, &charts, parts.without_columns),
        errors(report),
        monitoring::section(report, &charts),
        checks::section(report),
        units::section(report, parts.rates),
    ];
    let plan = format!("dbdyno runs show {} --plan > plan.toml", short_id(&report.run_id));
    let again = [(plan, "its plan"), ("dbdyno run plan.toml".to_owned(), "again")];
    let again = again.map(|(command, why)| (command, why.to_owned()));
    page.repeat = Some(repeat(report, None, Some(Block::commands(&again))));
    page
}

/// Returns the page of a run that was not stored, without commands that read it from the store.
pub fn run_unstored(report: &Report) -> Document {
    let from = "the run is not stored; its plan is below, and in --output json";
    Document { repeat: Some(repeat(report, Some(("repeat", from)), None)), ..run(report) }
}

/// Returns the sections of a run that the page of its repeats has no figures for: where its time
/// goes with what limits it, errors and checks. Their titles name the run, one of median figures.
pub(super) fn of_median_run(report: &Report) -> Vec<Section> {
    let id = short_id(&report.run_id);
    let mut why = why::section(report);
    let limited = report.limited_by.as_ref().map(|limited| format!("Limited by {}.", limited.text));
    why.blocks.splice(0..0, limited.map(|words| Block::paragraphs([words])));
    let all = [
        ("median_why", "Where the time goes", why),
        ("median_errors", "Errors", errors(report)),
        ("median_checks", "Checks", checks::section(report)),
    ];
    let named = |(id_of, title, section): (&'static str, &str, Section)| Section {
        id: id_of,
        title: format!("{title}, in the median run {id}"),
        where_drawn: Place::InOrder,
        ..section
    };
    all.map(named).into_iter().filter(|section| !section.blocks.is_empty()).collect()
}

/// Returns a page with a run's verdict in one line, followed only by those findings that make the
/// result invalid.
pub fn run_in_a_line(report: &Report) -> Document {
    let invalid = report.findings.iter().filter(|finding| finding.severity == Severity::Invalid);
    let invalid: Vec<_> = invalid.cloned().collect();
    let validity =
        (!invalid.is_empty()).then(|| Validity::from_findings(head::answer(report), &invalid));
    Document { verdicts: vec![parts::verdict(report)], validity, ..Document::default() }
}

/// Returns the verdict on a run in words, such as `Valid, with 2 warnings: ...`, if there are
/// warnings or worse findings; else `None`.
fn worst(report: &Report) -> Option<String> {
    let is_grave = report.findings.iter().any(|finding| finding.severity > Severity::Note);
    is_grave.then(|| head::verdict(report).word)
}

/// Texts about a run for its row in a list, besides its figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Load, duration and parameters without defaults: `8 clients, open, 200 arrivals/s, 30 s,
    /// warehouses=4`.
    pub setup: String,
    /// Verdict on the run, such as `Valid, with 2 warnings: ...`, if it has warnings or worse
    /// findings; else empty.
    pub worst: String,
    /// Names of the run's most severe findings, all of the same severity: `other CPU load, short`.
    /// Empty if there are only notes.
    pub reasons: String,
    pub errors: Errors,
}

/// Largest number of findings that a run's row in a list names; the others are shown as a number,
/// such as `+3`.
const REASONS_MOST: usize = 2;

/// Returns the texts about a run for its row in a list. `is_default` is called with workload,
/// parameter and value, and is true for parameters to leave out.
pub fn identity(report: &Report, is_default: &dyn Fn(&str, &str, &str) -> bool) -> Identity {
    let mut parts = vec![count(u64::from(report.clients), "client")];
    parts.extend(match &report.load {
        Some(Load::Closed) | None => None,
        Some(Load::Open { rate, .. }) => Some(format!("open, {}", numbers::arrival_rate(rate))),
        Some(load) => Some(numbers::load(load)),
    });
    parts.push(numbers::seconds(report.measured_seconds));
    parts.extend(short::parameters(report, is_default));
    if report.groups.len() > 1 {
        parts.push(count(report.groups.len() as u64, "group"));
    }
    let grave = report.findings.iter().map(|finding| finding.severity).max();
    let grave = grave.filter(|severity| *severity > Severity::Note);
    let mut all: Vec<_> =
        report.findings.iter().filter(|finding| Some(finding.severity) == grave).collect();
    // A debug build matters less than events of the run.
    all.sort_by_key(|finding| finding.id == "debug_build");
    let names: Vec<String> = all.iter().map(|finding| label(&finding.id)).collect();
    let mut reasons = names.iter().take(REASONS_MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > REASONS_MOST {
        reasons.push_str(&format!(", +{}", names.len() - REASONS_MOST));
    }
    Identity {
        setup: parts.join(", "),
        worst: worst(report).unwrap_or_default(),
        reasons,
        errors: half_widths(report),
    }
}

/// Returns the errors of TPS and of the first primary metric: half-widths of their confidence
/// intervals in percent, such as `13 %`; empty where there is none.
fn half_widths(report: &Report) -> Errors {
    let percent = |(value, half_width): (f64, f64)| {
        (value > 0.0).then(|| format!("{} %", numbers::significant(100.0 * half_width / value, 2)))
    };
    let block = &report.block;
    let tps = block.tps.zip(block.tps_ci95.as_ref().map(|ci95| ci95.half_width));
    let first = block.primary_metrics.0.first().map(|(_, metric)| metric);
    let primary = first.and_then(|metric| metric.value.zip(metric.half_width));
    let [tps, primary] = [tps, primary].map(|figure| figure.and_then(percent).unwrap_or_default());
    Errors { tps, primary }
}

/// Returns the section on single clients, `without` some columns of its table; empty if the report
/// has no figures of clients.
fn clients(report: &Report, charts: &[Chart], without: &[&str]) -> Section {
    let all = run_tables::per_client(report).without(without);
    if all.is_empty() {
        return Section::default();
    }
    let mut first = all.clone();
    first.title.clear();
    first.rows.truncate(CLIENTS_MOST);
    let each = Block::Details(Details {
        title: "Each client and transaction, in ms".to_owned(),
        blocks: vec![Block::Table(first)],
        length: Length::Long,
        otherwise: vec![Block::Table(all)],
    });
    let charts = Block::Charts(in_spot(charts, Spot::Clients));
    Section::new("clients", "Clients", vec![charts, each])
}

/// Returns the section on errors of the database; empty if there were none.
fn errors(report: &Report) -> Section {
    let mut table = run_tables::errors(report);
    if table.is_empty() {
        return Section::default();
    }
    table.title.clear();
    let table = table.shown_max(ERRORS_MOST, "kinds in the JSON");
    let section = Section::new("errors", "Errors", vec![Block::Table(table)]);
    Section { note: "those of attempts that were retried are among them".to_owned(), ..section }
}

/// Returns the section on repeating a run: its id, `remark` (label and text), commands, and its
/// plan and output, folded.
fn repeat(report: &Report, remark: Option<(&str, &str)>, commands: Option<Block>) -> Section {
    let id = &report.run_id;
    let mut parts = vec![id.clone()];
    parts.extend((!report.name.is_empty()).then(|| report.name.clone()));
    parts.push(format!("dbdyno {}", report.dbdyno));
    parts.push(format!("begun {}", begun(report.started)));
    let parts = parts.join(", ");
    let mut blocks = vec![Block::pairs([("run", parts.as_str())].into_iter().chain(remark))];
    blocks.extend(commands);
    let folded = |title: &str, length, text: String| {
        Block::details(title, length, vec![Block::Verbatim(text)])
    };
    blocks.push(folded(
        "The complete plan, as a command",
        Length::Short,
        run_of_plan(&report.plan),
    ));
    let output = report.output.join("\n");
    blocks.push(folded("Output", Length::Long, output));
    Section::new(REPEAT, "How to repeat it", blocks)
}

#[cfg(test)]
mod tests;
