//! Ranks of the samples that estimate quantiles of independent samples, and of those between which
//! the true quantile lies (order statistics).
//!
//! Not here: samples, and quantiles of autocorrelated samples (`dependence`).

use std::fmt;

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// Returns the smallest rank, counted from 1, with at least a share `q` of `count` samples at or
/// below it: the ceiling of `q count`.
///
/// `0.07 * 100` is 7.000000000000001 in floats and still rank 7: a product within a few units in
/// the last place of a whole number is that number. `q` outside 0..=1 counts as the nearer end;
/// `count` must not be 0.
pub fn rank(q: f64, count: u64) -> u64 {
    assert!(!q.is_nan() && count > 0, "a rank needs a quantile and a sample");
    let product = q.clamp(0.0, 1.0) * count as f64;
    let whole = product.round();
    let dust = 4.0 * f64::EPSILON * whole;
    let rank = if (product - whole).abs() <= dust { whole } else { product.ceil() };
    (rank as u64).clamp(1, count)
}

/// Ranks of the two samples between which a quantile lies, both in 1..=n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Rank of the sample at the lower end of the interval, from 1.
    pub low: u64,
    /// Rank of the sample at the upper end of the interval, from 1.
    pub high: u64,
}

/// Error for a number of samples that is too small for a finite confidence interval of a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// Smallest number of samples with a finite interval; `u64::MAX` if there is none (quantiles 0
    /// and 1).
    pub needed: u64,
    /// Number of samples that there are.
    pub have: u64,
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.needed == u64::MAX {
            return f.write_str("no number of samples bounds an extreme");
        }
        write!(f, "too few samples: needs at least {}", self.needed)
    }
}

impl std::error::Error for TooFew {}

/// Largest variance n q (1 - q) at which the binomial distribution is computed exactly: the
/// incomplete beta function of `statrs` needs of the order of its square root in steps and stops at
/// 140. Beyond it, the normal approximation with corrections for continuity and skewness is off by
/// less than a tenth of a rank (the next term falls with the root of the variance), and is rounded
/// outwards.
const EXACT_VARIANCE_MAX: f64 = 1000.0;

/// Checks that `n` independent samples have a finite confidence interval for the quantile `q`.
/// Samples of one run are not independent; [`crate::dependent_ranks`] has their intervals.
pub fn enough(n: u64, q: f64, confidence: f64) -> Result<(), TooFew> {
    interval_ranks(n, q, confidence).map(|_| ())
}

/// Returns the ranks of the two samples that bracket a quantile of independent samples with at
/// least the probability `confidence`, with equal probabilities beyond both ends.
///
/// The number of samples below the true quantile is Binomial(n, q), whatever the distribution of
/// the samples (Conover, Practical Nonparametric Statistics, 3rd ed., 3.2; Hahn and Meeker,
/// Statistical Intervals, 5.2).
pub(crate) fn interval_ranks(n: u64, q: f64, confidence: f64) -> Result<Ranks, TooFew> {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
    let tail = (1.0 - confidence) / 2.0;
    let needed = samples_needed(q, tail);
    if n < needed {
        return Err(TooFew { needed, have: n });
    }
    let (low, high) = ranks(n, q, tail);
    Ok(Ranks { low: low.clamp(1, n), high: high.clamp(1, n) })
}

/// Returns the smallest number of samples n with `q^n <= tail` and `(1 - q)^n <= tail`: from there
/// on, there are samples above and below the quantile with the required probability. `u64::MAX` for
/// a `q` of 0 or 1.
pub(crate) fn samples_needed(q: f64, tail: f64) -> u64 {
    if !(q > 0.0 && q < 1.0) {
        return u64::MAX;
    }
    let likelier_side_ln = if q > 0.5 { q.ln() } else { (-q).ln_1p() };
    (tail.ln() / likelier_side_ln).ceil().max(1.0) as u64
}

/// Returns the ranks l and u with `P(B < l) <= tail` and `P(B < u) >= 1 - tail`, B ~ Binomial(n,
/// q).
pub(crate) fn ranks(n: u64, q: f64, tail: f64) -> (u64, u64) {
    let variance = n as f64 * q * (1.0 - q);
    if variance > EXACT_VARIANCE_MAX {
        return ranks_normal(n, q, tail);
    }
    let below = Binomial::new(q, n).expect("0 < q < 1");
    (below.inverse_cdf(tail), below.inverse_cdf(1.0 - tail) + 1)
}

/// Returns the same ranks as [`ranks`], by the Cornish-Fisher expansion of the binomial to its
/// skewness (Abramowitz and Stegun 26.2.49), rounded outwards.
fn ranks_normal(n: u64, q: f64, tail: f64) -> (u64, u64) {
    let (mean, sd) = (n as f64 * q, (n as f64 * q * (1.0 - q)).sqrt());
    let z = -Normal::standard().inverse_cdf(tail);
    let skew = (1.0 - 2.0 * q) * (z * z - 1.0) / 6.0;
    let low = (mean - z * sd + skew - 0.5).floor();
    let high = (mean + z * sd + skew + 0.5).ceil();
    (low as u64, high as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_dust_does_not_move_a_rank() {
        for percent in 1..=100_u32 {
            assert_eq!(rank(f64::from(percent) / 100.0, 100), percent.into());
        }
        assert_eq!((rank(0.0, 10), rank(1.0, 10), rank(0.101, 10)), (1, 10, 2));
        assert_eq!((rank(-1.0, 10), rank(7.0, 10)), (1, 10));
    }

    /// Returns P(B <= k) for B ~ Binomial(n, q), by adding up the terms in logarithms, for tests.
    fn binomial_cdf(n: u64, q: f64, k: u64) -> f64 {
        let mut ln_term = n as f64 * (-q).ln_1p();
        let odds_ln = q.ln() - (-q).ln_1p();
        let mut sum = ln_term.exp();
        for i in 1..=k {
            ln_term += ((n - i + 1) as f64 / i as f64).ln() + odds_ln;
            sum += ln_term.exp();
        }
        sum
    }

    #[test]
    fn ranks_hold_what_they_promise_and_little_more() {
        let quantiles = [0.01, 0.5, 0.9, 0.99, 0.999, 0.9999];
        for n in [40, 400, 4_000, 40_000, 400_000] {
            for (q, tail) in quantiles.into_iter().flat_map(|q| [(q, 0.025), (q, 0.005)]) {
                if n < samples_needed(q, tail) {
                    continue;
                }
                let (low, high) = ranks(n, q, tail);
                let slack = u64::from(n as f64 * q * (1.0 - q) > EXACT_VARIANCE_MAX);
                let below = |rank: u64| if rank == 0 { 0.0 } else { binomial_cdf(n, q, rank - 1) };
                assert!(below(low) <= tail && below(high) >= 1.0 - tail, "{n} {q}");
                assert!(below(low + 1 + slack) >= tail, "{n} {q}");
                assert!(below(high - 1 - slack) <= 1.0 - tail, "{n} {q}");
            }
        }
    }
}
