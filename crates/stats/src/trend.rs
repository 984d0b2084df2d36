//! Tests whether a series rises or falls over its whole length, and by how much.
//!
//! Not here: changes of level (`change`), and which changes matter.

use crate::pattern::pattern_score;

/// Limit on the number of values for which a trend is computed; a longer series is first added up
/// in stretches. Comparing 30,000 pairs takes a millisecond, and neighbouring stretches are less
/// correlated than seconds.
const STRETCHES_MAX: usize = 240;

/// Smallest number of values for which a trend is computed. With fewer, [`trend()`] returns `None`.
pub const TREND_VALUES_MIN: usize = 12;

/// Linear trend of a series, with its significance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Level of the trend line at the start, in the unit of a single value.
    pub first: f64,
    /// Level of the trend line at the end, in the unit of a single value.
    pub last: f64,
    /// Normal score (z) of the test for a trend: positive if the series rises, 0 if two tests
    /// disagree on the direction.
    pub z: f64,
}

impl Trend {
    /// Returns the relative change of level from start to end: 0.1 for a rise by 10 %.
    pub fn change(&self) -> f64 {
        self.last / self.first - 1.0
    }
}

/// Returns the trend of counts in equal, consecutive time slots; `None` for fewer than
/// [`TREND_VALUES_MIN`].
///
/// The slope is the median of the slopes of all pairs (Theil 1950; Sen, JASA 63, 1379, 1968). Two
/// tests have to agree that there is a trend, and the lower score counts: Kendall's S against time
/// (Mann, Econometrica 13, 245, 1945), corrected for ties, which is robust against outliers, and a
/// test for a line in noise of unknown spectrum (`pattern`), which is robust against slow
/// wandering.
pub fn trend(counts: &[u64]) -> Option<Trend> {
    if counts.len() < TREND_VALUES_MIN {
        return None;
    }
    let width = counts.len().div_ceil(STRETCHES_MAX);
    // The values that do not fill a stretch are left out at the start, next to the ramp-up.
    let whole = &counts[counts.len() % width..];
    let sum = |stretch: &[u64]| stretch.iter().map(|&n| n as f64).sum::<f64>();
    let series: Vec<f64> = whole.chunks_exact(width).map(|s| sum(s) / width as f64).collect();
    let n = series.len();
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for (i, a) in series.iter().enumerate() {
        slopes.extend((i + 1..n).map(|j| (series[j] - a) / (j - i) as f64));
    }
    let s = kendalls_s(&series);
    let slope = median(slopes);
    let half = slope * (n as f64 - 1.0) / 2.0;
    let level = median(series.clone());
    let variance = variance_of_s(series.clone());
    // Kendall's correction for S having steps of 2.
    let beyond = (s.abs() as f64 - 1.0).max(0.0);
    let of_ranks = if variance > 0.0 { beyond / variance.sqrt() } else { 0.0 };
    let line: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let of_line = pattern_score(&series, &line);
    let is_agreed = (s > 0) == (of_line > 0.0);
    let z = if is_agreed { of_ranks.min(of_line.abs()).copysign(of_line) } else { 0.0 };
    Some(Trend { first: level - half, last: level + half, z })
}

/// Returns Kendall's S: the number of rising minus falling pairs of values.
fn kendalls_s(series: &[f64]) -> i64 {
    let sign = |a: f64, b: f64| i64::from(b > a) - i64::from(b < a);
    let from = |(i, a): (usize, &f64)| series[i + 1..].iter().map(|b| sign(*a, *b)).sum::<i64>();
    series.iter().enumerate().map(from).sum()
}

/// Returns the normal score (z) of the test for a trend by Kendall's S, assuming independent
/// values: positive if the series rises. 0 for fewer than two values, or if all are equal.
pub fn rank_trend(series: &[f64]) -> f64 {
    let variance = variance_of_s(series.to_vec());
    if variance > 0.0 { kendalls_s(series) as f64 / variance.sqrt() } else { 0.0 }
}

/// Number of pieces into which a series is divided to test whether it rises.
const PIECES: usize = 8;
/// Smallest Kendall's S of the eight pieces of a rising series, out of 28 pairs: without a trend,
/// one in about a thousand series reaches it (Mann, Econometrica 13, 245, 1945).
const RISES_LEAST: i64 = 22;

/// Divides a series into eight consecutive pieces of nearly equal length, and returns their means;
/// `None` for fewer than eight values.
pub fn pieces(series: &[f64]) -> Option<Vec<f64>> {
    let n = series.len();
    let mean = |piece: &[f64]| piece.iter().sum::<f64>() / piece.len() as f64;
    let piece = |index: usize| mean(&series[index * n / PIECES..(index + 1) * n / PIECES]);
    (n >= PIECES).then(|| (0..PIECES).map(piece).collect())
}

