//! Findings: problems of a run's result, each with its figures and advice.
//!
//! A finding is a variant of one of the enums in this folder: its id, its severity and the figures
//! that raised it are in one arm of `text` (or of `id` and `sentence`). `model::finding_catalog`
//! says when it is raised and what to do about it. For each finding, the tests have a made-up run
//! that raises it; an ordinary run raises only notes.
//!
//! Not here: findings that only the process of the run can make. They arrive as events, and are
//! kept.

mod data;
mod disturbances;
mod environment;
mod generator;
mod lost_figures;
mod offered;
mod others_cpu;
mod outcomes;
pub mod replicas;
mod samples;
mod saturation;
mod seconds;
mod steadiness;

use model::finding_catalog::catalog_entry;
use model::numbers::{amount, count, duration, percent_text, seconds, significant};
use model::{Finding, GroupDescription, Load, Order, Severity, StopReason};

pub use data::counts_all_commits;
pub(crate) use data::data_in_memory;
pub use steadiness::{commits_warm_up, is_drifting, times_warm_up};

use crate::report::{Dip, DisturbanceReport, is_build};
use crate::tally::{GroupTally, Sum, Tally};

/// The text of a finding, before its advice is added.
struct FindingText {
    id: &'static str,
    severity: Severity,
    /// The observation that raised the finding, with its figures.
    text: String,
}

impl FindingText {
    fn finding(self, group: Option<&str>) -> Finding {
        self.advised(group, None)
    }

    /// Returns the finding with this text and with advice: `advice`, or else the advice in the
    /// catalog of findings. `group` is the name of the group of clients that the finding is about,
    /// if the run has several groups.
    fn advised(self, group: Option<&str>, advice: Option<&str>) -> Finding {
        let group = group.map(|name| format!("Group {name}: ")).unwrap_or_default();
        let listed =
            catalog_entry(self.id).expect("a test holds every finding against the list of all");
        let observed = format!("{group}{}", self.text);
        Finding::with_advice(self.id, self.severity, observed, advice.unwrap_or(listed.advice))
    }
}

/// A group of clients with all that findings on it need: the run, its description and its sums.
struct View<'a> {
    tally: &'a Tally,
    index: usize,
    group: &'a GroupTally,
    described: Option<&'a GroupDescription>,
    /// Counts and times of the group in the measured phase.
    sum: Sum,
}

