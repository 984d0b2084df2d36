//! Rates over time: events per second, their error within the run, stability, and stalls.
//!
//! Not here: the error between runs. Two runs of the same plan differ because of caches,
//! checkpoints, placement and other load on the machine, which a single run does not show; repeat
//! the run for that.

use std::fmt;

use crate::batches::Scatter;
use crate::course::Course;
use crate::planned::{Due, around_due};
use crate::waves::{OF_RATES, mean_error_beside};

/// Smallest number of time slots for a confidence interval.
pub(crate) const SLOTS_MIN: u64 = 16;

/// Smallest number of independent slots for a confidence interval. A series with fewer is no longer
/// than its own correlation time, or it drifts and has no single rate.
const EFFECTIVE_MIN: f64 = 8.0;

const CONFIDENCE: f64 = 0.95;

/// Half-width of a 95 % confidence interval of a normally distributed estimate, in standard errors.
pub const NORMAL_95: f64 = 1.96;

/// Rate of events in a run, with its error estimated from the variation within the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Events per second; NaN if there are no time slots.
    pub per_s: f64,
    /// Half-width of the 95 % confidence interval, per second, for the error within this run only.
    /// It does not include the variation between runs, which is usually larger. An error if there
    /// are too few slots.
    pub half_width: Result<f64, TooFewSlots>,
    /// Number of time slots from which the rate is computed.
    pub n_slots: u64,
    /// Number of independent slots that would have the same information: at most `n_slots`, and
    /// fewer if slots are strongly autocorrelated. Only a guess if `half_width` is an error.
    pub n_effective: f64,
    /// Approximate number of slots that a run needs for an interval of ±1 %: mostly correct within
    /// a factor of two, but too low if the rate changes too slowly for this run to show it. `None`
    /// if the error comes from a few slow or periodic variations, or the plan changes the rate.
    pub slots_to_1_percent: Option<f64>,
}

/// Error for a series with too few slots, or too few independent ones, for a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewSlots {
    /// Approximate number of slots needed, if further slots vary like the present ones.
    pub needed: u64,
    /// Number of time slots that the series has.
    pub have: u64,
}

impl fmt::Display for TooFewSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooFewSlots { needed, have } = self;
        write!(f, "run too short for an error: needs about {needed} slots like these, has {have}")
    }
}

impl std::error::Error for TooFewSlots {}

/// Returns the mean rate of equal, consecutive time slots of `slot_ns` nanoseconds, and its 95 %
/// interval.
///
/// Neighbouring slots are correlated, so their scatter understates the error of the mean; the
/// interval is computed from the slowest waves of the series (see `waves`). By simulation such
/// intervals contain the truth in 92 to 98 % of runs of a minute and more, even if a slow
/// component, too weak to be seen in the slots, makes up 5 % of their variance. If fewer than eight
/// independent slots would have the same information, `half_width` is an error.
pub fn within_run(counts: &[u64], slot_ns: u64) -> Rate {
    within_planned_run(counts, slot_ns, None)
}

/// Returns the mean rate with its 95 % interval, as [`within_run`] does, for a plan that may change
/// the rate: only deviations of the counts from the planned work `due` are errors.
/// `slots_to_1_percent` is then `None`, because a longer run would follow another plan.
pub fn within_planned_run(counts: &[u64], slot_ns: u64, due: Option<&Due>) -> Rate {
    assert!(slot_ns > 0, "a slot has a length");
    let n_slots = counts.len() as u64;
    let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    let mean = counts.iter().sum::<f64>() / n_slots as f64;
    let per_s = 1e9 / slot_ns as f64;
    let InTime { half_width, n_effective, lasting } =
        in_time(&around(&counts, due), &Course::default());
    // The error falls with the root of the length, if that is all there is to it.
    let lasting = lasting.filter(|_| due.is_none() && half_width.is_ok());
    let slots_to_1_percent = lasting
        .map(|variance| n_slots as f64 * variance * (NORMAL_95 / (0.01 * mean)).powi(2))
        .filter(|slots| slots.is_finite());
    Rate {
        per_s: mean * per_s,
        half_width: half_width.map(|half_width| half_width * per_s),
        n_slots,
        n_effective,
        slots_to_1_percent,
    }
}

/// Returns the number of slots, with `per_slot` random events on average, that give an interval of
/// ±1 %: those of 38,416 events.
pub fn slots_at_random(per_slot: f64) -> f64 {
    (NORMAL_95 / 0.01).powi(2) / per_slot
}

