//! Validity of an experiment's trials: which of them count, and why the others do not.
//!
//! Not here: their figures (analysis), and what they show together (experiment).

use analysis::figures::{Figure, figure, value_of};
use analysis::report::{Named, Report, Status};
use model::Finding;
use model::finding_catalog::in_short;
use serde::{Deserialize, Serialize};

use crate::ranges::{highest, in_ranges};

/// A trial of an experiment that has ended, with the report of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// Index of the trial's point among the points of the experiment, from 0.
    pub point: u32,
    /// Index of the repeat at this point, from 0.
    pub repeat: u32,
    pub report: Report,
}

/// Returns true if a run counts as valid: it has completed, and no finding makes it invalid.
pub fn counts(report: &Report) -> bool {
    let is_invalid = |finding: &model::Finding| finding.severity == model::Severity::Invalid;
    report.status == Status::Completed && !report.findings.iter().any(is_invalid)
}

/// Returns true if a run ended because its queue was full and the plan says to stop then. A repeat
/// of such a run would end in the same way.
pub fn is_settled(report: &Report) -> bool {
    report.status == Status::QueueFull
}

/// Returns the findings that make a run invalid. The finding that ended the run comes first, since
/// the others may follow from it.
fn against(report: &Report) -> impl Iterator<Item = &Finding> {
    let ended_it = |finding: &&Finding| finding.id == report.status.name();
    let others = move |finding: &&Finding| {
        finding.severity == model::Severity::Invalid && !ended_it(finding)
    };
    let findings = || report.findings.iter();
    findings().filter(ended_it).chain(findings().filter(others))
}

/// Returns the reasons why a run is invalid, as a text from its findings.
pub fn why_not(report: &Report) -> String {
    let shown: Vec<&str> = against(report).map(|finding| finding.text.as_str()).collect();
    match shown.is_empty() {
        true => format!("it is {}", report.status.name()),
        false => shown.join(" "),
    }
}

/// Returns the main reason why a run is invalid, as the text of its finding; what follows from it
/// is left out.
pub(crate) fn why_not_mainly(report: &Report) -> String {
    let first = against(report).next().map(|finding| finding.text.clone());
    first.unwrap_or_else(|| format!("it is {}", report.status.name()))
}

/// Returns the main reason why a run is invalid, as its finding observed it, without advice.
pub fn why_not_as_observed(report: &Report) -> String {
    let observed = |finding: &Finding| finding.observed.clone().unwrap_or(finding.text.clone());
    let first = against(report).next().map(observed);
    first.unwrap_or_else(|| format!("it is {}", report.status.name()))
}

/// Returns the main reason why a run is invalid, in few words without figures, such as
/// `overloaded`, so that equal reasons can be counted.
pub fn why_not_in_short(report: &Report) -> String {
    match against(report).next() {
        Some(finding) => in_short(&finding.id),
        None => format!("it is {}", report.status.name()),
    }
}

/// Counts the runs with each finding of severity warning or invalid, by the id of the finding.
pub(crate) fn warnings<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<u64> {
    let mut found = Named::default();
    warned(reports).for_each(|finding| found.count(&finding.id, 1));
    found
}

/// Returns the mean of a figure, with its error, over the valid runs at a point (combination of
/// varied parameters) of an experiment; `None` if none of them has the figure.
pub fn figure_at(trials: &[TrialReport], point: u32, name: &str) -> Option<Figure> {
    let here = trials.iter().filter(|trial| trial.point == point && counts(&trial.report));
    let values: Vec<f64> = here.filter_map(|trial| value_of(&trial.report, name)).collect();
    figure(&values)
}

/// Returns the observed text of each finding of severity warning or invalid, by the id of the
/// finding: of the most severe runs, the text with the highest number ([`highest`]). Findings that
/// were stored without such a text are left out.
pub(crate) fn cases<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<String> {
    let mut found: Named<Vec<&Finding>> = Named::default();
    for finding in warned(reports).filter(|finding| finding.observed.is_some()) {
        match found.0.iter_mut().find(|(id, _)| *id == finding.id) {
            Some((_, all)) => all.push(finding),
            None => found.push(&finding.id, vec![finding]),
        }
    }
    let case = |(id, all): (String, Vec<&Finding>)| {
        let worst = all.iter().map(|finding| finding.severity).max()?;
        let of_worst = all.iter().filter(|finding| finding.severity == worst);
        let text = highest(of_worst.filter_map(|finding| finding.observed.as_deref()))?;
        Some((id, text.to_owned()))
    };
    Named(found.0.into_iter().filter_map(case).collect())
}

/// Merges the observed texts of each finding of severity warning or invalid over all runs, with a
/// range for each number, by the id of the finding. Findings whose texts differ in more than
/// numbers are left out.
pub(crate) fn case_ranges<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<String> {
    let mut found: Named<Vec<&str>> = Named::default();
    for finding in warned(reports) {
        let Some(observed) = finding.observed.as_deref() else { continue };
        match found.0.iter_mut().find(|(id, _)| *id == finding.id) {
            Some((_, all)) => all.push(observed),
            None => found.push(&finding.id, vec![observed]),
        }
    }
    let merged = |(id, all): (String, Vec<&str>)| Some((id, in_ranges(all)?));
    Named(found.0.into_iter().filter_map(merged).collect())
}

/// A note on runs, such as that generator and server share one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunNote {
    /// Number of valid runs with the note.
    pub runs: u64,
    /// Text of the note, with a range for each number that differs between runs.
    pub text: String,
}

/// Returns the findings of severity note of several runs by the id of the finding, without that on
/// an interruption, which the first lines report.
pub(crate) fn notes<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<RunNote> {
    let is_note = |finding: &&Finding| {
        finding.severity == model::Severity::Note && finding.id != Status::Interrupted.name()
    };
    let mut found: Named<Vec<&str>> = Named::default();
    for finding in reports.flat_map(|report| &report.findings).filter(is_note) {
        let text = finding.observed.as_deref().unwrap_or(&finding.text);
        match found.0.iter_mut().find(|(id, _)| *id == finding.id) {
            Some((_, all)) => all.push(text),
            None => found.push(&finding.id, vec![text]),
        }
    }
    let note = |(id, all): (String, Vec<&str>)| {
        let runs = all.len() as u64;
        let text = in_ranges(all.iter().copied()).or_else(|| Some(highest(all)?.to_owned()))?;
        Some((id, RunNote { runs, text }))
    };
    Named(found.0.into_iter().filter_map(note).collect())
}

fn warned<'r>(reports: impl Iterator<Item = &'r Report>) -> impl Iterator<Item = &'r Finding> {
    let all = reports.flat_map(|report| &report.findings);
    all.filter(|finding| finding.severity != model::Severity::Note)
}

#[cfg(test)]
mod tests {
    use model::Severity;

    use super::*;

    #[test]
    fn what_ended_a_trial_is_its_reason_before_what_follows_from_it() {
        let mut report = analysis::fixtures::subjects::closed();
        report.status = Status::QueueFull;
        let short = Finding::new("too_short", Severity::Invalid, "Only 0.5 s were measured.");
        let full = Finding::new("queue_full", Severity::Warning, "The queue was full.");
        report.findings = vec![short, full];
        let why = why_not_in_short(&report);
        assert!(why.starts_with("a full queue stopped the run"), "{why}");
        assert_eq!(why_not(&report), "The queue was full. Only 0.5 s were measured.");
        report.status = Status::Completed;
        assert!(why_not_in_short(&report).ends_with("(too short)"));
    }
}
