//! Where a series of figures changes its level: builds of a database, one figure each.
//!
//! Divisive segmentation by energy distance (D. S. Matteson and N. A. James, J. Am. Stat. Assoc.
//! 109, 334, 2014): the best division of the whole is tested, then that of its parts. Its test
//! deals the same figures in random order, so it is exact for short series, too, and takes no
//! view of their distribution. A series that is too short for that has its last figure compared
//! with the ones before. Not here: which figures make a series, or whether more is better.

/// A shorter series is not divided: its last figure is compared with those before.
pub const SERIES_MIN: usize = 20;
/// Nobody reads farther back; the time grows with the square of it.
pub const SERIES_MAX: usize = 1000;
/// The fewest figures that are a level of their own.
const PART_MIN: usize = 3;
/// Random orders that a division is held against.
const ORDERS: usize = 999;
/// Fewer figures before the last one do not tell how much they vary.
const BEFORE_MIN: usize = 3;

/// A place where the level changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The index of the first figure of the new level.
    pub at: usize,
    /// The mean from the change before, or the beginning, to this one.
    pub before: f64,
    /// The mean from here to the next change, or the end.
    pub after: f64,
    /// The share of random orders, this one with them, that can be divided as well.
    pub p: f64,
}

/// The series is shorter than [`SERIES_MIN`] or longer than [`SERIES_MAX`], or a figure of it is
/// not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotDivided;

/// All changes of level in a series, in its order, each with less than a chance of `error` to
/// stand where there is none. `bits` are random, and decide nothing but the p-values.
pub fn change_points(
    series: &[f64],
    error: f64,
    bits: &mut dyn FnMut() -> u64,
) -> Result<Vec<ChangePoint>, NotDivided> {
    let is_fit = (SERIES_MIN..=SERIES_MAX).contains(&series.len())
        && series.iter().all(|figure| figure.is_finite());
    if !is_fit {
        return Err(NotDivided);
    }
    let mut cuts = Vec::new();
    divide(series, 0, error, bits, &mut cuts);
    cuts.sort_by_key(|(at, _)| *at);
    let level = |from: usize, to: usize| series[from..to].iter().sum::<f64>() / (to - from) as f64;
    let points = cuts.iter().enumerate().map(|(index, &(at, p))| {
        let from = index.checked_sub(1).map_or(0, |before| cuts[before].0);
        let to = cuts.get(index + 1).map_or(series.len(), |next| next.0);
        ChangePoint { at, before: level(from, at), after: level(at, to), p }
    });
    Ok(points.collect())
}

fn divide(
    part: &[f64],
    from: usize,
    error: f64,
    bits: &mut dyn FnMut() -> u64,
    cuts: &mut Vec<(usize, f64)>,
) {
    let mut order: Vec<usize> = (0..part.len()).collect();
    let Some((at, found)) = best_division(part, &order) else { return };
    let may_match = (error * (ORDERS + 1) as f64).floor() as usize;
    let mut n_match = 1;
    for _ in 0..ORDERS {
        shuffle(&mut order, bits);
        n_match += usize::from(best_division(part, &order).is_some_and(|other| other.1 >= found));
        if n_match > may_match {
            return;
        }
    }
    cuts.push((from + at, n_match as f64 / (ORDERS + 1) as f64));
    divide(&part[..at], from, error, bits, cuts);
    divide(&part[at..], from + at, error, bits, cuts);
}

/// The division of a part, taken in the given order, with the largest energy distance between
/// its halves, and that distance times nm / (n + m). None where it is too short, or all is equal.
fn best_division(part: &[f64], order: &[usize]) -> Option<(usize, f64)> {
    let count = part.len();
    if count < 2 * PART_MIN {
        return None;
    }
    let apart = |a: usize, b: usize| (part[order[a]] - part[order[b]]).abs();
    let sum = |of: usize, with: std::ops::Range<usize>| with.map(|b| apart(of, b)).sum::<f64>();
    // Sums of distances: within the left, between the two, within the right.
    let (mut left, mut between, mut right) = (0.0, 0.0, 0.0);
    for a in 0..count {
        right += sum(a, 0..a);
    }
    let mut best: Option<(usize, f64)> = None;
    for at in 1..=count - PART_MIN {
        let (to_left, to_right) = (sum(at - 1, 0..at - 1), sum(at - 1, at..count));
        left += to_left;
        between += to_right - to_left;
        right -= to_right;
        if at < PART_MIN {
            continue;
        }
        let (n, m) = (at as f64, (count - at) as f64);
        let energy =
            2.0 * between / (n * m) - 2.0 * left / (n * (n - 1.0)) - 2.0 * right / (m * (m - 1.0));
        let scaled = energy * n * m / (n + m);
        if scaled > best.map_or(0.0, |(_, most)| most) {
            best = Some((at, scaled));
        }
    }
    best
}

