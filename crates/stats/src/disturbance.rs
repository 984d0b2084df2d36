//! Effect of a disturbance (a planned event, such as killing the server) on a run: the seconds to
//! compare before, during and after it, and the time until the rate recovers.
//!
//! Not here: rates and quantiles of these seconds, which are computed like any others.

use std::ops::Range;

use crate::Moments;

/// Smallest length of the compared windows before and after a disturbance, in seconds.
const WINDOW_S_MIN: i64 = 5;

/// Mean number of events per second above which a second without events is not chance: its
/// probability is e^-10.
const MEAN_MIN: f64 = 10.0;

/// Number of consecutive seconds with a recovered rate that count as a recovery, since a single one
/// may be chance.
const LASTING_S: usize = 3;

/// Ranges of whole seconds to compare: before, during and after a disturbance. Seconds count from
/// the start of the measured phase; a range that does not exist is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Seconds before the disturbance, except the last one, whose transactions the disturbance may
    /// have affected.
    pub before: Range<i64>,
    /// Seconds that the disturbance overlaps, at least in part.
    pub during: Range<i64>,
    /// Seconds after the disturbance, as many as before it if the run is long enough.
    pub after: Range<i64>,
}

/// Returns the windows of a disturbance from `began_ns` to `ended_ns`, in a run of `n_seconds`
/// seconds.
///
/// The windows before and after are as long as the disturbance, at least 5 s, and of equal length
/// unless the run has less than 5 s on one side. The second just before the disturbance is in no
/// window, because transactions that began in it may have been affected.
pub fn windows(began_ns: i64, ended_ns: i64, n_seconds: i64) -> Windows {
    const NS_PER_S: i64 = 1_000_000_000;
    let first = began_ns.div_euclid(NS_PER_S).clamp(0, n_seconds);
    let end = (ended_ns + NS_PER_S - 1).div_euclid(NS_PER_S).max(first + 1).min(n_seconds);
    let (free_before, free_after) = ((first - 1).max(0), n_seconds - end);
    let wanted = (end - first).max(WINDOW_S_MIN);
    let shorter = free_before.min(free_after);
    let length = if shorter >= WINDOW_S_MIN { wanted.min(shorter) } else { wanted };
    Windows {
        before: (free_before - length).max(0)..free_before,
        during: first..end,
        after: end..(end + length).min(n_seconds),
    }
}

/// Whether the rate of events fell during a disturbance, and when it recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The recovery is unknown: there were no events before the disturbance, so there is no level
    /// to recover to.
    Unknown,
    /// The rate did not fall during the disturbance by more than chance.
    NeverFell,
    /// The rate fell during the disturbance, and recovered later.
    Back {
        /// Second of the recovery, counted from 0 at the second in which the disturbance began.
        second: usize,
    },
    /// The rate fell during the disturbance, and had not recovered when the data ended.
    NotWithin,
}

