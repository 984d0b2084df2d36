//! Runs the trials of an experiment one after the other. Each is an ordinary run; its server,
//! settings and data are prepared first, as the experiment demands.
//!
//! Not here: the choice of the next trial (walk).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use analysis::report::Report;
use engine::Stop;
use model::{
    DataPolicy, Event, EventLoopChoice, Experiment, Fact, FactValue, Group, NS_PER_MS, Placement,
    PlacementChoice, Plan, Point, Round, ScriptHost, Status, Target,
};
use monitor::wall_clock;
use plan::managed::{is_managed, settings_of};
use store::Store;
use study::repeats::{Measured, REBUILD_S, RESTART_S, TRIAL, is_reached};
use study::trials::{TrialReport, counts, is_settled, why_not};

use crate::admin_session::AdminSession;
use crate::admission;
use crate::build::{BuildOptions, drop_data};
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::{
    Data, OpenTarget, open, open_target, resolve_groups, resolve_workload_interruptible,
};
use crate::run::{Hosts, RunOptions, prepare, run_at, workers};
use crate::settings::{Ended, ServerRestart, SettingsGuard};
use crate::time_left::{Pace, TimeLeft};
use crate::trials::trial_reports;
use crate::wait_condition::wait_until;
use crate::watcher::Watcher;

/// Number of consecutive failures of a trial after which the experiment gives it up.
pub(crate) const FAILURES_MOST: u32 = 3;
/// Interval of checks for a stop during a pause between trials, in milliseconds.
const LOOK_EVERY_MS: u64 = 50;

/// Time that a crashed server has to come back by itself.
const COMES_BACK: Duration = Duration::from_secs(60);

/// Options of an experiment that are not in its plans.
#[derive(Clone)]
pub struct ExperimentOptions {
    /// Path of the store, which every experiment needs.
    pub store: std::path::PathBuf,
    /// True to check the data before each load.
    pub check_before: bool,
    /// True to check the data after each load.
    pub check_after: bool,
    /// True to build data that are missing.
    pub build: bool,
    /// Options for building missing data.
    pub load: BuildOptions,
    /// Starts programs and prints lines for scripts; `None` if scripts may do neither.
    pub script_host: Option<Arc<dyn ScriptHost>>,
    /// Finds the other hosts on which clients run, if the plan names agents.
    pub hosts: Option<Arc<dyn Hosts>>,
    /// How servers that dbdyno did not start are restarted for settings that need it; `None` if
    /// they may not be.
    pub restart: Option<ServerRestart>,
}

/// Observer that a caller passes to an experiment, to show its progress.
pub trait ExperimentWatcher: Watcher {
    /// Called when a trial begins: its number from 1, the number of all trials as far as it is
    /// known, the values of the varied parameters, and the estimated time of this and all later
    /// trials (`None` if unknown).
    fn trial(&mut self, nth: u64, n_trials: u64, values: &str, left: Option<TimeLeft>);
}

/// Result of one attempt at a trial.
pub(crate) enum Tried {
    /// The trial has a valid run, so that it counts, with this report.
    Counts(Box<Report>),
    /// The run is not valid, for this reason; another attempt may succeed.
    Not(String),
    /// An error prevented the run. If the next attempt meets the same one, so would all others.
    Refused(String),
    /// The run is not valid, for a reason that would make another attempt fail too.
    Settled(String),
    /// The user interrupted the attempt.
    Interrupted,
}

/// Runs trials of an experiment one after the other. Keeps what the next trial can use of the last
/// one, such as the open target.
pub(crate) struct TrialRunner<'o> {
    pub(crate) store: Store,
    /// Lock that keeps other processes from running trials of the same experiment.
    experiment_lock: store::ExperimentLock,
    pub(crate) experiment: Experiment,
    /// Plan of each point (combination of varied values), by index of the point.
    pub(crate) plans: Vec<Plan>,
    options: &'o ExperimentOptions,
    /// Target of the last trial as the plan names it and as it is open; `None` before the first
    /// trial and after a failure.
    open_target: Option<(Target, OpenTarget)>,
    /// Point (combination of varied values) and repeat of the trial that last used the running
    /// managed server; `None` if none has.
    used_by: Option<(u32, u32)>,
    pace: Pace,
    /// Point (combination of varied values) and repeat of each trial that needs no further attempt:
    /// it has a valid run, or would fail again.
    done: BTreeSet<(u32, u32)>,
    /// Figures of the valid trials, from which the stop rule decides whether more repeats are
    /// needed.
    measured: Vec<Measured>,
    /// Server start and build to which the last trial belongs, so that repeats which need a new one
    /// get it.
    fresh: Fresh,
    /// Settings of servers that this experiment has changed and must restore.
    guard: SettingsGuard,
    /// Key of the data that the last trial used, if they are kept and passed all checks after it,
    /// else `None`; the next trial on the same data skips the checks before its load.
    held: Option<DataOf>,
    /// What `auto` is for the event loops of all trials.
    event_loop: EventLoopChoice,
}

