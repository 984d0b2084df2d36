//! A comparison as a page: what a side did against the baseline, how surely that is known, and
//! what differs.
//!
//! Not here: what is true (analysis), and what a transaction takes (each_transaction).

mod each_transaction;
mod published;
mod short;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter::once;

use analysis::comparison::{
    ComparisonReport, Difference, GateResult, Judged, Mixed, PairReport, Passed, Ratio, SideReport,
    UndecidedBy, UnpairedPoint, Verdict as Judgement, beside, telling,
};
use analysis::figures::{is_less_better, is_time, title};
use analysis::report::{Named, Report};
use model::Severity;
use model::finding_catalog::in_short;
use model::numbers::{INFINITE, NONE, amount, count, exact, significant};

use super::axis_names::{axes_of, told};
use super::charts::{named, of_comparison, of_first_runs};
use super::document::{
    Block, Details, Document, Length, Place, REPEAT, Remark, Section, Span, Text, Tone, Validity,
    Verdict,
};
use super::scene::{LISTED_MOST, scene, several};
use super::wording::{left_out, ratio_text, title_with_unit, without_stop};
use super::{Align, Cell, Column, Table};

pub use short::comparison_short;
pub(crate) use short::verdicts_shortly;

/// The sections of a comparison's page, by the names with which they can be asked for.
pub const COMPARISON_SECTIONS: [&str; 7] =
    ["did", "changed", "each_transaction", "gauges", "curves", "figures", "sides"];

/// Differences that are listed one by one where a page cannot fold.
const DIFFERENCES_SHOWN_MAX: usize = 30;
/// A longer name of a side is no title of a column.
const TITLE_MAX: usize = 18;
/// What a side lost of what was offered is in the first sentence from so many percent on.
const LOST_LEAST_PERCENT: f64 = 1.0;
/// What sides differ in is named in their first sentence up to so many.
const DIFFER_SHOWN_MAX: usize = 3;
/// A longer value is cut in a sentence.
const VALUE_MAX: usize = 40;
/// Where a finding is in so much more of one side's runs than of another's, it is worth a word.
const UNEVEN: f64 = 0.25;
/// What stands for all points, or the only one.
const ALL: &str = "all";

/// The page of a comparison, and of the limits that it was held against.
pub fn comparison(report: &ComparisonReport, gates: &[GateResult]) -> Document {
    let charts = of_comparison(report);
    let min_effect = exact(report.min_effect * 100.0);
    let mut page = Document::new("Comparison", comparison_title(report));
    page.question = vec![format!(
        "Does {} differ by more than {min_effect} %, and how certain is that?",
        title(&report.primary)
    )];
    page.scene = vec![scene(&report.scene)];
    page.scene.extend(report.scene.notices.iter().cloned());
    page.verdicts = report.pairs.iter().map(|pair| verdict(report, pair)).collect();
    page.validity = Validity::of_remarks(remarks(report));
    let n_warnings = page.validity.as_ref().map_or(0, |of| of.count(Severity::Warning));
    if n_warnings > 0 {
        page.verdicts.iter_mut().take(report.pairs.len()).for_each(with_caution);
    }
    // What decides whether a script goes on comes first.
    page.verdicts.splice(0..0, gates.iter().map(gate));
    let mut did = vec![Block::Charts(named(&charts, &["ratios"]))];
    // What holds for all pairs is said once, below them.
    let all_how: Vec<_> = report.pairs.iter().map(|pair| judged_how(report, pair)).collect();
    let is_of_all = |words: &&String| all_how.iter().all(|how| how.contains(words));
    let of_all = all_how.iter().take(1).flatten().filter(is_of_all);
    let of_all: Vec<String> = of_all.cloned().collect();
    for (pair, how) in report.pairs.iter().zip(&all_how) {
        let own = how.iter().filter(|words| !of_all.contains(words)).cloned();
        did.push(of_pair(report, pair, own.collect()));
    }
    did.push(Block::paragraphs(of_all));
    page.section("did", "Result", did);
    page.sections[0].where_drawn = Place::First;
    page.n_answering = 1;
    page.section("changed", "What changed", changed(report));
    page.section("each_transaction", "What a transaction takes", each_transaction::blocks(report));
    page.section("gauges", "Changes of metrics", gauges_changed(report));
    let mut curves = vec![Block::Charts(named(&charts, &["sides"]))];
    curves.extend(sweeps(report).map(Block::Table));
    page.section("curves", "Curves", curves);
    page.section("figures", "All figures", vec![by_point(report)]);
    page.section("sides", "Sides", (0..report.sides.len()).map(|at| of_side(report, at)).collect());
    page.repeat = Some(repeat(report));
    page
}

/// The page of a comparison with the first run of each side over each other.
pub fn comparison_of_runs(
    report: &ComparisonReport,
    gates: &[GateResult],
    runs: &[(String, Report)],
) -> Document {
    let mut page = comparison(report, gates);
    let charts = vec![Block::Charts(of_first_runs(runs))];
    page.sections.insert(1, Section::new("overlays", "Overlay", charts));
    page
}

/// What a comparison's page is called: its sides against the baseline.
pub fn comparison_title(report: &ComparisonReport) -> String {
    let names: Vec<&str> = report.sides.iter().skip(1).map(|side| said_name(&side.name)).collect();
    versus(&names.join(", "), said_name(&report.sides[0].name))
}

/// What a pair has shown in a sentence, and below it what else is known: in what the sides differ,
/// what would have been seen all the same, and the figure that is looked at next.
fn verdict(report: &ComparisonReport, pair: &PairReport) -> Verdict {
    let (tone, word) = judgement_of(pair);
    let headline = headline(report, pair).into();
    let figures = summed_up(pair);
    let differ = differ_in(report, pair).map(|differ| format!("They differ in {differ}."));
    let detectable = figures.first().and_then(|judged| detectable(judged));
    let beside = beside(&report.primary);
    let beside = figures.into_iter().skip(1).find(|judged| judged.figure == beside);
    let beside = beside.and_then(aside).map(|words| format!("{words}."));
    let details = beside.into_iter().chain(detectable).chain(differ).map(Text::from).collect();
    Verdict { tone, word, headline, details }
}

