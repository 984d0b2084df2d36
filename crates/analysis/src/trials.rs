//! Which runs of an experiment count, and why not.
//!
//! Not here: their figures (figures), and what they show together (experiment).

use model::Finding;
use model::finding_catalog::in_short;

use crate::figures::{Figure, figure, value_of};
use crate::ranges::in_ranges;
use crate::report::{Named, Report, Status};

/// A trial that has a report.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// Which point.
    pub point: u32,
    /// Which of its trials.
    pub repeat: u32,
    /// What was measured.
    pub report: Report,
}

/// Whether a trial counts.
pub fn counts(report: &Report) -> bool {
    let is_invalid = |finding: &model::Finding| finding.severity == model::Severity::Invalid;
    report.status == Status::Completed && !report.findings.iter().any(is_invalid)
}

/// Whether a trial that does not count would end in the same way again: the plan lets a full queue
/// end it.
pub fn is_settled(report: &Report) -> bool {
    report.status == Status::QueueFull
}

/// What was found that keeps a trial from counting: what ended it first, since the rest may only
/// follow from it.
fn against(report: &Report) -> impl Iterator<Item = &Finding> {
    let ended_it = |finding: &&Finding| finding.id == report.status.name();
    let others = move |of: &&Finding| of.severity == model::Severity::Invalid && !ended_it(of);
    let findings = || report.findings.iter();
    findings().filter(ended_it).chain(findings().filter(others))
}

/// Why a trial does not count, in the words of what was found.
pub fn why_not(report: &Report) -> String {
    let shown: Vec<&str> = against(report).map(|finding| finding.text.as_str()).collect();
    match shown.is_empty() {
        true => format!("it is {}", report.status.name()),
        false => shown.join(" "),
    }
}

/// The same in a few words that are the same for all runs of the kind.
pub fn why_not_in_short(report: &Report) -> String {
    match against(report).next() {
        Some(finding) => in_short(&finding.id),
        None => format!("it is {}", report.status.name()),
    }
}

/// Findings of at least a warning, by id, and in how many of the runs.
pub(crate) fn warnings<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<u64> {
    let mut found = Named::default();
    warned(reports).for_each(|finding| found.count(&finding.id, 1));
    found
}

/// A figure of a point over its runs that count and have it.
pub fn figure_at(trials: &[TrialReport], point: u32, name: &str) -> Option<Figure> {
    let here = trials.iter().filter(|trial| trial.point == point && counts(&trial.report));
    let values: Vec<f64> = here.filter_map(|trial| value_of(&trial.report, name)).collect();
    figure(&values)
}

/// What was observed in the first run with each of these findings, where it is distinguished from
/// the advice.
pub(crate) fn cases<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<String> {
    let mut found = Named::default();
    for finding in warned(reports) {
        if let (None, Some(observed)) = (found.get(&finding.id), &finding.observed) {
            found.push(&finding.id, observed.clone());
        }
    }
    found
}

/// The same over all of the runs, each number as a range; nothing where their words differ.
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
        let mut report = crate::fixtures::subjects::closed();
        report.status = Status::QueueFull;
        let short = Finding::new("too_short", Severity::Invalid, "Only 0.5 s were measured.");
        let full = Finding::new("queue_full", Severity::Warning, "The queue was full.");
        report.findings = vec![short, full];
        let why = why_not_in_short(&report);
        assert!(why.starts_with("a full queue stopped the run"), "{why}");
        assert_eq!(why_not(&report), "The queue was full. Only 0.5 s were measured.");
        report.status = Status::Completed;
        assert!(why_not_in_short(&report).ends_with("(too_short)"));
    }
}