/// Server start and build to which the last trial belongs. Repeats may demand a restarted server or
/// data that are built again.
#[derive(Default)]
struct Fresh {
    /// Point (combination of varied values) of the last trial, with the number of the build and the
    /// number of the server start that its repeat belongs to; `None` before the first trial.
    start: Option<(u32, (u32, u32))>,
    /// Number of the build that the current repeats use; `None` before the first one.
    build: Option<u32>,
    built: Vec<DataOf>,
}

/// Key that identifies the data of a plan: its target, and the workload with parameters of each
/// group.
type DataOf = (Target, Vec<(String, Vec<(String, String)>)>);

fn data_of(plan: &Plan) -> DataOf {
    let group = |group: &model::Group| (group.workload.clone(), group.parameters.clone());
    (plan.target.clone(), plan.groups.iter().map(group).collect())
}

/// Returns a key that is equal for plans that share built data. Settings of a managed server, and
/// parameters that do not shape the data, are left out.
fn built_key(plan: &Plan) -> DataOf {
    let mut target = plan.target.clone();
    if is_managed(&target) {
        target.options.clear();
    }
    let group = |group: &model::Group| {
        let entry = workloads::by_name(&group.workload).ok();
        let rows = || entry.iter().flat_map(|entry| entry.parameters);
        let shapes = |name: &str| rows().any(|row| row.shapes_data && row.name == name);
        let all = group.parameters.iter().filter(|(name, _)| shapes(name));
        (entry.map_or("", |entry| entry.data).to_owned(), all.cloned().collect())
    };
    (target, plan.groups.iter().map(group).collect())
}

