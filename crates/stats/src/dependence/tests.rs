//! Tests of confidence intervals with simulated queues whose true quantiles are known, by a formula
//! or from many runs together.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::Range;

const SECOND_NS: u64 = 1_000_000_000;
const RATE_PER_S: f64 = 400.0;

/// Unit and range of the histograms in these tests: microseconds up to ten seconds, which are much
/// faster to add up and count than nanoseconds up to an hour.
const UNIT_NS: u64 = 1_000;
const RANGE: Range = Range { highest_ns: 10 * SECOND_NS / UNIT_NS };

/// Simulates `n` seconds of an M/M/c queue at the load `load` (busy share of the servers), with 400
/// arrivals a second, after a long warm-up.
fn queue(random: &mut Xoshiro256PlusPlus, servers: usize, load: f64, n: u64) -> Vec<Stretch> {
    let warm_ns = 20 * SECOND_NS;
    let mut next = |mean_ns| crate::exponential_ns(random.next_u64(), mean_ns);
    let (mut arrivals, mut now) = (Vec::new(), 0);
    while now < warm_ns + n * SECOND_NS {
        now += next(1e9 / RATE_PER_S);
        arrivals.push(now);
    }
    arrivals.pop();
    let mean_ns = servers as f64 * load * 1e9 / RATE_PER_S;
    let services: Vec<u64> = arrivals.iter().map(|_| next(mean_ns)).collect();
    let served = crate::kiefer_wolfowitz(&arrivals, &services, servers);
    let empty = Stretch { offered: 0, finished: Histogram::new(RANGE) };
    let mut seconds = vec![empty; usize::try_from(n).expect("a few")];
    for (came_ns, service) in arrivals.iter().zip(&served).filter(|(came, _)| **came >= warm_ns) {
        let second = &mut seconds[((came_ns - warm_ns) / SECOND_NS) as usize];
        second.offered += 1;
        second.finished.record((service.finish_ns - came_ns) / UNIT_NS);
    }
    seconds
}

fn by_second(seconds: &[Stretch]) -> InTime {
    InTime { stretches: seconds.to_vec(), width_s: 1, course: Course::default() }
}

fn values(stretches: &[Stretch], ranks: Ranks) -> (u64, u64) {
    let mut all = Histogram::new(RANGE);
    stretches.iter().for_each(|stretch| all.add(&stretch.finished));
    let value = |rank| all.value_at_rank(rank).expect("a rank in 1..=n");
    (value(ranks.low), value(ranks.high))
}

/// Simulates many runs of M/M/1, and returns for p50, p90 and p99 the share of runs with an
/// interval, and the share of these intervals that contain the truth.
fn coverage(load: f64, n_seconds: u64, trials: u32) -> [(f64, f64); 3] {
    let quantiles = [0.5, 0.9, 0.99];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
    let (mut given, mut held) = ([0_u32; 3], [0_u32; 3]);
    for _ in 0..trials {
        let seconds = queue(&mut random, 1, load, n_seconds);
        for (index, ranks) in
            dependent_ranks(&by_second(&seconds), &quantiles, 0.95).iter().enumerate()
        {
            let Ok(ranks) = ranks else { continue };
            let (low, high) = values(&seconds, *ranks);
            let rate_beyond = RATE_PER_S / load - RATE_PER_S;
            let truth = (-(1.0 - quantiles[index]).ln() / rate_beyond * 1e6) as u64;
            given[index] += 1;
            held[index] += u32::from(low <= truth && truth <= high);
        }
    }
    let share = |part: u32, all: u32| f64::from(part) / f64::from(all.max(1));
    [0, 1, 2].map(|index| (share(given[index], trials), share(held[index], given[index])))
}

