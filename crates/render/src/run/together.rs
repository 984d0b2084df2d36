//! Lines on several runs of one setup together: errors, checks of the data and target. Not here:
//! the lines on a single run (short).

use analysis::report::{CountsReport, Report};
use model::numbers::{self, count};

use super::transactions::outcomes;
use super::{checks, ran, why};

/// Number of parts of the time that the line on the median run names.
const PARTS_MOST: usize = 4;

/// Returns labelled lines on runs of one setup: what limited throughput, errors summed over all,
/// where the time of the median run goes, checks of the data, and the target, or of repeats of one
/// point the setup. Empty ones are left out. `n_not_counted` is the number of further runs, which
/// do not count.
pub(crate) fn together(
    runs: &[&Report],
    n_not_counted: usize,
    median: Option<&Report>,
) -> Vec<(&'static str, String)> {
    let mut sum = CountsReport::default();
    runs.iter().for_each(|run| sum += run.block.counts);
    let errors = match runs.len() {
        0 => String::new(),
        1 => outcomes(&sum).join(", "),
        n => format!("{}, summed over {}", outcomes(&sum).join(", "), count(n as u64, "run")),
    };
    let errors = match n_not_counted {
        _ if errors.is_empty() => errors,
        0 => errors,
        n => format!("{errors}; without {} that does not count", count(n as u64, "attempt"))
            .replace("attempts that does", "attempts that do"),
    };
    let goes = median.and_then(|run| why::shortly(run, PARTS_MOST));
    let of_one = median.is_some();
    let setup = |run: &&Report| if of_one { setup(run) } else { ran::target(run) };
    let common = runs.first().map(setup).unwrap_or_default();
    let is_common = |part: &String| runs.iter().all(|run| setup(run).contains(part));
    let common = if common.iter().all(is_common) { common.join(", ") } else { String::new() };
    let lines = [
        ("limited by", limited(runs, median)),
        ("errors", errors),
        ("time goes", goes.map(|words| format!("{words} (median run)")).unwrap_or_default()),
        ("data", checked(runs)),
        (if of_one { "setup" } else { "target" }, common),
    ];
    lines.into_iter().filter(|(_, words)| !words.is_empty()).collect()
}

/// Returns the parts of a run's setup that its repeats have in common: target, modes, size of the
/// data, ramp-up.
fn setup(run: &Report) -> Vec<String> {
    let mut parts = ran::target(run);
    parts.extend(run.fact("data", "size").map(ToString::to_string));
    parts.push(format!("{} ramp-up", numbers::seconds(run.phases.ramp_up_s)));
    parts
}

/// Says what limited throughput, with the evidence of the median run or else of the first that has
/// it, and in how many of the runs it was the same resource; empty if nothing is known.
fn limited(runs: &[&Report], median: Option<&Report>) -> String {
    let known = || runs.iter().filter_map(|run| run.limited_by.as_ref());
    let shown = median.and_then(|run| run.limited_by.as_ref()).or_else(|| known().next());
    let Some(shown) = shown else { return String::new() };
    let n_same = known().filter(|other| other.limit == shown.limit).count();
    let of_all = format!("in {n_same} of {}", count(runs.len() as u64, "run"));
    if runs.len() == 1 { shown.text.clone() } else { format!("{}; {of_all}", shown.text) }
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
    use analysis::report::{CheckReport, Limit, LimitedBy};

    use super::*;

    #[test]
    fn counts_are_summed_and_a_target_is_named_if_all_have_it() {
        let one = Report::from_tally(&Made::closed().tally());
        let mut other = one.clone();
        other.block.counts.failed += 3;
        other.block.counts.offered += 3;
        let check = |failed| CheckReport { failed, ..CheckReport::default() };
        other.checks.after = Some(vec![check(0), check(1)]);
        let lines = together(&[&one, &other], 0, None);
        let of_one = together(&[&one, &other], 0, Some(&one));
        let (label, setup) = of_one.last().expect("it has a setup");
        assert!(*label == "setup" && setup.ends_with("s ramp-up"), "{label}: {setup}");
        let counts = one.block.counts;
        let errors = format!("{} of {} failed", 2 * counts.failed + 3, 2 * counts.offered + 3);
        assert!(lines.iter().all(|(label, _)| *label != "limited by"), "{lines:?}");
        let line = |label: &str| &lines.iter().find(|line| line.0 == label).expect(label).1;
        let found = line("errors").replace(',', "");
        assert!(found.starts_with(&errors) && found.ends_with("summed over 2 runs"), "{found}");
        assert!(line("data").starts_with("all checks passed in 1 of 2"), "{lines:?}");
        assert!(line("target").starts_with(&one.target), "{lines:?}");
        let limited_by = |limit, text: &str| Some(LimitedBy { limit, text: text.to_owned() });
        let mut limited = one.clone();
        limited.limited_by = limited_by(Limit::Cpu, "CPU of this machine, 99 % busy");
        other.limited_by = limited_by(Limit::Disk, "disk sda, 97 % busy");
        let lines = together(&[&one, &limited, &other], 0, Some(&limited));
        let line = lines.iter().find(|line| line.0 == "limited by").expect("it is known");
        assert_eq!(line.1, "CPU of this machine, 99 % busy; in 1 of 3 runs");
        other.target = "sqlite:other.db".to_owned();
        let lines = together(&[&one, &other], 0, None);
        assert!(lines.iter().all(|(label, _)| *label != "target"), "{lines:?}");
    }
}
