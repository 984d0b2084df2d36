//! Repeats of an experiment's points: levels, and the rule that ends them.
//!
//! Not here: statistics of repeats (study), and restarting a server (app).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A level of repetition, from the lowest to the highest: each contains several of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Runs within the same server start and data.
    Run,
    /// Starts of the server, each with its runs.
    Restart,
    /// Builds of the data, each with its starts or runs.
    Rebuild,
}

impl Level {
    /// Every level, the lowest first.
    pub const ALL: [Level; 3] = [Level::Run, Level::Restart, Level::Rebuild];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Run => "run",
            Level::Restart => "restart",
            Level::Rebuild => "rebuild",
        }
    }
}

/// Numbers of server starts and data builds among the repeats of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nesting {
    /// Server starts per build; `None` if the server is not restarted for repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u32>,
    /// Builds of the data; `None` if they are not rebuilt for repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilds: Option<u32>,
}

/// The goal that ends the repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The half-width of every point's 95 % CI is at most this share of its mean.
    Precise {
        /// Required half-width, as a share of the mean.
        share: f64,
    },
    /// Every value of the first axis is better or worse than the first value, or differs from it by
    /// less than the minimum effect.
    Decided {
        /// Smallest relative difference that matters.
        min_effect: f64,
    },
}

/// Rule that ends the repeats before their maximum number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopRule {
    /// The goal to reach.
    pub goal: Goal,
    /// Figure to evaluate; the experiment's primary metric if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Repeats of the highest level before the first evaluation.
    pub min: u32,
}

impl fmt::Display for StopRule {
    /// In the form that users write, without the maximum number of repeats.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shares are written in percent: 0.07 × 100 must print as 7.
        let percent = |share: f64| (share * 1e10).round() / 1e8;
        match self.goal {
            Goal::Precise { share } => write!(f, "until={}%", percent(share))?,
            Goal::Decided { min_effect } => {
                write!(f, "until=decided,min_effect={}%", percent(min_effect))?;
            }
        }
        match &self.figure {
            Some(figure) => write!(f, ",figure={figure},min={}", self.min),
            None => write!(f, ",min={}", self.min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_shown_as_it_is_written() {
        let rule = |goal, figure: Option<&str>| {
            StopRule { goal, figure: figure.map(str::to_owned), min: 4 }.to_string()
        };
        assert_eq!(rule(Goal::Precise { share: 7.0 / 100.0 }, None), "until=7%,min=4");
        let decided = Goal::Decided { min_effect: 0.005 };
        let words = "until=decided,min_effect=0.5%,figure=p99_ms,min=4";
        assert_eq!(rule(decided, Some("p99_ms")), words);
    }
}