#[test]
fn intervals_of_a_queue_hold_the_truth_or_are_withheld() {
    for (load, n_seconds) in [(0.5, 60), (0.8, 120)] {
        for (given, held) in coverage(load, n_seconds, 80) {
            // Two standard errors of 80 trials below 92 %.
            let is_good = given < 0.5 || held >= 0.86;
            assert!(is_good, "{load} {n_seconds} s: given {given}, held {held}");
        }
    }
    let [p50, p90, p99] = coverage(0.5, 60, 40);
    assert!(p50.0 == 1.0 && p90.0 == 1.0 && p99.0 > 0.6, "{p50:?} {p90:?} {p99:?}");
    assert!(coverage(0.9, 60, 20)[2].0 < 0.1, "one minute of a busy queue has no p99");
}

/// Returns how often the confidence intervals of shares below some bounds contain the truth, over
/// many simulated runs. `bounds` are pairs of a time and the true share below it, known from long
/// runs.
fn share_coverage(
    mut seconds: impl FnMut(&mut Xoshiro256PlusPlus) -> Vec<Stretch>,
    bounds: &[(u64, f64)],
    trials: u32,
) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(77);
    let mut held = vec![0_u32; bounds.len()];
    for _ in 0..trials {
        let seconds = seconds(&mut random);
        let factors = share_dispersions(&by_second(&seconds), 0.95).expect("long enough");
        let n: u64 = seconds.iter().map(|second| second.offered).sum();
        for ((bound, truth), held) in bounds.iter().zip(&mut held) {
            let below: u64 = seconds.iter().map(|s| s.finished.count_below(*bound)).sum();
            let share = below as f64 / n as f64;
            let factor = dispersion_at(&factors, share);
            let (low, high) = crate::share_interval(share, n as f64 / factor, 0.95);
            *held += u32::from(low <= *truth && *truth <= high);
        }
    }
    held.into_iter().map(|held| f64::from(held) / f64::from(trials)).collect()
}

#[test]
fn shares_below_bounds_of_a_queue_are_held_as_often_as_they_say() {
    // M/M/1: the time in the system is exponential with what the server has to spare.
    for (load, n_seconds, least) in [(0.5, 60, 0.9), (0.8, 240, 0.88)] {
        let spare = RATE_PER_S / load - RATE_PER_S;
        let bound = |share: f64| ((-(1.0 - share).ln() / spare * 1e6) as u64, share);
        let bounds = [0.1, 0.4, 0.8, 0.97, 0.995].map(bound);
        let held = share_coverage(|random| queue(random, 1, load, n_seconds), &bounds, 100);
        assert!(held.iter().all(|held| *held >= least), "{load}: {held:?}");
    }
}

/// Makes mean response times per second, in microseconds, that follow a shot noise: each shot
/// raises them by a half on average, and fades with a time constant of `tau` seconds. No constant
/// of this crate was tuned with this model.
fn swinging(random: &mut Xoshiro256PlusPlus, n: usize, tau: f64) -> Vec<f64> {
    let fade = (-1.0 / tau).exp();
    let mut level = 0.0;
    let mut next = || {
        let shots = f64::from(u8::from(crate::unit(random.next_u64()) < 0.2));
        level = level * fade + shots * crate::exponential(random.next_u64());
        10e3 * (1.0 + 0.5 * level)
    };
    (0..n + 100).map(|_| next()).skip(100).collect()
}

#[test]
fn shares_below_bounds_that_swing_with_a_slow_level_are_held() {
    for (tau, n_seconds) in [(1.0, 80), (3.0, 80), (5.0, 80)] {
        let long = swinging(&mut Xoshiro256PlusPlus::seed_from_u64(8), 400_000, tau);
        // Times of a second are exponential.
        let truth = |bound: u64| {
            let below = long.iter().map(|mean| -(-(bound as f64) / mean).exp_m1());
            (bound, below.sum::<f64>() / long.len() as f64)
        };
        let bounds = [2_000, 10_000, 40_000, 100_000].map(truth);
        let seconds = |random: &mut Xoshiro256PlusPlus| -> Vec<Stretch> {
            let means = swinging(random, n_seconds, tau);
            let mut second = |mean: f64| {
                let mut finished = Histogram::new(RANGE);
                for _ in 0..100 {
                    finished.record(crate::exponential_ns(random.next_u64(), mean));
                }
                Stretch { offered: 100, finished }
            };
            means.into_iter().map(&mut second).collect()
        };
        let held = share_coverage(seconds, &bounds, 150);
        assert!(held.iter().all(|held| *held >= 0.9), "{tau}: {bounds:?} {held:?}");
    }
}

