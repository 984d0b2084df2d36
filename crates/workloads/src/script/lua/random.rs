//! The random numbers of scripts, by sysbench's generator and distributions.
//!
//! The generator is xoroshiro128+ of 2016, and a seed gives what sysbench 1.0.20 draws from it.
//! Not here: which numbers a transaction draws if no such seed is given (client).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Distribution of the numbers that `sysbench.rand.default` draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distribution {
    Uniform,
    Gaussian,
    Special,
    Pareto,
    Zipfian,
}

model::choice!(Distribution {
    Uniform = "uniform",
    Gaussian = "gaussian",
    Special = "special",
    Pareto = "pareto",
    Zipfian = "zipfian",
});

/// Parameters of the distributions, as the options `rand_*` give them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) default: Distribution,
    /// Number of uniform numbers of which a gaussian one is the mean.
    pub(super) iterations: u32,
    /// Width of the middle of `special`, in percent of the range.
    pub(super) middle_percent: f64,
    /// Share of the numbers that `special` draws from the middle, in percent.
    pub(super) middle_share: f64,
    pub(super) pareto_h: f64,
    pub(super) zipfian_exponent: f64,
}

/// Random numbers of one client.
pub(super) struct Random {
    state: [u64; 2],
    shape: Shape,
    /// Number of unique numbers drawn so far, over all clients of the process.
    n_unique: Arc<AtomicU32>,
    unique_seed: u32,
    zipfian: Option<Zipfian>,
}

impl Random {
    pub(super) fn new(shape: Shape, n_unique: Arc<AtomicU32>, unique_seed: u32) -> Random {
        Random { state: [1, 2], shape, n_unique, unique_seed, zipfian: None }
    }

    /// Sets the state of the generator, which must not be zero.
    pub(super) fn seed(&mut self, high: u64, low: u64) {
        self.state = [high, low | 1];
    }

    /// Sets the state that sysbench's thread number `thread`, from 0, has with `--rand-seed`.
    pub(super) fn seed_as_sysbench(&mut self, seed: u32, thread: u32) {
        let mut random = LibcRandom::new(seed);
        for _ in 0..4 * u64::from(thread) {
            random.next();
        }
        let mut word = || u64::from(random.next()) << 32 | u64::from(random.next());
        self.state = [word(), word()];
    }

    pub(super) fn bits(&mut self) -> u64 {
        let [first, second] = self.state;
        let mixed = first ^ second;
        self.state = [first.rotate_left(55) ^ mixed ^ (mixed << 14), mixed.rotate_left(36)];
        first.wrapping_add(second)
    }

    /// Draws a number from 0 to less than 1, with 52 random bits.
    pub(super) fn unit(&mut self) -> f64 {
        const WIDTH: f64 = (1u64 << 52) as f64;
        (self.bits() >> 12) as f64 / WIDTH
    }

    pub(super) fn default(&mut self, low: f64, high: f64) -> f64 {
        match self.shape.default {
            Distribution::Uniform => self.uniform(low, high),
            Distribution::Gaussian => self.gaussian(low, high),
            Distribution::Special => self.special(low, high),
            Distribution::Pareto => self.pareto(low, high),
            Distribution::Zipfian => self.zipfian(low, high),
        }
    }