/// Returns the half-width of the 95 % interval of the mean of a series with one value per slot,
/// such as a metric read once per second, in the unit of the values. Fails for too few slots, or
/// too few independent ones.
pub fn mean_within_run(values: &[f64]) -> Result<f64, TooFewSlots> {
    mean_within_planned_run(values, None)
}

/// Returns the half-width of the 95 % interval of a mean, as [`mean_within_run`] does, for a plan
/// that may change the rate: only deviations of the values from the planned work `due` are errors.
pub fn mean_within_planned_run(values: &[f64], due: Option<&Due>) -> Result<f64, TooFewSlots> {
    in_time(&around(values, due), &Course::default()).half_width
}

/// Returns the deviations of values from their mean or, with `due`, from their fit to the planned
/// work.
fn around(values: &[f64], due: Option<&Due>) -> Vec<f64> {
    if let Some(due) = due {
        return around_due(values, due);
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

/// Returns the half-width of the 95 % interval for the mean of recorded values: a ratio of sums,
/// given (sum, count) of each slot. Slots without a record contain no information, so at least as
/// many slots with one are needed as for a rate. Fails for too few slots.
pub fn ratio_within_run(slots: &[(f64, f64)]) -> Result<f64, TooFewSlots> {
    ratio_of(slots, &Course::default())
}

/// Returns the half-width of the 95 % interval of a ratio, as [`ratio_within_run`] does, for a plan
/// that may change the load. `course` has the effects of the plan on stretches of several slots
/// each (the last stretch may be shorter). These effects do not count as errors.
pub fn ratio_within_planned_run(slots: &[(f64, f64)], course: &Course) -> Result<f64, TooFewSlots> {
    if course.is_empty() {
        return ratio_within_run(slots);
    }
    let width = slots.len().div_ceil(course.n_stretches()).max(1);
    let add = |all: (f64, f64), slot: &(f64, f64)| (all.0 + slot.0, all.1 + slot.1);
    let stretches = slots.chunks(width).map(|slots| slots.iter().fold((0.0, 0.0), add));
    let in_slots = |few: TooFewSlots| TooFewSlots {
        needed: few.needed * width as u64,
        have: slots.len() as u64,
    };
    ratio_of(&stretches.collect::<Vec<(f64, f64)>>(), course).map_err(in_slots)
}

fn ratio_of(slots: &[(f64, f64)], course: &Course) -> Result<f64, TooFewSlots> {
    let (n_slots, n_filled) =
        (slots.len() as u64, slots.iter().filter(|slot| slot.1 > 0.0).count());
    if (n_filled as u64) < SLOTS_MIN {
        let needed = (n_slots * SLOTS_MIN).div_ceil((n_filled as u64).max(1)).max(SLOTS_MIN);
        return Err(TooFewSlots { needed, have: n_slots });
    }
    in_time(&around_ratio(slots), course).half_width
}

/// Returns the deviation of each slot's sum from the overall ratio times the slot's count, divided
/// by the mean count. The error of the mean of these deviations is that of the ratio.
pub(crate) fn around_ratio(slots: &[(f64, f64)]) -> Vec<f64> {
    let (sum, count) = slots.iter().fold((0.0, 0.0), |all, slot| (all.0 + slot.0, all.1 + slot.1));
    let (ratio, per_slot) = (sum / count, count / slots.len() as f64);
    slots.iter().map(|(sum, count)| (sum - ratio * count) / per_slot).collect()
}

/// Error of the mean of consecutive time slots, and the number of independent slots.
struct InTime {
    half_width: Result<f64, TooFewSlots>,
    n_effective: f64,
    /// Variance of the mean, if it decreases as the run gets longer; `None` if it comes from a few
    /// slow waves only.
    lasting: Option<f64>,
}

/// Returns the error of a mean, given the deviations of time slots from it. Effects of the plan
/// (`course`) do not count as error. If these effects hide changes of the system itself,
/// `half_width` is an error that asks for a run of twice the length.
fn in_time(around_mean: &[f64], course: &Course) -> InTime {
    let n_slots = around_mean.len() as u64;
    let error = mean_error_beside(around_mean, course, &OF_RATES, CONFIDENCE);
    let error = error.filter(|_| course.is_told(around_mean));
    let slots = Scatter::from_series(&course.left(around_mean).values);
    let left = 1.0 - slots.lag_1_unbiased();
    // As if slots were correlated only with their neighbours.
    let independent_slots = n_slots as f64 * left / (2.0 - left);
    let db_error = |effective: f64| {
        let needed = (n_slots as f64 * EFFECTIVE_MIN / effective).ceil() as u64;
        Err(TooFewSlots { needed: needed.max(n_slots + 1).max(SLOTS_MIN), have: n_slots })
    };
    let half_width = match &error {
        None if n_slots >= SLOTS_MIN => db_error(0.5 * EFFECTIVE_MIN),
        None => db_error(EFFECTIVE_MIN),
        Some(_) if n_slots < SLOTS_MIN => db_error(EFFECTIVE_MIN),
        Some(_) if independent_slots < EFFECTIVE_MIN => db_error(independent_slots),
        Some(error) => Ok(error.half_width),
    };
    let n_effective = error
        .as_ref()
        .filter(|error| error.variance > 0.0)
        .map_or(n_slots as f64, |error| (slots.variance / error.variance).min(independent_slots));
    InTime { half_width, n_effective, lasting: error.and_then(|error| error.lasting) }
}

/// Limit on the stalls listed in [`Stability::stalls`], so that they fit on a page of a report.
/// [`Stability::n_stalls`] counts all of them.
pub const STALLS_KEPT_MAX: usize = 20;

/// Length of the slots in which [`stability`] takes counts, in nanoseconds.
const SLOT_NS: u64 = 100_000_000;
/// Number of slots per second in which [`stability`] takes counts.
const SLOTS_PER_S: usize = 10;

/// Steadiness of a run: how much its rate varies between seconds, and its stalls (periods nearly
/// without events).
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// Coefficient of variation (standard deviation divided by mean) of the numbers of events per
    /// second; NaN for fewer than two full seconds or no events.
    pub cv: f64,
    /// The second with the fewest events, the first of several; `None` without a full second.
    pub slowest_second: Option<SlowestSecond>,
    /// Median of the numbers of events per second; NaN without a full second.
    pub median_per_s: f64,
    /// The longest stalls, at most [`STALLS_KEPT_MAX`], in the order of time.
    pub stalls: Vec<Stall>,
    /// Number of all stalls, including those that are not listed.
    pub n_stalls: usize,
    /// Total length of all stalls, in nanoseconds.
    pub stalled_ns: u64,
    /// Length of the longest stall, in nanoseconds; 0 without one.
    pub longest_stall_ns: u64,
}

/// The second of a run with the fewest events, such as commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowestSecond {
    /// Index of the slowest second within the run, from 0.
    pub index: usize,
    /// Number of events in the slowest second.
    pub per_s: u64,
}

