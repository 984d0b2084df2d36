//! Judges a run by the requirements of the standard from which its workload is derived. A pure
//! function of the tally and of the requirements, which the run carries.
//!
//! A measured share is compared with the clause's limits without tolerance for chance, as the
//! standard demands. If so few transactions were counted that chance alone may exceed the limits,
//! the reason says so. Not here: the requirements (workloads), and how they look (render).

use model::numbers::significant;
use model::{
    FactValue, GroupDescription, KindIndex, Load, NS_PER_S, Requirement,
    RequirementFigure as Figure,
};
use serde::{Deserialize, Serialize};

use super::counts::counts;
use super::times::{Latency, Order};
use crate::tally::{GroupTally, Sum, Tally};

const NS_PER_MINUTE: f64 = 60.0 * NS_PER_S as f64;

/// Verdict on whether a run meets a requirement of its workload's standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Fail,
    /// The requirement does not apply to this workload or run; the reason says why.
    NotApplicable,
    /// The run does not show whether the requirement is met; the reason says why.
    NotKnown,
}

impl Verdict {
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "FAIL",
            Verdict::NotApplicable => "not applicable",
            Verdict::NotKnown => "not known",
        }
    }
}

/// A requirement of a standard, with the measured value and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequirementReport {
    /// Number of the clause in the standard.
    pub clause: String,
    /// The requirement in words, without its limits.
    pub title: String,
    /// The limits of the standard in words, such as `≥ 43 %`.
    pub required: String,
    /// The measured value; null if not known.
    pub measured: Option<f64>,
    /// Unit of the limits and of the measured value.
    pub unit: String,
    /// Values in words, if there are several, such as the pauses by transaction type; absent
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_times: Option<String>,
    pub verdict: Verdict,
    /// Reason why the verdict is not known or the requirement does not apply, or a remark; absent
    /// if there is nothing to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Requirements of the standard from which a group's workload is derived (such as TPC-C), each with
/// the verdict on this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disclosure {
    pub group: String,
    /// Name of the standard, with its revision.
    pub standard: String,
    /// Disclaimer on the result, such as that it is not a TPC result.
    pub note: String,
    /// Number of requirements that are met.
    pub passed: u64,
    /// Number of requirements that are not met.
    pub failed: u64,
    /// The requirements with their verdicts, in the order in which the workload names them.
    pub requirements: Vec<RequirementReport>,
}

/// Returns the judged requirements of each group whose workload has a standard.
pub(super) fn disclosures(tally: &Tally) -> Vec<Disclosure> {
    let Some(description) = &tally.description else { return Vec::new() };
    let groups = description.groups.iter().zip(&tally.groups);
    groups.filter_map(|(described, group)| disclosure(tally, described, group)).collect()
}

fn disclosure(
    tally: &Tally,
    described: &GroupDescription,
    group: &GroupTally,
) -> Option<Disclosure> {
    let standard = described.standard.as_ref()?;
    let scene = Scene { tally, described, group };
    let requirements: Vec<RequirementReport> =
        standard.requirements.iter().map(|one| scene.judge(one)).collect();
    let count = |verdict| requirements.iter().filter(|one| one.verdict == verdict).count() as u64;
    Some(Disclosure {
        group: described.name.clone(),
        standard: standard.name.clone(),
        note: standard.note.clone(),
        passed: count(Verdict::Pass),
        failed: count(Verdict::Fail),
        requirements,
    })
}

/// A measured value that is compared with a requirement's limits, and the counts behind it.
struct Measured {
    value: f64,
    /// Number of events, such as rollbacks, whose ratio to the number of `trials` is the measured
    /// value; `u64::MAX` if the value is no such ratio.
    count: u64,
    /// Number of trials, such as transactions, if the value is a share of them with a random error;
    /// else `None`.
    trials: Option<u64>,
}

impl RequirementReport {
    /// Returns the measured value with its unit; `None` if nothing was measured.
    pub fn measured_words(&self) -> Option<String> {
        let number = self.measured.map(|value| {
            // A response time far below its limit of seconds is easier to read in milliseconds.
            if self.unit == "s" && value > 0.0 && value < 0.1 {
                return format!("{} ms", significant(value * 1e3, 3));
            }
            let number = significant(value, 5);
            format!("{number} {}", self.unit).trim_end().to_owned()
        });
        self.measured_times.clone().or(number)
    }
}