    pub(super) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (self.unit() * (high - low + 1.0)).floor()
    }

    /// Draws the mean of some uniform numbers of the range.
    pub(super) fn gaussian(&mut self, low: f64, high: f64) -> f64 {
        low + (self.mean() * (high - low + 1.0)).floor()
    }

    fn mean(&mut self) -> f64 {
        let n = self.shape.iterations.max(1);
        (0..n).map(|_| self.unit()).sum::<f64>() / f64::from(n)
    }

    /// Draws most numbers from the middle of the range, and the others as a gaussian would.
    pub(super) fn special(&mut self, low: f64, high: f64) -> f64 {
        let width = high - low;
        let drawn = self.unit();
        if drawn * 100.0 < 100.0 - self.shape.middle_share {
            return low + (self.mean() * width).floor();
        }
        let middle = width * self.shape.middle_percent / 100.0;
        low + (drawn * (middle + 1.0) + width / 2.0 - middle / 2.0).floor()
    }

    pub(super) fn pareto(&mut self, low: f64, high: f64) -> f64 {
        let h = self.shape.pareto_h;
        let power = h.ln() / (1.0 - h).ln();
        low + ((high - low + 1.0) * self.unit().powf(power)).floor()
    }

    /// Draws `low` most often, and each number less often than the one before it.
    pub(super) fn zipfian(&mut self, low: f64, high: f64) -> f64 {
        let (n, exponent) = ((high - low + 1.0).max(1.0), self.shape.zipfian_exponent);
        if self.zipfian.is_none_or(|kept| kept.n != n) {
            self.zipfian = Some(Zipfian::new(n, exponent));
        }
        let zipfian = self.zipfian.expect("it was just made");
        loop {
            if let Some(rank) = zipfian.rank(self.unit()) {
                return low + rank - 1.0;
            }
        }
    }

    /// Returns a 32-bit number that no other client of the process gets before all were drawn.
    pub(super) fn unique(&mut self) -> u32 {
        let nth = self.n_unique.fetch_add(1, Ordering::Relaxed);
        let mixed = permuted(nth.wrapping_add(self.unique_seed)).wrapping_add(UNIQUE_OFFSET);
        permuted(mixed ^ UNIQUE_MASK)
    }

    /// Returns the format with a digit for each `#` and a letter for each `@`.
    pub(super) fn string(&mut self, format: &[u8]) -> Vec<u8> {
        let fill_in = |letter: &u8| match letter {
            b'#' => b'0' + self.below(10),
            b'@' => b'a' + self.below(26),
            plain => *plain,
        };
        format.iter().map(fill_in).collect()
    }

    /// Returns a text whose length is in a range, of characters from `0` to `z`.
    pub(super) fn varied_string(&mut self, shortest: f64, longest: f64) -> Vec<u8> {
        let n = self.uniform(shortest, longest).clamp(0.0, VARIED_BYTES_MAX) as usize;
        (0..n).map(|_| b'0' + self.below(b'z' - b'0' + 1)).collect()
    }

    /// Draws one of `n` numbers from 0, as `uniform` does.
    fn below(&mut self, n: u8) -> u8 {
        (self.unit() * f64::from(n)) as u8
    }
}

/// Most characters of a text of varied length.
const VARIED_BYTES_MAX: f64 = (1 << 24) as f64;

const UNIQUE_OFFSET: u32 = 0x6817_90e9;
const UNIQUE_MASK: u32 = 0x5bf0_3635;

/// Maps each 32-bit number to another one, so that no two are equal: by quadratic residues of a
/// prime (Preshing, "How to Generate a Sequence of Unique Random Integers", 2012).
fn permuted(number: u32) -> u32 {
    const PRIME: u64 = 4_294_967_291;
    let wide = u64::from(number);
    if wide >= PRIME {
        return number;
    }
    let residue = wide * wide % PRIME;
    (if wide <= PRIME / 2 { residue } else { PRIME - residue }) as u32
}

/// The additive generator behind `random()` of the C library: `x[n] = x[n-3] + x[n-31]`.
struct LibcRandom {
    words: [u32; 31],
    at: usize,
}

impl LibcRandom {
    fn new(seed: u32) -> LibcRandom {
        let mut words = [0u32; 31];
        words[0] = seed.max(1);
        for at in 1..31 {
            // Park and Miller's minimal standard, with signed words.
            let before = i64::from(words[at - 1] as i32);
            let next = (16_807 * before) % 2_147_483_647;
            words[at] = (if next < 0 { next + 2_147_483_647 } else { next }) as u32;
        }
        // The first three sums repeat the first three words.
        let mut random = LibcRandom { words, at: 3 };
        for _ in 0..310 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u32 {
        let three_before = self.words[(self.at + 28) % 31];
        let word = self.words[self.at].wrapping_add(three_before);
        self.words[self.at] = word;
        self.at = (self.at + 1) % 31;
        word >> 1
    }
}

/// Ranks from 1 to `n`, by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to
/// generate variates from monotone discrete distributions", 1996).
#[derive(Clone, Copy)]
struct Zipfian {
    n: f64,
    exponent: f64,
    /// Integrals of the density to one and a half and to the last rank and a half.
    first: f64,
    last: f64,
    /// Distance from a rank within which no number is rejected.
    sure: f64,
}

impl Zipfian {
    fn new(n: f64, exponent: f64) -> Zipfian {
        let mut made = Zipfian { n, exponent, first: 0.0, last: 0.0, sure: 0.0 };
        made.first = made.integral(1.5) - 1.0;
        made.last = made.integral(n + 0.5);
        made.sure = 2.0 - made.inverse(made.integral(2.5) - made.density(2.0));
        made
    }

