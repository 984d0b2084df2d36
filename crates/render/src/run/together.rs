//! Lines on several runs of one setup together: errors, checks of the data and target. Not here:
//! the lines on a single run (short).

use analysis::report::{CountsReport, Report};
use model::numbers::count;

use super::short::counted;
use super::{checks, ran, why};

/// Number of parts of the time that the line on the median run names.
const PARTS_MOST: usize = 4;

/// Returns labelled lines on runs of one setup: errors summed over all, where the time of the
/// median run goes, checks of the data, and the target. Empty ones are left out.
pub(crate) fn together(runs: &[&Report], median: Option<&Report>) -> Vec<(&'static str, String)> {
    let mut sum = CountsReport::default();
    runs.iter().for_each(|run| sum += run.block.counts);
    let errors = match runs.len() {
        0 => String::new(),
        1 => counted(&sum).join(", "),
        n => format!("{}, summed over {}", counted(&sum).join(", "), count(n as u64, "run")),
    };
    let goes = median.and_then(|run| why::shortly(run, PARTS_MOST));
    let target = runs.first().map(|run| ran::target(run)).unwrap_or_default();
    let is_common = |part: &String| runs.iter().all(|run| ran::target(run).contains(part));
    let target = if target.iter().all(is_common) { target.join(", ") } else { String::new() };
    let lines = [
        ("errors", errors),
        ("time goes", goes.map(|words| format!("{words} (median run)")).unwrap_or_default()),
        ("data", checked(runs)),
        ("target", target),
    ];
    lines.into_iter().filter(|(_, words)| !words.is_empty()).collect()
}

/// Says in how many runs all checks of the data passed: `all checks passed in 6 of 6 runs`; empty
/// if nothing was checked.
fn checked(runs: &[&Report]) -> String {
    let known = runs.iter().filter_map(|run| checks::all_passed(run));
    let known: Vec<bool> = known.collect();
    let passed = known.iter().filter(|passed| **passed).count();
    match known.len() {
        0 => String::new(),
        n => format!("all checks passed in {passed} of {}", count(n as u64, "run")),
    }
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use analysis::report::CheckReport;

    use super::*;

    #[test]
    fn counts_are_summed_and_a_target_is_named_if_all_have_it() {
        let one = Report::from_tally(&Made::closed().tally());
        let mut other = one.clone();
        other.block.counts.failed += 3;
        other.block.counts.offered += 3;
        let check = |failed| CheckReport { failed, ..CheckReport::default() };
        other.checks.after = Some(vec![check(0), check(1)]);
        let lines = together(&[&one, &other], None);
        let counts = one.block.counts;
        let errors = format!("{} of {} failed", 2 * counts.failed + 3, 2 * counts.offered + 3);
        let line = |label: &str| &lines.iter().find(|line| line.0 == label).expect(label).1;
        let found = line("errors").replace(',', "");
        assert!(found.starts_with(&errors) && found.ends_with("summed over 2 runs"), "{found}");
        assert!(line("data").starts_with("all checks passed in 1 of 2"), "{lines:?}");
        assert!(line("target").starts_with(&one.target), "{lines:?}");
        other.target = "sqlite:other.db".to_owned();
        let lines = together(&[&one, &other], None);
        assert!(lines.iter().all(|(label, _)| *label != "target"), "{lines:?}");
    }
}
