//! Sentences on the outcome of a gate, that is a limit on a change: what was measured, how certain
//! it is, and what to do.
//!
//! Not here: whether a gate passed (study).

use model::format_count;
use model::numbers::{beside_bound, count, exact};
use study::comparison::{GateResult, Passed, TooFew, UndecidedBy, Worst};

use super::words::{RUNS_MOST, is_twofold, sign, smallest};
use crate::document::{Text, Tone, Verdict};

/// Number of significant digits in which a figure's change is printed beside its limit; more if the
/// rounded change would equal the limit.
const DIGITS_OF_BOUND: usize = 2;

/// Returns the verdict on a gate (a limit on the change of a figure) in words: passed, failed or
/// undecided, with advice on an undecided one.
pub(super) fn gate(gate: &GateResult) -> Verdict {
    let at = gate.at.join(", ");
    let too_few = gate.too_few.map(|few| too_few(few, gate.limit));
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
                (UndecidedBy::Noise, None, None) if gate.has_too_few_runs() => format!(
                    "; {} has {}, which can decide nothing: run 6 or more a side (--repeat 6)",
                    gate.side_least,
                    count(gate.runs_least as u64, "run")
                ),
                (why, ..) => format!("; {}", advice(why)),
            };
            (Tone::Warning, format!("undecided {}: {at}{advice}", gate.gate))
        }
    };
    let details = paired(gate).map(Text::from).into_iter().collect();
    Verdict { tone, word: "Limit".to_owned(), headline: headline.into(), details }
}

/// Describes the change that is closest to the limit of a passed gate: `+0.2 % measured, at worst
/// -1.4 % (one-sided 95 % bound of 5 pairs of interleaved runs)`.
fn held(worst: Worst, gate: &GateResult) -> String {
    let limit = gate.limit * 100.0;
    let percent = |ratio: f64| {
        let share = (ratio - 1.0) * 100.0;
        format!("{}{} %", sign(share), beside_bound(share.abs(), limit.abs(), DIGITS_OF_BOUND))
    };
    let of_pairs = gate.pairs_least.map(|n| format!(" of {n} pairs of interleaved runs"));
    let (measured, bound) = (percent(worst.measured), percent(worst.bound));
    format!(
        "{measured} measured, at worst {bound} (one-sided 95 % bound{})",
        of_pairs.unwrap_or_default()
    )
}

/// Explains why a passed gate (limit on a change) and the confidence intervals on the page may seem
/// to contradict each other; `None` if both compare the runs in the same way.
fn paired(gate: &GateResult) -> Option<&'static str> {
    let is_paired =
        gate.passed == Passed::Held && gate.pairs_least.is_some() && !gate.are_ratios_paired;
    is_paired.then_some(
        "The limit is judged by pairs of interleaved runs; the CIs below do not use the pairs, and \
         are wider.",
    )
}

/// Describes how many runs a gate needs: `3 runs a side are too few for 5 %: they detect 48 %,
/// about 280 detect 5 %`.
fn too_few(few: TooFew, limit: f64) -> String {
    let least = smallest(few.detectable, is_twofold(few.detectable));
    let runs = count(few.runs as u64, "run");
    let needed = match few.needed as f64 > RUNS_MOST {
        true => format!("more than {RUNS_MOST} would be needed for"),
        false => format!("about {} detect", format_count(few.needed)),
    };
    let limit = exact(limit.abs() * 100.0);
    format!("{runs} a side are too few for {limit} %: they detect {least}, {needed} {limit} %")
}

/// Returns advice for a gate whose figure is 0 on the baseline, so that its change is infinite:
/// limit the value instead.
fn from_zero(figure: &str) -> String {
    format!(
        "; no percentage describes a rise from 0: limit the value of each run, with --require \
         '{figure}<VALUE'"
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
            "the change is close to the limit: more repeats may decide it (from 6 on, interleaved \
             runs are compared in pairs), or a limit that is further away"
        }
        UndecidedBy::Noise => "too few runs, or too much noise: run more repeats",
    }
}
