//! A comparison as people read it: what differs, what that did, and how surely. As text, as
//! Markdown and as CSV.
//!
//! Not here: what is true (comparison).

use std::borrow::Cow;

use super::experiment::{in_words, title};
use super::figures::{INFINITE, NONE, count, exact, significant, wrap};
use super::{Align, Column, Table};
use crate::comparison::{
    ComparisonReport, Difference, GateResult, Judged, PairReport, Passed, Ratio, SideReport,
    Verdict,
};
use crate::experiment::Figure;
use crate::report::Named;

const WIDTH: usize = 96;
/// Differences that are listed one by one.
const DIFFERENCES_SHOWN_MAX: usize = 30;
/// A longer name of a side is no title of a column.
const TITLE_MAX: usize = 14;
/// What stands for all points, or the only one.
const ALL: &str = "all";

/// The page of a comparison.
pub fn comparison(report: &ComparisonReport, gates: &[GateResult]) -> String {
    let mut page = String::new();
    let mut put = |text: &str| {
        page.push_str(text);
        page.push('\n');
    };
    for pair in &report.pairs {
        wrap(&headline(report, pair), WIDTH).iter().for_each(|line| put(line));
    }
    put("");
    report.sides.iter().enumerate().for_each(|(index, side)| put(&side_line(index, side)));
    put("");
    lines(&differences(report)).iter().for_each(|line| put(line));
    for pair in &report.pairs {
        put("");
        if report.pairs.len() > 1 {
            put(&format!("{} against {}", pair.side, report.sides[0].name));
        }
        table(report, pair).lines(WIDTH).iter().for_each(|line| put(line));
        caveats(report, pair).iter().for_each(|text| {
            wrap(text, WIDTH).iter().for_each(|line| put(line));
        });
    }
    let curves: Vec<String> = report.sides.iter().filter_map(curve_line).collect();
    if !curves.is_empty() {
        put("");
        curves.iter().for_each(|line| put(line));
    }
    if !gates.is_empty() {
        put("");
        gates.iter().flat_map(|gate| wrap(&gate_line(gate), WIDTH)).for_each(|line| put(&line));
    }
    page
}

/// The same for a pull request or a page of a wiki.
pub fn comparison_markdown(report: &ComparisonReport, gates: &[GateResult]) -> String {
    let mut page = String::new();
    for pair in &report.pairs {
        page.push_str(&format!("**{}**\n\n", escaped(&headline(report, pair))));
    }
    let changed = differences(report);
    if changed.iter().any(|(is_item, _)| *is_item) {
        page.push_str("What differs:\n\n");
    }
    for (is_item, line) in changed {
        let mark = if is_item { "- " } else { "\n" };
        page.push_str(&format!("{mark}{}\n", escaped(&line)));
    }
    for pair in &report.pairs {
        page.push_str(&format!("\n{}\n", table(report, pair).markdown()));
        for text in caveats(report, pair) {
            page.push_str(&format!("\n{}\n", escaped(&text)));
        }
    }
    for gate in gates {
        page.push_str(&format!("\n{}\n", escaped(&gate_line(gate))));
    }
    page
}

/// The figures as rows with commas (RFC 4180): one of each side, point and figure.
pub fn comparison_csv(report: &ComparisonReport) -> String {
    let titles = [
        "side",
        "point",
        "figure",
        "baseline",
        "value",
        "ratio",
        "low",
        "high",
        "p",
        "p_corrected",
        "detectable",
        "verdict",
    ];
    let rows = report.pairs.iter().flat_map(|pair| {
        let judged = pair.points.iter().flat_map(move |point| {
            let name = point_name(&point.values);
            let all = std::iter::once(&point.primary).chain(&point.others);
            all.map(move |judged| csv_row(&pair.side, &name, judged))
        });
        judged.chain(pair.overall.iter().map(|judged| csv_row(&pair.side, ALL, judged)))
    });
    super::rows_of_text(titles, rows)
}

fn csv_row(side: &str, point: &str, judged: &Judged) -> [String; 12] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mean = |figure: Option<Figure>| number(figure.map(|figure| figure.mean));
    let interval = judged.ratio.and_then(|ratio| ratio.interval);
    [
        side.to_owned(),
        point.to_owned(),
        judged.figure.clone(),
        mean(judged.baseline),
        mean(judged.side),
        number(judged.ratio.map(|ratio| ratio.value)),
        number(interval.map(|interval| interval.0)),
        number(interval.map(|interval| interval.1)),
        number(judged.p),
        number(judged.p_corrected),
        number(judged.detectable),
        judged.verdict.name().to_owned(),
    ]
}