impl Disclosure {
    /// Returns a sentence such as `9 of 10 requirements of TPC-C met, 1 not met; 2 not known`. It
    /// counts all that are not met, do not apply or could not be judged.
    pub fn summary(&self) -> String {
        let count = |verdict: Verdict| match self
            .requirements
            .iter()
            .filter(|one| one.verdict == verdict)
            .count()
        {
            0 => String::new(),
            n => format!("; {n} {}", verdict.words()),
        };
        let (passed, judged, standard) = (self.passed, self.passed + self.failed, &self.standard);
        let others = [Verdict::NotApplicable, Verdict::NotKnown].map(count).concat();
        let failed = match self.failed {
            0 => String::new(),
            n => format!(", {n} not met"),
        };
        format!("{passed} of {judged} requirements of {standard} met{failed}{others}")
    }
}

impl Measured {
    fn plain(value: f64) -> Measured {
        Measured { value, count: u64::MAX, trials: None }
    }

    fn share(count: u64, trials: u64, what: &str) -> Result<Measured, Unknown> {
        match trials {
            0 => Err(Unknown::NotKnown(format!("no {what} finished"))),
            _ => Ok(Measured {
                value: count as f64 / trials as f64 * 100.0,
                count,
                trials: Some(trials),
            }),
        }
    }
}

/// Reason why a requirement cannot be judged.
enum Unknown {
    NotKnown(String),
    /// The load cannot have this figure although the standard demands it, so that the requirement
    /// is not met. The text says why.
    Absent(String),
}

/// A group of a run, prepared to judge its requirements.
struct Scene<'a> {
    tally: &'a Tally,
    described: &'a GroupDescription,
    group: &'a GroupTally,
}

