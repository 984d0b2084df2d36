//! The random numbers of PostgreSQL's programs, so that a seed gives what pgbench draws from it.
//!
//! Not here: distributions over ranges of whole numbers other than the uniform one (functions).

use std::f64::consts::PI;

/// The generator xoroshiro128** 1.0 of Blackman and Vigna (<https://prng.di.unimi.it/>), seeded
/// by splitmix64.
///
/// pgbench seeds one generator from its option `--random-seed`, and one per client by a number
/// drawn from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prng {
    s0: u64,
    s1: u64,
}

impl Prng {
    /// Returns a generator in the state that belongs to a seed.
    pub fn new(seed: u64) -> Prng {
        let mut state = seed;
        let prng = Prng { s0: splitmix64(&mut state), s1: splitmix64(&mut state) };
        if prng.s0 == 0 && prng.s1 == 0 {
            // From zeros only zeros would follow. PostgreSQL takes these constants of Knuth.
            return Prng { s0: 0x5851_F42D_4C95_7F2D, s1: 0x1405_7B7E_F767_814F };
        }
        prng
    }

    /// Draws any 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        let Prng { s0, s1 } = *self;
        let mixed = s0 ^ s1;
        self.s0 = s0.rotate_left(24) ^ mixed ^ (mixed << 16);
        self.s1 = mixed.rotate_left(37);
        s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// Draws from `min` to `max`, both included. Returns `min`, and draws nothing, if `min` is not
    /// less than `max`.
    pub fn range_u64(&mut self, min: u64, max: u64) -> u64 {
        if min >= max {
            return min;
        }
        let range = max - min;
        // Fewer than two draws on average: no drawn number is more than twice the range.
        loop {
            let drawn = self.next_u64() >> range.leading_zeros();
            if drawn <= range {
                return min + drawn;
            }
        }
    }

    /// Draws from `min` to `max`, both included; `min` must not be greater than `max`.
    pub fn range_i64(&mut self, min: i64, max: i64) -> i64 {
        let range = max.wrapping_sub(min) as u64;
        min.wrapping_add(self.range_u64(0, range) as i64)
    }

    /// Draws a multiple of 2^-52 that is at least 0 and less than 1.
    pub fn next_f64(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 52) as f64;
        (self.next_u64() >> 12) as f64 * STEP
    }

    /// Draws from the normal distribution with mean 0 and standard deviation 1, by the method of
    /// Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let u1 = 1.0 - self.next_f64();
        let u2 = 1.0 - self.next_f64();
        (-2.0 * u1.ln()).sqrt() * (2.0 * PI * u2).sin()
    }
}

/// The generator from which the state of another is filled.
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pgbench 18.6 with `--random-seed=5432`: the seed of the hash functions, and what the client
    /// draws.
    #[test]
    fn a_seed_gives_what_pgbench_draws_from_it() {
        let mut base = Prng::new(5432);
        let mut client = Prng::new(base.next_u64());
        assert_eq!(client.range_i64(10, 19), 17);
    }

    #[test]
    fn ranges_keep_their_limits() {
        let mut prng = Prng::new(1);
        for _ in 0..1_000 {
            assert!((-2..=2).contains(&prng.range_i64(-2, 2)));
            assert!((0.0..1.0).contains(&prng.next_f64()));
        }
        assert_eq!(prng.range_u64(7, 7), 7);
        assert_eq!(prng.range_u64(7, 3), 7);
        prng.range_i64(i64::MIN, i64::MAX);
    }
}
