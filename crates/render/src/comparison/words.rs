//! Sentences on the result of comparing one set of runs (a side) with the baseline.
//!
//! Not here: remarks that weaken the result (remarks), and tables.

use std::borrow::Cow;
use std::iter::once;

use analysis::figures::{is_time, title};
use model::format_count;
use model::numbers::{INFINITE, count, exact, list, significant};
use study::comparison::{
    ComparisonReport, Difference, Judged, PairReport, Ratio, RunPairs, SideReport,
    Verdict as Judgement, WorkloadPair, are_stated, telling,
};

use crate::wording::ratio_text;

use super::{
    BY_MEANS, DIFFER_SHOWN_MAX, LOAD_SHOWN_MAX, LOST_LEAST_PERCENT, VALUE_MAX, point_name,
    summed_up, versus,
};

/// Returns the headline on a side of a comparison: points at which it has no valid run, the change
/// of the primary figure, and how often each verdict occurs at the points.
pub(super) fn headline(report: &ComparisonReport, pair: &PairReport) -> String {
    if let [first, ..] = &pair.by_workload[..] {
        return headline_of_workload(report, pair, first);
    }
    let printed = first_words(report, pair).into_iter().chain(point_by_point(pair));
    let printed = printed.collect::<Vec<_>>().join("; ");
    format!("{}{}: {printed}", of_workload(report), both(report, pair))
}

/// Returns the headline on a side of a comparison for `judged`, one of several workloads: its name
/// and the change of its primary figure.
pub(super) fn headline_of_workload(
    report: &ComparisonReport,
    pair: &PairReport,
    judged: &WorkloadPair,
) -> String {
    let sentence = sentence(report.min_effect, &judged.primary);
    format!("{}: {}: {sentence}", judged.workload, both(report, pair))
}

/// Returns the workload's name for the beginning of a headline, such as `tpcc: `; empty if the runs
/// have several workloads.
pub(super) fn of_workload(report: &ComparisonReport) -> String {
    match &report.scene.workloads[..] {
        [workload] => format!("{workload}: "),
        _ => String::new(),
    }
}

fn both(report: &ComparisonReport, pair: &PairReport) -> String {
    versus(said_name(&pair.side), said_name(&report.sides[0].name))
}

