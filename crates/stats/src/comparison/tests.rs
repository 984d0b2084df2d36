//! Tests of comparisons with simulated results whose true difference is known. Not here: ratios of
//! whole runs (study).

use proptest::prelude::*;
use rand_core::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::draw::normal;

#[test]
fn five_against_five_are_judged_at_the_exact_quantiles() {
    let first = [1.0, 2.0, 3.0, 4.0, 5.0];
    let above = [11.0, 12.0, 13.0, 14.0, 15.0];
    let found = Comparison::new(&first, &above, 0.95).expect("enough");
    // 2 of 252 orders are as extreme; U <= 2 has 4 of 252 in each tail.
    assert!((found.p - 2.0 / 252.0).abs() < 1e-12, "{found:?}");
    assert!((found.confidence - (1.0 - 8.0 / 252.0)).abs() < 1e-12, "{found:?}");
    // That of means is 2.60 to either side, within that of ranks.
    assert_eq!((found.shift, found.interval), (10.0, (7.0, 13.0)));
}

#[test]
fn the_effect_is_the_difference_of_the_means_that_readers_compute() {
    let (first, second) = ([1.0, 2.0, 3.0, 4.0, 90.0], [11.0, 12.0, 13.0, 14.0, 15.0]);
    assert_eq!(Comparison::new(&first, &second, 0.95).expect("enough").shift, 13.0 - 20.0);
    let of_pairs = Comparison::of_pairs(&[1.0, 2.0, 3.0, 4.0, 5.0, 9.0], 0.95).expect("six");
    assert_eq!(of_pairs.shift, 4.0);
    let lost = [1.0, 2.0, 3.0, 4.0, f64::INFINITY];
    let of_medians = Comparison::new(&lost, &second, 0.95).expect("enough");
    assert_eq!(of_medians.shift, 10.0, "a mean would be infinite");
}

#[test]
fn ties_have_the_mean_of_their_ranks() {
    // Ranks of the first side: 1.5, 1.5, 4; of 20 ways to deal, 4 are as far from 10.5.
    let found = p_value(&[1.0, 1.0, 2.0], &[2.0, 2.0, 3.0]);
    assert!((found - 0.3).abs() < 1e-12, "{found}");
    assert_eq!(p_value(&[5.0; 6], &[5.0; 6]), 1.0);
}

#[test]
fn no_order_of_three_against_three_is_surprising_so_means_alone_tell() {
    let near = Comparison::new(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95).expect("three");
    assert!(near.is_by_means && near.p > 0.05 && near.interval.0 < 0.0, "{near:?}");
    let far = Comparison::new(&[1.0, 2.0, 3.0], &[17.0, 18.0, 19.0], 0.95).expect("three");
    assert!(far.p < 0.05 && far.interval.0 > 0.0 && far.shift == 16.0, "{far:?}");
    assert!((far.confidence - 0.99).abs() < 1e-12, "{far:?}");
    let no = Comparison::new(&[1.0, 2.0, 3.0], &[7.0, 8.0, f64::INFINITY], 0.95);
    assert_eq!(no, Err(Incomparable::TooFew { needed: 4, have: 3 }));
    let no = Comparison::new(&[1.0, 2.0], &[7.0, 8.0, 9.0], 0.95);
    assert_eq!(no, Err(Incomparable::TooFew { needed: 4, have: 2 }));
    let no = Comparison::new(&[1.0], &[2.0], 0.95);
    assert_eq!(no, Err(Incomparable::TooFew { needed: 4, have: 1 }));
    let no = Comparison::new(&[], &[], 0.95);
    assert_eq!(no, Err(Incomparable::TooFew { needed: 4, have: 0 }));
    let no = Comparison::new(&[1.0; 5], &[1.0, 2.0, 3.0, 4.0, f64::NAN], 0.95);
    assert_eq!(no, Err(Incomparable::NoNumber));
}

