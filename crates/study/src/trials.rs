//! Which runs of an experiment count, and why not.
//!
//! Not here: their figures (analysis), and what they show together (experiment).

use analysis::figures::{Figure, figure, value_of};
use analysis::report::{Named, Report, Status};
use model::Finding;
use model::finding_catalog::in_short;

use crate::ranges::in_ranges;

/// A trial that has a report.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// Index of the point.
    pub point: u32,
    /// Index of the repeat at the point.
    pub repeat: u32,
    pub report: Report,
}

/// Returns true if a trial is valid.
pub fn counts(report: &Report) -> bool {
    let is_invalid = |finding: &model::Finding| finding.severity == model::Severity::Invalid;
    report.status == Status::Completed && !report.findings.iter().any(is_invalid)
}

/// Returns true if another trial would end in the same way: the plan lets a full queue end it.
pub fn is_settled(report: &Report) -> bool {
    report.status == Status::QueueFull
}

/// Returns the findings that make a trial invalid, with the one that ended it first, since the
/// others may follow from it.
fn against(report: &Report) -> impl Iterator<Item = &Finding> {
    let ended_it = |finding: &&Finding| finding.id == report.status.name();
    let others = move |of: &&Finding| of.severity == model::Severity::Invalid && !ended_it(of);
    let findings = || report.findings.iter();
    findings().filter(ended_it).chain(findings().filter(others))
}

/// Says why a trial is not valid, in the words of its findings.
pub fn why_not(report: &Report) -> String {
    let shown: Vec<&str> = against(report).map(|finding| finding.text.as_str()).collect();
    match shown.is_empty() {
        true => format!("it is {}", report.status.name()),
        false => shown.join(" "),
    }
}

/// Says the same in a few words, which are equal for all runs of the kind.
pub fn why_not_in_short(report: &Report) -> String {
    match against(report).next() {
        Some(finding) => in_short(&finding.id),
        None => format!("it is {}", report.status.name()),
    }
}

/// Returns the findings with at least a warning, by id, and the number of runs with each.
pub(crate) fn warnings<'r>(reports: impl Iterator<Item = &'r Report>) -> Named<u64> {
    let mut found = Named::default();
    warned(reports).for_each(|finding| found.count(&finding.id, 1));
    found
}

/// Returns a figure of a point over its valid runs that have it.
pub fn figure_at(trials: &[TrialReport], point: u32, name: &str) -> Option<Figure> {
    let here = trials.iter().filter(|trial| trial.point == point && counts(&trial.report));
    let values: Vec<f64> = here.filter_map(|trial| value_of(&trial.report, name)).collect();
    figure(&values)
}

/// Returns the observation in the first run with each of these findings, if it is stored apart from
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

/// Returns the observations over all of the runs, with a range for each number; without those whose
/// words differ.
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
        let mut report = analysis::fixtures::subjects::closed();
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
