//! Findings on time: was the run long enough, did it end as planned, and was it steady?

use model::{NS_PER_S, Severity, StopReason};
use stats::{Stability, stability};

use super::{Words, about, count, percent_text};
use crate::render::figures;
use crate::tally::Tally;

/// Shorter runs say nothing.
const MEASURED_NS_MIN: u64 = NS_PER_S;

/// Shorter runs say little: no checkpoint, flush or vacuum fits in.
const MEASURED_NS_SHORT: u64 = 10 * NS_PER_S;

/// The fewest seconds in which a trend is looked for: with eight against eight, complete
/// separation is just significant.
const TREND_SECONDS_MIN: usize = 24;

/// A trend that is smaller than this is of no concern, however significant.
const TREND_PERCENT_MIN: f64 = 10.0;

/// Two-sided 0.1 %: seconds resemble their neighbours, which the test does not know.
const TREND_Z_MIN: f64 = 3.29;

/// Uneven: the standard deviation of seconds, beyond that of mere chance, as a share of the mean.
const CV_MAX: f64 = 0.30;

/// Stalls of more than this share of the time are a warning, others a note.
const STALLED_PERCENT_NOTED: f64 = 1.0;

enum Time {
    Failed { why: String },
    QueueFull { at_ns: u64 },
    Interrupted { measured_ns: u64, planned_ns: u64 },
    TooShort { measured_ns: u64 },
    Short { measured_ns: u64 },
    NoRampUp,
    ShortRampUp(ShortRampUp),
    Drifting { first_per_s: f64, last_per_s: f64 },
    Uneven { cv: f64 },
    Stalled { found: Stability, stalled_percent: f64 },
}

impl Time {
    fn words(self) -> Words {
        match self {
            Time::Failed { why } => Words {
                id: "run_failed",
                severity: Severity::Invalid,
                text: format!("The run could not go on: {}.", why.trim_end_matches('.')),
                advice: "Remove the cause and run it again.",
            },
            Time::QueueFull { at_ns } => Words {
                id: "queue_full",
                severity: Severity::Warning,
                text: format!(
                    "The queue was full {} into the measured phase, and the run ended there, as \
                     the plan asks: the system cannot take this rate.",
                    seconds(at_ns)
                ),
                advice: "Lower the rate or add clients.",
            },
            Time::Interrupted { measured_ns, planned_ns } => Words {
                id: "interrupted",
                severity: Severity::Note,
                text: format!(
                    "The run was interrupted: {} were measured of {} planned.",
                    seconds(measured_ns),
                    seconds(planned_ns)
                ),
                advice: "The figures are true of that part.",
            },
            Time::TooShort { measured_ns } => too_short(measured_ns),
            Time::Short { measured_ns } => Words {
                id: "short",
                severity: Severity::Note,
                text: format!(
                    "{} were measured, in which no checkpoint, flush or vacuum need have fallen.",
                    seconds(measured_ns)
                ),
                advice: "Measure a minute or more before you rely on it.",
            },
            Time::NoRampUp => Words {
                id: "no_ramp_up",
                severity: Severity::Note,
                text: "There was no ramp-up: filling caches is part of the figures.".to_owned(),
                advice: "Give it one, unless that is what you measure.",
            },
            Time::ShortRampUp(times) => times.words(),
            Time::Drifting { first_per_s, last_per_s } => Words {
                id: "drifting",
                severity: Severity::Warning,
                text: format!(
                    "Not steady: the median went from {first_per_s:.1} commits a second in the \
                     first third to {last_per_s:.1} in the last ({:+.0} %).",
                    100.0 * (last_per_s / first_per_s - 1.0)
                ),
                advice: "Lengthen the ramp-up, or find out what grows: data, caches, dirty pages, \
                         a queue.",
            },
            Time::Uneven { cv } => Words {
                id: "uneven",
                severity: Severity::Warning,
                text: format!(
                    "Uneven: the standard deviation of the seconds is {:.0} % of their mean.",
                    100.0 * cv
                ),
                advice: "A mean hides that: look at the chart of commits over time.",
            },
            Time::Stalled { found, stalled_percent } => stalled(&found, stalled_percent),
        }
    }
}

