//! Configurations that a tuner tries: spread evenly over all of them, at random, or near those that
//! were good.
//!
//! A configuration has one level for each parameter: the index of one of its values. Not here: how
//! often each is tried, and which remain (strategy).

use std::collections::HashSet;

use model::{Rng, Stream};

/// The levels of a configuration, one for each parameter.
pub type Levels = Vec<u32>;

/// Numbers of candidates from which the model chooses one: more make it greedier.
const CANDIDATES: usize = 24;
/// Share of the known configurations that count as good.
const GOOD_SHARE: f64 = 0.25;
/// Weight of a uniform distribution beside the known configurations, in configurations.
const PRIOR: f64 = 1.0;
/// Weight of a level for the levels beside it, since values in order behave alike.
const BESIDE: f64 = 0.4;
/// Most draws for a configuration that is not known yet.
const DRAWS_MOST: u64 = 1_000;

/// The configurations that may be proposed: the number of values of each parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space<'l> {
    pub(super) n_levels: &'l [u32],
    pub(super) seed: u64,
}

impl Space<'_> {
    /// Number of all configurations; the largest number if it is too large to count.
    pub(super) fn size(&self) -> u64 {
        let product = |size: u64, n: &u32| size.saturating_mul(u64::from(*n));
        self.n_levels.iter().fold(1, product)
    }

    /// Returns all configurations, at most `n`; the last parameter changes fastest.
    pub(super) fn all(&self, n: usize) -> Vec<Levels> {
        let mut all = Vec::new();
        let mut levels = vec![0; self.n_levels.len()];
        while all.len() < n {
            all.push(levels.clone());
            let Some(raised) = (0..levels.len()).rfind(|at| levels[*at] + 1 < self.n_levels[*at])
            else {
                break;
            };
            levels[raised] += 1;
            levels[raised + 1..].fill(0);
        }
        all
    }

    /// Returns `n` different configurations, or all if there are fewer, from a function that makes
    /// the configuration of a number, given those that are known.
    fn distinct(
        &self,
        n: usize,
        known: &HashSet<Levels>,
        make: &mut dyn FnMut(u64, &HashSet<Levels>) -> Levels,
    ) -> Vec<Levels> {
        let mut found = Vec::new();
        let mut seen = known.clone();
        let mut draws_left = DRAWS_MOST;
        let mut number = 0;
        while found.len() < n && draws_left > 0 {
            let levels = make(number, &seen);
            number += 1;
            match seen.insert(levels.clone()) {
                true => {
                    found.push(levels);
                    draws_left = DRAWS_MOST;
                }
                false => draws_left -= 1,
            }
        }
        found
    }

    /// Returns `n` configurations that cover the space evenly (Sobol's sequence, scrambled as by
    /// Owen), or all if there are fewer.
    pub(super) fn even(&self, n: usize) -> Vec<Levels> {
        let seed = Rng::new(self.seed, Stream::Order, 0).bits() as u32;
        let level = |number: u64, (parameter, n): (usize, &u32)| {
            let unit = sobol_burley::sample(number as u32, parameter as u32, seed);
            ((unit * *n as f32) as u32).min(n - 1)
        };
        let mut make = |number, _: &HashSet<Levels>| {
            self.n_levels.iter().enumerate().map(|one| level(number, one)).collect::<Levels>()
        };
        self.distinct(n, &HashSet::new(), &mut make)
    }

    /// Returns `n` configurations drawn at random, or all if there are fewer.
    pub(super) fn random(&self, n: usize) -> Vec<Levels> {
        let mut rng = Rng::new(self.seed, Stream::Order, 1);
        let mut make = |_, _: &HashSet<Levels>| self.drawn(&mut rng);
        self.distinct(n, &HashSet::new(), &mut make)
    }

    fn drawn(&self, rng: &mut Rng) -> Levels {
        self.n_levels.iter().map(|n| rng.uniform(0, i64::from(*n) - 1) as u32).collect()
    }

    /// Returns `n` new configurations near good ones. `known` has all that were tried, the best
    /// first. Each is the best of some draws from the levels of the good ones, by the quotient of
    /// how often the good and the others have its levels (tree-structured Parzen estimator:
    /// Bergstra et al., "Algorithms for hyper-parameter optimization", 2011).
    pub(super) fn near_good(&self, n: usize, known: &[Levels], round: u64) -> Vec<Levels> {
        let n_good = ((known.len() as f64 * GOOD_SHARE).ceil() as usize).max(1).min(known.len());
        let (good, others) = known.split_at(n_good);
        let (good, others) = (self.densities(good), self.densities(others));
        let mut rng = Rng::new(self.seed, Stream::Order, 2 + round);
        let mut make = |_, seen: &HashSet<Levels>| {
            let mut best: Option<(f64, Levels)> = None;
            for _ in 0..CANDIDATES {
                let levels: Levels = good.iter().map(|shares| pick(shares, &mut rng)).collect();
                let score = quotient(&levels, &good, &others);
                let is_higher = best.as_ref().is_none_or(|(highest, _)| score > *highest);
                if is_higher && !seen.contains(&levels) {
                    best = Some((score, levels));
                }
            }
            best.map_or_else(|| self.drawn(&mut rng), |(_, levels)| levels)
        };
        let known: HashSet<Levels> = known.iter().cloned().collect();
        self.distinct(n, &known, &mut make)
    }

    /// Returns the share of each level of each parameter in some configurations, smoothed over
    /// neighbouring levels.
    fn densities(&self, configurations: &[Levels]) -> Vec<Vec<f64>> {
        let of_parameter = |(parameter, n): (usize, &u32)| {
            let mut weights = vec![PRIOR / f64::from(*n); *n as usize];
            for levels in configurations {
                let at = levels[parameter] as usize;
                for (level, weight) in weights.iter_mut().enumerate() {
                    *weight += match level.abs_diff(at) {
                        0 => 1.0,
                        1 => BESIDE,
                        _ => 0.0,
                    };
                }
            }
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / sum).collect()
        };
        self.n_levels.iter().enumerate().map(of_parameter).collect()
    }
}