impl Scene<'_> {
    fn judge(&self, requirement: &Requirement) -> RequirementReport {
        let report = |measured, verdict, reason| RequirementReport {
            clause: requirement.clause.clone(),
            title: requirement.title.clone(),
            required: required(requirement),
            measured,
            unit: requirement.figure.unit().to_owned(),
            measured_times: self.pauses(requirement),
            verdict,
            reason,
        };
        if let Some(why) = &requirement.not_applicable {
            return report(None, Verdict::NotApplicable, Some(why.clone()));
        }
        let measured = match self.measure(requirement.figure) {
            Ok(measured) => measured,
            Err(Unknown::NotKnown(why)) => return report(None, Verdict::NotKnown, Some(why)),
            Err(Unknown::Absent(why)) => return report(None, Verdict::Fail, Some(why)),
        };
        let value = measured.value.is_finite().then_some(measured.value);
        if holds(requirement, &measured) {
            return report(value, Verdict::Pass, None);
        }
        match (value, chance(requirement, &measured)) {
            (None, _) => {
                let why = "it falls among failed or unfinished transactions";
                report(value, Verdict::Fail, Some(why.to_owned()))
            }
            (Some(_), Some(why)) => report(value, Verdict::NotKnown, Some(why)),
            (Some(_), None) => report(value, Verdict::Fail, None),
        }
    }

    /// Describes the pauses of each type in this run, `18/3/2/2/2 s`, for a requirement on pauses
    /// in key/think load; `None` for other requirements and loads.
    fn pauses(&self, requirement: &Requirement) -> Option<String> {
        let pauses = &requirement.pauses_ns;
        match self.described.load {
            Load::KeyThink { scale } if !pauses.is_empty() => {
                Some(seconds(pauses.iter().map(|(planned, _)| *planned as f64 * scale)))
            }
            _ => None,
        }
    }

    fn measure(&self, figure: Figure) -> Result<Measured, Unknown> {
        match figure {
            Figure::Nothing => Err(Unknown::NotKnown("it is not measured".to_owned())),
            Figure::ResponseTimeP90 { kind } => self.p90(kind),
            Figure::KindShare { kind } => {
                let all = self.group.measured.counts().finished();
                let share = Measured::share(self.finished(kind), all, "transaction")?;
                // Types are dealt from decks, not drawn: their shares have no random error.
                Ok(Measured { trials: None, ..share })
            }
            Figure::RolledBackShare { kind } => {
                let counts = self.group.kind(kind).map(|it| it.counts).unwrap_or_default();
                Measured::share(counts.rolled_back, counts.finished(), self.name(kind))
            }
            Figure::CounterOfKind { counter, kind } => {
                Measured::share(self.counter(counter)?, self.finished(kind), self.name(kind))
            }
            Figure::CounterOfCounter { counter, of: total } => {
                let what = self.described.custom_metrics.get(usize::from(total));
                let what = what.map_or("transaction", |metric| &metric.name);
                Measured::share(self.counter(counter)?, self.counter(total)?, what)
            }
            Figure::CounterMean { counter, kind } => {
                let share =
                    Measured::share(self.counter(counter)?, self.finished(kind), self.name(kind))?;
                Ok(Measured::plain(share.value / 100.0))
            }
            Figure::FinishedPerMinute { kind, scale } => self.rate(kind, scale),
            Figure::ClientsPer { scale } => {
                Ok(Measured::plain(f64::from(self.described.clients) / scale.max(1) as f64))
            }
            Figure::Pauses { percent } => match self.described.load {
                Load::KeyThink { scale } => Ok(Measured::plain(percent * scale)),
                Load::Closed | Load::Open { .. } => {
                    Err(Unknown::Absent("clients neither key nor think in this load".to_owned()))
                }
            },
            Figure::MeasuredMinutes => {
                Ok(Measured::plain(self.tally.measured_ns() as f64 / NS_PER_MINUTE))
            }
            Figure::Checkpoints => self.checkpoints(),
        }
    }

    fn name(&self, kind: KindIndex) -> &str {
        self.described.kinds.get(usize::from(kind)).map_or("transaction", |kind| &kind.name)
    }

    fn finished(&self, kind: KindIndex) -> u64 {
        self.group.kind(kind).map_or(0, |kind| kind.counts.finished())
    }

    /// Returns the sum of the custom metric with the index `place` in the measured phase. An `Err`
    /// says that the run did not count it.
    fn counter(&self, place: u16) -> Result<u64, Unknown> {
        if usize::from(place) >= self.described.custom_metrics.len() {
            return Err(Unknown::NotKnown("this run did not count it".to_owned()));
        }
        let found = self.group.measured.custom_metrics.iter().find(|it| it.metric == place);
        Ok(found.map_or(0, |it| it.sum))
    }

    /// Returns the 90th percentile of the response time of all offered transactions of a type, in
    /// seconds. Failed and dropped ones count as infinite. An `Err` has the reason why it is not
    /// known.
    fn p90(&self, kind: KindIndex) -> Result<Measured, Unknown> {
        let mut sum = Sum::default();
        let closed = self.described.load == Load::Closed;
        self.group.kind(kind).into_iter().for_each(|kind| sum.add(kind, closed));
        let lost = sum.counts.failed + sum.counts.dropped;
        let (finished, unfinished) = (&sum.response, &sum.unfinished);
        let offered = stats::Offered { finished, unfinished, lost };
        let order = Order::Unknown("the requirement limits the percentile only");
        let times = Latency::offered(&offered, &counts(&sum.counts), order);
        if let Some(p90_ms) = times.p90 {
            return Ok(Measured::plain(p90_ms / 1e3));
        }
        if times.infinite.iter().any(|name| name == "p90") {
            return Ok(Measured::plain(f64::INFINITY));
        }
        let why = times.reasons.get("p90").map_or("no samples", String::as_str);
        Err(Unknown::NotKnown(why.to_owned()))
    }

    /// Returns the rate per minute of a type's transactions that committed in the measured window
    /// or were rolled back by design (TPC-C 5.4.2), divided by `scale`, such as the number of
    /// warehouses. An `Err` says that nothing was measured.
    fn rate(&self, kind: KindIndex, scale: u64) -> Result<Measured, Unknown> {
        let minutes = self.tally.measured_ns() as f64 / NS_PER_MINUTE;
        if minutes == 0.0 {
            return Err(Unknown::NotKnown("nothing was measured".to_owned()));
        }
        let commits = self.group.commits_of(kind, self.tally.seconds());
        let rolled_back = self.group.kind(kind).map_or(0, |kind| kind.counts.rolled_back);
        Ok(Measured::plain((commits + rolled_back) as f64 / minutes / scale.max(1) as f64))
    }

    /// Returns the number of checkpoints in the measured phase, from those counters of the server
    /// that the driver names. An `Err` says that none of them was read.
    fn checkpoints(&self) -> Result<Measured, Unknown> {
        let counters = self.tally.fact("checkpoints", "counters").and_then(FactValue::text);
        let counters: Vec<&str> = counters.into_iter().flat_map(|all| all.split(", ")).collect();
        let is_counter = |name: &str| counters.contains(&name);
        let gauges = self.tally.gauges.iter().zip(0u16..);
        let places: Vec<u16> =
            gauges.filter(|(gauge, _)| is_counter(&gauge.name)).map(|(_, place)| place).collect();
        let seconds = self.tally.seconds();
        let within = self.tally.readings.iter().filter(|it| seconds.contains(&it.second));
        let values = within.flat_map(|readings| &readings.values);
        let read: Vec<f64> =
            values.filter(|(place, _)| places.contains(place)).map(|(_, rate)| *rate).collect();
        if read.is_empty() {
            let why = "no counter of checkpoints was read from this server";
            return Err(Unknown::NotKnown(why.to_owned()));
        }
        Ok(Measured::plain(read.iter().sum::<f64>().round()))
    }
}

