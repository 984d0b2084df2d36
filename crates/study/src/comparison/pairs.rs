//! Figures of a side compared with the baseline's, at each point and over all points: ratios with
//! confidence intervals and p-values.
//!
//! Not here: verdicts, and the correction of p-values for each other (verdicts).

use std::collections::{BTreeMap, BTreeSet};

use analysis::figures::{direction, direction_in, figure, samples_lacking, title, value_of};
use analysis::report::{Named, Report};
use jiff::Timestamp;
use model::numbers::count;
use serde::{Deserialize, Serialize};
use stats::{
    BOUNDS_MIN, Comparison, Incomparable, bounds_beside_drift, bounds_of_pairs, difference,
    pairs_needed, shift_beside_drift,
};

use super::{
    BesideDrift, CONFIDENCE, Center, Judged, PairReport, PointPair, Ratio, Side, SidePoint,
    UnpairedPoint, Verdict, WorkloadPair, beside, each_transaction, executions, values_of,
};
use crate::shown_figures::{primary_of, why_none};

/// Names of the figures that a comparison judges.
pub(super) struct JudgedFigures<'f> {
    /// Name of the primary figure, if the user named one; `None` otherwise.
    pub asked: Option<&'f str>,
    /// Name of the default primary figure of all compared runs together, whatever their workloads.
    pub primary: &'f str,
    /// Figures that are judged besides the primary one.
    pub others: &'f [String],
    /// Smallest change, as a share, that matters.
    pub min_effect: f64,
}

impl JudgedFigures<'_> {
    /// Returns the primary figure at the given points of a comparison. If the comparison has
    /// several workloads and the user named no figure, it is the primary figure of the workload at
    /// these points.
    fn primary_at(&self, both: &[(&SidePoint, &SidePoint)], has_several: bool) -> String {
        let reports = both.iter().flat_map(|(base, side)| base.reports.iter().chain(&side.reports));
        match self.asked {
            None if has_several => primary_of(&reports.collect::<Vec<_>>()),
            _ => self.primary.to_owned(),
        }
    }
}

/// Returns the distinct workloads of the points of a comparison, in the order of the points.
fn workloads<'s>(both: &[(&'s SidePoint, &'s SidePoint)]) -> Vec<&'s str> {
    let mut found: Vec<&str> = Vec::new();
    for workload in both.iter().filter_map(|(base, _)| workload_of(base)) {
        if !found.contains(&workload) {
            found.push(workload);
        }
    }
    found
}

fn workload_of(point: &SidePoint) -> Option<&str> {
    Some(point.reports.first()?.workload.as_str())
}

/// Compares a side (a set of runs) with the baseline at the points that both have. Runs of the same
/// repeat are compared as pairs if the sides took turns in every repeat and there are at least
/// `pairs_min` pairs.
pub(super) fn pair(
    baseline: &Side,
    side: &Side,
    figures: &JudgedFigures<'_>,
    pairs_min: usize,
) -> PairReport {
    let twin = |point: &SidePoint| baseline.points.iter().find(|base| base.values == point.values);
    let both: Vec<(&SidePoint, &SidePoint)> =
        side.points.iter().filter_map(|point| Some((twin(point)?, point))).collect();
    let points_unpaired = [unpaired(baseline, side), unpaired(side, baseline)].concat();
    let is_in_rounds = both.iter().all(|(base, point)| took_turns(base, point));
    let pairs_min = is_in_rounds.then_some(pairs_min);
    let workloads = workloads(&both);
    let has_several = workloads.len() > 1;
    let points = both.iter().map(|(base, point)| {
        let judged = |name: &str| of_all_runs(name, base, point, pairs_min);
        let primary = figures.primary_at(&[(*base, *point)], has_several);
        let others = figures.others.iter().filter(|name| **name != primary);
        let others = others.map(|name| judged(name));
        let (others, unknown): (Vec<Judged>, Vec<Judged>) = others.partition(is_known);
        let runs = || base.reports.iter().chain(&point.reports);
        let has_too_few = |judged: &Judged| {
            runs().any(|report| samples_lacking(report, &judged.figure).is_some())
        };
        PointPair {
            values: point.values.clone(),
            primary: judged(&primary),
            others,
            lacking: unknown.into_iter().filter(has_too_few).collect(),
        }
    });
    let points: Vec<PointPair> = points.collect();
    let overall = |name: &str| overall(&both, name, pairs_min).filter(|_| !has_several);
    let others = figures.others.iter().filter_map(|name| overall(name));
    let of_workload = |workload: &&str| {
        let is_of_workload =
            |pair: &&(&SidePoint, &SidePoint)| workload_of(pair.0) == Some(*workload);
        let both: Vec<(&SidePoint, &SidePoint)> =
            both.iter().filter(is_of_workload).copied().collect();
        of_workload(workload, &both, figures, pairs_min)
    };
    let by_workload = workloads.iter().filter(|_| has_several).map(of_workload).collect();
    PairReport {
        side: side.name.clone(),
        is_interleaved: both.iter().all(|(base, point)| is_interleaved(base, point)),
        durability: None,
        isolation: None,
        seeds_shared: seeds_shared(&both, pairs_min),
        overall: overall(figures.primary),
        overall_others: others.filter(is_known).collect(),
        by_workload,
        repeats_left_out: if both.len() < 2 { 0 } else { repeats_left_out(&both) },
        points,
        points_unpaired,
        each_transaction: each_transaction::each_transaction(&both),
        executions: executions::executions(&both, figures.min_effect),
        gauges_changed: beside::most_changed(&both),
    }
}

