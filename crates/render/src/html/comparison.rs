//! The page of a comparison: the verdict, what it was found by, and then what changed.

use analysis::ComparisonReport;
use analysis::comparison::{
    Difference, GateResult, Judged, PairReport, Passed, SideReport, Verdict as Judgement,
};
use analysis::figures::title;
use model::numbers::{NONE, count, exact, significant};

use super::Medium;
use super::blocks::{Block, Body, Verdict, named};
use super::long::runs;
use crate::charts::of_comparison;
use crate::comparison as text;
use crate::{Align, Column, Table};

/// What a comparison's page is called: its sides against the baseline.
pub fn comparison_title(report: &ComparisonReport) -> String {
    let names: Vec<&str> = report.sides.iter().skip(1).map(|side| side.name.as_str()).collect();
    text::versus(&names.join(", "), &report.sides[0].name)
}

/// The body of a comparison's page.
pub fn comparison_body(
    report: &ComparisonReport,
    gates: &[GateResult],
    medium: Medium<'_>,
) -> String {
    let charts = of_comparison(report);
    let baseline = &report.sides[0].name;
    let mut body = Body::new("Comparison", comparison_title(report));
    let min_effect = exact(report.min_effect * 100.0);
    let question = format!(
        "Does {} differ by more than {min_effect} %, and how surely is that known?",
        title(&report.primary)
    );
    body.asked = vec![question, text::scene(report)];
    body.verdicts = report.pairs.iter().map(|pair| verdict(report, pair)).collect();
    body.verdicts.extend(gates.iter().map(gate));
    let changed = differences(report);
    let did = report.pairs.iter().map(|pair| Block::table(&text::table(report, pair)));
    let ratios = named(&charts, &["ratios"]);
    let mut blocks = vec![Block::charts(&ratios, medium)];
    for (pair, table) in report.pairs.iter().zip(did) {
        if report.pairs.len() > 1 {
            blocks.push(Block::Words(vec![text::versus(&pair.side, baseline)]));
        }
        blocks.push(table);
        blocks.push(Block::Words(text::judged_how(report, pair)));
    }
    body.section("did", "What it did", &blocks);
    body.section(
        "findings",
        "Is this result valid?",
        &[Block::told(text::warnings(report), text::doubts(report))],
    );
    body.section("changed", "What changed", &changed);
    let gauges = text::gauges_changed(report).into_iter().flat_map(|(pair, table)| {
        [Block::Words(vec![text::gauges_words(report, pair)]), Block::table(&table)]
    });
    body.section("gauges", "What changed beside", &gauges.collect::<Vec<_>>());
    let curves = named(&charts, &["sides"]);
    let sweeps = sweeps(report).map(|table| Block::table(&table));
    let mut blocks = vec![Block::charts(&curves, medium)];
    blocks.extend(sweeps);
    body.section("curves", "Curves", &blocks);
    let others = report.pairs.iter().flat_map(|pair| &pair.points).flat_map(|at| &at.others);
    let whys = text::not_plain(others);
    body.section(
        "figures",
        "All figures",
        &[Block::folded("By point", &[Block::table(&all(report)), Block::Words(whys)])],
    );
    body.section("sides", "Sides", &sides(report, medium));
    body.section("repeat", "How to repeat it", &repeat(report));
    body.html()
}

fn verdict(report: &ComparisonReport, pair: &PairReport) -> Verdict {
    let judged = match (&pair.overall, &pair.points[..]) {
        (_, [point]) => Some(point.primary.verdict),
        (overall, _) => overall.as_ref().map(|judged| judged.verdict),
    };
    let (class, word) = match judged {
        // What a side cannot do at all is not outweighed.
        Some(
            Judgement::Better
            | Judgement::BelowMinEffect
            | Judgement::SizeNotKnown
            | Judgement::NoEvidence
            | Judgement::Higher
            | Judgement::Lower,
        ) if pair.lost().next().is_some() => ("warn", "Not at all points."),
        Some(Judgement::Better) => ("good", "Better."),
        Some(Judgement::Worse) => ("bad", "Worse."),
        Some(Judgement::Higher) => ("", "Higher."),
        Some(Judgement::Lower) => ("", "Lower."),
        Some(Judgement::BelowMinEffect) => ("", "Too small to matter."),
        Some(Judgement::SizeNotKnown) => ("", "Differs, size not known."),
        Some(Judgement::NoEvidence) => ("", "No evidence."),
        Some(Judgement::CannotJudge) | None => ("warn", "Cannot be judged."),
    };
    Verdict { class, word: word.to_owned(), text: text::headline(report, pair) }
}

fn gate(gate: &GateResult) -> Verdict {
    let class = match gate.passed {
        Passed::Held => "good",
        Passed::Broken => "bad",
        Passed::Undecided => "warn",
    };
    Verdict { class, word: "Limit".to_owned(), text: text::gate_line(gate) }
}

