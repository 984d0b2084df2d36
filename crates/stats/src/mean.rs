//! Mean of a few results with Student's confidence interval, for repeats of a measurement.
//!
//! Not here: means of millions of samples (moments), or of a series in time (rate).

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// Arithmetic mean of the results of a few repeats, with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Arithmetic mean of the results.
    pub value: f64,
    /// Standard deviation between the results; NaN if there is only one.
    pub sd: f64,
    /// Half-width of the confidence interval; `None` for a single result, whose error is unknown.
    pub half_width: Option<f64>,
    /// Number of results over which the mean is taken.
    pub count: usize,
}

/// Returns the quantile of Student's t distribution: the value below which t lies with the
/// probability `below`. Degrees of freedom count as at least 1.
pub fn students_t(below: f64, freedom: usize) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, freedom.max(1) as f64);
    distribution.map_or(f64::INFINITY, |distribution| distribution.inverse_cdf(below))
}

/// Returns the upper tail of Student's t distribution: the probability that t exceeds `t`. Degrees
/// of freedom count as at least 1.
pub(crate) fn students_t_tail(t: f64, freedom: f64) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, freedom.max(1.0));
    distribution.map_or(f64::NAN, |distribution| distribution.sf(t))
}

/// Returns the normal score (z) that is exceeded with the probability `beyond`: 0 for 1/2, higher
/// for less.
pub(crate) fn normal_score(beyond: f64) -> f64 {
    -Normal::standard().inverse_cdf(beyond)
}

/// Returns the density of Student's t distribution at `t`. Degrees of freedom count as at least 1.
pub(crate) fn students_t_density(t: f64, freedom: f64) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, freedom.max(1.0));
    distribution.map_or(f64::NAN, |distribution| distribution.pdf(t))
}

/// Returns the mean of the results `figures`, with an interval of confidence `confidence` that
/// assumes independent normal results. `None` if there are no results.
pub fn mean(figures: &[f64], confidence: f64) -> Option<Mean> {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
    let count = figures.len();
    if count == 0 {
        return None;
    }
    let value = figures.iter().sum::<f64>() / count as f64;
    let freedom = count as f64 - 1.0;
    let squares: f64 = figures.iter().map(|figure| (figure - value).powi(2)).sum();
    let sd = (squares / freedom).sqrt();
    let t = students_t(1.0 - (1.0 - confidence) / 2.0, count.saturating_sub(1));
    let half_width = (count > 1).then(|| t * sd / (count as f64).sqrt());
    Some(Mean { value, sd, half_width, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        let found = mean(&[9.0, 10.0, 11.0, 12.0, 13.0], 0.95).expect("five");
        assert_eq!((found.value, found.count), (11.0, 5));
        // t(0.975; 4) = 2.776, times the standard error 0.7071.
        assert!((found.half_width.expect("five") - 1.9633).abs() < 1e-3);
    }

    #[test]
    fn one_figure_has_no_error_that_anybody_knows() {
        let one = mean(&[7.0], 0.95).expect("one");
        assert_eq!((one.value, one.half_width), (7.0, None));
        assert_eq!(mean(&[], 0.95), None);
    }
}
