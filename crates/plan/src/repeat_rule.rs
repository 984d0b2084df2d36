//! Syntax of the repeats on one level (runs, server starts or data builds): a number, or a stop
//! rule that ends them.
//!
//! Not here: the list of levels, and how they are nested (repeat).

use analysis::figures::{direction, known, names_of_run};
use model::{Direction, Experiment, Goal, Level, ParameterKind, StopRule, parse_count};
use study::comparison::MIN_EFFECT;
use toml::Value;

use crate::form::Form;

/// Largest number of repeats on a level (runs, server starts or data builds). More are rejected,
/// because they would take too long for any user.
const REPEATS_MAX: u64 = 10_000;
/// Default maximum of repeats, for a stop rule that states none.
pub const REPEATS_MOST: u64 = 30;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeats {
    /// Number of repeats on a level (runs, server starts or data builds), or the largest number if
    /// a stop rule may end them earlier.
    pub(crate) n: u64,
    pub(crate) stop: Option<StopRule>,
}

/// Returns the repeats that a decided experiment has on a level (runs, server starts or data
/// builds); `None` if the level is not repeated.
pub(crate) fn level_of(experiment: &Experiment, level: Level) -> Option<Repeats> {
    let model::Nesting { restarts, rebuilds } = experiment.nesting;
    let n = match level {
        Level::Run => {
            Some(experiment.repeats / (restarts.unwrap_or(1) * rebuilds.unwrap_or(1)).max(1))
        }
        Level::Restart => restarts,
        Level::Rebuild => rebuilds,
    };
    let stop = experiment.stop.clone().filter(|_| experiment.level() == level);
    Some(Repeats { n: n?.into(), stop })
}

impl Form for Repeats {
    type Value = Repeats;
    const KIND: ParameterKind = ParameterKind::Text;

    fn read(text: &str) -> Result<Repeats, String> {
        let text = text.trim();
        if text.starts_with("until") {
            return read_rule(text);
        }
        let n = parse_count(text).map_err(|bad| {
            format!("{bad}; write a number such as 5, or a rule such as until=2%,max=20")
        })?;
        match n {
            1..=REPEATS_MAX => Ok(Repeats { n, stop: None }),
            0 => Err("'0' is below the minimum of 1".to_owned()),
            _ => Err(format!("'{n}' is above the maximum of {REPEATS_MAX}")),
        }
    }

    fn print(value: &Repeats) -> Option<Value> {
        let n = value.n;
        Some(match &value.stop {
            Some(rule) => format!("{rule},max={n}").into(),
            None => i64::try_from(n).unwrap_or(i64::MAX).into(),
        })
    }
}

/// Parses a stop rule such as `until=2%,max=20`, and returns it with its maximum of repeats (`max`,
/// by default [`REPEATS_MOST`]).
fn read_rule(text: &str) -> Result<Repeats, String> {
    let (mut goal, mut figure, mut min_effect) = (None, None, None);
    let (mut most, mut min) = (REPEATS_MOST, stats::FIGURES_MIN as u64);
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim(), value.trim());
        // The option of `compare` is spelled with a dash.
        let key = if key == "min-effect" { "min_effect" } else { key };
        if let Some((_, before)) = seen.iter().find(|(known, _)| *known == key) {
            return Err(format!(
                "the rule has {key} twice, as {before} and as {value}: remove one"
            ));
        }
        seen.push((key, value));
        let number = || parse_count(value).map_err(|bad| format!("{key}: {bad}"));
        match key {
            "until" => goal = Some(read_goal(value)?),
            "min_effect" => min_effect = Some(percent(key, value)?),
            "figure" => {
                let named = known(value).map_err(|why| format!("figure {why}"))?;
                let named = named.ok_or_else(|| {
                    format!("figure {value}: choose one of {}", names_of_run().join(", "))
                })?;
                if direction(&named) == Direction::Neither {
                    return Err(format!("figure {value}: it has no better direction"));
                }
                figure = Some(named);
            }
            "max" => most = number()?,
            "min" => min = number()?,
            _ => {
                return Err(format!(
                    "'{key}' is not part of a rule: write until, max, min, figure or min_effect, \
                     such as until=2%,max=20"
                ));
            }
        }
    }
    let goal = match (goal, min_effect) {
        (Some(Goal::Decided { .. }), Some(min_effect)) => Goal::Decided { min_effect },
        (Some(goal @ Goal::Decided { .. }), None) | (Some(goal), None) => goal,
        (Some(Goal::Precise { .. }), Some(_)) => {
            return Err("min_effect belongs to until=decided: leave it out".to_owned());
        }
        (None, _) => return Err("the rule has no until: write until=2%".to_owned()),
    };
    let least = stats::FIGURES_MIN as u64;
    if min < least {
        return Err(format!(
            "min={min}: fewer than {least} repeats are too few to estimate their scatter: write \
             {least} or more"
        ));
    }
    if most < min || most > REPEATS_MAX {
        return Err(format!("max={most}: it lies between {min} and {REPEATS_MAX}"));
    }
    let min = u32::try_from(min).map_err(|error| error.to_string())?;
    Ok(Repeats { n: most, stop: Some(StopRule { goal, figure, min }) })
}

fn read_goal(value: &str) -> Result<Goal, String> {
    match value {
        "decided" => Ok(Goal::Decided { min_effect: MIN_EFFECT }),
        value => Ok(Goal::Precise { share: percent("until", value)? }),
    }
}

/// Parses a percentage above 0 % and of at most 50 %, and returns it as a share: 0.02 for `2%`.
/// Returns an error that names `key` for any other text.
fn percent(key: &str, value: &str) -> Result<f64, String> {
    let number = value.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let percent = number.filter(|percent| *percent > 0.0 && *percent <= 50.0);
    let share = percent.map(|percent| percent / 100.0);
    let or = if key == "until" { ", or 'decided'" } else { "" };
    share.ok_or_else(|| {
        format!("{key}={value}: write a share of at most 50 %, such as {key}=2%{or}")
    })
}