/// Returns a compared side's name without the prefix `target=` or `server.`.
pub(super) fn said_name(name: &str) -> &str {
    ["target=", "server."].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// Returns true if the verdict on a figure is `better` or `worse`.
pub(super) fn is_decided(judged: &Judged) -> bool {
    matches!(judged.verdict, Judgement::Better | Judgement::Worse)
}

/// Returns true if the verdict on a figure is `undecided` or `cannot be judged`, so that more
/// trials may decide it.
pub(super) fn is_undecided(judged: &Judged) -> bool {
    matches!(judged.verdict, Judgement::NoEvidence | Judgement::CannotBeJudged)
}

/// Returns the parts of the headline on a side of a comparison: lost transactions, points at which
/// the side has no valid run, and the primary figure. If the verdict on the primary figure is
/// undecided, the first decided figure follows.
pub(super) fn first_words(report: &ComparisonReport, pair: &PairReport) -> Vec<String> {
    let figures = summed_up(pair);
    let (n_both, n_lost) = (pair.points.len() as u64, pair.lost().count() as u64);
    let mut printed: Vec<String> = Vec::new();
    printed.extend(overloaded(report, pair));
    if n_lost > 0 {
        let points = count(n_both + n_lost, "point");
        printed.push(format!("NO valid run of {} at {n_lost} of {points}", pair.side));
    }
    let place = match (n_both, pair.points_unpaired.is_empty()) {
        (1, true) => String::new(),
        (1, false) => format!("at {}, ", point_name(report, &pair.points[0].values)),
        (_, true) => "over all points, ".to_owned(),
        (_, false) => format!("over the {n_both} points that both have, "),
    };
    printed.extend(figures.first().map(|judged| place + &sentence(report.min_effect, judged)));
    // If the primary figure is undecided, the headline also has the first figure that is decided.
    let is_open = figures.first().is_some_and(|first| is_undecided(first));
    let other = figures.iter().skip(1).find(|judged| is_decided(judged)).filter(|_| is_open);
    printed.extend(other.and_then(|judged| aside(judged)));
    printed
}

/// Counts the verdicts at the points of a comparison: `point by point, of 8 points: better at 5,
/// undecided at 3`. `None` for a single point.
pub(super) fn point_by_point(pair: &PairReport) -> Option<String> {
    let n_both = pair.points.len() as u64;
    let n = |verdict: Judgement| {
        pair.points.iter().filter(|point| point.primary.verdict == verdict).count()
    };
    let counted = Judgement::ALL.into_iter().filter(|verdict| n(*verdict) > 0);
    let counted: Vec<String> =
        counted.map(|verdict| format!("{} at {}", verdict.name(), n(verdict))).collect();
    let points = count(n_both, "point");
    (n_both > 1).then(|| format!("point by point, of {points}: {}", counted.join(", ")))
}

/// Names baseline or compared side if they lost many transactions, so that their rate is that of an
/// overloaded server: `new lost 12 % of what was offered`. `None` if neither did.
pub(super) fn overloaded(report: &ComparisonReport, pair: &PairReport) -> Option<String> {
    let sides = report.sides.iter().filter(|side| {
        side.lost_percent >= LOST_LEAST_PERCENT
            && (side.name == pair.side || side.name == report.sides[0].name)
    });
    let lost = |side: &SideReport| {
        let percent = significant(side.lost_percent, 3);
        let up_to = if side.runs.len() > 1 { "up to " } else { "" };
        format!("{} lost {up_to}{percent} % of what was offered", side.name)
    };
    let all: Vec<String> = sides.map(lost).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

/// Says that baseline and compared side ran different workloads, whose rates and times do not mean
/// the same. `None` if they ran the same one.
pub(super) fn unlike_workloads(report: &ComparisonReport, pair: &PairReport) -> Option<String> {
    let at = report.sides.iter().position(|side| side.name == pair.side)?;
    let is_workload = |one: &&Difference| one.about == "plan" && one.name == "group.workload";
    let values = &report.differences.iter().find(is_workload)?.values;
    let (base, side) = (values.first()?.as_deref()?, values.get(at)?.as_deref()?);
    (base != side).then(|| {
        format!(
            "These are different workloads ({side} and {base}): a transaction is not the same \
             work, so their rates and times cannot be compared."
        )
    })
}

/// Describes the differences between a compared side and the baseline that are neither in their
/// names nor parts of the load; `None` if there are none.
pub(super) fn differ_in(report: &ComparisonReport, pair: &PairReport) -> Option<String> {
    let index = report.sides.iter().position(|side| side.name == pair.side)?;
    let names = [&*report.sides[0].name, &*pair.side];
    let of_load = report.load_differs(pair);
    let mut all = telling(&report.differences, index);
    all.retain(|(name, values)| {
        let is_of_load = of_load.iter().any(|(known, _)| known == name);
        !is_of_load && !are_stated(names, name, values)
    });
    differing(&all, DIFFER_SHOWN_MAX).map(|differ| format!("They differ in {differ}."))
}

/// Says which sides of a comparison are still being measured, so that its result may change:
/// `Preliminary: new is still being measured (01a1ffb6); only runs that have ended are compared.`
/// `None` if all runs have ended.
pub(super) fn preliminary(report: &ComparisonReport) -> Option<String> {
    let running = report.running_words();
    let compared = "only runs that have ended are compared";
    (!running.is_empty()).then(|| format!("Preliminary: {}; {compared}.", list(&running)))
}

/// Says in which parts of the load a compared side differs from the baseline, beside what their
/// names state: `They also differ in duration (60s against 10s); part of the difference may come
/// from it.` `None` if there are none.
pub(super) fn load_differs(report: &ComparisonReport, pair: &PairReport) -> Option<String> {
    let all = report.load_differs(pair);
    let it = if all.len() > 1 { "them" } else { "it" };
    let load = differing(&all, LOAD_SHOWN_MAX)?;
    Some(format!("They also differ in {load}; part of the difference may come from {it}."))
}

/// Lists the first differences with both values: `clients (8 against 4) and 2 more`. `None` if
/// there are none.
pub(super) fn differing(all: &[(String, [String; 2])], shown_max: usize) -> Option<String> {
    // In the order of the sentence: the side, then the baseline.
    let shown = all.iter().take(shown_max).map(|(name, values)| {
        let [base, side] = values.each_ref().map(|value| shortened(value));
        format!("{name} ({side} against {base})")
    });
    let shown: Vec<String> = shown.collect();
    let rest = all.len() - shown.len();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// Shortens a value to [`VALUE_MAX`] characters, with an ellipsis.
pub(super) fn shortened(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]).into(),
        None => value.into(),
    }
}