/// Corrects p-values by the definition of Hommel's method, which is slow but simple: each becomes
/// the largest p-value of Simes' test over all sets that contain it.
fn closed(p_values: &[f64]) -> Vec<f64> {
    let n = p_values.len();
    let mut corrected = p_values.to_vec();
    for set in 1u32..1 << n {
        let within = |index: &usize| set >> index & 1 == 1;
        let mut of_set: Vec<f64> = (0..n).filter(within).map(|i| p_values[i]).collect();
        of_set.sort_by(f64::total_cmp);
        let size = of_set.len() as f64;
        let ranked = of_set.iter().enumerate().map(|(rank, p)| size * p / (rank + 1) as f64);
        let simes = ranked.fold(1.0, f64::min);
        (0..n).filter(within).for_each(|index| corrected[index] = corrected[index].max(simes));
    }
    corrected
}

#[test]
fn several_that_are_all_surprising_stay_so_and_one_among_many_does_not() {
    assert_eq!(hommel(&[0.008; 8]), [0.008; 8]);
    let alone = hommel(&[0.008, 0.5, 0.6, 0.9]);
    assert!((alone[0] - 0.032).abs() < 1e-12, "{alone:?}");
    assert_eq!(hommel(&[0.04]), [0.04]);
    assert!(hommel(&[]).is_empty());
}

#[test]
fn one_infinite_side_lies_above_a_finite_one() {
    let finite = [1.0, 2.0, 3.0, 4.0, 5.0];
    let found = Comparison::new(&finite, &[f64::INFINITY; 5], 0.95).expect("enough");
    assert_eq!((found.shift, found.interval), (f64::INFINITY, (f64::INFINITY, f64::INFINITY)));
    assert!((found.p - 2.0 / 252.0).abs() < 1e-12, "{found:?}");
    assert_eq!(detectable(&finite, &[f64::INFINITY; 5], 0.05), None);
    let same = Comparison::new(&[f64::INFINITY; 5], &[f64::INFINITY; 5], 0.95).expect("enough");
    assert_eq!((same.shift, same.p), (0.0, 1.0));
}

#[test]
fn so_few_cannot_be_as_surprising() {
    assert_eq!((needed(0.05), needed(0.05 / 8.0), needed(0.05 / 100.0)), (4, 6, 8));
    let (first, second) = ([1.0, 2.0, 3.0, 4.0, 5.0], [1.5, 2.5, 3.5, 4.5, 5.5]);
    assert_eq!(detectable(&first, &second, 0.05 / 8.0), None);
    let (wide, narrow) = (detectable(&first, &second, 0.01), detectable(&first, &second, 0.05));
    assert!(wide > narrow && narrow.is_some(), "{wide:?} {narrow:?}");
}

fn normals(count: usize, mean: f64, bits: &mut dyn FnMut() -> u64) -> Vec<f64> {
    (0..count).map(|_| mean + normal(bits)).collect()
}

#[test]
fn errors_coverage_and_power_are_as_reported() {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut bits = || source.next_u64();
    for n in [4, 5, 8, 12] {
        // Two sets whose estimated spread is the true one.
        let even: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let sd = moments(&even).1.sqrt();
        let even: Vec<f64> = even.into_iter().map(|figure| figure / sd).collect();
        let typical = detectable(&even, &even, 0.05).expect("enough");
        let (mut wrong, mut covered, mut found, rounds) = (0, 0, 0, 4000);
        for _ in 0..rounds {
            let first = normals(n, 0.0, &mut bits);
            let same = Comparison::new(&first, &normals(n, 0.0, &mut bits), 0.95);
            let same = same.expect("enough");
            wrong += u32::from(same.p < 0.05);
            covered += u32::from(same.interval.0 <= 0.0 && 0.0 <= same.interval.1);
            let moved = Comparison::new(&first, &normals(n, typical, &mut bits), 0.95);
            found += u32::from(moved.expect("enough").p < 0.05);
        }
        let share = |count: u32| f64::from(count) / f64::from(rounds);
        assert_eq!(wrong + covered, rounds, "the interval leaves out zero where p is small");
        assert!(share(wrong) < 0.06 && share(wrong) > 0.02, "{n}: {}", share(wrong));
        assert!((share(found) - POWER).abs() < 0.07, "{n}: {}", share(found));
    }
}

