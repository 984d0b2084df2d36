//! Charts of an experiment's trials in order of time: whether later trials are slower, and how much
//! background work (such as MVCC cleanup) the server had left.

use std::collections::BTreeMap;

use analysis::figures::{title, value_of};
use model::numbers::significant;
use model::short_axis;
use study::ExperimentReport;
use study::trials::{TrialReport, counts};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace};
use crate::axis_names::names;

pub(super) const ENTRY: Entry = Entry {
    name: "drift",
    about: "an experiment's trials in the order of time, with what was left to clean up",
    spot: Spot::Stability,
    make: Of::Experiment(charts),
};

/// Smallest number of trials at some point of an experiment for which its trials are drawn in the
/// order of time; with fewer at every point, there is no such chart.
const TRIALS_LEAST: usize = 3;

/// Largest number of points of an experiment for which each point has its own line; with more
/// points, one line has all trials.
const SIDES_MOST: usize = 6;

/// Gauges of background work that grows from run to run if the server does not keep up, each with
/// its title.
const BACKLOGS: [(&str, &str); 2] = [
    ("database.Innodb_history_list_length.max", "longest history list"),
    ("database.Innodb_buffer_pool_pages_dirty.max", "most dirty pages"),
];

/// Returns a chart of an experiment's trials in the order of time, with the primary figure relative
/// to the mean at its point, and one of the server's background work relative to its maximum.
fn charts(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Chart> {
    let mut made: Vec<&TrialReport> = trials.iter().filter(|one| counts(&one.report)).collect();
    made.sort_by_key(|trial| trial.report.started);
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
    let x = || Axis::new("trial, in the order of time", "", Scale::Linear);
    let name = format!("{}, % of the mean of its point", title(primary));
    let y = Axis::new(name.clone(), "", Scale::FromZero);
    let mut rates = Chart::new(ENTRY.name, "Trials in the order of time", x(), y);
    rates.traces = of_sides(report, &made, &means, &name);
    let mean = "100 % is the mean over the trials of the same point";
    rates.note = Some(match rates.traces.len() {
        1 => format!("{mean}; the numbers are the {} of each trial.", title(primary)),
        _ => format!("{mean}."),
    });
    let y = Axis::new("share of the largest", "%", Scale::FromZero);
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

/// Returns a line of trials for each point, if the experiment has a single varied parameter with at
/// most [`SIDES_MOST`] values; else one line of all trials.
fn of_sides(
    report: &ExperimentReport,
    made: &[&TrialReport],
    means: &BTreeMap<u32, f64>,
    name: &str,
) -> Vec<Trace> {
    let all = trace(made, name, &report.primary, |trial| means[&trial.point]);
    let n_points = report.points.len();
    let [axis] = &report.axes[..] else { return vec![all] };
    if n_points > SIDES_MOST {
        return vec![all];
    }
    let names = names(axis);
    let of_point = |point: usize| {
        let is_here = |at: &(usize, &Point)| made[at.0].point as usize == point;
        let points = all.points.iter().enumerate().filter(is_here).map(|(_, at)| at.clone());
        let name = format!("{}={}", short_axis(&axis.name), names[point]);
        Trace::new(name, Shape::Joined, points.collect())
    };
    (0..n_points).map(of_point).collect()
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
