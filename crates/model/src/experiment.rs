//! A plan with axes, and how their points are walked.

use serde::{Deserialize, Serialize};

use crate::{Imported, Nesting, StopRule, choice};

/// Trials of an experiment, at most: more are none that a person waits for.
pub const TRIALS_MAX: u64 = 100_000;

/// The order in which trials are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Every point once, then every point again, forwards and backwards in turn: what drifts
    /// slowly meets all points alike.
    Interleaved,
    /// Every point once in a drawn order, then every point again in another.
    Random,
    /// All repeats of a point before the next point.
    Sequential,
}

choice!(Order {
    Interleaved = "interleaved",
    Random = "random",
    Sequential = "sequential",
});

/// What becomes of the data between trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataPolicy {
    /// They stay as the trial before has left them.
    Keep,
    /// They are dropped and built again before each trial.
    Rebuild,
    /// They are put back from a copy that is made before the first trial: managed servers only.
    Copy,
}

choice!(DataPolicy { Keep = "keep", Rebuild = "rebuild", Copy = "copy" });

/// What must hold before a trial begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// A query whose first value is true, or a number but 0, when it holds.
    pub sql: String,
    /// How long it is waited for, in nanoseconds.
    pub at_most_ns: u64,
}

/// What is varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name, as written.
    pub name: String,
    /// Its values, as written.
    pub values: Vec<String>,
}

/// A combination of values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// A value of each axis, in their order.
    pub values: Vec<String>,
    /// Its plan as decided, in TOML.
    pub plan: String,
}

/// An experiment as decided: what is stored of it before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Its name for ever: a UUID of version 7.
    pub id: String,
    /// The plan's name.
    pub name: String,
    /// When it was begun, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// What is varied.
    pub axes: Vec<Axis>,
    /// All combinations; those of the last axis follow each other.
    pub points: Vec<Point>,
    /// Trials of each point in all; at most, where a rule may end them.
    pub repeats: u32,
    /// The levels above runs that are repeated.
    #[serde(default, skip_serializing_if = "is_flat")]
    pub nesting: Nesting,
    /// When repeats end before there are as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopRule>,
    /// In which order.
    pub order: Order,
    /// What becomes of the data.
    pub data: DataPolicy,
    /// The pause before each trial but the first, in nanoseconds.
    pub pause_ns: u64,
    /// What must hold before each trial.
    #[serde(rename = "until", default, skip_serializing_if = "Option::is_none")]
    pub wait_until: Option<Condition>,
    /// The order is drawn from this.
    pub seed: u64,
    /// What is sought, where that is how it is walked: its one point is the plan without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek: Option<crate::Seek>,
    /// What each of its runs is labelled with, by key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
    /// What was measured elsewhere, and is shown beside its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
}

/// Figures of a file, as it was when the experiment began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The file, as it was named.
    pub file: String,
    /// What it says.
    pub figures: Imported,
}

fn is_flat(nesting: &Nesting) -> bool {
    *nesting == Nesting::default()
}

/// What a run is of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The experiment's id.
    pub experiment: String,
    /// Which of its points, from 0.
    pub point: u32,
    /// Which of that point's trials, from 0.
    pub repeat: u32,
    /// The point's values, by axis.
    pub values: Vec<(String, String)>,
}

impl Experiment {
    /// Why this is no experiment that can have been made, if it is none: what is stored may be
    /// somebody else's, and its numbers are divided by and counted up to.
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

    /// Whether one of its trials may be this repeat of this point. Points of a search are not known
    /// before.
    pub fn may_have(&self, point: u32, repeat: u32) -> bool {
        let n_points = if self.seek.is_some() { TRIALS_MAX } else { self.points.len() as u64 };
        u64::from(point) < n_points && u64::from(repeat) < TRIALS_MAX
    }

    /// What the run of a point's repeat is.
    pub fn trial(&self, (point, repeat): (u32, u32)) -> Trial {
        let values = self.axes.iter().map(|axis| axis.name.clone());
        let values = values.zip(self.points[point as usize].values.iter().cloned()).collect();
        Trial { experiment: self.id.clone(), point, repeat, values }
    }
}

/// The last word of an axis's path: `clients` of `group.users.clients`.
pub fn short_axis(axis: &str) -> &str {
    axis.rsplit_once('.').map_or(axis, |(_, last)| last)
}

/// Whether an axis is the rate at which users arrive, by whichever of its names.
pub fn is_arrival_rate(axis: &str) -> bool {
    short_axis(axis) == "rate" && axis != "connect.rate"
}

/// All combinations of the axes' values; those of the last axis follow each other.
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
