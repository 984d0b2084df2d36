//! The trials of an experiment in the order in which they were made: whether later ones are slower,
//! and what the server had left to clean up by then.

use std::collections::BTreeMap;

use analysis::ExperimentReport;
use analysis::figures::{title, value_of};
use analysis::trials::{TrialReport, counts};
use model::numbers::significant;

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "drift",
    about: "an experiment's trials in the order of time, with what was left to clean up",
    of: Of::Experiment(charts),
};

/// Smallest number of trials of a point that show a drift.
const TRIALS_LEAST: usize = 3;

/// Gauges of work that accumulates from run to run if a server does not keep up, with titles.
const BACKLOGS: [(&str, &str); 2] = [
    ("database.Innodb_history_list_length.max", "longest history list"),
    ("database.Innodb_buffer_pool_pages_dirty.max", "most dirty pages"),
];

/// Returns charts of rates, relative to the mean of their point, and of backlogs, relative to their
/// maximum.
fn charts(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Chart> {
    let mut made: Vec<&TrialReport> = trials.iter().filter(|one| counts(&one.report)).collect();
    // Times of one zone in one format sort as text.
    made.sort_by(|a, b| a.report.started.cmp(&b.report.started));
    let primary = report.primary.as_str();
    let mut of_points: BTreeMap<u32, Vec<Option<f64>>> = BTreeMap::new();
    for trial in &made {
        of_points.entry(trial.point).or_default().push(value_of(&trial.report, primary));
    }
    if of_points.values().all(|trials| trials.len() < TRIALS_LEAST) {
        return Vec::new();
    }
    let mean = |values: &Vec<Option<f64>>| {
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        known.iter().sum::<f64>() / known.len() as f64
    };
    let means: BTreeMap<u32, f64> =
        of_points.iter().map(|(point, values)| (*point, mean(values))).collect();
    let x = || Axis::of("trial, in the order of time", "", Scale::Linear);
    let name = format!("{}, % of the mean of its point", title(primary));
    let y = Axis::of(name.clone(), "", Scale::FromZero);
    let mut rates = Chart::new(ENTRY.name, "Trials in the order of time", x(), y);
    rates.note = Some(format!(
        "100 % is the mean over the trials of the same point; the numbers are the {} of each trial.",
        title(primary)
    ));
    rates.traces = vec![trace(&made, &name, primary, |trial| means[&trial.point])];
    let y = Axis::of("share of the largest", "%", Scale::FromZero);
    let id = format!("{}-backlog", ENTRY.name);
    let mut backlog = Chart::new(id, "Backlog of the server by trial", x(), y);
    backlog.traces = BACKLOGS
        .iter()
        .map(|(figure, name)| {
            let values = made.iter().filter_map(|trial| value_of(&trial.report, figure));
            let most = values.fold(0.0, f64::max);
            let name = format!("{name} (100 % = {})", significant(most, 4));
            trace(&made, &name, figure, |_| most)
        })
        .collect();
    [rates.if_any(), backlog.if_any()].concat()
}

fn trace(
    made: &[&TrialReport],
    name: &str,
    figure: &str,
    whole: impl Fn(&TrialReport) -> f64,
) -> Trace {
    let point = |(index, trial): (usize, &&TrialReport)| {
        let value = value_of(&trial.report, figure);
        let whole = whole(trial);
        let y = value.filter(|_| whole > 0.0).map(|value| 100.0 * value / whole);
        let label = value.map(|value| significant(value, 4));
        Point { label, ..Point::at((index + 1) as f64, y) }
    };
    Trace::new(name, Shape::Joined, made.iter().enumerate().map(point).collect())
}