/// A stall: a period of a run with no events, or nearly none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Index of the first 100-ms slot of the stall, from 0.
    pub start_index: usize,
    /// Number of 100-ms slots that the stall lasted.
    pub length_slots: usize,
}

/// Returns the steadiness of a run, from its counts of events in consecutive slots of 100 ms.
///
/// A stall is a series of slots that are as good as empty:
/// - if the median slot has at least 10 events: two or more slots with fewer than 10 % of it;
/// - if it has fewer: a second or more without any event, long enough for 10 events at the mean
///   rate. So chance alone makes one in 22,000 such spans a stall (e^-10), and a slow, steady load
///   is not a series of stalls. A run without any event is one stall.
///
/// Seconds are ten slots each; slots after the last full second count for stalls only.
pub fn stability(counts_100ms: &[u64]) -> Stability {
    stability_against(counts_100ms, &vec![level(counts_100ms); counts_100ms.len()])
}

/// Returns the steadiness of a run, as [`stability`] does, given the number of events due in each
/// slot. These replace median and mean in the rules for a stall, so that a planned pause is no
/// stall. If more is due than the run usually achieves, only what it achieves counts: overload is
/// no stall. Nothing is due in slots beyond `due_100ms`.
pub fn stability_against(counts_100ms: &[u64], due_100ms: &[f64]) -> Stability {
    let seconds: Vec<u64> = counts_100ms
        .chunks_exact(SLOTS_PER_S)
        .map(|slots| slots.iter().copied().fold(0, u64::saturating_add))
        .collect();
    let mut of_seconds = crate::Moments::default();
    seconds.iter().for_each(|&count| of_seconds.record(count));
    let slowest = seconds.iter().copied().enumerate().min_by_key(|&(_, count)| count);

    let mut stalls = stalls(counts_100ms, &within_usual(counts_100ms, due_100ms));
    let n_stalls = stalls.len();
    let stalled_slots: usize = stalls.iter().map(|stall| stall.length_slots).sum();
    let longest_slots = stalls.iter().map(|stall| stall.length_slots).max().unwrap_or(0);
    stalls.sort_by_key(|stall| std::cmp::Reverse(stall.length_slots));
    stalls.truncate(STALLS_KEPT_MAX);
    stalls.sort_by_key(|stall| stall.start_index);
    Stability {
        cv: of_seconds.sd() / of_seconds.mean(),
        slowest_second: slowest.map(|(index, per_s)| SlowestSecond { index, per_s }),
        median_per_s: median(seconds),
        stalls,
        n_stalls,
        stalled_ns: stalled_slots as u64 * SLOT_NS,
        longest_stall_ns: longest_slots as u64 * SLOT_NS,
    }
}

