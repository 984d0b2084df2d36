//! Tunes parameters: runs trials of configurations that the tuner chooses, and compares the best
//! with the defaults.
//!
//! Every trial is a run in the store, bound to the experiment, so that a tuner can be resumed after
//! a crash. A server that does not start, or a run that is not valid, is the result of its
//! configuration. Not here: the choice of configurations, and what the trials show (study).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use analysis::figures::{Required, value_as_written};
use analysis::report::Report;
use engine::Stop;
use model::{
    Axis, Choice, Experiment, NS_PER_S, Order, Plan, Point, Status, Target, Tune, format_duration,
};
use plan::TunePlan;
use store::Store;
use study::TuneReport;
use study::environment::Environment;
use study::trials::{TrialReport, counts};
use study::tune::{
    Course, Outcome, PlannedTrial, SCHEMA, TunedConfiguration, TunedTrial, Tuner, Verdict,
    conclude, effects, score, why_failed,
};

use crate::error::Error;
use crate::open::{can_have_tables, is_apart_from};
use crate::trial_runner::{ExperimentOptions, ExperimentWatcher, TrialRunner, Tried};
use crate::trials::{Use, WalkResult, begun, first_draft, in_store, status, trial_reports};
use crate::walk::{Step, Walk};

/// Name of the configuration that leaves all parameters as they are.
const DEFAULTS: &str = "default";
/// Attempts at a trial after which its configuration has failed.
const ATTEMPTS_MOST: u32 = 2;
/// Number of configurations after which a tuner ends if all of them have failed.
const FAILED_MOST: usize = 6;

/// A tuner with its plan, and the target with its password.
pub struct Tuning {
    experiment: Experiment,
    tune_plan: TunePlan,
    target: Target,
}

impl Tuning {
    /// Creates a tuner with a new id. `labels` are set on all its runs.
    pub fn new(
        tune_plan: TunePlan,
        labels: Vec<(String, String)>,
        default_target: &dyn Fn(&str) -> Result<Target, String>,
    ) -> Result<Tuning, Error> {
        let plan = tune_plan.plan(None, default_target)?;
        can_have_tables(&plan)?;
        let defaults = (tune_plan.axes.clone(), defaults_of(&tune_plan));
        let walk = model::Walk::Tune(tune_plan.tune.clone());
        let experiment = Experiment {
            order: Order::Random,
            data: tune_plan.data,
            pause_ns: tune_plan.pause_ns,
            wait_until: tune_plan.wait_until.clone(),
            ..begun(&plan, defaults, walk, labels)
        };
        Ok(Tuning { experiment, tune_plan, target: plan.target })
    }

    /// Loads the tuner of a stored experiment. Fails if the experiment is no tuner.
    pub fn stored(store: &Path, experiment: Experiment, use_of: Use<'_>) -> Result<Tuning, Error> {
        let Some(tune) = experiment.walk.tune().cloned() else {
            return Err(Error::Failed(format!("{} is not a tuner", experiment.id)));
        };
        let draft = first_draft(store, &experiment, use_of)?;
        let tune_plan = TunePlan::stored(draft, tune, experiment.axes.clone());
        let no_default = |_: &str| Err("the stored plan has no target".to_owned());
        let target = tune_plan.plan(None, &no_default)?.target;
        Ok(Tuning { experiment, tune_plan, target })
    }

    /// Returns the target of the tuner, to which the caller may add a password.
    pub fn target(&mut self) -> &mut Target {
        &mut self.target
    }

    /// Returns the parameters with all their values.
    pub fn axes(&self) -> &[Axis] {
        &self.tune_plan.axes
    }

    /// Returns the tuner's plan with the defaults.
    pub fn default_plan(&self) -> Result<Plan, Error> {
        self.plan(None)
    }

    /// Returns the plan of a configuration, with the password of the target.
    fn plan(&self, levels: Option<&[u32]>) -> Result<Plan, Error> {
        let target = |_: &str| Ok(self.target.clone());
        let mut plan = self.tune_plan.plan(levels, &target)?;
        plan.target.password.clone_from(&self.target.password);
        Ok(plan)
    }

    fn tuner(&self) -> Tuner {
        self.tune_plan.tuner(self.experiment.seed)
    }

