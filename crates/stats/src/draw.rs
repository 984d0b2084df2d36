//! Random draws from uniform bits that the caller passes in, so that the same bits give the same
//! draw.
//!
//! Not here: the source of the bits. Exponential draws use the software logarithm of `libm`,
//! because the platform's `ln` may differ in the last bit and so move an arrival.

/// Number of different values that [`unit`] returns, 2^53: a float represents 53 bits exactly.
const UNIT_STEPS: f64 = (1_u64 << 53) as f64;

/// Returns a uniform number at least 0 and below 1, one of 2^53 equally spaced ones, from the upper
/// 53 of the bits.
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / UNIT_STEPS
}

/// Returns an exponentially distributed draw with a mean of 1, by inversion: `-ln(1 - u)`.
pub fn exponential(bits: u64) -> f64 {
    -libm::log(1.0 - unit(bits))
}

/// Returns an exponential draw with the given mean, by inversion: `-ln(1 - u) mean`, rounded to a
/// nanosecond.
///
/// `1 - u` is exact and at least 2^-53, so a draw is never longer than 53 ln 2 = 36.74 means; one
/// draw in 9e15 would be longer. A mean that is negative or NaN counts as 0.
pub fn exponential_ns(bits: u64, mean_ns: f64) -> u64 {
    (exponential(bits) * mean_ns).round() as u64
}

/// Returns an exponential draw in nanoseconds, or `cap_ns` if that is less.
///
/// `mean_ns` is the mean before the cap; with a cap of k means the drawn mean is smaller by the
/// factor `1 - e^-k` (TPC-C clause 5.2.5.4 caps think times at ten means: 0.005 % smaller).
pub fn truncated_exponential_ns(bits: u64, mean_ns: f64, cap_ns: u64) -> u64 {
    exponential_ns(bits, mean_ns).min(cap_ns)
}

/// Returns the time that is left of a [`truncated_exponential_ns`] draw at a random instant within
/// it; 0 if the mean is not positive.
///
/// The density at t is proportional to the share of draws longer than t (the residual life of a
/// renewal process; Cox, *Renewal Theory*, 5.1): that of an exponential draw below the cap, and 0
/// beyond it.
pub fn residual_exponential_ns(bits: u64, mean_ns: f64, cap_ns: u64) -> u64 {
    if mean_ns.is_nan() || mean_ns <= 0.0 {
        return 0;
    }
    let below_cap = -(-(cap_ns as f64) / mean_ns).exp_m1();
    ((-(-unit(bits) * below_cap).ln_1p() * mean_ns).round() as u64).min(cap_ns)
}

/// Returns a normally distributed draw with mean 0 and standard deviation 1. `bits` returns 64
/// random bits per call (G. E. P. Box and M. E. Muller, Ann. Math. Stat. 29, 610, 1958).
pub fn normal(bits: &mut dyn FnMut() -> u64) -> f64 {
    let (a, b) = (unit(bits()), unit(bits()));
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn a_unit_is_never_one() {
        assert_eq!(unit(0), 0.0);
        assert!(unit(u64::MAX) < 1.0);
        assert_eq!(unit(1 << 63), 0.5);
    }

    #[test]
    fn draws_are_the_same_on_every_platform() {
        let draws = [0, 1 << 60, 1 << 63, 0xdead_beef_dead_beef, u64::MAX]
            .map(|bits| exponential_ns(bits, 1e9));
        assert_eq!(draws, [0, 64_538_521, 693_147_181, 2_038_980_454, 36_736_800_570]);
    }

    #[test]
    fn a_draw_is_finite_whatever_the_mean() {
        assert_eq!(exponential_ns(u64::MAX, f64::NAN), 0);
        assert_eq!(exponential_ns(u64::MAX, -1.0), 0);
        assert_eq!(exponential_ns(u64::MAX, f64::INFINITY), u64::MAX);
        assert_eq!(exponential_ns(0, f64::INFINITY), 0);
    }

    #[test]
    fn a_truncated_draw_stops_at_its_cap() {
        assert_eq!(truncated_exponential_ns(u64::MAX, 1e9, 10_000_000_000), 10_000_000_000);
        assert_eq!(truncated_exponential_ns(1 << 63, 1e9, 10_000_000_000), 693_147_181);
    }

    #[test]
    fn what_is_left_of_a_draw_is_memoryless_below_its_cap() {
        assert_eq!(residual_exponential_ns(1 << 63, 1e9, u64::MAX), 693_147_181);
        assert_eq!(residual_exponential_ns(u64::MAX, 1e9, 2_000_000_000), 2_000_000_000);
        assert_eq!(residual_exponential_ns(u64::MAX, 0.0, 0), 0);
        assert_eq!(residual_exponential_ns(u64::MAX, f64::NAN, 1), 0);
        // E[X^2] / 2 E[X] of an exponential time cut at its mean: (1 - 2/e) / (1 - 1/e) of the
        // mean.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut moments = crate::Moments::default();
        let n = 100_000;
        (0..n).for_each(|_| {
            moments.record(residual_exponential_ns(random.next_u64(), 50_000.0, 50_000));
        });
        let e = std::f64::consts::E;
        let expect = 50_000.0 * (1.0 - 2.0 / e) / (1.0 - 1.0 / e);
        assert!((moments.mean() - expect).abs() < 4.0 * moments.sd() / f64::from(n).sqrt());
    }

    #[test]
    fn mean_and_deviation_of_draws_are_the_mean_asked_for() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut moments = crate::Moments::default();
        let n = 1_000_000;
        (0..n).for_each(|_| moments.record(exponential_ns(random.next_u64(), 50_000.0)));
        let error = 50_000.0 / f64::from(n).sqrt();
        assert!((moments.mean() - 50_000.0).abs() < 4.0 * error);
        assert!((moments.sd() - 50_000.0).abs() < 8.0 * error);
    }
}