/// Number of due events whose complete absence is not chance (its probability is e^-10). A slot
/// with as many is called dense; an empty span of slots in which as many are due is a stall.
const EVENTS_MIN: f64 = 10.0;

/// Returns all stalls in the order of time, given the numbers of events counted and of events due
/// in each slot.
fn stalls(counts: &[u64], due: &[f64]) -> Vec<Stall> {
    let due = |index: usize| due.get(index).copied().unwrap_or(0.0);
    let is_quiet = |index: usize| {
        let due = due(index);
        let few = if due >= EVENTS_MIN { (due / 10.0).ceil() as u64 } else { 1 };
        due > 0.0 && counts[index] < few
    };
    let mut stalls = Vec::new();
    let slots: Vec<usize> = (0..counts.len()).collect();
    for span in slots.chunk_by(|&a, &b| is_quiet(a) == is_quiet(b)) {
        let is_dense = span.iter().all(|&index| due(index) >= EVENTS_MIN);
        let length_slots_min = if is_dense { 2 } else { SLOTS_PER_S };
        // Rounding errors of sums of tenths must not decide.
        let is_enough = span.iter().map(|&index| due(index)).sum::<f64>() > EVENTS_MIN - 1e-6;
        if is_quiet(span[0]) && span.len() >= length_slots_min && is_enough {
            stalls.push(Stall { start_index: span[0], length_slots: span.len() });
        }
    }
    stalls
}

/// Limits the events due in each slot to what the run usually achieves: the usual level of slots
/// with at least as much due or, if that is higher, of slots with less due, in steps of a factor of
/// two. There is no limit if slots usually had no events.
fn within_usual(counts: &[u64], due: &[f64]) -> Vec<f64> {
    let mut by_due: Vec<usize> =
        (0..counts.len().min(due.len())).filter(|&index| due[index] > 0.0).collect();
    by_due.sort_by(|&a, &b| due[a].total_cmp(&due[b]));
    let mut within = due.to_vec();
    let (mut begins, mut most) = (0, 0.0_f64);
    while begins < by_due.len() {
        let of_these: Vec<u64> = by_due[begins..].iter().map(|&index| counts[index]).collect();
        most = match usual(of_these) {
            0.0 => f64::INFINITY,
            usual => most.max(usual),
        };
        let (first, least) = (begins, due[by_due[begins]]);
        begins += by_due[begins..].partition_point(|&index| due[index] < 2.0 * least);
        by_due[first..begins].iter().for_each(|&index| within[index] = due[index].min(most));
    }
    within
}

/// Returns the usual number of events in a slot: the upper quartile, or the mean if that is larger.
/// Even for a run that stalls most of the time, this is the level outside of stalls.
fn usual(mut counts: Vec<u64>) -> f64 {
    counts.sort_unstable();
    let mean = counts.iter().map(|&count| count as f64).sum::<f64>() / counts.len() as f64;
    mean.max(counts[counts.len() * 3 / 4] as f64)
}

/// Returns the number of events due in every slot of a load without a plan, estimated from the
/// counts: the median if slots are dense, otherwise the mean. If there are no events at all,
/// returns enough for a second to be a stall.
fn level(counts: &[u64]) -> f64 {
    let median = median(counts.to_vec());
    let sum: f64 = counts.iter().map(|&count| count as f64).sum();
    match sum / counts.len() as f64 {
        _ if median >= EVENTS_MIN => median,
        mean if mean > 0.0 => mean.min(EVENTS_MIN - 1.0),
        _ => 1.0,
    }
}