/// What is known of all sides, and folded what is known of some alone.
fn differences(report: &ComparisonReport) -> Vec<Block> {
    if report.differences.is_empty() {
        return vec![Block::Words(vec![text::no_difference(report).to_owned()])];
    }
    let (one_sided, both): (Vec<&Difference>, Vec<&Difference>) =
        report.differences.iter().partition(|difference| text::is_one_sided(difference));
    let mut blocks = Vec::new();
    if !both.is_empty() {
        blocks.push(Block::table(&table_of(report, &both)));
    }
    if !one_sided.is_empty() {
        let title = format!("{} that not all sides know", count(one_sided.len() as u64, "fact"));
        blocks.push(Block::folded(title, &[Block::table(&table_of(report, &one_sided))]));
    }
    blocks
}

fn table_of(report: &ComparisonReport, differences: &[&Difference]) -> Table {
    let mut columns = vec![Column::new("about", Align::Left), Column::new("what", Align::Left)];
    columns.extend(report.sides.iter().map(|side| Column::new(side.name.clone(), Align::Left)));
    let mut table = Table::new(columns);
    for one in differences {
        let mut cells = vec![one.about.clone(), one.name.clone()];
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
        cells.extend(one.values.iter().map(value));
        table.row(cells);
    }
    table
}

/// First, mean, peak and last of each side over an axis of numbers.
fn sweeps(report: &ComparisonReport) -> Option<Table> {
    let curves = || report.sides.iter().filter_map(|side| Some((side, side.curve.as_ref()?)));
    let (_, first) = curves().next()?;
    let best = if analysis::figures::is_less_better(&first.figure) { "lowest" } else { "peak" };
    let mut table = Table::new([
        Column::new(format!("{} over {}", title(&first.figure), first.axis), Align::Left),
        Column::new("first", Align::Right),
        Column::new("mean", Align::Right),
        Column::new(best, Align::Right),
        Column::new("at", Align::Right),
        Column::new("last", Align::Right),
    ]);
    let number = |value: f64| significant(value, 4);
    for (side, curve) in curves() {
        table.row([
            side.name.clone(),
            number(curve.first),
            number(curve.mean),
            number(curve.best),
            curve.best_at.clone(),
            number(curve.last),
        ]);
    }
    Some(table)
}

/// Every figure of every side and point.
fn all(report: &ComparisonReport) -> Table {
    let mut table = Table::new([
        Column::new("side", Align::Left),
        Column::new("point", Align::Left),
        Column::new("figure", Align::Left),
        Column::new("baseline", Align::Right),
        Column::new("side", Align::Right),
        Column::new("ratio", Align::Left),
        Column::spare("p", Align::Right, 2),
        Column::spare("found from", Align::Right, 3),
        Column::new("verdict", Align::Left),
    ]);
    for pair in &report.pairs {
        for point in &pair.points {
            let name = text::point_name(&point.values);
            let judged = std::iter::once(&point.primary).chain(&point.others);
            for judged in judged {
                table.row(row(&pair.side, &name, judged));
            }
        }
    }
    table
}

fn row(side: &str, point: &str, judged: &Judged) -> Vec<String> {
    [vec![side.to_owned()], text::row(point, judged).to_vec()].concat()
}

fn sides(report: &ComparisonReport, medium: Medium<'_>) -> Vec<Block> {
    let one = |(index, side): (usize, &SideReport)| {
        let runs = runs(&[("runs".to_owned(), &side.runs)], medium);
        Block::folded(text::side_line(index, side), &[runs])
    };
    report.sides.iter().enumerate().map(one).collect()
}

/// The plans of the sides, those that are the same once; and the comparison itself.
fn repeat(report: &ComparisonReport) -> Vec<Block> {
    let mut plans: Vec<(Vec<&str>, &str)> = Vec::new();
    for side in &report.sides {
        let Some(plan) = &side.plan else { continue };
        match plans.iter_mut().find(|(_, known)| known == plan) {
            Some((names, _)) => names.push(&side.name),
            None => plans.push((vec![&side.name], plan)),
        }
    }
    let mut blocks = Vec::new();
    if !plans.is_empty() {
        let words = "Each plan below, in a file of its own, makes an experiment, or a run such as \
                     those of its sides, once more: dbdyno run plan.toml";
        blocks.push(Block::Words(vec![words.to_owned()]));
    }
    let folded = |(names, plan): (Vec<&str>, &str)| {
        Block::folded(format!("Plan of {}", names.join(", ")), &[Block::Text(plan.to_owned())])
    };
    blocks.extend(plans.into_iter().map(folded));
    blocks.extend(report.command.clone().map(Block::Text));
    blocks
}