/// Compares the primary figure of one workload over all of its points, for comparisons that have
/// several workloads.
fn of_workload(
    workload: &str,
    both: &[(&SidePoint, &SidePoint)],
    figures: &JudgedFigures<'_>,
    pairs_min: Option<usize>,
) -> WorkloadPair {
    let name = figures.primary_at(both, true);
    let primary = match both {
        [(base, side)] => of_all_runs(&name, base, side, pairs_min),
        _ => overall(both, &name, pairs_min).expect("a workload has points"),
    };
    WorkloadPair { workload: workload.to_owned(), primary }
}

/// Returns the largest number of seeds that both sides of a comparison share at a point with a
/// simulated database, which then drew the same numbers for both. If the sides took turns
/// (`pairs_min` is not `None`), points at which both have the same several seeds count as 0, since
/// the repeats of an experiment share seeds on purpose.
fn seeds_shared(both: &[(&SidePoint, &SidePoint)], pairs_min: Option<usize>) -> u64 {
    let of_point = |(base, point): &(&SidePoint, &SidePoint)| {
        let seeds = |point: &SidePoint| -> BTreeSet<u64> {
            let drawn = point.reports.iter().filter(|report| report.is_drawn());
            drawn.map(|report| report.seed).collect()
        };
        let (ours, theirs) = (seeds(base), seeds(point));
        // Equal numbers only make differences smaller, so the intervals are no narrower than right.
        let is_on_purpose = pairs_min.is_some() && ours.len() > 1 && ours == theirs;
        if is_on_purpose { 0 } else { ours.intersection(&theirs).count() as u64 }
    };
    both.iter().map(of_point).max().unwrap_or(0)
}

/// Returns true if any run of the baseline or of the compared side has the figure.
fn is_known(judged: &Judged) -> bool {
    judged.of_runs.iter().any(|runs| !runs.is_empty())
}

/// Returns the points (combinations of varied parameters) at which `side` has a valid run and
/// `other` has none.
fn unpaired(side: &Side, other: &Side) -> Vec<UnpairedPoint> {
    let is_there = |at: &Named<String>| other.points.iter().any(|point| point.values == *at);
    let was_tried =
        |at: &Named<String>| other.not_counted.iter().any(|run| run.values.as_ref() == Some(at));
    let alone = side.points.iter().map(|point| &point.values).filter(|values| !is_there(values));
    let point = |values: &Named<String>| UnpairedPoint {
        values: values.clone(),
        side: side.name.clone(),
        is_lost: was_tried(values),
    };
    alone.map(point).collect()
}

/// Returns true if the runs of two sides of a comparison alternated: in the order of time, the side
/// changes at least as often as the side with fewer runs has runs. Two blocks have only one change.
fn is_interleaved(base: &SidePoint, side: &SidePoint) -> bool {
    let began = |reports: &[Report], is_side| {
        reports.iter().map(|report| (report.started, is_side)).collect::<Vec<_>>()
    };
    let mut all = [began(&base.reports, false), began(&side.reports, true)].concat();
    all.sort();
    let turns = all.windows(2).filter(|two| two[0].1 != two[1].1).count();
    turns >= base.reports.len().min(side.reports.len()).max(2)
}

/// Returns true if both sides of a comparison took turns in every repeat: all runs of one repeat
/// began before any run of the next.
fn took_turns(base: &SidePoint, side: &SidePoint) -> bool {
    let mut rounds: BTreeMap<u32, (Timestamp, Timestamp)> = BTreeMap::new();
    for (repeat, report) in runs_of(base).chain(runs_of(side)) {
        let began = report.started;
        let round = rounds.entry(repeat).or_insert((began, began));
        *round = (round.0.min(began), round.1.max(began));
    }
    let mut rounds: Vec<(Timestamp, Timestamp)> = rounds.into_values().collect();
    rounds.sort_unstable();
    rounds.windows(2).all(|two| two[0].1 <= two[1].0)
}

