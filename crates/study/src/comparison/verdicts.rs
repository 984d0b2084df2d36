//! Verdicts on differences between the sides of a comparison, from corrected p-values and the
//! minimum effect.
//!
//! Not here: the ratios and uncorrected p-values (pairs).

use stats::{detectable, detectable_by_means, detectable_of_pairs, hommel, needed, pairs_needed};

use super::{CONFIDENCE, FIRST, Judged, PairReport, SECOND, is_worse, matters};
use model::Direction;
use serde::{Deserialize, Serialize};

/// The verdict on a figure of one side of a comparison, set against the baseline. JSON has the
/// words of [`Verdict::name`] joined by `_`, except for `no_evidence`, which pages call undecided
/// because readers took "no evidence" for "no difference".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The figure is better than the baseline's beyond chance, and the measured change exceeds the
    /// minimum effect; its interval may not.
    Better,
    /// The figure is worse than the baseline's beyond chance, and the measured change exceeds the
    /// minimum effect; its interval may not.
    Worse,
    /// The figure is higher than the baseline's, by more than the minimum effect, and neither
    /// higher nor lower values of it are better.
    Higher,
    /// The figure is lower than the baseline's, by more than the minimum effect, and neither higher
    /// nor lower values of it are better.
    Lower,
    /// The whole confidence interval of the difference is within the minimum effect.
    TooSmallToMatter,
    /// There is a significant difference, but it may be smaller than the minimum effect.
    DiffersSizeNotKnown,
    /// There is a significant difference, but runs of baseline and compared side did not alternate,
    /// and a drift of the machine like that among the runs of one side would explain it.
    DiffersOrTheMachineDrifted,
    /// There is no significant difference, though the runs are enough to show one.
    NoEvidence,
    /// There are too few runs to show any difference, or the figure has no value.
    CannotBeJudged,
}

impl Verdict {
    /// All verdicts, in the order in which they are reported.
    pub const ALL: [Verdict; 9] = [
        Verdict::Better,
        Verdict::Worse,
        Verdict::Higher,
        Verdict::Lower,
        Verdict::DiffersSizeNotKnown,
        Verdict::DiffersOrTheMachineDrifted,
        Verdict::TooSmallToMatter,
        Verdict::NoEvidence,
        Verdict::CannotBeJudged,
    ];

    /// Returns the verdict in words, such as `too small to matter`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Higher => "higher",
            Verdict::Lower => "lower",
            Verdict::TooSmallToMatter => "too small to matter",
            Verdict::DiffersSizeNotKnown => "differs, size not known",
            Verdict::DiffersOrTheMachineDrifted => "differs, or the machine drifted",
            Verdict::NoEvidence => "undecided",
            Verdict::CannotBeJudged => "cannot be judged",
        }
    }
}

/// Judges all figures of a comparison. If nothing differs, the probability of any wrong difference
/// in the headlines is at most [`FIRST`] plus [`SECOND`].
///
/// The headline of each compared side (its primary figure over all points) is corrected for the
/// number of sides. The points of the side and the second headline figure are corrected together,
/// and more strictly if the headline shows no difference (a fallback procedure: B. L. Wiens, Pharm.
/// Stat. 2, 211, 2003). All other figures are corrected for each other.
pub(super) fn judge_all(
    pairs: &mut [PairReport],
    (primary, better): (&str, Direction),
    min_effect: f64,
) {
    let first = pairs.iter_mut().flat_map(PairReport::on_the_whole);
    let whole = (1.0 - CONFIDENCE) / FIRST;
    judge_together(first.map(|judged| (judged, whole)).collect(), min_effect);
    let beside = beside(primary, better);
    let (mut stated, mut others) = (Vec::new(), Vec::new());
    for pair in pairs {
        let is_shown =
            |judged: &mut Judged| judged.p_corrected.is_some_and(|p| p < 1.0 - CONFIDENCE);
        let differs = pair.on_the_whole().into_iter().any(is_shown);
        let strictness = if differs { 1.0 } else { (1.0 - CONFIDENCE) / SECOND };
        let is_one = pair.overall.is_none() && pair.points.len() == 1;
        let mut put = |judged, is_stated| match is_stated {
            true => stated.push((judged, strictness)),
            false => others.push((judged, 1.0)),
        };
        for judged in &mut pair.overall_others {
            let is_stated = judged.figure == beside;
            put(judged, is_stated);
        }
        for point in &mut pair.points {
            if !is_one {
                put(&mut point.primary, true);
            }
            for judged in &mut point.others {
                let is_stated = is_one && judged.figure == beside;
                put(judged, is_stated);
            }
        }
    }
    judge_together(stated, min_effect);
    judge_together(others, min_effect);
}

