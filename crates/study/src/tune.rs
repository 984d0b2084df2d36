//! Tunes parameters: which configurations are tried, which is the best, and whether it is better
//! than the defaults.
//!
//! The best of many trials was lucky too, so its own trials cannot tell how good it is. Only the
//! pairs of trials that follow decide. Not here: the execution of trials (app), pages (render).

mod proposal;
mod strategy;

use analysis::report::Report;
use model::{Axis, Tune};
use serde::{Deserialize, Serialize};
use stats::{Comparison, main_effects};

use crate::environment::Environment;

pub use proposal::Levels;
pub use strategy::{Course, DEFAULTS, Outcome, PlannedTrial, Stage, Tuner};

/// Name and version of the JSON schema of [`TuneReport`].
pub const SCHEMA: &str = "dbdyno.tune/1";
/// Confidence of the change of the best configuration, and of all effects together.
pub const CONFIDENCE: f64 = 0.95;
/// Fewest pairs of trials that can show a difference with this confidence.
pub const PAIRS_MIN: u32 = 6;
/// Number of values of a parameter up to which only the best one's own value counts as near it.
const VALUES_FEW: u32 = 4;
/// Share of a parameter's values on each side of the best one that count as near it.
const NEAR_SHARE: f64 = 0.2;

/// Quotient of the ends of an effect's interval from which on it says nothing.
const INTERVAL_WIDE: f64 = 20.0;

/// What is known of the best configuration of a tuner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is better than the defaults.
    Better,
    /// It is worse than the defaults.
    Worse,
    /// The trials do not show that it is better or worse.
    NoEvidence,
    /// It breaks a limit in the trials that were to confirm it.
    BreaksLimits,
    /// It, or the defaults, failed in the trials that were to confirm it.
    Failed,
    /// All configurations but the defaults failed.
    NoneWorks,
    /// Not all trials were made.
    Unfinished,
}

/// Effect of one parameter: the change of the figure with values near the best configuration's,
/// relative to its other values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterEffect {
    /// Name of the parameter.
    pub parameter: String,
    /// The values that count as near the best configuration's.
    pub values: Vec<String>,
    /// Ratio of the figure with these values to that with others; null if it is not known.
    pub ratio: Option<f64>,
    /// Confidence interval of the ratio. All parameters' intervals hold together.
    pub interval: Option<(f64, f64)>,
}

impl ParameterEffect {
    /// Whether the interval is narrow enough to say anything.
    pub fn is_known(&self) -> bool {
        self.interval.is_some_and(|(low, high)| high / low < INTERVAL_WIDE)
    }

    /// Whether the figure depends on the parameter for certain.
    pub fn matters(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// A configuration that a tuner tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedConfiguration {
    /// Values of the parameters, in the order of [`TuneReport::axes`]; empty for the defaults.
    pub values: Vec<String>,
    /// Number of its trials.
    pub n_trials: u32,
    /// Number of its trials that failed.
    pub n_failed: u32,
    /// Geometric mean of the figure over its trials, those that confirm left out; null if none
    /// counts.
    pub mean: Option<f64>,
}

/// A trial of a tuner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedTrial {
    /// Index of the configuration in [`TuneReport::configurations`].
    pub configuration: u32,
    pub stage: Stage,
    /// Identifier of the run; null if the trial has none, since the server did not start.
    pub run: Option<String>,
    /// Value of the figure; null if the trial failed.
    pub value: Option<f64>,
    /// Whether the run kept all limits.
    pub keeps_limits: bool,
    /// Reason why the trial failed; null if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Change of the figure from the defaults to the best configuration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Ratio of the figure with the best configuration to that with the defaults.
    pub ratio: f64,
    /// Confidence interval of the ratio.
    pub interval: (f64, f64),
}

/// Report on a tuner: its trials, the best configuration, and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneReport {
    /// Name and version of the schema.
    pub schema: String,
    pub id: String,
    pub name: String,
    pub started_unix_ms: i64,
    /// Status of the tuner: in progress, or how it ended; null if the store does not know it.
    pub status: Option<model::Status>,
    pub tune: Tune,
    /// The parameters, with all their values.
    pub axes: Vec<Axis>,
    pub verdict: Verdict,
    /// Index of the best configuration; null while there is none.
    pub best: Option<u32>,
    /// Change from the defaults to the best configuration; null before it is known.
    pub gain: Option<Gain>,
    /// Figures of the pairs that confirm: with the defaults, and with the best configuration.
    pub pairs: Vec<(f64, f64)>,
    /// Effects of the parameters, in the order of the axes.
    pub effects: Vec<ParameterEffect>,
    /// All configurations that were tried; the first has the defaults.
    pub configurations: Vec<TunedConfiguration>,
    pub trials: Vec<TunedTrial>,
    /// Machine, database and settings of the trials; null without trials.
    pub scene: Option<Environment>,
}

/// What the trials of a tuner show.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    pub verdict: Verdict,
    pub gain: Option<Gain>,
    /// Scores of the pairs that confirm: with the defaults, and with the best configuration.
    pub pairs: Vec<(f64, f64)>,
}

/// Returns the score of a figure: its logarithm, so that higher is better. `None` if it is not
/// positive.
pub fn score(tune: &Tune, value: f64) -> Option<f64> {
    let sign = if tune.goal == model::TuneGoal::Maximize { 1.0 } else { -1.0 };
    (value > 0.0 && value.is_finite()).then(|| sign * value.ln())
}

