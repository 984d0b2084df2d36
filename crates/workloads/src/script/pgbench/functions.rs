//! Functions of expressions.

use super::error::Error;
use super::prng::Prng;

/// Smallest parameter of `random_gaussian`: below it, too many draws would be thrown away.
const GAUSSIAN_MIN: f64 = 2.0;
/// Limits of the parameter of `random_zipfian`.
const ZIPFIAN: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

/// Returns the number of integers from `low` to `high`.
fn range(low: i64, high: i64) -> Result<i64, Error> {
    if low > high {
        return Err(Error::new(format!("the range from {low} to {high} is empty")));
    }
    let n = high.checked_sub(low).and_then(|range| range.checked_add(1));
    n.ok_or_else(|| Error::new(format!("the range from {low} to {high} is too large")))
}

/// Returns the integer at a place in a range, from 0 to less than 1.
fn at_place(low: i64, n: i64, place: f64) -> i64 {
    low.wrapping_add((n as f64 * place) as i64)
}

/// Draws from `low` to `high`, both included.
pub(super) fn random(prng: &mut Prng, low: i64, high: i64) -> Result<i64, Error> {
    range(low, high)?;
    Ok(prng.range_i64(low, high))
}

/// Draws from a range, low numbers being the most frequent.
pub(super) fn random_exponential(
    prng: &mut Prng,
    low: i64,
    high: i64,
    parameter: f64,
) -> Result<i64, Error> {
    let n = range(low, high)?;
    if parameter <= 0.0 {
        let text = format!("the parameter of random_exponential must be above 0, not {parameter}");
        return Err(Error::new(text));
    }
    let cut = (-parameter).exp();
    let uniform = 1.0 - prng.next_f64();
    let place = -(cut + (1.0 - cut) * uniform).ln() / parameter;
    Ok(at_place(low, n, place))
}

/// Draws from a range, numbers in its middle being the most frequent.
pub(super) fn random_gaussian(
    prng: &mut Prng,
    low: i64,
    high: i64,
    parameter: f64,
) -> Result<i64, Error> {
    let n = range(low, high)?;
    if parameter < GAUSSIAN_MIN {
        let text = format!("the parameter of random_gaussian must be 2.0 or more, not {parameter}");
        return Err(Error::new(text));
    }
    loop {
        let deviation = prng.normal();
        if (-parameter..parameter).contains(&deviation) {
            return Ok(at_place(low, n, (deviation + parameter) / (2.0 * parameter)));
        }
    }
}

/// Draws from a range by Zipf's law, the first numbers being the most frequent. The method is
/// rejection, as in Devroye, Non-Uniform Random Variate Generation, 1986, p. 550.
pub(super) fn random_zipfian(
    prng: &mut Prng,
    low: i64,
    high: i64,
    exponent: f64,
) -> Result<i64, Error> {
    let n = range(low, high)?;
    if exponent < *ZIPFIAN.start() || exponent > *ZIPFIAN.end() {
        let text =
            format!("the parameter of random_zipfian must be from 1.001 to 1000, not {exponent}");
        return Err(Error::new(text));
    }
    if n == 1 {
        return Ok(low);
    }
    let base = 2_f64.powf(exponent - 1.0);
    loop {
        let (u, v) = (prng.next_f64(), prng.next_f64());
        let x = u.powf(-1.0 / (exponent - 1.0)).floor();
        let t = (1.0 + 1.0 / x).powf(exponent - 1.0);
        if v * x * (t - 1.0) / (base - 1.0) <= t / base && x <= n as f64 {
            return Ok(low - 1 + x as i64);
        }
    }
}
