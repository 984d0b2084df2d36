//! The page of a search: its answer, and its probes (runs) along the searched parameter.
//!
//! Not here: how probes are chosen and judged (study).

use model::numbers::{NONE, beside_bound, count, exact, ms, significant};
use model::{Bound, NS_PER_MS, Objective, short_axis};
use store::utc;
use study::seek::{Answer, CurvePoint, ProbeReport, SeekReport, Stage, Verdict as ProbeVerdict};

use super::charts::of_seek;
use super::document::{Block, Document, Place, Section, Sketch, Tone, Verdict};
use super::experiment::{again, time, too_few};
use super::scene::scene;
use super::wording::not_completed;
use super::{Align, Cell, Column, Table};

/// Returns the page of a search, which seeks the largest load that meets objectives such as
/// `p99<20ms`.
pub fn seek(report: &SeekReport) -> Document {
    let kind = format!("Search, started {} UTC", utc(report.started_unix_ms));
    let mut page = Document::new(kind, report.name.clone());
    let what = match short_axis(&report.seek.axis) {
        "clients" => "largest number of clients".to_owned(),
        axis => format!("highest {axis}"),
    };
    page.question = vec![format!("What is the {what} with {}?", objectives(report))];
    page.scene = report.scene.iter().map(scene).collect();
    page.verdicts = vec![verdict(report)];
    let few = too_few(report.probes.iter().map(|probe| &probe.samples_needed));
    let probes = vec![
        Block::Table(seek_probes(report)),
        Block::paragraphs(few),
        Block::paragraphs(broken(report)),
    ];
    page.section("probes", "Probes", probes);
    page.n_answering = 1;
    let mut curve = vec![Block::Charts(of_seek(report))];
    curve.extend(sketch(report).map(Block::Sketch));
    page.sections.push(Section {
        where_drawn: Place::First,
        ..Section::new("curve", "Probes over the axis", curve)
    });
    page.repeat = Some(again(&report.id, report.status, false));
    page
}

fn verdict(report: &SeekReport) -> Verdict {
    let tone = match (report.answer, report.confirmed) {
        (_, Some(false)) => Tone::Warning,
        (answer, Some(true)) if answer.recommended().is_some() && !is_sure(report) => Tone::Plain,
        (Answer::Found { .. } | Answer::Between { .. } | Answer::HighestMeets { .. }, _) => {
            Tone::Good
        }
        (Answer::LowestFails { .. }, _) => Tone::Bad,
        (Answer::Flat { .. } | Answer::TooShort { .. } | Answer::Unfinished, _) => Tone::Warning,
    };
    let n = count(report.probes.len() as u64, "probe");
    let how_far = not_completed(report.status).map(|word| format!("{word} after {n}; "));
    let how_far = how_far.unwrap_or_default();
    let headline = format!("{}: {how_far}{}", report.name, answer(report)).into();
    Verdict { tone, word: String::new(), headline, details: vec![explained(report).into()] }
}

/// Returns a line for each probe (run of the search) that counts as broken, with the reason.
fn broken(report: &SeekReport) -> Vec<String> {
    let broken = report.probes.iter().filter(|probe| probe.judged.is_broken);
    let printed = |probe: &ProbeReport| {
        let (at, why) = (value(report, probe.at), probe.judged.reasons.join("; "));
        format!("broken at {at}: {why}")
    };
    broken.map(printed).collect()
}

fn value(report: &SeekReport, at: f64) -> String {
    if report.seek.is_whole { exact(at) } else { significant(at, 4) }
}

/// Lists the objectives as the user wrote them, such as `p99<20ms`.
fn objectives(report: &SeekReport) -> String {
    let all: Vec<String> = report.seek.objectives.iter().map(ToString::to_string).collect();
    all.join(" and ")
}