/// Describes the change of a figure, with its interval and verdict: `NOPM +12.0 % (95 % CI +5.1 to
/// +19.3 %), better`.
pub(super) fn sentence(min_effect: f64, judged: &Judged) -> String {
    let name = title(&judged.figure);
    let by = judged.ratio.as_ref().map(|ratio| change_in_pairs(judged, ratio));
    let measured = by.map_or_else(|| name.clone(), |by| format!("{name} {by}"));
    let alone = if judged.is_by_means { BY_MEANS } else { "" };
    let least = exact(min_effect * 100.0);
    let explained = match judged.verdict {
        Judgement::Better | Judgement::Worse | Judgement::Higher | Judgement::Lower => {
            alone.to_owned()
        }
        Judgement::TooSmallToMatter => format!(": equal within the minimum effect of {least} %"),
        Judgement::DiffersSizeNotKnown => {
            format!(": perhaps less than the minimum effect of {least} %{alone}")
        }
        Judgement::DiffersOrTheMachineDrifted => {
            format!(": the runs were not interleaved{alone}")
        }
        Judgement::NoEvidence => judged.ratio.as_ref().and_then(not_proven).unwrap_or_default(),
        Judgement::CannotBeJudged => {
            format!(": {}", judged.why.as_deref().unwrap_or("there is no figure"))
        }
    };
    format!("{measured}, {}{explained}", judged.verdict.name())
}

/// Says what an undecided comparison leaves open: that the interval is all that is known, or, if it
/// excludes 0, that the test, which is corrected for the number of tests, does not bear it out.
/// `None` without an interval.
fn not_proven(ratio: &Ratio) -> Option<String> {
    let (low, high) = ratio.interval?;
    let words = match low <= 1.0 && 1.0 <= high {
        true => ": the true change may be anywhere in the interval".to_owned(),
        false => {
            let direction = if low > 1.0 { "higher" } else { "lower" };
            format!(": probably {direction}, but too few runs to prove it with several tests")
        }
    };
    Some(words)
}

