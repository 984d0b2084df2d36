//! A plan with axes, and how their points are walked.

use serde::{Deserialize, Serialize};

use crate::{Nesting, StopRule};

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
    /// Point and repeat of every trial, in the order in which they are made: always the same.
    pub fn order(&self) -> Vec<(u32, u32)> {
        self.rounds().into_iter().flat_map(|round| round.trials).collect()
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
    use crate::{Goal, Level};

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
            nesting: Nesting::default(),
            stop: None,
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

    #[test]
    fn nested_trials_of_a_start_follow_each_other_and_every_trial_is_made_once() {
        for order in Order::ALL {
            let mut made = experiment(order, 2, 12);
            made.nesting = Nesting { restarts: Some(3), rebuilds: Some(2) };
            assert_eq!((made.level(), made.units(), made.runs_together()), (Level::Rebuild, 2, 2));
            let mut trials = made.order();
            for of_start in trials.chunks(2) {
                let [(one, first), (other, second)] = of_start else { panic!("they are two") };
                assert_eq!((one, first + 1), (other, *second), "{order:?}");
                assert_eq!(made.build_and_start(*first), made.build_and_start(*second));
            }
            trials.sort_unstable();
            let all: Vec<(u32, u32)> = (0..2).flat_map(|p| (0..12).map(move |r| (p, r))).collect();
            assert_eq!(trials, all);
        }
        let mut made = experiment(Order::Interleaved, 2, 12);
        made.nesting = Nesting { restarts: Some(3), rebuilds: Some(2) };
        let places: Vec<(u32, u32)> = (0..6).map(|k| made.build_and_start(2 * k)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        made.nesting = Nesting { restarts: Some(4), rebuilds: None };
        assert_eq!((made.level(), made.units(), made.unit_of(11)), (Level::Restart, 4, 3));
    }

    #[test]
    fn a_round_is_a_repeat_of_the_highest_level() {
        let mut made = experiment(Order::Interleaved, 3, 8);
        let rounds = made.rounds();
        assert_eq!(rounds.len(), 8);
        assert!(rounds.iter().all(|round| round.point.is_none() && round.trials.len() == 3));
        made.nesting = Nesting { restarts: Some(4), rebuilds: None };
        let units: Vec<u32> = made.rounds().iter().map(|round| round.unit).collect();
        assert_eq!(units, [0, 1, 2, 3]);
        let one_by_one = experiment(Order::Sequential, 2, 3).rounds();
        let of: Vec<(Option<u32>, u32)> = one_by_one.iter().map(|r| (r.point, r.unit)).collect();
        assert_eq!(
            of,
            [(Some(0), 0), (Some(0), 1), (Some(0), 2), (Some(1), 0), (Some(1), 1), (Some(1), 2)]
        );
    }

    #[test]
    fn a_rule_is_shown_as_it_is_written() {
        let rule = |goal, figure: Option<&str>| {
            StopRule { goal, figure: figure.map(str::to_owned), min: 4 }.to_string()
        };
        assert_eq!(rule(Goal::Precise { share: 7.0 / 100.0 }, None), "until=7%,min=4");
        let decided = Goal::Decided { min_effect: 0.005 };
        let words = "until=decided,min_effect=0.5%,figure=p99_ms,min=4";
        assert_eq!(rule(decided, Some("p99_ms")), words);
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
        let all = combinations(&[axis("clients", &["1", "2"]), axis("mode", &["a", "b", "c"])]);
        let joined: Vec<String> = all.iter().map(|values| values.join("")).collect();
        assert_eq!(joined, ["1a", "1b", "1c", "2a", "2b", "2c"]);
    }
}
