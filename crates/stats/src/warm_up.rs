//! Detection of a warm-up in a series: a beginning whose level differs from the rest.
//!
//! Not here: a trend over the whole series (`trend`), and changes of level within it (`change`).

use crate::pattern::beginning_score;
use crate::trend::median;

/// Limit on the number of values that are averaged in a batch, with which the end of a warm-up is
/// looked for: the 5 of the method MSER-5.
const BATCH: usize = 5;
/// Number of batches into which a short series is divided, with fewer values each than [`BATCH`].
const BATCHES: usize = 60;

/// Largest share of a series that its warm-up may take. If a warm-up took more, the series changes
/// in the middle or all the time.
const SHARE_MAX: f64 = 0.5;

/// Largest ratio of the (squared) marginal standard error at the end of the warm-up to the smallest
/// one of all possible ends. The first end within this ratio is taken.
const ERROR_SPARE: f64 = 1.1;

/// Smallest number of batches that must follow the warm-up. Fewer might happen to be alike and have
/// too small an error.
const REST_MIN: usize = 10;

/// Length of the part after the warm-up from which the noise is estimated, as a multiple of the
/// warm-up's length. The slowest waves of that part show how much means over the length of the
/// warm-up vary.
const TIMES_FOLLOWED: usize = 16;
/// Smallest number of batches after the warm-up from which the noise is estimated, however short
/// the warm-up is; fewer only if the series ends before.
const FOLLOWED_MIN: usize = 24;

/// Smallest ratio of the difference of medians, between warm-up and rest, to the difference of
/// means, at which there is a warm-up. A stall, or catching up after a stall, changes only the
/// mean; for a level that fades in, the ratio is 0.4 to 0.8.
const MEDIAN_SHARE_MIN: f64 = 0.25;

/// Smallest ratio of the difference that the first half of a warm-up has from the rest to that of
/// the whole warm-up. A cold system is farthest off at first; if instead there is a slow spell or a
/// stall at the end of the supposed warm-up, its first half is at the level of the rest.
const FIRST_HALF_MIN: f64 = 0.75;

/// Ratio, to the distance of a warm-up from the rest, from which the distance of a later stretch of
/// the same length shows that there is no warm-up: such stretches come and go, so one of them may
/// be at the beginning by chance.
const LATER_MAX: f64 = 0.7;

/// Smallest absolute normal score at which a warm-up is significant. It exceeds the usual 2,
/// because the end of the warm-up is chosen so that it differs most: of 20 steady models
/// (`docs/explanation/intervals.md`), none exceeds it in more than 3 % of runs of 30 s to 15 min.
const SCORE_MIN: f64 = 3.4;
/// Smallest absolute normal score for a beginning that is better than the rest, which is rarely a
/// warm-up: a busy queue that happens to be short at first has shorter times until it has grown.
const BETTER_SCORE_MIN: f64 = 3.7;

/// Smallest number of values in a warm-up: one or two may be those of a stall or of a checkpoint.
const LENGTH_MIN: usize = 3;

/// Direction in which values differ while a system is still cold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cold {
    /// Values are lower during a warm-up, as throughput is.
    Lower,
    /// Values are higher during a warm-up, as response times are.
    Higher,
}

/// The beginning of a series that differs in level from the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// Number of values in the warm-up.
    pub length: usize,
    /// Mean of the values in the warm-up.
    pub first: f64,
    /// Mean of the values after the warm-up.
    pub rest: f64,
}

