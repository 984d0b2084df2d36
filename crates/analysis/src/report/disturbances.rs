//! Effects of planned disturbances: response times and rates before, during and after each, and the
//! time until the rate had recovered.

use std::ops::Range;

use model::{Counts, DisturbanceEvent, Disturbed, NS_PER_S};
use serde::{Deserialize, Serialize};
use stats::{Due, Recovery, recovery, windows};

use super::counts::{Follow, ci95, counts};
use super::times::{Order, known};
use super::{Ci95, CountsReport, Latency, Named};
use crate::Tally;
use crate::tally::SLOT_NS;

/// Share of the earlier rate at which commits count as recovered.
const BACK: f64 = 0.9;

const NOTHING_BEFORE: &str = "the measured phase has no whole second before it to compare with";
const STILL_BEFORE: &str = "nothing was committed in the seconds before it";
const NO_FALL: &str = "no second fell below 90 % by more than chance";

/// A planned disturbance of the database, and its effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DisturbanceReport {
    pub name: String,
    /// Description of what the disturbance does, in one short line.
    pub what: String,
    /// Index of this repetition of the disturbance, from 0.
    pub nth: u32,
    /// Start, in seconds of the measured phase; the planned start, if it was skipped.
    pub began_s: f64,
    /// End, in seconds of the measured phase; null while in progress, or if skipped.
    pub ended_s: Option<f64>,
    /// State of the action: `running`, `done`, `failed`, `cut_off` or `skipped`.
    pub outcome: String,
    /// Reason why the disturbance failed, was cut off or skipped; null otherwise.
    pub why: Option<String>,
    /// Last part of the output of the disturbance's command.
    pub output: String,
    /// Figures of the seconds before the disturbance: as many as it took, at least five, without
    /// the one right before it. Null if the measured phase has no such seconds, or if it was
    /// skipped.
    pub before: Option<WindowReport>,
    /// Figures of all seconds in which the disturbance was active at least in part; null if there
    /// are none, or it was skipped.
    pub during: Option<WindowReport>,
    /// Figures of the seconds after the disturbance: as many as in `before`, as far as the measured
    /// phase has them; null if there are none, or it was skipped.
    pub after: Option<WindowReport>,
    /// True if the commits of a second fell below 90 % of the mean before, by more than chance;
    /// null if there is nothing to compare with.
    pub fell: Option<bool>,
    /// Time from the start of the disturbance until commits were back at 90 % of the earlier rate,
    /// in seconds; null if they did not fall or did not recover.
    pub recovery_s: Option<f64>,
    /// Reason why `recovery_s` is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_s_reason: Option<String>,
    /// Names of other disturbances that were active at any time from the start of `before` to the
    /// end of `after`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<String>,
}

/// Figures of a range of whole seconds before, during or after a disturbance, all groups together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowReport {
    pub from_s: i64,
    /// The second after the last one of the range.
    pub to_s: i64,
    /// Number of transactions intended in the range; null in reports before 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<u64>,
    /// First second of `counts` and `response_ms`: `from_s`, but for `during` the second before it,
    /// since a disturbance first affects transactions that have already begun.
    pub intended_from_s: i64,
    /// Commits that finished in the range, per second.
    pub tps: Option<f64>,
    /// The 95 % CI of `tps`, from this range alone; null with a reason in `tps_ci95_reason`.
    pub tps_ci95: Option<Ci95>,
    /// Reason why `tps_ci95` is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_ci95_reason: Option<String>,
    /// Outcomes of transactions intended from `intended_from_s` on.
    pub counts: CountsReport,
    /// Response times of finished transactions intended from `intended_from_s` on.
    pub response_ms: Latency,
}

/// Returns all disturbances of a run with their effects, in the order of time.
pub(super) fn disturbances(tally: &Tally) -> Vec<DisturbanceReport> {
    let seconds = tally.whole_seconds();
    let groups: Vec<usize> = (0..tally.groups.len()).collect();
    let commits = tally.commits_per_second(&groups, seconds.clone());
    let slots = tally.commits_100ms(&groups);
    let due = tally.due(&groups, SLOT_NS, slots.len());
    let look = Look { tally, n_seconds: seconds.end, commits, slots, due };
    let mut all: Vec<&DisturbanceEvent> = tally.disturbances.iter().collect();
    all.sort_by_key(|described| (described.began_ns, described.index));
    all.into_iter().map(|described| look.at(described)).collect()
}

/// A run, prepared to measure the effects of its disturbances.
struct Look<'a> {
    tally: &'a Tally,
    n_seconds: i64,
    /// Commits in each whole second of the measured phase.
    commits: Vec<u64>,
    slots: Vec<u64>,
    /// Transactions due in each slot of 100 ms, if the plan changes their rate; else `None`.
    due: Option<Due>,
}