/// How a pair is to be taken, and the same in a word or two.
fn judgement_of(pair: &PairReport) -> (Tone, String) {
    let judged = match (&pair.overall, &pair.points[..]) {
        (_, [point]) => Some(point.primary.verdict),
        (overall, _) => overall.as_ref().map(|judged| judged.verdict),
    };
    let (tone, word) = match judged {
        // What a side cannot do at all is not outweighed.
        Some(
            Judgement::Better
            | Judgement::BelowMinEffect
            | Judgement::SizeNotKnown
            | Judgement::DiffersOrDrifted
            | Judgement::NoEvidence
            | Judgement::Higher
            | Judgement::Lower,
        ) if pair.lost().next().is_some() => (Tone::Warning, "Not at all points."),
        Some(Judgement::Better) => (Tone::Good, "Better."),
        Some(Judgement::Worse) => (Tone::Bad, "Worse."),
        Some(Judgement::Higher) => (Tone::Plain, "Higher."),
        Some(Judgement::Lower) => (Tone::Plain, "Lower."),
        Some(Judgement::BelowMinEffect) => (Tone::Plain, "Too small to matter."),
        Some(Judgement::SizeNotKnown) => (Tone::Plain, "Differs, size not known."),
        Some(Judgement::DiffersOrDrifted) => (Tone::Warning, "Differs, or drift."),
        Some(Judgement::NoEvidence) => (Tone::Plain, "No evidence."),
        Some(Judgement::CannotJudge) | None => (Tone::Warning, "Undecided."),
    };
    (tone, word.to_owned())
}

/// A verdict on runs that have warnings is to be taken with caution.
fn with_caution(verdict: &mut Verdict) {
    if matches!(verdict.tone, Tone::Good | Tone::Bad) && !verdict.word.is_empty() {
        verdict.word = format!("{}, with caution.", verdict.word.trim_end_matches('.'));
    }
    if verdict.tone == Tone::Good {
        verdict.tone = Tone::Warning;
    }
}

/// What a limit has met.
fn gate(gate: &GateResult) -> Verdict {
    let at = gate.at.join(", ");
    let (tone, headline) = match gate.passed {
        Passed::Held => {
            let of = gate.pairs_least.map(|n| format!(" of {n} pairs of runs in turns"));
            let of = of.unwrap_or_default();
            let worst = gate.worst.filter(|worst| worst.is_finite());
            let worst = worst.map(|worst| {
                format!(": at worst {:+.1} % (95 % bound{of})", (worst - 1.0) * 100.0)
            });
            (Tone::Good, format!("passed {}{}", gate.gate, worst.unwrap_or_default()))
        }
        Passed::Broken => (Tone::Bad, format!("FAILED {} at {at}", gate.gate)),
        Passed::Undecided => {
            let more = match gate.undecided_by {
                UndecidedBy::LostRuns => {
                    "the change may be the cause: 'dbdyno runs list' shows these runs"
                }
                UndecidedBy::Samples => "run longer (--duration)",
                UndecidedBy::Load => "run both sides with the same load",
                UndecidedBy::Near => {
                    "the change is about as large as the limit: run more repeats, or set another \
                     limit"
                }
                UndecidedBy::Noise => "too few runs, or too much noise: run more repeats",
            };
            (Tone::Warning, format!("undecided {} at {at}; {more}", gate.gate))
        }
    };
    Verdict { tone, word: "Limit".to_owned(), headline: headline.into(), details: Vec::new() }
}

/// What a side did against the baseline.
fn of_pair(report: &ComparisonReport, pair: &PairReport, how: Vec<String>) -> Block {
    let title = match report.pairs.len() {
        1 => String::new(),
        _ => versus(&pair.side, &report.sides[0].name),
    };
    Block::Part(title, vec![Block::Table(table(report, pair)), Block::paragraphs(how)])
}

/// How a difference is known where ranks cannot tell.
const BY_MEANS: &str = ", by means alone (p < 0.01): ranks cannot tell with so few runs";

/// What is known of all sides, and folded what is known of some alone.
fn changed(report: &ComparisonReport) -> Vec<Block> {
    if report.differences.is_empty() {
        return vec![Block::paragraphs([no_difference(report)])];
    }
    let (one_sided, both): (Vec<&Difference>, Vec<&Difference>) =
        report.differences.iter().partition(|difference| is_one_sided(difference));
    let mut blocks = Vec::new();
    if !both.is_empty() {
        let rest = "differences (--output json has all)";
        let table = differences(report, &both).shown_max(DIFFERENCES_SHOWN_MAX, rest);
        blocks.push(Block::Table(table));
    }
    if !one_sided.is_empty() {
        let title = format!("{} only some sides have", count(one_sided.len() as u64, "fact"));
        let words = format!("{title} (--output json has all)");
        blocks.push(Block::Details(Details {
            title,
            blocks: vec![Block::Table(differences(report, &one_sided))],
            length: Length::Short,
            otherwise: vec![Block::paragraphs([words])],
        }));
    }
    blocks
}

/// What differs, a row each.
fn differences(report: &ComparisonReport, all: &[&Difference]) -> Table {
    let names = names_of(report);
    let title =
        |at: usize| names.as_ref().map_or_else(|| role(report, at), |all| all[at].clone().into());
    let sides = (0..report.sides.len()).map(|at| Column::sentences(title(at)));
    let what = Column::new("what differs", Align::Left);
    let mut table = Table::new([what].into_iter().chain(sides).collect::<Vec<_>>());
    let value = |value: &Option<String>| match value {
        // A statement of a plan may have several lines.
        Some(value) => value.split_whitespace().collect::<Vec<_>>().join(" "),
        None => NONE.to_owned(),
    };
    for one in all {
        let name = one.short_among(all.iter().copied());
        table.row([name].into_iter().chain(one.values.iter().map(value)));
    }
    table
}