/// Returns the warm-up of a series: a beginning that differs from the rest by more than chance and
/// by more than `effect_min`, in the unit of the values. `None` if there is none, or the series is
/// too short.
///
/// The end of the warm-up is chosen by MSER-5: the rest has the smallest marginal standard error
/// (White, Simulation 69, 323, 1997; White, Cobb and Spratt, Winter Simulation Conference 2000).
/// Its difference is compared with how much means over the same length vary in the values that
/// follow (`pattern`), and no later stretch of its length may lie nearly as far from the rest:
/// values that are not normal, such as times of a queue, are often far off. There is no warm-up if
/// it would be more than half of the series, if its first half hardly differs, as with a slow spell
/// at its end, or if its median does not, as with a stall. A beginning that differs in the other
/// direction than `cold` has to be more significant.
pub fn warm_up(series: &[f64], cold: Cold, effect_min: f64) -> Option<WarmUp> {
    let width = (series.len() / BATCHES).clamp(1, BATCH);
    let batches: Vec<f64> = series.chunks_exact(width).map(mean).collect();
    let errors = marginal_errors(&batches);
    let cuts = 1..=batches.len().saturating_sub(REST_MIN);
    let least = cuts.clone().map(|cut| errors[cut]).fold(f64::INFINITY, f64::min);
    // After the true end of the warm-up all cuts are nearly equal, and chance would choose among
    // them.
    let is_among_best = |cut: &usize| errors[*cut] <= ERROR_SPARE * least;
    let is_short = |cut: &usize| *cut as f64 <= batches.len() as f64 * SHARE_MAX;
    let cut = cuts.into_iter().find(is_among_best).filter(is_short)?;
    let (first, rest) = batches.split_at(cut);
    let length = cut * width;
    // Those of single values: a stall as long as a batch must not move them.
    let of_medians = median(series[..length].to_vec()) - median(series[length..].to_vec());
    let above = mean(first) - mean(rest);
    let is_throughout = of_medians / above > MEDIAN_SHARE_MIN;
    let first_half = mean(&series[..length.div_ceil(2)]) - mean(rest);
    let is_from_start = first_half / above >= FIRST_HALF_MIN;
    let is_extreme = farthest_mean(rest, cut, above.signum()) / above < LATER_MAX;
    let followed = (TIMES_FOLLOWED * cut).max(FOLLOWED_MIN).min(rest.len());
    let is_cold = (above > 0.0) == (cold == Cold::Higher);
    let score_min = if is_cold { SCORE_MIN } else { BETTER_SCORE_MIN };
    let is_beyond_chance = || beginning_score(&rest[..followed], cut, above).abs() > score_min;
    let is_beginning = length >= LENGTH_MIN
        && above.abs() > effect_min
        && is_throughout
        && is_from_start
        && is_extreme
        && is_beyond_chance();
    is_beginning.then(|| WarmUp { length, first: mean(first), rest: mean(rest) })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the largest difference, in the direction of `sign`, between the mean of `length`
/// consecutive values and that of all.
fn farthest_mean(values: &[f64], length: usize, sign: f64) -> f64 {
    let all = mean(values);
    // Sums of what each value is above the mean, which cannot grow large.
    let (mut sum, mut farthest) = (0.0, 0.0_f64);
    for (index, value) in values.iter().enumerate() {
        sum += value - all;
        if let Some(before) = index.checked_sub(length) {
            sum -= values[before] - all;
        }
        if index + 1 >= length {
            farthest = farthest.max(sign * sum);
        }
    }
    sign * farthest / length as f64
}

/// Returns the squared marginal standard error (MSER) of the values from each index to the end,
/// computed from the last value backwards (Welford, Technometrics 4, 419, 1962).
fn marginal_errors(values: &[f64]) -> Vec<f64> {
    let mut errors = vec![0.0; values.len()];
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for (value, error) in values.iter().zip(&mut errors).rev() {
        n += 1.0;
        let away = value - mean;
        mean += away / n;
        squares += away * (value - mean);
        *error = squares / (n * n);
    }
    errors
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    /// Makes values around 1,000 with a standard deviation of 50; the share `slow` of their
    /// variance comes from slow changes. The first values are lower by the share `depth`, a
    /// difference that fades with the time constant `fades_in`.
    fn series(
        random: &mut Xoshiro256PlusPlus,
        n: usize,
        slow: f64,
        (depth, fades_in): (f64, f64),
    ) -> Vec<f64> {
        let phi = 0.98_f64;
        let mut state = normal(&mut || random.next_u64());
        let mut value = |index: usize| {
            let noise = (1.0 - slow).sqrt() * normal(&mut || random.next_u64());
            let drift = slow.sqrt() * state;
            state = phi * state + (1.0 - phi * phi).sqrt() * normal(&mut || random.next_u64());
            let cold = 1.0 - depth * (-(index as f64) / fades_in).exp();
            1000.0 * cold + 50.0 * (noise + drift)
        };
        (0..n).map(&mut value).collect()
    }

    #[test]
    fn a_steady_series_has_no_warm_up() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        for (n, slow) in [(200, 0.0), (600, 0.0), (600, 0.05), (3_000, 0.05), (600, 0.3)] {
            let mut is_found = |_: &u32| {
                warm_up(&series(&mut random, n, slow, (0.0, 1.0)), Cold::Lower, 10.0).is_some()
            };
            let found = (0..300).filter(|nth| is_found(nth)).count();
            assert!(found <= 6, "{n} {slow}: {found} of 300");
        }
    }

    /// Makes logarithms of the median response times per second of an M/M/1 queue, with 100
    /// arrivals per second. At first services take longer by the share `longer`, a difference that
    /// fades with the time constant `fades_in`, in seconds.
    fn medians(
        random: &mut Xoshiro256PlusPlus,
        n: usize,
        load: f64,
        (longer, fades_in): (f64, f64),
    ) -> Vec<f64> {
        let ramp_up_s = 20;
        let mut next = |mean_ns: f64| crate::exponential_ns(random.next_u64(), mean_ns);
        let (mut arrivals, mut services, mut now) = (Vec::new(), Vec::new(), 0);
        while now < (ramp_up_s + n as u64) * 1_000_000_000 {
            now += next(1e7);
            arrivals.push(now);
            let since_s = (now as f64 / 1e9 - ramp_up_s as f64).max(0.0);
            services.push(next(load * 1e7 * (1.0 + longer * (-since_s / fades_in).exp())));
        }
        let served = crate::kiefer_wolfowitz(&arrivals, &services, 1);
        let mut seconds = vec![Vec::new(); n];
        for ((came, served), service) in arrivals.iter().zip(&served).zip(&services) {
            let second = (came / 1_000_000_000).checked_sub(ramp_up_s);
            if let Some(times) = second.and_then(|second| seconds.get_mut(second as usize)) {
                times.push((served.start_ns + service - came) as f64);
            }
        }
        seconds.into_iter().map(|times| median(times).ln()).collect()
    }

    #[test]
    fn the_times_of_a_steady_queue_have_no_warm_up_and_those_of_a_cold_one_have() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
        let mut n_found = |n: usize, load: f64, cold: (f64, f64)| {
            let mut is_found = |_: &u32| {
                warm_up(&medians(&mut random, n, load, cold), Cold::Higher, 0.01).is_some()
            };
            (0..150).filter(|nth| is_found(nth)).count()
        };
        for (n, load) in [(30, 0.9), (60, 0.8), (150, 0.8), (300, 0.8), (300, 0.9)] {
            let n_found = n_found(n, load, (0.0, 1.0));
            assert!(n_found <= 5, "{n} {load}: {n_found} of 150");
        }
        for (n, load, cold) in [(60, 0.4, (1.0, 8.0)), (300, 0.5, (0.5, 30.0))] {
            let n_found = n_found(n, load, cold);
            assert!(n_found >= 100, "{n} {load}: {n_found} of 150");
        }
    }

    #[test]
    fn a_warm_up_is_found_with_its_length() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        for (depth, fades_in) in [(0.5, 30.0), (0.3, 60.0), (0.2, 50.0)] {
            let mut lengths = Vec::new();
            for _ in 0..100 {
                let series = series(&mut random, 600, 0.0, (depth, fades_in));
                lengths.extend(warm_up(&series, Cold::Lower, 10.0).map(|found| found.length));
            }
            lengths.sort_unstable();
            let typical = lengths[lengths.len() / 2] as f64 / fades_in;
            assert!(lengths.len() >= 95, "{depth} {fades_in}: {}", lengths.len());
            assert!((1.0..5.0).contains(&typical), "{depth} {fades_in}: {typical}");
        }
    }

    #[test]
    fn what_stalls_or_changes_all_the_time_has_no_warm_up() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(10);
        for (from, n_stalled, slow) in [(50, 10, 0.0), (120, 80, 0.0), (100, 30, 0.05)] {
            let (mut n_found, mut n_found_later) = (0, 0);
            for _ in 0..100 {
                let mut stalled = series(&mut random, 600, slow, (0.0, 1.0));
                stalled[from..from + n_stalled].fill(0.0);
                n_found += u32::from(warm_up(&stalled, Cold::Lower, 10.0).is_some());
                // The backlog is worked off at twice the rate.
                let after = from + n_stalled;
                stalled[after..after + n_stalled].iter_mut().for_each(|value| *value *= 2.0);
                n_found_later += u32::from(warm_up(&stalled, Cold::Lower, 10.0).is_some());
            }
            // About as rarely as for a steady series.
            assert!(
                n_found.max(n_found_later) <= 2,
                "{from} {n_stalled}: {n_found} {n_found_later}"
            );
        }
        for lost in [0.2, 0.5, 0.9] {
            let mut declines = series(&mut random, 600, 0.0, (0.0, 1.0));
            for (index, value) in declines.iter_mut().enumerate() {
                *value *= 1.0 - lost * index as f64 / 600.0;
            }
            assert_eq!(warm_up(&declines, Cold::Lower, 10.0), None, "{lost}");
        }
    }

    #[test]
    fn slow_spells_that_come_and_go_are_seldom_a_warm_up() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(16);
        let mut n_found = 0;
        for _ in 0..400 {
            // Slots of 100 ms: for a second in six, on average, a system is 1.4 times slower.
            let mut left = 60.0 * crate::exponential(random.next_u64());
            let mut is_slow = false;
            let mut value = |_| {
                left -= 1.0;
                if left <= 0.0 {
                    is_slow = !is_slow;
                    left =
                        if is_slow { 10.0 } else { 50.0 } * crate::exponential(random.next_u64());
                }
                let level = if is_slow { 28.6 } else { 40.0 };
                level + 3.0 * normal(&mut || random.next_u64())
            };
            let values: Vec<f64> = (0..400).map(&mut value).skip(100).collect();
            n_found += u32::from(warm_up(&values, Cold::Lower, 0.4).is_some());
        }
        assert!(n_found <= 12, "{n_found} of 400");
    }

    #[test]
    fn a_slow_spell_is_no_warm_up_unless_it_is_there_from_the_start() {
        for (from, length) in [(0, Some(20)), (20, None), (60, None)] {
            let noise = |index: usize| (index * 7 % 5) as f64 / 10.0;
            let is_slow = |index: usize| (from..from + 20).contains(&index);
            let level = |index: usize| if is_slow(index) { 20.0 } else { 40.0 };
            let values: Vec<f64> = (0..300).map(|index| level(index) + noise(index)).collect();
            let found = warm_up(&values, Cold::Lower, 0.4);
            assert_eq!(found.map(|found| found.length), length, "{from}");
        }
    }

    #[test]
    fn the_farthest_mean_is_that_of_any_place() {
        let values = [0.0, 3.0, 5.0, 0.0, -4.0, -1.0, 4.0];
        // Their mean is 1; the places of two values have 1.5, 4, 2.5, -2, -2.5 and 1.5.
        assert_eq!(farthest_mean(&values, 2, 1.0), 3.0);
        assert_eq!(farthest_mean(&values, 2, -1.0), -3.5);
        assert_eq!(farthest_mean(&[7.0; 5], 3, -1.0), 0.0);
    }

    #[test]
    fn one_or_two_slow_values_are_no_warm_up_and_three_may_be() {
        for (n_slow, length) in [(1, None), (2, None), (3, Some(3))] {
            let noise = |index: usize| (index * 7 % 5) as f64 / 100.0;
            let values = (0..30).map(|index| noise(index) + f64::from(u8::from(index < n_slow)));
            let found = warm_up(&values.collect::<Vec<f64>>(), Cold::Higher, 0.01);
            assert_eq!(found.map(|found| found.length), length, "{n_slow}");
        }
    }

    #[test]
    fn a_beginning_that_is_better_than_the_rest_is_seldom_a_warm_up() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(14);
        let mut n_found = [0, 0];
        for _ in 0..200 {
            let values = series(&mut random, 60, 0.0, (0.2, 5.0));
            n_found[0] += u32::from(warm_up(&values, Cold::Lower, 10.0).is_some());
            n_found[1] += u32::from(warm_up(&values, Cold::Higher, 10.0).is_some());
        }
        assert!(4 * n_found[1] < 3 * n_found[0] && n_found[1] > 20, "{n_found:?}");
    }

    #[test]
    fn errors_of_what_is_left_are_those_of_the_definition() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];
        for (begin, error) in marginal_errors(&values).into_iter().enumerate() {
            let rest = &values[begin..];
            let n = rest.len() as f64;
            let mean = rest.iter().sum::<f64>() / n;
            let squares: f64 = rest.iter().map(|value| (value - mean).powi(2)).sum();
            assert!((error - squares / (n * n)).abs() < 1e-12, "{begin}: {error}");
        }
    }

    #[test]
    fn too_short_a_series_has_nothing_to_tell() {
        assert_eq!(warm_up(&[], Cold::Lower, 0.01), None);
        assert_eq!(warm_up(&[1.0; 40], Cold::Lower, 0.01), None);
        assert_eq!(warm_up(&[7.0; 400], Cold::Lower, 0.01), None);
    }
}
