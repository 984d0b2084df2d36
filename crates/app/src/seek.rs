//! Searches for the highest arrival rate, or number of clients, at which objectives are met, such
//! as a limit for p99.
//!
//! Every probe of the search is a run in the store, bound to the experiment as the trial of a point
//! of its own, so that the search can be resumed after a crash. Not here: the choice of the next
//! probe and the evaluation (study).

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use analysis::report::Report;
use engine::Stop;
use model::{
    Axis, Experiment, Objective, PlacementChoice, Plan, Point, Rng, RunId, Seek, Stream, Target,
};
use plan::SeekPlan;
use plan::search_budget::budget_ns_for;
use store::Store;
use study::SeekReport;
use study::environment::Environment;
use study::seek::{
    CONFIDENCE, Judged, Late, METHOD_OF_SHARES, PlannedProbe, Probe, ProbeReport, SCHEMA,
    SearchStrategy, Stage, curve, figures, judge, reasons, samples_needed,
};
use study::trials::{TrialReport, counts, is_settled};

use crate::error::Error;
use crate::open::is_apart_from;
use crate::time_left::TimeLeft;
use crate::trial_runner::{
    ExperimentOptions, ExperimentWatcher, FAILURES_MOST, TrialRunner, Tried,
};
use crate::trials::{Use, WalkResult, begun, first_draft, in_store, status, trial_reports};
use crate::walk::{Step, Walk};

/// A search for the highest rate that meets all objectives, with its plan and the target with its
/// password.
pub struct Search {
    experiment: Experiment,
    seek_plan: SeekPlan,
    target: Target,
}

impl Search {
    /// Creates a search with a new id. `labels` are set on all its runs.
    pub fn new(
        seek_plan: SeekPlan,
        labels: Vec<(String, String)>,
        default_target: &dyn Fn(&str) -> Result<Target, String>,
    ) -> Result<Search, Error> {
        let seek = seek_plan.seek.clone();
        let plan = seek_plan.plan(seek.low, 0, default_target)?;
        let axis = Axis { name: seek.axis.clone(), values: Vec::new() };
        let walk = model::Walk::Seek(seek);
        let experiment = Experiment {
            wait_until: seek_plan.wait_until.clone(),
            ..begun(&plan, (vec![axis], Vec::new()), walk, labels)
        };
        Ok(Search { experiment, seek_plan, target: plan.target })
    }

    /// Loads the search of a stored experiment. Fails if the experiment is no search, or was made
    /// by an earlier method and is to be continued.
    pub fn stored(store: &Path, experiment: Experiment, use_of: Use<'_>) -> Result<Search, Error> {
        let Some(seek) = experiment.walk.seek().cloned() else {
            return Err(Error::Failed(format!("{} is not a search", experiment.id)));
        };
        let draft = first_draft(store, &experiment, use_of)?;
        if let (Use::ToGoOn(_), true) = (use_of, seek.method < METHOD_OF_SHARES) {
            let id = &experiment.id;
            return Err(Error::Usage(format!(
                "search {id} was run by an earlier method, and cannot be resumed: 'dbdyno \
                 experiments show {id}' shows its result; seek again"
            )));
        }
        let seek_plan = SeekPlan::stored(draft, seek);
        let target = seek_plan.plan(seek_plan.seek.low, 0, &no_default)?.target;
        Ok(Search { experiment, seek_plan, target })
    }

    /// Returns the target of the search, to which the caller may add a password.
    pub fn target(&mut self) -> &mut Target {
        &mut self.target
    }

    /// Returns the plan of a run at the lower end of the range.
    pub(crate) fn first_plan(&self) -> Result<Plan, Error> {
        self.plan(self.seek_plan.seek.low, 0)
    }

    /// Returns a remark on what is sought; `None` if there is none.
    pub(crate) fn note(&self) -> Option<String> {
        self.seek_plan.note()
    }

    fn plan(&self, at: f64, measure_ns: u64) -> Result<Plan, Error> {
        let target = |_: &str| Ok(self.target.clone());
        let plan = self.seek_plan.plan(at, measure_ns, &target)?;
        Ok(Plan { target: self.target.clone(), ..plan })
    }

