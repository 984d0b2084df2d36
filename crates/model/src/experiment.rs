//! Experiments: one plan whose parameters are varied, run as many trials.

use serde::{Deserialize, Serialize};

use crate::{Imported, Nesting, StopRule, choice};

/// Limit on the number of trials of an experiment. A plan with more trials is rejected, because
/// they would run longer than anybody waits.
pub const TRIALS_MAX: u64 = 100_000;

/// Order in which an experiment runs its trials, which are the repeats of its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Interleaved: each round runs every point once. Every second round goes through the points
    /// backwards, so that a slow drift affects all points alike.
    Interleaved,
    /// Random: each round runs every point once, in a new random order.
    Random,
    /// Sequential: all repeats of a point run before those of the next point.
    Sequential,
}

choice!(Order {
    Interleaved = "interleaved",
    Random = "random",
    Sequential = "sequential",
});

/// Treatment of the data between two trials of an experiment: keep, rebuild or restore them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataPolicy {
    /// The data stay as the previous trial has left them.
    Keep,
    /// The data are dropped and built again before each trial.
    Rebuild,
    /// The data are restored from a copy that was made before the first trial. Only for managed
    /// servers.
    Copy,
}

choice!(DataPolicy { Keep = "keep", Rebuild = "rebuild", Copy = "copy" });

/// A condition on the database, such as an empty purge queue, for which a trial waits before it
/// begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Query for the condition, which is met when the first value of the result is true or a number
    /// other than 0.
    pub sql: String,
    /// Limit on the time that a trial waits for the condition, in nanoseconds.
    pub at_most_ns: u64,
}

/// A plan parameter that an experiment varies, with the values that it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Path of the parameter in the plan, as the user wrote it, such as `group.users.clients`.
    pub name: String,
    /// Values that the varied parameter takes, as the user wrote them.
    pub values: Vec<String>,
}

/// A point of an experiment: one value for each varied parameter, such as 8 clients and a 4 GB
/// buffer pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Values of the varied parameters at this point, in the order of [`Experiment::axes`].
    pub values: Vec<String>,
    /// Plan for the runs of this point, in TOML, with all values decided.
    pub plan: String,
}

/// Definition of an experiment: a series of runs with different parameters, stored before its first
/// run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Permanent identifier of the experiment: a UUID of version 7.
    pub id: String,
    /// Name of the plan that defines the experiment.
    pub name: String,
    /// Start of the experiment, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// Varied parameters with their values. The last one changes fastest from point to point.
    pub axes: Vec<Axis>,
    /// All points of the experiment. For a search or a tuner it contains only one, with its plan.
    pub points: Vec<Point>,
    /// Number of runs per point; only an upper limit if there is a stop rule.
    pub repeats: u32,
    /// Number of data builds per point, and of server restarts per build, among which the repeats
    /// of each point are divided.
    #[serde(default, skip_serializing_if = "is_flat")]
    pub nesting: Nesting,
    /// Rule that may end the repeats early, such as a precision; `None` to run all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopRule>,
    /// Order in which the trials of the experiment run.
    pub order: Order,
    /// Treatment of the data between two trials: keep, rebuild or restore them.
    pub data: DataPolicy,
    /// Pause before each trial except the first, in nanoseconds.
    pub pause_ns: u64,
    /// Condition on the database for which each trial waits; `None` for no wait.
    #[serde(rename = "until", default, skip_serializing_if = "Option::is_none")]
    pub wait_until: Option<Condition>,
    /// Seed for the random order of trials.
    pub seed: u64,
    /// Way in which the points are chosen: all in advance, or one by one in a search or a tuner.
    #[serde(flatten)]
    pub walk: Walk,
    /// Labels that all runs of the experiment have, as pairs of key and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
    /// Results measured elsewhere, to be shown beside those of the experiment; `None` if there are
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
}

/// The way in which an experiment chooses its points: all in advance, or one after the other in a
/// search or a tuner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredWalk", into = "StoredWalk")]
pub enum Walk {
    /// All points are known before the first trial: they are the combinations of the parameters'
    /// values.
    #[default]
    Grid,
    /// A search for the highest load that meets all objectives. It adds a point for each probe;
    /// before that, [`Experiment::points`] contains only the plan of the search.
    Seek(crate::Seek),
    /// A tuner, which adds a point for each configuration that it tries. Before that,
    /// [`Experiment::points`] contains only the plan with the defaults.
    Tune(crate::Tune),
}

impl Walk {
    /// Returns the search for the highest load, if this experiment is one.
    pub fn seek(&self) -> Option<&crate::Seek> {
        match self {
            Walk::Seek(seek) => Some(seek),
            Walk::Grid | Walk::Tune(_) => None,
        }
    }

    /// Returns the tuner, if this experiment is one.
    pub fn tune(&self) -> Option<&crate::Tune> {
        match self {
            Walk::Tune(tune) => Some(tune),
            Walk::Grid | Walk::Seek(_) => None,
        }
    }