/// The gauges that changed most between each side and the baseline.
fn gauges_changed(report: &ComparisonReport) -> Vec<Block> {
    let pairs = report.pairs.iter().filter(|pair| !pair.gauges_changed.is_empty());
    let part = |pair| {
        let words = Block::paragraphs([gauges_words(report, pair)]);
        Block::Part(String::new(), vec![words, Block::Table(gauges_table(report, pair))])
    };
    pairs.map(part).collect()
}

fn gauges_table(report: &ComparisonReport, pair: &PairReport) -> Table {
    let names = titles(&report.sides[0].name, &pair.side);
    let names = names.into_iter().chain(["change".to_owned()]);
    let columns = names.map(|name| Column::new(name, Align::Right));
    let gauge = Column::new("gauge", Align::Left);
    let mut table = Table::new([gauge].into_iter().chain(columns).collect::<Vec<_>>());
    for change in &pair.gauges_changed {
        let by = match change.ratio {
            Some(ratio) if ratio >= 2.0 => format!("× {}", significant(ratio, 3)),
            Some(ratio) => format!("{:+.1} %", (ratio - 1.0) * 100.0),
            None => format!("{NONE} (almost 0 before)"),
        };
        let mean = |mean| Cell::said(amount(mean, &change.unit), Some(mean));
        table.row([
            change.name.as_str().into(),
            mean(change.baseline),
            mean(change.side),
            Cell::said(by, change.ratio),
        ]);
    }
    table
}

/// What the table of gauges says, and what it does not.
fn gauges_words(report: &ComparisonReport, pair: &PairReport) -> String {
    let of = match report.pairs.len() {
        1 => String::new(),
        _ => format!(" of {} against {}", pair.side, report.sides[0].name),
    };
    format!(
        "Gauges that changed most{of}, the clearest change first (means over runs, not tested):"
    )
}

/// First, mean, best and last of each side over an axis of numbers.
fn sweeps(report: &ComparisonReport) -> Option<Table> {
    let curves = || report.sides.iter().filter_map(|side| Some((side, side.curve.as_ref()?)));
    let (_, first) = curves().next()?;
    let best = if is_less_better(&first.figure) { "lowest" } else { "peak" };
    let over = format!("{} over {}", title(&first.figure), first.axis);
    let columns = ["first", "mean", best, "at", "last"].map(|of| Column::new(of, Align::Right));
    let name = Column::new(over, Align::Left);
    let mut table = Table::new([name].into_iter().chain(columns).collect::<Vec<_>>());
    for (side, curve) in curves() {
        table.row([
            side.name.as_str().into(),
            curve.first.into(),
            curve.mean.into(),
            curve.best.into(),
            curve.best_at.as_str().into(),
            Cell::from(curve.last),
        ]);
    }
    Some(table)
}

/// Every figure of every side, at each point and over all of them: what programs read, too.
fn by_point(report: &ComparisonReport) -> Block {
    let side = Column::words("side", "side");
    let columns = [side].into_iter().chain(columns("baseline".into(), "side".into()));
    let mut table = Table::new(columns.collect::<Vec<_>>());
    for pair in &report.pairs {
        let mut put = |point: &str, judged: &Judged| {
            let side = Cell::from(pair.side.as_str());
            table.row([side].into_iter().chain(cells(report, point, judged)));
        };
        for point in &pair.points {
            let name = whole_name(&point.values);
            once(&point.primary).chain(&point.others).for_each(|judged| put(&name, judged));
        }
        over_all(pair).for_each(|judged| put(ALL, judged));
    }
    let others = report.pairs.iter().flat_map(|pair| &pair.points).flat_map(|at| &at.others);
    let whys = Block::paragraphs(not_plain(others));
    Block::details("By point", Length::Short, vec![Block::Table(table), whys])
}

/// What a side is to the others.
fn role(report: &ComparisonReport, at: usize) -> Cow<'static, str> {
    match (at, report.sides.len()) {
        (0, _) => "baseline".into(),
        (_, 2) => "side".into(),
        _ => format!("side {at}").into(),
    }
}

/// A side in a line, and its runs.
fn of_side(report: &ComparisonReport, at: usize) -> Block {
    let (role, side) = (role(report, at), &report.sides[at]);
    let lost = match side.runs_not_counted {
        0 => String::new(),
        n => format!(", {n} not counted"),
    };
    let words = format!("{}: {}{lost}", side.name, count(side.runs.len() as u64, "run"));
    Block::Details(Details {
        title: format!("{role} {words}"),
        blocks: vec![Block::runs([("runs", &side.runs[..])])],
        length: Length::Short,
        otherwise: vec![Block::pairs([(role, words)])],
    })
}

/// The plans of the sides, those that are the same once; and the comparison itself.
fn repeat(report: &ComparisonReport) -> Section {
    let mut plans: Vec<(Vec<&str>, &str)> = Vec::new();
    for side in &report.sides {
        let Some(plan) = &side.plan else { continue };
        match plans.iter_mut().find(|(_, known)| known == plan) {
            Some((names, _)) => names.push(&side.name),
            None => plans.push((vec![&side.name], plan)),
        }
    }
    let folded = |(names, plan): (Vec<&str>, &str)| {
        let words = "Save a plan as a file to repeat its experiment or run: ";
        let words = Text::from(words).and(Span::Code("dbdyno run plan.toml".to_owned()));
        let blocks = vec![Block::Paragraphs(vec![words]), Block::Verbatim(plan.to_owned())];
        Block::details(format!("Plan of {}", names.join(", ")), Length::Short, blocks)
    };
    let command = report.command.clone().map(Block::Verbatim);
    let blocks = plans.into_iter().map(folded).chain(command).collect();
    Section::new(REPEAT, "How to repeat it", blocks)
}

/// What a pair is over all points, where there are several: the primary figure first.
fn over_all(pair: &PairReport) -> impl Iterator<Item = &Judged> {
    pair.overall.iter().chain(&pair.overall_others)
}