/// What Markdown would take for its own.
pub(super) fn escaped(text: &str) -> String {
    let is_mark = |letter: char| matches!(letter, '|' | '*' | '_' | '<' | '`' | '[');
    text.chars().fold(String::new(), |mut shown, letter| {
        if is_mark(letter) {
            shown.push('\\');
        }
        shown.push(letter);
        shown
    })
}

/// What a pair has shown, in a sentence.
pub(super) fn headline(report: &ComparisonReport, pair: &PairReport) -> String {
    let name = title(&report.primary);
    let (base, side) = (&report.sides[0].name, &pair.side);
    if let [point] = &pair.points[..] {
        return format!("{side} against {base}: {}", sentence(&name, &point.primary));
    }
    let n = |verdict: Verdict| {
        pair.points.iter().filter(|point| point.primary.verdict == verdict).count()
    };
    let points = count(pair.points.len() as u64, "point");
    let told: Vec<String> = Verdict::ALL
        .into_iter()
        .filter(|verdict| n(*verdict) > 0)
        .map(|verdict| format!("{} at {}", verdict.name(), n(verdict)))
        .collect();
    let overall = match &pair.overall {
        Some(judged) => sentence(&name, judged),
        None => format!(
            "{name} cannot be judged: that takes the same number of runs that count, each with the \
             figure, at every point of both sides"
        ),
    };
    format!("{side} against {base}: over all {overall}; of {points} {}", told.join(", "))
}

/// `NOPM is better, 1.12 times (1.05 to 1.19)`.
fn sentence(name: &str, judged: &Judged) -> String {
    let times = judged.ratio.map_or_else(String::new, |ratio| match ratio.interval {
        Some((low, high)) => {
            format!(", {} times ({} to {})", times(ratio.value), times(low), times(high))
        }
        None => format!(", {} times", times(ratio.value)),
    });
    match judged.verdict {
        Verdict::Better | Verdict::Worse => {
            format!("{name} is {}{times}", judged.verdict.name())
        }
        Verdict::BelowFloor => {
            let why = judged.why.as_deref().unwrap_or(Verdict::BelowFloor.name());
            format!("{name}{times}: {why}")
        }
        Verdict::NoEvidence => {
            let found = |share: f64| {
                let percent = significant(share * 100.0, 2);
                format!("; {percent} % would have been found in 4 of 5 such comparisons")
            };
            let found = judged.detectable.map_or_else(String::new, found);
            format!("no evidence that {name} differs{times}{found}")
        }
        Verdict::CannotJudge => {
            let why = judged.why.as_deref().unwrap_or("there is no figure");
            format!("{name} cannot be judged{times}: {why}")
        }
    }
}

/// How many times as much: without end where work was lost on the one side alone.
fn times(ratio: f64) -> String {
    if ratio == f64::INFINITY { INFINITE.to_owned() } else { format!("{ratio:.3}") }
}

fn ratio_text(ratio: &Ratio) -> String {
    match ratio.interval {
        Some((low, high)) => {
            format!("{} ({} to {})", times(ratio.value), times(low), times(high))
        }
        None => times(ratio.value),
    }
}

/// A side in a line.
pub(super) fn side_line(index: usize, side: &SideReport) -> String {
    let role = if index == 0 { "baseline" } else { "side" };
    let lost = match side.runs_not_counted {
        0 => String::new(),
        n => format!(", {n} not counted"),
    };
    let findings: Vec<String> = side.findings.iter().map(|(id, n)| format!("{id} ({n})")).collect();
    let warned = match findings.is_empty() {
        true => String::new(),
        false => format!("; warnings: {}", findings.join(", ")),
    };
    format!("{role:<8}  {}: {}{lost}{warned}", side.name, count(side.runs.len() as u64, "run"))
}

/// What differs, each with whether it is an item of a list.
fn differences(report: &ComparisonReport) -> Vec<(bool, String)> {
    if report.differences.is_empty() {
        let words = "Plan, database, machine and build are the same on all sides.";
        return vec![(false, words.to_owned())];
    }
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    let told = |difference: &Difference| {
        let values: Vec<String> = difference.values.iter().map(value).collect();
        (true, format!("{}.{}: {}", difference.about, difference.name, values.join(" → ")))
    };
    let mut all: Vec<(bool, String)> =
        report.differences.iter().take(DIFFERENCES_SHOWN_MAX).map(told).collect();
    let rest = report.differences.len().saturating_sub(DIFFERENCES_SHOWN_MAX);
    if rest > 0 {
        all.push((
            false,
            format!("and {} more (--output json has all)", count(rest as u64, "difference")),
        ));
    }
    all
}

fn lines(differences: &[(bool, String)]) -> Vec<String> {
    let wrapped = |(is_item, text): &(bool, String)| {
        let (first, next) = if *is_item { ("differs   ", "          ") } else { ("", "") };
        let lines = wrap(text, WIDTH - first.len());
        let put = |(index, line): (usize, String)| {
            format!("{}{line}", if index == 0 { first } else { next })
        };
        lines.into_iter().enumerate().map(put).collect::<Vec<String>>()
    };
    differences.iter().flat_map(wrapped).collect()
}

