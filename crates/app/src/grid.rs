//! The walk of an experiment whose points are known before its first trial: all repeats of all
//! points, in the planned order, until a stop rule is reached. A trial that fails repeatedly is
//! given up.
//!
//! Not here: the order (model), and the stop rules (analysis).

use model::Round;

use crate::error::Error;
use crate::trial_runner::{FAILURES_MOST, TrialRunner};
use crate::walk::{Step, Walk};

/// The trials of a grid, and the position in them.
pub(crate) struct Grid {
    rounds: Vec<Round>,
    /// Point and repeat of all trials, in order.
    places: Vec<(u32, u32)>,
    /// Round, trial in it, and trials before the round.
    round: usize,
    within: usize,
    n_before: usize,
    /// Failures of the current trial.
    failures: u32,
}

impl Grid {
    pub(crate) fn new(rounds: Vec<Round>) -> Grid {
        let places = rounds.iter().flat_map(|round| round.trials.clone()).collect();
        Grid { rounds, places, round: 0, within: 0, n_before: 0, failures: 0 }
    }
}

impl Walk for Grid {
    fn noun(&self) -> &'static str {
        "trial"
    }

    fn next(&mut self, runner: &TrialRunner<'_>) -> Result<Option<Step>, Error> {
        while let Some(round) = self.rounds.get(self.round) {
            let is_new = self.within == 0 && self.failures == 0;
            let Some(place) = round.trials.get(self.within).copied() else {
                self.n_before += round.trials.len();
                (self.round, self.within) = (self.round + 1, 0);
                continue;
            };
            if is_new && runner.is_reached(round.point, round.unit) {
                self.within = round.trials.len();
                continue;
            }
            if self.failures >= FAILURES_MOST || runner.is_done(place) {
                (self.within, self.failures) = (self.within + 1, 0);
                continue;
            }
            let index = self.n_before + self.within;
            return Ok(Some(Step {
                place,
                nth: index as u64 + 1,
                of: self.places.len() as u64,
                values: runner.values(place.0),
                left: runner.time_left(&self.places[index..]),
                added: None,
            }));
        }
        Ok(None)
    }

    fn learn(&mut self, _runner: &TrialRunner<'_>, _step: &Step) -> Result<&'static str, Error> {
        self.failures += 1;
        Ok(match self.failures < FAILURES_MOST {
            true => "it is repeated",
            false => "it is given up",
        })
    }
}