/// The figures that a pair is summed up by: those of its only point, or those over all points.
fn summed_up(pair: &PairReport) -> Vec<&Judged> {
    match &pair.points[..] {
        [point] => once(&point.primary).chain(&point.others).collect(),
        _ => over_all(pair).collect(),
    }
}

/// Names two sides, such as `build=1.3 vs. 1.2`; a key that both have stands once.
fn versus(side: &str, base: &str) -> String {
    let (of_side, of_base) = (key_value(side), key_value(base));
    match (of_side, of_base) {
        (Some((name, _)), Some((known, value))) if name == known && !side.contains(", ") => {
            format!("{side} vs. {value}")
        }
        _ => format!("{side} vs. {base}"),
    }
}

/// The key and the value of a name such as `build=1.3`; none for a URL, whose options have `=` too.
fn key_value(name: &str) -> Option<(&str, &str)> {
    let is_key = |key: &str| {
        key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
    };
    name.split_once('=').filter(|(key, _)| is_key(key))
}

/// What a pair has shown: what the side could not do at all, the primary figure, and at how many
/// points it holds.
fn headline(report: &ComparisonReport, pair: &PairReport) -> String {
    let (base, side) = (said_name(&report.sides[0].name), said_name(&pair.side));
    let printed = first_words(report, pair).into_iter().chain(point_by_point(pair));
    format!("{}: {}", versus(side, base), printed.collect::<Vec<_>>().join("; "))
}

/// The name of a side in a sentence: what a target is goes without saying.
fn said_name(name: &str) -> &str {
    name.strip_prefix("target=").unwrap_or(name)
}

/// What the side could not do at all, and the primary figure.
fn first_words(report: &ComparisonReport, pair: &PairReport) -> Vec<String> {
    let figures = summed_up(pair);
    let (n_both, n_lost) = (pair.points.len() as u64, pair.lost().count() as u64);
    let mut printed: Vec<String> = Vec::new();
    printed.extend(overloaded(report, pair));
    if n_lost > 0 {
        let of = count(n_both + n_lost, "point");
        printed.push(format!("NO valid run of {} at {n_lost} of {of}", pair.side));
    }
    let place = match (n_both, pair.points_unpaired.is_empty()) {
        (1, true) => String::new(),
        (1, false) => format!("at {}, ", point_name(report, &pair.points[0].values)),
        (_, true) => "over all points, ".to_owned(),
        (_, false) => format!("over the {n_both} points that both have, "),
    };
    printed.extend(figures.first().map(|judged| place + &sentence(report.min_effect, judged)));
    // If the primary figure is undecided, the headline also has the first figure that is decided.
    let is_decided =
        |judged: &&&Judged| matches!(judged.verdict, Judgement::Better | Judgement::Worse);
    let is_open = figures.first().is_some_and(|first| {
        matches!(first.verdict, Judgement::NoEvidence | Judgement::CannotJudge)
    });
    let other = figures.iter().skip(1).find(is_decided).filter(|_| is_open);
    printed.extend(other.and_then(|judged| aside(judged)));
    printed
}

/// `point by point, of 8 points: better at 5, no evidence at 3`.
fn point_by_point(pair: &PairReport) -> Option<String> {
    let n_both = pair.points.len() as u64;
    let n = |verdict: Judgement| {
        pair.points.iter().filter(|point| point.primary.verdict == verdict).count()
    };
    let counted = Judgement::ALL.into_iter().filter(|verdict| n(*verdict) > 0);
    let counted: Vec<String> =
        counted.map(|verdict| format!("{} at {}", verdict.name(), n(verdict))).collect();
    let points = count(n_both, "point");
    (n_both > 1).then(|| format!("point by point, of {points}: {}", counted.join(", ")))
}

/// Which of both sides lost so much of what was offered that its rate is that of an overload.
fn overloaded(report: &ComparisonReport, pair: &PairReport) -> Option<String> {
    let sides = report.sides.iter().filter(|side| {
        side.lost_percent >= LOST_LEAST_PERCENT
            && (side.name == pair.side || side.name == report.sides[0].name)
    });
    let lost = |side: &SideReport| {
        let percent = significant(side.lost_percent, 3);
        let up_to = if side.runs.len() > 1 { "up to " } else { "" };
        format!("{} lost {up_to}{percent} % of what was offered", side.name)
    };
    let all: Vec<String> = sides.map(lost).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

/// What a side differs in from the baseline, where their names do not say it already.
fn differ_in(report: &ComparisonReport, pair: &PairReport) -> Option<String> {
    let index = report.sides.iter().position(|side| side.name == pair.side)?;
    let base = &report.sides[0].name;
    let mut all = telling(&report.differences, index);
    let names_both =
        |[ours, theirs]: &[String; 2]| base.contains(ours) && pair.side.contains(theirs);
    all.retain(|(_, values)| !names_both(values));
    // In the order of the sentence: the side against the baseline.
    let shown = all.iter().take(DIFFER_SHOWN_MAX).map(|(name, values)| {
        let [base, side] = values.each_ref().map(|value| shortened(value));
        format!("{name} ({side} against {base})")
    });
    let shown: Vec<String> = shown.collect();
    let rest = all.len().saturating_sub(shown.len());
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// A value in a sentence: a long one is cut.
fn shortened(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]).into(),
        None => value.into(),
    }
}

