//! The order of an experiment's trials, and the rounds after which the experiment may end.

use crate::{Experiment, Level, Nesting, Order, Rng, Stream};

/// A group of trials after which an experiment's stop rule is evaluated. It contains one repeat of
/// the highest level (run, restart or rebuild): of all points or, in sequential order, of one
/// point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Index of the point if the trials are in sequential order, from 0; `None` if the round covers
    /// all points.
    pub point: Option<u32>,
    /// Index, from 0, of the highest-level repeat (run, restart or rebuild) that the round
    /// contains.
    pub unit: u32,
    /// Trials of the round in order, as pairs of point and repeat indexes.
    pub trials: Vec<(u32, u32)>,
}

impl Experiment {
    /// Returns all trials in the order in which they run, as pairs of point and repeat indexes. The
    /// order is the same on every call.
    pub fn order(&self) -> Vec<(u32, u32)> {
        self.rounds().into_iter().flat_map(|round| round.trials).collect()
    }

    /// Returns the highest level at which the experiment repeats: rebuilds of the data, restarts of
    /// the server, or runs.
    pub fn level(&self) -> Level {
        match self.nesting {
            Nesting { rebuilds: Some(_), .. } => Level::Rebuild,
            Nesting { restarts: Some(_), .. } => Level::Restart,
            _ => Level::Run,
        }
    }

    /// Returns how many repeats of the highest level (rebuilds, restarts or runs) each point has;
    /// only an upper limit if there is a stop rule.
    pub fn units(&self) -> u32 {
        let Nesting { restarts, rebuilds } = self.nesting;
        rebuilds.or(restarts).unwrap_or(self.repeats)
    }

    /// Returns the index, from 0, of the highest-level repeat (run, restart or rebuild) that
    /// contains run `repeat` of a point.
    pub fn unit_of(&self, repeat: u32) -> u32 {
        repeat / (self.repeats / self.units()).max(1)
    }

    /// Returns the number of runs of a point that follow each other without a restart of the server
    /// or a rebuild of the data.
    pub fn runs_together(&self) -> u32 {
        let Nesting { restarts, rebuilds } = self.nesting;
        match (restarts, rebuilds) {
            (None, None) => 1,
            _ => self.repeats / (restarts.unwrap_or(1) * rebuilds.unwrap_or(1)).max(1),
        }
    }

    /// Returns two indexes for run `repeat` of a point, each from 0: that of its data build, and
    /// that of its server start within this build.
    pub fn build_and_start(&self, repeat: u32) -> (u32, u32) {
        let start = repeat / self.runs_together().max(1);
        let of_build = self.nesting.restarts.unwrap_or(1);
        match self.nesting.rebuilds {
            Some(_) => (start / of_build, start % of_build),
            None => (0, start),
        }
    }

    /// Returns all trials in the order in which they run, divided into rounds. After each round the
    /// stop rule may end the experiment. The result is the same on every call.
    pub fn rounds(&self) -> Vec<Round> {
        let together = self.runs_together().max(1);
        let n_points = self.points.len() as u32;
        let blocks = self.repeats / together;
        let runs_of =
            |point: u32, block: u32| (0..together).map(move |run| (point, block * together + run));
        let mut trials: Vec<(u32, u32)> = Vec::new();
        if self.order == Order::Sequential {
            let all = (0..n_points).flat_map(|point| (0..blocks).map(move |block| (point, block)));
            trials.extend(all.flat_map(|(point, block)| runs_of(point, block)));
        } else {
            for block in 0..blocks {
                let mut points: Vec<u32> = (0..n_points).collect();
                match self.order {
                    Order::Random => {
                        Rng::new(self.seed, Stream::Order, block.into()).shuffle(&mut points);
                    }
                    _ if block % 2 == 1 => points.reverse(),
                    _ => {}
                }
                trials.extend(points.into_iter().flat_map(|point| runs_of(point, block)));
            }
        }
        let key = |&(point, repeat): &(u32, u32)| {
            let point = (self.order == Order::Sequential).then_some(point);
            (point, self.unit_of(repeat))
        };
        let round = |trials: &[(u32, u32)]| {
            let (point, unit) = key(&trials[0]);
            Round { point, unit, trials: trials.to_vec() }
        };
        trials.chunk_by(|a, b| key(a) == key(b)).map(round).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Choice, DataPolicy, Point, combinations};

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
            wait_until: None,
            seed: 7,
            walk: crate::Walk::Grid,
            labels: Vec::new(),
            reference: None,
        }
    }

    #[test]
    fn every_order_makes_every_trial_once() {
        for &order in Order::ALL {
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
        for &order in Order::ALL {
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
        let places: Vec<(Option<u32>, u32)> =
            one_by_one.iter().map(|r| (r.point, r.unit)).collect();
        assert_eq!(
            places,
            [(Some(0), 0), (Some(0), 1), (Some(0), 2), (Some(1), 0), (Some(1), 1), (Some(1), 2)]
        );
    }

    /// Returns by how much two equal points of an experiment seem to differ, as a share, if a drift
    /// makes trials faster by 20 % from the first to the last.
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
}