/// Describes the answer of a search: `p99<20ms holds up to clients=40; the boundary is at 42 (40 to
/// 45)`.
fn answer(report: &SeekReport) -> String {
    let (axis, objectives) = (&report.seek.axis, objectives(report));
    let hold = if report.seek.objectives.len() > 1 { "hold" } else { "holds" };
    let number = |at: f64| value(report, at);
    let printed = match report.answer {
        Answer::Found { value, low, high } => {
            let (value, low, high) = (number(value), number(low), number(high));
            format!(
                "{objectives} {hold} up to {axis}={low}; the boundary is at {value} ({low} to \
                     {high})"
            )
        }
        Answer::Between { low, high } => {
            format!("{objectives} {hold} up to {axis}={}, broken at {}", number(low), number(high))
        }
        Answer::Flat { low, high } => format!(
            "undecided: from {axis}={} to {} the results are flat: differences between probes hide \
             any slope",
            number(low),
            number(high)
        ),
        Answer::TooShort { low, high } => format!(
            "undecided: from {axis}={} to {} requests depend on each other for too long: the \
             probes are too short",
            number(low),
            number(high)
        ),
        Answer::LowestFails { value } => format!(
            "the search has no answer: not even the lowest {axis}, {}, meets {objectives}",
            number(value)
        ),
        Answer::HighestMeets { value } => {
            format!("even the highest meets {objectives}: {axis}={}", number(value))
        }
        Answer::Unfinished => format!("no answer yet: {objectives} over {axis}"),
    };
    match report.confirmed {
        Some(false) => format!("{printed}; not confirmed"),
        _ => printed,
    }
}

/// Returns the probes (runs) that were made last to confirm the answer of a search, at the last
/// value of the searched parameter for which that was tried.
fn confirming(report: &SeekReport) -> Vec<&ProbeReport> {
    let fresh = || report.probes.iter().filter(|probe| probe.stage == Stage::Confirm);
    let last = fresh().next_back().map(|probe| probe.at);
    fresh().filter(|probe| Some(probe.at) == last).collect()
}

/// Returns how many of a search's confirming probes (runs), each taken alone, agree with the answer
/// beyond doubt.
fn n_sure(report: &SeekReport) -> usize {
    let expected = match report.answer {
        Answer::LowestFails { .. } => ProbeVerdict::Fails,
        _ => ProbeVerdict::Meets,
    };
    confirming(report).iter().filter(|probe| probe.verdict == expected).count()
}

/// Returns true if most of a search's confirming probes (runs), each taken alone, agree with the
/// answer, or if there are no such probes.
fn is_sure(report: &SeekReport) -> bool {
    let n = confirming(report).len();
    n == 0 || 2 * n_sure(report) > n
}

/// Describes how well the runs that were made to confirm the answer of a search agree with it.
fn confirmed(report: &SeekReport) -> String {
    let here = confirming(report);
    let place = match (report.answer, here.first()) {
        (Answer::Found { low, .. } | Answer::Between { low, .. }, None) => Some(low),
        (Answer::Found { .. } | Answer::Between { .. }, Some(first)) => Some(first.at),
        _ => None,
    };
    let place = place.map(|at| format!("{}={}", report.seek.axis, value(report, at)));
    if is_sure(report) {
        return format!("New probes confirm {}.", place.as_deref().unwrap_or("that"));
    }
    let at = place.map_or_else(String::new, |place| format!(" at {place}"));
    let (n_sure, objectives) = (n_sure(report), objectives(report));
    let verb = match (report.answer, n_sure) {
        (Answer::LowestFails { .. }, 1) => "fails",
        (Answer::LowestFails { .. }, _) => "fail",
        (_, 1) => "meets",
        _ => "meet",
    };
    format!(
        "New probes{at} agree within noise: taken alone, {n_sure} of {} {verb} {objectives} beyond \
         doubt.",
        here.len()
    )
}

/// Explains why the runs that were made to confirm the answer of a search did not confirm it, with
/// advice.
fn not_confirmed(report: &SeekReport) -> String {
    let here = confirming(report);
    let Some(last) = here.first().map(|probe| probe.at) else {
        return "It is not confirmed by new probes: seek again with a larger budget.".to_owned();
    };
    let at = format!("{}={}", report.seek.axis, value(report, last));
    let broken = here.iter().filter(|probe| probe.judged.is_broken).count() as u64;
    let worst = |probe: &ProbeReport| {
        probe.judged.beyond.iter().map(|beyond| beyond.ratio).reduce(f64::max)
    };
    let ratios: Vec<f64> = here.iter().filter_map(|probe| worst(probe)).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    let how = match broken {
        0 if ratios.is_empty() => "they fail".to_owned(),
        0 => format!(
            "they used {} of what the objective allows on average, which within the error may be \
             more than 100 %",
            percent(mean)
        ),
        _ => format!("{} broken", count(broken, "probe")),
    };
    format!("New probes at {at} do not confirm it: {how}. Seek again with a larger budget.")
}

fn percent(share: f64) -> String {
    format!("{} %", exact((share * 100.0).round()))
}

