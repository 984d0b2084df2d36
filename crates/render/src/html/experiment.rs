//! The page of an experiment: its answer, its points, its curves, and what ran.

use analysis::ExperimentReport;
use analysis::trials::Trialled;
use store::utc;

use super::Medium;
use super::blocks::{Block, Body, Verdict, named};
use super::long::runs;
use crate::charts::of_experiment;
use crate::experiment as text;
use crate::repeats as repeats_text;
use crate::text::sections;

/// The body of an experiment's page.
pub fn experiment_body(
    report: &ExperimentReport,
    trials: &[Trialled],
    medium: Medium<'_>,
) -> String {
    let charts = of_experiment(report, trials);
    let what = format!("Experiment, begun {} UTC", utc(report.started_unix_ms));
    let mut body = Body::new(what, report.name.clone());
    let headline = text::headline(report);
    let mut lines = headline.lines().map(str::to_owned);
    let word = lines.next().unwrap_or_default();
    let left = report.trials.saturating_sub(report.trials_done);
    let class = match (left, text::findings(report)) {
        (1.., _) => "warn",
        (0, None) if report.findings.is_empty() && report.damaged.is_empty() => "good",
        // It is done, and what its runs warn of stands below.
        _ => "",
    };
    body.asked = asked(report);
    body.verdicts = vec![Verdict { class, word, text: lines.collect::<Vec<_>>().join(" ") }];
    let figures = named(&charts, &["curves", "tradeoff", "law"]);
    let words = [curve(report), report.no_scalability.clone()];
    let blocks = [
        Block::charts(&figures, medium),
        Block::Words(words.into_iter().flatten().collect()),
        Block::Text(law(report)),
    ];
    body.section("curves", "Curves", &blocks);
    let few = text::few(report.points.iter().map(|point| &point.reasons));
    let few = Block::Words(few);
    body.section("points", "Points", &[Block::table(&text::points(report)), few]);
    body.section("repeats", "Repeats", &repeats(report));
    let stability = named(&charts, &["stability"]);
    body.section("stability", "Over time", &[Block::charts(&stability, medium)]);
    let words = text::left_out(&report.damaged).into_iter().chain(text::findings(report));
    let trust = [Block::findings(&report.findings), Block::Words(words.collect())];
    body.section("findings", "Is this result valid?", &trust);
    body.section("ran", "What ran", &ran(report, trials, medium));
    body.section("repeat", "How to repeat it", &repeat(report));
    body.html()
}

/// Whether repeats are enough, and where they vary.
fn repeats(report: &ExperimentReport) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(until) = &report.until {
        blocks.push(Block::Text(repeats_text::until_lines(until).join("\n")));
        blocks.extend(repeats_text::decided(until).iter().map(Block::table));
    }
    let levels = report.levels.as_ref();
    blocks.extend(levels.map(|of| Block::Text(repeats_text::levels_lines(of).join("\n"))));
    blocks
}

fn repeat(report: &ExperimentReport) -> Vec<Block> {
    let show = format!("dbdyno experiments show {}", report.id);
    match &report.plan {
        None => vec![Block::Text(show)],
        Some(plan) => vec![
            Block::Text(format!("{show} --plan > plan.toml\ndbdyno run plan.toml")),
            Block::folded("plan.toml", &[Block::Text(plan.clone())]),
        ],
    }
}

fn asked(report: &ExperimentReport) -> Vec<String> {
    let told = |axis: &model::Axis| format!("{} ({})", axis.name, axis.values.join(", "));
    let varied: Vec<String> = report.axes.iter().map(told).collect();
    match varied.is_empty() {
        true => Vec::new(),
        false => vec![format!("What follows from {}?", varied.join(" and "))],
    }
}

fn curve(report: &ExperimentReport) -> Option<String> {
    let curve = report.curve.as_ref()?;
    Some(format!("{}: {}.", text::along(report, curve), text::in_words(curve)))
}

fn law(report: &ExperimentReport) -> String {
    let lines = report.scalability.as_ref().map(|law| text::law_lines(report, law));
    lines.map_or_else(String::new, |lines| lines.trim().to_owned())
}

/// What all trials have in common: what was varied stands in the table.
fn ran(report: &ExperimentReport, trials: &[Trialled], medium: Medium<'_>) -> Vec<Block> {
    let points = report.points.iter().map(|point| {
        let name = point.values.pairs(" ");
        (if name.is_empty() { "all".to_owned() } else { name }, &point.runs[..])
    });
    let points: Vec<(String, &[String])> = points.collect();
    let runs = Block::folded("Runs by point", &[runs(&points, medium)]);
    let Some(first) = trials.first().map(|trial| &trial.report) else { return vec![runs] };
    let plan = Block::Text(first.plan.clone());
    vec![
        Block::Pairs(in_common(trials)),
        runs,
        Block::folded("The plan of the first trial, as decided", &[plan]),
    ]
}

/// What ran, without the parts of it that are not those of every trial.
fn in_common(trials: &[Trialled]) -> Vec<(String, String)> {
    let all: Vec<_> = trials.iter().map(|trial| sections::ran(&trial.report)).collect();
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let shared = |(row, (label, words)): (usize, &(String, String))| {
        let has = |other: &Vec<(String, String)>, part: &str| {
            other.get(row).is_some_and(|(label, words)| parts(label, words).contains(&part))
        };
        let is_shared = |part: &&str| others.iter().all(|other| has(other, part));
        let shared: Vec<&str> = parts(label, words).into_iter().filter(is_shared).collect();
        shared
            .iter()
            .any(|part| !part.is_empty())
            .then(|| (label.clone(), shared.join(between(label, words))))
    };
    first.iter().enumerate().filter_map(shared).collect()
}

/// What stands between the parts of a line of what ran: a remark, which has no label, is one part;
/// parameters, behind the name of their workload, have blanks between them.
fn between(label: &str, words: &str) -> &'static str {
    match (label, words.contains(", ")) {
        ("", _) => "\n",
        (_, true) => ", ",
        (_, false) => " ",
    }
}

fn parts<'w>(label: &str, words: &'w str) -> Vec<&'w str> {
    words.split(between(label, words)).collect()
}