fn runs_of(point: &SidePoint) -> impl Iterator<Item = (u32, &Report)> {
    point.repeats.iter().copied().zip(&point.reports)
}

/// Values of a figure, each with the index of its repeat, from 0. A value is that of a single run,
/// or a mean over points.
type Repeats = Vec<(u32, f64)>;

/// Compares a figure over all points (combinations of varied parameters), by the geometric mean
/// over the points for each repeat. `None` if there is only one point.
fn overall(
    both: &[(&SidePoint, &SidePoint)],
    name: &str,
    pairs_min: Option<usize>,
) -> Option<Judged> {
    if both.len() < 2 {
        return None;
    }
    let [base, side] = sides_of(both).map(|points| over_points(&points, name));
    let why = [&base, &side].into_iter().find_map(|of_side| of_side.as_ref().err()).copied();
    let (base, side) = (base.unwrap_or_default(), side.unwrap_or_default());
    let mut judged = judged(name, &base, &side, pairs_min);
    let reports = both.iter().flat_map(|(base, side)| base.reports.iter().chain(&side.reports));
    judged.better = direction_in(name, reports);
    if !both.iter().all(|(base, side)| is_interleaved(base, side)) {
        let [of_base, of_side] = sides_of(both);
        judged.beside_drift = beside_drift(&judged, [(&of_base, &base), (&of_side, &side)]);
    }
    judged.why = why.map(str::to_owned).or(judged.why);
    Some(judged)
}

fn sides_of<'s>(both: &[(&'s SidePoint, &'s SidePoint)]) -> [Vec<&'s SidePoint>; 2] {
    both.iter().copied().unzip::<_, _, Vec<_>, Vec<_>>().into()
}

/// Returns the geometric mean of a figure over the points, for each repeat that every point has. An
/// `Err` says why there is no such mean.
fn over_points(points: &[&SidePoint], name: &str) -> Result<Repeats, &'static str> {
    let complete = complete(points);
    if complete.is_empty() {
        return Err("no repeat has a run that counts at every point");
    }
    let mean_over_points = |repeat: &u32| {
        let logarithm = |point: &&SidePoint| {
            let at = point.repeats.iter().position(|known| known == repeat)?;
            Some(values_of(&point.reports[at..=at], name).first()?.ln())
        };
        let sum = points.iter().map(logarithm).sum::<Option<f64>>()?;
        Some((*repeat, (sum / points.len() as f64).exp()))
    };
    let figures = complete.iter().map(mean_over_points).collect::<Option<Repeats>>();
    figures.ok_or("some of the runs do not have the figure")
}

/// Returns the indices of the repeats that have a valid run at every point.
fn complete(points: &[&SidePoint]) -> BTreeSet<u32> {
    let repeats_of = |point: &&SidePoint| point.repeats.iter().copied().collect::<BTreeSet<u32>>();
    points.iter().map(repeats_of).reduce(|ours, theirs| &ours & &theirs).unwrap_or_default()
}

fn repeats_left_out(both: &[(&SidePoint, &SidePoint)]) -> u64 {
    let lost = |points: Vec<&SidePoint>| {
        let all: BTreeSet<u32> = points.iter().flat_map(|point| &point.repeats).copied().collect();
        (all.len() - complete(&points).len()) as u64
    };
    sides_of(both).map(lost).iter().sum()
}

/// Compares a figure of one point with that of another, without correction for further comparisons:
/// a ratio with its confidence interval, and no verdict.
pub(crate) fn held_against(name: &str, base: &SidePoint, side: &SidePoint) -> Judged {
    let pairs_min = took_turns(base, side).then(|| pairs_needed(1.0 - CONFIDENCE));
    of_all_runs(name, base, side, pairs_min)
}

