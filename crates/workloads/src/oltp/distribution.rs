//! Distributions by which `oltp` workloads select rows: those of sysbench 1.0, and the zipfian
//! distribution of later versions.
//!
//! All of them draw whole numbers from a range. Frequent numbers are neighbours, as in sysbench.
//! Logarithms and powers are computed by the C library; another library may round one draw in a
//! billion differently. Not here: the statements (script), and random numbers (model).

use model::{Rng, Settings};

/// Distribution of random numbers with its parameters; the range of numbers is given to
/// [`Sampler`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// Uniform: all numbers are equally likely.
    Uniform,
    /// Gaussian: each number is the mean of `iterations` uniform draws.
    Gaussian { iterations: u32 },
    /// Special, as in sysbench: `res` percent of the draws are made from a narrow band of numbers
    /// in the middle of the range, the others from a gaussian distribution over the whole range.
    Special {
        /// Number of uniform draws that are averaged into one gaussian draw.
        iterations: u32,
        /// Nominal width, in percent of the range, of the band in the middle of the range from
        /// which `res` percent of the draws are made. Only the upper `res` percent of this width
        /// are used; see [`special`].
        percent: u32,
        /// Percentage of the draws that are made from the narrow band in the middle of the range.
        res: u32,
    },
    /// Pareto: the first numbers are the most frequent; with h = 0.2, a fifth of them get four
    /// fifths of the draws.
    Pareto {
        /// Share of the numbers, the first ones of the range, that gets the share 1 - `h` of the
        /// draws; from 0.01 to 0.49.
        h: f64,
    },
    /// Zipfian: the frequency of number k (from 1) is proportional to k^-`exponent`.
    Zipfian { exponent: f64 },
}

impl Shape {
    /// Reads the distribution from the workload's parameters `rand_*`.
    pub(super) fn from_settings(settings: &Settings) -> Shape {
        let count = |name| settings.count(name) as u32;
        let iterations = count("rand_spec_iter");
        match settings.text("rand_type") {
            "uniform" => Shape::Uniform,
            "gaussian" => Shape::Gaussian { iterations },
            "pareto" => Shape::Pareto { h: settings.number("rand_pareto_h") },
            "zipfian" => Shape::Zipfian { exponent: settings.number("rand_zipfian_exp") },
            _ => Shape::Special {
                iterations,
                percent: count("rand_spec_pct"),
                res: count("rand_spec_res"),
            },
        }
    }

    /// Formats the distribution as text, such as `special 12 1 75`, to be stored with the data.
    pub(super) fn written(&self) -> String {
        match self {
            Shape::Uniform => "uniform".to_owned(),
            Shape::Gaussian { iterations } => format!("gaussian {iterations}"),
            Shape::Special { iterations, percent, res } => {
                format!("special {iterations} {percent} {res}")
            }
            Shape::Pareto { h } => format!("pareto {h}"),
            Shape::Zipfian { exponent } => format!("zipfian {exponent}"),
        }
    }

    /// Parses a distribution as written by [`Shape::written`]; `None` if the text has another form.
    pub(super) fn read(text: &str) -> Option<Shape> {
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["uniform"] => Some(Shape::Uniform),
            ["gaussian", n] => Some(Shape::Gaussian { iterations: n.parse().ok()? }),
            ["special", n, percent, res] => Some(Shape::Special {
                iterations: n.parse().ok()?,
                percent: percent.parse().ok()?,
                res: res.parse().ok()?,
            }),
            ["pareto", h] => Some(Shape::Pareto { h: h.parse().ok()? }),
            ["zipfian", exponent] => Some(Shape::Zipfian { exponent: exponent.parse().ok()? }),
            _ => None,
        }
    }

    /// Describes the distribution in a sentence, for reports.
    pub(super) fn sentence(&self) -> String {
        match self {
            Shape::Uniform => "uniform: each row as often as any other".to_owned(),
            Shape::Gaussian { iterations } => {
                format!("gaussian: the mean of {iterations} uniform draws, frequent in the middle")
            }
            Shape::Special { iterations, percent, res } => {
                let band = f64::from(*percent) * f64::from(*res) / 100.0;
                format!(
                    "special: {res} % of the draws fall into a band of {band} % of the rows in \
                     the middle, the others are gaussian (the mean of {iterations} draws)"
                )
            }
            Shape::Pareto { h } => {
                format!("pareto with h = {h}: the first rows are the most frequent")
            }
            Shape::Zipfian { exponent } => {
                format!("zipfian with exponent {exponent}: the first rows are the most frequent")
            }
        }
    }
}