/// Describes the smallest difference that the runs would detect, and how many runs detect less:
/// `Smallest detectable difference: 5.1 % with 4 runs a side, 2.2 % with 16; 1 % takes about 90
/// runs a side (3 h).` `None` unless the verdict is undecided.
pub(super) fn detectable(report: &ComparisonReport, judged: &Judged) -> Option<String> {
    let share = judged.detectable.filter(|_| judged.verdict == Judgement::NoEvidence)?;
    let runs = runs_least(judged);
    let is_factor = is_manifold(share);
    let least = smallest(share, is_factor);
    let runs_a_side = count(runs, "run");
    if share > NOTHING_DETECTED {
        let why = match runs < REPEATS_TAUGHT {
            true => format!("run --repeat {REPEATS_TAUGHT} or more"),
            false => "the runs scatter too much".to_owned(),
        };
        return Some(format!(
            "With {runs_a_side} a side, not even a factor of {} would be detected: {why}.",
            exact(1.0 + NOTHING_DETECTED)
        ));
    }
    let mut printed = format!("Smallest detectable difference: {least} with {runs_a_side} a side");
    let more = 4 * runs;
    if more <= stats::FIGURES_MAX as u64 {
        let half = smallest(((1.0 + share).ln() / 2.0).exp() - 1.0, is_factor);
        printed.push_str(&format!(", {half} with {more}"));
    }
    let measured = judged.ratio.map(|ratio| ratio.value.ln().abs().exp_m1());
    printed.extend(runs_to_detect(report, measured, share, runs));
    Some(printed + ".")
}

/// Number of repeats that the advice to users of comparisons recommends.
const REPEATS_TAUGHT: u64 = 6;

/// Smallest detectable difference, as a share of the baseline (9 is 900 %), above which it is not
/// printed as a number: with so much scatter, only huge differences are detected.
const NOTHING_DETECTED: f64 = 9.0;

/// Largest number of runs a side that the page of a comparison advises. If more are needed, the
/// page has the number for a difference as large as the measured one.
pub(super) const RUNS_MOST: f64 = 200.0;

/// Returns the number of runs of baseline or compared side, whichever has fewer.
fn runs_least(judged: &Judged) -> u64 {
    let sides = [judged.baseline, judged.side].into_iter().flatten();
    sides.map(|figure| figure.count).min().unwrap_or(0)
}

/// Returns how many runs of each side are needed to detect the minimum effect, if `runs` detect a
/// relative difference of `share`. The error falls with the square root of the number of runs.
fn runs_needed(report: &ComparisonReport, share: f64, runs: u64) -> f64 {
    times_of(share, report.min_effect, runs)
}

/// Returns how many runs of each side are needed to detect a relative difference of `wanted`, if
/// `runs` detect one of `share`.
fn times_of(share: f64, wanted: f64, runs: u64) -> f64 {
    let times = ((1.0 + share).ln() / (1.0 + wanted).ln()).powi(2);
    (times * runs as f64).ceil()
}

/// Returns the smallest relative difference (0.05 is 5 %) that `runs_a_side` runs of each side
/// would detect, the largest over all sides without evidence of a difference; 0 if there are none,
/// or it is not known. It falls with the square root of the number of runs.
pub fn detected_by(report: &ComparisonReport, runs_a_side: u64) -> f64 {
    let judged = report.pairs.iter().flat_map(|pair| summed_up(pair).into_iter().next());
    let open = judged.filter(|judged| judged.verdict == Judgement::NoEvidence);
    let of_each = open.filter_map(|judged| {
        let share = judged.detectable?;
        let times = (runs_least(judged) as f64 / runs_a_side as f64).sqrt();
        Some(((1.0 + share).ln() * times).exp_m1())
    });
    of_each.fold(0.0, f64::max)
}

/// Describes how many runs of each side are needed to detect the minimum effect, and how long they
/// take, if `runs` detect a relative difference of `share`; if they are too many, the number for a
/// difference as large as the `measured` one. `None` if there are enough.
fn runs_to_detect(
    report: &ComparisonReport,
    measured: Option<f64>,
    share: f64,
    runs: u64,
) -> Option<String> {
    let needed = runs_needed(report, share, runs);
    let is_more = needed.is_finite() && needed > runs as f64;
    let least = exact(report.min_effect * 100.0);
    if is_more && needed > RUNS_MOST {
        let of_measured = measured.map(|measured| (measured, times_of(share, measured, runs)));
        let (measured, needed) = of_measured
            .filter(|(measured, needed)| *measured > report.min_effect && *needed <= RUNS_MOST)?;
        let size = smallest(measured, is_manifold(measured));
        return (needed > runs as f64)
            .then(|| format!("; {size}, as measured, takes about {} runs a side", needed as u64));
    }
    let run_s = report.scene.measured_s.1 + report.scene.ramp_up_s.1;
    let all_s = needed * run_s * report.sides.len() as f64;
    is_more.then(|| {
        format!(
            "; {} % takes about {} runs a side ({})",
            least,
            format_count(needed as u64),
            match (all_s / 60.0).ceil() {
                minutes if minutes < 120.0 => format!("{minutes} min"),
                minutes => format!("{} h", format_count((minutes / 60.0).ceil() as u64)),
            }
        )
    })
}

