//! Confidence intervals of shares, such as the share of transactions with an error. Not here: rates
//! and means.

use crate::students_t;

/// Degrees of freedom at which Student's t is used as the normal distribution.
const MANY: usize = 1_000_000;

/// Degrees of freedom from which a standard error counts as exactly known.
const LARGE: usize = 60;

/// Returns the confidence interval of the share of `hits` among `count` (E. B. Wilson, J. Am. Stat.
/// Assoc. 22, 209, 1927), assuming independent samples; 0 to 1 if `count` is 0.
pub fn binomial_interval(hits: u64, count: u64, confidence: f64) -> (f64, f64) {
    assert!(hits <= count, "no more hits than there are");
    if count == 0 {
        return (0.0, 1.0);
    }
    wilson(hits as f64 / count as f64, count as f64, confidence, MANY)
}

/// Returns the confidence interval of a share of autocorrelated samples that are worth
/// `n_effective` independent ones; 0 to 1 if `n_effective` is 0.
pub fn share_interval(share: f64, n_effective: f64, confidence: f64) -> (f64, f64) {
    assert!((0.0..=1.0).contains(&share), "a share lies between 0 and 1");
    if n_effective > 0.0 { wilson(share, n_effective, confidence, LARGE) } else { (0.0, 1.0) }
}

/// Returns Wilson's interval of a share, with the quantile of Student's t in place of that of the
/// normal distribution.
fn wilson(share: f64, n: f64, confidence: f64, freedom: usize) -> (f64, f64) {
    let z = students_t(1.0 - (1.0 - confidence) / 2.0, freedom);
    let centre = share + z * z / (2.0 * n);
    let half_width = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    let low = if share == 0.0 { 0.0 } else { (centre - half_width) / scale };
    let high = if share == 1.0 { 1.0 } else { (centre + half_width) / scale };
    (low.max(0.0), high.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = binomial_interval(10, 100, 0.95);
        assert!((low - 0.0552).abs() < 1e-4 && (high - 0.1744).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn none_among_many_is_still_not_known_to_be_none() {
        let (low, high) = binomial_interval(0, 1000, 0.90);
        assert!(low == 0.0 && (high - 0.0027).abs() < 1e-4, "{high}");
        assert_eq!(binomial_interval(0, 0, 0.90), (0.0, 1.0));
        assert_eq!(binomial_interval(7, 7, 0.90).1, 1.0);
    }

    #[test]
    fn dependent_samples_tell_as_much_as_fewer_independent_ones() {
        let (low, high) = share_interval(0.99, 1_000.0, 0.95);
        assert!(0.98 < low && low < 0.99 && 0.99 < high && high < 0.996, "{low} {high}");
        let (wider, _) = share_interval(0.99, 100.0, 0.95);
        assert!(wider < low, "{wider} {low}");
        assert_eq!(share_interval(1.0, 50.0, 0.95).1, 1.0);
        assert!(share_interval(1.0, 50.0, 0.95).0 > 0.9);
        assert_eq!(share_interval(0.5, 0.0, 0.95), (0.0, 1.0));
    }
}
