//! The run that represents a side of a comparison (a set of runs) where a chart can show only one:
//! the run with the median of the primary figure.
//!
//! Not here: the chart itself (render).

use analysis::figures::value_of;
use analysis::report::{Named, Report};
use serde::{Deserialize, Serialize};

use super::SidePoint;

/// The run whose primary figure is the median over the runs of one side of a comparison at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MedianRun {
    pub run: String,
    /// Values of the varied parameters in the run, by parameter, such as `8` for `clients`.
    pub values: Named<String>,
}

/// Returns the run with the median of a figure at a point; of an even number of runs, the lower of
/// the two in the middle. `None` if no run has the figure.
pub(super) fn median_run(point: &SidePoint, figure: &str) -> Option<MedianRun> {
    let value = |report| Some((value_of(report, figure)?, report));
    let mut all: Vec<(f64, &Report)> = point.reports.iter().filter_map(value).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, report) = all.get(all.len().checked_sub(1)? / 2)?;
    Some(MedianRun { run: report.run_id.clone(), values: point.values.clone() })
}
