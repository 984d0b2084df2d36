//! Numbers of transactions by outcome, and the confidence interval of the rate of commits.
//!
//! Not here: which transactions are counted (build, disturbances, disclosure).

use model::{Counts, NS_PER_S};
use stats::{Due, within_planned_run};

use super::times::{known, too_short};
use super::{Ci95, CountsReport};
use crate::tally::SLOT_NS;

pub(super) fn counts(counts: &Counts) -> CountsReport {
    let report = CountsReport {
        offered: counts.offered(),
        finished: counts.finished(),
        committed: counts.committed,
        rolled_back: counts.rolled_back,
        failed: counts.failed,
        dropped: counts.dropped,
        unfinished: counts.unfinished,
        retried: counts.retried,
        unknown: counts.unknown,
        backlog_at_start: 0,
    };
    let parts = report.finished + report.failed + report.dropped + report.unfinished;
    assert_eq!(
        report.offered, parts,
        "what was offered is finished, failed, dropped or unfinished"
    );
    report
}

/// Returns the 95 % CI of a rate of commits from its counts in slots of 100 ms, or the reason why
/// it is not known. `due` has the transactions due in each slot, if the plan changes the rate.
pub(super) fn ci95(slots: &[u64], due: Option<&Due>) -> (Option<Ci95>, Option<String>) {
    if slots.iter().all(|n| *n == 0) {
        return (None, Some("nothing was committed".to_owned()));
    }
    let rate = within_planned_run(slots, SLOT_NS, due);
    match rate.half_width {
        Ok(half_width) => {
            let note = "within-run: repeat the run to see how much runs differ".to_owned();
            let half_width = known(half_width).unwrap_or_default();
            let n_effective = known(rate.n_effective).unwrap_or_default();
            let slot_s = SLOT_NS as f64 / NS_PER_S as f64;
            let seconds_to_1_percent = rate.slots_to_1_percent.and_then(|n| known(n * slot_s));
            (Some(Ci95 { half_width, n_effective, seconds_to_1_percent, note }), None)
        }
        Err(few) => (None, Some(too_short(COMMITS_VARY, few, SLOT_NS))),
    }
}

/// First words of reasons why a rate of commits has no confidence interval.
pub(super) const COMMITS_VARY: &str = "commits vary";
