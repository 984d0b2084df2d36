//! Sentences on the outcome of a gate, that is a limit on a change: what was measured, how certain
//! it is, and what to do.
//!
//! Not here: whether a gate passed (study).

use model::numbers::{beside_bound, count, exact};
use study::comparison::{GateResult, Passed, TooFew, UndecidedBy, Worst};

use super::words::{RUNS_MOST, is_manifold, sign, smallest};
use crate::document::{Text, Tone, Verdict};

/// Number of significant digits in which a figure's change is printed beside its limit; more if the
/// rounded change would equal the limit.
const DIGITS_OF_BOUND: usize = 2;

/// Returns the verdict on a gate (a limit on the change of a figure) in words: passed, failed or
/// undecided, with advice on an undecided one.
pub(super) fn gate(gate: &GateResult) -> Verdict {
    let at = gate.at.join(", ");
    let too_few = gate.too_few.map(|few| too_few(few, gate.limit));
    let is_by_pairs = gate.pairs_least.is_some() && !gate.are_ratios_paired;
    let (tone, headline) = match gate.passed {
        Passed::Held => {
            let worst = gate.worst.filter(|worst| worst.bound.is_finite());
            let held = worst.map(|worst| format!(": {}", held(worst, gate))).unwrap_or_default();
            (Tone::Good, format!("within the limit {}{held}", gate.gate))
        }
        Passed::Broken => {
            let zero = gate.from_zero.as_ref().map(|name| from_zero(name)).unwrap_or_default();
            (Tone::Bad, format!("FAILED {}: {at}{zero}", gate.gate))
        }
        Passed::Undecided => {
            let advice = match (gate.undecided_by, too_few, &gate.from_zero) {
                (UndecidedBy::Noise, _, Some(name)) => from_zero(name),
                (UndecidedBy::Noise, Some(few), None) => format!("; {few}"),
                (UndecidedBy::Noise | UndecidedBy::Near, None, None)
                    if let Some((n, outcome)) = gate.decided_after.zip(gate.decided_as) =>
                {
                    decided_after(n, outcome)
                }
                (UndecidedBy::Noise, None, None) if gate.has_too_few_runs() => format!(
                    "; {} has {}, which can decide nothing: run 6 or more a side (--repeat 6)",
                    gate.side_least,
                    count(gate.runs_least as u64, "run")
                ),
                (why, ..) => format!("; {}", advice(why)),
            };
            let is_of_figure = matches!(gate.undecided_by, UndecidedBy::Noise | UndecidedBy::Near);
            let by_pairs = match is_by_pairs && is_of_figure && gate.from_zero.is_none() {
                true => BY_PAIRS,
                false => "",
            };
            (Tone::Warning, format!("undecided {}: {at}{advice}{by_pairs}", gate.gate))
        }
    };
    let details = paired(gate).map(Text::from).into_iter().collect();
    Verdict { tone, word: "Limit".to_owned(), headline: headline.into(), details }
}

/// End of a sentence on an undecided limit that has two ranges: an interval over all runs, and a
/// bound of pairs.
const BY_PAIRS: &str = "; with so few repeats, only the whole CI can fail a limit, and the bound \
                        of the pairs can only pass it";

/// Describes what more repeats would show: `if the change stays as measured, roughly 10 repeats
/// would show it within this limit`.
fn decided_after(n: u64, outcome: Passed) -> String {
    let outcome = match outcome {
        Passed::Held => "show it within this limit",
        Passed::Broken => "show it beyond this limit (FAILED)",
        Passed::Undecided => {
            return "; the change is closer to this limit than its noise, so that more repeats may \
                    not decide it: set a larger limit to let such a change pass, or a smaller one \
                    to fail it"
                .to_owned();
        }
    };
    let n = count(n, "repeat");
    format!("; if the change stays as measured, roughly {n} would {outcome}")
}

/// Returns the outcome of a gate in a sentence, such as `FAILED tps<-5%: -12 % …`.
pub fn gate_in_words(result: &GateResult) -> String {
    gate(result).headline.plain()
}

