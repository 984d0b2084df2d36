//! The trait for the order of an experiment's trials, and the loop that runs them. A [`Walk`]
//! chooses the next trial from the results so far, and may add points (combinations of varied
//! values).
//!
//! Not here: the walks themselves (grid, seek, tune), and running one trial (trial_runner).

use std::sync::Arc;

use engine::Stop;
use model::{Plan, Point};

use crate::error::Error;
use crate::time_left::TimeLeft;
use crate::trial_runner::{ExperimentWatcher, TrialRunner, Tried};

/// The trial that [`Walk::next`] has chosen to be run next.
pub(crate) struct Step {
    /// Point (combination of varied values) and repeat of the trial, both from 0.
    pub(crate) place: (u32, u32),
    /// Number of the trial in the experiment, from 1.
    pub(crate) nth: u64,
    /// Number of all trials, as far as it is known now.
    pub(crate) n_trials: u64,
    /// Values of the point, such as `clients=8`; empty if nothing is varied.
    pub(crate) values: String,
    /// Estimated time of this trial and all later ones; `None` if unknown.
    pub(crate) left: Option<TimeLeft>,
    /// Points that must be added to the experiment before this trial, each with its index and its
    /// plan; empty if the experiment has them already.
    pub(crate) added: Vec<(u32, Point, Plan)>,
}

/// Order in which an experiment chooses its trials: a grid of all points and repeats, a search or a
/// tuner.
pub(crate) trait Walk {
    /// Returns the word for a trial in messages: `trial` or `probe`.
    fn noun(&self) -> &'static str;

    /// Returns true if a server that rejects the settings of a trial is the trial's result, and not
    /// an error of the user's that ends the experiment.
    fn takes_rejections(&self) -> bool {
        false
    }

    /// Chooses the next trial; `None` when the experiment is complete.
    fn next(&mut self, runner: &TrialRunner<'_>) -> Result<Option<Step>, Error>;

    /// Called after each attempt at a trial, with its result `tried`. Returns what will follow if
    /// the attempt does not count, for a message, such as `it is repeated`.
    fn learn(
        &mut self,
        runner: &TrialRunner<'_>,
        step: &Step,
        tried: &Tried,
    ) -> Result<&'static str, Error>;
}

impl TrialRunner<'_> {
    /// Runs the trials that `walk` chooses, one after the other, until there are none or the user
    /// asks to stop. Returns true if the user did.
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
            for (index, point, plan) in step.added.drain(..) {
                self.put_point(index, &point, &plan);
            }
            watcher.trial(step.nth, step.n_trials, &step.values, step.left);
            let tried = match self.try_once(place, stop, watcher) {
                Err(Error::Usage(why)) if walk.takes_rejections() => {
                    self.close();
                    Tried::Settled(why)
                }
                tried => tried?,
            };
            if matches!(tried, Tried::Interrupted) {
                return Ok(true);
            }
            let then = walk.learn(self, &step, &tried)?;
            let at = match step.values.as_str() {
                "" => String::new(),
                values => format!(" at {values}"),
            };
            let noun = walk.noun();
            match tried {
                Tried::Counts(_) | Tried::Interrupted => {}
                Tried::Settled(why) => watcher.note(&format!(
                    "a {noun}{at} does not count, and is not repeated because it would fail \
                     again: {why}"
                )),
                Tried::Not(why) | Tried::Refused(why) => {
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