/// Whether a series rises: the means of eight pieces of it rise by Kendall's S, and the last mean
/// is the highest. False for fewer than eight values. Used for queue lengths, whose neighbouring
/// values are correlated however long the series is.
pub fn rises(series: &[f64]) -> bool {
    let Some(pieces) = pieces(series) else { return false };
    kendalls_s(&pieces) >= RISES_LEAST && pieces.iter().all(|piece| *piece <= pieces[PIECES - 1])
}

/// Number of equal parts of a series. A late rise is looked for in the last part only.
const LATE_PARTS: usize = 4;
/// Smallest number of values in a late rise: five values rise by chance once in 120 times.
const LATE_VALUES_MIN: usize = 5;
/// Smallest size of a late rise, in standard deviations of a queue length that varies by chance. On
/// M/M/4 at 95 % load none of 1,000 runs of a minute has such a rise; a step to 120 % is found in
/// all.
const LATE_SCORE: f64 = 3.5;

/// Returns the index from which a queue rises to the end of the series, within the last quarter;
/// `None` if it does not rise. `events` is the number of arrivals and departures between two
/// values.
///
/// From its lowest value in that quarter on, the queue must rise from piece to piece (or from value
/// to value if there are too few for pieces), and by more than it varies by chance.
pub fn rises_late(series: &[f64], events: f64) -> Option<usize> {
    let quarter = (series.len() * (LATE_PARTS - 1) / LATE_PARTS).checked_sub(1)?;
    let (before, last) = series.split_at(quarter);
    let lowest = last_lowest(last)?;
    let tail = &last[lowest..];
    let n = tail.len();
    let is_steady = match n {
        PIECES.. => rises(tail),
        _ => n >= LATE_VALUES_MIN && kendalls_s(tail) == (n * (n - 1) / 2) as i64,
    };
    (is_steady && is_beyond_wandering(before, tail, events)).then_some(quarter + lowest)
}

/// Returns the index of the last minimum of a queue, if the queue ends higher than that minimum by
/// more than it varies by chance; `None` otherwise. `events` is the number of arrivals and
/// departures between two values. The queue need not rise steadily or for long, so whether it will
/// continue to grow is unknown unless [`rises`] or [`rises_late`] holds.
pub fn ends_high(series: &[f64], events: f64) -> Option<usize> {
    let lowest = last_lowest(series)?;
    let (before, tail) = (&series[..=lowest], &series[lowest..]);
    is_beyond_wandering(before, tail, events).then_some(lowest)
}

fn last_lowest(series: &[f64]) -> Option<usize> {
    let values = series.iter().enumerate();
    values.min_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0))).map(|(index, _)| index)
}

/// Whether a queue rises over `tail` by more than it varies by chance if arrivals and departures
/// are equally frequent. The variance of a step is the number of its `events`, or that of the steps
/// in `before` if these vary more. A queue varies less than that, since its length is never
/// negative.
fn is_beyond_wandering(before: &[f64], tail: &[f64], events: f64) -> bool {
    let squares = before.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>();
    let of_a_step = squares / (before.len() as f64 - 1.0).max(1.0);
    let (steps, rise) = (tail.len() - 1, tail[tail.len() - 1] - tail[0]);
    let variance = steps as f64 * of_a_step.max(events);
    rise > LATE_SCORE * variance.sqrt()
}

