//! The page of a history: a verdict and a curve for each point, then the builds.

use super::Ink;
use super::blocks::{Block, Body, Verdict};
use crate::HistoryReport;
use crate::charts::of_history;
use crate::history::PointHistory;
use crate::render::figures::capital;
use crate::render::history as text;
use crate::render::title;

/// The body of a history's page.
pub fn history_body(report: &HistoryReport, ink: Ink<'_>) -> String {
    let charts = of_history(report);
    let figure = title(&report.figure);
    let mut body = Body::new("History", format!("{figure} by {}", report.by));
    body.asked = vec![format!("Has the level of {figure} changed, and with which {}?", report.by)];
    body.verdicts = report.points.iter().map(verdict).collect();
    body.verdicts.extend(text::left_out(report).map(|text| Verdict {
        class: "warn",
        word: String::new(),
        text,
    }));
    let all: Vec<_> = charts.iter().collect();
    body.section("builds", "Over builds", &[Block::charts(&all, ink)]);
    let tables = report.points.iter().flat_map(|point| {
        let name = Block::Words(vec![point.values.pairs(" ")]);
        let mut blocks = if point.values.is_empty() { Vec::new() } else { vec![name] };
        blocks.push(Block::table(&text::table(report, point)));
        blocks
    });
    let tables: Vec<Block> = tables.collect();
    body.section("figures", "Builds", &tables);
    body.html()
}

fn verdict(point: &PointHistory) -> Verdict {
    let changes = point.changes.as_deref().unwrap_or_default();
    let is_noisy = point.last.as_ref().is_some_and(|last| last.is_noisy && !last.is_outside);
    let class = match (&point.changes, &point.last) {
        _ if point.has_regressed => "bad",
        _ if point.lacks.as_ref().is_some_and(|lost| lost.runs_not_counted > 0) => "warn",
        (None, None) => "warn",
        _ if is_noisy
            || point.lacks.is_some()
            || changes.last().is_some_and(|change| change.is_worse) =>
        {
            ""
        }
        _ => "good",
    };
    let at = point.values.pairs(" ");
    let told = text::verdict(point);
    let word = match at.is_empty() {
        true => format!("{}.", capital(&told)),
        false => format!("{at}: {told}."),
    };
    Verdict { class, word, text: text::sentences(point).collect::<Vec<_>>().join(" ") }
}