/// Finds whether the rate of events fell during a disturbance, and when it was back at `share` of
/// its earlier mean. `before` has the events of each second before the disturbance, `since` those
/// from the second in which it began. A fall is looked for in the first `n_look` seconds of
/// `since`.
///
/// A second has fallen if it is below `share` of the mean before, and below that mean less three
/// standard deviations: those of the seconds before, or the root of the mean (as for random
/// arrivals) if that is more, because a standard deviation from a few seconds is inaccurate. A
/// second without events has also fallen if the mean is 10 or more. The rate is back in the first
/// later second that has not fallen, if it and the two after it reach `share` of the mean on
/// average.
pub fn recovery(before: &[u64], since: &[u64], n_look: usize, share: f64) -> Recovery {
    let mut moments = Moments::default();
    before.iter().for_each(|&count| moments.record(count));
    let mean = moments.mean();
    if before.is_empty() || mean <= 0.0 {
        return Recovery::Unknown;
    }
    let sd = if before.len() > 1 { moments.sd() } else { 0.0 };
    let goal = share * mean;
    let low = goal.min(mean - 3.0 * sd.max(mean.sqrt()));
    let looked = &since[..n_look.min(since.len())];
    // Where seconds scatter so much that none is below chance, a stall still is one.
    let is_standstill = |count: u64| count == 0 && mean >= MEAN_MIN;
    let has_fallen = |count: &u64| (*count as f64) < low || is_standstill(*count);
    let Some(fell) = looked.iter().position(has_fallen) else {
        return Recovery::NeverFell;
    };
    let is_back = |second: &usize| {
        let lasting = &since[*second..(*second + LASTING_S).min(since.len())];
        let sum: u64 = lasting.iter().sum();
        !has_fallen(&since[*second]) && sum as f64 >= goal * lasting.len() as f64
    };
    match (fell + 1..since.len()).find(is_back) {
        Some(second) => Recovery::Back { second },
        None => Recovery::NotWithin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn windows_are_equal_and_leave_out_the_second_before() {
        let check = |began: i64, ended: i64, n: i64, expect: [Range<i64>; 3]| {
            let Windows { before, during, after } = windows(began, ended, n);
            assert_eq!([before, during, after], expect, "{began} {ended} {n}");
        };
        check(30 * S, 31 * S, 60, [24..29, 30..31, 31..36]);
        check(30 * S + 5, 31 * S + 1, 60, [24..29, 30..32, 32..37]);
        check(30 * S, 30 * S, 60, [24..29, 30..31, 31..36]);
        check(20 * S, 32 * S, 60, [7..19, 20..32, 32..44]);
        check(20 * S, 50 * S, 60, [9..19, 20..50, 50..60]);
    }

    #[test]
    fn a_run_that_is_too_short_on_one_side_gives_what_it_has() {
        assert_eq!(windows(3 * S, 4 * S, 60).before, 0..2);
        assert_eq!(windows(3 * S, 4 * S, 60).after, 4..9);
        assert!(windows(0, S, 60).before.is_empty());
        assert_eq!(windows(58 * S, 59 * S, 60).after, 59..60);
        assert!(windows(58 * S, 65 * S, 60).after.is_empty());
        let nothing = windows(5 * S, 6 * S, 0);
        assert!(nothing.before.is_empty() && nothing.during.is_empty());
    }

    fn recovery_of(since: &[u64]) -> Recovery {
        recovery(&[100, 102, 98, 101, 99], since, 10, 0.9)
    }

    #[test]
    fn a_rate_is_back_when_it_lasts() {
        assert_eq!(recovery_of(&[50, 0, 40, 95, 100, 100]), Recovery::Back { second: 3 });
        assert_eq!(recovery_of(&[50, 95, 10, 10, 95, 99, 97]), Recovery::Back { second: 4 });
        assert_eq!(recovery_of(&[50, 80, 85, 89]), Recovery::NotWithin);
        assert_eq!(recovery_of(&[50]), Recovery::NotWithin);
    }

    #[test]
    fn what_chance_does_is_no_fall() {
        assert_eq!(recovery_of(&[97, 95, 94, 103]), Recovery::NeverFell);
        assert_eq!(recovery(&[100, 140, 60], &[80, 85], 10, 0.9), Recovery::NeverFell);
        assert_eq!(recovery(&[100, 140, 60], &[0, 120], 10, 0.9), Recovery::Back { second: 1 });
        assert_eq!(recovery(&[1, 0, 3, 2], &[0, 0, 2], 10, 0.9), Recovery::NeverFell);
        assert_eq!(recovery(&[], &[0, 100], 10, 0.9), Recovery::Unknown);
        assert_eq!(recovery(&[0, 0], &[0], 10, 0.9), Recovery::Unknown);
    }

    #[test]
    fn thin_arrivals_at_random_are_no_fall() {
        use rand_core::{Rng, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        // Sixty a second at random, as sixty coins of a thousand would fall.
        let mut second = || (0..1_000).filter(|_| random.next_u64() % 1_000 < 60).count() as u64;
        let n_fell = (0..500).filter(|_| {
            let before: Vec<u64> = (0..5).map(|_| second()).collect();
            let since: Vec<u64> = (0..6).map(|_| second()).collect();
            recovery(&before, &since, 6, 0.9) != Recovery::NeverFell
        });
        let n_fell = n_fell.count();
        assert!(n_fell <= 15, "{n_fell} of 500 fell by chance");
        // A fall by half counts as a fall, and the recovery from it is found.
        let half = [62, 28, 31, 30, 57, 66, 61];
        assert_eq!(recovery(&[55, 68, 61, 52, 66], &half, 6, 0.9), Recovery::Back { second: 4 });
    }

    #[test]
    fn what_falls_long_after_is_not_its_doing() {
        let mut since = vec![100; 30];
        since[25] = 0;
        assert_eq!(recovery_of(&since), Recovery::NeverFell);
    }
}
