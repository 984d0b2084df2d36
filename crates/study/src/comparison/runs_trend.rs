//! Trends of a figure from run to run of one side of a comparison, so that its mean depends on how
//! many runs there are. Not here: drifts of the machine that both sides share (pairs).

use analysis::figures::value_of;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::SidePoint;

/// Smallest number of runs in which a trend is searched. Five runs are in order by chance once in
/// 60 times.
const RUNS_MIN: usize = 5;
/// Smallest normal score of the test for a trend: that of five runs in order is 2.45. Without a
/// trend, at most one series in 60 reaches it.
const SCORE_MIN: f64 = 2.4;

/// A trend of a figure that rises or falls from run to run of one side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunsTrend {
    /// Name of the figure that rises or falls.
    pub figure: String,
    /// Value of the figure in the first run.
    pub first: f64,
    /// Value of the figure in the last run.
    pub last: f64,
    /// Number of valid runs over which the trend was found.
    pub runs: u64,
}

impl RunsTrend {
    /// Returns the trend of a figure over the runs at a point, in the order of their start; `None`
    /// if there is none, or if there are fewer than five runs.
    pub(super) fn find(point: &SidePoint, figure: &str) -> Option<RunsTrend> {
        let mut all: Vec<(Timestamp, f64)> = point
            .reports
            .iter()
            .filter_map(|report| Some((report.started, value_of(report, figure)?)))
            .collect();
        all.sort_by_key(|one| one.0);
        let values: Vec<f64> = all.into_iter().map(|(_, value)| value).collect();
        let (first, last) = (*values.first()?, *values.last()?);
        let is_trend = values.len() >= RUNS_MIN && stats::rank_trend(&values).abs() >= SCORE_MIN;
        let (figure, runs) = (figure.to_owned(), values.len() as u64);
        is_trend.then_some(RunsTrend { figure, first, last, runs })
    }
}

#[cfg(test)]
mod tests {
    use model::{Rng, Stream};

    use super::*;
    use crate::fixtures::sides;

    /// Returns the trend of runs with these TPS that started one after the other.
    fn trend(tps: &[f64]) -> Option<(f64, f64)> {
        let mut side = sides::side("new", &[("8", tps, 0)]);
        for (n, report) in side.points[0].reports.iter_mut().enumerate() {
            report.started = format!("2026-01-01T00:{n:02}:00Z").parse().expect("a time");
        }
        // Runs are found by their start, in whatever order they are stored.
        side.points[0].reports.reverse();
        RunsTrend::find(&side.points[0], "tps").map(|found| (found.first, found.last))
    }

    #[test]
    fn runs_that_fall_one_after_the_other_are_a_trend() {
        assert_eq!(trend(&[50.0, 48.0, 45.0, 44.0, 41.0]), Some((50.0, 41.0)));
        assert_eq!(trend(&[41.0, 44.0, 45.0, 48.0, 50.0]), Some((41.0, 50.0)));
        assert_eq!(trend(&[41.0, 44.0, 48.0, 45.0, 50.0]), None);
        assert_eq!(trend(&[50.0, 48.0, 45.0, 44.0]), None);
        assert_eq!(trend(&[50.0; 9]), None);
    }

    #[test]
    fn steady_runs_are_rarely_a_trend() {
        for n in [5, 8, 20] {
            let mut rng = Rng::new(n, Stream::Sim, 0);
            let mut normal = || stats::normal(&mut || rng.bits());
            let mut series = || (0..n).map(|_| 50.0 + normal()).collect::<Vec<f64>>();
            let found = (0..2_000).filter(|_| stats::rank_trend(&series()).abs() >= SCORE_MIN);
            // One in 60, and three standard errors.
            let found = found.count();
            assert!(found <= 2_000 / 60 + 17, "{found} of 2,000 series of {n} runs");
        }
    }
}
