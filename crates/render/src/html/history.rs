//! The page of a history: a verdict and a curve for each point, then the builds.

use analysis::HistoryReport;
use analysis::figures::title;
use analysis::history::PointHistory;
use askama::Template;
use model::numbers::capital;

use super::Medium;
use super::blocks::{Block, Body, Verdict};
use super::long::runs;
use crate::charts::of_history;
use crate::history as text;

/// The body of a history's page.
pub fn history_body(report: &HistoryReport, medium: Medium<'_>) -> String {
    let charts = of_history(report);
    let figure = title(&report.figure);
    let mut body = Body::new("History", format!("{figure} by {}", report.by));
    body.asked = vec![format!("Has the level of {figure} changed, and with which {}?", report.by)];
    body.verdicts = report.points.iter().map(|point| verdict(report, point)).collect();
    body.verdicts.extend(text::left_out(report).map(|text| Verdict {
        class: "warn",
        word: String::new(),
        text,
    }));
    let all: Vec<_> = charts.iter().collect();
    let about = Block::Words(text::about(report).collect());
    body.section("builds", "Over builds", &[Block::charts(&all, medium), about]);
    let tables = report.points.iter().flat_map(|point| {
        let name = Block::Words(vec![point.values.pairs(" ")]);
        let mut blocks = if point.values.is_empty() { Vec::new() } else { vec![name] };
        blocks.push(links(report, point, medium));
        blocks.push(Block::table(&text::table(report, point)));
        let of_builds: Vec<(String, &[String])> =
            point.builds.iter().map(|build| (build.build.clone(), &build.runs[..])).collect();
        blocks.push(Block::folded(format!("Runs by {}", report.by), &[runs(&of_builds, medium)]));
        blocks
    });
    let tables: Vec<Block> = tables.collect();
    body.section("figures", "Builds", &tables);
    body.html()
}

/// What compares the builds on both sides of each change: where pages have addresses.
fn links(report: &HistoryReport, point: &PointHistory, medium: Medium<'_>) -> Block {
    let Medium::Web { .. } = medium else { return Block::Words(Vec::new()) };
    let pairs = point.changes.iter().flatten().filter_map(|change| text::compared(point, change));
    let link = |(before, after): (&str, &str)| Compared {
        address: format!("/compare?{}&{}", side(&report.by, before), side(&report.by, after)),
        before: before.to_owned(),
        after: after.to_owned(),
    };
    let links: Vec<Compared> = pairs.map(link).collect();
    Block::Safe(LinksView { links }.render().expect("memory takes everything"))
}

/// A side of a comparison in an address.
fn side(by: &str, build: &str) -> String {
    format!("side={}", encoded(&format!("{by}={build}")))
}

/// Text in an address (RFC 3986, 2.3).
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

struct Compared {
    address: String,
    before: String,
    after: String,
}

#[derive(Template)]
#[template(path = "compared.html")]
struct LinksView {
    links: Vec<Compared>,
}

fn verdict(report: &HistoryReport, point: &PointHistory) -> Verdict {
    let changes = point.changes.as_deref().unwrap_or_default();
    let is_noisy = point.last.as_ref().is_some_and(|last| last.is_noisy && !last.is_outside);
    let class = match (&point.changes, &point.last) {
        _ if point.has_regressed => "bad",
        _ if point.lacks.as_ref().is_some_and(|lost| lost.runs_not_counted > 0) => "warn",
        (None, None) => "warn",
        _ if is_noisy
            || point.lacks.is_some()
            || changes.last().is_some_and(|one| one.is_worse && one.acknowledged.is_none()) =>
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
    Verdict { class, word, text: text::sentences(report, point).collect::<Vec<_>>().join(" ") }
}
