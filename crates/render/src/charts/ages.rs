//! Chart of the ages of records when each reader first read them: cumulative shares below an age.
//!
//! The counts are facts that a workload with readers reports, over the whole load. Not here:
//! percentiles of ages in the measured phase (custom metrics).

use analysis::report::Report;
use model::BucketCounts;
use study::trials::{TrialReport, counts};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "ages",
    about: "the share of records that each reader read first below an age",
    spot: Spot::Ages,
    make: Of::Run(charts),
};

/// Largest number of lines in the chart of records' ages, so that they can be distinguished. If
/// there are more readers of records, the last line sums up the remaining ones.
const LINES_MOST: usize = 12;
/// Ages in milliseconds for which tables show the percentage of younger records, as published
/// measurements of the same workload (`events`) do.
pub(crate) const SHOWN_MS: [u64; 3] = [40, 100, 300];

/// Returns the readers of a run, each with its number and its counts of records by age when first
/// read. Readers whose age bounds differ from those of the first reader are left out.
pub(crate) fn by_reader(report: &Report) -> Vec<(u32, &BucketCounts)> {
    let is_workload =
        |about: &str| report.groups.iter().any(|group| about == group.workload.as_str());
    let facts = report.facts.iter().filter(|(about, _)| is_workload(about));
    let reader = |name: &str| -> Option<u32> {
        name.strip_prefix("reader_")?.strip_suffix("_ages_ms")?.parse().ok()
    };
    let all = facts.flat_map(|(_, facts)| facts);
    let ages = all.filter_map(|(name, value)| Some((reader(name)?, value.buckets()?)));
    let mut ages: Vec<(u32, &BucketCounts)> = ages.filter(|(_, ages)| ages.total() > 0).collect();
    ages.sort_by_key(|(reader, _)| *reader);
    if let Some(first) = ages.first().map(|(_, first)| *first) {
        ages.retain(|(_, ages)| ages.plus(first).is_some());
    }
    ages
}

fn charts(report: &Report) -> Vec<Chart> {
    let readers = by_reader(report);
    let n_lines = if readers.len() > LINES_MOST { LINES_MOST - 1 } else { readers.len() };
    let (shown, others) = readers.split_at(n_lines);
    let x = Axis::new("age when read first", "ms", Scale::Log);
    let y = Axis { range: Some((0.0, 100.0)), ..Axis::new("records below", "%", Scale::FromZero) };
    let mut chart = Chart::new("ages", "Ages of records by reader", x, y);
    let line = |(reader, ages): &(u32, &BucketCounts)| trace(format!("reader {reader}"), ages);
    chart.traces = shown.iter().map(line).collect();
    let sum = others
        .iter()
        .map(|(_, ages)| (*ages).clone())
        .reduce(|sum, ages| sum.plus(&ages).expect("all readers are counted by the same bounds"));
    chart.traces.extend(sum.map(|ages| trace(format!("{} others", others.len()), &ages)));
    chart.note = Some(
        "Each reader over the whole load. Where a line ends below 100 %, the rest of the records \
         is older."
            .into(),
    );
    chart.if_any()
}

pub(super) fn trace(name: String, ages: &BucketCounts) -> Trace {
    let point = |(bound, percent): (u64, f64)| Point::at(bound as f64, Some(percent));
    Trace::new(name, Shape::Joined, ages.percent_below().into_iter().map(point).collect())
}

/// Returns the ages of records for each valid trial at the point (combination of varied parameters)
/// with index `point`, summed over the readers of the trial.
pub(crate) fn ages_at(trials: &[TrialReport], point: usize) -> Vec<BucketCounts> {
    let here = trials.iter().filter(|trial| trial.point as usize == point);
    here.filter(|trial| counts(&trial.report))
        .filter_map(|trial| of_readers(&trial.report))
        .collect()
}

fn of_readers(report: &Report) -> Option<BucketCounts> {
    let readers = by_reader(report);
    let all = readers.into_iter().map(|(_, ages)| ages.clone());
    all.reduce(|sum, ages| sum.plus(&ages).expect("all readers are counted by the same bounds"))
}
