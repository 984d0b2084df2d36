//! Divides a group's clients, arrivals and transaction counts among processes.

use std::sync::Arc;

/// A subset of the numbers 0, 1, 2, ... (of clients or arrivals) that belongs to one process. Its
/// pattern repeats after a period, in which each process has as many numbers as its weight. They
/// are evenly spread, so that a process does not have all its clients or arrivals in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Numbers of the first period that belong to the process, in ascending order.
    places: Arc<[u32]>,
    period: u32,
}

impl Share {
    /// Returns the share of a single process, to which all numbers belong.
    pub fn whole() -> Share {
        Share::by_weight(&[1]).pop().expect("one weight makes one share")
    }

    /// Divides all numbers in proportion to weights, and returns one share for each weight. Shares
    /// of equal weight take turns in order; a share with weight 0 is empty.
    pub fn by_weight(weights: &[u32]) -> Vec<Share> {
        let divisor = weights.iter().fold(0, |divisor, weight| common_divisor(divisor, *weight));
        let weights: Vec<i64> = weights.iter().map(|w| i64::from(w / divisor.max(1))).collect();
        let period: i64 = weights.iter().sum();
        let mut places = vec![Vec::new(); weights.len()];
        // Smooth weighted round robin: the next number goes to the share that has the least for its
        // weight.
        let mut behind = vec![0; weights.len()];
        for place in 0..period {
            behind.iter_mut().zip(&weights).for_each(|(behind, weight)| *behind += weight);
            let latest = (0..behind.len()).rev().max_by_key(|index| behind[*index]);
            let latest = latest.expect("a period has a share");
            behind[latest] -= period;
            places[latest].push(place as u32);
        }
        let share = |places: Vec<u32>| Share { places: places.into(), period: period as u32 };
        places.into_iter().map(share).collect()
    }

    /// Whether no number belongs to this share.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the `nth` number of this share, counted from 0, in ascending order.
    ///
    /// # Panics
    ///
    /// If the share is empty.
    pub fn number(&self, nth: u64) -> u64 {
        let each = self.places.len() as u64;
        nth / each * u64::from(self.period) + u64::from(self.places[(nth % each) as usize])
    }

    /// Returns the numbers of this share that are below `count`.
    pub fn below(&self, count: u32) -> impl Iterator<Item = u32> {
        let n_ours = self.count_below(u64::from(count));
        (0..n_ours).map(|nth| self.number(nth) as u32)
    }

    /// Returns how many numbers below `count` belong to this share. For a number of transactions,
    /// this is the part that the process executes.
    pub fn count_below(&self, count: u64) -> u64 {
        let (periods, rest) = (count / u64::from(self.period), count % u64::from(self.period));
        let in_rest = self.places.partition_point(|place| u64::from(*place) < rest) as u64;
        periods * self.places.len() as u64 + in_rest
    }

    /// Returns this share's part of a limit on queued arrivals, rounded up so that every process
    /// may queue at least one if any may.
    pub(crate) fn of_limit(&self, limit: u64) -> u64 {
        let (places, period) = (self.places.len() as u128, u128::from(self.period));
        let part = (u128::from(limit) * places).div_ceil(period);
        u64::try_from(part).expect("a part of a limit is no larger than it")
    }
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(share: &Share, count: u32) -> Vec<u32> {
        share.below(count).collect()
    }

    #[test]
    fn equal_shares_take_turns() {
        let shares = Share::by_weight(&[1; 3]);
        let first: Vec<_> = shares.iter().map(|share| numbers(share, 8)).collect();
        assert_eq!(first, [vec![0, 3, 6], vec![1, 4, 7], vec![2, 5]]);
        assert_eq!(shares, Share::by_weight(&[7; 3]));
        assert_eq!(numbers(&Share::whole(), 3), [0, 1, 2]);
    }

    #[test]
    fn a_share_is_as_large_as_its_weight_and_spread_evenly() {
        let shares = Share::by_weight(&[1, 3]);
        assert_eq!(numbers(&shares[0], 12).len(), 3);
        for (weights, count) in [(vec![37, 63], 10), (vec![1, 0, 2], 9), (vec![5, 1, 1], 100)] {
            let (shares, all) = (Share::by_weight(&weights), weights.iter().sum::<u32>());
            let mut taken = Vec::new();
            for (share, weight) in shares.iter().zip(&weights) {
                let ours = numbers(share, count);
                let due = f64::from(count) * f64::from(*weight) / f64::from(all);
                assert!((ours.len() as f64 - due).abs() <= 1.0, "{weights:?} {ours:?}");
                assert_eq!(share.count_below(u64::from(count)), ours.len() as u64);
                assert_eq!(share.is_empty(), *weight == 0);
                taken.extend(ours);
            }
            taken.sort_unstable();
            assert_eq!(taken, (0..count).collect::<Vec<_>>(), "{weights:?}");
        }
    }

    #[test]
    fn counts_add_up_and_limits_are_rounded_up() {
        for count in [0, 1, 7, 1_000_003] {
            let shares = Share::by_weight(&[2, 3, 6]);
            assert_eq!(shares.iter().map(|share| share.count_below(count)).sum::<u64>(), count);
        }
        let shares = Share::by_weight(&[1; 4]);
        assert!(shares.iter().all(|share| share.of_limit(2) == 1 && share.of_limit(9) == 3));
        assert_eq!(Share::whole().of_limit(0), 0);
    }
}