/// Says that the runs of a comparison alternated, and whether those of each repeat were compared as
/// pairs: `interleaved, and compared unpaired (in pairs from 6 repeats on)`.
pub(super) fn interleaved(report: &ComparisonReport, is_within: bool) -> String {
    match is_within {
        true => "interleaved, and compared in pairs within each repeat".to_owned(),
        false => format!(
            "interleaved, and compared unpaired (in pairs from {} repeats on)",
            report.pairs_min()
        ),
    }
}

/// Says how the runs of all sides were compared, in short; `None` if the runs of some side were not
/// interleaved, or there is a single one.
pub(super) fn how_paired(report: &ComparisonReport) -> Option<String> {
    let pairs = &report.pairs;
    let is_single = report.sides.iter().all(|side| side.runs.len() < 2);
    let is_within = |pair: &PairReport| pair.points.iter().any(|at| at.primary.is_within_repeats);
    let is_interleaved = pairs.iter().all(|pair| pair.is_interleaved) && !is_single;
    is_interleaved.then(|| interleaved(report, pairs.iter().all(is_within)))
}

/// Returns true if the verdict on the primary figure of any compared side is open, so that more or
/// longer trials may decide it.
pub fn is_open(report: &ComparisonReport) -> bool {
    let of_workloads =
        |pair: &PairReport| pair.by_workload.iter().any(|workload| is_undecided(&workload.primary));
    let is_open =
        |pair: &PairReport| summed_up(pair).first().is_some_and(|first| is_undecided(first));
    report.pairs.iter().any(|pair| is_open(pair) || of_workloads(pair))
}

/// Returns true if a relative difference is so large that it is better written as a factor, as a
/// ratio that [`is_far`] is.
pub(super) fn is_manifold(share: f64) -> bool {
    is_far(&(1.0 + share))
}

/// Formats a detectable difference, in percent or as a factor: `5.1 %` or `×2.4`.
pub(super) fn smallest(share: f64, is_factor: bool) -> String {
    match is_factor {
        false => format!("{} %", significant(share * 100.0, 2)),
        true => format!("×{}", significant(1.0 + share, 2)),
    }
}

/// Describes the change of a secondary figure: `p99 ms -12.0 % (95 % CI -19.3 to -5.1 %), better`.
/// `None` if it has no ratio.
pub(super) fn aside(judged: &Judged) -> Option<String> {
    let (name, ratio) = (title(&judged.figure), judged.ratio.as_ref()?);
    let by = change_within(&judged.figure, ratio);
    Some(format!("{name} {by}, {}", judged.verdict.name()))
}

/// Formats the change of a figure with its interval and the confidence of the interval: `+12.0 %
/// (95 % CI +5.1 to +19.3 %)`. If one of the ratios is far from 1, all are written as factors.
pub(crate) fn change_within(figure: &str, ratio: &Ratio) -> String {
    let (value, interval) = change_and_interval(figure, ratio);
    let level = ratio.confidence.map(|share| format!("{} % ", confidence(share)));
    let level = level.unwrap_or_default();
    let within = interval.map_or_else(String::new, |ends| format!(" ({level}CI {ends})"));
    let is_lost = ratio.value.is_infinite() && is_time(figure);
    let lost = if is_lost { ", because work was lost" } else { "" };
    format!("{value}{within}{lost}")
}

