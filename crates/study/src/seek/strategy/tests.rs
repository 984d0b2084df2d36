//! Tests of searches on made-up curves. Searches on queues whose answer is known are in the example
//! `seek`.

use crate::seek::METHOD;
use model::{Rng, Stream};

use super::*;

/// Runs a search to its end; `look` takes the place of the database and judges each probe.
fn search(
    strategy: &SearchStrategy,
    look: &mut dyn FnMut(&PlannedProbe) -> Judged,
) -> (Conclusion, Vec<Probe>) {
    let mut probes = Vec::new();
    while let Some(planned) = strategy.next(&probes) {
        let judged = look(&planned);
        probes.push(Probe { planned, judged });
        assert!(probes.len() < 40, "it comes to an end");
    }
    (strategy.conclude(&probes), probes)
}

/// Makes a judgement of a probe whose ratio has the natural logarithm `score`, with this half-width
/// of its confidence interval.
fn judged(score: f64, half_width: f64) -> Judged {
    of_ratios(&[score.exp()], half_width)
}

fn of_ratios(ratios: &[f64], half_width: f64) -> Judged {
    let objectives = ["p99<20ms", "p50<5ms"];
    let beyond = |(ratio, objective): (&f64, &&str)| Beyond {
        objective: objective.parse().expect("an objective"),
        ratio: ratio.min(100.0),
        error: Some(half_width / 1.645 * ratio),
        independent: None,
    };
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let verdict = Verdict::from_score(worst - 1.0, half_width * worst);
    Judged::new(verdict, ratios.iter().zip(&objectives).map(beyond).collect())
}

fn broken() -> Judged {
    Judged { verdict: Verdict::Fails, is_broken: true, ..of_ratios(&[], 0.0) }
}

const COURSE: SearchStrategy = SearchStrategy {
    low: 100.0,
    high: 5000.0,
    is_whole: false,
    budget_ns: 600_000_000_000,
    ramp_up_ns: 2_000_000_000,
    method: METHOD,
};

fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut rng = Rng::new(seed, Stream::Order, 0);
    move || (0..12).map(|_| stats::unit(rng.bits())).sum::<f64>() - 6.0
}

#[test]
fn a_noisy_curve_is_found_and_its_interval_holds_the_truth() {
    let (mut near, mut held, n) = (0, 0, 200);
    for seed in 0..n {
        let mut normal = noise(seed);
        let mut look = |planned: &PlannedProbe| {
            // The bound is met up to 1,700; 1 % more rate causes 20 % more late transactions.
            judged(20.0 * (planned.at / 1700.0).ln() + 0.3 * normal() - 0.045, 0.5)
        };
        let (found, _) = search(&COURSE, &mut look);
        let Answer::Found { value, low, high } = found.answer else { panic!("{found:?}") };
        near += usize::from((value / 1700.0 - 1.0).abs() < 0.03);
        held += usize::from(low <= 1700.0 && 1700.0 <= high);
    }
    assert!(near >= 195 && held >= 170, "{near} near, {held} held of {n}");
}

#[test]
fn a_budget_is_kept() {
    for truth in [150.0, 700.0, 4500.0] {
        let mut look = |planned: &PlannedProbe| judged(3.0 * (planned.at / truth).ln(), 0.05);
        let (_, probes) = search(&COURSE, &mut look);
        let spent = |probe: &Probe| probe.planned.measure_ns + COURSE.ramp_up_ns;
        let spent: u64 = probes.iter().map(spent).sum();
        assert!(spent <= COURSE.budget_ns, "{spent}");
        assert!(spent >= COURSE.budget_ns * 8 / 10, "{spent}");
    }
}

#[test]
fn the_ends_of_the_range_are_reported() {
    let (found, probes) = search(&COURSE, &mut |_| judged(1.0, 0.1));
    assert_eq!(found.answer, Answer::LowestFails { value: 100.0 });
    // Five probes halve the range, one checks, two are at the end, and three are fresh.
    assert_eq!((found.confirmed, probes.len()), (Some(true), 11));
    let (found, _) = search(&COURSE, &mut |_| judged(-1.0, 0.1));
    assert_eq!(found.answer, Answer::HighestMeets { value: 5000.0 });
    assert_eq!(found.confirmed, Some(true));
}

#[test]
fn an_end_that_fresh_probes_contradict_is_not_confirmed() {
    let mut look = |planned: &PlannedProbe| match planned.stage {
        Stage::Confirm => judged(1.0, 0.1),
        _ => judged(-1.0, 0.1),
    };
    let (found, _) = search(&COURSE, &mut look);
    assert_eq!(found.answer, Answer::HighestMeets { value: 5000.0 });
    assert_eq!(found.confirmed, Some(false));
}