    /// Runs the probes (runs at one rate each) that the search still lacks. A search that `is_new`
    /// is stored first, and removed from the store if it fails before its first run.
    pub fn run(
        self,
        is_new: bool,
        options: &ExperimentOptions,
        stop: &Arc<Stop>,
        watcher: &mut dyn ExperimentWatcher,
    ) -> Result<WalkResult<SeekReport>, Error> {
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
    ) -> Result<WalkResult<SeekReport>, Error> {
        let strategy = strategy_of(&self.seek_plan.seek, self.plan(self.seek_plan.seek.low, 0)?);
        // All probes get the placement of the highest one, which needs the most.
        let ends = vec![self.plan(strategy.low, 0)?, self.plan(strategy.high, 0)?];
        let mut runner = TrialRunner::new(options, self.experiment.clone(), ends)?;
        let probed = runner.rehearse(stop, watcher).and_then(|()| {
            runner.place(stop, watcher)?;
            let placement = runner.plans[1].placement;
            runner.plans.clear();
            runner.experiment.points.clear();
            let mut probes = Probes::new(&self, &strategy, placement, &runner.store)?;
            runner.walk(&mut probes, stop, watcher)
        });
        runner.end(&probed, stop, watcher);
        let is_interrupted = probed?;
        let report = report(store, &self.experiment)?;
        let is_good = report.recommended.is_some() && report.confirmed == Some(true);
        Ok(WalkResult { report, is_good, is_interrupted })
    }
}

/// Chooses the probes (runs) of a search one after the other. The strategy picks the rate of each
/// probe from the results of the earlier ones; each is a point of the experiment.
struct Probes<'s> {
    search: &'s Search,
    strategy: &'s SearchStrategy,
    placement: PlacementChoice,
    known: Known,
    /// Valid probes (runs at one rate) so far, each with its report.
    made: Vec<(Probe, Report)>,
    /// Number of failed or invalid probes (runs) in a row, since the last valid one.
    failures: u32,
}

impl<'s> Probes<'s> {
    fn new(
        search: &'s Search,
        strategy: &'s SearchStrategy,
        placement: PlacementChoice,
        store: &Store,
    ) -> Result<Probes<'s>, Error> {
        let mut known = Known::default();
        let made = replay(store, &search.experiment, strategy, &mut known)?;
        Ok(Probes { search, strategy, placement, known, made, failures: 0 })
    }
}

impl Walk for Probes<'_> {
    fn noun(&self) -> &'static str {
        "probe"
    }

    fn next(&mut self, _runner: &TrialRunner<'_>) -> Result<Option<Step>, Error> {
        let probes = probes_of(&self.made);
        let planned = self.strategy.next(&probes).filter(|_| self.failures < FAILURES_MOST);
        let Some(planned) = planned else { return Ok(None) };
        let nth = self.made.len();
        let mut plan = self.search.plan(planned.at, planned.measure_ns)?;
        plan.placement = self.placement;
        // Each probe has its own seed, so that probes share only the system.
        plan.seed = seed_of(plan.seed, nth);
        let seek_plan = &self.search.seek_plan;
        let value = seek_plan.value(planned.at);
        let (n_left, left_ns) = self.strategy.left(&probes);
        Ok(Some(Step {
            place: (nth as u32, 0),
            nth: nth as u64 + 1,
            n_trials: nth as u64 + n_left,
            values: format!("{}={value} ({})", seek_plan.seek.axis, planned.stage.name()),
            left: Some(TimeLeft::About(left_ns)),
            added: vec![(nth as u32, Point { values: vec![value], plan: String::new() }, plan)],
        }))
    }

    fn learn(
        &mut self,
        runner: &TrialRunner<'_>,
        step: &Step,
        _tried: &Tried,
    ) -> Result<&'static str, Error> {
        let Search { experiment, seek_plan, .. } = self.search;
        let n_before = self.made.len();
        self.made = replay(&runner.store, experiment, self.strategy, &mut self.known)?;
        let (ramp_up_ns, objectives) = (self.strategy.ramp_up_ns, &seek_plan.seek.objectives);
        let made = self.made.get(n_before);
        if let Some(why) = made.and_then(|made| too_short(made, ramp_up_ns, objectives)) {
            return Err(Error::Failed(format!("the probe at {} {why}", step.values)));
        }
        self.failures = if made.is_some() { 0 } else { self.failures + 1 };
        Ok(match self.failures < FAILURES_MOST {
            true => "it is repeated",
            false => "the search is aborted",
        })
    }
}

