//! An experiment: its points tried again and again, each trial an ordinary run.
//!
//! It is stored before its first trial, and every trial names it; so whoever comes after a crash
//! knows what is left. Not here: what follows from the figures (results), and how one trial is
//! made (run).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use engine::Stop;
use model::{
    DataPolicy, Experiment, Group, NS_PER_MS, Placement, PlacementChoice, Plan, Point, RunId,
    Target, format_duration,
};
use results::ExperimentReport;
use results::experiment::{Trialled, counts};
use results::report::Report;
use results::store::Store;

use crate::build::{BuildOptions, drop_data};
use crate::managed::is_managed;
use crate::open::{Data, Site, agree_heard, arrive};
use crate::plan::{Varied, to_toml};
use crate::run::{RunOptions, Watcher, run_at, store_trouble};
use crate::{Trouble, room, wall};

/// Trials of one point that fail one after the other, before the experiment gives it up.
pub(crate) const FAILURES_MOST: u32 = 3;
/// How often a pause looks whether somebody asks to stop.
const LOOK_EVERY_MS: u64 = 50;

/// How an experiment is done, beside its plans.
#[derive(Clone, Debug)]
pub struct ExperimentOptions {
    /// Where its runs are kept.
    pub store: std::path::PathBuf,
    /// Whether the data are checked before each load.
    pub check_before: bool,
    /// Whether the data are checked after each load.
    pub check_after: bool,
    /// Whether data that are not there are built.
    pub build: bool,
    /// How they are.
    pub load: BuildOptions,
}

/// An experiment that has come to its end, or was interrupted.
pub struct ExperimentResult {
    /// What it has shown so far.
    pub report: ExperimentReport,
    /// Whether every trial counts.
    pub is_good: bool,
    /// Whether somebody interrupted it.
    pub is_interrupted: bool,
}

/// Somebody who looks on.
pub trait ExperimentWatcher: Watcher {
    /// A trial begins: which of how many, what it varies, and how many nanoseconds are left in
    /// all, as far as that can be known.
    fn trial(&mut self, nth: u64, of: u64, values: &str, left_ns: Option<u64>);
}

/// An experiment's plans, by point.
pub struct Planned {
    /// The experiment.
    pub experiment: Experiment,
    /// A plan for each of its points; passwords are in these alone.
    pub plans: Vec<Plan>,
}

/// Makes an experiment of what was decided.
pub fn plan(varied: Varied, seed: u64) -> Planned {
    let name = varied.points.first().map(|(_, plan)| plan.name.clone()).unwrap_or_default();
    let mut plans = Vec::new();
    let mut points = Vec::new();
    for (values, plan) in varied.points {
        points.push(Point { values, plan: to_toml(&plan) });
        plans.push(plan);
    }
    let experiment = Experiment {
        id: uuid::Uuid::now_v7().to_string(),
        name,
        started_unix_ms: wall::unix_ms(),
        axes: varied.axes,
        points,
        repeats: varied.repeats,
        order: varied.order,
        data: varied.data,
        pause_ns: varied.pause_ns,
        seed,
        seek: None,
    };
    Planned { experiment, plans }
}

/// Stores a new experiment and makes its trials.
pub fn run(
    planned: Planned,
    options: &ExperimentOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn ExperimentWatcher,
) -> Result<ExperimentResult, Trouble> {
    let store = Store::open(&options.store).map_err(store_trouble)?;
    store.add_experiment(&planned.experiment).map_err(store_trouble)?;
    resume(planned, options, stop, watcher)
}

/// Makes the trials of a stored experiment that do not count yet.
pub fn resume(
    planned: Planned,
    options: &ExperimentOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn ExperimentWatcher,
) -> Result<ExperimentResult, Trouble> {
    let Planned { experiment, plans } = planned;
    let mut walk = Walk::new(options, experiment, plans)?;
    walk.place(stop, watcher)?;
    let is_interrupted = walk.all(stop, watcher)?;
    let report = walk.report()?;
    let is_good = report.trials_done == report.trials;
    Ok(ExperimentResult { report, is_good, is_interrupted })
}

/// The report of a stored experiment.
pub fn report(store: &Store, experiment: &Experiment) -> Result<ExperimentReport, Trouble> {
    let trials = trialled(store, experiment)?;
    let mut dice = model::Dice::new(experiment.seed, model::Stream::Order, u64::MAX);
    Ok(ExperimentReport::new(experiment, &trials, &mut || dice.bits()))
}

/// The trials that have ended, with what they measured.
pub(crate) fn trialled(store: &Store, experiment: &Experiment) -> Result<Vec<Trialled>, Trouble> {
    let mut trials = Vec::new();
    for row in store.trials(experiment).map_err(store_trouble)? {
        let Some(report) = read_report(store, &row.run.run)? else { continue };
        trials.push(Trialled { point: row.point, repeat: row.repeat, report });
    }
    Ok(trials)
}