    /// Returns the rank for a uniform number, or `None` if that is rejected.
    fn rank(&self, unit: f64) -> Option<f64> {
        let area = self.last + unit * (self.first - self.last);
        let x = self.inverse(area);
        let rank = (x + 0.5).floor().clamp(1.0, self.n);
        let is_taken =
            rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.density(rank);
        is_taken.then_some(rank)
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.exponent) * log;
        if power.abs() < 1e-8 { log * (1.0 + power / 2.0) } else { log * power.exp_m1() / power }
    }

    fn inverse(&self, area: f64) -> f64 {
        let scaled = (area * (1.0 - self.exponent)).max(-1.0);
        let log = if scaled.abs() < 1e-8 {
            area * (1.0 - scaled / 2.0)
        } else {
            area * scaled.ln_1p() / scaled
        };
        log.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(default: Distribution) -> Random {
        let shape = Shape {
            default,
            iterations: 12,
            middle_percent: 1.0,
            middle_share: 75.0,
            pareto_h: 0.2,
            zipfian_exponent: 0.8,
        };
        Random::new(shape, Arc::default(), 0)
    }

    #[test]
    fn a_seed_gives_what_sysbench_draws() {
        // Printed by sysbench 1.0.20 with --rand-seed=7 and one thread.
        let mut random = made(Distribution::Special);
        random.seed_as_sysbench(7, 0);
        assert_eq!(random.bits(), 9_956_587_071_878_823_666);
        assert_eq!(random.bits(), 12_127_168_503_693_999_876);
        assert_eq!(random.bits(), 7_522_403_166_341_394_791);
        let units: Vec<f64> = (0..3).map(|_| random.unit()).collect();
        assert_eq!(
            units,
            [0.865_024_573_645_089, 0.102_042_143_844_746_08, 0.540_245_831_121_666_7]
        );
        let mut five = |draw: fn(&mut Random, f64, f64) -> f64, high: f64| -> Vec<f64> {
            (0..5).map(|_| draw(&mut random, 1.0, high)).collect()
        };
        assert_eq!(five(Random::uniform, 1000.0), [754.0, 596.0, 159.0, 259.0, 403.0]);
        assert_eq!(five(Random::gaussian, 1000.0), [503.0, 539.0, 532.0, 576.0, 338.0]);
        assert_eq!(five(Random::special, 1000.0), [500.0, 502.0, 498.0, 517.0, 498.0]);
        assert_eq!(five(Random::pareto, 1000.0), [275.0, 544.0, 1.0, 1.0, 58.0]);
        assert_eq!(random.string(b"##-@@-x"), b"24-wd-x");
        assert_eq!(random.string(b"##-@@-x"), b"05-gf-x");
        let drawn: Vec<f64> = (0..5).map(|_| random.default(1.0, 10_000.0)).collect();
        assert_eq!(drawn, [5046.0, 5040.0, 4436.0, 5914.0, 5029.0]);
    }

    #[test]
    fn every_number_of_a_range_can_be_drawn_and_no_other() {
        for draw in [Random::uniform, Random::special, Random::pareto, Random::zipfian] {
            let mut random = made(Distribution::Uniform);
            random.seed(1, 2);
            for (low, high) in [(1.0, 1.0), (1.0, 3.0), (5.0, 1000.0)] {
                for _ in 0..1000 {
                    let drawn = draw(&mut random, low, high);
                    assert!((low..=high).contains(&drawn) && drawn.fract() == 0.0, "{drawn}");
                }
            }
        }
    }

    #[test]
    fn the_first_rank_of_zipf_is_drawn_most_often() {
        let mut random = made(Distribution::Zipfian);
        random.seed(3, 4);
        let mut counts = [0u32; 11];
        for _ in 0..20_000 {
            counts[random.default(1.0, 10.0) as usize] += 1;
        }
        // Shares of 1/k^0.8 among ten ranks.
        let weights: f64 = (1..=10).map(|k| f64::from(k).powf(-0.8)).sum();
        for rank in 1..=10u32 {
            let expect = 20_000.0 * f64::from(rank).powf(-0.8) / weights;
            let got = f64::from(counts[rank as usize]);
            assert!((got - expect).abs() < 6.0 * expect.sqrt(), "{rank}: {got} {expect}");
        }
    }

    #[test]
    fn unique_numbers_are_unique_over_all_clients() {
        let shared = Arc::new(AtomicU32::new(0));
        let shape = made(Distribution::Uniform).shape;
        let mut clients = [0, 0].map(|_| Random::new(shape, Arc::clone(&shared), 99));
        let drawn = (0..20_000).map(|nth| clients[nth % 2].unique());
        assert_eq!(drawn.collect::<std::collections::HashSet<u32>>().len(), 20_000);
    }
}
