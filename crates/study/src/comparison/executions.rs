//! Times of single transactions of fixed sequences, such as the queries of an analytic test, on
//! both sides of a comparison: which of them changed.
//!
//! The p-values of all transactions are corrected together (Hommel), apart from those of figures.
//! Not here: figures of the whole sequence, which are judged as any other (verdicts).

use std::collections::BTreeSet;

use analysis::report::Report;
use serde::{Deserialize, Serialize};
use stats::{Comparison, hommel};

use super::{SidePoint, matters};
use crate::execution_times::{mean, mean_s, n_failed, names};

/// Confidence of the interval of each ratio.
const CONFIDENCE: f64 = 0.95;
/// Error rate over all transactions: the largest probability that any is said to have changed, if
/// none did.
const ERROR_RATE: f64 = 0.05;

/// Time of a transaction of a fixed sequence, for the baseline and for the compared side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionChange {
    /// Name of the transaction type, such as `q9`.
    pub transaction: String,
    /// Geometric mean of the time over the baseline's runs, in seconds; null if it finished in
    /// none.
    pub baseline_s: Option<f64>,
    /// Geometric mean of the time over the compared side's runs, in seconds; null if it finished in
    /// none.
    pub side_s: Option<f64>,
    /// `side_s` divided by `baseline_s`; null without both.
    pub ratio: Option<f64>,
    /// The 95 % confidence interval of this ratio alone, from the variation between runs; null if
    /// there are too few runs.
    pub interval: Option<(f64, f64)>,
    /// p-value, corrected for the number of transactions; null without an interval.
    pub p: Option<f64>,
    /// True if the corrected p-value is below 5 %, and the change is at least the minimum effect.
    pub is_change: bool,
    /// True if the optimizer chose plans on one side that it did not choose on the other; null if
    /// the plans of a side are not known, or the sides have different databases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_changed: Option<bool>,
    /// If the plan changed: the lines of the first differing plans, each after `- ` if only the
    /// baseline has it, after `+ ` if only the side has it, and else after two blanks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan_difference: Vec<String>,
    /// Number of executions that failed, in runs of the baseline and of the side.
    pub failed: (u64, u64),
}

/// Compares the times of each transaction of a sequence at the points (combinations of varied
/// parameters) that both sides have; empty if the runs execute no sequence.
pub(super) fn executions(
    both: &[(&SidePoint, &SidePoint)],
    min_effect: f64,
) -> Vec<ExecutionChange> {
    let reports = both.iter().flat_map(|(base, side)| base.reports.iter().chain(&side.reports));
    let names = names(reports);
    let mut all: Vec<ExecutionChange> = names.iter().map(|name| change(name, both)).collect();
    let p_values: Vec<f64> = all.iter().filter_map(|one| one.p).collect();
    let mut corrected = hommel(&p_values).into_iter();
    for one in &mut all {
        one.p = one.p.and_then(|_| corrected.next());
        let is_far = one.ratio.is_some_and(|ratio| matters(ratio, min_effect));
        one.is_change = is_far && one.p.is_some_and(|p| p < ERROR_RATE);
    }
    all
}

/// Returns the time of a transaction on both sides, with a p-value that is not corrected yet.
fn change(name: &str, both: &[(&SidePoint, &SidePoint)]) -> ExecutionChange {
    let times = |point: &SidePoint| -> Vec<f64> {
        point.reports.iter().filter_map(|report| mean_s(report, name)).collect()
    };
    let of_points: Vec<[Vec<f64>; 2]> =
        both.iter().map(|(base, side)| [times(base), times(side)]).collect();
    let geometric = |which: usize| {
        let times = of_points.iter().flat_map(|point| &point[which]);
        mean(times.map(|time| time.ln())).map(f64::exp)
    };
    // Relative to the baseline at its point, so that differences between points add no scatter.
    let logs = |which: usize| -> Vec<f64> {
        let of_point = |point: &[Vec<f64>; 2]| {
            let usual = mean(point[0].iter().map(|time| time.ln()));
            let shift = move |time: &f64| usual.map(|usual| time.ln() - usual);
            point[which].iter().filter_map(shift).collect::<Vec<f64>>()
        };
        of_points.iter().flat_map(of_point).collect()
    };
    let [base, side] = [logs(0), logs(1)];
    let compared = Comparison::new(&base, &side, CONFIDENCE).ok();
    let interval = compared.as_ref().map(|found| (found.interval.0.exp(), found.interval.1.exp()));
    let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
    let failed = |point: &SidePoint| -> u64 {
        point.reports.iter().map(|report| n_failed(report, name)).sum()
    };
    let ratio = mean(base).zip(mean(side)).map(|(base, side)| (side - base).exp());
    let side_s = geometric(1);
    ExecutionChange {
        transaction: name.to_owned(),
        // Over several points, the one that belongs to the ratio.
        baseline_s: side_s.zip(ratio).map(|(side_s, ratio)| side_s / ratio).or(geometric(0)),
        side_s,
        ratio,
        interval,
        p: interval.and(compared).map(|found| found.p),
        is_change: false,
        plan_changed: plan_changed(name, both),
        plan_difference: plan_difference(name, both),
        failed: (
            both.iter().map(|(base, _)| failed(base)).sum(),
            both.iter().map(|(_, side)| failed(side)).sum(),
        ),
    }
}