/// Draws noise with a standard deviation of about 1: normal, with heavy tails (Student's t of
/// three degrees of freedom), or skewed (exponential).
fn noise(kind: &str, bits: &mut dyn FnMut() -> u64) -> f64 {
    match kind {
        "normal" => normal(bits),
        "heavy" => {
            let square: f64 = (0..3).map(|_| normal(bits).powi(2)).sum();
            normal(bits) / square.sqrt()
        }
        _ => crate::exponential(bits()),
    }
}

#[test]
fn three_against_three_are_rarely_told_apart_wrongly_and_often_rightly() {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(15);
    let mut bits = || source.next_u64();
    for kind in ["normal", "heavy", "skewed"] {
        for (n, m, spread) in [(3, 3, 1.0), (3, 4, 1.0), (3, 3, 4.0)] {
            let (mut wrong, mut covered, mut found, rounds) = (0, 0, 0, 4000);
            for _ in 0..rounds {
                let mut draw =
                    |n: usize| (0..n).map(|_| noise(kind, &mut bits)).collect::<Vec<f64>>();
                let first: Vec<f64> = draw(n).into_iter().map(|x| x * spread).collect();
                let second = draw(m);
                let more = if kind == "skewed" { 1.0 - spread } else { 0.0 };
                let same: Vec<f64> = second.iter().map(|x| x - more).collect();
                let same = Comparison::new(&first, &same, 0.95).expect("three");
                wrong += u32::from(same.p < 0.05);
                covered += u32::from(same.interval.0 <= 0.0 && 0.0 <= same.interval.1);
                let moved: Vec<f64> = second.iter().map(|x| x + 15.0).collect();
                let moved = Comparison::new(&first, &moved, 0.95).expect("three");
                found += u32::from(moved.p < 0.05);
            }
            let share = |count: u32| f64::from(count) / f64::from(rounds);
            let (wrong, found) = (share(wrong), share(found));
            assert!(wrong <= 0.05, "{kind} {n} {m} {spread}: {wrong}");
            assert!(share(covered) >= 0.95, "{kind} {n} {m} {spread}");
            let is_plain = spread == 1.0;
            assert!(!is_plain || found > 0.8, "{kind} {n} {m}: {found}");
        }
    }
}

#[test]
fn a_small_side_that_varies_more_is_told_from_one_that_differs() {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(12);
    let mut bits = || source.next_u64();
    for (n, m, spread) in [(4, 12, 3.0), (3, 12, 10.0), (6, 10, 5.0), (5, 5, 10.0)] {
        let (mut wrong, rounds) = (0, 4000);
        for _ in 0..rounds {
            let wide: Vec<f64> = normals(n, 0.0, &mut bits).iter().map(|x| x * spread).collect();
            let found = Comparison::new(&wide, &normals(m, 0.0, &mut bits), 0.95);
            wrong += u32::from(found.expect("enough").p < 0.05);
        }
        let share = f64::from(wrong) / f64::from(rounds);
        assert!(share < 0.07, "{n} of spread {spread} against {m}: {share}");
    }
}

#[test]
fn few_figures_that_vary_more_are_rarely_told_apart_however_small_the_error() {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(14);
    let mut bits = || source.next_u64();
    for (n, m, spread) in [(4, 12, 3.0), (3, 20, 3.0), (4, 12, 2.0)] {
        let (mut wrong, rounds) = (0, 30_000);
        for _ in 0..rounds {
            let wide: Vec<f64> = normals(n, 0.0, &mut bits).iter().map(|x| x * spread).collect();
            let found = Comparison::new(&wide, &normals(m, 0.0, &mut bits), 0.95);
            wrong += u32::from(found.expect("enough").p < 0.005);
        }
        // With the degrees of freedom of the spreads as found: 270, 390 and 256.
        assert!(wrong < 190, "{n} of spread {spread} against {m}: {wrong}");
    }
}

