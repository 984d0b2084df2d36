//! Validity of an experiment: warnings and notes of its runs, and points at which no trial counts.
//!
//! Not here: its figures, and what they show (experiment).

use analysis::report::Named;
use model::Severity;
use model::finding_catalog::{catalog_entry, in_short, label};
use model::numbers::{capital, count};
use study::experiment::{ExperimentReport, PointReport};
use study::{highest, in_ranges};

use super::{ALSO_MOST, early_end};
use crate::axis_names::told;
use crate::document::{Remark, Validity};
use crate::first_page::first_sentence;
use crate::run_notes::{Runs, run_notes};
use crate::wording::{catalog_place, example, left_out, without_stop};

/// Returns the validity of an experiment: its own findings, damaged reports, and warnings of its
/// runs. `None` if there are none.
pub(super) fn validity(report: &ExperimentReport) -> Option<Validity> {
    let texts = left_out(&report.damaged).into_iter().chain(findings(report));
    let warnings = texts.map(|text| Remark::new(Severity::Warning, text));
    let word = early_end(report).map_or_else(|| "Valid".to_owned(), capital);
    let notes = notes(report).into_iter().map(|text| Remark::new(Severity::Note, text));
    let own = report.findings.iter().map(Remark::from_finding);
    let mut validity = Validity::with_word(&word, own.chain(warnings).chain(notes).collect());
    if let Some(failed) = failed(report) {
        let others = validity.as_ref().map_or_else(
            || "the others are valid".to_owned(),
            |validity| format!("the others: {}", lower_case(without_stop(&validity.answer))),
        );
        let others = match report.points.iter().all(|point| point.runs.is_empty()) {
            true => String::new(),
            false => format!("; {others}"),
        };
        let validity =
            validity.get_or_insert_with(|| Validity { answer: String::new(), remarks: Vec::new() });
        validity.answer = format!("NOT VALID at {failed}{others}.");
        let whys = report.points.iter().filter(|point| has_failed(point)).map(|point| {
            let name = told(&report.axes, &point.values).pairs(" ");
            let at = if name.is_empty() { String::new() } else { format!(" at {name}") };
            let attempts = count(point.runs_not_counted, "attempt");
            let why = point.why_none_counts.as_deref().unwrap_or("the reason is not known");
            Remark::new(Severity::Invalid, format!("None of {attempts}{at} counts: {why}"))
        });
        validity.remarks.splice(0..0, whys);
    }
    validity
}

/// Returns a sentence with a small first letter.
fn lower_case(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Returns true if trials were made at the point, and none of them counts although none ended
/// because a queue was full, which is an answer, and not all were interrupted.
fn has_failed(point: &PointReport) -> bool {
    point.why_none_counts.is_some() && !point.is_queue_full
}

/// Names the points at which no trial counts: `clients=8, clients=16`. `None` if there are none.
pub(super) fn failed(report: &ExperimentReport) -> Option<String> {
    let all: Vec<&PointReport> = report.points.iter().filter(|point| has_failed(point)).collect();
    let name = |point: &&PointReport| match told(&report.axes, &point.values).pairs(" ") {
        name if name.is_empty() => "every trial".to_owned(),
        name => name,
    };
    match all.len() {
        0 => None,
        1..=ALSO_MOST => Some(all.iter().map(name).collect::<Vec<_>>().join(", ")),
        n => Some(format!("{n} of {}", count(report.points.len() as u64, "point"))),
    }
}

/// Returns the notes of the valid runs, each once with the points that have it.
fn notes(report: &ExperimentReport) -> Vec<String> {
    let names: Vec<String> =
        report.points.iter().map(|point| told(&report.axes, &point.values).pairs(" ")).collect();
    let measured = report.points.iter().zip(&names).filter(|(point, _)| !point.runs.is_empty());
    let runs = measured.map(|(point, name)| Runs {
        name,
        n_runs: point.runs.len() as u64,
        notes: &point.notes,
    });
    run_notes(&runs.collect::<Vec<_>>())
}

/// Returns a sentence for each kind of finding in the runs: number of runs, ranges of its numbers
/// (or one example), and advice.
fn findings(report: &ExperimentReport) -> Vec<String> {
    let mut all = Named::default();
    let of_points = report.points.iter().flat_map(|point| point.findings.iter());
    of_points.for_each(|(id, n)| all.count(id, *n));
    let n_runs = report.points.iter().map(|point| point.runs.len() as u64).sum();
    let runs = count(n_runs, "run");
    let advised = |(id, n): (&str, &u64)| {
        let advice = catalog_entry(id).map_or("", |entry| first_sentence(entry.advice));
        format!("{} {advice}", printed(report, (id, n), &runs)).trim_end().to_owned()
    };
    all.0.sort_by_key(|(id, _)| catalog_place(id));
    all.iter().map(advised).collect()
}

/// Describes the finding `id`, which `n` runs of an experiment have, with its text: `2 of 9 runs:
/// the machine was noisy (noisy machine).` `runs` is the number of all, in words.
fn printed(report: &ExperimentReport, (id, n): (&str, &u64), runs: &str) -> String {
    let cases = report.points.iter().filter_map(|point| point.cases.get(id));
    let case = highest(cases.map(String::as_str));
    let with_it = report.points.iter().filter(|point| point.findings.get(id).is_some());
    let ranges: Option<Vec<&str>> =
        with_it.map(|point| point.case_ranges.get(id).map(String::as_str)).collect();
    let name = label(id);
    match (ranges.and_then(in_ranges), case) {
        (Some(ranges), _) => format!("{n} of {runs}: {} ({name}).", without_stop(&ranges)),
        (None, Some(case)) if *n > 1 => {
            format!("{n} of {runs}, {}: {} ({name}).", example(case), without_stop(case))
        }
        (None, Some(case)) => format!("{n} of {runs}: {} ({name}).", without_stop(case)),
        (None, None) => format!("{n} of {runs}: {}.", in_short(id)),
    }
}