    fn point(&self, levels: Option<&[u32]>) -> Point {
        let values = match levels {
            Some(levels) => self.values(levels),
            None => defaults_of(&self.tune_plan),
        };
        Point { values, plan: String::new() }
    }

    fn values(&self, levels: &[u32]) -> Vec<String> {
        let axes = self.tune_plan.axes.iter().zip(levels);
        axes.map(|(axis, level)| axis.values[*level as usize].clone()).collect()
    }

    /// Runs the trials that the tuner still lacks. A tuner that `is_new` is stored first, and
    /// removed from the store if it fails before its first run.
    pub fn run(
        self,
        is_new: bool,
        options: &ExperimentOptions,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<WalkResult<TuneReport>, Error> {
        is_apart_from(Some(&options.store), &self.target)?;
        let experiment = self.experiment.clone();
        in_store(&options.store, &experiment, is_new, |store| {
            self.go_on(store, options, stop, watcher)
        })
    }

    fn go_on(
        self,
        store: &Store,
        options: &ExperimentOptions,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<WalkResult<TuneReport>, Error> {
        let highest = self.tune_plan.axes.iter().map(|axis| axis.values.len() as u32 - 1);
        let highest: Vec<u32> = highest.collect();
        // All trials get one placement: that of the defaults and the highest values.
        let ends = vec![self.plan(None)?, self.plan(Some(&highest))?];
        let mut runner = TrialRunner::new(options, self.experiment.clone(), ends)?;
        let mut configurations = Configurations::new(&self, store)?;
        let walked = runner.place(stop, watcher).and_then(|()| {
            configurations.placement = runner.plans[0].placement;
            runner.plans.truncate(1);
            runner.walk(&mut configurations, stop, watcher)
        });
        runner.end(&walked, stop, watcher);
        let is_interrupted = walked?;
        let report = report(store, &self.experiment)?;
        let is_good = !is_interrupted && report.verdict != Verdict::Unfinished;
        Ok(WalkResult { report, is_good, is_interrupted })
    }
}

fn defaults_of(tune_plan: &TunePlan) -> Vec<String> {
    vec![DEFAULTS.to_owned(); tune_plan.axes.len()]
}

/// The trials of a tuner, one after the other, each chosen from the outcomes of the earlier ones.
struct Configurations<'t> {
    tuning: &'t Tuning,
    tuner: Tuner,
    placement: model::PlacementChoice,
    valid: Outcomes,
    /// Reasons why trials failed, by configuration and repeat.
    failed: BTreeMap<(u32, u32), String>,
    /// Number of failed attempts at the current trial.
    attempts: u32,
}

impl<'t> Configurations<'t> {
    fn new(tuning: &'t Tuning, store: &Store) -> Result<Configurations<'t>, Error> {
        let trials = trial_reports(store, &tuning.experiment)?;
        Ok(Configurations {
            tuning,
            tuner: tuning.tuner(),
            valid: outcomes_of(&tuning.tune_plan.tune, &trials),
            placement: model::PlacementChoice::Auto,
            failed: BTreeMap::new(),
            attempts: 0,
        })
    }

    fn course(&self) -> Course {
        replay(&self.tuner, &self.valid, &|planned| self.failed.contains_key(&place(planned)))
    }
}

impl Walk for Configurations<'_> {
    fn noun(&self) -> &'static str {
        "trial"
    }

    fn takes_rejections(&self) -> bool {
        true
    }

    fn next(&mut self, runner: &TrialRunner<'_>) -> Result<Option<Step>, Error> {
        let course = self.course();
        let Some(next) = course.next() else { return Ok(None) };
        let n_known = runner.experiment.points.len().min(runner.plans.len());
        let mut added = Vec::new();
        for (index, levels) in course.configurations.iter().enumerate().skip(n_known) {
            let levels = levels.as_deref();
            let mut plan = self.tuning.plan(levels)?;
            plan.placement = self.placement;
            added.push((index as u32, self.tuning.point(levels), plan));
        }
        let nth = course.made().count() as u64 + 1;
        let levels = course.configurations[next.configuration as usize].as_deref();
        let values = match levels {
            Some(levels) => {
                let axes = self.tuning.tune_plan.axes.iter().zip(self.tuning.values(levels));
                let pairs = axes.map(|(axis, value)| format!("{}={value}", axis.name));
                pairs.collect::<Vec<_>>().join(", ")
            }
            None => "the defaults".to_owned(),
        };
        let n_trials = u64::from(self.tuner.n_trials).max(course.planned.len() as u64);
        Ok(Some(Step {
            place: place(next),
            nth,
            n_trials,
            values: format!("{values} ({})", next.stage.name()),
            left: runner.time_left_at((nth..=n_trials).map(|_| 0)),
            added,
        }))
    }