/// Simulates `n` seconds in which short transactions share four servers with a few long ones, after
/// a long warm-up: 800 a second of 2 ms, and 12 of 120 ms.
fn mixture(random: &mut Xoshiro256PlusPlus, n: u64) -> Vec<Stretch> {
    let warm_ns = 20 * SECOND_NS;
    let until_ns = warm_ns + n * SECOND_NS;
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (rate, steps) in [(800.0, 1), (12.0, 60)] {
        let mut next = |mean_ns| crate::exponential_ns(random.next_u64(), mean_ns);
        let mut now = next(1e9 / rate);
        while now < until_ns {
            all.push((now, (0..steps).map(|_| next(2e6)).sum()));
            now += next(1e9 / rate);
        }
    }
    of_four_servers(all, warm_ns, n)
}

/// Simulates `n` seconds of four servers at a load of 0.93, with 140 arrivals a second whose
/// service times are lognormal (σ 1.5), after a long warm-up.
fn heavy_tailed(random: &mut Xoshiro256PlusPlus, n: u64) -> Vec<Stretch> {
    let warm_ns = 100 * SECOND_NS;
    let (mut all, mut now): (Vec<(u64, u64)>, u64) = (Vec::new(), 0);
    while now < warm_ns + n * SECOND_NS {
        let normal = crate::normal(&mut || random.next_u64());
        all.push((now, (4.0 * 0.93 / 140.0 * 1e9 * (1.5 * normal - 1.125).exp()) as u64));
        now += crate::exponential_ns(random.next_u64(), 1e9 / 140.0);
    }
    of_four_servers(all, warm_ns, n)
}

fn of_four_servers(mut all: Vec<(u64, u64)>, warm_ns: u64, n: u64) -> Vec<Stretch> {
    all.sort_unstable();
    let (arrivals, services): (Vec<u64>, Vec<u64>) = all.into_iter().unzip();
    let served = crate::kiefer_wolfowitz(&arrivals, &services, 4);
    let empty = Stretch { offered: 0, finished: Histogram::new(RANGE) };
    let mut seconds = vec![empty; usize::try_from(n).expect("a few")];
    for (came_ns, service) in arrivals.iter().zip(&served).filter(|(came, _)| **came >= warm_ns) {
        let second = &mut seconds[((came_ns - warm_ns) / SECOND_NS) as usize];
        second.offered += 1;
        second.finished.record((service.finish_ns - came_ns) / UNIT_NS);
    }
    seconds
}

#[test]
fn upper_ends_hold_where_a_few_long_transactions_share_the_servers() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
    let runs: Vec<Vec<Stretch>> = (0..120).map(|_| mixture(&mut random, 60)).collect();
    let mut all = Histogram::new(RANGE);
    runs.iter().flatten().for_each(|second| all.add(&second.finished));
    let quantiles = [0.5, 0.9, 0.95];
    let (mut given, mut too_low) = ([0; 4], [0; 4]);
    for seconds in &runs {
        let ranks = dependent_ranks(&by_second(seconds), &quantiles, 0.95);
        for (index, ranks) in ranks.into_iter().enumerate() {
            let truth = all.quantile(quantiles[index]).expect("samples");
            let Ok(ranks) = ranks else { continue };
            given[index] += 1;
            too_low[index] += u32::from(values(seconds, ranks).1 < truth);
        }
        if let Ok((_, high)) = dependent_mean(&by_second(seconds), 0.95) {
            given[3] += 1;
            too_low[3] += u32::from(high < all.mean());
        }
    }
    for (given, too_low) in given.into_iter().zip(too_low) {
        // Two standard errors above 5 %.
        let most = 0.05 + 2.0 * (0.05 * 0.95 / f64::from(given)).sqrt();
        assert!(f64::from(too_low) <= most * f64::from(given), "{too_low} of {given}");
    }
    assert!(given[0] == 120 && given[1] > 40 && given[3] > 100, "{given:?}");
}

