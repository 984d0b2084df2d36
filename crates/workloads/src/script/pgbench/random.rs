//! Distributions of random whole numbers over a range, and pseudorandom permutations.

use super::error::Error;
use super::prng::Prng;

/// Smallest parameter of `random_gaussian`: below it, too many draws would be thrown away.
const GAUSSIAN_MIN: f64 = 2.0;
/// Limits of the parameter of `random_zipfian`: with less, draws take too long.
const ZIPFIAN_MIN: f64 = 1.001;
const ZIPFIAN_MAX: f64 = 1000.0;

/// Range of integers that is not empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    low: i64,
    high: i64,
    /// Number of integers in the range.
    n: i64,
}

impl Range {
    /// Returns the range from `low` to `high`, both included.
    ///
    /// # Errors
    ///
    /// The range is empty, or the number of its integers is no 64-bit integer.
    pub(super) fn new(low: i64, high: i64) -> Result<Range, Error> {
        if low > high {
            return Err(Error::new(format!("the range from {low} to {high} is empty")));
        }
        match high.checked_sub(low).and_then(|range| range.checked_add(1)) {
            Some(n) => Ok(Range { low, high, n }),
            None => Err(Error::new(format!("the range from {low} to {high} is too large"))),
        }
    }

    /// Returns the integer at a place in the range, from 0 to less than 1.
    fn at(self, place: f64) -> i64 {
        self.low.wrapping_add((self.n as f64 * place) as i64)
    }

    pub(super) fn uniform(self, prng: &mut Prng) -> i64 {
        prng.range_i64(self.low, self.high)
    }

    /// Draws low numbers the most often; the density falls to e^-`parameter` of that of the lowest.
    pub(super) fn exponential(self, parameter: f64, prng: &mut Prng) -> Result<i64, Error> {
        if parameter <= 0.0 {
            let text = format!("parameter {parameter} of random_exponential is not above 0");
            return Err(Error::new(text));
        }
        let cut = (-parameter).exp();
        let uniform = 1.0 - prng.next_f64();
        Ok(self.at(-(cut + (1.0 - cut) * uniform).ln() / parameter))
    }

    /// Draws numbers in the middle the most often; the limits of the range are `parameter`
    /// standard deviations away.
    pub(super) fn gaussian(self, parameter: f64, prng: &mut Prng) -> Result<i64, Error> {
        if parameter < GAUSSIAN_MIN {
            let text = format!("parameter {parameter} of random_gaussian is less than 2");
            return Err(Error::new(text));
        }
        loop {
            let deviation = prng.normal();
            let is_outside = deviation < -parameter || deviation >= parameter;
            if !is_outside {
                return Ok(self.at((deviation + parameter) / (2.0 * parameter)));
            }
        }
    }

    /// Draws by Zipf's law, the first numbers the most often. The method is rejection, as in
    /// Devroye, Non-Uniform Random Variate Generation, 1986, p. 550.
    pub(super) fn zipfian(self, exponent: f64, prng: &mut Prng) -> Result<i64, Error> {
        if !(ZIPFIAN_MIN..=ZIPFIAN_MAX).contains(&exponent) {
            let text = format!("parameter {exponent} of random_zipfian is not from 1.001 to 1000");
            return Err(Error::new(text));
        }
        if self.n == 1 {
            return Ok(self.low);
        }
        let base = 2_f64.powf(exponent - 1.0);
        loop {
            let (u, v) = (prng.next_f64(), prng.next_f64());
            let x = u.powf(-1.0 / (exponent - 1.0)).floor();
            let t = (1.0 + 1.0 / x).powf(exponent - 1.0);
            if v * x * (t - 1.0) / (base - 1.0) <= t / base && x <= self.n as f64 {
                return Ok((self.low - 1).wrapping_add(x as i64));
            }
        }
    }
}

/// Returns the place, from 0, of a value in a permutation of the numbers below `size`. The seed
/// selects the permutation.
///
/// # Errors
///
/// The size is not above 0.
pub(super) fn permute(value: i64, size: i64, seed: i64) -> Result<i64, Error> {
    if size <= 0 {
        return Err(Error::new(format!("size {size} of permute is not above 0")));
    }
    if size == 1 {
        return Ok(0);
    }
    let mut prng = Prng::new(seed as u64);
    let size = size as u64;
    // Negative values count as unsigned ones, modulo the size.
    let mut place = value as u64 % size;
    let n_bits = size.ilog2();
    let mask = (1_u64 << n_bits) - 1;
    // Multiplies by an odd number, changes bits and rotates: a bijection of the numbers with these
    // bits.
    let scatter = |number: u64, multiplier: u64, bits: u64| {
        let number = (number.wrapping_mul(multiplier) ^ bits) & mask;
        ((number << 1) & mask) | (number >> (n_bits - 1))
    };
    for _ in 0..6 {
        let (multiplier, bits) = ((prng.next_u64() & mask) | 1, prng.next_u64() & mask);
        if place <= mask {
            place = scatter(place, multiplier, bits);
        }
        // The same from the upper end, because the size need not be a power of two.
        let (multiplier, bits) = ((prng.next_u64() & mask) | 1, prng.next_u64() & mask);
        let from_end = size - 1 - place;
        if from_end <= mask {
            place = size - 1 - scatter(from_end, multiplier, bits);
        }
        let offset = prng.range_u64(0, size - 1);
        place = (place + offset) % size;
    }
    Ok(place as i64)
}