    fn learn(
        &mut self,
        _runner: &TrialRunner<'_>,
        step: &Step,
        tried: &Tried,
    ) -> Result<&'static str, Error> {
        let why = match tried {
            Tried::Not(why) | Tried::Refused(why) | Tried::Settled(why) => why,
            Tried::Counts(report) => {
                self.valid.insert(step.place, outcome_of(&self.tuning.tune_plan.tune, report));
                self.attempts = 0;
                return Ok("");
            }
            Tried::Interrupted => return Ok(""),
        };
        self.attempts += 1;
        if self.attempts < ATTEMPTS_MOST && !matches!(tried, Tried::Settled(_)) {
            return Ok("it is repeated");
        }
        self.attempts = 0;
        self.failed.insert(step.place, why.clone());
        if step.place.0 == study::tune::DEFAULTS {
            return Err(Error::Failed(format!(
                "the trial with the defaults fails, so nothing can be compared with them: {why}"
            )));
        }
        let course = self.course();
        let has_worked = |(planned, outcome): (PlannedTrial, Outcome)| {
            planned.configuration != study::tune::DEFAULTS && outcome != Outcome::Failed
        };
        if self.failed.len() >= FAILED_MOST && !course.made().any(has_worked) {
            return Err(Error::Failed(format!(
                "the first {FAILED_MOST} configurations failed, the last one thus: {why}"
            )));
        }
        Ok("its configuration has failed")
    }
}

fn place(planned: PlannedTrial) -> (u32, u32) {
    (planned.configuration, planned.repeat)
}

/// Outcomes of the valid runs of a tuner, by configuration and repeat.
type Outcomes = BTreeMap<(u32, u32), Outcome>;

fn outcomes_of(tune: &Tune, trials: &[TrialReport]) -> Outcomes {
    let valid = trials.iter().filter(|trial| counts(&trial.report));
    valid.map(|trial| ((trial.point, trial.repeat), outcome_of(tune, &trial.report))).collect()
}

/// Returns the outcome of a valid run.
fn outcome_of(tune: &Tune, report: &Report) -> Outcome {
    let score = value_as_written(report, &tune.figure).and_then(|value| score(tune, value));
    let keeps_limits = keeps_limits(tune, report);
    score.map_or(Outcome::Failed, |score| Outcome::Value { score, keeps_limits })
}

/// Whether a run keeps all limits of a tuner. A limit without a figure is broken.
fn keeps_limits(tune: &Tune, report: &Report) -> bool {
    let keeps = |limit: &String| {
        let limit = limit.parse::<Required>().ok()?;
        Some(!limit.of_run(report).ok()?.holds.is_broken())
    };
    tune.limits.iter().all(|limit| keeps(limit).unwrap_or(false))
}

/// Returns the course of a tuner with the outcomes of its valid runs. A trial without one has
/// failed if `has_failed` says so, or if trials follow it, since a tuner makes one after the other.
fn replay(tuner: &Tuner, valid: &Outcomes, has_failed: &dyn Fn(PlannedTrial) -> bool) -> Course {
    let mut unseen: BTreeSet<(u32, u32)> = valid.keys().copied().collect();
    let mut outcomes = Vec::new();
    loop {
        let course = tuner.course(&outcomes);
        let n_before = outcomes.len();
        for planned in &course.planned[n_before.min(course.planned.len())..] {
            let outcome = match valid.get(&place(*planned)) {
                Some(outcome) => *outcome,
                None if has_failed(*planned) || !unseen.is_empty() => Outcome::Failed,
                None => break,
            };
            unseen.remove(&place(*planned));
            outcomes.push(outcome);
        }
        if outcomes.len() == n_before {
            return course;
        }
    }
}