/// The report of a run as it was kept; none of one that has not ended.
pub fn read_report(store: &Store, run: &RunId) -> Result<Option<Report>, Trouble> {
    let Some(text) = store.report_json(run).map_err(store_trouble)? else { return Ok(None) };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| Trouble::Failed(format!("the report of run {run} is damaged: {error}")))
}

/// Makes trials, one after the other.
pub(crate) struct Walk<'o> {
    pub(crate) store: Store,
    pub(crate) experiment: Experiment,
    /// By point.
    pub(crate) plans: Vec<Plan>,
    options: &'o ExperimentOptions,
    /// Where the last trial was made.
    pub(crate) site: Option<(Target, Site)>,
    /// What each trial took.
    spent_ns: Vec<u64>,
    /// Point and repeat of the trials that count.
    done: BTreeSet<(u32, u32)>,
}

impl<'o> Walk<'o> {
    pub(crate) fn new(
        options: &'o ExperimentOptions,
        experiment: Experiment,
        plans: Vec<Plan>,
    ) -> Result<Walk<'o>, Trouble> {
        let store = Store::open(&options.store).map_err(store_trouble)?;
        let trials = trialled(&store, &experiment)?;
        let counted = trials.iter().filter(|trial| counts(&trial.report));
        let done = counted.map(|trial| (trial.point, trial.repeat)).collect();
        Ok(Walk { store, experiment, plans, options, site: None, spent_ns: Vec::new(), done })
    }

    /// One placement for all points: else what is varied would not be all that differs.
    pub(crate) fn place(
        &mut self,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<(), Trouble> {
        let is_auto = |plan: &Plan| plan.placement == PlacementChoice::Auto;
        if !self.plans.iter().all(is_auto) || self.plans.len() < 2 {
            return Ok(());
        }
        let mut chosen: Option<Placement> = None;
        let mut refused = None;
        for index in 0..self.plans.len() {
            let mut plan = self.plans[index].clone();
            if self.experiment.data == DataPolicy::Rebuild {
                // What is there now is of no matter.
                plan.groups.iter_mut().for_each(forget_size);
            }
            let is_there =
                self.site.as_ref().is_some_and(|(there, _)| is_same(there, &plan.target));
            let site = match &mut self.site {
                Some((_, site)) if is_there => site,
                _ => self.site_of(&plan, stop, watcher)?,
            };
            match room::place_at(site, &plan, stop) {
                // Event loops wherever one point wants them: that is the one with most clients.
                Ok(Placement::Loop) => chosen = Some(Placement::Loop),
                Ok(placement) => chosen = chosen.or(Some(placement)),
                Err(trouble) => refused = Some(trouble),
            }
        }
        if let Some(trouble) = refused {
            return Err(trouble);
        }
        for plan in &mut self.plans {
            plan.placement = chosen.map_or(PlacementChoice::Auto, PlacementChoice::Fixed);
        }
        Ok(())
    }

    /// Makes what is left to be made; whether somebody interrupted it.
    fn all(
        &mut self,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<bool, Trouble> {
        let order = self.experiment.order();
        let of = order.len() as u64;
        let mut is_first = true;
        for (nth, place) in order.into_iter().enumerate() {
            let mut failures = 0;
            while failures < FAILURES_MOST && !self.done.contains(&place) {
                if stop.is_asked() {
                    return Ok(true);
                }
                if !is_first && !self.pause(stop) {
                    return Ok(true);
                }
                is_first = false;
                let values = self.values(place.0);
                let left = of - nth as u64;
                watcher.trial(nth as u64 + 1, of, &values, self.left_ns(left, place.0));
                let begun_ms = wall::unix_ms();
                match self.one(place, stop, watcher) {
                    Ok(true) => return Ok(true),
                    Ok(false) => {
                        let spent_ms = u64::try_from(wall::unix_ms() - begun_ms).unwrap_or(0);
                        self.spent_ns.push(spent_ms * NS_PER_MS);
                    }
                    Err(Trouble::Failed(why)) => {
                        // The server may have gone: whoever comes next looks for it anew.
                        self.site = None;
                        let at =
                            if values.is_empty() { String::new() } else { format!(" at {values}") };
                        watcher.note(&format!("a trial{at} failed: {why}"));
                    }
                    Err(trouble) => return Err(trouble),
                }
                failures += 1;
            }
        }
        Ok(false)
    }

    /// Waits between trials; false if somebody asks to stop.
    fn pause(&self, stop: &Stop) -> bool {
        let until = wall::unix_ms() + (self.experiment.pause_ns / NS_PER_MS) as i64;
        while wall::unix_ms() < until {
            if stop.is_asked() {
                return false;
            }
            wall::rest_ms(LOOK_EVERY_MS);
        }
        true
    }

    fn values(&self, point: u32) -> String {
        let values = &self.experiment.points[point as usize].values;
        let pairs = self.experiment.axes.iter().zip(values);
        pairs.map(|(axis, value)| format!("{}={value}", axis.name)).collect::<Vec<_>>().join(", ")
    }

    /// What the trials left will take, from those made; from the plan before there is one.
    fn left_ns(&self, n_left: u64, point: u32) -> Option<u64> {
        let phases = self.plans[point as usize].phases;
        let planned = phases.ramp_up_ns + phases.measure_ns;
        let each = match self.spent_ns.is_empty() {
            true if phases.measure_ns == 0 => return None,
            true => planned + self.experiment.pause_ns,
            false => {
                self.spent_ns.iter().sum::<u64>() / self.spent_ns.len() as u64
                    + self.experiment.pause_ns
            }
        };
        Some(each * n_left)
    }

    /// Makes one trial; whether it was interrupted.
    pub(crate) fn one(
        &mut self,
        place: (u32, u32),
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<bool, Trouble> {
        let mut plan = self.plans[place.0 as usize].clone();
        // Each repeat draws anew, all points of a repeat alike: else it would show no variation.
        plan.seed = plan.seed.wrapping_add(place.1.into());
        let options = RunOptions {
            store: Some(self.options.store.clone()),
            check_before: self.options.check_before,
            check_after: self.options.check_after,
            build: self.options.build,
            load: self.options.load,
            tap: None,
            trial: Some(self.experiment.trial(place)),
        };
        let rebuild = self.experiment.data == DataPolicy::Rebuild && self.options.build;
        let stop = &Arc::new(stop.of_next());
        let site = self.site_of(&plan, stop, watcher)?;
        if rebuild {
            for group in &plan.groups {
                let (target, seed) = (&plan.target, plan.seed);
                // Of whatever size they are.
                let of = &group.workload;
                let opened = agree_heard(&site.database, target, of, &[], seed, stop)?;
                if opened.data != Data::None {
                    drop_data(&opened, false)?;
                }
            }
        }
        let result = run_at(site, plan, options, stop, watcher)?;
        if counts(&result.report) {
            self.done.insert(place);
        }
        Ok(result.is_interrupted)
    }

    /// The target of a plan, opened: the managed server of the trial before, started anew if its
    /// settings are others, or a target that is opened now.
    fn site_of(
        &mut self,
        plan: &Plan,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<&mut Site, Trouble> {
        let reused = match self.site.take() {
            // Any other target is opened anew: a trial begins as every run does.
            Some((_, site)) if site.server.is_none() => None,
            Some((target, site)) if target == plan.target => Some(site),
            Some((_, site)) => {
                watcher.doing(&format!("changing to {}", plan.target));
                site.change(&plan.target, plan.seed, stop)?
            }
            None => None,
        };
        let site = match reused {
            Some(site) => site,
            None => {
                let site =
                    arrive(&plan.target, plan.seed, self.options.build, stop, &mut |text| {
                        watcher.doing(text);
                    })?;
                if let Some(text) = site.sentence() {
                    watcher.note(&text);
                }
                site
            }
        };
        Ok(&mut self.site.insert((plan.target.clone(), site)).1)
    }

    fn report(&self) -> Result<ExperimentReport, Trouble> {
        report(&self.store, &self.experiment)
    }
}

/// Whether two targets are the same server, if with other settings.
fn is_same(a: &Target, b: &Target) -> bool {
    a == b || (is_managed(a) && is_managed(b) && a.path == b.path)
}

/// Takes out what shapes the data: those that are there may be of any size.
fn forget_size(group: &mut Group) {
    let entry = workloads::by_name(&group.workload).ok();
    let shapes = |name: &str| {
        let mut rows = entry.iter().flat_map(|entry| entry.parameters);
        rows.any(|row| row.shapes_data && row.name == name)
    };
    group.parameters.retain(|(name, _)| !shapes(name));
}

/// The plans of a stored experiment, decided anew from what was stored.
pub fn planned(
    store: &Path,
    experiment: Experiment,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<Planned, Trouble> {
    let place = format!("{}, experiment {}", store.display(), experiment.id);
    let plans = experiment.points.iter().map(|point| {
        let draft = crate::plan::read_toml(&place, &point.plan)?;
        crate::plan::decide(&draft, default_target)
    });
    let plans = plans.collect::<Result<Vec<Plan>, _>>()?;
    Ok(Planned { experiment, plans })
}

/// What is asked of somebody's patience: `12 trials, about 8m`.
pub fn forecast(planned: &Planned) -> String {
    let repeats = u64::from(planned.experiment.repeats);
    let trials = planned.plans.len() as u64 * repeats;
    let each = |plan: &Plan| plan.phases.ramp_up_ns + plan.phases.measure_ns;
    let load_ns: u64 = planned.plans.iter().map(each).sum::<u64>() * repeats;
    let pauses_ns = planned.experiment.pause_ns * trials.saturating_sub(1);
    format!("{trials} trials, {} of load and pauses", format_duration(load_ns + pauses_ns))
}
