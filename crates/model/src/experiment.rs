//! A plan with axes, and how their points are walked.

use serde::{Deserialize, Serialize};

use crate::{Dice, Stream};

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

impl Order {
    /// Every order.
    pub const ALL: [Order; 3] = [Order::Interleaved, Order::Random, Order::Sequential];

    /// Its name in plans and reports.
    pub fn name(self) -> &'static str {
        match self {
            Order::Interleaved => "interleaved",
            Order::Random => "random",
            Order::Sequential => "sequential",
        }
    }
}

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

impl DataPolicy {
    /// Its name in plans.
    pub fn name(self) -> &'static str {
        match self {
            DataPolicy::Keep => "keep",
            DataPolicy::Rebuild => "rebuild",
            DataPolicy::Copy => "copy",
        }
    }
}

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
    /// Trials of each point.
    pub repeats: u32,
    /// In which order.
    pub order: Order,
    /// What becomes of the data.
    pub data: DataPolicy,
    /// The pause before each trial but the first, in nanoseconds.
    pub pause_ns: u64,
    /// What must hold before each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Condition>,
    /// The order is drawn from this.
    pub seed: u64,
    /// What is sought, where that is how it is walked: its one point is the plan without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek: Option<crate::Seek>,
    /// What each of its runs is labelled with, by key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
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
    /// Point and repeat of every trial, in the order in which they are made: always the same.
    pub fn order(&self) -> Vec<(u32, u32)> {
        let points = || 0..self.points.len() as u32;
        let mut trials = Vec::with_capacity(self.points.len() * self.repeats as usize);
        if self.order == Order::Sequential {
            trials.extend(points().flat_map(|p| (0..self.repeats).map(move |repeat| (p, repeat))));
            return trials;
        }
        for repeat in 0..self.repeats {
            let mut round: Vec<u32> = points().collect();
            match self.order {
                Order::Random => {
                    Dice::new(self.seed, Stream::Order, repeat.into()).shuffle(&mut round);
                }
                _ if repeat % 2 == 1 => round.reverse(),
                _ => {}
            }
            trials.extend(round.into_iter().map(|point| (point, repeat)));
        }
        trials
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

    fn experiment(order: Order, n_points: usize, repeats: u32) -> Experiment {
        let values: Vec<String> = (0..n_points).map(|n| n.to_string()).collect();
        let axes = vec![Axis { name: "clients".to_owned(), values }];
        let point = |values| Point { values, plan: String::new() };
        Experiment {
            id: "x".to_owned(),
            name: "x".to_owned(),
            started_unix_ms: 0,
            points: combinations(&axes).into_iter().map(point).collect(),
            axes,
            repeats,
            order,
            data: DataPolicy::Keep,
            pause_ns: 0,
            until: None,
            seed: 7,
            seek: None,
            labels: Vec::new(),
        }
    }

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
    fn every_order_makes_every_trial_once() {
        for order in Order::ALL {
            let made = experiment(order, 3, 4);
            let mut trials = made.order();
            assert_eq!(trials, made.order());
            trials.sort_unstable();
            let all: Vec<(u32, u32)> = (0..3).flat_map(|p| (0..4).map(move |r| (p, r))).collect();
            assert_eq!(trials, all);
        }
    }

    #[test]
    fn interleaved_rounds_go_forwards_and_backwards() {
        let points = |order| -> Vec<u32> {
            experiment(order, 3, 3).order().into_iter().map(|(point, _)| point).collect()
        };
        assert_eq!(points(Order::Interleaved), [0, 1, 2, 2, 1, 0, 0, 1, 2]);
        assert_eq!(points(Order::Sequential), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }

    /// What a drift of 20 % over the whole experiment adds to the last of two equal points,
    /// against the first, as a share.
    fn bias(order: Order, repeats: u32) -> f64 {
        let trials = experiment(order, 2, repeats).order();
        let drifted = |nth: usize| 1.0 + 0.2 * nth as f64 / (trials.len() - 1) as f64;
        let mean = |point: u32| {
            let own = trials.iter().enumerate().filter(|(_, trial)| trial.0 == point);
            own.map(|(nth, _)| drifted(nth)).sum::<f64>() / f64::from(repeats)
        };
        mean(1) / mean(0) - 1.0
    }

    #[test]
    fn a_drift_meets_interleaved_points_alike() {
        assert!(bias(Order::Interleaved, 4).abs() < 1e-12);
        assert!(bias(Order::Interleaved, 5).abs() < 0.005, "{}", bias(Order::Interleaved, 5));
        assert!(bias(Order::Sequential, 4) > 0.08);
    }

    #[test]
    fn points_are_all_combinations_with_the_last_axis_fastest() {
        let axis = |name: &str, values: &[&str]| Axis {
            name: name.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        let all = combinations(&[axis("clients", &["1", "2"]), axis("calls", &["a", "b", "c"])]);
        let joined: Vec<String> = all.iter().map(|values| values.join("")).collect();
        assert_eq!(joined, ["1a", "1b", "1c", "2a", "2b", "2c"]);
    }
}