/// `NOPM +12.0 % (CI +5.1 % to +19.3 %), better`.
fn sentence(min_effect: f64, judged: &Judged) -> String {
    let name = title(&judged.figure);
    let by = judged.ratio.as_ref().map(|ratio| change_within(&judged.figure, ratio));
    let measured = by.map_or_else(|| name.clone(), |by| format!("{name} {by}"));
    let alone = if judged.is_by_means { BY_MEANS } else { "" };
    let least = exact(min_effect * 100.0);
    match judged.verdict {
        Judgement::Better | Judgement::Worse | Judgement::Higher | Judgement::Lower => {
            format!("{measured}, {}{alone}", judged.verdict.name())
        }
        Judgement::BelowMinEffect => {
            format!("{measured}, too small to matter: below the minimum effect of {least} %")
        }
        Judgement::SizeNotKnown => {
            format!(
                "{measured}, differs, perhaps by less than the minimum effect of {least} %{alone}"
            )
        }
        Judgement::DiffersOrDrifted => format!(
            "{measured}, differs, or the machine drifted: the runs were not interleaved{alone}"
        ),
        Judgement::NoEvidence => {
            format!("{measured}, no evidence of a difference")
        }
        Judgement::CannotJudge => {
            let why = judged.why.as_deref().unwrap_or("there is no figure");
            format!("{measured}, undecided: {why}")
        }
    }
}

/// What would have been seen all the same, where no difference was: `Smallest detectable
/// difference: 5.1 % with 4 runs a side, 2.2 % with 16.`
fn detectable(judged: &Judged) -> Option<String> {
    let share = judged.detectable.filter(|_| judged.verdict == Judgement::NoEvidence)?;
    let runs = [judged.baseline, judged.side].into_iter().flatten().map(|figure| figure.count);
    let runs = runs.min().unwrap_or(0);
    let is_factor = is_twofold(share);
    let least = smallest(share, is_factor);
    let runs_a_side = count(runs, "run");
    let mut printed = format!("Smallest detectable difference: {least} with {runs_a_side} a side");
    if let Some(more) = fourfold(runs) {
        let half = smallest(with_fourfold(share), is_factor);
        printed.push_str(&format!(", {half} with {more}"));
    }
    Some(printed + ".")
}

/// The repeats that would show half of what the runs of a comparison could not show, with what
/// that is; none where the verdicts are clear, or where that is too many.
pub fn more_repeats(report: &ComparisonReport) -> Option<(u64, String)> {
    let of_pair = |pair: &PairReport| {
        let judged = *summed_up(pair).first()?;
        let share = judged.detectable.filter(|_| judged.verdict == Judgement::NoEvidence)?;
        let runs = judged.baseline?.count.min(judged.side?.count);
        let share = with_fourfold(share);
        Some((fourfold(runs)?, smallest(share, is_twofold(share))))
    };
    report.pairs.iter().find_map(of_pair)
}

/// Four times as many runs, if as many can be judged.
fn fourfold(runs: u64) -> Option<u64> {
    Some(4 * runs).filter(|more| *more <= stats::FIGURES_MAX as u64)
}

/// What four times as many runs would show: half of it, as a logarithm.
fn with_fourfold(share: f64) -> f64 {
    ((1.0 + share).ln() / 2.0).exp() - 1.0
}

/// Whether a share says less than the factor that it is.
fn is_twofold(share: f64) -> bool {
    share > 1.0
}

/// A detectable difference: `5.1 %`, or `×2.4`.
fn smallest(share: f64, is_factor: bool) -> String {
    match is_factor {
        false => format!("{} %", significant(share * 100.0, 2)),
        true => format!("×{}", significant(1.0 + share, 2)),
    }
}

/// A figure beside the one that is judged, in a few words; nothing where it tells nothing.
fn aside(judged: &Judged) -> Option<String> {
    let (name, ratio) = (title(&judged.figure), judged.ratio.as_ref()?);
    let by = change_within(&judged.figure, ratio);
    Some(format!("{name} {by}, {}", judged.verdict.name()))
}

/// `+12.0 % (CI +5.1 % to +19.3 %)`, or all of it as factors where one of them is far from 1.
fn change_within(figure: &str, ratio: &Ratio) -> String {
    let ends = ratio.interval.iter().flat_map(|(low, high)| [*low, *high]);
    let as_factors = once(ratio.value).chain(ends).any(|ratio| is_far(&ratio));
    let change = |ratio| change(figure, ratio, as_factors);
    let of = match ratio.interval {
        Some((low, high)) if low < high => format!(" (CI {} to {})", change(low), change(high)),
        _ => String::new(),
    };
    let is_lost = ratio.value.is_infinite() && is_time(figure);
    let lost = if is_lost { ", because work was lost" } else { "" };
    format!("{}{of}{lost}", change(ratio.value))
}

/// Whether a ratio says more than its percentage does.
fn is_far(ratio: &f64) -> bool {
    !(0.2..5.0).contains(ratio)
}

/// By how much a figure is more or less: in percent, or as a factor. Times are infinite where work
/// was lost.
fn change(figure: &str, ratio: f64, as_factor: bool) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match ratio {
        f64::INFINITY if is_time(figure) => INFINITE.to_owned(),
        f64::INFINITY => "infinite, because the baseline is 0".to_owned(),
        0.0 if is_time(figure) => "finite, while the baseline is infinite because work was \
                                   lost"
            .to_owned(),
        0.0 => "-100 %".to_owned(),
        ratio if as_factor => format!("×{}", significant(ratio, 3)),
        _ if percent.abs() < 0.005 => "0 %".to_owned(),
        _ if percent.abs() < 1.0 => format!("{}{} %", sign(percent), significant(percent.abs(), 2)),
        _ => format!("{percent:+.1} %"),
    }
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "-" } else { "+" }
}

/// What speaks against it: what was found in the runs first.
fn remarks(report: &ComparisonReport) -> Vec<Remark> {
    let warning = |text| Remark::new(Severity::Warning, text);
    let mut all: Vec<Remark> = warnings(report).into_iter().map(warning).collect();
    all.extend(loads(report).chain(lost_runs(report)).map(warning));
    all.extend(seeds(report).map(warning));
    all.extend(left_out(&report.damaged).map(warning));
    all.extend(notes(report).into_iter().map(|text| Remark::new(Severity::Note, text)));
    all
}

/// Sides with many more excluded runs than the side that they are compared with, each once.
fn unevenly_lost(report: &ComparisonReport) -> impl Iterator<Item = &SideReport> {
    let mut all: Vec<&SideReport> = Vec::new();
    for side in report.pairs.iter().filter_map(|pair| report.unevenly_lost(pair)) {
        if all.iter().all(|known| known.name != side.name) {
            all.push(side);
        }
    }
    all.into_iter()
}