/// Formats the change of a figure with its interval for a table: `+12.0 % (+5.1 to +19.3 %)`. Where
/// transactions were lost, or the baseline is 0, they are ratios.
pub(super) fn change_of(figure: &str, ratio: &Ratio) -> String {
    let ends = ratio.interval.iter().flat_map(|(low, high)| [*low, *high]);
    if once(ratio.value).chain(ends).any(|ratio| ratio == 0.0 || ratio.is_infinite()) {
        return ratio_text(figure, ratio);
    }
    match change_and_interval(figure, ratio) {
        (value, Some(ends)) => format!("{value} ({ends})"),
        (value, None) => value,
    }
}

/// Formats the change of a figure and, if it has one, its interval, both as percentages or both as
/// factors: `+12.0 %` and `+5.1 to +19.3 %`.
fn change_and_interval(figure: &str, ratio: &Ratio) -> (String, Option<String>) {
    let ends = ratio.interval.iter().flat_map(|(low, high)| [*low, *high]);
    let as_factors = once(ratio.value).chain(ends).any(|ratio| is_far(&ratio));
    let change = |ratio| change(figure, ratio, as_factors);
    let interval = ratio.interval.filter(|(low, high)| low < high).map(|(low, high)| {
        let (low, high) = (change(low), change(high));
        // The unit of both stands once.
        let low = low.strip_suffix(" %").filter(|_| high.ends_with(" %")).unwrap_or(&low);
        format!("{low} to {high}")
    });
    (change(ratio.value), interval)
}

/// Formats the change of a figure as [`change_within`] does, with the number of repeats in which
/// it had this direction: `+12.0 % (95 % CI -5.1 to +19.3 %; higher in 4 of 5 repeats)`.
fn change_in_pairs(judged: &Judged, ratio: &Ratio) -> String {
    let change = change_within(&judged.figure, ratio);
    let differs = |pairs: &RunPairs| pairs.higher + pairs.lower > 0 && ratio.value.is_finite();
    let Some(pairs) = judged.pairs.filter(differs) else { return change };
    let (n, word) = match ratio.value >= 1.0 {
        true => (pairs.higher, "higher"),
        false => (pairs.lower, "lower"),
    };
    let counted = format!("{word} in {n} of {} repeats", pairs.n);
    match change.strip_suffix(')') {
        Some(change) => format!("{change}; {counted})"),
        None => format!("{change} ({counted})"),
    }
}

/// Formats a confidence in percent: `95`, `96.8`.
pub(super) fn confidence(share: f64) -> String {
    significant(share * 100.0, 3).trim_end_matches(".0").to_owned()
}

/// Returns true if a ratio is below 0.2 or at least 5, and is better written as a factor than in
/// percent.
pub(super) fn is_far(ratio: &f64) -> bool {
    !(0.2..5.0).contains(ratio)
}

/// Formats the ratio of compared side to baseline as a change: `+12.0 %`, or `×5.00` with
/// `as_factor`. If one of them lost too many transactions, the ratio of times is infinite or 0, and
/// words say so.
pub(super) fn change(figure: &str, ratio: f64, as_factor: bool) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match ratio {
        f64::INFINITY if is_time(figure) => INFINITE.to_owned(),
        f64::INFINITY => "infinite, because the baseline is 0".to_owned(),
        0.0 if is_time(figure) => "finite, while the baseline is infinite because work was \
                                   lost"
            .to_owned(),
        0.0 => "-100 %".to_owned(),
        ratio if as_factor => format!("×{}", significant(ratio, 3)),
        _ if percent.abs() < 0.005 => "0 %".to_owned(),
        _ if percent.abs() < 1.0 => format!("{}{} %", sign(percent), significant(percent.abs(), 2)),
        _ => format!("{percent:+.1} %"),
    }
}

pub(super) fn sign(value: f64) -> &'static str {
    if value < 0.0 { "-" } else { "+" }
}