/// Returns what the trials of a course show.
pub fn conclude(course: &Course) -> Conclusion {
    let Some(best) = course.best else {
        let verdict = if course.is_complete { Verdict::NoneWorks } else { Verdict::Unfinished };
        return Conclusion { verdict, gain: None, pairs: Vec::new() };
    };
    let of = |configuration: u32| -> Vec<Outcome> {
        let confirms = |(planned, outcome): (PlannedTrial, Outcome)| {
            let is_one = planned.stage == Stage::Confirm && planned.configuration == configuration;
            is_one.then_some(outcome)
        };
        course.made().filter_map(confirms).collect()
    };
    let (defaults, best) = (of(DEFAULTS), of(best));
    let pair = |(a, b): (&Outcome, &Outcome)| match (a, b) {
        (Outcome::Value { score: a, .. }, Outcome::Value { score: b, .. }) => Some((*a, *b)),
        _ => None,
    };
    let pairs: Vec<(f64, f64)> = defaults.iter().zip(&best).filter_map(pair).collect();
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
    let compared = Comparison::of_pairs(&differences, CONFIDENCE).ok();
    let breaks = |outcome: &&Outcome| matches!(outcome, Outcome::Value { keeps_limits: false, .. });
    let has_failed = defaults.iter().chain(&best).any(|one| *one == Outcome::Failed);
    let verdict = match &compared {
        _ if !course.is_complete => Verdict::Unfinished,
        _ if has_failed => Verdict::Failed,
        _ if 2 * best.iter().filter(breaks).count() > best.len() => Verdict::BreaksLimits,
        Some(compared) if compared.interval.0 > 0.0 => Verdict::Better,
        Some(compared) if compared.interval.1 < 0.0 => Verdict::Worse,
        _ => Verdict::NoEvidence,
    };
    let gain = compared.map(|compared| Gain { ratio: compared.shift, interval: compared.interval });
    Conclusion { verdict, gain, pairs }
}

impl Conclusion {
    /// Converts scores to the figure: ratios and values instead of logarithms.
    pub fn in_figure(self, tune: &Tune) -> Conclusion {
        let is_high = tune.goal == model::TuneGoal::Maximize;
        let back = |score: f64| if is_high { score.exp() } else { (-score).exp() };
        let gain = self.gain.map(|Gain { ratio, interval: (low, high) }| {
            let (low, high) = (back(low), back(high));
            Gain { ratio: back(ratio), interval: (low.min(high), low.max(high)) }
        });
        let pairs = self.pairs.iter().map(|(a, b)| (back(*a), back(*b))).collect();
        Conclusion { gain, pairs, ..self }
    }
}

/// Returns the effect of each parameter on the score, from the trials of the configurations that
/// were chosen without regard to outcomes. The best configuration is left out, since it was chosen
/// for its luck too. Empty without a best configuration.
pub fn effects(course: &Course, axes: &[Axis], tune: &Tune) -> Vec<ParameterEffect> {
    let best = course.best.and_then(|best| course.configurations[best as usize].clone());
    let Some(best) = best else { return Vec::new() };
    let near = |parameter: usize| near(best[parameter], axes[parameter].values.len() as u32);
    let (mut properties, mut scores) = (Vec::new(), Vec::new());
    for (planned, outcome) in course.made() {
        let is_even = (1..=course.n_even as u32).contains(&planned.configuration);
        let is_first = planned.repeat == 0 && Some(planned.configuration) != course.best;
        let levels = course.configurations[planned.configuration as usize].as_ref();
        if let (Outcome::Value { score, .. }, Some(levels), true) =
            (outcome, levels, is_even && is_first)
        {
            let is_near = |(at, level): (usize, &u32)| near(at).contains(level);
            properties.push(levels.iter().enumerate().map(is_near).collect::<Vec<bool>>());
            scores.push(score);
        }
    }
    let mut found = main_effects(&properties, &scores, CONFIDENCE);
    found.resize(axes.len(), None);
    let back =
        |score: f64| if tune.goal == model::TuneGoal::Maximize { score } else { -score }.exp();
    let of_parameter = |((at, axis), effect): ((usize, &Axis), Option<stats::Effect>)| {
        let values = near(at).map(|level| axis.values[level as usize].clone()).collect();
        let interval = effect.map(|effect| (back(effect.interval.0), back(effect.interval.1)));
        ParameterEffect {
            parameter: axis.name.clone(),
            values,
            ratio: effect.map(|effect| back(effect.shift)),
            interval: interval.map(|(low, high)| (low.min(high), low.max(high))),
        }
    };
    axes.iter().enumerate().zip(found).map(of_parameter).collect()
}

/// Returns the levels that count as near a level, of so many.
fn near(level: u32, n_levels: u32) -> std::ops::RangeInclusive<u32> {
    let reach = match n_levels {
        ..=VALUES_FEW => 0,
        _ => (f64::from(n_levels) * NEAR_SHARE).round() as u32,
    };
    level.saturating_sub(reach)..=(level + reach).min(n_levels - 1)
}

/// Returns the reason why a run's figure does not count, in few words; `None` if it does.
pub fn why_failed(report: &Report) -> Option<String> {
    (!crate::trials::counts(report)).then(|| crate::trials::why_not_mainly(report))
}

#[cfg(test)]
mod tests;