/// Warnings about these sides.
fn lost_runs(report: &ComparisonReport) -> impl Iterator<Item = String> {
    unevenly_lost(report)
        .map(|side| format!("{}; the remaining runs may be the better ones.", side.lost_words()))
}

/// Sides whose load is another one than the baseline's, in sentences.
fn loads(report: &ComparisonReport) -> impl Iterator<Item = String> {
    report.pairs.iter().filter_map(|pair| {
        let load = report.load_differs(pair);
        let named = load.iter().take(DIFFER_SHOWN_MAX).map(|(name, [base, side])| {
            format!("{name} ({} against {})", shortened(side), shortened(base))
        });
        let named: Vec<String> = named.collect();
        let more = match load.len() - named.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        (!named.is_empty()).then(|| {
            format!(
                "{} ran another load than {}: {}{more}. Part of the difference may come from it.",
                pair.side,
                report.sides[0].name,
                named.join(", ")
            )
        })
    })
}

/// Sides whose runs say less than their number, in sentences.
fn seeds(report: &ComparisonReport) -> impl Iterator<Item = String> {
    let alike = report.sides.iter().filter(|side| side.runs.len() > 1 && side.seeds == 1);
    let alike = alike.map(|side| {
        format!(
            "All {} of {} have the same seed: they replay the same inputs, so the result holds for \
             these inputs only. Give each run a different seed (--seed).",
            count(side.runs.len() as u64, "run"),
            side.name
        )
    });
    alike.chain(shared_seeds(report))
}

/// Besides the warnings: runs that do not count, points and repeats that are left out, and why
/// something could not be judged.
fn notes(report: &ComparisonReport) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for pair in report.pairs.iter().filter(|pair| report.is_reversed(pair)) {
        let base = &report.sides[0].name;
        said.push(format!(
            "{base} is the baseline, and was measured after {}: the side that is named first is \
             the baseline.",
            pair.side
        ));
    }
    let is_one_each = report.sides.iter().all(|side| side.runs.len() < 2);
    for pair in report.pairs.iter().filter(|pair| !pair.is_interleaved && !is_one_each) {
        said.push(format!(
            "Runs of {} and {} were not interleaved: a drift in the meantime (of the machine, of the \
             data) counts as a difference. To interleave them, run one experiment that varies both \
             values (--vary).",
            report.sides[0].name, pair.side
        ));
    }
    said.extend(mixed(&report.mixed));
    let uneven: Vec<&str> = unevenly_lost(report).map(|side| side.name.as_str()).collect();
    let lost = |side: &&SideReport| side.runs_not_counted > 0;
    let others = report.sides.iter().filter(lost).filter(|of| !uneven.contains(&of.name.as_str()));
    said.extend(others.map(|side| format!("{}.", side.lost_words())));
    said.extend(report.repeats.iter().cloned());
    for pair in &report.pairs {
        for (side, other) in
            [(&report.sides[0].name, &pair.side), (&pair.side, &report.sides[0].name)]
        {
            for (is_lost, words) in [
                (
                    true,
                    "was attempted without a valid \
                                             run",
                ),
                (false, "has none"),
            ] {
                let of = |at: &&UnpairedPoint| at.side == *side && at.is_lost == is_lost;
                let at = pair.points_unpaired.iter().filter(of);
                let names: Vec<String> = at.map(|at| point_name(report, &at.values)).collect();
                if !names.is_empty() {
                    let n = count(names.len() as u64, "point");
                    let names = names.join(", ");
                    said.push(format!("Left out: {n} of {side}, where {other} {words}: {names}."));
                }
            }
        }
        if pair.repeats_left_out > 0 {
            said.push(format!(
                "Over all points, {} left out because some point has no valid run.",
                count(pair.repeats_left_out, "repeat")
            ));
        }
    }
    said.extend(report.pairs.iter().flat_map(|pair| contradictions(report, pair)));
    // Of the rows of the tables, but for what the verdict has said already.
    let rows = report.pairs.iter().flat_map(|pair| match &pair.points[..] {
        [point] => {
            let is_news = |judged: &&Judged| judged.why != point.primary.why;
            point.others.iter().filter(is_news).collect::<Vec<&Judged>>()
        }
        points => points.iter().map(|point| &point.primary).collect(),
    });
    said.extend(not_plain(rows));
    said
}

/// Where the values of a row say the opposite of its ratio: runs of a repeat went up or down
/// together, and the repeats differ by more than the sides do.
fn contradictions(report: &ComparisonReport, pair: &PairReport) -> Vec<String> {
    let least = report.min_effect;
    let one = |at: String, judged: &Judged| {
        let ratio = judged.ratio.as_ref()?.value;
        let of_values = judged.medians[1]? / judged.medians[0]?;
        let is_opposite = |a: f64, b: f64| a < 1.0 - least && b > 1.0 + least;
        (is_opposite(ratio, of_values) || is_opposite(of_values, ratio)).then(|| {
            let name = title(&judged.figure);
            let as_factors = [of_values, ratio].iter().any(is_far);
            let change = |of| change(&judged.figure, of, as_factors);
            let [of_values, ratio] = [of_values, ratio].map(change);
            let medians =
                if at == ALL { "The medians".to_owned() } else { format!("At {at} the medians") };
            format!(
                "{medians} of {name} differ by {of_values}, and the pairs of runs by \
                 {ratio}: the runs scatter by more than the sides differ."
            )
        })
    };
    let of_points = pair.points.iter().flat_map(|point| {
        let at = point_name(report, &point.values);
        once(&point.primary).chain(&point.others).filter_map(move |judged| one(at.clone(), judged))
    });
    of_points.chain(over_all(pair).filter_map(|judged| one(ALL.to_owned(), judged))).collect()
}