/// Compares a figure over all runs at a point, as [`judged`] does. If some runs lack the figure,
/// there is no ratio, because the runs that have it may be a favourable selection.
fn of_all_runs(name: &str, base: &SidePoint, side: &SidePoint, pairs_min: Option<usize>) -> Judged {
    let (base_values, side_values) = (by_repeat(base, name), by_repeat(side, name));
    let mut judged = judged(name, &base_values, &side_values, pairs_min);
    judged.better = direction_in(name, base.reports.iter().chain(&side.reports));
    if !is_interleaved(base, side) {
        let in_time = [(&[base][..], &base_values), (&[side][..], &side_values)];
        judged.beside_drift = beside_drift(&judged, in_time);
    }
    let (base, side) = (&base.reports[..], &side.reports[..]);
    let lacking = [(&base_values, base), (&side_values, side)]
        .into_iter()
        .find(|(values, reports)| values.len() < reports.len());
    if let Some((values, reports)) = lacking {
        let lack = reports.iter().find_map(|report| why_none(report, name));
        let lack = lack.map_or_else(String::new, |why| format!(": {why}"));
        let (n, n_runs) = (values.len(), reports.len());
        judged.why = Some(format!("{n} of {n_runs} runs of a side have {}{lack}", title(name)));
        (judged.p, judged.ratio) = (None, None);
        judged.is_lacking = true;
        // A mean over the others would be that of the good ones.
        judged.baseline = judged.baseline.filter(|_| base_values.len() == base.len());
        judged.side = judged.side.filter(|_| side_values.len() == side.len());
        for (at, figure) in [judged.baseline, judged.side].into_iter().enumerate() {
            judged.medians[at] = judged.medians[at].filter(|_| figure.is_some());
            judged.centers[at] = judged.centers[at].filter(|_| figure.is_some());
        }
    }
    judged
}

fn by_repeat(point: &SidePoint, name: &str) -> Repeats {
    let to_figure = |(repeat, report): (u32, &Report)| Some((repeat, value_of(report, name)?));
    runs_of(point).filter_map(to_figure).collect()
}

/// Returns the difference between two sides of a comparison, adjusted for a linear drift through
/// all runs, given each side's points and its figures by repeat. `None` if there is no ratio.
fn beside_drift(judged: &Judged, sides: [(&[&SidePoint], &Repeats); 2]) -> Option<BesideDrift> {
    let shift = judged.ratio?.value.ln();
    let mut in_order: Vec<(Timestamp, f64, bool)> = Vec::new();
    for (at, (points, figures)) in sides.into_iter().enumerate() {
        for (repeat, figure) in figures {
            let runs = points.iter().flat_map(|point| runs_of(point));
            let began = runs.filter(|run| run.0 == *repeat).map(|run| run.1.started);
            in_order.push((began.min()?, figure.ln(), at > 0));
        }
    }
    in_order.sort_by_key(|one| one.0);
    let figures: Vec<(f64, bool)> = in_order.iter().map(|one| (one.1, one.2)).collect();
    let bounds = bounds_beside_drift(&figures, CONFIDENCE);
    Some(BesideDrift {
        p: shift_beside_drift(&figures, shift),
        bounds: bounds.map(|(least, most)| (least.exp(), most.exp())),
    })
}

/// Returns the differences between the logarithms of the figures of compared side and baseline, for
/// each repeat that both have; `None` if these are fewer than `pairs_min`.
fn within_repeats(base: &Repeats, side: &Repeats, pairs_min: usize) -> Option<Vec<f64>> {
    let difference_at = |(repeat, theirs): &(u32, f64)| {
        let ours = base.iter().find(|(known, _)| known == repeat)?;
        Some(difference(ours.1.ln(), theirs.ln()))
    };
    Some(side.iter().filter_map(difference_at).collect::<Vec<f64>>())
        .filter(|all| all.len() >= pairs_min)
}

/// Numbers of pairs of runs, one of the baseline and one of the compared side in the same repeat,
/// by the sign of their difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPairs {
    /// Number of all pairs.
    pub n: u64,
    /// Number of pairs in which the compared side's figure is the higher one.
    pub higher: u64,
    /// Number of pairs in which the compared side's figure is the lower one.
    pub lower: u64,
}

impl RunPairs {
    /// Counts the pairs by the signs of their differences.
    fn of(differences: &[f64]) -> RunPairs {
        let n = |is_it: &dyn Fn(f64) -> bool| {
            differences.iter().filter(|difference| is_it(**difference)).count() as u64
        };
        RunPairs {
            n: differences.len() as u64,
            higher: n(&|difference| difference > 0.0),
            lower: n(&|difference| difference < 0.0),
        }
    }
}

/// Smallest ratio of two values (or of its inverse) that is taken seriously. A smaller one comes
/// from a rounding error.
const RATIO_LEAST: f64 = 1e-9;

