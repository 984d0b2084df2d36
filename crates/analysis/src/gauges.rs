//! Readings of gauges (system and database metrics), sorted by gauge, and the subjects of gauges.

use model::{Gauge, Readings};

/// Subjects of gauges in the order in which reports show them, without the host or cluster node.
pub(crate) const WHOSE: [&str; 4] = ["machine", "generator", "server", "database"];

/// Returns the subject of a gauge without its host or cluster node: `machine` for `db7/machine`.
pub(crate) fn whose(about: &str) -> &str {
    about.rsplit('/').next().unwrap_or(about)
}

/// Returns the readings of each gauge as pairs of second and value, in the order of `gauges`.
pub(crate) fn points(gauges: &[Gauge], readings: &[Readings]) -> Vec<Vec<(i64, f64)>> {
    let mut points: Vec<Vec<(i64, f64)>> = vec![Vec::new(); gauges.len()];
    for readings in readings {
        for (place, value) in &readings.values {
            if let Some(series) = points.get_mut(usize::from(*place)) {
                series.push((readings.second, *value));
            }
        }
    }
    points
}
