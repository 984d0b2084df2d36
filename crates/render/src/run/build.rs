//! The page of a build, that is of loading a workload's data: rows and speed, phases, tables, and
//! system metrics.
//!
//! Not here: latency and other figures of a load, because a build's transactions are chunks of
//! rows.

use analysis::figures::value_of;
use analysis::report::Report;
use model::numbers::{self, count, significant};
use model::{FactValue, Severity, format_count};

use super::{errors, head, monitoring, ran};
use crate::charts::{Chart, Spot, gauges, in_spot};
use crate::document::{
    Block, Document, Length, Quantity, REPEAT, Section, Span, Text, Tile, Tone, Validity, Verdict,
};
use crate::table::{Align, Cell, Column, Table};
use crate::wording::begun;

/// Returns the page of a run that built data, that is created and loaded tables.
pub(super) fn page(report: &Report, charts: &[Chart]) -> Document {
    let kind = head::kind(report).replacen("Run", "Build", 1);
    let mut page = Document::new(kind, head::title(report));
    let (workload, database) = (&report.workload, &report.database);
    page.question = vec![format!("How fast does {database} load the data of {workload}?")];
    page.verdicts = vec![verdict(report)];
    page.tiles = tiles(report);
    page.validity = Some(Validity::from_findings(answer(report), &report.findings));
    page.sections = vec![
        what(report),
        phases(report),
        over_time(report, charts),
        tables(report, charts),
        errors(report),
        monitoring::section(report, charts),
    ];
    page.repeat = Some(repeat(report));
    page
}

fn text(report: &Report, name: &str) -> String {
    report.of_build(name).map(FactValue::to_string).unwrap_or_default()
}

fn verdict(report: &Report) -> Verdict {
    let Verdict { tone, word, .. } = head::verdict(report);
    let (workload, database, method) = (&report.workload, &report.database, method(report));
    let figure = |name: &str| value_of(report, name);
    let headline = match (figure("build.rows"), figure("build.elapsed_s")) {
        (Some(rows), Some(elapsed_s)) => {
            let rate = rows / elapsed_s;
            let loaded = format!("{workload} on {database}: {} rows by {method} in ", whole(rows));
            let took = numbers::seconds(elapsed_s);
            format!("{loaded}{took}, {} rows/s, with {}", whole(rate), loaders(report))
        }
        _ => {
            let why = report.reason.as_deref().unwrap_or(report.status.name());
            format!("{workload} on {database}: the build by {method} is not complete: {why}")
        }
    };
    let tone = if figure("build.rows").is_some() { tone } else { Tone::Bad };
    Verdict { tone, word, headline: headline.into(), details: Vec::new() }
}

/// Returns the method with which rows were really loaded, which may differ from the planned one.
fn method(report: &Report) -> String {
    match report.of_build("method_used") {
        Some(method) => method.to_string(),
        None => text(report, "method"),
    }
}

fn loaders(report: &Report) -> String {
    count(u64::from(report.clients), "loader")
}

fn whole(value: f64) -> String {
    format_count(value.round() as u64)
}

fn answer(report: &Report) -> String {
    let n = |severity| report.findings.iter().filter(|f| f.severity == severity).count() as u64;
    match (n(Severity::Invalid), n(Severity::Warning)) {
        (0, 0) => "Valid: no problem was found.".to_owned(),
        (0, warnings) => format!("Valid, with {}.", count(warnings, "warning")),
        _ => "NOT VALID.".to_owned(),
    }
}