    /// Whether all points are known before the first trial, so that there is no search or tuner.
    pub fn is_grid(&self) -> bool {
        *self == Walk::Grid
    }
}

/// A [`Walk`] as it is stored: a key for what it is, and none for a grid.
#[derive(Serialize, Deserialize)]
struct StoredWalk {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seek: Option<crate::Seek>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tune: Option<crate::Tune>,
}

impl From<StoredWalk> for Walk {
    fn from(stored: StoredWalk) -> Walk {
        match (stored.seek, stored.tune) {
            (Some(seek), _) => Walk::Seek(seek),
            (None, Some(tune)) => Walk::Tune(tune),
            (None, None) => Walk::Grid,
        }
    }
}

impl From<Walk> for StoredWalk {
    fn from(walk: Walk) -> StoredWalk {
        match walk {
            Walk::Grid => StoredWalk { seek: None, tune: None },
            Walk::Seek(seek) => StoredWalk { seek: Some(seek), tune: None },
            Walk::Tune(tune) => StoredWalk { seek: None, tune: Some(tune) },
        }
    }
}

/// Results measured elsewhere, such as with another tool, imported from a file when the experiment
/// began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Path of the imported file, as the user wrote it.
    pub file: String,
    /// Results that the imported file contains.
    pub figures: Imported,
}

fn is_flat(nesting: &Nesting) -> bool {
    *nesting == Nesting::default()
}

/// The place of a run in an experiment: which repeat of which point it is, such as the third run
/// with 8 clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Identifier of the experiment to which the run belongs.
    pub experiment: String,
    /// Index of the point in the experiment, from 0.
    pub point: u32,
    /// Index of this run among the repeats of the point, from 0.
    pub repeat: u32,
    /// Values of the varied parameters in this run, as pairs of parameter and value.
    pub values: Vec<(String, String)>,
}

impl Experiment {
    /// Checks an experiment that was read from a store or an import. Fails with the reason if it
    /// has no points or repeats, more than [`TRIALS_MAX`] trials, or more restarts and rebuilds
    /// than repeats.
    pub fn check(&self) -> Result<(), String> {
        let Nesting { restarts, rebuilds } = self.nesting;
        let units = u64::from(restarts.unwrap_or(1)) * u64::from(rebuilds.unwrap_or(1));
        let n_points = self.points.len() as u64;
        let n_trials = u64::from(self.repeats) * n_points;
        if n_points == 0 || n_trials == 0 || n_trials > TRIALS_MAX {
            return Err(format!("{} repeats of {n_points} points", self.repeats));
        }
        if units == 0 || units > u64::from(self.repeats) {
            return Err(format!("{} repeats in {units} parts", self.repeats));
        }
        Ok(())
    }

    /// Whether a trial with these indexes may belong to the experiment. A search or a tuner may
    /// still add points, so any index below [`TRIALS_MAX`] is possible there.
    pub fn may_have(&self, point: u32, repeat: u32) -> bool {
        let n_points = if self.walk.is_grid() { self.points.len() as u64 } else { TRIALS_MAX };
        u64::from(point) < n_points && u64::from(repeat) < TRIALS_MAX
    }

    /// Returns the trial for a pair of point and repeat indexes. Panics if there is no such point.
    pub fn trial(&self, (point, repeat): (u32, u32)) -> Trial {
        let values = self.axes.iter().map(|axis| axis.name.clone());
        let values = values.zip(self.points[point as usize].values.iter().cloned()).collect();
        Trial { experiment: self.id.clone(), point, repeat, values }
    }
}

/// Returns the last part of a parameter's path: `clients` for `group.users.clients`.
pub fn short_axis(axis: &str) -> &str {
    axis.rsplit_once('.').map_or(axis, |(_, last)| last)
}

/// Whether an axis with this name varies the arrival rate of open load, such as `rate` or
/// `group.users.rate`.
pub fn is_arrival_rate(axis: &str) -> bool {
    short_axis(axis) == "rate" && axis != "connect.rate"
}

/// Returns every combination of the axes' values, with one value per axis in the order of the axes;
/// the last axis varies fastest.
pub fn combinations(axes: &[Axis]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        let with = |before: &Vec<String>| {
            let before = before.clone();
            axis.values.iter().map(move |value| [&before[..], std::slice::from_ref(value)].concat())
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_arrivals_is_known_by_all_its_names() {
        for name in ["rate", "load.rate", "group.users.rate", "group.users.load.rate"] {
            assert!(is_arrival_rate(name), "{name}");
        }
        for name in ["clients", "connect.rate", "connect_rate", "rates"] {
            assert!(!is_arrival_rate(name), "{name}");
        }
    }

    #[test]
    fn points_are_all_combinations_with_the_last_axis_fastest() {
        let axis = |name: &str, values: &[&str]| Axis {
            name: name.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        let all = combinations(&[axis("clients", &["1", "2"]), axis("mode", &["a", "b", "c"])]);
        let joined: Vec<String> = all.iter().map(|values| values.join("")).collect();
        assert_eq!(joined, ["1a", "1b", "1c", "2a", "2b", "2c"]);
    }
}