impl Look<'_> {
    fn at(&self, described: &DisturbanceEvent) -> DisturbanceReport {
        let (outcome, why) = outcome(&described.outcome);
        let seconds = |ns: i64| ns as f64 / NS_PER_S as f64;
        let mut report = DisturbanceReport {
            name: described.name.clone(),
            what: described.what.clone(),
            nth: described.nth,
            began_s: seconds(described.began_ns),
            ended_s: described.ended_ns.map(seconds),
            outcome: outcome.to_owned(),
            why,
            output: described.output.clone(),
            before: None,
            during: None,
            after: None,
            fell: None,
            recovery_s: None,
            recovery_s_reason: None,
            overlaps: Vec::new(),
        };
        if matches!(described.outcome, Disturbed::Skipped { .. }) {
            report.recovery_s_reason = Some("it was never started".to_owned());
            return report;
        }
        let now_ns = self.n_seconds * NS_PER_S as i64;
        let ended_ns = described.ended_ns.unwrap_or(now_ns).max(described.began_ns);
        let found = windows(described.began_ns, ended_ns, self.n_seconds);
        report.overlaps = self.overlaps(described, found.before.start..found.after.end);
        self.recovery(&found, described.began_ns, &mut report);
        let hit_from = (found.during.start - 1).max(0);
        report.before = self.window(found.before.clone(), found.before.start);
        report.during = self.window(found.during, hit_from);
        report.after = self.window(found.after.clone(), found.after.start);
        report
    }

    /// Returns the commits in each of `seconds`, as far as these are whole seconds of the measured
    /// phase.
    fn commits_in(&self, seconds: Range<i64>) -> &[u64] {
        &self.commits[self.places(seconds)]
    }

    fn places(&self, seconds: Range<i64>) -> Range<usize> {
        let index = |second: i64| usize::try_from(second).unwrap_or(0).min(self.commits.len());
        index(seconds.start)..index(seconds.end)
    }

    /// Returns the commits of all whole seconds, scaled to an equal number of due transactions, so
    /// that a planned fall of the rate is not taken for an effect.
    fn comparable(&self) -> Vec<u64> {
        let Some(due) = &self.due else { return self.commits.clone() };
        let due: Vec<f64> = due.per_slot.chunks(10).map(|second| second.iter().sum()).collect();
        let mean = due.iter().sum::<f64>() / due.len().max(1) as f64;
        let alike = |(commits, due): (&u64, &f64)| match *due >= 1.0 {
            true => (*commits as f64 * mean / due).round() as u64,
            false => mean as u64,
        };
        self.commits.iter().zip(&due).map(alike).collect()
    }

    fn recovery(&self, found: &stats::Windows, began_ns: i64, report: &mut DisturbanceReport) {
        let comparable = self.comparable();
        let within = |seconds: Range<i64>| &comparable[self.places(seconds)];
        let since = within(found.during.start..self.n_seconds);
        let n_look = self.places(found.during.start..found.after.end).len();
        let mut no = |fell: Option<bool>, why: &str| {
            (report.fell, report.recovery_s_reason) = (fell, Some(why.to_owned()));
        };
        match recovery(within(found.before.clone()), since, n_look, BACK) {
            Recovery::Unknown if found.before.is_empty() => no(None, NOTHING_BEFORE),
            Recovery::Unknown => no(None, STILL_BEFORE),
            Recovery::NeverFell => no(Some(false), NO_FALL),
            Recovery::NotWithin => no(Some(true), "not within the run"),
            Recovery::Back { second } => {
                let back_s = found.during.start + second as i64;
                let back_s = back_s as f64 - began_ns as f64 / NS_PER_S as f64;
                (report.fell, report.recovery_s) = (Some(true), known(back_s.max(0.0)));
            }
        }
    }

    /// Returns the names of other disturbances that were active in `seconds`.
    fn overlaps(&self, described: &DisturbanceEvent, seconds: Range<i64>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for other in &self.tally.disturbances {
            let is_same = (other.index, other.nth) == (described.index, described.nth);
            let is_skipped = matches!(other.outcome, Disturbed::Skipped { .. });
            let second = |ns: i64| ns.div_euclid(NS_PER_S as i64);
            let ended = other.ended_ns.map_or(i64::MAX, second);
            let is_within = second(other.began_ns) < seconds.end && ended >= seconds.start;
            if !is_same && !is_skipped && is_within && !names.contains(&other.name) {
                names.push(other.name.clone());
            }
        }
        names
    }

    fn window(&self, seconds: Range<i64>, intended_from_s: i64) -> Option<WindowReport> {
        if seconds.is_empty() {
            return None;
        }
        let span = self.tally.span(intended_from_s..seconds.end);
        let offered = counts(&self.tally.span(seconds.clone()).counts).offered;
        let slot = |second: i64| {
            let slot = second as u64 * (NS_PER_S / SLOT_NS);
            usize::try_from(slot).unwrap_or(usize::MAX).min(self.slots.len())
        };
        let commits: u64 = self.commits_in(seconds.clone()).iter().sum();
        let length_s = (seconds.end - seconds.start) as f64;
        let slots = slot(seconds.start)..slot(seconds.end);
        let due = self.due.as_ref().map(|due| due.within(slots.clone()));
        let (tps_ci95, tps_ci95_reason) = ci95(&self.slots[slots], due.as_ref(), Follow::Answers);
        Some(WindowReport {
            from_s: seconds.start,
            to_s: seconds.end,
            offered: Some(offered),
            intended_from_s,
            tps: known(commits as f64 / length_s),
            tps_ci95,
            tps_ci95_reason,
            counts: counts(&span.counts),
            response_ms: match span.is_whole {
                true => Latency::from_histogram(
                    &span.response,
                    Order::Known(&self.tally.seconds_in_time(intended_from_s..seconds.end)),
                ),
                false => no_longer_kept(&span.counts),
            },
        })
    }
}

