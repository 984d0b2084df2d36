//! Outliers in a series of values, and whether they occur at regular intervals.

use crate::trend::median;

/// Distance from the median, in robust standard deviations, from which a value is an outlier.
const SCORE_MIN: f64 = 6.0;

/// Largest share of the values that can be outliers; more of them are not exceptional.
const SHARE_MAX: f64 = 1.0 / 3.0;

/// Smallest number of values in which outliers are looked for.
const VALUES_MIN: usize = 10;

/// Standard deviation of normally distributed values, divided by their median absolute deviation.
pub(crate) const SD_PER_MAD: f64 = 1.4826;

/// Returns the indexes of outliers: values that exceed the median by the factor `factor`, and by
/// more than the other values scatter. Empty if more than a third of the values are so high, or for
/// fewer than ten values. Values that are not positive and finite are ignored.
pub fn stands_out(series: &[f64], factor: f64) -> Vec<usize> {
    let logs: Vec<f64> = series.iter().map(|value| value.ln()).collect();
    let finite = || logs.iter().copied().filter(|value| value.is_finite());
    let middle = median(finite().collect());
    let spread = SD_PER_MAD * median(finite().map(|value| (value - middle).abs()).collect());
    let limit = factor.ln().max(SCORE_MIN * spread);
    let beyond = |(_, value): &(usize, &f64)| value.is_finite() && **value - middle > limit;
    let found: Vec<usize> = logs.iter().enumerate().filter(beyond).map(|(i, _)| i).collect();
    let is_few = found.len() as f64 <= SHARE_MAX * finite().count() as f64;
    if is_few && finite().count() >= VALUES_MIN { found } else { Vec::new() }
}

/// Smallest number of values, measured under a similar load, with which a value is compared. If
/// there are fewer, values at the next higher loads are added.
const ALIKE_MIN: usize = 24;
/// Largest number of values, measured under a similar load, with which a value is compared. Of
/// more, those nearest to it in the series are taken.
const ALIKE_MAX: usize = 240;

/// Largest relative excess of a load that still counts as similar: 10 %.
const LOAD_ALIKE: f64 = 0.1;

/// Returns the outliers of `series` as (index, usual level): values that exceed their usual level
/// by the factor `factor`, and by more than others scatter. The usual level is the median of values
/// at the same or a slightly higher load; `load` has one value for each of the series. A value
/// without enough of them, as at the highest loads, is not returned.
pub fn stands_out_at_load(series: &[f64], load: &[f64], factor: f64) -> Vec<(usize, f64)> {
    let mut by_load: Vec<usize> = (0..series.len().min(load.len())).collect();
    by_load.sort_by(|a, b| load[*a].total_cmp(&load[*b]));
    let usual = |at: &usize| {
        let begins = by_load.partition_point(|other| load[*other] < 0.98 * load[*at]);
        let like = (1.0 + LOAD_ALIKE) * load[*at];
        let ends = by_load.partition_point(|other| load[*other] <= like);
        let ends = ends.max(begins + ALIKE_MIN).min(by_load.len());
        let mut alike: Vec<usize> =
            by_load[begins..ends].iter().copied().filter(|other| other != at).collect();
        alike.sort_by_key(|other| other.abs_diff(*at));
        alike.truncate(ALIKE_MAX);
        let others: Vec<f64> = alike.iter().map(|other| series[*other]).collect();
        let all: Vec<f64> = others.iter().copied().chain([series[*at]]).collect();
        let is_found = stands_out(&all, factor).last() == Some(&others.len());
        is_found.then(|| median(others.into_iter().filter(|value| value.is_finite()).collect()))
    };
    (0..series.len().min(load.len())).filter_map(|at| Some((at, usual(&at)?))).collect()
}

/// Returns the indexes of the largest group of values, at most a third of all, that exceed all
/// other values by a factor of `factor` or more; empty if there is none. Unlike [`stands_out`],
/// this also works if the other values scatter widely. An event on the border of two values shows
/// in both: neighbours of a found value do not count among the others, and are returned too if they
/// exceed these other values.
pub fn set_apart(series: &[f64], factor: f64) -> Vec<usize> {
    let finite = series.iter().enumerate().filter(|(_, value)| value.is_finite());
    let mut falling: Vec<(usize, f64)> = finite.map(|(at, value)| (at, *value)).collect();
    falling.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = (SHARE_MAX * falling.len() as f64) as usize;
    if falling.len() < VALUES_MIN {
        return Vec::new();
    }
    let found = |n: usize| {
        let (mut is_found, mut is_beside) = (vec![false; series.len()], vec![false; series.len()]);
        for (at, _) in &falling[..n] {
            is_found[*at] = true;
            let beside = at.saturating_sub(1)..(at + 2).min(series.len());
            is_beside[beside].fill(true);
        }
        let n_beside = is_beside.iter().filter(|is| **is).count();
        let rest = falling[n..].iter().find(|(at, _)| n_beside > most || !is_beside[*at])?.1;
        (falling[n - 1].1 >= factor * rest).then(|| {
            let is_one = |at: &usize| is_found[*at] || is_beside[*at] && series[*at] > rest;
            (0..series.len()).filter(is_one).collect::<Vec<usize>>()
        })
    };
    (1..=most).rev().find_map(found).unwrap_or_default()
}