#[test]
fn what_repeats_have_in_common_hides_no_difference_within_them() {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(13);
    let mut bits = || source.next_u64();
    // A drift of 10 % over six repeats, a difference of 3 %, noise of 1 %.
    let (mut found, mut wrong, rounds) = ([0, 0], 0, 2000);
    for _ in 0..rounds {
        let drift = |side: Vec<f64>| {
            side.into_iter().enumerate().map(|(i, x)| x + 2.0 * i as f64).collect::<Vec<f64>>()
        };
        let first = drift(normals(6, 0.0, &mut bits));
        let second = drift(normals(6, 3.0, &mut bits));
        let same = drift(normals(6, 0.0, &mut bits));
        let pairs = |second: &[f64]| {
            let apart: Vec<f64> = first.iter().zip(second).map(|(a, b)| b - a).collect();
            Comparison::of_pairs(&apart, 0.95).expect("six")
        };
        found[0] += u32::from(Comparison::new(&first, &second, 0.95).expect("six").p < 0.05);
        let paired = pairs(&second);
        found[1] += u32::from(paired.p < 0.05);
        assert_eq!(paired.p < 0.05, paired.interval.0 > 0.0 || paired.interval.1 < 0.0);
        wrong += u32::from(pairs(&same).p < 0.05);
    }
    let share = |count: u32| f64::from(count) / f64::from(rounds);
    assert!(share(found[0]) < 0.05 && share(found[1]) > 0.8, "{found:?}");
    assert!(share(wrong) < 0.05, "{wrong}");
}

#[test]
fn six_pairs_are_the_least_whose_signs_are_surprising() {
    assert_eq!((pairs_needed(0.05), pairs_needed(0.05 / 3.0)), (6, 7));
    let few = Comparison::of_pairs(&[1.0; 5], 0.95);
    assert_eq!(few, Err(Incomparable::TooFew { needed: 6, have: 5 }));
    let six = Comparison::of_pairs(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).expect("enough");
    assert_eq!((six.p, six.shift), (2.0 / 64.0, 3.5));
    // Three equal signs are 2 of 8 possibilities; a difference of 0 has no sign.
    assert_eq!(signs_p_value(&[1.0, 1.0, 0.0, 2.0]), 0.25);
    let lost = [f64::INFINITY; 6];
    assert_eq!(Comparison::of_pairs(&lost, 0.95).expect("six").shift, f64::INFINITY);
    assert_eq!(Comparison::of_pairs(&[0.0; 6], 0.95).expect("six").p, 1.0);
}

proptest! {
    #[test]
    fn the_correction_is_that_of_the_closed_test(
        p_values in proptest::collection::vec(0.0f64..1.0, 1..9),
        power in 1.0f64..6.0,
    ) {
        let p_values: Vec<f64> = p_values.into_iter().map(|p| p.powf(power)).collect();
        for (quick, plain) in hommel(&p_values).into_iter().zip(closed(&p_values)) {
            prop_assert!((quick - plain).abs() < 1e-12, "{quick} {plain} of {p_values:?}");
        }
    }

    #[test]
    fn sides_exchanged_differ_by_as_much_the_other_way(
        first in proptest::collection::vec(-100i32..100, 4..12),
        second in proptest::collection::vec(-100i32..100, 4..12),
    ) {
        let floats = |side: &[i32]| side.iter().copied().map(f64::from).collect::<Vec<_>>();
        let (first, second) = (floats(&first), floats(&second));
        let there = Comparison::new(&first, &second, 0.95).expect("enough");
        let back = Comparison::new(&second, &first, 0.95).expect("enough");
        prop_assert_eq!(there.shift, -back.shift);
        prop_assert!((there.interval.0 + back.interval.1).abs() < 1e-9);
        prop_assert!((there.interval.1 + back.interval.0).abs() < 1e-9);
        prop_assert!((there.p - back.p).abs() < 1e-9);
        prop_assert!(there.interval.0 <= there.shift && there.shift <= there.interval.1);
        prop_assert!(there.p > 0.0 && there.p <= 1.0);
    }
}
