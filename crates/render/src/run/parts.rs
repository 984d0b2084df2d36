//! The parts of a run's pages that depend on the kind of its load, and the only place that selects
//! them: rates and percentiles, or the times of a fixed sequence of transactions.
//!
//! Not here: parts that all runs have (run, short), and charts (charts).

use analysis::report::Report;

use super::{head, latency, over_time, rates, sequence, transactions};
use crate::charts::Chart;
use crate::document::{Section, Text, Tile, Verdict};

/// Functions that make the parts of a run's pages that depend on the kind of its load.
pub(super) struct Parts {
    /// Adds the main figures to the beginning of a headline.
    pub headline: fn(Text, &Report) -> Text,
    pub tiles: fn(&Report) -> Vec<Tile>,
    pub latency: fn(&Report, &[Chart]) -> Section,
    pub transactions: fn(&Report, &[Chart]) -> Section,
    /// Columns of the table of single clients that are left out.
    pub without_columns: &'static [&'static str],
    pub over_time: fn(&Report, &[Chart]) -> Section,
    /// Rates that the section on units explains: name as a figure, and title.
    pub rates: &'static [(&'static str, &'static str)],
    /// Returns the labelled lines of the first page with the main figures; empty ones are left
    /// out.
    pub figures: fn(&Report) -> Vec<(&'static str, String)>,
    /// Returns remarks of the first page on its figures and their errors.
    pub remarks: fn(&Report) -> Vec<String>,
    /// Returns the section on transaction types of the first page, with at most so many rows.
    pub types_shortly: fn(&Report, usize) -> Section,
}

static OF_RATES: Parts = Parts {
    headline: rates::headline,
    tiles: rates::tiles,
    latency: latency::section,
    transactions: transactions::section,
    without_columns: &[],
    over_time: over_time::section,
    rates: &[("tps", "TPS"), ("qps", "QPS")],
    figures: rates::figures,
    remarks: rates::remarks,
    types_shortly: rates::types_shortly,
};

static OF_SEQUENCE: Parts = Parts {
    headline: sequence::headline,
    tiles: sequence::tiles,
    // Times of different transactions have no percentiles, and their seconds no course.
    latency: |_, _| Section::default(),
    transactions: sequence::section,
    without_columns: &["p50", "p95", "p99", "sd"],
    over_time: |_, _| Section::default(),
    rates: &[],
    figures: sequence::figures,
    remarks: sequence::remarks,
    types_shortly: sequence::types_shortly,
};

/// Returns the parts for the kind of a run's load.
pub(super) fn of(report: &Report) -> &'static Parts {
    if report.is_sequence() { &OF_SEQUENCE } else { &OF_RATES }
}

/// Returns the verdict on a run, with a headline of its main figures.
pub(super) fn verdict(report: &Report) -> Verdict {
    Verdict { headline: head::headline(report, of(report).headline), ..head::verdict(report) }
}