/// Returns the variance of Kendall's S without a trend: n (n - 1) (2 n + 5) / 18, minus the same
/// for each group of ties.
fn variance_of_s(mut series: Vec<f64>) -> f64 {
    let variance_for = |n: usize| (n * n.saturating_sub(1) * (2 * n + 5)) as f64 / 18.0;
    series.sort_by(f64::total_cmp);
    let ties: f64 = series.chunk_by(|a, b| a == b).map(|tie| variance_for(tie.len())).sum();
    variance_for(series.len()) - ties
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    /// Simulates an M/M/4 queue with services of 20 ms, and returns the number of waiting customers
    /// at the end of each second. The first of `loads` applies before second `until`, the second
    /// one after.
    fn waiting(
        random: &mut Xoshiro256PlusPlus,
        loads: [f64; 2],
        until: u64,
        seconds: u64,
    ) -> Vec<f64> {
        let servers = 4;
        let mut next = |mean_ns| crate::exponential_ns(random.next_u64(), mean_ns);
        let (mut arrivals, mut now) = (Vec::new(), 0);
        while now < seconds * 1_000_000_000 {
            let load = loads[usize::from(now >= until * 1_000_000_000)];
            now += next(20e6 / servers as f64 / load);
            arrivals.push(now);
        }
        let services: Vec<u64> = arrivals.iter().map(|_| next(20e6)).collect();
        let served = crate::kiefer_wolfowitz(&arrivals, &services, servers);
        let waits = |second: u64| {
            let end_ns = (second + 1) * 1_000_000_000;
            let waits = |(came, service): &(&u64, &crate::Served)| {
                **came <= end_ns && service.start_ns > end_ns
            };
            arrivals.iter().zip(&served).filter(waits).count() as f64
        };
        (0..seconds).map(waits).collect()
    }

    #[test]
    fn a_queue_that_grows_late_is_found_and_one_that_comes_and_goes_is_not() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut found = |loads: [f64; 2], until| {
            let mut one =
                |_: &u32| rises_late(&waiting(&mut random, loads, until, 60), 400.0).is_some();
            (0..100).filter(|nth| one(nth)).count()
        };
        for steady in [0.5, 0.95, 0.99] {
            let n = found([steady; 2], 0);
            assert!(n <= 2, "{n} of 100 at {steady}");
        }
        for (load, from) in [(1.2, 45), (1.5, 45), (1.5, 52), (2.0, 54)] {
            let n = found([0.7, load], from);
            assert!(n >= 95, "{n} of 100 at {load} from {from}");
        }
        // A queue that grew and is at rest again does not grow.
        let n = found([1.5, 0.5], 50);
        assert!(n <= 2, "{n} of 100 that shrink");
    }

    #[test]
    fn a_backlog_at_the_end_is_found_however_short_the_window_and_a_busy_queue_has_none() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut found = |loads: [f64; 2], until, seconds: u64, window: usize| {
            let mut one = |_: &u32| {
                let series = waiting(&mut random, loads, until, seconds);
                ends_high(&series[series.len() - 1 - window..], 400.0).is_some()
            };
            (0..200).filter(|nth| one(nth)).count()
        };
        for window in [5, 10, 60] {
            let n = found([0.95; 2], 0, 65, window);
            assert!(n <= 4, "{n} of 200 in {window} s");
        }
        for (load, from, window) in [(1.5, 57, 59), (1.5, 57, 5), (2.0, 58, 10), (2.5, 59, 1)] {
            let n = found([0.7, load], from, 60, window);
            assert!(n >= 190, "{n} of 200 at {load} from {from} in {window} s");
        }
    }

    #[test]
    fn a_backlog_begins_where_it_was_lowest_last() {
        assert_eq!(ends_high(&[0.0, 600.0], 100.0), Some(0));
        assert_eq!(ends_high(&[9.0, 2.0, 2.0, 700.0, 650.0], 100.0), Some(2));
        // A rise that has disappeared again, and one no larger than earlier variations of the
        // series.
        assert_eq!(ends_high(&[0.0, 700.0, 20.0], 100.0), None);
        assert_eq!(ends_high(&[0.0, 700.0, 0.0, 700.0, 0.0, 700.0], 100.0), None);
        assert_eq!(ends_high(&[3.0], 0.0), None);
        assert_eq!(ends_high(&[], 0.0), None);
    }

    #[test]
    fn a_late_rise_begins_where_it_was_lowest() {
        let late: Vec<f64> = (0..60_i32).map(|n| f64::from((n - 49).max(0) * 50 + n % 3)).collect();
        assert_eq!(rises_late(&late, 100.0), Some(48));
        assert_eq!(rises_late(&late, 1e6), None);
        let stalled: Vec<f64> = (0..60_i32).map(|n| f64::from((n - 57).max(0) * 500)).collect();
        assert_eq!(rises_late(&stalled, 100.0), None);
        assert_eq!(rises_late(&[], 0.0), None);
        assert_eq!(rises_late(&[0.0, 1.0, 2.0, 3.0], 0.0), None);
    }

    #[test]
    fn what_grows_rises_and_what_comes_and_goes_does_not() {
        let growing: Vec<f64> = (0..60).map(|n| f64::from(n * 10 + n % 7)).collect();
        assert!(rises(&growing) && rises(&growing[..15]));
        let waving: Vec<f64> = (0..60).map(|n| f64::from((n % 20) * 10)).collect();
        let settling: Vec<f64> =
            (0..15).map(|n| f64::from(if n < 9 { n } else { 16 - n })).collect();
        assert!(!rises(&waving) && !rises(&settling));
        assert!(!rises(&growing[..7]) && !rises(&[3.0; 60]));
    }

    /// Makes counts with mean 1000, the standard deviation `sd`, the correlation `correlation` of
    /// neighbours, and a change by `change` percent from beginning to end.
    fn series(
        random: &mut Xoshiro256PlusPlus,
        n: usize,
        sd: f64,
        correlation: f64,
        change: f64,
    ) -> Vec<u64> {
        let mut noise = 0.0;
        let own = (1.0 - correlation * correlation).sqrt();
        let mut next = |i: usize| {
            noise = correlation * noise + own * normal(&mut || random.next_u64());
            let level = 1000.0 * (1.0 + change / 100.0 * i as f64 / (n as f64 - 1.0));
            (level + sd * noise).round().max(0.0) as u64
        };
        (0..n).map(&mut next).collect()
    }

    /// Returns the share of 1,000 series whose trend has an absolute normal score above `z`.
    fn share(z: f64, make: impl Fn(&mut Xoshiro256PlusPlus) -> Vec<u64>) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let trials = 1000;
        let above = |_: &u32| trend(&make(&mut random)).expect("long enough").z.abs() > z;
        (0..trials).filter(above).count() as f64 / f64::from(trials)
    }

    #[test]
    fn a_line_is_its_own_trend() {
        let line: Vec<u64> = (0..61).map(|i| 1000 + 5 * i).collect();
        let trend = trend(&line).expect("long enough");
        assert_eq!((trend.first, trend.last), (1000.0, 1300.0));
        assert!((trend.change() - 0.3).abs() < 1e-12 && trend.z > 5.0, "{trend:?}");
        let down: Vec<u64> = line.into_iter().rev().collect();
        assert!(super::trend(&down).is_some_and(|trend| trend.z < -5.0));
    }

    #[test]
    fn what_never_changes_has_no_trend_and_a_few_values_have_none_either() {
        let flat = trend(&[7; 50]).expect("long enough");
        assert_eq!((flat.change(), flat.z), (0.0, 0.0));
        assert_eq!(trend(&[7; TREND_VALUES_MIN - 1]), None);
        assert!(trend(&[0; 50]).is_some_and(|none| none.z == 0.0));
    }

    #[test]
    fn an_outlier_makes_no_trend() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut counts = series(&mut random, 60, 20.0, 0.0, 0.0);
        counts[59] = 0;
        counts[58] = 0;
        let trend = trend(&counts).expect("long enough");
        assert!(trend.change().abs() < 0.03 && trend.z.abs() < 2.5, "{trend:?}");
    }

    #[test]
    fn without_a_trend_scores_are_those_of_chance_also_where_neighbours_resemble_each_other() {
        for (n, correlation, most) in [(60, 0.0, 0.01), (60, 0.5, 0.02), (300, 0.8, 0.02)] {
            let above = share(2.4, |random| series(random, n, 50.0, correlation, 0.0));
            assert!(above <= most, "{n} values, correlation {correlation}: {above}");
        }
    }

    #[test]
    fn a_steady_wander_in_noise_is_rarely_a_trend() {
        // Correlated over `over` values, in noise that hides it from neighbours.
        for (n, over, z) in [(30, 10.0, 3.0), (60, 10.0, 2.4), (60, 5.0, 2.4), (300, 15.0, 2.4)] {
            let correlation = (-1.0_f64 / over).exp();
            let above = share(z, |random| {
                let wander = series(random, n, 60.0, correlation, 0.0);
                let noise = series(random, n, 45.0, 0.0, 0.0);
                wander.into_iter().zip(noise).map(|(a, b)| (a + b).saturating_sub(1000)).collect()
            });
            assert!(above <= 0.04, "{n} values, correlated over {over}: {above}");
        }
    }

    #[test]
    fn a_smooth_fall_that_is_no_line_is_a_trend() {
        let falls: Vec<u64> = (0..60).map(|i| 4_000_000 / (1_000 + 4 * i)).collect();
        let trend = trend(&falls).expect("long enough");
        assert!(trend.z < -5.0 && trend.change() < -0.15, "{trend:?}");
    }

    #[test]
    fn a_change_of_ten_percent_is_found_in_a_minute_of_common_noise() {
        for (n, sd, least) in [(60, 20.0, 0.98), (60, 40.0, 0.85), (3600, 200.0, 0.95)] {
            let above = share(2.4, |random| series(random, n, sd, 0.0, 10.0));
            assert!(above >= least, "{n} values, noise {sd}: {above}");
        }
    }

    #[test]
    fn a_long_series_is_added_up_to_stretches() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let counts = series(&mut random, 7_205, 100.0, 0.0, 10.0);
        let trend = trend(&counts).expect("long enough");
        assert!((trend.change() - 0.1).abs() < 0.02, "{trend:?}");
        assert!((990.0..1010.0).contains(&trend.first), "{trend:?}");
    }
}
