//! The figure `bytes.per_second` of a workload whose primary metric is a rate of stored bytes, such
//! as MB/s, and which has no custom metric for them.
//!
//! Not here: bytes of the protocol (catalog).

use model::FigureBound;

use crate::report::{PrimaryMetricReport, Report};

/// Name of the figure for the bytes per second that committed transactions stored. A run has it if
/// a primary metric counts these bytes and no custom metric does.
pub(super) const BYTES_STORED: &str = "bytes.per_second";

/// Returns the primary metric that counts the bytes which transactions store, and how many bytes
/// one of its units has, such as 10^6 for `MB/s`. `None` if there is none, or a custom metric
/// counts bytes.
pub(super) fn bytes_stored(report: &Report) -> Option<(&PrimaryMetricReport, f64)> {
    let counts_bytes = |name: &str| name == "bytes" || name.ends_with(".bytes");
    if report.block.custom_metrics.iter().any(|(name, _)| counts_bytes(name)) {
        return None;
    }
    let all = report.block.primary_metrics.iter();
    all.map(|(_, primary)| primary)
        .find_map(|primary| Some((primary, bytes_of_title(&primary.title)?)))
}

/// Returns the number of bytes in one unit of a rate with this title: 10^6 for `MB/s`. `None` for a
/// rate that does not count bytes.
pub fn bytes_of_title(title: &str) -> Option<f64> {
    let one = FigureBound::read(&format!("1{title}")).ok().filter(|_| title.contains('/'))?;
    Some(one.bytes_as_written("B/s")?.1)
}
