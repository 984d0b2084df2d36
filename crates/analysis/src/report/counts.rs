//! Numbers of transactions by outcome, and the confidence interval of the rate of commits.
//!
//! Not here: which transactions are counted (build, disturbances, disclosure).

use model::{Counts, NS_PER_S};
use stats::{Due, Rate, slots_at_random, stability, within_planned_run};

use super::times::{known, too_short};
use super::{Ci95, CountsReport};
use crate::tally::{SLOT_NS, Tally};

pub(super) fn counts(counts: &Counts) -> CountsReport {
    let report = CountsReport {
        offered: counts.offered(),
        finished: counts.finished(),
        committed: counts.committed,
        rolled_back: counts.rolled_back,
        ignored: counts.ignored,
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

/// Event that the commits of a group follow in time: random arrivals, or the system's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// Commits follow arrivals at random times, which do not depend on the system (open load).
    RandomArrivals,
    /// Commits follow the answers of the system: clients wait for them, or arrivals are not random.
    Answers,
}

impl Follow {
    pub(super) fn from_tally(tally: &Tally, groups: &[usize]) -> Follow {
        if tally.follows_random_arrivals(groups) { Follow::RandomArrivals } else { Follow::Answers }
    }
}

/// Returns the number of slots that a run needs for an interval of ±1 %, given the rate within it;
/// `None` if that number is not known, or if the run stalled: stalls are too few to tell how many a
/// longer run has. In the long run, commits that follow random arrivals vary no more than the
/// arrivals.
fn slots_to_1_percent(slots: &[u64], rate: &Rate, follow: Follow) -> Option<f64> {
    let needed = rate.slots_to_1_percent.filter(|_| stability(slots).n_stalls == 0)?;
    let per_slot = slots.iter().sum::<u64>() as f64 / slots.len() as f64;
    Some(match follow {
        Follow::RandomArrivals => needed.min(slots_at_random(per_slot)),
        Follow::Answers => needed,
    })
}

/// Returns the 95 % CI of a rate of commits from its counts in slots of 100 ms, or the reason why
/// it is not known. `due` has the transactions due in each slot, if the plan changes the rate.
pub(super) fn ci95(
    slots: &[u64],
    due: Option<&Due>,
    follow: Follow,
) -> (Option<Ci95>, Option<String>) {
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
            let needed = slots_to_1_percent(slots, &rate, follow);
            let seconds_to_1_percent = needed.and_then(|n| known(n * slot_s));
            (Some(Ci95 { half_width, n_effective, seconds_to_1_percent, note }), None)
        }
        Err(few) => (None, Some(too_short(COMMITS_VARY, few, SLOT_NS))),
    }
}

/// Returns the 95 % CI of the commits per second of `groups`, or the reason why it is not known.
pub(super) fn commits_interval(tally: &Tally, groups: &[usize]) -> (Option<Ci95>, Option<String>) {
    let (slots, follow) = (tally.commits_100ms(groups), Follow::from_tally(tally, groups));
    ci95(&slots, tally.due(groups, SLOT_NS, slots.len()).as_ref(), follow)
}

/// First words of the reason why a rate of commits has no confidence interval.
pub(super) const COMMITS_VARY: &str = "commits vary";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_run_needs_no_more_than_random_arrivals_do_and_nothing_is_known_beside_stalls() {
        let mut random = model::Rng::new(7, model::Stream::Constants, 0);
        let noisy: Vec<u64> = (0..600).map(|_| 30 + random.bits() % 83).collect();
        let seconds_needed = |slots: &[u64], follow| {
            ci95(slots, None, follow).0.expect("long enough").seconds_to_1_percent
        };
        let answers = seconds_needed(&noisy, Follow::Answers).expect("steady");
        let arrivals = seconds_needed(&noisy, Follow::RandomArrivals).expect("steady");
        // 38,416 commits at about 710 per second.
        assert!(
            answers > 1.2 * arrivals && (50.0..58.0).contains(&arrivals),
            "{answers} {arrivals}"
        );
        let mut stalled = noisy;
        stalled[300..305].fill(0);
        assert_eq!(seconds_needed(&stalled, Follow::RandomArrivals), None);
    }
}
