//! The interval of a share: of errors among transactions. Not here: rates and means.

use crate::students_t;

/// Degrees of freedom at which Student's t is the normal distribution for all purposes here.
const MANY: usize = 1_000_000;

/// The interval of the share of `hits` among `count` (E. B. Wilson, J. Am. Stat. Assoc. 22, 209,
/// 1927), as if they were independent; from 0 to 1 of nothing.
pub fn binomial_interval(hits: u64, count: u64, confidence: f64) -> (f64, f64) {
    assert!(hits <= count, "no more hits than there are");
    if count == 0 {
        return (0.0, 1.0);
    }
    let z = students_t(1.0 - (1.0 - confidence) / 2.0, MANY);
    let (n, share) = (count as f64, hits as f64 / count as f64);
    let centre = share + z * z / (2.0 * n);
    let half_width = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    let low = if hits == 0 { 0.0 } else { (centre - half_width) / scale };
    let high = if hits == count { 1.0 } else { (centre + half_width) / scale };
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
}