/// Returns the second figure that a headline states beside the primary one: `tps` beside a time,
/// `p99_ms` beside a rate, `build.elapsed_s` for data builds.
pub fn beside(primary: &str, better: Direction) -> &'static str {
    match primary {
        of_build if of_build.starts_with("build.") => "build.elapsed_s",
        _ if better == Direction::Lower => "tps",
        _ => "p99_ms",
    }
}

/// Corrects the p-values of these figures for each other (Hommel), and sets their verdicts. Each
/// corrected p-value is then multiplied by the factor that is given with its figure. Figures
/// without a p-value keep their verdict.
fn judge_together(family: Vec<(&mut Judged, f64)>, min_effect: f64) {
    let known = family.into_iter().filter(|(judged, _)| judged.p.is_some());
    let known: Vec<(&mut Judged, f64)> = known.collect();
    let p_values: Vec<f64> = known.iter().filter_map(|(judged, _)| judged.p).collect();
    let alone = (1.0 - CONFIDENCE) / p_values.len() as f64;
    for ((judged, strictness), p) in known.into_iter().zip(hommel(&p_values)) {
        let (p, error) = ((p * strictness).min(1.0), alone / strictness);
        let [base, side] = &judged.of_runs;
        let shift = match &judged.within {
            Some(differences) => detectable_of_pairs(differences, error),
            None if judged.is_by_means => detectable_by_means(base, side, error),
            None => detectable(base, side, error),
        };
        judged.p_corrected = Some(p);
        judged.detectable = shift.map(|shift| shift.exp() - 1.0);
        (judged.verdict, judged.why) = decided(judged, p, min_effect, error);
    }
}

/// Returns the verdict on a figure with the corrected p-value `p`, and the reason if it needs one.
/// `error` is the level that the smallest p-value of all corrected figures has to reach; from it
/// follows how many runs the reason advises.
fn decided(judged: &Judged, p: f64, min_effect: f64, error: f64) -> (Verdict, Option<String>) {
    let Some(ratio) = judged.ratio else {
        return (Verdict::CannotBeJudged, Some("the ratio has no value".to_owned()));
    };
    let is_surprising = |p: f64| p < 1.0 - CONFIDENCE;
    let is_finite = judged.of_runs.iter().flatten().all(|logarithm| logarithm.is_finite());
    let is_small = |(low, high): (f64, f64)| {
        is_finite && !matters(low, min_effect) && !matters(high, min_effect)
    };
    match is_surprising(p) {
        true if matters(ratio.value, min_effect) => {
            let is_neutral = judged.better == Direction::Neither;
            let verdict = match is_worse(judged.better, ratio.value) {
                _ if is_neutral && ratio.value > 1.0 => Verdict::Higher,
                _ if is_neutral => Verdict::Lower,
                true => Verdict::Worse,
                false => Verdict::Better,
            };
            match judged.may_be_drift() {
                true => (Verdict::DiffersOrTheMachineDrifted, Some(DRIFT.to_owned())),
                false => (verdict, None),
            }
        }
        _ if ratio.interval.is_some_and(is_small) => (Verdict::TooSmallToMatter, None),
        true if judged.may_be_drift() => {
            (Verdict::DiffersOrTheMachineDrifted, Some(DRIFT.to_owned()))
        }
        true => {
            let why =
                format!("its interval reaches below the minimum effect of {}", share(min_effect));
            (Verdict::DiffersSizeNotKnown, Some(why))
        }
        false if judged.detectable.is_none() && judged.p.is_some_and(is_surprising) => {
            let (runs, needed) = match &judged.within {
                Some(differences) => {
                    (format!("{} pairs of runs", differences.len()), pairs_needed(error))
                }
                None => {
                    let n_least = judged.of_runs.iter().map(Vec::len).min().unwrap_or(0);
                    (format!("{n_least} runs per side"), needed(error))
                }
            };
            let why = format!(
                "{runs} are too few to exclude chance, corrected for all tests: \
                 run at least {needed} of each"
            );
            (Verdict::CannotBeJudged, Some(why))
        }
        false => (Verdict::NoEvidence, None),
    }
}

/// Reason stated with the verdict [`Verdict::DiffersOrTheMachineDrifted`].
const DRIFT: &str = "the runs were not interleaved, and a drift of the machine like that within the sides explains it";

fn share(min_effect: f64) -> String {
    format!("{} %", model::numbers::exact(min_effect * 100.0))
}