/// Draws a level by the shares of all levels.
fn pick(shares: &[f64], rng: &mut Rng) -> u32 {
    let mut left = stats::unit(rng.bits());
    for (level, share) in shares.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return level as u32;
        }
    }
    shares.len() as u32 - 1
}

/// Returns by how much the levels are more frequent in one set than in the other, as a logarithm.
fn quotient(levels: &[u32], good: &[Vec<f64>], others: &[Vec<f64>]) -> f64 {
    let sides = good.iter().zip(others);
    let of_level = |(level, (good, others)): (&u32, (&Vec<f64>, &Vec<f64>))| -> f64 {
        (good[*level as usize] / others[*level as usize]).ln()
    };
    levels.iter().zip(sides).map(of_level).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space<'static> = Space { n_levels: &[3, 2, 4], seed: 7 };

    #[test]
    fn all_configurations_are_counted_through_once() {
        let all = SPACE.all(1_000);
        assert_eq!((all.len() as u64, SPACE.size()), (24, 24));
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 24);
        assert_eq!((&all[0], &all[23]), (&vec![0, 0, 0], &vec![2, 1, 3]));
        assert_eq!(SPACE.all(5).len(), 5);
        assert_eq!(Space { n_levels: &[u32::MAX; 4], seed: 1 }.size(), u64::MAX);
    }

    #[test]
    fn proposals_are_different_and_within_the_space() {
        for found in [SPACE.even(20), SPACE.random(20), SPACE.near_good(8, &SPACE.all(9), 0)] {
            assert_eq!(found.iter().collect::<HashSet<_>>().len(), found.len());
            assert!(found.len() >= 8);
            let fits = |levels: &Levels| levels.iter().zip(SPACE.n_levels).all(|(l, n)| l < n);
            assert!(found.iter().all(fits), "{found:?}");
        }
        assert_eq!(SPACE.even(1_000).len(), 24, "there are no more");
    }

    #[test]
    fn an_even_set_has_each_level_about_equally_often() {
        let space = Space { n_levels: &[4; 8], seed: 3 };
        let even = space.even(64);
        for parameter in 0..8 {
            let with = |level| even.iter().filter(|levels| levels[parameter] == level).count();
            assert!((0..4).all(|level| (10..=22).contains(&with(level))), "{parameter}");
        }
    }

    #[test]
    fn new_configurations_resemble_good_ones() {
        let space = Space { n_levels: &[8; 4], seed: 5 };
        let mut known = space.random(40);
        known.sort_by_key(|levels| levels[1].abs_diff(6));
        let near = space.near_good(10, &known, 1);
        let n_near = near.iter().filter(|levels| levels[1].abs_diff(6) <= 1).count();
        assert!(n_near >= 8, "{near:?}");
    }
}