/// Generator of random whole numbers with a given distribution, in a fixed range that includes both
/// ends.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    low: i64,
    high: i64,
    shape: Shape,
    /// Precomputed constants of the zipfian distribution; zero for other distributions.
    zipf: Zipf,
    /// Exponent to which a uniform draw is raised for the pareto distribution; 0 for other
    /// distributions.
    power: f64,
}

impl Sampler {
    /// Creates a generator of numbers from `low` to `high`, both included, with this distribution.
    pub(super) fn new(shape: Shape, low: i64, high: i64) -> Sampler {
        assert!(low <= high, "an empty range {low}..={high}");
        let power = match shape {
            Shape::Pareto { h } => h.ln() / (1.0 - h).ln(),
            _ => 0.0,
        };
        let zipf = match shape {
            Shape::Zipfian { exponent } => Zipf::new(exponent, (high - low + 1) as f64),
            _ => Zipf::default(),
        };
        Sampler { low, high, shape, zipf, power }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> i64 {
        let width = (self.high - self.low) as f64;
        let offset = match self.shape {
            Shape::Uniform => return rng.uniform(self.low, self.high),
            Shape::Gaussian { iterations } => mean_of(rng, iterations) * (width + 1.0),
            Shape::Special { iterations, percent, res } => {
                special(rng, width, iterations, percent, res)
            }
            Shape::Pareto { .. } => unit(rng).powf(self.power) * (width + 1.0),
            Shape::Zipfian { .. } => self.zipf.draw(rng) - 1.0,
        };
        // Truncate, as sysbench does. Rounding in the last place may exceed the range.
        (self.low + offset as i64).min(self.high)
    }
}

/// Draws a uniform number, at least 0 and below 1, with 53 random bits.
#[inline]
fn unit(rng: &mut Rng) -> f64 {
    (rng.bits() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the mean of `n` uniform draws from 0 to 1 (the Bates distribution), which is close to
/// normal for 12 of them.
fn mean_of(rng: &mut Rng, n: u32) -> f64 {
    let sum: f64 = (0..n).map(|_| unit(rng)).sum();
    sum / f64::from(n)
}

/// Draws a number from 0 to `width` by sysbench's `special` distribution; `percent` and `res` as in
/// [`Shape::Special`].
///
/// One uniform draw decides both whether the number is in the band and where in it. Since that draw
/// is above 1 - `res` percent, only the upper `res` percent of the band are used. So `percent` 1
/// and `res` 75 make a band of 0.75 % (measured on sysbench 1.0.20).
fn special(rng: &mut Rng, width: f64, iterations: u32, percent: u32, res: u32) -> f64 {
    let [percent, res] = [percent, res].map(|value| f64::from(value) / 100.0);
    let which = unit(rng);
    if which < 1.0 - res {
        return mean_of(rng, iterations) * width;
    }
    let band = width * percent;
    which * (band + 1.0) + width / 2.0 - band / 2.0
}

/// Precomputed constants of Zipf's distribution for rejection-inversion (Hoermann and Derflinger,
/// "Rejection-inversion to generate variates from monotone discrete distributions", 1996), which
/// needs constant time and no table.
#[derive(Clone, Copy, Debug, Default)]
struct Zipf {
    exponent: f64,
    n: f64,
    /// Left end of the range from which a draw is made: the integral of the weights at 1.5 (the
    /// right edge of number 1), minus the weight of number 1.
    first: f64,
    /// Right end of the range from which a draw is made: the integral of the weights at `n` + 0.5,
    /// the right edge of the last number.
    last: f64,
    /// Largest distance by which a draw may lie below the number to which it is rounded and still
    /// be accepted without another test.
    squeeze: f64,
}

impl Zipf {
    fn new(exponent: f64, n: f64) -> Zipf {
        let mut zipf = Zipf { exponent, n, ..Zipf::default() };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(n + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    fn weight(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    /// Returns the integral of the weights from 1 to `x`: (x^(1-s) - 1) / (1-s) with exponent s, or
    /// ln x if s is 1.
    fn integral(&self, x: f64) -> f64 {
        let (rest, log) = (1.0 - self.exponent, x.ln());
        if rest.abs() < 1e-12 { log } else { (rest * log).exp_m1() / rest }
    }

    fn inverse(&self, y: f64) -> f64 {
        let rest = 1.0 - self.exponent;
        // Rounding must not push the argument out of the logarithm's domain.
        if rest.abs() < 1e-12 { y.exp() } else { ((y * rest).max(-1.0).ln_1p() / rest).exp() }
    }

    fn draw(&self, rng: &mut Rng) -> f64 {
        loop {
            let y = self.last + unit(rng) * (self.first - self.last);
            let x = self.inverse(y);
            let number = x.round().clamp(1.0, self.n);
            let is_close = number - x <= self.squeeze;
            if is_close || y >= self.integral(number + 0.5) - self.weight(number) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Stream;

    use super::*;

    const N: usize = 400_000;
    const SPECIAL: Shape = Shape::Special { iterations: 12, percent: 1, res: 75 };

    fn draws(shape: Shape, low: i64, high: i64) -> Vec<i64> {
        let sampler = Sampler::new(shape, low, high);
        let mut rng = Rng::new(3, Stream::Constants, 7);
        (0..N).map(|_| sampler.draw(&mut rng)).collect()
    }

    /// Returns the largest distance between the distribution of the draws and `cdf`. With 400,000
    /// draws, 0.0031 is exceeded once in a thousand tests (Kolmogorov, 1.95 / sqrt n).
    fn distance(drawn: &[i64], low: i64, high: i64, cdf: impl Fn(f64) -> f64) -> f64 {
        let mut counts = vec![0u64; (high - low + 1) as usize];
        drawn.iter().for_each(|value| counts[(value - low) as usize] += 1);
        let mut below = 0;
        let each = counts.iter().enumerate().map(|(index, count)| {
            below += count;
            (below as f64 / drawn.len() as f64 - cdf((index + 1) as f64)).abs()
        });
        each.fold(0.0, f64::max)
    }

    /// Returns mean and standard deviation of the drawn numbers.
    fn moments(drawn: &[i64]) -> (f64, f64) {
        let n = drawn.len() as f64;
        let mean = drawn.iter().map(|value| *value as f64).sum::<f64>() / n;
        let square = drawn.iter().map(|value| (*value as f64 - mean).powi(2)).sum::<f64>() / n;
        (mean, square.sqrt())
    }

    #[test]
    fn uniform_pareto_and_zipfian_follow_their_distribution_functions() {
        let check = |shape, cdf: &dyn Fn(f64) -> f64| {
            for (low, high) in [(1, 10), (1, 1000), (101, 300)] {
                let n = (high - low + 1) as f64;
                let d = distance(&draws(shape, low, high), low, high, |k| cdf(k) / cdf(n));
                assert!(d < 0.0031, "{shape:?} over {low}..={high}: {d}");
            }
        };
        check(Shape::Uniform, &|k| k);
        for h in [0.2, 0.4] {
            let power = f64::ln(h) / f64::ln(1.0 - h);
            check(Shape::Pareto { h }, &|k| k.powf(1.0 / power));
        }
        for exponent in [0.4, 0.8, 1.0, 1.5] {
            let sum = |k: f64| (1..=k as u32).map(|k| f64::from(k).powf(-exponent)).sum::<f64>();
            check(Shape::Zipfian { exponent }, &sum);
        }
    }

    #[test]
    fn pareto_keeps_its_word_of_eighty_and_twenty() {
        let drawn = draws(Shape::Pareto { h: 0.2 }, 1, 10_000);
        let first = drawn.iter().filter(|value| **value <= 2_000).count() as f64 / N as f64;
        assert!((first - 0.8).abs() < 0.003, "{first}");
    }

    #[test]
    fn gaussian_has_the_moments_of_a_mean_of_uniform_draws() {
        for (iterations, n) in [(12, 10_000.0), (3, 500.0), (1, 10_000.0)] {
            let (mean, deviation) = moments(&draws(Shape::Gaussian { iterations }, 1, n as i64));
            // Truncation lowers the mean by a half, and adds the variance of a fraction.
            let expect = (n * n / 12.0 / f64::from(iterations) + 1.0 / 12.0).sqrt();
            let error = n / (12.0 * N as f64).sqrt() * 4.0;
            assert!((mean - (n / 2.0 + 0.5)).abs() < error, "{mean}");
            assert!((deviation / expect - 1.0).abs() < 0.005, "{deviation}, expected {expect}");
        }
    }

    /// Compares shares with those measured on sysbench 1.0.20 with a million draws; the standard
    /// error of a share of 0.5 is 0.0005.
    #[test]
    fn small_ranges_have_the_shares_that_sysbench_has() {
        let check = |shape, expect: [f64; 10]| {
            let drawn = draws(shape, 1, 10);
            for (number, expect) in (1..=10).zip(expect) {
                let n = drawn.iter().filter(|value| **value == number).count();
                let share = n as f64 / N as f64;
                assert!((share - expect).abs() < 0.004, "{shape:?}: {share} of {number}");
            }
        };
        check(SPECIAL, [0.0, 0.0, 0.0055, 0.0577, 0.3734, 0.5579, 0.0055, 0.0, 0.0, 0.0]);
        let gaussian = Shape::Gaussian { iterations: 12 };
        check(gaussian, [0.0, 0.0001, 0.0075, 0.1097, 0.3831, 0.3830, 0.1092, 0.0074, 0.0001, 0.0]);
        let pareto =
            [0.7266, 0.0734, 0.0460, 0.0348, 0.0278, 0.0234, 0.0200, 0.0177, 0.0160, 0.0145];
        check(Shape::Pareto { h: 0.2 }, pareto);
    }

    /// Tests the range 1 to 1000, where the middle band begins at 498.25 and ends at 506.49, and
    /// the other draws have a mean of 500.5. sysbench 1.0.20 has the same numbers.
    #[test]
    fn special_draws_most_from_a_band_in_the_middle() {
        let drawn = draws(SPECIAL, 1, 1000);
        let share = |low: i64, high: i64| {
            let n = drawn.iter().filter(|value| (low..=high).contains(*value)).count();
            n as f64 / N as f64
        };
        let check = |low, high, expect: f64| {
            let share = share(low, high);
            assert!((share - expect).abs() < 0.003, "{low} to {high}: {share}, not {expect}");
        };
        check(498, 506, 0.7609);
        check(498, 498, 0.0693);
        check(506, 506, 0.0461);
        check(499, 505, 0.6455);
        check(1, 497, 0.1223);
        let (mean, deviation) = moments(&draws(SPECIAL, 1, 1_000_000));
        // Measured on sysbench 1.0.20 with a million draws: 500,923 and 41,719.
        assert!((mean - 500_923.0).abs() < 500.0, "{mean}");
        assert!((deviation / 41_719.0 - 1.0).abs() < 0.01, "{deviation}");
    }

    #[test]
    fn a_range_of_one_number_has_that_number() {
        let shapes = [
            Shape::Uniform,
            Shape::Gaussian { iterations: 12 },
            SPECIAL,
            Shape::Pareto { h: 0.2 },
            Shape::Zipfian { exponent: 0.8 },
        ];
        for shape in shapes {
            let mut rng = Rng::new(3, Stream::Constants, 7);
            let sampler = Sampler::new(shape, 5, 5);
            assert!((0..100).all(|_| sampler.draw(&mut rng) == 5), "{shape:?}");
            assert_eq!(Shape::read(&shape.written()), Some(shape));
        }
    }
}