/// Safety factor in the time budget that an error message advises: another run may have fewer
/// samples in the same time.
const SAMPLES_MARGIN: f64 = 1.3;

/// Returns a text for the user that a probe (a run at one rate) has too few samples to be judged,
/// with the time budget to ask for; `None` if it has enough.
fn too_short(
    (probe, report): &(Probe, Report),
    ramp_up_ns: u64,
    objectives: &[Objective],
) -> Option<String> {
    let lacks = probe.judged.lacks.as_ref()?;
    let needed = |one: &Objective| report.block.offered_ms.samples_needed(one.metric.name());
    let needed = objectives.iter().filter_map(needed).max();
    let (measured_s, n) = (report.measured_seconds, report.block.counts.offered);
    let least = needed.filter(|_| n > 0).map(|needed| {
        let measure_s = measured_s * needed as f64 / n as f64 * SAMPLES_MARGIN;
        let least_ns = budget_ns_for(ramp_up_ns, measure_s * 1e9);
        format!(" to {}", model::format_duration(least_ns))
    });
    Some(format!("is too short, {lacks}: raise --seek-budget{}", least.unwrap_or_default()))
}

fn strategy_of(seek: &Seek, plan: Plan) -> SearchStrategy {
    let Seek { low, high, is_whole, budget_ns, method, .. } = *seek;
    SearchStrategy { low, high, is_whole, budget_ns, ramp_up_ns: plan.phases.ramp_up_ns, method }
}

/// Returns an error instead of a default target, since a stored plan always names its target.
fn no_default(_: &str) -> Result<Target, String> {
    Err("the stored plan has no target".to_owned())
}

/// Returns the seed of the `nth` probe (run) of a search with the seed `seed`. Searches with
/// neighbouring seeds share no random draws.
fn seed_of(seed: u64, nth: usize) -> u64 {
    // 53 bits, which JSON represents exactly.
    Rng::new(seed, Stream::Order, nth as u64).bits() >> 11
}

/// Verdicts on earlier probes of a search, by id of their run. They are kept because a verdict
/// never changes.
type Known = HashMap<String, Judged>;

/// Judges a stored probe (run) by the objectives of its search. Reads the run second by second,
/// because the report lacks the share of transactions beyond the times of the objectives.
fn judged(store: &Store, report: &Report, seek: &Seek, known: &mut Known) -> Result<Judged, Error> {
    if let Some(judged) = known.get(&report.run_id) {
        return Ok(judged.clone());
    }
    let mut late = Late::new(&seek.objectives);
    let run = RunId(report.run_id.clone());
    store.seconds(&run, &mut |second| late.add(&second))?;
    let judged = judge(report, &seek.objectives, &late);
    known.insert(report.run_id.clone(), judged.clone());
    Ok(judged)
}

/// Returns true if a trial of a search can be judged: its run is valid, or a full queue ended it.
fn is_made(trial: &TrialReport) -> bool {
    counts(&trial.report) || is_settled(&trial.report)
}

/// Returns the valid probes (runs) of a stored search with their reports, in the order in which the
/// strategy requests them.
fn replay(
    store: &Store,
    experiment: &Experiment,
    strategy: &SearchStrategy,
    known: &mut Known,
) -> Result<Vec<(Probe, Report)>, Error> {
    let Some(seek) = experiment.walk.seek() else { return Ok(Vec::new()) };
    let trials = trial_reports(store, experiment)?;
    let mut made: Vec<(Probe, Report)> = Vec::new();
    while let Some(planned) = strategy.next(&probes_of(&made)) {
        let is_here = |trial: &&TrialReport| trial.point as usize == made.len() && is_made(trial);
        let Some(trial) = trials.iter().rfind(is_here) else { break };
        let judged = judged(store, &trial.report, seek, known)?;
        made.push((Probe { planned, judged }, trial.report.clone()));
    }
    Ok(made)
}