/// Describes how the answer of a search was found: number and length of probes (runs), confidence
/// interval, and whether new probes confirmed it.
fn explained(report: &SeekReport) -> String {
    let n = count(report.probes.len() as u64, "probe");
    let load_s: f64 = report.probes.iter().map(|probe| probe.measure_s).sum();
    let mut text = format!("{n}, {} measured", model::numbers::seconds(load_s));
    if let Answer::Found { .. } = report.answer {
        text.push_str(&format!("; {} interval", percent(report.confidence)));
    }
    let axis = &report.seek.axis;
    if let (Answer::Found { .. }, Some(steepness)) = (report.answer, report.steepness) {
        text.push_str(&format!(
            "; there, 1 % more {axis} brings {} % more violations of the objective",
            significant(steepness, 2)
        ));
    }
    text.push_str(&match (report.confirmed, report.answer) {
        (Some(true), _) => format!(". {}", confirmed(report)),
        (Some(false), _) => format!(". {}", not_confirmed(report)),
        (None, Answer::Flat { .. }) => {
            ". Seek again with a larger budget, or on a quieter machine.".to_owned()
        }
        (None, Answer::TooShort { .. }) => {
            ". Seek again with a larger budget (--seek-budget).".to_owned()
        }
        _ => ".".to_owned(),
    });
    text
}

/// Returns the table of a search's probes (runs), ordered by the value of the searched parameter.
pub fn seek_probes(report: &SeekReport) -> Table {
    let axis = report.seek.axis.clone();
    let figure = |key: &'static str, title: &'static str| Column::new(title, Align::Right).key(key);
    let errors = |probe: &ProbeReport| probe.figures.get("errors_percent").copied().flatten();
    let has_errors = report.probes.iter().filter_map(errors).any(|percent| percent > 0.0);
    let columns = vec![
        Column::new(axis.clone(), Align::Right).key(axis),
        Column::words("probe", "probe"),
        Column::words("verdict", "verdict"),
        figure("measured_s", "measured"),
        figure("tps", "TPS"),
        figure("p50_ms", "p50 ms"),
        figure("p95_ms", "p95 ms"),
        figure("p99_ms", "p99 ms"),
        figure("achieved_percent", "achieved %"),
        match has_errors {
            true => figure("errors_percent", "errors %"),
            false => Column::data("errors_percent"),
        },
    ];
    let mut sorted: Vec<&ProbeReport> = report.probes.iter().collect();
    sorted.sort_by(|a, b| a.at.total_cmp(&b.at));
    let row = |probe: &ProbeReport| {
        let figure = |name: &str| probe.figures.get(name).copied().flatten();
        let number = |name: &str| {
            let shown = figure(name).map(|value| significant(value, 4));
            Cell::said(shown.unwrap_or_else(|| NONE.to_owned()), figure(name))
        };
        // Rounding must not hide on which side of its bound a time is.
        let of_time = |name: &str| {
            let shown = match (figure(name), bound_ms(report, name)) {
                (Some(ms), Some(bound_ms)) => beside_bound(ms, bound_ms, 3),
                (ms, _) => time(ms, &probe.samples_needed, name),
            };
            Cell::said(shown, figure(name))
        };
        vec![
            Cell::said(value(report, probe.at), Some(probe.at)),
            probe.stage.name().into(),
            probe.verdict.name().into(),
            Cell::said(model::numbers::seconds(probe.measure_s), Some(probe.measure_s)),
            number("tps"),
            of_time("p50_ms"),
            of_time("p95_ms"),
            of_time("p99_ms"),
            number("achieved_percent"),
            number("errors_percent"),
        ]
    };
    Table::filled("probes", "", columns, sorted.into_iter().map(row).collect())
}

/// Returns the bound in milliseconds that an objective of the search sets for a time such as
/// `p99_ms`; `None` if there is none.
fn bound_ms(report: &SeekReport, name: &str) -> Option<f64> {
    let is_of = |objective: &&Objective| name.strip_suffix("_ms") == Some(objective.metric.name());
    match report.seek.objectives.iter().find(is_of)?.bound {
        Bound::Time(ns) => Some(ns as f64 / NS_PER_MS as f64),
        Bound::Share(_) | Bound::Written(_) => None,
    }
}

