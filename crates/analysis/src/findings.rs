//! Findings: is this result valid, and what is to be done about it?
//!
//! A finding is a variant of one of the enums in this folder: its identity, how much it matters
//! and the figure that raised it stand in one arm of `words`; when it is raised and what to do
//! about it stand in the list of all (`model::finding_catalog`). Each has a made-up run that raises
//! it (see the tests below), and a plain run raises none but notes.
//!
//! Not here: what only the makers of the run can know; theirs come as events and are kept.

mod data;
mod disturbances;
mod environment;
mod generator;
mod host;
mod offered;
mod others_cpu;
mod outcomes;
mod samples;
mod saturation;
mod seconds;
mod steadiness;

use model::finding_catalog::catalog_entry;
use model::numbers::{amount, count, duration, percent_text, seconds, significant};
use model::{Finding, GroupDescription, Order, Severity, StopReason};

pub use data::counts_all_commits;
pub use steadiness::{commits_warm_up, is_drifting, times_warm_up};

use crate::report::{Dip, DisturbanceReport, is_build};
use crate::tally::{GroupTally, Sum, Tally};

/// What one finding says.
struct FindingText {
    id: &'static str,
    severity: Severity,
    /// What was seen, with its figures.
    text: String,
}

impl FindingText {
    fn finding(self, group: Option<&str>) -> Finding {
        self.advised(group, None)
    }

    /// The finding with this advice, or that of the list of all.
    fn advised(self, group: Option<&str>, advice: Option<&str>) -> Finding {
        let group = group.map(|name| format!("Group {name}: ")).unwrap_or_default();
        let listed =
            catalog_entry(self.id).expect("a test holds every finding against the list of all");
        let observed = format!("{group}{}", self.text);
        let text = format!("{observed} {}", advice.unwrap_or(listed.advice));
        Finding { observed: Some(observed), ..Finding::new(self.id, self.severity, text) }
    }
}

/// One group, as findings look at it.
struct View<'a> {
    tally: &'a Tally,
    index: usize,
    group: &'a GroupTally,
    described: Option<&'a GroupDescription>,
    /// Its measured phase.
    sum: Sum,
}

/// All that is to be thought of a run, most severe first.
///
/// Of a run whose process died between its judgement and its report the events have findings of
/// ours too: what we find now stands for them.
pub(crate) fn judge(tally: &Tally) -> Vec<Finding> {
    let mut findings = Vec::new();
    if is_build(tally) {
        // A build offers no load whose latency or rate could mislead.
        let all = environment::look(tally).into_iter().map(|words| words.finding(None));
        findings.extend(all.chain(tally.findings.iter().cloned()));
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings.dedup();
        return findings;
    }
    let whole = [
        steadiness::look(tally),
        seconds::look(tally),
        environment::look(tally),
        saturation::look(tally),
        disturbances::look(tally),
    ];
    findings.extend(data::look(tally));
    findings.extend(whole.into_iter().flatten().map(|words| {
        let advice = generator::advice(tally, words.id);
        let advice = advice.or_else(|| others_cpu::advice(tally, words.id));
        words.advised(None, advice)
    }));
    for (index, group) in tally.groups.iter().enumerate() {
        let described = tally.description(index);
        let view = View { tally, index, group, described, sum: Sum::of(tally, &[index]) };
        let name =
            described.filter(|_| tally.groups.len() > 1).map(|described| described.name.as_str());
        let looks = [
            outcomes::look(&view),
            generator::look(&view),
            offered::look(&view),
            samples::look(&view),
        ];
        findings.extend(looks.into_iter().flatten().map(|words| words.finding(name)));
    }
    let n_ours = findings.len();
    for described in &tally.findings {
        let is_ours = findings[..n_ours].iter().any(|finding| finding.id == described.id);
        if !is_ours && !findings.contains(described) {
            findings.push(described.clone());
        }
    }
    let place =
        |finding: &Finding| FIRST.iter().position(|id| *id == finding.id).unwrap_or(FIRST.len());
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), place(finding)));
    findings
}

/// Warnings that come first. What stopped the generator may be the cause of all others; what took
/// its CPU time shifts every figure, and not only some seconds.
const FIRST: [&str; 3] = [generator::PAUSED, "other_cpu_load", "generator_saturated"];

/// What is to be thought of the order in which the trials of an experiment were made.
pub fn judge_order(order: Order, n_points: usize, repeats: u32) -> Option<Finding> {
    let is_blocked = order == Order::Sequential && n_points > 1 && repeats > 1;
    let text = format!(
        "All {repeats} trials of each of {n_points} points ran one after the other: any drift \
         (the machine, the data) counts as a difference between points."
    );
    let (id, severity) = ("points_not_interleaved", Severity::Warning);
    is_blocked.then(|| FindingText { id, severity, text }.finding(None))
}