/// Returns the probes of a search that an early dbdyno made by its first method, each with rate,
/// duration and stage from its own plan. There were short probes of 1/32 of the budget, then twelve
/// long ones, then some that confirmed the answer.
fn first_method(
    store: &Store,
    experiment: &Experiment,
    seek_plan: &SeekPlan,
    strategy: &SearchStrategy,
) -> Result<Vec<(Probe, Report)>, Error> {
    let mut made: Vec<(Probe, Report)> = Vec::new();
    let mut n_long = 0;
    for trial in trial_reports(store, experiment)?.iter().filter(|trial| is_made(trial)) {
        let Some(at) = seek_plan.value_in(&trial.report.plan) else { continue };
        let measure_s = trial.report.phases.measure_s;
        let short_s = strategy.budget_ns as f64 / 32e9;
        let is_short = measure_s + strategy.ramp_up_ns as f64 / 1e9 <= short_s;
        n_long += usize::from(!is_short);
        let stage = match n_long {
            _ if is_short => Stage::Bracket,
            ..=12 => Stage::Refine,
            _ => Stage::Confirm,
        };
        let judged = judged(store, &trial.report, &seek_plan.seek, &mut Known::default())?;
        let planned = PlannedProbe { at, measure_ns: (measure_s * 1e9) as u64, stage };
        made.push((Probe { planned, judged }, trial.report.clone()));
    }
    Ok(made)
}

fn probes_of(made: &[(Probe, Report)]) -> Vec<Probe> {
    made.iter().map(|(probe, _)| probe.clone()).collect()
}

pub fn report(store: &Store, experiment: &Experiment) -> Result<SeekReport, Error> {
    let search = Search::stored(store.path(), experiment.clone(), Use::ToReport)?;
    let seek = search.seek_plan.seek.clone();
    let strategy = strategy_of(&seek, search.plan(seek.low, 0)?);
    let (made, concluded) = match seek.method {
        METHOD_OF_SHARES.. => {
            let made = replay(store, experiment, &strategy, &mut Known::default())?;
            let concluded = strategy.conclude(&probes_of(&made));
            (made, concluded)
        }
        _ => {
            let made = first_method(store, experiment, &search.seek_plan, &strategy)?;
            let concluded = strategy.conclude_as_they_are(&probes_of(&made));
            (made, concluded)
        }
    };
    let probe =
        |((probe, report), verdict): (&(Probe, Report), &study::seek::Verdict)| ProbeReport {
            at: probe.planned.at,
            measure_s: probe.planned.measure_ns as f64 / 1e9,
            stage: probe.planned.stage,
            run: report.run_id.clone(),
            verdict: *verdict,
            judged: probe.judged.clone(),
            figures: figures(report),
            reasons: reasons(report),
            samples_needed: samples_needed(report),
        };
    let probes: Vec<ProbeReport> = made.iter().zip(&concluded.verdicts).map(probe).collect();
    let all: Vec<&Report> = made.iter().map(|(_, report)| report).collect();
    Ok(SeekReport {
        schema: SCHEMA.to_owned(),
        id: experiment.id.clone(),
        name: experiment.name.clone(),
        started_unix_ms: experiment.started_unix_ms,
        status: status(store, experiment)?,
        seek,
        answer: concluded.answer,
        scene: (!all.is_empty()).then(|| Environment::from_reports(&all)),
        confidence: CONFIDENCE,
        recommended: concluded.answer.recommended(),
        confirmed: concluded.confirmed,
        residual: None,
        elasticity: None,
        noise: concluded.noise,
        steepness: concluded.steepness,
        curve: curve(&probes),
        probes,
    })
}

/// Returns a text for the user on what a search will do and how much load it needs.
pub fn forecast(search: &Search) -> String {
    let seek = &search.seek_plan.seek;
    let objectives: Vec<String> = seek.objectives.iter().map(ToString::to_string).collect();
    format!(
        "seeking {} from {} to {} with {}, {} of load",
        seek.axis,
        seek.low,
        seek.high,
        objectives.join(", "),
        model::format_duration(seek.budget_ns)
    )
}