#[test]
fn an_edge_without_a_slope_is_found_between_two_values() {
    let look =
        |planned: &PlannedProbe| if planned.at < 1234.0 { judged(-1.0, 0.1) } else { broken() };
    let (found, _) = search(&COURSE, &mut { look });
    let Answer::Between { low, high } = found.answer else { panic!("{found:?}") };
    assert!(low < 1234.0 && high >= 1234.0 && high / low < 1.02, "{low} {high}");
    assert_eq!(found.confirmed, Some(true));
}

#[test]
fn a_flat_region_is_said_to_be_one() {
    let mut normal = noise(4);
    let (found, _) = search(&COURSE, &mut |_| judged(0.03 * normal(), 0.1));
    assert!(matches!(found.answer, Answer::Flat { .. }), "{found:?}");
}

#[test]
fn long_probes_find_their_way_from_where_short_ones_were_wrong() {
    for truth in [500.0, 1600.0] {
        let mut normal = noise(6);
        let mut look = |planned: &PlannedProbe| match planned.stage {
            // Short probes put the boundary at 900.
            Stage::Bracket => judged((planned.at / 900.0).ln(), 0.5),
            _ => judged(10.0 * (planned.at / truth).ln() + 0.02 * normal(), 0.05),
        };
        let (found, _) = search(&COURSE, &mut look);
        let Answer::Found { value, .. } = found.answer else { panic!("{found:?}") };
        assert!((value / truth - 1.0).abs() < 0.1, "{value} for {truth}");
    }
}

#[test]
fn a_probe_that_breaks_once_sets_no_edge_and_two_of_three_do() {
    // Wherever the nth probe breaks by a stall, the answer is where times exceed the bound.
    for nth in 0..20 {
        let (mut normal, mut n) = (noise(nth), 0);
        let mut look = |planned: &PlannedProbe| {
            n += 1;
            match n - 1 == nth {
                true => broken(),
                false => judged(20.0 * (planned.at / 1700.0).ln() + 0.1 * normal(), 0.2),
            }
        };
        let (found, _) = search(&COURSE, &mut look);
        let Answer::Found { value, .. } = found.answer else { panic!("{nth}: {found:?}") };
        assert!((value / 1700.0 - 1.0).abs() < 0.03, "{nth}: {value}");
    }
    // Two of three at a place from 1,000 on: that is the edge.
    let mut n = 0;
    let mut look = |planned: &PlannedProbe| {
        n += 1;
        if planned.at < 1000.0 || n % 3 == 0 { judged(-3.0, 0.1) } else { broken() }
    };
    let (found, _) = search(&COURSE, &mut look);
    assert!(matches!(found.answer, Answer::Between { .. }), "{found:?}");
}

#[test]
fn the_objective_that_breaks_first_is_the_answer() {
    let mut normal = noise(2);
    let mut look = |planned: &PlannedProbe| {
        let first = (20.0 * (planned.at / 2000.0).ln() + 0.1 * normal()).exp();
        let second = (5.0 * (planned.at / 1200.0).ln() + 0.05 * normal()).exp().min(1.9);
        of_ratios(&[first, second], 0.1)
    };
    let (found, _) = search(&COURSE, &mut look);
    let Answer::Found { value, .. } = found.answer else { panic!("{found:?}") };
    assert!((value / 1200.0 - 1.0).abs() < 0.03, "{value}");
}

#[test]
fn windows_worth_a_few_requests_leave_it_undecided() {
    let mut normal = noise(3);
    let mut look = |planned: &PlannedProbe| {
        let mut judged = judged(20.0 * (planned.at / 1700.0).ln() + 0.3 * normal(), 0.5);
        judged.beyond[0].independent = Some(2.0);
        judged
    };
    let (found, _) = search(&COURSE, &mut look);
    assert!(matches!(found.answer, Answer::TooShort { .. }), "{found:?}");
    assert_eq!(found.confirmed, None);
}

#[test]
fn whole_numbers_stay_whole() {
    let strategy = SearchStrategy { low: 1.0, high: 64.0, is_whole: true, ..COURSE };
    let mut normal = noise(5);
    let mut look =
        |planned: &PlannedProbe| judged((planned.at / 20.5).ln() + 0.01 * normal(), 0.02);
    let (found, probes) = search(&strategy, &mut look);
    assert!(probes.iter().all(|probe| probe.planned.at.fract() == 0.0));
    let Answer::Found { value, low, high } = found.answer else { panic!("{found:?}") };
    assert_eq!(value, 20.0);
    assert!([low, high].iter().all(|end| end.fract() == 0.0), "{low} {high}");
    assert!(low <= value && value <= high, "{low} {high}");
}

