//! Median of a few values with its confidence interval, for rounds of a comparison.
//!
//! Not here: quantiles of millions of samples (quantile).

use crate::order_statistics::{TooFew, ranks, samples_needed};

/// Median of a few values, with its confidence interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Median {
    /// The median: the value in the middle, or the mean of the two in the middle.
    pub value: f64,
    /// Confidence interval, whose ends are two of the values; an error if there are too few values.
    pub interval: Result<(f64, f64), TooFew>,
}

/// Returns the median of `figures`, with the distribution-free interval of at least `confidence`
/// whose ends are order statistics (Conover, Practical Nonparametric Statistics, 3rd ed., 3.2). It
/// is valid for independent values of any distribution. `None` if there are no values.
pub fn median(figures: &[f64], confidence: f64) -> Option<Median> {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let value = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    let tail = (1.0 - confidence) / 2.0;
    let (have, needed) = (n as u64, samples_needed(0.5, tail));
    let interval = if have < needed {
        Err(TooFew { needed, have })
    } else {
        let (low, high) = ranks(have, 0.5, tail);
        let at = |rank: u64| sorted[(rank.clamp(1, have) - 1) as usize];
        Ok((at(low), at(high)))
    };
    Some(Median { value, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_figures_are_bracketed_by_the_second_and_the_ninth() {
        let figures: Vec<f64> = [3.0, 1.0, 2.0, 5.0, 4.0, 9.0, 8.0, 7.0, 6.0, 10.0].to_vec();
        let found = median(&figures, 0.9).expect("there are some");
        assert_eq!(found, Median { value: 5.5, interval: Ok((2.0, 9.0)) });
        assert_eq!(median(&figures[..3], 0.9).expect("three").value, 2.0);
    }

    #[test]
    fn too_few_figures_have_no_interval() {
        let found = median(&[1.0, 2.0, 3.0, 4.0], 0.9).expect("four");
        assert_eq!(found.interval, Err(TooFew { needed: 5, have: 4 }));
        assert_eq!(median(&[], 0.9), None);
    }
}
