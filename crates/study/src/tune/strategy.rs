//! Strategy of a tuner: which configuration is tried next, and which is the best so far.
//!
//! Both are pure functions of the outcomes so far, so an interrupted tuner resumes from its stored
//! runs. Trials come in *rounds*: each remaining configuration once, and the defaults once, in a
//! new random order, so that a drift of the system affects all alike.
//!
//! 1. *Explore.* Many configurations are tried once; the better half remains and is tried again,
//!    until few remain (successive halving: Jamieson and Talwalkar, 2016). Then new ones near the
//!    good ones compete with those.
//! 2. *Confirm.* The best and the defaults are run in pairs of new trials. Only these decide
//!    whether the best is better, since it was chosen for its luck too.
//!
//! Not here: the execution of a trial (app), and what the outcomes say (tune).

use model::{Rng, Stream, TuneStrategy};
use serde::{Deserialize, Serialize};

use super::proposal::{Levels, Space};

/// Number of the configuration that leaves all parameters at their defaults.
pub const DEFAULTS: u32 = 0;
/// Share of the exploring trials for configurations that are spread evenly.
const EVEN_SHARE: f64 = 0.5;
/// Configurations of the first half that compete with those of the second.
const SURVIVORS: usize = 2;
/// Number of remaining configurations from which on each is tried twice before the next halving.
const FEW: usize = 4;
/// Most configurations in a round if each is tried once.
const ROUND_MOST: usize = 8;
/// Configurations that the model proposes at a time.
const BATCH: usize = 4;

/// Purpose of a trial of a tuner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Tries configurations that are spread over all of them.
    Explore,
    /// Tries configurations near good ones, and again those that were good.
    Refine,
    /// Compares the best configuration with the defaults, in pairs.
    Confirm,
}

impl Stage {
    /// Returns the name of the stage as pages show it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Explore => "explore",
            Stage::Refine => "refine",
            Stage::Confirm => "confirm",
        }
    }
}

/// A trial that a tuner wants, or has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTrial {
    /// Number of the configuration; [`DEFAULTS`] for that without any setting.
    pub configuration: u32,
    /// Number of the configuration's earlier trials.
    pub repeat: u32,
    pub stage: Stage,
    round: u32,
}

/// Outcome of a trial, as far as it decides which configuration is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The server did not start with the configuration, or no valid run could be made with it.
    Failed,
    /// The logarithm of the figure, with a sign that makes higher values better, and whether the
    /// run kept all limits.
    Value { score: f64, keeps_limits: bool },
}

/// What a tuner needs to choose its trials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuner {
    /// Number of values of each parameter.
    pub n_levels: Vec<u32>,
    /// Number of trials in all.
    pub n_trials: u32,
    /// Number of pairs of trials that confirm the best configuration.
    pub n_pairs: u32,
    pub seed: u64,
    pub strategy: TuneStrategy,
}

/// The course of a tuner, given the outcomes of its first trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// All configurations by number; `None` is the one without any setting.
    pub configurations: Vec<Option<Levels>>,
    /// Trials with an outcome, and those that follow whatever their outcomes are.
    pub planned: Vec<PlannedTrial>,
    /// The configuration that is confirmed; `None` before that, or if none works.
    pub best: Option<u32>,
    /// Whether the outcomes are those of all trials.
    pub is_complete: bool,
    /// Number of configurations, after the defaults, that were chosen without regard to outcomes.
    pub n_even: usize,
    outcomes: Vec<Outcome>,
    n_rounds: u32,
}

impl Course {
    fn new(outcomes: &[Outcome]) -> Course {
        Course {
            configurations: vec![None],
            planned: Vec::new(),
            best: None,
            is_complete: false,
            n_even: 0,
            outcomes: outcomes.to_vec(),
            n_rounds: 0,
        }
    }

    /// Returns the next trial; `None` if there is none.
    pub fn next(&self) -> Option<PlannedTrial> {
        self.planned.get(self.outcomes.len()).copied()
    }