/// Simulates `n` seconds of an M/M/4 queue with services of 2 ms and arrivals at the planned rate
/// `rate`, after a warm-up at the initial rate.
fn planned(random: &mut Xoshiro256PlusPlus, rate: fn(f64) -> f64, n: u64) -> Vec<Stretch> {
    const WARM_S: u64 = 10;
    let at = |slot: u64| (slot as f64 / 10.0, rate((slot as f64 / 10.0 - 10.0).max(0.0)));
    let points: Vec<(f64, f64)> = (0..=10 * (WARM_S + n)).map(at).collect();
    let plan = crate::Intensity::new(&points, false).expect("a plan");
    let (mut due, mut all) = (0.0, Vec::new());
    loop {
        due += crate::exponential(random.next_u64());
        let now_ns = (plan.reached(due) * 1e9) as u64;
        if now_ns >= (WARM_S + n) * SECOND_NS {
            return of_four_servers(all, WARM_S * SECOND_NS, n);
        }
        all.push((now_ns, crate::exponential_ns(random.next_u64(), 2e6)));
    }
}

#[test]
fn what_a_plan_makes_of_times_is_no_error_of_theirs() {
    let rates: [fn(f64) -> f64; 4] = [
        |at| 1_200.0 + 500.0 * (at / 20.0 * std::f64::consts::TAU).sin(),
        |at| if at % 10.0 < 8.0 { 500.0 } else { 1_700.0 },
        |at| 200.0 + 1_500.0 * at / 60.0,
        |at| if at < 25.0 { 1_600.0 } else { 600.0 },
    ];
    for (index, rate) in rates.into_iter().enumerate() {
        let slots = (0..1_200).map(|slot| rate((f64::from(slot) + 0.5) / 20.0)).collect();
        let course = Course::from_rates(&[slots], 60);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(61);
        let runs: Vec<Vec<Stretch>> = (0..60).map(|_| planned(&mut random, rate, 60)).collect();
        let found: Vec<Intervals> = runs.iter().map(|run| intervals(run, &course)).collect();
        let each: Vec<[f64; 3]> = runs.iter().map(|run| figures(run)).collect();
        let truth = figures(&runs.concat());
        for place in 0..3 {
            let given: Vec<(f64, f64)> = found.iter().filter_map(|ends| ends[place]).collect();
            let holds = |(low, high): &&(f64, f64)| *low <= truth[place] && truth[place] <= *high;
            let held = given.iter().filter(holds).count() as f64 / given.len() as f64;
            let squares: f64 = each.iter().map(|run| (run[place] - truth[place]).powi(2)).sum();
            let mut widths: Vec<f64> = given.iter().map(|(low, high)| (high - low) / 2.0).collect();
            widths.sort_by(f64::total_cmp);
            let width = widths[widths.len() / 2] / (1.96 * (squares / 60.0).sqrt());
            // Two standard errors of 60 below 92 %.
            let is_good = given.len() >= 54 && held >= 0.85 && width < 2.3;
            assert!(is_good, "{index} {place}: {held} of {}, {width}", given.len());
            if place == 1 {
                let (low, high) = intervals(&runs[0], &Course::default())[1].expect("a minute");
                assert!(high - low > 2.0 * 2.0 * widths[30], "{index}: {low} {high}");
            }
        }
    }
}