/// Returns the report on a stored tuner.
pub fn report(store: &Store, experiment: &Experiment) -> Result<TuneReport, Error> {
    let tuning = Tuning::stored(store.path(), experiment.clone(), Use::ToReport)?;
    let tune = &tuning.tune_plan.tune;
    let trials = trial_reports(store, experiment)?;
    let status = status(store, experiment)?;
    let has_ended = status == Some(Status::Completed);
    let course = replay(&tuning.tuner(), &outcomes_of(tune, &trials), &|_| has_ended);
    let conclusion = conclude(&course).in_figure(tune);
    let all: Vec<&Report> = trials.iter().map(|trial| &trial.report).collect();
    let tuned: Vec<TunedTrial> =
        course.made().map(|(planned, _)| tuned_trial(tune, planned, &trials)).collect();
    Ok(TuneReport {
        schema: SCHEMA.to_owned(),
        id: experiment.id.clone(),
        name: experiment.name.clone(),
        started_unix_ms: experiment.started_unix_ms,
        status,
        tune: tune.clone(),
        axes: experiment.axes.clone(),
        verdict: conclusion.verdict,
        best: course.best,
        gain: conclusion.gain,
        pairs: conclusion.pairs,
        effects: effects(&course, &experiment.axes, tune),
        configurations: configurations(&tuning, &course, &tuned),
        trials: tuned,
        scene: (!all.is_empty()).then(|| Environment::from_reports(&all)),
    })
}

fn tuned_trial(tune: &Tune, planned: PlannedTrial, trials: &[TrialReport]) -> TunedTrial {
    let here = || trials.iter().filter(|trial| (trial.point, trial.repeat) == place(planned));
    let valid = here().rfind(|trial| counts(&trial.report));
    let shown = valid.or_else(|| here().next_back());
    TunedTrial {
        configuration: planned.configuration,
        stage: planned.stage,
        run: shown.map(|trial| trial.report.run_id.clone()),
        value: valid.and_then(|trial| value_as_written(&trial.report, &tune.figure)),
        keeps_limits: valid.is_some_and(|trial| keeps_limits(tune, &trial.report)),
        why: match shown {
            Some(trial) => why_failed(&trial.report),
            None => {
                let why = "no run began: the server rejected the values, or did not start";
                Some(why.to_owned())
            }
        },
    }
}

fn configurations(
    tuning: &Tuning,
    course: &Course,
    trials: &[TunedTrial],
) -> Vec<TunedConfiguration> {
    let configuration = |(index, levels): (usize, &Option<Vec<u32>>)| {
        let here = || trials.iter().filter(|trial| trial.configuration as usize == index);
        let explored = here().filter(|trial| trial.stage != study::tune::Stage::Confirm);
        let logs: Vec<f64> = explored.filter_map(|trial| Some(trial.value?.ln())).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        TunedConfiguration {
            values: levels.as_ref().map(|levels| tuning.values(levels)).unwrap_or_default(),
            n_trials: here().count() as u32,
            n_failed: here().filter(|trial| trial.value.is_none()).count() as u32,
            mean: (!logs.is_empty()).then(|| mean.exp()),
        }
    };
    course.configurations.iter().enumerate().map(configuration).collect()
}

/// Returns a text for the user on what a tuner will do and how long its load is.
pub fn forecast(tuning: &Tuning) -> Result<String, Error> {
    let Tune { figure, goal, limits, n_trials, n_pairs, strategy } = &tuning.tune_plan.tune;
    let phases = tuning.default_plan()?.phases;
    let load_ns = (phases.ramp_up_ns + phases.measure_ns) * u64::from(*n_trials);
    let with = match limits.is_empty() {
        true => String::new(),
        false => format!(" with {}", limits.join(", ")),
    };
    let n_parameters = tuning.tune_plan.axes.len();
    let time = match load_ns >= NS_PER_S {
        true => format!(", about {} of load", format_duration(load_ns)),
        false => String::new(),
    };
    Ok(format!(
        "tuning {}: {} {figure}{with} in {n_trials} trials ({}), of which {n_pairs} pairs confirm \
         the best{time}",
        model::numbers::count(n_parameters as u64, "parameter"),
        goal.name(),
        strategy.name(),
    ))
}
