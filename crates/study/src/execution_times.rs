//! Times of single transactions of fixed sequences, such as queries, over the runs of a point.
//!
//! Not here: whether a time differs between two sides (comparison).

use analysis::report::{ExecutionReport, Report};
use model::Experiment;
use serde::{Deserialize, Serialize};

use crate::repeats::mean_of;
use crate::trials::TrialReport;

/// Time of a transaction of a fixed sequence at one point (combination of varied parameters) of an
/// experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionTime {
    /// Name of the transaction type, such as `q9`.
    pub transaction: String,
    /// Geometric mean of the time over the valid runs, in seconds; null if it finished in none.
    pub mean_s: Option<f64>,
    /// The 95 % confidence interval of the mean, from the variation between runs; null if there are
    /// too few runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// Number of executions that failed, over the valid runs.
    pub failed: u64,
}

/// Returns the time of each transaction at a point, given the point's valid trials; empty if they
/// execute no fixed sequence.
pub(crate) fn execution_times(
    experiment: &Experiment,
    counted: &[&TrialReport],
) -> Vec<ExecutionTime> {
    let to_time = |transaction: String| {
        let logarithm = |trial: &&TrialReport| {
            mean_s(&trial.report, &transaction).map(|time_s| (trial.repeat, time_s.ln()))
        };
        let logarithms: Vec<(u32, f64)> = counted.iter().filter_map(logarithm).collect();
        let mean = mean_of(experiment, &logarithms);
        let around = |mean: &stats::Mean| {
            let half_width = mean.half_width.filter(|half_width| half_width.is_finite())?;
            Some(((mean.value - half_width).exp(), (mean.value + half_width).exp()))
        };
        let failed = counted.iter().map(|trial| n_failed(&trial.report, &transaction)).sum();
        let mean_s = mean.as_ref().map(|mean| mean.value.exp());
        ExecutionTime { mean_s, interval: mean.as_ref().and_then(around), failed, transaction }
    };
    names(counted.iter().map(|trial| &trial.report)).into_iter().map(to_time).collect()
}

/// Returns the names of all transactions that some runs executed, in the order in which people
/// count: `q2` before `q12`. Each stream has its own order.
pub(crate) fn names<'r>(reports: impl Iterator<Item = &'r Report>) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in reports.flat_map(|report| &report.executions).map(|one| one.transaction.as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| by_number(name));
    names.into_iter().map(str::to_owned).collect()
}

/// Splits a name such as `q12` into text and number.
fn by_number(name: &str) -> (&str, u64) {
    let text = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    (text, name[text.len()..].parse().unwrap_or(0))
}

/// Returns the mean time of the finished executions of a transaction in a run, in seconds; `None`
/// if none finished.
pub(crate) fn mean_s(report: &Report, name: &str) -> Option<f64> {
    let is_it = |one: &&ExecutionReport| one.transaction == name && one.is_finished;
    mean(report.executions.iter().filter(is_it).map(|one| one.took_s)).filter(|time| *time > 0.0)
}

/// Returns the number of executions of a transaction that failed in a run.
pub(crate) fn n_failed(report: &Report, name: &str) -> u64 {
    let failed = |one: &&ExecutionReport| one.transaction == name && !one.is_finished;
    report.executions.iter().filter(failed).count() as u64
}

pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.into_iter().fold((0_u64, 0.0), |(n, sum), value| (n + 1, sum + value));
    (n > 0).then(|| sum / n as f64)
}

#[cfg(test)]
mod tests {
    use crate::ExperimentReport;
    use crate::fixtures::studies;
    use model::{Rng, Stream};

    #[test]
    fn a_point_has_the_geometric_mean_of_each_transaction() {
        let (experiment, trials) = studies::sequences();
        let mut rng = Rng::new(1, Stream::Order, 0);
        let report = ExperimentReport::new(&experiment, &trials, None, &mut || rng.bits());
        let report = report.expect("it has trials");
        let names = |point: usize| -> Vec<&str> {
            report.points[point].executions.iter().map(|one| one.transaction.as_str()).collect()
        };
        assert_eq!(names(0), ["q2", "q12", "rf1"]);
        let [q2, q12, rf1] = &report.points[1].executions[..] else { panic!("three") };
        // Factors 1, 2 and 4 of three repeats have the geometric mean 2; the point is 3 times slow.
        let mean_s = q2.mean_s.expect("it finished");
        assert!((mean_s - 6.0).abs() < 1e-9, "{mean_s}");
        let (low, high) = q2.interval.expect("three repeats");
        assert!((low * high - mean_s * mean_s).abs() < 1e-9 && low < mean_s, "{low} {high}");
        assert!(q12.mean_s > q2.mean_s);
        assert_eq!((rf1.mean_s, rf1.failed), (None, 3));
    }
}