/// Returns true if the plans of a query differ between the sides at any point; `None` if some are
/// not known, or those of one database would be compared with those of another.
fn plan_changed(name: &str, both: &[(&SidePoint, &SidePoint)]) -> Option<bool> {
    let plans = |point: &SidePoint| -> Option<BTreeSet<String>> {
        let plan = |report: &Report| {
            let mut plans = report.query_plans.iter();
            plans.find(|one| one.transaction == name).map(|one| one.plan.clone())
        };
        point.reports.iter().map(plan).collect()
    };
    let mut has_changed = false;
    for (base, side) in both {
        let of_runs = base.reports.iter().chain(&side.reports);
        let product = |report: &Report| report.fact("database", "product").map(ToString::to_string);
        let products: BTreeSet<Option<String>> = of_runs.map(product).collect();
        if products.len() > 1 {
            return None;
        }
        has_changed |= plans(base)? != plans(side)?;
    }
    (!both.is_empty()).then_some(has_changed)
}

/// Returns the lines of the first plans of a query that differ between the sides, marked as in
/// [`ExecutionChange::plan_difference`]; empty if none differ, or none are compared.
fn plan_difference(name: &str, both: &[(&SidePoint, &SidePoint)]) -> Vec<String> {
    if plan_changed(name, both) != Some(true) {
        return Vec::new();
    }
    let plan = |report: &Report| {
        let mut plans = report.query_plans.iter();
        plans.find(|one| one.transaction == name).map(|one| one.plan.clone())
    };
    let pairs = both.iter().flat_map(|(base, side)| {
        base.reports.iter().flat_map(|one| side.reports.iter().map(move |other| (one, other)))
    });
    let mut plans = pairs.filter_map(|(one, other)| plan(one).zip(plan(other)));
    plans.find(|(base, side)| base != side).map_or_else(Vec::new, |(base, side)| {
        let [base, side] = [&base, &side].map(|plan| plan.lines().collect::<Vec<&str>>());
        difference(&base, &side)
    })
}

/// Largest number of lines of a plan whose common lines are searched; of longer plans, all lines
/// count as changed.
const PLAN_LINES_MOST: usize = 2_000;

/// Returns the lines of two texts, with the longest common subsequence unmarked.
fn difference(base: &[&str], side: &[&str]) -> Vec<String> {
    let is_long = base.len().max(side.len()) > PLAN_LINES_MOST;
    // Length of the longest common subsequence of what follows each pair of lines.
    let mut common = vec![vec![0_u32; side.len() + 1]; base.len() + 1];
    for i in (0..base.len()).rev().filter(|_| !is_long) {
        for j in (0..side.len()).rev() {
            common[i][j] = match base[i] == side[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < base.len() || j < side.len() {
        if i < base.len() && j < side.len() && base[i] == side[j] && !is_long {
            lines.push(format!("  {}", base[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == side.len() || i < base.len() && common[i + 1][j] >= common[i][j + 1] {
            lines.push(format!("- {}", base[i]));
            i += 1;
        } else {
            lines.push(format!("+ {}", side[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::sides::{execute_sequence, side};

    /// A point with a run for each factor, in which q2 takes that many seconds, q12 `slow`
    /// times as many, and rf1 fails.
    fn point(factors: &[f64], slow: f64) -> SidePoint {
        let rates = vec![1e3; factors.len()];
        let mut point = side("x", &[("8", &rates, 0)]).points.remove(0);
        for (report, factor) in point.reports.iter_mut().zip(factors) {
            execute_sequence(report, *factor, slow);
        }
        point
    }

    #[test]
    fn the_lines_of_plans_that_changed_are_marked() {
        let check = |base: &str, side: &str, expect: &str| {
            let [base, side] = [base, side].map(|plan| plan.lines().collect::<Vec<&str>>());
            assert_eq!(difference(&base, &side).join("\n"), expect);
        };
        check("scan a\n sort", "scan a\n sort", "  scan a\n   sort");
        check("scan a\nsort", "search a\nsort", "- scan a\n+ search a\n  sort");
        check("sort", "sort\nscan b", "  sort\n+ scan b");
        check("scan a\nscan b", "", "- scan a\n- scan b");
    }

    #[test]
    fn a_query_that_changed_more_than_others_by_chance_is_named() {
        let base = point(&[1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98], 1.0);
        let other = point(&[1.01, 1.1, 0.91, 1.04, 0.96, 1.01, 0.99], 3.0);
        let found = executions(&[(&base, &other)], 0.01);
        let changes: Vec<(&str, bool)> =
            found.iter().map(|one| (one.transaction.as_str(), one.is_change)).collect();
        assert_eq!(changes, [("q2", false), ("q12", true), ("rf1", false)]);
        let q12 = &found[1];
        let (low, high) = q12.interval.expect("seven runs");
        assert!(low < 3.0 && 3.0 < high && low > 2.0, "{q12:?}");
        assert!(q12.ratio.is_some_and(|ratio| (ratio - 3.0).abs() < 0.1), "{q12:?}");
        let rf1 = &found[2];
        assert_eq!((rf1.baseline_s, rf1.ratio, rf1.failed), (None, None, (7, 7)));
    }

    #[test]
    fn of_single_runs_there_is_a_ratio_without_an_interval() {
        let found = executions(&[(&point(&[1.0], 1.0), &point(&[1.0], 2.0))], 0.01);
        let changes: Vec<(Option<f64>, bool)> =
            found.iter().map(|one| (one.ratio, one.interval.is_some() || one.is_change)).collect();
        assert_eq!(changes, [(Some(1.0), false), (Some(2.0), false), (None, false)]);
        assert_eq!(executions(&[], 0.01), []);
    }
}