/// Describes the change that is closest to the limit of a passed gate: `+0.2 % measured, one-sided
/// 95 % bound -1.4 % of 5 pairs of interleaved runs`.
fn held(worst: Worst, gate: &GateResult) -> String {
    let limit = gate.limit * 100.0;
    let percent = |ratio: f64| {
        let share = (ratio - 1.0) * 100.0;
        format!("{}{} %", sign(share), beside_bound(share.abs(), limit.abs(), DIGITS_OF_BOUND))
    };
    let of_pairs = gate.pairs_least.map(|n| format!(" of {n} pairs of interleaved runs"));
    let (measured, bound) = (percent(worst.measured), percent(worst.bound));
    format!("{measured} measured, one-sided 95 % bound {bound}{}", of_pairs.unwrap_or_default())
}

/// Explains why a passed gate (limit on a change) and the rows of the page may seem to contradict
/// each other: rows have intervals with two ends, and verdicts on any change.
fn paired(gate: &GateResult) -> Option<String> {
    let pairs = match gate.pairs_least.is_some() && !gate.are_ratios_paired {
        true => " and do not use the pairs",
        false => "",
    };
    let words = format!(
        "The CIs below have two ends{pairs}, so they may reach beyond that bound; a verdict below \
         is on any change at all, however small."
    );
    let has_bound = gate.worst.is_some_and(|worst| worst.bound.is_finite());
    (gate.passed == Passed::Held && has_bound).then_some(words)
}

/// Describes how many repeats a gate needs: `too noisy for this limit: 3 pairs of runs can only
/// rule out a fall of more than 48 %, even between equal builds; about 28 repeats could rule out
/// 5 %`.
fn too_few(few: TooFew, limit: f64) -> String {
    let least = smallest(few.detectable, is_manifold(few.detectable));
    let runs = match few.are_pairs {
        true => format!("{} of runs", count(few.runs as u64, "pair")),
        false => format!("{} a side", count(few.runs as u64, "run")),
    };
    let change = if limit < 0.0 { "fall" } else { "rise" };
    let limit = exact(limit.abs() * 100.0);
    let needed = match few.needed.filter(|needed| *needed as f64 <= RUNS_MOST) {
        None => format!("it takes more than {RUNS_MOST} repeats to rule out {limit} %"),
        Some(needed) => {
            format!("about {} could rule out {limit} %", count(needed, "repeat"))
        }
    };
    format!(
        "too noisy for this limit: {runs} can only rule out a {change} of more than {least}, even \
         between equal builds; {needed}"
    )
}

/// Returns advice for a gate whose figure is 0 on the baseline, so that its change is infinite:
/// limit the value instead.
fn from_zero(figure: &str) -> String {
    format!(
        "; no percentage describes a rise from 0: limit the value itself, with --require \
         '{figure}<VALUE' of 'dbdyno run'"
    )
}

/// Returns advice on how to decide an undecided gate.
fn advice(why: UndecidedBy) -> &'static str {
    match why {
        UndecidedBy::LostRuns => "the change may be the cause: 'dbdyno runs list' shows these runs",
        UndecidedBy::Drift => {
            "the runs were not interleaved, and a drift may explain it: interleave the sides"
        }
        UndecidedBy::HiddenByDrift => {
            "the runs were not interleaved, and a drift may hide a change beyond the limit: \
             interleave the sides"
        }
        UndecidedBy::OneSide => "run that point on both sides, or leave its runs out",
        UndecidedBy::Samples => "run longer (--duration)",
        UndecidedBy::Running => "repeat this when all runs have ended",
        UndecidedBy::Results => {
            "judge limits by a number of repeats that is fixed beforehand, such as --repeat 8"
        }
        UndecidedBy::Load => "run both sides with the same load",
        UndecidedBy::Near => {
            "the change is close to the limit: a limit farther from it is decided sooner (a larger \
             one, to let such a change pass, or a smaller one, to fail it); more repeats may not be \
             enough (from 6 on, interleaved runs are compared in pairs)"
        }
        UndecidedBy::Noise => "too few runs, or too much noise: run more repeats",
    }
}