/// Confidence intervals of the mean, the p50 and the p90; `None` for each that does not exist.
type Intervals = [Option<(f64, f64)>; 3];

fn intervals(seconds: &[Stretch], course: &Course) -> Intervals {
    let to_times = |ranks: Result<Ranks, NoInterval>| {
        let (low, high) = values(seconds, ranks.ok()?);
        Some((low as f64, high as f64))
    };
    let in_time = InTime { course: course.clone(), ..by_second(seconds) };
    let ranks = dependent_ranks(&in_time, &[0.5, 0.9], 0.95);
    [dependent_mean(&in_time, 0.95).ok(), to_times(ranks[0]), to_times(ranks[1])]
}

/// Returns the mean, the p50 and the p90 of the finished samples.
fn figures(seconds: &[Stretch]) -> [f64; 3] {
    let mut all = Histogram::new(RANGE);
    seconds.iter().for_each(|second| all.add(&second.finished));
    let quantile = |q| all.quantile(q).expect("samples") as f64;
    [all.mean(), quantile(0.5), quantile(0.9)]
}

#[test]
fn a_plan_that_shows_once_what_it_makes_has_no_intervals() {
    let burst = |at: f64| if (20.0..24.0).contains(&at) { 2_600.0 } else { 900.0 };
    let slots = (0..1_200).map(|slot| burst((f64::from(slot) + 0.5) / 20.0)).collect();
    let course = Course::from_rates(&[slots], 60);
    let seconds = planned(&mut Xoshiro256PlusPlus::seed_from_u64(62), burst, 60);
    let in_time = InTime { course, ..by_second(&seconds) };
    let ranks = dependent_ranks(&in_time, &[0.5, 0.9], 0.95);
    assert_eq!(ranks, [Err(NoInterval::Planned); 2]);
    assert_eq!(dependent_mean(&in_time, 0.95), Err(NoInterval::Planned));
    assert_eq!(share_dispersions(&in_time, 0.95), Err(NoInterval::Planned));
    let words = NoInterval::Planned.to_string();
    assert_eq!(words, "the planned rate changes and does not repeat often enough");
}

#[test]
fn medians_of_a_queue_that_takes_as_long_as_the_run_are_wide_and_not_those_of_calm_runs() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(15);
    let runs: Vec<Vec<Stretch>> = (0..150).map(|_| heavy_tailed(&mut random, 60)).collect();
    let mut all = Histogram::new(RANGE);
    runs.iter().flatten().for_each(|second| all.add(&second.finished));
    let truth = all.quantile(0.5).expect("samples");
    let interval = |seconds: &Vec<Stretch>| {
        let ranks = dependent_ranks(&by_second(seconds), &[0.5], 0.95)[0].ok()?;
        Some(values(seconds, ranks))
    };
    let given: Vec<(u64, u64)> = runs.iter().filter_map(interval).collect();
    let held = given.iter().filter(|(low, high)| *low <= truth && truth <= *high).count();
    let held = held as f64 / given.len() as f64;
    // Two standard errors of 150 below 92 %.
    assert!(given.len() >= 135 && held >= 0.875, "{} {held}", given.len());
}

#[test]
fn a_calm_run_of_a_heavy_tailed_queue_has_no_mean() {
    // One long transaction delays a second of others: rare events determine the mean.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
    let mut seconds = queue(&mut random, 1, 0.5, 60);
    assert!(dependent_mean(&by_second(&seconds), 0.95).is_ok());
    let far_ns = 9 * SECOND_NS / UNIT_NS;
    (0..1_000).for_each(|_| seconds[20].finished.record(far_ns));
    (0..2_000).for_each(|_| seconds[40].finished.record(far_ns));
    let found = dependent_mean(&by_second(&seconds), 0.95);
    assert!(matches!(found, Err(NoInterval::TooDependent { .. })), "{found:?}");
    let found = dependent_mean(&by_second(&seconds[..15]), 0.95);
    assert_eq!(found, Err(NoInterval::TooShort { needed: 20, have: 15 }));
    assert!(matches!(dependent_mean(&by_second(&[]), 0.95), Err(NoInterval::TooFew(_))));
    let mut equal = Histogram::new(RANGE);
    equal.record_n(7, 3);
    let equal = vec![Stretch { offered: 3, finished: equal }; 20];
    assert_eq!(dependent_mean(&by_second(&equal), 0.95), Ok((7.0, 7.0)));
}