/// What is to be thought of the kernels that the trials of an experiment ran on: one that goes on
/// after a restart may find another.
pub fn judge_kernels(kernels: &[String]) -> Option<Finding> {
    let text = format!(
        "Trials ran on {} kernels ({}): a point may mix results of several kernels.",
        kernels.len(),
        kernels.join(", ")
    );
    let (id, severity) = ("kernels_differ", Severity::Warning);
    (kernels.len() > 1).then(|| FindingText { id, severity, text }.finding(None))
}

/// A p95 that rose by less is not what a dip is, where one transaction took long.
const ROSE_MIN: f64 = 1.5;

/// Commits that fell to no less than this share of the usual are not what a dip is.
const FELL_MAX: f64 = 0.9;

/// What is to be thought of seconds in which throughput fell or response times rose, where it is
/// known what they come from: the dip that cost most.
pub(crate) fn judge_dips(dips: &[Dip], disturbances: &[DisturbanceReport]) -> Option<Finding> {
    let known = dips.iter().filter_map(|dip| Some((dip, dip.causes.first()?)));
    let (dip, seen) = known.max_by(|a, b| a.0.cost_s().total_cmp(&b.0.cost_s()))?;
    let unit = if dip.to_s - dip.from_s == 1 { "second" } else { "seconds" };
    // In open load, commits that came late may be made up for within the same seconds.
    let fell = dip.rate_ratio.filter(|ratio| *ratio < FELL_MAX);
    let rose = dip.p95_ratio.filter(|ratio| *ratio > 1.0);
    let what = match (fell, rose) {
        (Some(ratio), _) => format!("Commits fell to {}", percent_text(100.0 * ratio)),
        (None, Some(ratio)) if ratio > ROSE_MIN || dip.longest_ms.is_none() => {
            format!("p95 rose {}-fold", significant(ratio, 2))
        }
        _ if let Some(ms) = dip.longest_ms => format!("A transaction took {}", seconds(ms / 1e3)),
        _ => "Transactions were slow".to_owned(),
    };
    let more = match dips.len() {
        1 => String::new(),
        n => format!(" {} in all.", count(n as u64, "dip")),
    };
    let of = |value| amount(value, &seen.shown_by.unit);
    // The plan's own disturbance is no coincidence, wherever the cause is named.
    let planned = disturbances.iter().find(|one| {
        let is_before = one.ended_s.is_some_and(|ended_s| ended_s <= dip.from_s as f64);
        one.outcome != "skipped" && one.began_s < dip.to_s as f64 && !is_before
    });
    let during = planned
        .map_or_else(String::new, |one| format!(" It is during '{}' of the plan.", one.name));
    let text = format!(
        "{what} in {unit} {}; at the same time {} ({}: {}, usually {}).{during}{more}",
        dip.seconds(),
        dip.words(seen.cause),
        seen.shown_by.gauge,
        of(seen.shown_by.then),
        of(seen.shown_by.usual)
    );
    let (id, severity) = ("dip_explained", Severity::Warning);
    let advice = planned.map(|_| "See 'Where the time goes' for what else moved then.");
    Some(FindingText { id, severity, text }.advised(None, advice))
}

/// What is to be thought of the labels of an experiment's runs: whoever goes on with another value
/// of one, as after a restart with another kernel, has two parts.
pub fn judge_labels(keys: &[&str], runs: &[&[(String, String)]]) -> Vec<Finding> {
    let of_key = |key: &&str| {
        let values = runs.iter().flat_map(|labels| labels.iter().filter(|(name, _)| name == key));
        let mut parts: Vec<(&str, u64)> = Vec::new();
        for (_, value) in values {
            match parts.iter_mut().find(|(known, _)| known == value) {
                Some((_, n)) => *n += 1,
                None => parts.push((value, 1)),
            }
        }
        let part = |(value, n): &(&str, u64)| format!("{key}={value} in {}", count(*n, "run"));
        let text = format!(
            "Trials have different labels ({}): what a point shows may be of several of them.",
            parts.iter().map(part).collect::<Vec<_>>().join(", ")
        );
        let (id, severity) = ("labels_differ", Severity::Warning);
        (parts.len() > 1).then(|| FindingText { id, severity, text }.finding(None))
    };
    keys.iter().filter_map(of_key).collect()
}

/// Whether a run ended, as its plan asks, before anything was measured: then what speaks of the
/// measured phase would mislead.
fn is_over_early(tally: &Tally) -> bool {
    is_full_early(tally) || (tally.measured_ns() == 0 && steadiness::counted(tally).is_some())
}

/// Whether a full queue ended it so.
fn is_full_early(tally: &Tally) -> bool {
    let reason = tally.ended.as_ref().map(|ended| &ended.reason);
    reason == Some(&StopReason::QueueFull) && tally.measured_ns() == 0
}

/// A share of a whole in percent; 0 of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests;