/// Returns a one-line curve of p99 over the searched parameter; `None` if p99 is known at fewer
/// than two values.
fn sketch(report: &SeekReport) -> Option<Sketch> {
    let known = |point: &CurvePoint| Some((point.at, point.figures.get("p99_ms").copied()??));
    let points: Vec<(f64, f64)> = report.curve.iter().filter_map(known).collect();
    let [first, .., last] = &points[..] else { return None };
    let title = format!(
        "p99 over {}: {} ms at {} to {} ms at {}",
        report.seek.axis,
        ms(Some(first.1)),
        value(report, first.0),
        ms(Some(last.1)),
        value(report, last.0)
    );
    let values = points.iter().map(|(_, p99)| *p99).collect();
    Some(Sketch { title, values, marks: Vec::new() })
}

#[cfg(test)]
mod tests {
    use analysis::report::Named;
    use study::seek::{CONFIDENCE, Judged, METHOD, SCHEMA, Verdict};

    use super::*;
    use crate::terminal::{Style, text};

    #[test]
    fn a_search_asks_for_the_highest_value_that_meets_its_objectives() {
        let mut report = probed(19.0);
        let asked = |report: &SeekReport| seek(report).question.join(" ");
        assert_eq!(asked(&report), "What is the highest rate with p99<20ms?");
        report.seek.axis = "clients".to_owned();
        assert_eq!(asked(&report), "What is the largest number of clients with p99<20ms?");
    }

    /// Returns the report of a search with one probe (run) that has this p99.
    fn probed(p99_ms: f64) -> SeekReport {
        let judged = Judged::new(Verdict::Meets, Vec::new());
        let probe = ProbeReport {
            at: 340.0,
            measure_s: 33.0,
            stage: Stage::Refine,
            run: "run".to_owned(),
            verdict: Verdict::Meets,
            judged,
            figures: Named(vec![("p99_ms".to_owned(), Some(p99_ms))]),
            reasons: Named::default(),
            samples_needed: Named::default(),
        };
        let seek = model::Seek {
            axis: "rate".to_owned(),
            low: 50.0,
            high: 1000.0,
            is_whole: false,
            objectives: vec!["p99<20ms".parse().expect("an objective")],
            budget_ns: 600 * model::NS_PER_S,
            method: METHOD,
        };
        SeekReport {
            schema: SCHEMA.to_owned(),
            id: "id".to_owned(),
            name: "name".to_owned(),
            started_unix_ms: 0,
            status: None,
            seek,
            answer: Answer::Unfinished,
            scene: None,
            confidence: CONFIDENCE,
            recommended: None,
            confirmed: None,
            residual: None,
            elasticity: None,
            noise: None,
            steepness: None,
            probes: vec![probe],
            curve: Vec::new(),
        }
    }

    #[test]
    fn probes_confirm_only_where_most_of_them_are_sure() {
        let page = |verdicts: [Verdict; 3]| {
            let mut report = probed(19.0);
            let fresh = verdicts.map(|verdict| ProbeReport {
                at: 517.06,
                stage: Stage::Confirm,
                verdict,
                ..report.probes[0].clone()
            });
            report.probes.extend(fresh);
            report.answer = Answer::Found { value: 633.5, low: 517.06, high: 669.2 };
            (report.recommended, report.confirmed) = (Some(517.06), Some(true));
            let page = seek(&report);
            let text = text(&page, &Style::default());
            (page.verdicts[0].tone, text.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let (tone, sure) = page([Verdict::Meets, Verdict::Meets, Verdict::Undecided]);
        assert!(sure.contains("New probes confirm rate=517.1."), "{sure}");
        assert_eq!(tone, Tone::Good);
        let (tone, noisy) = page([Verdict::Undecided, Verdict::Meets, Verdict::Undecided]);
        let words = "New probes at rate=517.1 agree within noise: taken alone, 1 of 3 meets";
        assert!(noisy.contains(words) && !noisy.contains("confirm rate"), "{noisy}");
        assert_eq!(tone, Tone::Plain);
    }

    #[test]
    fn errors_have_a_column_where_there_are_some() {
        let page = |percent: f64| {
            let mut report = probed(19.0);
            for probe in &mut report.probes {
                probe.figures.0.retain(|(name, _)| name != "errors_percent");
                probe.figures.push("errors_percent", Some(percent));
            }
            text(&seek(&report), &Style::default())
        };
        assert!(page(0.5).contains("errors %") && !page(0.0).contains("errors %"));
    }

    #[test]
    fn a_probe_that_meets_its_objective_is_not_shown_at_the_bound() {
        let page = |p99_ms: f64| text(&seek(&probed(p99_ms)), &Style::default());
        assert!(page(19.97).contains(" 19.97 ") && page(20.0).contains(" 20.0 "));
        assert!(page(17.031).contains(" 17.0 "), "{}", page(17.031));
    }
}