/// What runs that make one figure differ in, by side: each trait once.
fn mixed(all: &[Mixed]) -> Vec<String> {
    let mut sides: Vec<(&str, Vec<String>)> = Vec::new();
    for one in all {
        let printed = format!("{}.{} ({})", one.about, one.name, several(&one.of_runs));
        match sides.iter_mut().find(|(side, _)| *side == one.side) {
            Some((_, known)) if known.contains(&printed) => {}
            Some((_, known)) => known.push(printed),
            None => sides.push((&one.side, vec![printed])),
        }
    }
    let sentence = |(side, printed): (&str, Vec<String>)| {
        let rest = printed.len().saturating_sub(LISTED_MOST);
        let more = if rest > 0 { format!(", and {rest} more") } else { String::new() };
        let shown = printed.into_iter().take(LISTED_MOST).collect::<Vec<_>>().join(", ");
        format!("Runs of {side} that are averaged into one figure differ in {shown}{more}.")
    };
    sides.into_iter().map(sentence).collect()
}

/// Why figures have the verdict that they have, where it is not plain: each reason once.
fn not_plain<'j>(judged: impl Iterator<Item = &'j Judged>) -> Vec<String> {
    let mut found: Vec<&str> = Vec::new();
    for why in judged.filter_map(|judged| judged.why.as_deref()) {
        if !found.contains(&why) {
            found.push(why);
        }
    }
    found.into_iter().map(|why| format!("Undecided, because {why}.")).collect()
}

/// Pairs of sides whose random numbers are the same.
fn shared_seeds(report: &ComparisonReport) -> impl Iterator<Item = String> {
    let shared = report.pairs.iter().filter(|pair| pair.seeds_shared > 0);
    shared.map(|pair| {
        format!(
            "Runs of {} and {} share {}: a simulated database draws the same random numbers from \
             the same seed, so these runs are not independent. Give each run a different seed \
             (--seed).",
            report.sides[0].name,
            pair.side,
            count(pair.seeds_shared, "seed")
        )
    })
}

/// What was found in runs, each once.
fn finding_ids(report: &ComparisonReport) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for (id, _) in report.sides.iter().flat_map(|side| side.findings.iter()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Whether one side has it so much more often that it may explain a difference.
fn is_uneven(report: &ComparisonReport, id: &str) -> bool {
    let share = |side: &SideReport| {
        side.findings.get(id).copied().unwrap_or(0) as f64 / side.runs.len().max(1) as f64
    };
    let (least, most) =
        report.sides.iter().map(share).fold((1.0, 0.0), |(least, most), share| {
            (f64::min(least, share), f64::max(most, share))
        });
    most - least > UNEVEN
}

/// What was found in the runs, by side; and where one side has it more often.
fn warnings(report: &ComparisonReport) -> Vec<String> {
    let printed = |id: &str| {
        let mut of_sides: Vec<String> = Vec::new();
        let cases: BTreeSet<&String> =
            report.sides.iter().filter_map(|side| side.cases.get(id)).collect();
        for side in &report.sides {
            let n = side.findings.get(id).copied().unwrap_or(0);
            let all = side.runs.len() as u64;
            // What was measured on one side is not that of another.
            let own = side.cases.get(id).filter(|_| cases.len() > 1);
            let own =
                own.map_or_else(String::new, |case| format!(", e.g.: {}", without_stop(case)));
            of_sides.push(format!("{n} of {} of {}{own}", count(all, "run"), side.name));
        }
        let uneven = match is_uneven(report, id) {
            true => ": mostly on one side, so it may explain part of the difference",
            false => "",
        };
        // Of many sides one case tells enough.
        let n_all: usize = report.sides.iter().map(|side| side.runs.len()).sum();
        let n_with: u64 = report.sides.iter().filter_map(|side| side.findings.get(id)).sum();
        match cases.first() {
            Some(case) if report.sides.len() > 2 && uneven.is_empty() => {
                let runs = count(n_all as u64, "run");
                format!("{n_with} of {runs}, e.g.: {} ({id}).", without_stop(case))
            }
            None => format!("{} in {}{uneven}.", in_short(id), of_sides.join(", ")),
            Some(case) if cases.len() == 1 => {
                format!("{} in {} ({id}){uneven}.", without_stop(case), of_sides.join(", "))
            }
            Some(_) => format!("{} ({id}){uneven}.", of_sides.join("; ")),
        }
    };
    finding_ids(report).into_iter().map(printed).collect()
}

/// What is the same on all sides, where nothing differs between them.
fn no_difference(report: &ComparisonReport) -> &'static str {
    match report.mixed.is_empty() {
        true => "Plan, database, machine and build are the same on all sides.",
        false => "The sides do not differ, but runs within a side do.",
    }
}

/// Whether a fact is known of some sides alone: another product has others.
fn is_one_sided(difference: &Difference) -> bool {
    let is_of_plan = matches!(difference.about.as_str(), "plan" | "target");
    !is_of_plan && difference.values.iter().any(Option::is_none)
}

/// The name of a point as programs read it.
fn whole_name(values: &Named<String>) -> String {
    if values.is_empty() { ALL.to_owned() } else { values.pairs(" ") }
}

/// A point as people read it: of targets what tells them apart.
fn point_name(report: &ComparisonReport, values: &Named<String>) -> String {
    whole_name(&told(&axes_of(report), values))
}

/// The judged figures of a pair; of a single point all of them. Programs read them by point.
fn table(report: &ComparisonReport, pair: &PairReport) -> Table {
    let [baseline, side] = titles(&report.sides[0].name, &pair.side);
    let columns = columns(baseline.into(), side.into()).map(|column| column.key(""));
    let is_one = pair.points.len() == 1;
    let is_all = is_one && pair.points[0].values.is_empty();
    let mut table = Table::new(for_people(columns, is_all));
    let cells = |at: &str, judged: &Judged| for_people(cells(report, at, judged), is_all);
    for point in &pair.points {
        for (index, judged) in once(&point.primary).chain(&point.others).enumerate() {
            // Of many points the judged figure alone: the rest stands by point.
            if index > 0 && !is_one {
                break;
            }
            table.row(cells(&point_name(report, &point.values), judged));
        }
    }
    over_all(pair).for_each(|judged| table.row(cells(ALL, judged)));
    table
}