fn tiles(report: &Report) -> Vec<Tile> {
    let tile = |name: &str, figure: &str, unit: &'static str| {
        let value = value_of(report, figure)?;
        let value = Quantity::number(value, 4, unit);
        Some(Tile { name: name.to_owned(), value, ..Tile::default() })
    };
    let all = [
        tile("rows/s", "build.rows_per_s", ""),
        tile("rows", "build.rows", ""),
        tile("bytes/s", "build.bytes_per_s", ""),
        tile("elapsed", "build.elapsed_s", "s"),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the section on what was built: target, data, method of loading, and problems.
fn what(report: &Report) -> Section {
    let target = [vec![report.target.clone()], report.modes.clone()].concat();
    let mut pairs = vec![("target", target.join(", "))];
    let parameters = report.groups.iter().flat_map(|group| group.parameters.iter());
    let parameters: Vec<String> = parameters.map(|(k, v)| format!("{k}={v}")).collect();
    pairs.push(("data", format!("{}, seed {}", parameters.join(" "), report.seed)));
    pairs.push(("method", format!("{} with {}", method(report), loaders(report))));
    let refused = report.of_build("bulk_refused");
    pairs.extend(refused.map(|why| ("", format!("the server refused bulk loads: {why}"))));
    let before = report.of_build("rows_before").and_then(FactValue::count);
    pairs.extend(before.map(|n| ("resumed", format!("about {} rows existed", format_count(n)))));
    let lost = report.of_build("reconnects").and_then(FactValue::count).filter(|n| *n > 0);
    pairs.extend(lost.map(|n| ("", format!("{} reconnected", count(n, "lost connection")))));
    let settled = ran::settling(report, "settle_after", "after the build");
    pairs.extend(settled.map(|(name, parts)| (name, parts.join(", "))));
    Section::new("ran", "What was built", vec![Block::pairs(pairs)])
}

/// Returns the section on how long loading, indexes and statistics took.
fn phases(report: &Report) -> Section {
    let columns = [
        Column::words("phase", "phase"),
        Column::number("elapsed_s", "s", 3),
        Column::percent("percent", "%"),
        Column::number("rows_per_s", "rows/s", 4),
    ];
    let value = |name: &str| value_of(report, name);
    let Some(elapsed_s) = value("build.elapsed_s") else { return Section::default() };
    let rows = value("build.rows");
    let row = |(name, figure, is_rated): (&str, &str, bool)| {
        let seconds = value(figure)?;
        let rate = rows.filter(|_| is_rated && seconds > 0.0).map(|rows| rows / seconds);
        let percent = 100.0 * seconds / elapsed_s;
        Some(vec![name.into(), seconds.into(), percent.into(), Cell::from(rate)])
    };
    let all = [
        ("load", "build.load_s", true),
        ("indexes", "build.index_s", false),
        ("statistics", "build.analyse_s", false),
        ("all", "build.elapsed_s", true),
    ];
    let rows = all.into_iter().filter_map(row).collect();
    let table = Table::filled("phases", "", columns, rows);
    Section::new("phases", "Phases", vec![Block::Table(table)])
}

/// Returns the section on rows and bytes loaded per second while data were built.
fn over_time(report: &Report, charts: &[Chart]) -> Section {
    let of_build =
        gauges::by_subject(report, charts).into_iter().filter(|(subject, _)| *subject == "build");
    let charts: Vec<Chart> = of_build.flat_map(|(_, all)| all.into_iter().cloned()).collect();
    let rows =
        report.gauges.iter().find(|gauge| gauge.about == "build" && gauge.name == "rows_loaded");
    let lines = rows.and_then(|gauge| Some((gauge.min?, gauge.mean?, gauge.max?))).map(
        |(min, mean, max)| {
            format!(
                "rows/s in each second: min {}, mean {}, max {}",
                significant(min, 4),
                significant(mean, 4),
                significant(max, 4)
            )
        },
    );
    let blocks = vec![Block::Charts(charts), Block::paragraphs(lines)];
    Section::new("time", "Over time", blocks)
}

/// Returns the section on tables: into how many chunks their rows were divided for loading, and how
/// long a chunk took.
fn tables(report: &Report, charts: &[Chart]) -> Section {
    let mut table = Table::new([
        Column::new("table", Align::Left),
        Column::new("chunks", Align::Right),
        Column::new("retried", Align::Right),
        Column::new("% of time", Align::Point).tenths(),
        Column::new("mean ms", Align::Point).digits(3),
        Column::new("max", Align::Point).digits(3),
    ]);
    for (name, kind) in report.block.transactions.iter().filter(|(_, kind)| kind.calls > 0) {
        table.row([
            Cell::from(name),
            kind.calls.into(),
            kind.retried.into(),
            kind.ratio_percent.into(),
            kind.response_ms.mean.into(),
            kind.response_ms.max.into(),
        ]);
    }
    let blocks = vec![Block::Table(table), Block::Charts(in_spot(charts, Spot::Types))];
    let section = Section::new("tables", "Tables", blocks);
    Section { note: "a chunk of rows is one transaction".to_owned(), ..section }
}

/// Returns the section with the build's id, the command that repeats it, and its plan.
fn repeat(report: &Report) -> Section {
    let id = [report.run_id.clone(), format!("dbdyno {}", report.dbdyno)];
    let begun = format!("begun {}", begun(report.started));
    let command = Text::default().and(Span::Code(text(report, "command")));
    let pairs = [("run", Text::from([id.join(", "), begun].join(", "))), ("repeat", command)];
    let plan = vec![Block::Verbatim(report.plan.clone())];
    let plan = Block::details("The complete plan", Length::Short, plan);
    Section::new(REPEAT, "How to repeat it", vec![Block::pairs(pairs), plan])
}