fn holds(requirement: &Requirement, measured: &Measured) -> bool {
    if requirement.or_count > 0 && measured.count <= requirement.or_count {
        return true;
    }
    let is_enough = requirement.min.is_none_or(|min| measured.value >= min);
    let is_no_more = requirement.max.is_none_or(|max| match requirement.is_below {
        true => measured.value < max,
        false => measured.value <= max,
    });
    is_enough && is_no_more
}

/// Formats times in seconds, one for each type: `18/3/2/2/2 s`.
fn seconds(times_ns: impl Iterator<Item = f64>) -> String {
    // To a microsecond: smaller digits are rounding errors of a factor.
    let number = |ns: f64| ((ns / 1e3).round() / 1e6).to_string();
    let all: Vec<String> = times_ns.map(number).collect();
    format!("{} s", all.join("/"))
}

/// Formats the limits: `0.9 to 1.1 %`, `< 5 s`, `≤ 1 % or one`, `≥ 18/3/2/2/2 s`.
fn required(requirement: &Requirement) -> String {
    if !requirement.pauses_ns.is_empty() {
        let required = requirement.pauses_ns.iter().map(|(_, required)| *required as f64);
        return format!("≥ {}", seconds(required));
    }
    let unit = requirement.figure.unit();
    let gap = if unit.is_empty() { "" } else { " " };
    // As the clause writes them.
    let number = |value: f64| value.to_string();
    match (requirement.min, requirement.max) {
        (Some(min), Some(max)) if min == max => format!("{}{gap}{unit}", number(min)),
        (Some(min), Some(max)) => format!("{} to {}{gap}{unit}", number(min), number(max)),
        (Some(min), None) => format!("≥ {}{gap}{unit}", number(min)),
        (None, Some(max)) => {
            let sign = if requirement.is_below { "<" } else { "≤" };
            let or = if requirement.or_count == 1 { ", or one" } else { "" };
            format!("{sign} {}{gap}{unit}{or}", number(max))
        }
        (None, None) => String::new(),
    }
}

/// Returns the reason why a share outside of its limits may still meet them: it is within two
/// binomial standard deviations of the middle of the limits; `None` otherwise.
fn chance(requirement: &Requirement, measured: &Measured) -> Option<String> {
    let (min, max, trials) = (requirement.min?, requirement.max?, measured.trials?);
    let middle = (min + max) / 200.0;
    let deviation = (middle * (1.0 - middle) / trials as f64).sqrt() * 100.0;
    ((measured.value - middle * 100.0).abs() <= 2.0 * deviation).then(|| {
        format!(
            "too few to tell: with {} of them, chance alone varies the share by ± {} % (two standard deviations)",
            model::format_count(trials),
            significant(2.0 * deviation, 2)
        )
    })
}

#[cfg(test)]
mod tests;