fn too_short(measured_ns: u64) -> Words {
    Words {
        id: "too_short",
        severity: Severity::Invalid,
        text: format!("Only {} were measured.", seconds(measured_ns)),
        advice: "Measure a minute or more.",
    }
}

fn stalled(found: &Stability, stalled_percent: f64) -> Words {
    let longest = found.stalls.iter().max_by_key(|stall| stall.length_slots);
    let at_s = longest.map_or(0.0, |stall| stall.start_index as f64 / 10.0);
    let noted = stalled_percent < STALLED_PERCENT_NOTED;
    Words {
        id: "stalled",
        severity: if noted { Severity::Note } else { Severity::Warning },
        text: format!(
            "{} of commits, {} in all ({} of the time); the longest took {} and began at \
             {at_s:.1} s.",
            count(found.n_stalls as u64, "standstill"),
            about(found.stalled_ns),
            percent_text(stalled_percent),
            about(found.longest_stall_ns)
        ),
        advice: "Look for checkpoints, flushes and lock waits at that time.",
    }
}

fn seconds(ns: u64) -> String {
    figures::seconds(ns as f64 / NS_PER_S as f64)
}

pub(super) fn look(tally: &Tally) -> Vec<Words> {
    let mut all: Vec<Time> = Vec::new();
    all.extend(ended(tally));
    all.extend(short(tally));
    let no_ramp_up = tally.description.as_ref().is_some_and(|told| told.phases.ramp_up_ns == 0);
    all.extend(no_ramp_up.then_some(Time::NoRampUp));
    all.extend(short_ramp_up(tally));
    let groups: Vec<usize> = (0..tally.groups.len()).collect();
    let slots = tally.commits_100ms(&groups);
    if slots.iter().any(|&n| n > 0) {
        let seconds = tally.commits_per_second(&groups, tally.whole_seconds());
        all.extend(drifting(&seconds).or_else(|| uneven(&seconds)));
        let found = stability(&slots);
        let stalled_percent = super::percent(found.stalled_ns, tally.measured_ns());
        let stalls = found.n_stalls > 0;
        all.extend(stalls.then_some(Time::Stalled { found, stalled_percent }));
    }
    all.into_iter().map(Time::words).collect()
}

/// A ramp-up, and how long connecting took.
struct ShortRampUp {
    ramp_up_ns: u64,
    connecting_ns: u64,
}

impl ShortRampUp {
    fn words(self) -> Words {
        Words {
            id: "short_ramp_up",
            severity: Severity::Warning,
            text: format!(
                "The ramp-up ({}) was shorter than connecting took ({}): the first clients had \
                 been idle for longer than any had been at work.",
                seconds(self.ramp_up_ns),
                seconds(self.connecting_ns)
            ),
            advice: "Ramp up for longer than that: what a server does at the first transaction of \
                     each connection is part of the figures.",
        }
    }
}

/// Below this nobody need mind how long connecting took.
const CONNECTING_NS_MIN: u64 = NS_PER_S;

fn short_ramp_up(tally: &Tally) -> Option<Time> {
    let ramp_up_ns = tally.description.as_ref()?.phases.ramp_up_ns;
    let connecting_s = tally.fact("client", "connecting_s")?.parse::<f64>().ok()?;
    let connecting_ns = (connecting_s * NS_PER_S as f64) as u64;
    let is_short = ramp_up_ns < connecting_ns && connecting_ns >= CONNECTING_NS_MIN;
    is_short.then_some(Time::ShortRampUp(ShortRampUp { ramp_up_ns, connecting_ns }))
}

fn ended(tally: &Tally) -> Option<Time> {
    let measured_ns = tally.measured_ns();
    match &tally.ended.as_ref()?.reason {
        StopReason::Completed => None,
        StopReason::Failed { why } => Some(Time::Failed { why: why.clone() }),
        StopReason::QueueFull => Some(Time::QueueFull { at_ns: measured_ns }),
        StopReason::Interrupted => {
            let planned_ns = tally.description.as_ref()?.phases.measure_ns;
            Some(Time::Interrupted { measured_ns, planned_ns })
        }
    }
}

