//! The page of a search: its answer, its probes, and what it was asked.

use analysis::SeekReport;
use analysis::seek::Answer;
use store::utc;

use super::Medium;
use super::blocks::{Block, Body, Verdict};
use crate::charts::of_seek;
use crate::experiment;
use crate::seek as text;

/// The body of a search's page.
pub fn seek_body(report: &SeekReport, medium: Medium<'_>) -> String {
    let charts = of_seek(report);
    let what = format!("Search, begun {} UTC", utc(report.started_unix_ms));
    let mut body = Body::new(what, report.name.clone());
    let objectives = text::objectives(report);
    body.asked = vec![format!("How much {} keeps {objectives}?", report.seek.axis)];
    let class = match (report.answer, report.confirmed) {
        (_, Some(false)) => "warn",
        (Answer::Found { .. } | Answer::Between { .. } | Answer::HighestMeets { .. }, _) => "good",
        (Answer::LowestFails { .. }, _) => "bad",
        (Answer::Flat { .. } | Answer::TooShort { .. } | Answer::Unfinished, _) => "warn",
    };
    let (word, text) = (text::answer(report), text::explained(report));
    body.verdicts = vec![Verdict { class, word: format!("{word}."), text }];
    let all: Vec<_> = charts.iter().collect();
    body.section("curve", "Probes over the axis", &[Block::charts(&all, medium)]);
    let mut blocks = vec![Block::table(&text::probes(report))];
    let few = experiment::few(report.probes.iter().map(|probe| &probe.reasons));
    blocks.push(Block::Words([few, text::broken(report)].concat()));
    body.section("probes", "Probes", &blocks);
    let command = format!("dbdyno experiments show {}", report.id);
    body.section("repeat", "See it again", &[Block::Text(command)]);
    body.html()
}
