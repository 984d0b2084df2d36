//! Finding on single seconds that stand out, and on whether they recur regularly.
//!
//! If the plan changes the rate, seconds are compared with others that had to bear as many
//! arrivals: if a burst of arrivals slows replies, the database is not to blame. Not here: stalls
//! and trends (steadiness).

use model::{Severity, numbers};
use stats::{period, stands_out, stands_out_at_load};

use super::steadiness::seconds_at_first;
use super::{FindingText, count, percent_text};
use crate::tally::Tally;

/// Smallest factor by which a second must have fewer commits than the median second to count as
/// slow.
const RATE_FACTOR: f64 = 1.25;

/// Smallest factor by which the p95 of a second must exceed that of the median second for the
/// second to count as slow.
const TIME_FACTOR: f64 = 1.5;

/// Number of finished transactions that every second of a run must have for its seconds to be
/// compared by p95; otherwise they are compared by medians.
const P95_SAMPLES_MIN: u64 = 100;

/// Number of finished transactions that every second of a run must have for its seconds to be
/// compared by response times; otherwise no second counts as slow by its times.
const SAMPLES_MIN: u64 = 20;

/// Smallest number of slow events for a finding; consecutive slow seconds are one event.
const EVENTS_MIN: usize = 2;

/// Share of time, in percent, from which slow seconds are a warning instead of a note.
const PERCENT_NOTED: f64 = 3.0;

/// Seconds of the measured phase that stand out from the others.
struct Slow {
    /// Slow seconds, counted from the start of the measured phase, in the order of time.
    seconds: Vec<usize>,
    /// Difference of the slow seconds from the other seconds, in words.
    what: String,
}

pub(super) fn look(tally: &Tally) -> Vec<FindingText> {
    let slow = match tally.is_planned_to_change() {
        true => slow_answers(tally),
        false => few_commits(tally).or_else(|| slow_answers(tally)),
    };
    slow.into_iter().map(|slow| text(&slow, tally)).collect()
}

fn text(slow: &Slow, tally: &Tally) -> FindingText {
    let n = slow.seconds.len() as u64;
    let share = super::percent(n, tally.whole_seconds().end.unsigned_abs());
    let again = match period(&slow.seconds) {
        Some(period) => format!(" They recur every {}.", numbers::seconds(period)),
        None => String::new(),
    };
    let first: Vec<String> = slow.seconds.iter().take(5).map(ToString::to_string).collect();
    let more = if slow.seconds.len() > 5 { " …" } else { "" };
    FindingText {
        id: "slow_seconds",
        severity: if share < PERCENT_NOTED { Severity::Note } else { Severity::Warning },
        text: format!(
            "{} ({} of the time, at {}{more} s) stand out: {}.{again}",
            count(n, "second"),
            percent_text(share),
            first.join(", "),
            slow.what
        ),
    }
}

/// Returns the slow seconds that other findings do not report already, as stalls or as the warm-up
/// of the system. `None` if fewer than [`EVENTS_MIN`] events are left; consecutive seconds are one
/// event.
fn pattern(tally: &Tally, seconds: Vec<usize>) -> Option<Vec<usize>> {
    if seconds.len() < EVENTS_MIN {
        return None;
    }
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    let stalls = tally.stability(&all).stalls;
    let is_stall = |second: &usize| {
        let slots = second * 10..second * 10 + 10;
        stalls.iter().any(|stall| {
            stall.start_index < slots.end && stall.start_index + stall.length_slots > slots.start
        })
    };
    let from = seconds_at_first(tally);
    let is_other = |second: &usize| *second >= from && !is_stall(second);
    let seconds: Vec<usize> = seconds.into_iter().filter(is_other).collect();
    let n_events = seconds.chunk_by(|a, b| b - a == 1).count();
    (n_events >= EVENTS_MIN).then_some(seconds)
}

fn few_commits(tally: &Tally) -> Option<Slow> {
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    let commits = tally.commits_per_second(&all, tally.whole_seconds());
    let per_commit: Vec<f64> = commits.iter().map(|&n| 1.0 / n as f64).collect();
    let seconds = pattern(tally, stands_out(&per_commit, RATE_FACTOR))?;
    let commits_in = |second: &usize| commits[*second] as f64;
    let what = format!(
        "{} commits/s where the median second has {}",
        span(seconds.iter().map(commits_in)),
        numbers::significant(median(commits.iter().map(|&n| n as f64)), 4),
    );
    Some(Slow { seconds, what })
}

fn slow_answers(tally: &Tally) -> Option<Slow> {
    let seconds = tally.whole_seconds();
    let figures: Vec<_> = seconds.map(|second| tally.second(second)).collect();
    let fewest = figures.iter().map(|second| second.counts.finished()).min()?;
    if fewest < SAMPLES_MIN {
        return None;
    }
    let is_p95 = fewest >= P95_SAMPLES_MIN;
    let time_ms = |second: &crate::tally::SecondFigures| {
        let quantiles = second.quantiles?;
        let ns = if is_p95 { quantiles.p95_ns } else { quantiles.p50_ns };
        Some(ns as f64 / model::NS_PER_MS as f64)
    };
    let times: Vec<f64> =
        figures.iter().map(|second| time_ms(second).unwrap_or(f64::NAN)).collect();
    let figure = if is_p95 { "p95" } else { "p50" };
    let slow = |seconds: &[usize]| span(seconds.iter().map(|second| times[*second]));
    let Some(borne) = tally.borne() else {
        let seconds = pattern(tally, stands_out(&times, TIME_FACTOR))?;
        let usual = numbers::significant(median(times.iter().copied()), 3);
        let slow = slow(&seconds);
        let what = format!("{figure} of {slow} ms where the median second has {usual} ms");
        return Some(Slow { seconds, what });
    };
    let found = stands_out_at_load(&times, &borne, TIME_FACTOR);
    let seconds = pattern(tally, found.iter().map(|(second, _)| *second).collect())?;
    let usual = found.iter().filter(|(second, _)| seconds.contains(second));
    let what = format!(
        "{figure} of {} ms where as many arrivals have {} ms in other seconds",
        slow(&seconds),
        span(usual.map(|(_, usual)| *usual)),
    );
    Some(Slow { seconds, what })
}

/// Formats the range of figures: `3 to 5`, or `3` if all are equal.
fn span(figures: impl Iterator<Item = f64> + Clone) -> String {
    let least = figures.clone().fold(f64::INFINITY, f64::min);
    let most = figures.fold(f64::NEG_INFINITY, f64::max);
    let text = |value| numbers::significant(value, 3);
    if least == most { text(least) } else { format!("{} to {}", text(least), text(most)) }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let finite: Vec<f64> = figures.filter(|value| value.is_finite()).collect();
    stats::median(&finite, 0.95).map_or(f64::NAN, |median| median.value)
}