/// A row as people read it: the verdict stands beside its ratio, where a narrow page has it too,
/// and a point that is the only one goes without saying.
fn for_people<T>(row: [T; 12], is_all: bool) -> Vec<T> {
    let mut row: Vec<T> = row.into();
    let verdict = row.pop();
    row.splice(8..8, verdict);
    if is_all {
        row.remove(0);
    }
    row
}

/// The names of sides as titles: whole, or by the first trait that they have, or by its value
/// alone. What comes first tells most. None where these are long or do not tell them apart.
fn short_names(names: &[&str]) -> Option<Vec<String>> {
    fn first(name: &str) -> String {
        name.split(", ").next().unwrap_or(name).to_owned()
    }
    // The sign shows that a bare number is a value.
    fn value(name: &str) -> String {
        let first = first(name);
        match key_value(&first) {
            Some((_, value)) if value.parse::<f64>().is_ok() => format!("={value}"),
            Some((_, value)) => value.to_owned(),
            None => first,
        }
    }
    let kinds: [fn(&str) -> String; 3] = [str::to_owned, first, value];
    let of_kind =
        |kind: fn(&str) -> String| names.iter().map(|name| kind(name)).collect::<Vec<String>>();
    let fits = |name: &String| name.chars().count() <= TITLE_MAX;
    let are_different =
        |all: &[String]| all.iter().enumerate().all(|(at, name)| !all[..at].contains(name));
    kinds.map(of_kind).into_iter().find(|all| are_different(all) && all.iter().all(fits))
}

/// Short names of all sides.
fn names_of(report: &ComparisonReport) -> Option<Vec<String>> {
    short_names(&report.sides.iter().map(|side| side.name.as_str()).collect::<Vec<_>>())
}

/// Titles of a pair's columns.
fn titles(baseline: &str, side: &str) -> [String; 2] {
    let found = short_names(&[baseline, side]).and_then(|names| names.try_into().ok());
    found.unwrap_or_else(|| ["baseline".to_owned(), "side".to_owned()])
}

/// What a table of figures has.
fn columns(baseline: Cow<'static, str>, side: Cow<'static, str>) -> [Column; 12] {
    [
        Column::words("point", "point"),
        Column::data("figure"),
        Column::new("figure", Align::Left),
        Column::new(baseline, Align::Right).key("baseline"),
        Column::new(side, Align::Right).key("value"),
        Column::words("ratio", "ratio"),
        Column::data("low"),
        Column::data("high"),
        Column::data("p"),
        Column::spare("p", Align::Right, 2).key("p_corrected"),
        Column::spare("detectable", Align::Right, 3).key("detectable"),
        Column::words("verdict", "verdict"),
    ]
}

/// A figure of a side against the baseline's.
fn cells(report: &ComparisonReport, point: &str, judged: &Judged) -> [Cell; 12] {
    let unit = report.units.get(&judged.figure).map_or("", String::as_str);
    let ratio = judged.ratio.as_ref();
    let times = ratio.map_or_else(|| NONE.to_owned(), |ratio| ratio_text(&judged.figure, ratio));
    let interval = ratio.and_then(|ratio| ratio.interval);
    let p = judged.p_corrected.map_or(Cell::None, |p| Cell::said(format!("{p:.3}"), Some(p)));
    let detectable = judged
        .detectable
        .map_or(Cell::None, |share| Cell::said(smallest(share, is_twofold(share)), Some(share)));
    [
        point.into(),
        judged.figure.as_str().into(),
        title_with_unit(&judged.figure, unit).into(),
        judged.medians[0].into(),
        judged.medians[1].into(),
        Cell::said(times, ratio.map(|ratio| ratio.value)),
        interval.map(|(low, _)| low).into(),
        interval.map(|(_, high)| high).into(),
        judged.p.into(),
        p,
        detectable,
        judged.verdict.name().into(),
    ]
}

/// What the column `detectable` has.
const MIN_DETECTABLE: &str = "Detectable: the smallest difference that so many runs would \
                              show, in four of five such comparisons.";

/// How figures are judged, in sentences.
fn judged_how(report: &ComparisonReport, pair: &PairReport) -> Vec<String> {
    let mut said = Vec::new();
    let is_within = pair.points.iter().any(|point| point.primary.is_within_repeats);
    let confidence = pair
        .points
        .iter()
        .filter_map(|point| point.primary.ratio?.confidence)
        .fold(f64::NAN, f64::min);
    if confidence.is_finite() {
        let all = match over_all(pair).next() {
            Some(_) => ", of 'all' those of the geometric mean over the points of a repeat",
            None => "",
        };
        said.push(format!(
            "Values are medians over the runs of each side{all}. Ratios are medians over {} of runs, \
             with CIs of at least {} %, not corrected; p is corrected for all sides, points and \
             figures of the first lines. Better or worse needs p < 0.05 and a ratio beyond the \
             minimum effect of {} %.",
            if is_within { "the pairs" } else { "all pairs" },
            significant(confidence * 100.0, 3),
            exact(report.min_effect * 100.0)
        ));
    }
    if pair.points.iter().any(|point| point.primary.is_by_means) {
        said.push(
            "So few runs are too few for ranks: means alone were tested (Welch's t), at 1 %. Their \
             p-values are multiplied by 5."
                .to_owned(),
        );
    }
    let shown = pair.points.iter().flat_map(|point| once(&point.primary).chain(&point.others));
    if shown.chain(over_all(pair)).any(|judged| judged.detectable.is_some()) {
        said.push(MIN_DETECTABLE.to_owned());
    }
    if pair.is_interleaved {
        let words = match is_within {
            true => "The runs were interleaved, and compared within each repeat.",
            false => "The runs were interleaved.",
        };
        said.push(words.to_owned());
    }
    said
}

#[cfg(test)]
mod tests;
