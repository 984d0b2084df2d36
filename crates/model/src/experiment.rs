//! A plan with axes, and the order of its trials.

use serde::{Deserialize, Serialize};

use crate::{Imported, Nesting, StopRule, choice};

/// Limit on the trials of an experiment: more would take longer than users wait.
pub const TRIALS_MAX: u64 = 100_000;

/// The order of an experiment's trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each round runs every point once, in turn forwards and backwards, so that slow drift affects
    /// all points alike.
    Interleaved,
    /// Each round runs every point once, in a random order of its own.
    Random,
    /// All repeats of a point before the next point.
    Sequential,
}

choice!(Order {
    Interleaved = "interleaved",
    Random = "random",
    Sequential = "sequential",
});

/// Treatment of the data between trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataPolicy {
    /// Data stay as the previous trial left them.
    Keep,
    /// Data are dropped and rebuilt before each trial.
    Rebuild,
    /// Data are restored from a copy made before the first trial; managed servers only.
    Copy,
}

choice!(DataPolicy { Keep = "keep", Rebuild = "rebuild", Copy = "copy" });

/// A condition to wait for before a trial begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Query whose first value is true or a non-zero number once the condition holds.
    pub sql: String,
    /// Time limit of the wait, in nanoseconds.
    pub at_most_ns: u64,
}

/// A parameter that an experiment varies, with its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Path of the parameter in the plan, as written.
    pub name: String,
    /// Values of the parameter, as written.
    pub values: Vec<String>,
}

/// One combination of the axes' values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// One value per axis, in the order of the axes.
    pub values: Vec<String>,
    /// The plan as decided, in TOML.
    pub plan: String,
}

/// An experiment as decided, as it is stored before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Permanent identifier: a UUID of version 7.
    pub id: String,
    /// Name of the plan.
    pub name: String,
    /// Start, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// The varied parameters, outermost first.
    pub axes: Vec<Axis>,
    /// All combinations; the last axis varies fastest.
    pub points: Vec<Point>,
    /// Trials per point; an upper limit if a stop rule may end them earlier.
    pub repeats: u32,
    /// Levels of repetition above single runs.
    #[serde(default, skip_serializing_if = "is_flat")]
    pub nesting: Nesting,
    /// Rule that ends the repeats early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopRule>,
    /// Order of the trials.
    pub order: Order,
    /// Treatment of the data between trials.
    pub data: DataPolicy,
    /// Pause before each trial except the first, in nanoseconds.
    pub pause_ns: u64,
    /// Condition to wait for before each trial.
    #[serde(rename = "until", default, skip_serializing_if = "Option::is_none")]
    pub wait_until: Option<Condition>,
    /// Seed of the random order.
    pub seed: u64,
    /// How its points are chosen.
    #[serde(rename = "seek", default, skip_serializing_if = "Walk::is_grid")]
    pub walk: Walk,
    /// Labels of each of its runs, as pairs of key and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
    /// Figures measured elsewhere, shown beside those of the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
}

/// How an experiment chooses its points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Option<crate::Seek>", into = "Option<crate::Seek>")]
pub enum Walk {
    /// All points are known before the first trial.
    #[default]
    Grid,
    /// A search adds a point for each probe; `points` has its plan only.
    Seek(crate::Seek),
}

impl Walk {
    /// Returns the search, if it is one.
    pub fn seek(&self) -> Option<&crate::Seek> {
        match self {
            Walk::Grid => None,
            Walk::Seek(seek) => Some(seek),
        }
    }

    /// Whether all points are known before the first trial.
    pub fn is_grid(&self) -> bool {
        *self == Walk::Grid
    }
}

impl From<Option<crate::Seek>> for Walk {
    fn from(seek: Option<crate::Seek>) -> Walk {
        seek.map_or(Walk::Grid, Walk::Seek)
    }
}

impl From<Walk> for Option<crate::Seek> {
    fn from(walk: Walk) -> Option<crate::Seek> {
        walk.seek().cloned()
    }
}

/// Figures imported from a file when the experiment began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Path of the file, as given.
    pub file: String,
    /// Content of the file.
    pub figures: Imported,
}

fn is_flat(nesting: &Nesting) -> bool {
    *nesting == Nesting::default()
}

/// The place of a run in an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Identifier of the experiment.
    pub experiment: String,
    /// Index of the point, from 0.
    pub point: u32,
    /// Index among the point's trials, from 0.
    pub repeat: u32,
    /// The point's values, as pairs of axis and value.
    pub values: Vec<(String, String)>,
}

impl Experiment {
    /// Fails with the reason if this cannot be an experiment, because stored data may come from
    /// elsewhere: there must be points and repeats, at most [`TRIALS_MAX`] trials, and no more
    /// units than repeats.
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

    /// Whether the experiment may contain this repeat of this point, which a walk may still add.
    pub fn may_have(&self, point: u32, repeat: u32) -> bool {
        let n_points = if self.walk.is_grid() { self.points.len() as u64 } else { TRIALS_MAX };
        u64::from(point) < n_points && u64::from(repeat) < TRIALS_MAX
    }

    /// Returns the trial for a point's repeat. Panics if there is no such point.
    pub fn trial(&self, (point, repeat): (u32, u32)) -> Trial {
        let values = self.axes.iter().map(|axis| axis.name.clone());
        let values = values.zip(self.points[point as usize].values.iter().cloned()).collect();
        Trial { experiment: self.id.clone(), point, repeat, values }
    }
}

/// Returns the last part of an axis's path: `clients` of `group.users.clients`.
pub fn short_axis(axis: &str) -> &str {
    axis.rsplit_once('.').map_or(axis, |(_, last)| last)
}

/// Whether an axis is the arrival rate, under any of its names.
pub fn is_arrival_rate(axis: &str) -> bool {
    short_axis(axis) == "rate" && axis != "connect.rate"
}

/// Returns all combinations of the axes' values; the last axis varies fastest.
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
