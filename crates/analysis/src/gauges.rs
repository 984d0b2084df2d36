//! Gauges as they were read, by gauge.

use model::{Gauge, Readings};

/// Subjects of gauges, without the host or node they were read on, in the order of pages.
pub(crate) const WHOSE: [&str; 4] = ["machine", "generator", "server", "database"];

/// Returns the subject of a gauge, without the host or node of a cluster it was read on.
pub(crate) fn whose(about: &str) -> &str {
    about.rsplit('/').next().unwrap_or(about)
}

/// Returns the readings of each gauge: second and value.
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