    /// Returns the trials that were made, with their outcomes.
    pub fn made(&self) -> impl Iterator<Item = (PlannedTrial, Outcome)> + '_ {
        self.planned.iter().copied().zip(self.outcomes.iter().copied())
    }

    fn add(&mut self, configurations: Vec<Levels>) -> Vec<u32> {
        let from = self.configurations.len() as u32;
        self.configurations.extend(configurations.into_iter().map(Some));
        (from..self.configurations.len() as u32).collect()
    }

    fn plan(&mut self, configuration: u32, stage: Stage) {
        let earlier = |planned: &&PlannedTrial| planned.configuration == configuration;
        let repeat = self.planned.iter().filter(earlier).count() as u32;
        self.planned.push(PlannedTrial { configuration, repeat, stage, round: self.n_rounds });
    }

    /// Plans each configuration and the defaults once, in this or a random order. `None` if not all
    /// outcomes are known.
    fn round(&mut self, stage: Stage, configurations: &[u32], order: &mut Rng) -> Option<()> {
        let mut all: Vec<u32> = [&[DEFAULTS], configurations].concat();
        if stage != Stage::Confirm {
            order.shuffle(&mut all);
        } else if self.n_rounds % 2 == 1 {
            all.reverse();
        }
        all.into_iter().for_each(|configuration| self.plan(configuration, stage));
        self.n_rounds += 1;
        (self.outcomes.len() >= self.planned.len()).then_some(())
    }

    /// Returns the mean score of a configuration over the rounds from `from` on, and whether it
    /// kept the limits in most of its trials. `None` if a trial failed, or there was none.
    fn standing(&self, configuration: u32, from: u32) -> Option<(bool, f64)> {
        let is_here = |(planned, _): &(PlannedTrial, Outcome)| {
            planned.configuration == configuration && planned.round >= from
        };
        let (mut n, mut n_within, mut sum) = (0_u32, 0_u32, 0.0);
        for (_, outcome) in self.made().filter(is_here) {
            let Outcome::Value { score, keeps_limits } = outcome else { return None };
            n += 1;
            n_within += u32::from(keeps_limits);
            sum += score;
        }
        (n > 0).then(|| (2 * n_within > n, sum / f64::from(n)))
    }

    /// Sorts configurations by their standing over the rounds from `from` on, the best first, and
    /// removes those that failed.
    fn sort(&self, configurations: &mut Vec<u32>, from: u32) {
        let standing = |one: &u32| Some((self.standing(*one, from)?, *one));
        let mut all: Vec<((bool, f64), u32)> = configurations.iter().filter_map(standing).collect();
        all.sort_by(|((a_keeps, a), _), ((b_keeps, b), _)| {
            b_keeps.cmp(a_keeps).then(b.total_cmp(a))
        });
        *configurations = all.into_iter().map(|(_, one)| one).collect();
    }

    /// Returns the levels of configurations, without those of the defaults.
    fn levels(&self, configurations: &[u32]) -> Vec<Levels> {
        let levels = |one: &u32| self.configurations[*one as usize].clone();
        configurations.iter().filter_map(levels).collect()
    }
}

impl Tuner {
    /// Returns the fewest trials with which the strategy makes sense.
    pub fn n_trials_min(&self) -> u32 {
        let n_few = self.space().size().min(FEW as u64) as usize;
        let explored = match self.strategy {
            TuneStrategy::Grid => self.space().size().saturating_add(1),
            TuneStrategy::Random | TuneStrategy::Sobol => n_few as u64 + 1,
            TuneStrategy::Halving => cost(n_few, SURVIVORS),
            TuneStrategy::Model => n_few as u64 + 1 + cost(n_few, 1),
        };
        u32::try_from(explored).unwrap_or(u32::MAX).saturating_add(2 * self.n_pairs)
    }

    /// Returns the course of the tuner, given the outcomes of its trials so far.
    pub fn course(&self, outcomes: &[Outcome]) -> Course {
        let mut course = Course::new(outcomes);
        let ended = match self.strategy {
            TuneStrategy::Grid | TuneStrategy::Random | TuneStrategy::Sobol => {
                self.once(&mut course)
            }
            TuneStrategy::Halving => self.halving(&mut course),
            TuneStrategy::Model => self.model(&mut course),
        };
        if let Some(best) = ended {
            course.best = best;
            course.is_complete = best.is_none_or(|best| self.confirm(&mut course, best).is_some());
        }
        course
    }