/// Returns all findings on a run, the most severe first.
///
/// Findings in the run's events are kept, except for those that this function raises again: a
/// process that was killed may have judged the run without storing a report. `has_cause` is true if
/// the finding on dips names what coincided with slow seconds: no other finding then names another.
pub(crate) fn judge(tally: &Tally, has_cause: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if is_build(tally) {
        // A build offers no load whose latency or rate could mislead.
        let all = environment::look(tally).into_iter().map(|words| words.finding(None));
        findings.extend(all.chain(tally.findings.iter().cloned()));
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings.dedup();
        return findings;
    }
    let of_time = match tally.is_sequence() {
        // Each second of a fixed sequence has another transaction.
        true => [steadiness::look_at_end(tally), Vec::new()],
        false => [steadiness::look(tally), seconds::look(tally)],
    };
    let whole = [
        environment::look(tally),
        saturation::look(tally),
        disturbances::look(tally),
        replicas::look(tally),
    ];
    findings.extend(data::look(tally));
    findings.extend(of_time.into_iter().chain(whole).flatten().map(|words| {
        let advice = generator::advice(tally, words.id);
        let is_named = has_cause && OF_DIPS.contains(&words.id);
        let advice = advice.or(is_named.then_some(SEE_DIP));
        let advice = advice.or_else(|| others_cpu::advice(tally, words.id));
        words.advised(None, advice)
    }));
    for (index, group) in tally.groups.iter().enumerate() {
        let described = tally.description(index);
        let view = View { tally, index, group, described, sum: Sum::from_tally(tally, &[index]) };
        let name =
            described.filter(|_| tally.groups.len() > 1).map(|described| described.name.as_str());
        let looks = [
            outcomes::look(&view),
            generator::look(&view),
            offered::look(&view),
            samples::look(&view),
        ];
        let is_sequence = described.is_some_and(|described| described.sequence.is_some());
        let too_few = if is_sequence { None } else { samples::too_few(&view) };
        let lost = lost_figures::look(&view);
        findings.extend(looks.into_iter().flatten().chain(too_few).chain(lost).map(|words| {
            let is_lost = LOST.contains(&words.id) && is_sequence;
            let has_no_rate = described.is_some_and(|described| !is_open(&described.load));
            let is_unfinished = words.id == "unfinished" && has_no_rate;
            let advice = is_lost.then_some(NO_VALUE);
            words.advised(name, advice.or(is_unfinished.then_some(WITHOUT_A_RATE)))
        }));
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

/// Ids of findings on lost transactions, whose advice is about percentiles.
const LOST: [&str; 2] = ["failed", "unfinished"];

/// Advice on lost transactions of a fixed sequence, which has no percentiles.
const NO_VALUE: &str = "Figures of the sequence that need them have no value.";

/// Advice on unfinished transactions of a load that has no rate to lower.
const WITHOUT_A_RATE: &str = "Use the offered percentiles, which count them with at least their \
                              age, or allow a longer drain (--drain).";

fn is_open(load: &Load) -> bool {
    matches!(load, Load::Open { .. })
}

/// Ids of findings on seconds of dips whose advice names causes, or may be replaced by another that
/// does.
const OF_DIPS: [&str; 3] = ["slow_seconds", "uneven", "stalled"];

/// Advice on slow seconds where the finding on dips names what coincided with them, instead of the
/// catalog's.
const SEE_DIP: &str = "The finding on the dip has what coincided with them.";

/// Ids of the findings that come first among equally severe ones: a figure that the run is for and
/// does not have says what the others lead to; a pause of the generator may
/// cause all the others, and a lack of CPU time for the generator shifts every figure, not only
/// some seconds.
const FIRST: [&str; 5] =
    ["no_figure", "agent_lost", generator::PAUSED, "other_cpu_load", "generator_saturated"];

/// Returns a finding if an experiment ran all `repeats` of a point in succession before those of
/// the next, so that a drift counts as a difference between points; `None` otherwise.
pub fn judge_order(order: Order, n_points: usize, repeats: u32) -> Option<Finding> {
    let is_blocked = order == Order::Sequential && n_points > 1 && repeats > 1;
    let text = format!(
        "All {repeats} trials of each of {n_points} points ran one after the other: any drift \
         (the machine, the data) counts as a difference between points."
    );
    let (id, severity) = ("points_not_interleaved", Severity::Warning);
    is_blocked.then(|| FindingText { id, severity, text }.finding(None))
}

/// Returns a finding if an experiment has runs on several operating system kernels, as after a
/// reboot between them; `None` otherwise. `kernels` has each kernel once.
pub fn judge_kernels(kernels: &[String]) -> Option<Finding> {
    let text = format!(
        "Trials ran on {} kernels ({}): a point may mix results of several kernels.",
        kernels.len(),
        kernels.join(", ")
    );
    let (id, severity) = ("kernels_differ", Severity::Warning);
    (kernels.len() > 1).then(|| FindingText { id, severity, text }.finding(None))
}

/// Factor by which p95 must rise for the finding on a dip to report that rise. If p95 rose less,
/// the finding reports the longest transaction of the dip instead, if one stands out.
const ROSE_MIN: f64 = 1.5;

/// Share of the usual rate of commits below which the finding on a dip says that commits fell.
const FELL_MAX: f64 = 0.9;

/// Returns the finding on the dip with the largest cost among those with a known cause; `None` if
/// there is none. A dip is a time in which throughput fell or response times rose.
pub(crate) fn judge_dips(dips: &[Dip], disturbances: &[DisturbanceReport]) -> Option<Finding> {
    let known = dips.iter().filter_map(|dip| Some((dip, dip.causes.first()?)));
    let (dip, seen) = known.max_by(|a, b| a.0.cost_s().total_cmp(&b.0.cost_s()))?;
    // In open load, late commits may be made up for within the same seconds.
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
    let with_unit = |value| amount(value, &seen.shown_by.unit);
    // A disturbance of the plan is never a coincidence, wherever the cause is named.
    let planned = disturbances.iter().find(|one| {
        let is_before = one.ended_s.is_some_and(|ended_s| ended_s <= dip.from_s as f64);
        one.outcome != "skipped" && one.began_s < dip.to_s as f64 && !is_before
    });
    let during = planned
        .map_or_else(String::new, |one| format!(" It is during '{}' of the plan.", one.name));
    let text = format!(
        "{what} from {} s to {} s; with it, {} ({}: {}, usually {}).{during}{more}",
        dip.from_s,
        dip.to_s,
        dip.words(seen.cause),
        seen.shown_by.gauge,
        with_unit(seen.shown_by.then),
        with_unit(seen.shown_by.usual)
    );
    let (id, severity) = ("dip_explained", Severity::Warning);
    let advice = planned.map(|_| "See 'Where the time goes' for what else moved then.");
    Some(FindingText { id, severity, text }.advised(None, advice))
}

/// Returns a finding for each of the labels `keys` whose values differ between the runs of an
/// experiment. `runs` has the labels of each run as pairs of key and value.
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

/// Returns true if a run ended, as its plan says, before anything was measured. Findings on the
/// measured phase would then mislead.
fn is_over_early(tally: &Tally) -> bool {
    is_full_early(tally) || (tally.measured_ns() == 0 && steadiness::counted(tally).is_some())
}

/// Returns true if a full queue ended the run before the measured phase.
fn is_full_early(tally: &Tally) -> bool {
    let reason = tally.ended.as_ref().map(|ended| &ended.reason);
    reason == Some(&StopReason::QueueFull) && tally.measured_ns() == 0
}

/// Returns true if an error stopped the run. That error is then the cause of a short run and of
/// missing results, which are not reported again.
fn is_failed(tally: &Tally) -> bool {
    tally.ended.as_ref().is_some_and(|ended| matches!(ended.reason, StopReason::Failed { .. }))
}

/// Returns the share of `part` in `whole` in percent; 0 if `whole` is 0.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests;