/// Compares a figure of two sides of a comparison by ratio and p-value, without a verdict. Runs of
/// the same repeat are compared as pairs if there are at least `pairs_min` pairs, and never if it
/// is `None`.
fn judged(name: &str, base: &Repeats, side: &Repeats, pairs_min: Option<usize>) -> Judged {
    let within = pairs_min.and_then(|least| within_repeats(base, side, least));
    let (base_by_repeat, side_by_repeat) = (base, side);
    let [base, side] = [base, side].map(|all| all.iter().map(|(_, x)| *x).collect::<Vec<f64>>());
    let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect();
    let of_runs: [Vec<f64>; 2] = [logarithms(&base), logarithms(&side)];
    let of_side = [base.len(), side.len()];
    // Runs that alternated are pairs, even if they are too few for ranks.
    let pairs = pairs_min.and_then(|_| within_repeats(base_by_repeat, side_by_repeat, BOUNDS_MIN));
    let bounds = match &pairs {
        Some(differences) => bounds_of_pairs(differences, CONFIDENCE),
        None => stats::bounds(&of_runs[0], &of_runs[1], CONFIDENCE),
    };
    let bounds = bounds.map(|(low, high)| (low.exp(), high.exp()));
    let found = match &within {
        Some(differences) => Comparison::of_pairs(differences, CONFIDENCE),
        None => Comparison::new(&of_runs[0], &of_runs[1], CONFIDENCE),
    };
    let medians = [&base, &side].map(|all| Some(stats::median(all, CONFIDENCE)?.value));
    let in_pairs = within.is_some().then_some([base_by_repeat, side_by_repeat]);
    let (center, centers) = centers(in_pairs, &of_runs, medians);
    let (baseline, side) = (figure(&base), figure(&side));
    let ratio = match &found {
        Ok(found) => Some(Ratio {
            value: found.shift.exp(),
            interval: Some((found.interval.0.exp(), found.interval.1.exp())),
            confidence: Some(found.confidence),
        }),
        Err(_) => centers[0].zip(centers[1]).map(|(a, b)| Ratio {
            value: b / a,
            interval: None,
            confidence: None,
        }),
    };
    let p = found.as_ref().ok().map(|found| found.p);
    let is_noise = |ratio: &Ratio| {
        let (least, most) = (ratio.value.min(1.0 / ratio.value), ratio.value);
        most.is_finite() && least > 0.0 && least < RATIO_LEAST
    };
    Judged {
        figure: name.to_owned(),
        better: direction(name),
        baseline,
        side,
        centers,
        center,
        medians,
        ratio: ratio.filter(|ratio| !ratio.value.is_nan() && !is_noise(ratio)),
        p,
        p_corrected: None,
        detectable: None,
        verdict: Verdict::CannotBeJudged,
        is_within_repeats: within.is_some(),
        is_by_means: found.as_ref().is_ok_and(|found| found.is_by_means),
        why: found.err().map(|why| why_not(why, of_side)),
        beside_drift: None,
        of_runs,
        is_lacking: false,
        within,
        bounds,
        pairs: pairs.map(|differences| RunPairs::of(&differences)),
    }
}

/// Returns the center of the judged runs of baseline and compared side: the geometric mean, or the
/// median if some figure is infinite or zero. If runs are judged as pairs, only repeats that both
/// have count.
fn centers(
    in_pairs: Option<[&Repeats; 2]>,
    of_runs: &[Vec<f64>; 2],
    medians: [Option<f64>; 2],
) -> (Center, [Option<f64>; 2]) {
    if !of_runs.iter().flatten().all(|logarithm| logarithm.is_finite()) {
        return (Center::Median, medians);
    }
    if of_runs.iter().all(|runs| runs.len() == 1) {
        return (Center::GeometricMean, medians);
    }
    let in_both = |[ours, theirs]: [&Repeats; 2]| -> Vec<f64> {
        let has = |repeat: u32| theirs.iter().any(|(known, _)| *known == repeat);
        ours.iter().filter(|(repeat, _)| has(*repeat)).map(|(_, value)| value.ln()).collect()
    };
    let judged = match in_pairs {
        Some([base, side]) => [in_both([base, side]), in_both([side, base])],
        None => of_runs.clone(),
    };
    let mean = |all: &Vec<f64>| {
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        (!all.is_empty()).then(|| mean.exp())
    };
    (Center::GeometricMean, judged.each_ref().map(mean))
}

/// Describes why two sides of a comparison cannot be compared, given the numbers of runs of the
/// baseline and of the other side.
fn why_not(why: Incomparable, runs: [usize; 2]) -> String {
    match why {
        Incomparable::TooFew { have, .. } => format!(
            "{} cannot show a difference: run 6 or more of each",
            match runs {
                [base, side] if base != side => format!("{base} and {side} runs"),
                _ => format!("{} per side", count(have as u64, "run")),
            }
        ),
        Incomparable::NoNumber => "in some run the figure has no value".to_owned(),
        Incomparable::TooMany => "too many runs per side to be judged".to_owned(),
    }
}