    fn space(&self) -> Space<'_> {
        Space { n_levels: &self.n_levels, seed: self.seed }
    }

    /// Number of trials before those that confirm.
    fn n_exploring(&self) -> u64 {
        u64::from(self.n_trials.saturating_sub(2 * self.n_pairs))
    }

    fn order(&self, course: &Course) -> Rng {
        Rng::new(self.seed, Stream::Order, 1_000_000 + u64::from(course.n_rounds))
    }

    fn round(&self, course: &mut Course, stage: Stage, configurations: &[u32]) -> Option<()> {
        let mut order = self.order(course);
        course.round(stage, configurations, &mut order)
    }

    /// Tries each configuration as often as the others, and returns the best.
    fn once(&self, course: &mut Course) -> Option<Option<u32>> {
        let n_trials = self.n_exploring();
        // One trial in each round is that of the defaults.
        let n_most = (n_trials - n_trials.div_ceil(ROUND_MOST as u64 + 1)) as usize;
        let configurations = match self.strategy {
            TuneStrategy::Grid => self.space().all(n_most),
            TuneStrategy::Random => self.space().random(n_most),
            _ => self.space().even(n_most),
        };
        let mut all = course.add(configurations);
        course.n_even = all.len();
        let n_each_time = (all.len() + all.len().div_ceil(ROUND_MOST)).max(1);
        let n_times = (n_trials as usize / n_each_time).max(1);
        for _ in 0..n_times {
            for some in all.chunks(ROUND_MOST) {
                self.round(course, Stage::Explore, some)?;
            }
        }
        course.sort(&mut all, 0);
        Some(all.first().copied())
    }

    fn halving(&self, course: &mut Course) -> Option<Option<u32>> {
        let n_trials = self.n_exploring();
        let n_most = self.space().size().min(n_trials) as usize;
        let share = (n_trials as f64 * EVEN_SHARE) as u64;
        let fits = |n: &usize| cost(*n, SURVIVORS) <= share;
        let n_least = n_most.min(FEW);
        let n_even = (n_least..=n_most).rev().find(fits).unwrap_or(n_least);
        let even = course.add(self.space().even(n_even));
        course.n_even = even.len();
        let best = self.halve(course, Stage::Explore, even, SURVIVORS)?;
        let left = n_trials.saturating_sub(course.planned.len() as u64);
        let fits = |n: &usize| cost(*n + best.len(), 1) <= left;
        let Some(n_new) = (0..=n_most).rev().find(fits) else {
            return Some(best.first().copied());
        };
        let known = self.ranked(course);
        let new = self.space().near_good(n_new, &course.levels(&known), 0);
        let rivals = [best, course.add(new)].concat();
        Some(self.halve(course, Stage::Refine, rivals, 1)?.first().copied())
    }

    /// Returns all configurations that were tried and work, the best first, by all their trials.
    fn ranked(&self, course: &Course) -> Vec<u32> {
        let mut known: Vec<u32> = (1..course.configurations.len() as u32).collect();
        course.sort(&mut known, 0);
        known
    }

    fn model(&self, course: &mut Course) -> Option<Option<u32>> {
        let n_trials = self.n_exploring();
        let last = cost(FEW, 1);
        let n_even = ((n_trials.saturating_sub(last)) / 3).max(FEW as u64) as usize;
        let even = course.add(self.space().even(n_even));
        course.n_even = even.len();
        for some in even.chunks(ROUND_MOST) {
            self.round(course, Stage::Explore, some)?;
        }
        let mut batch = 0;
        while course.planned.len() as u64 + BATCH as u64 + 1 + last <= n_trials {
            let known = course.levels(&self.ranked(course));
            let new = self.space().near_good(BATCH, &known, batch);
            if known.is_empty() || new.is_empty() {
                break;
            }
            let new = course.add(new);
            self.round(course, Stage::Refine, &new)?;
            batch += 1;
        }
        let mut known = self.ranked(course);
        known.truncate(FEW);
        Some(self.halve(course, Stage::Refine, known, 1)?.first().copied())
    }

    /// Tries the configurations in rounds and keeps the better half, until `n_kept` remain.
    fn halve(
        &self,
        course: &mut Course,
        stage: Stage,
        mut configurations: Vec<u32>,
        n_kept: usize,
    ) -> Option<Vec<u32>> {
        let from = course.n_rounds;
        while !configurations.is_empty() {
            for _ in 0..n_rounds(configurations.len()) {
                self.round(course, stage, &configurations)?;
                configurations.retain(|one| course.standing(*one, from).is_some());
            }
            course.sort(&mut configurations, from);
            let n_next = configurations.len().div_ceil(2).max(n_kept);
            if configurations.len() <= n_kept {
                break;
            }
            configurations.truncate(n_next);
            if n_next == 1 {
                break;
            }
        }
        Some(configurations)
    }

    fn confirm(&self, course: &mut Course, best: u32) -> Option<()> {
        (0..self.n_pairs).try_for_each(|_| self.round(course, Stage::Confirm, &[best]))
    }
}

/// Returns how often so many remaining configurations are tried before the next halving.
fn n_rounds(n: usize) -> u64 {
    if n <= FEW { 2 } else { 1 }
}

/// Returns the number of trials in which `n` configurations are halved until `n_kept` remain.
fn cost(n: usize, n_kept: usize) -> u64 {
    let (mut n, mut sum) = (n, 0);
    while n > 0 {
        sum += n_rounds(n) * (n as u64 + 1);
        let n_next = n.div_ceil(2).max(n_kept);
        if n <= n_kept || n_next == 1 {
            break;
        }
        n = n_next;
    }
    sum
}