fn short(tally: &Tally) -> Option<Time> {
    tally.ended.as_ref()?;
    match tally.measured_ns() {
        measured_ns @ ..MEASURED_NS_MIN => Some(Time::TooShort { measured_ns }),
        measured_ns @ ..MEASURED_NS_SHORT => Some(Time::Short { measured_ns }),
        _ => None,
    }
}

/// Whether the last third differs from the first: by the rank test of Mann and Whitney (1947),
/// which an outlier does not impress, and by enough to matter.
fn drifting(seconds: &[u64]) -> Option<Time> {
    let third = seconds.len() / 3;
    if seconds.len() < TREND_SECONDS_MIN {
        return None;
    }
    let (first, last) = (&seconds[..third], &seconds[seconds.len() - third..]);
    let (first_per_s, last_per_s) = (median(first), median(last));
    let change_percent = 100.0 * (last_per_s - first_per_s).abs() / first_per_s;
    let found = change_percent > TREND_PERCENT_MIN && rank_z(first, last).abs() > TREND_Z_MIN;
    found.then_some(Time::Drifting { first_per_s, last_per_s })
}

fn median(values: &[u64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle] as f64,
        _ => f64::midpoint(sorted[middle - 1] as f64, sorted[middle] as f64),
    }
}

/// The normal score of Mann and Whitney's U: how often a value of `b` is above one of `a`, equal
/// ones counting half; ties make it smaller, which is on the safe side.
fn rank_z(a: &[u64], b: &[u64]) -> f64 {
    let above = |x: &u64| -> f64 {
        let score = |y: &u64| match y.cmp(x) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        b.iter().map(score).sum()
    };
    let u: f64 = a.iter().map(above).sum();
    let (n, m) = (a.len() as f64, b.len() as f64);
    (u - n * m / 2.0) / (n * m * (n + m + 1.0) / 12.0).sqrt()
}

/// Arrivals at random scatter by the root of their mean: only what is beyond it is uneven.
fn uneven(seconds: &[u64]) -> Option<Time> {
    let mut moments = stats::Moments::default();
    seconds.iter().for_each(|&n| moments.record(n));
    let (mean, sd) = (moments.mean(), moments.sd());
    let beyond_chance = (sd * sd / (mean * mean) - 1.0 / mean).max(0.0).sqrt();
    let enough = seconds.len() >= 10;
    (enough && beyond_chance > CV_MAX).then_some(Time::Uneven { cv: sd / mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_test_sees_a_shift_and_no_outlier() {
        let flat: Vec<u64> = (0..20).map(|i| 100 + i * 7 % 10).collect();
        let mut outlier = flat.clone();
        outlier[3] = 100_000;
        assert!(rank_z(&flat, &outlier).abs() < 1.0);
        let shifted: Vec<u64> = flat.iter().map(|n| n + 20).collect();
        assert!(rank_z(&flat, &shifted) > 5.0);
        assert!((rank_z(&shifted, &flat) + rank_z(&flat, &shifted)).abs() < 1e-9);
    }

    #[test]
    fn a_significant_trend_of_two_percent_is_no_finding() {
        let slow: Vec<u64> = (0..60).map(|i| 1000 + i / 3).collect();
        assert!(drifting(&slow).is_none());
        let fast: Vec<u64> = (0..60).map(|i| 1000 + i * 10).collect();
        assert!(drifting(&fast).is_some());
    }

    #[test]
    fn random_arrivals_of_a_low_rate_are_not_uneven() {
        let poisson_like = [4, 2, 6, 3, 5, 1, 4, 7, 3, 5, 4, 2, 6, 3, 5];
        assert!(uneven(&poisson_like).is_none());
        let waves: Vec<u64> = (0..30).map(|i| if i % 10 < 5 { 1000 } else { 200 }).collect();
        assert!(uneven(&waves).is_some());
    }
}