/// A point's name on the page.
pub(super) fn point_name(values: &Named<String>) -> String {
    if values.is_empty() { ALL.to_owned() } else { values.pairs(" ") }
}

/// The judged figures of a pair; of a single point all of them.
pub(super) fn table(report: &ComparisonReport, pair: &PairReport) -> Table {
    let mut table = Table::new([
        Column::new("point", Align::Left),
        Column::new("figure", Align::Left),
        Column::new(short(&report.sides[0].name, "baseline"), Align::Right),
        Column::new(short(&pair.side, "side"), Align::Right),
        Column::new("ratio", Align::Left),
        Column::spare("p", Align::Right, 2),
        Column::spare("found from", Align::Right, 3),
        Column::new("verdict", Align::Left),
    ]);
    let is_one = pair.points.len() == 1;
    for point in &pair.points {
        for (index, judged) in std::iter::once(&point.primary).chain(&point.others).enumerate() {
            // Of many points the judged figure alone: the rest is in JSON and CSV.
            if index > 0 && !is_one {
                break;
            }
            table.row(row(&point_name(&point.values), judged));
        }
    }
    if let Some(judged) = &pair.overall {
        table.row(row(ALL, judged));
    }
    table
}

/// A side's name as a title, where it is not too long for one.
fn short(name: &str, otherwise: &'static str) -> Cow<'static, str> {
    match name.chars().count() > TITLE_MAX {
        true => otherwise.into(),
        false => name.to_owned().into(),
    }
}

/// A figure of a side against the baseline's.
pub(super) fn row(point: &str, judged: &Judged) -> [String; 8] {
    let mean = |figure: Option<Figure>| {
        figure.map_or_else(|| NONE.to_owned(), |figure| significant(figure.mean, 4))
    };
    let p = judged.p_corrected.map_or_else(|| NONE.to_owned(), |p| format!("{p:.3}"));
    let detectable = judged
        .detectable
        .map_or_else(|| NONE.to_owned(), |share| format!("{} %", significant(share * 100.0, 2)));
    [
        point.to_owned(),
        title(&judged.figure),
        mean(judged.baseline),
        mean(judged.side),
        judged.ratio.map_or_else(|| NONE.to_owned(), |ratio| ratio_text(&ratio)),
        p,
        detectable,
        judged.verdict.name().to_owned(),
    ]
}

/// What must be known of the figures, in sentences.
pub(super) fn caveats(report: &ComparisonReport, pair: &PairReport) -> Vec<String> {
    let mut said = Vec::new();
    let confidence = pair
        .points
        .iter()
        .filter_map(|point| point.primary.ratio?.confidence)
        .fold(f64::NAN, f64::min);
    if confidence.is_finite() {
        said.push(format!(
            "Ratios with {} % intervals; p corrected for all that is judged; a verdict takes \
             p < 0.05 and a ratio beyond {} %.",
            significant(confidence * 100.0, 3),
            exact(report.floor * 100.0)
        ));
        said.push(match pair.is_interleaved {
            true => "Runs of both took turns.".to_owned(),
            false => {
                "Runs of the two did not take turns: what drifted meanwhile (the machine, the \
                      data) counts as a difference. An experiment with both as values of an axis \
                      interleaves them."
                    .to_owned()
            }
        });
    }
    if !pair.points_unpaired.is_empty() {
        let names: Vec<String> = pair.points_unpaired.iter().map(point_name).collect();
        let n = count(names.len() as u64, "point");
        said.push(format!("{n} of one side alone left out: {}.", names.join(", ")));
    }
    let mut whys: Vec<&str> = Vec::new();
    for judged in pair.points.iter().map(|point| &point.primary) {
        let why = judged.why.as_deref().filter(|why| pair.points.len() > 1 && !whys.contains(why));
        whys.extend(why);
    }
    said.extend(whys.into_iter().map(|why| format!("Why: {why}.")));
    said
}

fn curve_line(side: &SideReport) -> Option<String> {
    let curve = side.curve.as_ref()?;
    let (figure, axis) = (title(&curve.figure), &curve.axis);
    Some(format!("{}: {figure} over {axis}: {}", side.name, in_words(curve)))
}

/// What a limit has met, in a line.
pub(super) fn gate_line(gate: &GateResult) -> String {
    let at = gate.at.join(", ");
    match gate.passed {
        Passed::Held => format!("holds: {} is not broken", gate.gate),
        Passed::Broken => format!("BROKEN: {} at {at}", gate.gate),
        Passed::Undecided => format!("undecided: {} at {at}", gate.gate),
    }
}