#[test]
fn shares_of_which_nothing_scatters_are_those_of_independent_samples() {
    let mut finished = Histogram::default();
    finished.record_n(20_000_000, 50);
    let seconds = vec![Stretch { offered: 50, finished }; 30];
    let factors = share_dispersions(&by_second(&seconds), 0.95).expect("long enough");
    assert!(factors.iter().all(|dispersion| dispersion.factor == 1.0), "{factors:?}");
    assert_eq!((dispersion_at(&factors, 0.0), dispersion_at(&factors, 1.0)), (1.0, 1.0));
    assert_eq!(
        share_dispersions(&by_second(&seconds[..9]), 0.95),
        Err(NoInterval::TooShort { needed: 20, have: 9 })
    );
    assert!(matches!(share_dispersions(&by_second(&[]), 0.95), Err(NoInterval::TooFew(_))));
}

#[test]
fn what_is_missing_for_an_interval_is_named() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let minute = queue(&mut random, 1, 0.5, 60);
    let ranks_after =
        |seconds: usize, q| dependent_ranks(&by_second(&minute[..seconds]), &[q], 0.95)[0];
    assert_eq!(ranks_after(19, 0.5), Err(NoInterval::TooShort { needed: 20, have: 19 }));
    assert!(matches!(ranks_after(60, 0.99999), Err(NoInterval::TooFew(_))));
    assert!(ranks_after(20, 0.5).is_ok() && ranks_after(60, 0.9).is_ok());
    assert!(matches!(
        dependent_ranks(&by_second(&[]), &[0.5], 0.95)[0],
        Err(NoInterval::TooFew(TooFew { have: 0, .. }))
    ));
    // A minute's samples beyond the quantile in one second of it.
    let mut one = minute;
    (0..400).for_each(|_| one[30].finished.record(5 * SECOND_NS / UNIT_NS));
    one[30].offered += 400;
    let found = dependent_ranks(&by_second(&one), &[0.99], 0.95)[0];
    assert!(matches!(found, Err(NoInterval::TooDependent { .. })), "{found:?}");
}

#[test]
fn longer_stretches_need_no_more_of_them_than_their_waves_do() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let windows = |n: u64| InTime { width_s: 10, ..by_second(&queue(&mut random, 1, 0.5, n)) };
    let [few, enough, sixteen] = [9, 10, 16].map(windows);
    let too_short = |needed, have| NoInterval::TooShort { needed, have };
    assert_eq!(dependent_ranks(&few, &[0.5], 0.95)[0], Err(too_short(10, 9)));
    assert!(dependent_ranks(&enough, &[0.5], 0.95)[0].is_ok());
    assert_eq!(dependent_mean(&enough, 0.95), Err(too_short(16, 10)));
    assert!(dependent_mean(&sixteen, 0.95).is_ok());
}

#[test]
fn what_was_lost_lies_above_every_time() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut seconds = queue(&mut random, 1, 0.5, 60);
    let without = dependent_ranks(&by_second(&seconds), &[0.9], 0.95)[0].expect("enough");
    seconds.iter_mut().for_each(|second| second.offered += second.offered / 50);
    let with = dependent_ranks(&by_second(&seconds), &[0.9], 0.95)[0].expect("enough");
    assert!(with.low > without.low && with.high > without.high, "{without:?} {with:?}");
}
