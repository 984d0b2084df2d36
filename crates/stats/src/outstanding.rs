//! Values that stand out of a series, and whether they do so regularly.

use crate::trend::median;

/// A value stands out if it lies this many robust standard deviations beyond the median.
const SCORE_MIN: f64 = 6.0;

/// At most this share of a series stands out of it; more are its nature.
const SHARE_MAX: f64 = 1.0 / 3.0;

/// The fewest values of which a few stand out.
const VALUES_MIN: usize = 10;

/// The standard deviation of normal values by their median absolute deviation.
pub(crate) const SD_PER_MAD: f64 = 1.4826;

/// Which values, counted from 0, lie above the median of all times `factor` and beyond the scatter
/// of the rest; none where many do. Values that are not finite are no part of it.
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

/// Which values, counted from 0, lie above all others by `factor` at least: the most that are few.
/// Unlike [`stands_out`], it finds them also where the others scatter widely. What begins or ends
/// within a value shows in its neighbours in part: these are not held against it, and are found
/// with it where they lie above all the rest.
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

/// The period of events at some places of a series, if there are three and more and each comes as
/// long after the one before, within a place or a tenth. Neighbours are one event.
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
        // It begins and ends within a value, among others that stand at two levels.
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
