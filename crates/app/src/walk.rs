//! A walk: it chooses an experiment's next trial from those so far, and may add points. One loop
//! runs the trials of all walks.
//!
//! Not here: the walks themselves (grid, seek), and running one trial (trial_runner).

use std::sync::Arc;

use engine::Stop;
use model::{Plan, Point};

use crate::error::Error;
use crate::time_left::TimeLeft;
use crate::trial_runner::{ExperimentWatcher, TrialRunner, Tried};

/// A walk's next trial.
pub(crate) struct Step {
    /// Point and repeat, from 0.
    pub(crate) place: (u32, u32),
    /// Number of the trial, from 1.
    pub(crate) nth: u64,
    /// Number of all trials, as far as it is known.
    pub(crate) of: u64,
    /// The point's values, such as `clients=8`; empty if nothing is varied.
    pub(crate) values: String,
    /// Time that this trial and all after it take.
    pub(crate) left: Option<TimeLeft>,
    /// The point with its plan, if the experiment does not have it yet.
    pub(crate) added: Option<(Point, Plan)>,
}

/// Chooses the trials of an experiment.
pub(crate) trait Walk {
    /// Word for its trials: `trial` or `probe`.
    fn noun(&self) -> &'static str;

    /// Chooses the next trial; `None` at the end.
    fn next(&mut self, runner: &TrialRunner<'_>) -> Result<Option<Step>, Error>;

    /// Takes notice of a trial that has ended. Returns what follows if it does not count, such as
    /// `it is repeated`.
    fn learn(&mut self, runner: &TrialRunner<'_>, step: &Step) -> Result<&'static str, Error>;
}

impl TrialRunner<'_> {
    /// Runs the trials that a walk chooses; returns whether the user interrupted them.
    pub(crate) fn walk(
        &mut self,
        walk: &mut dyn Walk,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<bool, Error> {
        let mut is_first = true;
        while let Some(mut step) = walk.next(self)? {
            if stop.is_asked() || (!is_first && !self.pause(stop)) {
                return Ok(true);
            }
            is_first = false;
            self.is_alone()?;
            let place = step.place;
            if let Some((point, plan)) = step.added.take() {
                self.put_point(place.0, &point, &plan);
            }
            watcher.trial(step.nth, step.of, &step.values, step.left);
            let tried = self.try_once(place, stop, watcher)?;
            if matches!(tried, Tried::Interrupted) {
                return Ok(true);
            }
            let then = walk.learn(self, &step)?;
            let at = match step.values.as_str() {
                "" => String::new(),
                values => format!(" at {values}"),
            };
            let noun = walk.noun();
            match tried {
                Tried::Counts | Tried::Interrupted => {}
                Tried::Settled(why) => watcher.note(&format!(
                    "a {noun}{at} does not count, and is not repeated because it would fail \
                     again: {why}"
                )),
                Tried::Not(why) => {
                    watcher.note(&format!("a {noun}{at} does not count, {then}: {why}"));
                }
            }
            if !self.is_done(place) && !self.is_back(place, stop, watcher) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