/// Returns the mean distance of events at the indexes `places`, if there are at least three with
/// equal distances (within one index or a tenth); otherwise `None`. Neighbouring indexes are one
/// event.
pub fn period(places: &[usize]) -> Option<f64> {
    let events: Vec<usize> =
        places.chunk_by(|a, b| b - a == 1).map(|neighbours| neighbours[0]).collect();
    let gaps: Vec<f64> = events.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let is_even = gaps.iter().all(|gap| (gap - mean).abs() <= (mean / 10.0).max(1.0));
    (gaps.len() >= 2 && is_even).then_some(mean)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    #[test]
    fn what_had_more_to_bear_does_not_stand_out() {
        // Bursts of two seconds in ten, whose queue is worked off in the one after.
        let load: Vec<f64> = (0..60).map(|at| if at % 10 >= 8 { 2_200.0 } else { 400.0 }).collect();
        let before = |at: usize| load[at.saturating_sub(1)];
        let borne: Vec<f64> = (0..60).map(|at| load[at].max(before(at))).collect();
        let scatter = |at: usize| 1.0 + (at * 7 % 5) as f64 / 50.0;
        let time = |at: usize| match at % 10 {
            8 => 70.0,
            9 => 270.0,
            0 if at > 0 => 150.0,
            _ => 5.0,
        };
        let mut times: Vec<f64> = (0..60).map(|at| time(at) * scatter(at)).collect();
        assert!(!stands_out(&times, 1.5).is_empty());
        assert_eq!(stands_out_at_load(&times, &borne, 1.5), []);
        // A ramp, at whose end the times explode.
        let ramp: Vec<f64> = (0..60).map(|at| 200.0 + 30.0 * f64::from(at)).collect();
        let queue: Vec<f64> = ramp.iter().map(|rate| 5.0 / (1.0 - rate / 2_010.0)).collect();
        assert_eq!(stands_out_at_load(&queue, &ramp, 1.5), []);
        // Values that the plan does not explain.
        times[23] = 60.0;
        times[44] = 60.0;
        let found: Vec<usize> =
            stands_out_at_load(&times, &borne, 1.5).into_iter().map(|found| found.0).collect();
        assert_eq!(found, [23, 44]);
        assert!((stands_out_at_load(&times, &borne, 1.5)[0].1 - 5.0).abs() < 1.0);
        assert_eq!(stands_out_at_load(&[], &[], 1.5), []);
    }

    #[test]
    fn slow_seconds_stand_out_and_their_period_is_known() {
        let mut series = vec![17.0; 30];
        series.iter_mut().enumerate().for_each(|(i, v)| *v += (i % 3) as f64 / 2.0);
        for second in [9, 19, 29] {
            series[second] = 50.0;
        }
        assert_eq!(stands_out(&series, 1.5), [9, 19, 29]);
        assert_eq!(period(&[9, 19, 29]), Some(10.0));
        assert_eq!(period(&[9, 10, 19, 20, 21, 30]), Some(10.5));
        assert_eq!((period(&[9, 19]), period(&[3, 5, 20])), (None, None));
    }

    #[test]
    fn values_that_lie_above_all_others_are_found_however_the_others_scatter() {
        let mut series: Vec<f64> = (0..15).map(|at| if at % 2 == 0 { 2.0 } else { 9.0 }).collect();
        series[9..12].fill(60.0);
        assert_eq!(stands_out(&series, 1.25), [0; 0]);
        assert_eq!(set_apart(&series, 3.0), [9, 10, 11]);
        assert_eq!(set_apart(&series, 7.0), [0; 0]);
        assert_eq!(set_apart(&series[6..15], 3.0), [0; 0], "too few");
        series[6..12].fill(60.0);
        assert_eq!(set_apart(&series, 3.0), [0; 0], "too many");
        // The disturbance begins and ends within a value, in a series of two levels.
        let level = |at: usize| if at < 12 { 1.0 } else { 1.6 };
        let mut series: Vec<f64> = (0..26).map(level).collect();
        series[15..19].copy_from_slice(&[3.0, 7.0, 7.1, 2.0]);
        assert_eq!(set_apart(&series, 3.0), [15, 16, 17, 18]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut draw = || (0.4 * normal(&mut || random.next_u64())).exp();
        let wild: usize = (0..1_000)
            .map(|_| set_apart(&(0..60).map(|_| draw()).collect::<Vec<_>>(), 3.0).len())
            .sum();
        assert!(wild <= 2, "{wild} of 60,000 lognormal values");
    }

    #[test]
    fn a_wild_series_and_a_short_one_have_none() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut draw = || (0.5 * normal(&mut || random.next_u64())).exp();
        let wild: usize = (0..200)
            .map(|_| stands_out(&(0..60).map(|_| draw()).collect::<Vec<_>>(), 1.5).len())
            .sum();
        assert!(wild <= 2, "{wild} of 12,000 lognormal values");
        assert_eq!(stands_out(&[1.0, 1.0, 1.0, 9.0], 1.5), [0; 0]);
        let half: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 1.0 } else { 9.0 }).collect();
        assert_eq!(stands_out(&half, 1.5), [0; 0]);
        assert_eq!(stands_out(&[f64::NAN; 40], 1.5), [0; 0]);
    }
}
