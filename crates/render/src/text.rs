//! The report that people read after a run: a page, its most important sentence first, findings
//! with their advice last, where the eye rests.

pub(super) mod disturbances;
pub(super) mod monitoring;
pub(super) mod sections;

use analysis::report::{Latency, Report, Status};
use model::numbers::{self, significant, wrap};
use model::{Load, Severity};

use crate::terminal::{Emphasis, Style};

/// The report as a page.
pub fn text(report: &Report, style: &Style) -> String {
    let sections = [
        headline_section(report, style),
        sections::what_ran(report, style),
        sections::counts(report, style),
        sections::latency(report, style),
        sections::transactions(report, style),
        sections::groups(report, style),
        sections::over_time(report, style),
        sections::by_interval(report, style),
        disturbances::disturbances(report, style),
        sections::measures(report, style),
        sections::errors(report, style),
        monitoring::monitoring(report, style),
        sections::rest(report, style),
        sections::findings(report, style),
        sections::footer(report, style),
    ];
    let shown = sections.into_iter().filter(|lines| !lines.is_empty());
    let pages: Vec<String> = shown.map(|lines| lines.join("\n")).collect();
    pages.join("\n\n") + "\n"
}

fn headline_section(report: &Report, style: &Style) -> Vec<String> {
    let lines = wrap(&headline(report), style.width);
    let mut lines: Vec<String> =
        lines.iter().map(|line| style.emphasize(Emphasis::Bold, line)).collect();
    let invalid = report.findings.iter().filter(|f| f.severity == Severity::Invalid).count();
    if invalid > 0 {
        let plural = if invalid == 1 { "finding" } else { "findings" };
        let warning = format!("THIS RESULT IS NOT VALID: see {plural} below.");
        lines.push(style.emphasize(Emphasis::Red, &warning));
    }
    lines
}

/// The run in one sentence.
pub fn headline(report: &Report) -> String {
    let what = if report.workload.is_empty() { &report.name } else { &report.workload };
    let mut parts: Vec<String> = Vec::new();
    let rates = report.block.headlines.iter();
    let rates: Vec<String> = rates
        .filter_map(|(_, headline)| {
            Some(format!("{} {}", significant(headline.value?, 4), headline.title))
        })
        .collect();
    let tps = tps(report);
    match rates.is_empty() {
        true => {
            parts.push(tps);
            parts.extend(report.block.qps.map(|qps| format!("{} QPS", significant(qps, 4))));
        }
        false => parts.push(format!("{} ({tps})", rates.join(", "))),
    }
    parts.push(p99(report));
    parts.extend(match report.status {
        Status::Completed => None,
        Status::Running => Some("still running".to_owned()),
        Status::Failed => Some("FAILED".to_owned()),
        Status::QueueFull if report.measured_seconds == 0.0 => {
            Some("queue full before anything was measured".to_owned())
        }
        Status::Interrupted | Status::QueueFull => {
            let why = if report.status == Status::QueueFull { "queue full" } else { "interrupted" };
            Some(format!("{why} after {}", numbers::seconds(report.measured_seconds)))
        }
    });
    format!("{what} on {}: {}", report.database, parts.join(", "))
}

fn tps(report: &Report) -> String {
    let of = match report.load {
        Some(Load::Open { .. }) if report.measured_seconds > 0.0 => {
            let offered = report.block.counts.offered as f64 / report.measured_seconds;
            format!("; {} offered", significant(offered, 4))
        }
        _ => String::new(),
    };
    match (report.block.tps, &report.block.tps_ci95) {
        (Some(tps), Some(ci95)) => {
            let tps = numbers::with_error(tps, ci95.half_width);
            format!("{} within this run{of}", tps.replacen(" ±", " TPS ±", 1))
        }
        (tps, _) => format!("{} TPS{of}", numbers::rate(tps)),
    }
}

/// The p99 of all that was offered.
fn p99(report: &Report) -> String {
    match sections::of_all_offered(report, "p99") {
        Some((p99, of)) if of.is_empty() => format!("p99 {p99}"),
        Some((p99, of)) => format!("p99 {p99} ({of})"),
        None => max(&report.block.response_ms),
    }
}

fn max(latency: &Latency) -> String {
    match latency.max {
        Some(max) => format!("max {} ms", significant(max, 3)),
        None => "nothing finished".to_owned(),
    }
}

#[cfg(test)]
mod tests;