#[test]
fn the_answer_lies_in_its_interval_and_the_interval_in_the_range() {
    let (low, high) = (1.0, 40.0);
    let strategy = SearchStrategy { low, high, is_whole: true, ..COURSE };
    let mut n_found = 0;
    for (nth, truth) in [1.2, 2.9, 7.0, 12.5, 26.01, 38.7, 39.9].repeat(20).iter().enumerate() {
        let mut normal = noise(nth as u64);
        let mut look =
            |planned: &PlannedProbe| judged((planned.at / truth).ln() + 0.1 * normal(), 0.15);
        let (found, _) = search(&strategy, &mut look);
        let Answer::Found { value, low, high } = found.answer else { continue };
        n_found += 1;
        let all = [strategy.low, low, value, high, strategy.high];
        assert!(all.is_sorted() && all.iter().all(|at| at.fract() == 0.0), "{truth}: {all:?}");
    }
    assert!(n_found > 100, "{n_found}");
}

#[test]
fn a_line_that_crosses_beyond_the_range_is_an_answer_at_its_end() {
    // Short probes find the boundary within the range, and long ones beyond it.
    let seek = |short: f64, truth: f64| {
        let mut normal = noise(8);
        let mut look = |planned: &PlannedProbe| match planned.stage {
            Stage::Bracket => judged((planned.at / short).ln(), 0.01),
            _ => judged(10.0 * (planned.at / truth).ln() + 0.01 * normal(), 0.02),
        };
        search(&COURSE, &mut look).0
    };
    let low = seek(110.0, 70.0);
    assert_eq!((low.answer, low.confirmed), (Answer::LowestFails { value: 100.0 }, Some(true)));
    let high = seek(4600.0, 7000.0);
    assert_eq!((high.answer, high.confirmed), (Answer::HighestMeets { value: 5000.0 }, Some(true)));
}

#[test]
fn fresh_probes_above_their_bound_confirm_nothing_however_noisy_they_are() {
    for (score, half_width) in [(0.3, 0.5), (0.05, 0.01), (0.05, 2.0)] {
        for seed in 0..10 {
            let mut normal = noise(seed);
            let mut look = |planned: &PlannedProbe| match planned.stage {
                Stage::Confirm => judged(score, half_width),
                _ => judged(20.0 * (planned.at / 900.0).ln() + 0.1 * normal(), 0.2),
            };
            let (found, _) = search(&COURSE, &mut look);
            assert_ne!(found.confirmed, Some(true), "{score} {half_width} {seed}: {found:?}");
        }
    }
}

#[test]
fn fresh_probes_that_are_surely_below_their_bound_confirm_the_lower_end() {
    let mut n_confirmed = 0;
    for seed in 0..40 {
        let mut normal = noise(seed);
        let mut look =
            |planned: &PlannedProbe| judged(20.0 * (planned.at / 900.0).ln() + 0.1 * normal(), 0.2);
        let (found, probes) = search(&COURSE, &mut look);
        let Answer::Found { low, .. } = found.answer else { panic!("{found:?}") };
        if found.confirmed == Some(true) {
            n_confirmed += 1;
            let fresh = probes.iter().filter(|probe| probe.planned.stage == Stage::Confirm);
            let least = fresh.map(|probe| probe.planned.at).fold(f64::INFINITY, f64::min);
            assert!(low <= least && low <= 900.0, "{low} {least}");
            // Rounding alone does not make it another value.
            assert!(low == least || low < least * (1.0 - 1e-4), "{low} {least}");
        }
    }
    assert!(n_confirmed >= 20, "{n_confirmed} of 40");
}

#[test]
fn what_was_reported_decides_what_is_asked() {
    let mut look = |planned: &PlannedProbe| judged(3.0 * (planned.at / 777.0).ln(), 0.05);
    let (found, probes) = search(&COURSE, &mut look);
    for n in 0..probes.len() {
        assert_eq!(COURSE.next(&probes[..n]), Some(probes[n].planned));
        assert_eq!(COURSE.conclude(&probes[..n]).answer, Answer::Unfinished);
    }
    assert_eq!(COURSE.conclude(&probes), found);
}
