//! Order of an experiment's trials when all its points are known before the first trial: all
//! repeats of all points as planned, or until a stop rule is reached. A trial that fails repeatedly
//! is given up.
//!
//! Not here: the planned order (model), and the stop rules (study).

use std::collections::BTreeMap;

use model::Round;

use crate::error::Error;
use crate::trial_runner::{FAILURES_MOST, TrialRunner, Tried};
use crate::walk::{Step, Walk};

/// The trials of an experiment over all points (combinations of varied parameters) and all repeats,
/// and the position of the current trial.
pub(crate) struct Grid {
    /// Point (combination of varied values) and repeat of each trial, both from 0, in planned
    /// order.
    places: Vec<(u32, u32)>,
    /// Rounds of trials, by the index of the first trial of each. A round is one repeat of all
    /// points, or of one point, after which the stop rule is checked.
    rounds: BTreeMap<usize, Round>,
    /// Index of the current trial in `places`.
    index: usize,
    /// Number of failed attempts at the current trial.
    failures: u32,
    /// Error of the last attempt of any trial, if it prevented the run; empty otherwise.
    last_error: String,
}

impl Grid {
    pub(crate) fn new(rounds: Vec<Round>) -> Grid {
        let mut grid = Grid {
            places: Vec::new(),
            rounds: BTreeMap::new(),
            index: 0,
            failures: 0,
            last_error: String::new(),
        };
        for round in rounds.into_iter().filter(|round| !round.trials.is_empty()) {
            let first = grid.places.len();
            grid.places.extend(&round.trials);
            grid.rounds.insert(first, round);
        }
        grid
    }
}

impl Walk for Grid {
    fn noun(&self) -> &'static str {
        "trial"
    }

    fn next(&mut self, runner: &TrialRunner<'_>) -> Result<Option<Step>, Error> {
        while let Some(place) = self.places.get(self.index).copied() {
            let begun = self.rounds.get(&self.index).filter(|_| self.failures == 0);
            if let Some(round) = begun.filter(|round| runner.is_reached(round.point, round.unit)) {
                self.index += round.trials.len();
                continue;
            }
            if self.failures >= FAILURES_MOST || runner.is_done(place) {
                (self.index, self.failures) = (self.index + 1, 0);
                continue;
            }
            return Ok(Some(Step {
                place,
                nth: self.index as u64 + 1,
                n_trials: self.places.len() as u64,
                values: runner.values(place.0),
                left: runner.time_left(&self.places[self.index..]),
                added: Vec::new(),
            }));
        }
        Ok(None)
    }

    fn learn(
        &mut self,
        _runner: &TrialRunner<'_>,
        _step: &Step,
        tried: &Tried,
    ) -> Result<&'static str, Error> {
        let error = match tried {
            Tried::Refused(why) => why.as_str(),
            _ => "",
        };
        // The same error twice in a row is no accident.
        self.failures = match !error.is_empty() && error == self.last_error {
            true => FAILURES_MOST,
            false => self.failures + 1,
        };
        error.clone_into(&mut self.last_error);
        Ok(match self.failures < FAILURES_MOST {
            true => "it is repeated",
            false => "it is given up",
        })
    }
}