/// R. A. Fisher and F. Yates; D. E. Knuth, "The Art of Computer Programming" 2, 3.4.2, P.
fn shuffle(order: &mut [usize], bits: &mut dyn FnMut() -> u64) {
    for last in (1..order.len()).rev() {
        let other = ((u128::from(bits()) * (last as u128 + 1)) >> 64) as usize;
        order.swap(last, other);
    }
}

/// The last figure of a short series against the ones before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newcomer {
    /// The mean of the ones before.
    pub before: f64,
    /// Where the next figure was to be expected.
    pub expected: (f64, f64),
    /// Whether it lies outside.
    pub is_outside: bool,
}

/// Holds `last` against Student's prediction interval of `confidence` from the figures before,
/// as if these were normal. None of fewer than three.
pub fn newcomer(before: &[f64], last: f64, confidence: f64) -> Option<Newcomer> {
    let known = crate::mean(before, confidence).filter(|known| known.count >= BEFORE_MIN)?;
    // A new figure varies as one does, and the mean as the root of n less: sd (1 + 1/n)^(1/2).
    let half_width = known.half_width? * (known.count as f64 + 1.0).sqrt();
    let expected = (known.value - half_width, known.value + half_width);
    let is_outside = !(expected.0..=expected.1).contains(&last);
    Some(Newcomer { before: known.value, expected, is_outside })
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    const ERROR: f64 = 0.01;

    /// A series of 60 builds around 1000 with 2 % of noise, moved by a share from a build on.
    fn builds(count: usize, from: usize, by: f64, bits: &mut dyn FnMut() -> u64) -> Vec<f64> {
        let level = |index: usize| if index < from { 1000.0 } else { 1000.0 * (1.0 + by) };
        (0..count).map(|index| level(index) * (1.0 + 0.02 * normal(bits))).collect()
    }

    fn found(series: &[f64], seed: u64) -> Vec<ChangePoint> {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(seed);
        change_points(series, ERROR, &mut || source.next_u64()).expect("long enough")
    }

    #[test]
    fn a_shift_of_four_deviations_is_placed_and_none_is_made_up() {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut bits = || source.next_u64();
        let (mut placed, mut alarms, seeds) = (0, 0, 500);
        for seed in 0..seeds {
            let points = found(&builds(60, 30, -0.08, &mut bits), seed);
            placed += u32::from(points.iter().any(|point| point.at.abs_diff(30) <= 1));
            alarms += u32::from(!found(&builds(60, 60, 0.0, &mut bits), seed).is_empty());
        }
        assert!(f64::from(placed) >= 0.98 * seeds as f64, "{placed} of {seeds}");
        assert!(f64::from(alarms) <= 0.02 * seeds as f64, "{alarms} of {seeds}");
    }

    #[test]
    fn a_shift_at_the_end_is_found_some_builds_later() {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut bits = || source.next_u64();
        let seeds = 100;
        let shares = [2, 3, 4, 5, 6].map(|after: usize| {
            let hits = (0..seeds).filter(|&seed| {
                let points = found(&builds(40 + after, 40, -0.08, &mut bits), seed);
                points.iter().any(|point| point.at.abs_diff(40) <= 1)
            });
            hits.count()
        });
        assert!(shares[0] < 50 && shares[1..].iter().all(|hits| *hits >= 95), "{shares:?}");
    }

    #[test]
    fn levels_are_told_between_their_changes() {
        let series = [vec![10.0; 10], vec![20.0; 10], vec![15.0; 10]].concat();
        let wobble = |(index, level): (usize, &f64)| level + 0.1 * (index % 3) as f64;
        let series: Vec<f64> = series.iter().enumerate().map(wobble).collect();
        let points = found(&series, 3);
        assert_eq!(points.iter().map(|point| point.at).collect::<Vec<_>>(), [10, 20]);
        assert!((points[0].before - 10.1).abs() < 0.05 && (points[1].after - 15.1).abs() < 0.05);
        assert!(found(&[7.0; 30], 3).is_empty());
    }

    #[test]
    fn a_short_series_is_not_divided_but_its_last_figure_is_judged() {
        assert_eq!(change_points(&[1.0; 19], ERROR, &mut || 0), Err(NotDivided));
        let mut holed = [1.0; 30];
        holed[7] = f64::NAN;
        assert_eq!(change_points(&holed, ERROR, &mut || 0), Err(NotDivided));
        let before = [9.0, 10.0, 11.0, 12.0, 13.0];
        let same = newcomer(&before, 14.0, 0.95).expect("five");
        // t(0.975; 4) = 2.776, times 1.5811, times the root of 1 + 1/5.
        assert!((same.expected.1 - 15.809).abs() < 1e-3 && !same.is_outside, "{same:?}");
        assert!(newcomer(&before, 16.0, 0.95).expect("five").is_outside);
        assert_eq!(newcomer(&before[..2], 16.0, 0.95), None);
    }
}