/// Returns a distribution with count and reasons only, for seconds whose response times are no
/// longer kept.
fn no_longer_kept(counts: &Counts) -> Latency {
    let mut reasons = Named::default();
    for name in ["p50", "p90", "p95", "p99", "p999"] {
        reasons.push(name, "response times of seconds are stored for half an hour".to_owned());
    }
    Latency { count: counts.finished(), reasons, ..Latency::default() }
}

fn outcome(outcome: &Disturbed) -> (&'static str, Option<String>) {
    match outcome {
        Disturbed::Running => ("running", None),
        Disturbed::Done => ("done", None),
        Disturbed::Failed { why } => ("failed", Some(why.clone())),
        Disturbed::CutOff { why } => ("cut_off", Some(why.clone())),
        Disturbed::Skipped { why } => ("skipped", Some(why.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Made;

    fn disturbance_of(
        began_ms: i64,
        ended_ms: Option<i64>,
        outcome: Disturbed,
    ) -> DisturbanceReport {
        let mut made = Made::closed();
        made.disturbance(began_ms, ended_ms, outcome);
        disturbances(&made.tally()).pop().expect("there is one")
    }

    #[test]
    fn a_disturbance_is_compared_with_the_seconds_around_it() {
        let one = disturbance_of(42_000, Some(42_300), Disturbed::Done);
        let ends = |window: &Option<WindowReport>| {
            window.as_ref().map(|window| (window.from_s, window.to_s))
        };
        assert_eq!(
            [ends(&one.before), ends(&one.during), ends(&one.after)],
            [Some((36, 41)), Some((42, 43)), Some((43, 48))]
        );
        let during = one.during.expect("a window");
        assert_eq!((during.tps, during.intended_from_s), (Some(307.0), 41));
        assert_eq!(during.offered, Some(310), "those of second 42 alone");
        assert!(during.counts.offered > 700, "{:?}", during.counts);
        assert!(during.response_ms.p99.is_some());
        assert!(during.tps_ci95.is_none() && during.tps_ci95_reason.is_some());
        assert_eq!((one.fell, one.recovery_s), (Some(true), Some(1.0)));
    }

    #[test]
    fn a_disturbance_without_anything_to_compare_with_says_what_is_missing() {
        let reason = |one: DisturbanceReport| (one.fell, one.recovery_s_reason.expect("a reason"));
        let first = disturbance_of(0, Some(100), Disturbed::Done);
        assert!(first.before.is_none());
        assert_eq!(reason(first), (None, NOTHING_BEFORE.to_owned()));
        let mut made = Made::closed();
        made.disturbance(20_500, Some(20_600), Disturbed::Done);
        // Seconds without an event had no commits.
        made.seconds.retain(|second| !(10..20).contains(&second.second));
        let in_a_stall = disturbances(&made.tally()).pop().expect("there is one");
        assert!(in_a_stall.before.is_some());
        assert_eq!(reason(in_a_stall), (None, STILL_BEFORE.to_owned()));
    }

    #[test]
    fn a_disturbance_without_a_trace_has_no_recovery() {
        let one = disturbance_of(20_500, Some(20_600), Disturbed::Done);
        let why = NO_FALL.to_owned();
        assert_eq!(
            (one.fell, one.recovery_s, one.recovery_s_reason),
            (Some(false), None, Some(why))
        );
        let skipped = disturbance_of(20_500, None, Disturbed::Skipped { why: "late".to_owned() });
        assert!(skipped.before.is_none() && skipped.fell.is_none());
        let running = disturbance_of(58_500, None, Disturbed::Running);
        assert_eq!(running.during.map(|during| (during.from_s, during.to_s)), Some((58, 60)));
    }
}