/// Returns the median of counts; NaN of none.
fn median(mut counts: Vec<u64>) -> f64 {
    counts.sort_unstable();
    match counts.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => counts[n / 2] as f64,
        n => f64::midpoint(counts[n / 2 - 1] as f64, counts[n / 2] as f64),
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Draws a number from a Poisson distribution with a small mean, by Knuth's product of
    /// uniforms.
    fn poisson(random: &mut Xoshiro256PlusPlus, mean: f64) -> u64 {
        let (limit, mut product, mut n) = ((-mean).exp(), 1.0, 0);
        loop {
            product *= 1.0 - crate::unit(random.next_u64());
            if product <= limit {
                return n;
            }
            n += 1;
        }
    }

    /// Simulates 1,500 series of slots. Returns the share that has an interval, and the share of
    /// these intervals that contain the true mean.
    fn coverage(
        n: usize,
        mut series: impl FnMut(&mut Xoshiro256PlusPlus) -> Vec<u64>,
        truth: f64,
    ) -> (f64, f64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let trials = 1_500;
        let (mut given, mut held) = (0, 0);
        for _ in 0..trials {
            let counts = series(&mut random);
            assert_eq!(counts.len(), n);
            let rate = within_run(&counts, SECOND_NS);
            if let Ok(half_width) = rate.half_width {
                given += 1;
                held += i32::from((rate.per_s - truth).abs() <= half_width);
            }
        }
        (f64::from(given) / f64::from(trials), f64::from(held) / f64::from(given))
    }

    #[test]
    fn independent_counts_are_covered_95_percent_of_the_time() {
        for n in [20, 60, 600] {
            let (given, held) =
                coverage(n, |random| (0..n).map(|_| poisson(random, 20.0)).collect(), 20.0);
            assert!(given > 0.9 && (0.93..=0.98).contains(&held), "{n}: {given} {held}");
        }
    }

    fn ar1(random: &mut Xoshiro256PlusPlus, n: usize, phi: f64) -> Vec<u64> {
        let mut x = normal(&mut || random.next_u64());
        let noise = (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                let count = (1000.0 + 100.0 * x).round().max(0.0) as u64;
                x = phi * x + noise * normal(&mut || random.next_u64());
                count
            })
            .collect()
    }

    #[test]
    fn correlated_counts_are_covered_too() {
        for (n, phi) in [(120, 0.5), (600, 0.5), (300, 0.8), (600, 0.8), (1_200, 0.9)] {
            let (given, held) = coverage(n, |random| ar1(random, n, phi), 1000.0);
            assert!(given > 0.9 && (0.93..=0.99).contains(&held), "{n} {phi}: {given} {held}");
        }
    }

    #[test]
    fn a_short_and_strongly_correlated_run_is_refused_mostly() {
        let (given, _) = coverage(60, |random| ar1(random, 60, 0.95), 1000.0);
        assert!(given < 0.1, "{given}");
    }

    /// Makes counts of random arrivals whose rate is an AR(1) series, with a standard deviation of
    /// `spread` of the mean and a correlation of `phi` from slot to slot.
    fn slow(
        random: &mut Xoshiro256PlusPlus,
        n: usize,
        mean: f64,
        (spread, phi): (f64, f64),
    ) -> Vec<u64> {
        let mut x = normal(&mut || random.next_u64());
        let noise = (1.0 - phi * phi).sqrt();
        let mut counts = Vec::with_capacity(n);
        for _ in 0..n {
            counts.push(poisson(random, mean * (1.0 + spread * x).max(0.0)));
            x = phi * x + noise * normal(&mut || random.next_u64());
        }
        counts
    }

    #[test]
    fn a_slow_component_that_no_slot_shows_is_in_the_interval() {
        // Tenths of a second of 20 commits, of whose variance 5, 3 and 20 % vary within 5, 10, 1 s.
        for (n, share, tau) in [(600, 0.05, 50.0), (3_000, 0.05, 50.0), (3_000, 0.03, 100.0)] {
            let spread = (share / (1.0 - share) / 20.0_f64).sqrt();
            let phi = (-1.0_f64 / tau).exp();
            let (given, held) = coverage(n, |random| slow(random, n, 20.0, (spread, phi)), 20.0);
            assert!(given > 0.9 && (0.92..=0.99).contains(&held), "{n} {share}: {given} {held}");
        }
    }

    /// Simulates 1,000 series of slots. Returns the share that has an interval, and the share of
    /// these intervals that contain the true value.
    fn held<T>(
        mut series: impl FnMut(&mut Xoshiro256PlusPlus) -> Vec<T>,
        value: impl Fn(&[T]) -> f64,
        half_width: impl Fn(&[T]) -> Result<f64, TooFewSlots>,
        truth: f64,
    ) -> (f64, f64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(41);
        let trials = 1_000;
        let (mut given, mut held) = (0, 0);
        for _ in 0..trials {
            let slots = series(&mut random);
            if let Ok(half_width) = half_width(&slots) {
                given += 1;
                held += i32::from((value(&slots) - truth).abs() <= half_width);
            }
        }
        (f64::from(given) / f64::from(trials), f64::from(held) / f64::from(given.max(1)))
    }

    /// Makes values of a gauge that random shots raise and that fades back, and that also swings
    /// like a damped pendulum. No constant of this crate was tuned with these models.
    fn gauge(random: &mut Xoshiro256PlusPlus, n: usize, fade: f64, swings: f64) -> Vec<f64> {
        let (mut level, mut swing) = (0.0, [0.0; 2]);
        let mut values = Vec::new();
        for slot in 0..n + 200 {
            level = level * fade + poisson(random, 0.5) as f64;
            let kick = normal(&mut || random.next_u64());
            swing = [1.2 * swing[0] - 0.72 * swing[1] + kick, swing[0]];
            if slot >= 200 {
                values.push(level + swings * swing[0]);
            }
        }
        values
    }

    #[test]
    fn means_of_what_is_read_once_a_second_are_held_as_often_as_they_say() {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let check = |n: usize, fade: f64, swings: f64, most: f64| {
            let truth = 0.5 / (1.0 - fade);
            let series = |random: &mut Xoshiro256PlusPlus| gauge(random, n, fade, swings);
            let (given, held) = held(series, mean, mean_within_run, truth);
            let is_good = given > 0.9 && (0.92..=most).contains(&held);
            assert!(is_good, "{n} {fade} {swings}: {given} {held}");
        };
        for (n, fade) in [(60, 0.3), (120, 0.6), (600, 0.8)] {
            check(n, fade, 0.0, 0.985);
            // An oscillation averages out faster than the slow waves show.
            check(n, fade, 0.5, 1.0);
        }
        // A value that grows has no mean, and a constant one has no error.
        let grows: Vec<f64> = (0..60).map(|second| 5.0 * f64::from(second)).collect();
        assert!(mean_within_run(&grows).is_err());
        assert_eq!(mean_within_run(&[3.0; 60]), Ok(0.0));
        assert!(mean_within_run(&[3.0; 15]).is_err() && mean_within_run(&[]).is_err());
    }

    /// Makes slots with records that arrive in bursts of random size. The mean of their values
    /// follows a three-level Markov chain, which stays at its level with the probability `stay`.
    fn records(random: &mut Xoshiro256PlusPlus, n: usize, stay: f64) -> Vec<(f64, f64)> {
        let mut at = (random.next_u64() % 3) as usize;
        (0..n)
            .map(|_| {
                if crate::unit(random.next_u64()) > stay {
                    at = (at + 1 + (random.next_u64() % 2) as usize) % 3;
                }
                let bursts = poisson(random, 4.0);
                let count: u64 = (0..bursts).map(|_| 1 + random.next_u64() % 9).sum();
                let mean = [5.0, 10.0, 30.0][at];
                let sum = (0..count).map(|_| mean * crate::exponential(random.next_u64())).sum();
                (sum, count as f64)
            })
            .collect()
    }

    #[test]
    fn means_of_records_are_held_as_often_as_they_say() {
        let ratio = |slots: &[(f64, f64)]| {
            let sum: f64 = slots.iter().map(|slot| slot.0).sum();
            sum / slots.iter().map(|slot| slot.1).sum::<f64>()
        };
        for (n, stay) in [(60, 0.4), (120, 0.7), (600, 0.85)] {
            let (given, held) =
                held(|random| records(random, n, stay), ratio, ratio_within_run, 15.0);
            assert!(given > 0.9 && (0.91..=0.985).contains(&held), "{n} {stay}: {given} {held}");
        }
        assert!(ratio_within_run(&[(0.0, 0.0); 60]).is_err());
        let rare: Vec<(f64, f64)> =
            (0..60).map(|slot| f64::from(slot % 6 / 5)).map(|n| (2.0 * n, n)).collect();
        assert_eq!(ratio_within_run(&rare), Err(TooFewSlots { needed: 96, have: 60 }));
        assert_eq!(ratio_within_run(&[(6.0, 2.0); 60]), Ok(0.0));
    }

    #[test]
    fn means_of_records_beside_a_plan_leave_out_what_it_makes() {
        let turn = |second: usize| (second as f64 / 20.0 * std::f64::consts::TAU).sin();
        // More records while the plan has more due, and larger ones: 10 (1 + s/2) (1 + s/2) on
        // average, over 10 (1 + s/2).
        let (n, truth) = (120, 5.0 * (1.0 + 0.125));
        let series = |random: &mut Xoshiro256PlusPlus| -> Vec<(f64, f64)> {
            let mut slot = |second: usize| {
                let level = 1.0 + 0.5 * turn(second);
                let count = poisson(random, 10.0 * level);
                let sum: f64 =
                    (0..count).map(|_| 5.0 * level * crate::exponential(random.next_u64())).sum();
                (sum, count as f64)
            };
            (0..n).map(&mut slot).collect()
        };
        let ratio = |slots: &[(f64, f64)]| {
            let sum: f64 = slots.iter().map(|slot| slot.0).sum();
            sum / slots.iter().map(|slot| slot.1).sum::<f64>()
        };
        // Stretches of two seconds.
        let course =
            Course::from_rates(&[(0..n).map(|second| 1.0 + 0.5 * turn(second)).collect()], 60);
        let with = |slots: &[(f64, f64)]| ratio_within_planned_run(slots, &course);
        let (given, held) = held(series, ratio, with, truth);
        assert!(given > 0.99 && (0.92..=0.985).contains(&held), "{given} {held}");
        let slots = series(&mut Xoshiro256PlusPlus::seed_from_u64(43));
        let (with, without) = (with(&slots), ratio_within_run(&slots));
        assert!(without.expect("long") > 2.0 * with.expect("long"), "{without:?} {with:?}");
        assert_eq!(ratio_within_planned_run(&slots, &Course::default()), without);
        // A plan that lasts for the whole run.
        let short =
            Course::from_rates(&[(0..16).map(|second| f64::from(second % 8)).collect()], 16);
        assert!(ratio_within_planned_run(&slots[..16], &short).is_err());
    }

    #[test]
    fn effective_slots_are_those_of_theory() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let n = 40_000;
        let rate = within_run(&ar1(&mut random, n, 0.8), SECOND_NS);
        let theory = n as f64 * (1.0 - 0.8) / (1.0 + 0.8);
        assert!((rate.n_effective / theory - 1.0).abs() < 0.15, "{}", rate.n_effective / theory);
    }

    #[test]
    fn a_rate_is_per_second_whatever_the_slot() {
        let rate = within_run(&[50; 100], 100_000_000);
        assert_eq!(rate.per_s, 500.0);
        assert_eq!((rate.half_width, rate.n_slots), (Ok(0.0), 100));
        assert_eq!(rate.n_effective, 100.0);
    }

    #[test]
    fn too_few_slots_give_a_rate_without_an_error() {
        let rate = within_run(&[10, 12, 11], SECOND_NS);
        assert_eq!(rate.per_s, 11.0);
        let db_error = rate.half_width.expect_err("three slots");
        assert_eq!(db_error.have, 3);
        assert!(db_error.needed >= SLOTS_MIN);
        assert!(db_error.to_string().starts_with("run too short for an error: needs about"));
        assert!(within_run(&[], SECOND_NS).per_s.is_nan());
        assert!(within_run(&[], SECOND_NS).half_width.is_err());
        assert!(within_run(&[4], SECOND_NS).half_width.is_err());
    }

    #[test]
    fn a_drift_is_refused_and_not_an_error_bar() {
        let drift: Vec<u64> = (0..60).map(|i| 1000 + 10 * i).collect();
        assert!(within_run(&drift, SECOND_NS).half_width.is_err());
    }

    #[test]
    fn a_steady_run_has_no_stall() {
        let stability = stability(&[100; 55]);
        assert_eq!((stability.cv, stability.median_per_s), (0.0, 1000.0));
        assert_eq!(stability.slowest_second, Some(SlowestSecond { index: 0, per_s: 1000 }));
        assert_eq!((stability.n_stalls, stability.stalled_ns), (0, 0));
    }

    #[test]
    fn two_slots_below_a_tenth_of_the_median_are_a_stall() {
        let mut counts = vec![100; 60];
        counts[12] = 0;
        counts[23..25].fill(9);
        counts[33..35].fill(10);
        counts[57..].fill(0);
        let stability = stability(&counts);
        assert_eq!(
            stability.stalls,
            [
                Stall { start_index: 23, length_slots: 2 },
                Stall { start_index: 57, length_slots: 3 }
            ]
        );
        assert_eq!((stability.stalled_ns, stability.longest_stall_ns), (500_000_000, 300_000_000));
        assert_eq!(stability.slowest_second, Some(SlowestSecond { index: 5, per_s: 700 }));
    }

    #[test]
    fn a_slow_load_stalls_only_when_chance_cannot_explain_it() {
        // Two a second: 10 events take 5 s, so 4.9 s of silence are no stall and 5 s are.
        let mut counts = vec![0; 1_000];
        counts.iter_mut().step_by(5).for_each(|count| *count = 1);
        let silent = |slots: usize| {
            let mut counts = counts.clone();
            counts[401..401 + slots].fill(0);
            stability(&counts).n_stalls
        };
        assert_eq!((silent(44), silent(60)), (0, 1));
        assert_eq!(stability(&[0; 9]).n_stalls, 0);
        assert_eq!(stability(&[0; 30]).stalled_ns, 3_000_000_000);
    }

    #[test]
    fn a_load_that_pauses_by_itself_does_not_stand_still() {
        let check = |due: &[(f64, usize)], counts: &[(u64, usize)], expect: &[(usize, usize)]| {
            let due: Vec<f64> = due.iter().flat_map(|&(x, n)| vec![x; n]).collect();
            let counts: Vec<u64> = counts.iter().flat_map(|&(x, n)| vec![x; n]).collect();
            let found = stability_against(&counts, &due).stalls;
            let found: Vec<_> = found.iter().map(|s| (s.start_index, s.length_slots)).collect();
            assert_eq!(found, expect, "{due:?} {counts:?}");
        };
        // A step to nothing and back, and one into which a stall fell.
        check(&[(50.0, 50), (0.0, 30), (50.0, 20)], &[(50, 50), (0, 30), (50, 20)], &[]);
        check(&[(50.0, 50), (0.0, 30), (50.0, 20)], &[(50, 50), (0, 40), (50, 10)], &[(80, 10)]);
        // A ramp: few come while few are due.
        check(&[(0.2, 20), (1.5, 10), (30.0, 60)], &[(0, 20), (1, 10), (30, 60)], &[]);
        check(&[(1.0, 20), (30.0, 60)], &[(0, 20), (30, 60)], &[(0, 20)]);
        // Less than a second of a thin load, and two slots of a dense one.
        check(&[(5.0, 50)], &[(5, 20), (0, 9), (5, 21)], &[]);
        check(&[(20.0, 50)], &[(20, 20), (1, 2), (20, 28)], &[(20, 2)]);
        // Nothing is known to be due beyond the end.
        check(&[(50.0, 10)], &[(50, 10), (0, 30)], &[]);
    }

    #[test]
    fn an_overloaded_run_stalls_only_below_its_own_level() {
        let stalls = |due: &[(f64, usize)], counts: &[(u64, usize)]| {
            let due: Vec<f64> = due.iter().flat_map(|&(x, n)| vec![x; n]).collect();
            let counts: Vec<u64> = counts.iter().flat_map(|&(x, n)| vec![x; n]).collect();
            let found = stability_against(&counts, &due).stalls;
            found.iter().map(|stall| (stall.start_index, stall.length_slots)).collect::<Vec<_>>()
        };
        // Twenty times the arrivals that the system can process, and a real stall.
        assert_eq!(stalls(&[(2_000.0, 50)], &[(97, 20), (107, 30)]), []);
        assert_eq!(stalls(&[(2_000.0, 50)], &[(100, 20), (3, 4), (100, 26)]), [(20, 4)]);
        // Few and slow events, and none at all.
        assert_eq!(stalls(&[(2_000.0, 100)], &[(2, 50), (0, 20), (2, 30)]), [(50, 20)]);
        assert_eq!(stalls(&[(2_000.0, 30)], &[(0, 30)]), [(0, 30)]);
        // Overload for a while only: its level is its own, and a stall in it as long as others.
        assert_eq!(stalls(&[(5.0, 60), (2_000.0, 20)], &[(5, 60), (100, 20)]), []);
        let spike = [(5, 60), (100, 10), (0, 2), (100, 8)];
        assert_eq!(stalls(&[(5.0, 60), (2_000.0, 20)], &spike), [(70, 2)]);
        // A run that stands still for most of its time has no other usual level.
        let mostly = stalls(&[(100.0, 100)], &[(100, 20), (0, 60), (100, 20)]);
        assert_eq!(mostly, [(20, 60)]);
    }

    #[test]
    fn only_the_longest_stalls_are_kept_and_all_are_counted() {
        let mut counts = Vec::new();
        for i in 0..30 {
            counts.extend([100; 50]);
            counts.extend(vec![0; 2 + i]);
        }
        let stability = stability(&counts);
        assert_eq!((stability.n_stalls, stability.stalls.len()), (30, STALLS_KEPT_MAX));
        assert_eq!(stability.stalls[0].length_slots, 12);
        assert_eq!(stability.longest_stall_ns, 3_100_000_000);
        assert_eq!(stability.stalled_ns, (2..32).sum::<u64>() * SLOT_NS);
    }

    #[test]
    fn less_than_a_second_has_no_seconds() {
        let stability = stability(&[5; 9]);
        assert!(stability.cv.is_nan() && stability.median_per_s.is_nan());
        assert_eq!(stability.slowest_second, None);
    }
}