impl<'o> TrialRunner<'o> {
    pub(crate) fn new(
        options: &'o ExperimentOptions,
        experiment: Experiment,
        plans: Vec<Plan>,
    ) -> Result<TrialRunner<'o>, Error> {
        let store = Store::open(&options.store)?;
        // Taken before the trials are read, since a process that held the lock may have run more
        // trials until then.
        let experiment_lock = store.lock_experiment(&experiment)?;
        let trials = trial_reports(&store, &experiment)?;
        let is_made = |trial: &&TrialReport| counts(&trial.report) || is_settled(&trial.report);
        let done = trials.iter().filter(is_made).map(|trial| (trial.point, trial.repeat)).collect();
        let measured = Measured::of_all(&experiment, &trials);
        let purpose = format!("experiment {}", experiment.id);
        let guard = SettingsGuard::new(&options.store, purpose, options.restart.clone());
        Ok(TrialRunner {
            store,
            experiment_lock,
            experiment,
            plans,
            options,
            open_target: None,
            used_by: None,
            pace: Pace::default(),
            done,
            measured,
            fresh: Fresh::default(),
            guard,
            held: None,
            event_loop: EventLoopChoice::Auto,
        })
    }

    /// Fails if another process has taken over the experiment's lock, because this process was
    /// paused and looked dead.
    pub(crate) fn is_alone(&self) -> Result<(), Error> {
        match self.store.has(&self.experiment_lock)? {
            true => Ok(()),
            false => Err(Error::Failed(format!(
                "experiment {} was taken over by another process while this one was paused: let \
                 that one continue",
                self.experiment.id
            ))),
        }
    }

    /// Returns false if each trial of the experiment has a valid run. Always true for a search,
    /// whose trials are not known in advance.
    pub(crate) fn has_trials_left(&self) -> bool {
        has_left(&self.experiment.rounds(), &self.done, |_| true)
    }

    /// Applies the server settings of each point (combination of varied values) once to servers
    /// that dbdyno did not start, so that rejected ones are reported before any run. Also fails if
    /// the server turns two varied values of a setting into the same value.
    pub(crate) fn rehearse(
        &mut self,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<(), Error> {
        self.rehearse_managed(stop, watcher)?;
        let mut seen: Vec<(Plan, Vec<Fact>)> = Vec::new();
        let plans = self.plans.iter().filter(|plan| !plan.settings.is_empty());
        for plan in plans.cloned().collect::<Vec<Plan>>() {
            let server = drivers::server_of(&plan.target);
            let of_it =
                || seen.iter().filter(|(other, _)| drivers::server_of(&other.target) == server);
            if of_it().any(|(other, _)| other.settings == plan.settings) {
                continue;
            }
            let create = self.options.build;
            let open_target = open_target(&plan.target, plan.seed, create, stop, &mut |text| {
                watcher.doing(text);
            })?;
            let set = self.guard.put_interruptible(&open_target.database, &plan, stop)?;
            set.differs.iter().for_each(|note| watcher.note(note));
            if let Some((other, _)) = of_it().find(|(_, facts)| *facts == set.facts) {
                let (one, two) = (pairs_of(&other.settings), pairs_of(&plan.settings));
                return Err(Error::Usage(format!(
                    "{one} and {two} are the same to {}: vary over values that it distinguishes",
                    plan.target
                )));
            }
            seen.push((plan, set.facts));
        }
        Ok(())
    }

    /// Starts the managed server of each point (combination of varied values) once if the points
    /// differ in server settings, so that rejected settings are reported before the first trial.
    fn rehearse_managed(
        &mut self,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<(), Error> {
        let mut distinct: Vec<Plan> = Vec::new();
        for plan in self.plans.iter().filter(|plan| is_managed(&plan.target)) {
            let settings = settings_of(&plan.target);
            if !distinct.iter().any(|other| settings_of(&other.target) == settings) {
                distinct.push(plan.clone());
            }
        }
        if distinct.len() < 2 {
            return Ok(());
        }
        watcher.note("trying each server once before the first trial");
        // In reverse order, so that the server ends up as the first trial needs it.
        for plan in distinct.iter().rev() {
            self.open_target_for(plan, stop, watcher)?;
        }
        Ok(())
    }

    /// Ends the experiment: restores changed server settings, and releases its lock with a status
    /// that follows from `walked` (whether the user interrupted it, or an error).
    pub(crate) fn end(
        mut self,
        walked: &Result<bool, Error>,
        stop: &Stop,
        watcher: &mut dyn ExperimentWatcher,
    ) {
        let ended = match walked {
            Err(Error::Usage(_)) => Ended::Refused,
            _ => Ended::AfterLoad,
        };
        self.guard.release(ended, stop).iter().for_each(|note| watcher.to_act_on(note));
        let ended = self.experiment_lock.end(match walked {
            Ok(false) => Status::Completed,
            Ok(true) | Err(Error::Interrupted(_)) => Status::Interrupted,
            Err(_) => Status::Failed,
        });
        if let Err(error) = ended {
            watcher.to_act_on(&format!("the experiment's end could not be stored: {error}"));
        }
    }

    /// Chooses one placement of clients for all points (combinations of varied values), so that it
    /// does not change along with the values: event loops if `auto` chooses them for any point and
    /// every point supports them, else threads. If no placement is possible at every point, each
    /// database product gets a placement of its own.
    pub(crate) fn place(
        &mut self,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<(), Error> {
        // By the point with the most clients, so that it does not change along with them.
        let loops = self.plans.iter().map(|plan| {
            let clients = plan.groups.iter().map(|group| group.clients as usize).sum();
            (clients, workers(plan))
        });
        if let Some((clients, n_loops)) = loops.max() {
            self.event_loop = engine::event_loop_for(clients, n_loops);
        }
        let is_auto = |plan: &Plan| plan.placement == PlacementChoice::Auto;
        if !self.plans.iter().all(is_auto) || self.plans.len() < 2 {
            return self.reach(stop, watcher);
        }
        let mut chosen: BTreeMap<Option<&str>, Placement> = BTreeMap::new();
        let mut possible = vec![Placement::Loop, Placement::Thread];
        let product = |plan: &Plan| drivers::of_target(&plan.target).map(|entry| entry.name);
        let mut refused = None;
        for index in 0..self.plans.len() {
            let mut plan = self.plans[index].clone();
            if self.experiment.data == DataPolicy::Rebuild {
                // The size of the existing data does not matter, since they are built again.
                plan.groups.iter_mut().for_each(forget_size);
            }
            let is_there =
                self.open_target.as_ref().is_some_and(|(there, _)| is_same(there, &plan.target));
            let open_target = match &mut self.open_target {
                Some((_, open_target)) if is_there => open_target,
                _ => self.open_target_for(&plan, stop, watcher)?,
            };
            let placed = resolve_groups(&plan, &open_target.database, stop).and_then(|groups| {
                possible.retain(|one| admission::can_live(&plan, &groups, *one).is_ok());
                admission::place(&plan, &groups)
            });
            match placed {
                Ok(placement) => {
                    let known = chosen.entry(product(&plan)).or_insert(placement);
                    if placement == Placement::Loop {
                        *known = placement;
                    }
                }
                Err(error) => refused = Some(error),
            }
        }
        if let Some(error) = refused {
            return Err(error);
        }
        let wanted = match chosen.values().any(|one| *one == Placement::Loop) {
            true => Placement::Loop,
            false => Placement::Thread,
        };
        let of_all = possible.iter().find(|one| **one == wanted).or(possible.first());
        for plan in &mut self.plans {
            let chosen = of_all.or_else(|| chosen.get(&product(plan))).copied();
            plan.placement = chosen.map_or(PlacementChoice::Auto, PlacementChoice::Fixed);
        }
        Ok(())
    }

    /// Connects once to each server that dbdyno did not start and that has trials left, so that an
    /// unreachable server is reported before the first trial, and is not taken for a crashed one.
    fn reach(
        &mut self,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<(), Error> {
        let rounds = self.experiment.rounds();
        let is_left = |point: &usize| has_left(&rounds, &self.done, |at| at as usize == *point);
        let left: Vec<usize> = (0..self.plans.len()).filter(is_left).collect();
        let mut seen: Vec<Target> = Vec::new();
        for point in left {
            let plan = self.plans[point].clone();
            if plan.target.is_server() && !seen.contains(&plan.target) {
                self.open_target_for(&plan, stop, watcher)?;
                seen.push(plan.target);
            }
        }
        Ok(())
    }

    /// Returns true if the trial `place` (point and repeat, both from 0) needs no further attempt:
    /// it has a valid run, or would fail again.
    pub(crate) fn is_done(&self, place: (u32, u32)) -> bool {
        self.done.contains(&place)
    }

    /// Returns true if the repeats before `unit` (a repeat on the highest level of nesting) are
    /// enough by the experiment's stop rule: at one point (combination of varied values), or at all
    /// points if `point` is `None`. False without a rule.
    pub(crate) fn is_reached(&self, point: Option<u32>, unit: u32) -> bool {
        is_reached(&self.experiment, &self.measured, point, unit)
    }

    /// Sets a point (combination of varied values) of the experiment, given by its index, and the
    /// plan of the point; drops all points with a higher index. If points with a lower index are
    /// missing, because an earlier process ran their trials, copies of this point take their place.
    pub(crate) fn put_point(&mut self, index: u32, point: &Point, plan: &Plan) {
        let index = index as usize;
        self.plans.truncate(index);
        self.experiment.points.truncate(index);
        self.plans.resize(index + 1, plan.clone());
        self.experiment.points.resize(index + 1, point.clone());
    }

    /// Runs one attempt at a trial. After a failure, the target is closed, to be opened again for
    /// the next attempt.
    pub(crate) fn try_once(
        &mut self,
        place: (u32, u32),
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<Tried, Error> {
        let begun_ms = wall_clock::unix_ms();
        match self.one(place, stop, watcher) {
            Err(Error::Failed(why)) => {
                self.close();
                Ok(Tried::Refused(why))
            }
            tried => {
                let spent_ms = u64::try_from(wall_clock::unix_ms() - begun_ms).unwrap_or(0);
                let planned_ns = self.planned_ns(place.0).unwrap_or(0);
                self.pace.took(spent_ms * NS_PER_MS, planned_ns);
                tried
            }
        }
    }

    /// Closes the target, so that the next trial opens it again: the server may have ended.
    pub(crate) fn close(&mut self) {
        self.open_target = None;
        self.fresh = Fresh::default();
    }

    /// Waits until the server of a trial answers again, for at most a minute, if dbdyno did not
    /// start that server. Returns false if the user asks to stop.
    pub(crate) fn is_back(
        &self,
        place: (u32, u32),
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> bool {
        let Plan { target, seed, .. } = &self.plans[place.0 as usize];
        let began = wall_clock::now();
        let mut is_reported = false;
        while target.is_server() && began.elapsed() < COMES_BACK {
            let (target, seed) = (target.clone(), *seed);
            let answers = run_interruptible(stop, "interrupted", move || {
                let database = open(&target, seed, false)?;
                Ok(AdminSession::at(database.as_ref()).map(drop)?)
            });
            if answers.is_ok() || stop.is_asked() {
                break;
            }
            if !is_reported {
                watcher.to_act_on("the server does not answer; waiting for it");
            }
            is_reported = true;
            wall_clock::rest_ms(LOOK_EVERY_MS * 5);
        }
        !stop.is_asked()
    }

    /// Waits for the experiment's pause between trials. Returns false if the user asks to stop.
    pub(crate) fn pause(&self, stop: &Stop) -> bool {
        let until = wall_clock::unix_ms() + (self.experiment.pause_ns / NS_PER_MS) as i64;
        while wall_clock::unix_ms() < until {
            if stop.is_asked() {
                return false;
            }
            wall_clock::rest_ms(LOOK_EVERY_MS);
        }
        true
    }

    pub(crate) fn values(&self, point: u32) -> String {
        let values = &self.experiment.points[point as usize].values;
        let pairs = self.experiment.axes.iter().zip(values);
        pairs.map(|(axis, value)| format!("{}={value}", axis.name)).collect::<Vec<_>>().join(", ")
    }

    /// Estimates the remaining time of an experiment whose trials in `left` (point and repeat) are
    /// to come, without those that need no further attempt; `None` if unknown.
    pub(crate) fn time_left(&self, left: &[(u32, u32)]) -> Option<TimeLeft> {
        let left = left.iter().filter(|place| !self.done.contains(place));
        self.time_left_at(left.map(|place| place.0))
    }

    /// Estimates the time of trials at these points (combinations of varied values); `None` if
    /// unknown.
    pub(crate) fn time_left_at(&self, points: impl Iterator<Item = u32>) -> Option<TimeLeft> {
        // There is no pause before the first one.
        let pause_ns = |nth: usize| if nth > 0 { self.experiment.pause_ns } else { 0 };
        let planned = |(nth, point): (usize, u32)| Some(self.planned_ns(point)? + pause_ns(nth));
        self.pace.left(points.enumerate().map(planned))
    }

    /// Returns the planned duration of a trial's load in nanoseconds; `None` if a condition ends
    /// the load.
    fn planned_ns(&self, point: u32) -> Option<u64> {
        let phases = self.plans[point as usize].phases;
        (phases.measure_ns > 0).then_some(phases.ramp_up_ns + phases.measure_ns)
    }

    /// Runs one attempt at a trial. If the user interrupts it before its load, returns an error
    /// only if the experiment has no earlier trial whose results remain.
    fn one(
        &mut self,
        place: (u32, u32),
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<Tried, Error> {
        match self.attempt(place, stop, watcher) {
            Err(Error::Interrupted(why)) => {
                let begun = self.store.trials(&self.experiment)?;
                if begun.is_empty() { Err(Error::Interrupted(why)) } else { Ok(Tried::Interrupted) }
            }
            tried => tried,
        }
    }

    /// Returns the options of a trial, whose data may have been checked already.
    fn run_options(&self, place: (u32, u32), is_checked: bool) -> RunOptions {
        RunOptions {
            store: Some(self.options.store.clone()),
            check_before: self.options.check_before && !is_checked,
            check_after: self.options.check_after,
            build: self.options.build,
            load: self.options.load,
            sample_hook: None,
            trial: Some(self.experiment.trial(place)),
            labels: self.experiment.labels.clone(),
            before: Vec::new(),
            script_host: self.options.script_host.clone(),
            hosts: self.options.hosts.clone(),
            event_loop: self.event_loop,
            restart: None,
        }
    }

    fn attempt(
        &mut self,
        place: (u32, u32),
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<Tried, Error> {
        let mut plan = self.plans[place.0 as usize].clone();
        // Each repeat has its own seed, the same one for all points; otherwise repeats would show
        // no variation.
        plan.seed = plan.seed.wrapping_add(place.1.into());
        let data = data_of(&plan);
        let key = built_key(&plan);
        let is_rebuilt = self.is_to_be_built(place.1, &key);
        let is_checked = self.held.take().is_some_and(|held| held == data) && !is_rebuilt;
        let options = self.run_options(place, is_checked);
        let stop = &Arc::new(stop.of_next());
        // If managed servers alternate, each trial starts its own server: if some were restarted
        // and some kept, repeats would not be independent.
        if self.used_by.is_some_and(|used_by| used_by != place) && self.has_several_servers() {
            self.open_target = None;
        }
        self.used_by = Some(place);
        let mut before = self.start_for(place, &plan, stop, watcher)?;
        let database = Arc::clone(&self.open_target_for(&plan, stop, watcher)?.database);
        let set = self.guard.put_interruptible(&database, &plan, stop)?;
        before.extend(set.into_events(watcher));
        let wants = (&plan, is_rebuilt);
        self.prepare_data(wants, &options, stop, watcher, &mut before)?;
        self.fresh.built.extend(is_rebuilt.then_some(key));
        let Some((_, open_target)) = &mut self.open_target else {
            unreachable!("it was furnished")
        };
        if let Some(condition) = &self.experiment.wait_until {
            before.extend(wait_until(condition, &open_target.database, stop, watcher)?);
        }
        let result = run_at(open_target, plan, RunOptions { before, ..options }, stop, watcher)?;
        if counts(&result.report) {
            self.done.insert(place);
            let also = self.experiment.stop.as_ref().and_then(|rule| rule.figure.as_deref());
            self.measured.push(Measured::from_report(place.0, place.1, &result.report, also));
            let mut after = result.report.checks.after.iter().flatten();
            let hold = result.report.checks.after.is_some() && after.all(|check| check.failed == 0);
            self.held = (hold && self.experiment.data == DataPolicy::Keep).then_some(data);
            return Ok(Tried::Counts(Box::new(result.report)));
        }
        if result.is_interrupted {
            return Ok(Tried::Interrupted);
        }
        let why = why_not(&result.report);
        Ok(match is_settled(&result.report) {
            true => {
                self.done.insert(place);
                Tried::Settled(why)
            }
            false => Tried::Not(why),
        })
    }

    /// Returns true if the points (combinations of varied values) have several managed servers,
    /// each of which must end before another starts.
    fn has_several_servers(&self) -> bool {
        let targets = self.plans.iter().map(|plan| &plan.target);
        let mut managed = targets.filter(|target| is_managed(target));
        managed
            .next()
            .is_some_and(|first| self.plans.iter().any(|plan| !is_same(first, &plan.target)))
    }

    /// Prepares the data of a trial as the experiment's data policy says: drops, builds or copies
    /// them. What is not done here is left to the run. Adds what happened to `before`.
    fn prepare_data(
        &mut self,
        (plan, is_rebuilt): (&Plan, bool),
        options: &RunOptions,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
        before: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let policy = self.experiment.data;
        let Some((target, mut open_target)) = self.open_target.take() else { return Ok(()) };
        let began = wall_clock::now();
        if (policy == DataPolicy::Rebuild || is_rebuilt) && self.options.build {
            for group in &plan.groups {
                let (target, seed) = (&plan.target, plan.seed);
                // Without parameters, data of any size are found and dropped.
                let opened = resolve_workload_interruptible(
                    &open_target.database,
                    target,
                    &group.workload,
                    &[],
                    seed,
                    stop,
                )?;
                if opened.data != Data::None {
                    drop_data(&opened, false)?;
                }
            }
        }
        let is_to_be_copied = policy == DataPolicy::Copy && !open_target.has_copy();
        if is_to_be_copied || is_rebuilt || self.experiment.wait_until.is_some() {
            // The wait condition is checked after the data are built.
            let mut said = Vec::new();
            resolve_groups(plan, &open_target.database, stop)
                .and_then(|groups| prepare(plan, groups, options, stop, watcher, &mut said))
                .map_err(|error| open_target.with_end_of_server(error))?;
            before.extend(said.into_iter().map(|text| Event::Output { text }));
        }
        if is_rebuilt {
            before.push(took(REBUILD_S, began.elapsed()));
        }
        if is_to_be_copied {
            watcher.doing("copying the data");
            open_target = open_target.copied(plan.seed, stop)?;
        }
        self.open_target = Some((target, open_target));
        Ok(())
    }

    /// Returns true if this repeat needs freshly built data, and they are not yet built.
    fn is_to_be_built(&mut self, repeat: u32, data: &DataOf) -> bool {
        let (build, _) = self.experiment.build_and_start(repeat);
        if self.experiment.nesting.rebuilds.is_none() {
            return false;
        }
        if self.fresh.build != Some(build) {
            self.fresh.build = Some(build);
            self.fresh.built.clear();
        }
        !self.fresh.built.contains(data)
    }

    /// Restarts or opens the server if this repeat needs a server start of its own and this is its
    /// first run. Returns the time that it took as an event; empty if nothing was done.
    fn start_for(
        &mut self,
        (point, repeat): (u32, u32),
        plan: &Plan,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<Vec<Event>, Error> {
        let start = (point, self.experiment.build_and_start(repeat));
        if self.experiment.nesting.restarts.is_none() || self.fresh.start == Some(start) {
            return Ok(Vec::new());
        }
        self.fresh.start = Some(start);
        let began = wall_clock::now();
        match self.open_target.take() {
            // If settings differ, the server is restarted anyway.
            Some((target, open_target))
                if open_target.server.is_some() && target == plan.target =>
            {
                watcher.doing("restarting the server");
                self.open_target = Some((target, open_target.restarted(plan.seed, stop)?));
            }
            Some((target, open_target)) if open_target.server.is_some() => {
                self.open_target = Some((target, open_target))
            }
            // Other targets are opened again.
            _ => {}
        }
        self.open_target_for(plan, stop, watcher)?;
        Ok(vec![took(RESTART_S, began.elapsed())])
    }

    /// Opens the target of a plan. Reuses the managed server of the last trial, which is restarted
    /// if its settings differ.
    fn open_target_for(
        &mut self,
        plan: &Plan,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<&mut OpenTarget, Error> {
        let from_copy = self.experiment.data == DataPolicy::Copy;
        let mut there = self.open_target.take();
        let is_as_it_was = there.as_mut().is_some_and(|(target, open_target)| {
            *target == plan.target
                && !open_target.has_ended()
                && !(from_copy && open_target.has_copy())
        });
        // All runs on one server start share the open target.
        let is_kept = self.experiment.nesting.restarts.is_some();
        let reused = match there {
            Some((target, open_target))
                if is_kept && open_target.server.is_none() && target == plan.target =>
            {
                Some(open_target)
            }
            // Other targets are opened again, as for a separate run.
            Some((_, open_target)) if open_target.server.is_none() => None,
            Some((_, open_target)) if is_as_it_was => Some(open_target),
            Some((target, open_target)) => {
                if target != plan.target {
                    watcher.doing(&format!("changing to {}", plan.target));
                }
                open_target.change(&plan.target, plan.seed, from_copy, stop)?
            }
            None => None,
        };
        let open_target = match reused {
            Some(open_target) => open_target,
            None => {
                let open_target =
                    open_target(&plan.target, plan.seed, self.options.build, stop, &mut |text| {
                        watcher.doing(text);
                    })?;
                for text in open_target.sentences() {
                    watcher.note(&text);
                }
                open_target
            }
        };
        Ok(&mut self.open_target.insert((plan.target.clone(), open_target)).1)
    }
}

/// Returns false if all trials at the points (combinations of varied values) for which `is_asked`
/// is true are done. Always true for a search, which has no rounds and does not know its trials in
/// advance.
fn has_left(rounds: &[Round], done: &BTreeSet<(u32, u32)>, is_asked: impl Fn(u32) -> bool) -> bool {
    let mut trials = rounds.iter().flat_map(|round| &round.trials);
    rounds.is_empty() || trials.any(|place| is_asked(place.0) && !done.contains(place))
}

/// Returns a fact about the time that preparing a trial took: a restart or a build.
fn took(name: &str, time: Duration) -> Event {
    Event::Fact(Fact::new(TRIAL, name, FactValue::seconds(time.as_secs_f64(), 3)))
}

fn pairs_of(settings: &[(String, String)]) -> String {
    let pairs = settings.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join(", ")
}

/// Returns true if two targets are the same, or the same managed server with other settings.
fn is_same(a: &Target, b: &Target) -> bool {
    a == b || (is_managed(a) && is_managed(b) && a.path == b.path)
}

/// Removes the parameters that shape a group's data, so that existing data of any size are
/// accepted.
fn forget_size(group: &mut Group) {
    let entry = workloads::by_name(&group.workload).ok();
    let shapes = |name: &str| {
        let mut rows = entry.iter().flat_map(|entry| entry.parameters);
        rows.any(|row| row.shapes_data && row.name == name)
    };
    group.parameters.retain(|(name, _)| !shapes(name));
}
