//! Repeats of the points of an experiment: their levels, and the rule that may end them early.
//!
//! Not here: statistics of repeats (study), and restarting a server (app).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::numbers::in_percent;

/// A level of repetition in an experiment: runs, restarts of the server, or builds of the data. One
/// repeat of a level contains one or more repeats of the level below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Repeats are single runs on the same data, without a restart of the server in between.
    Run,
    /// Repeats are restarts of the server, each followed by one or more runs.
    Restart,
    /// Repeats are builds of the data, each followed by one or more server starts or runs.
    Rebuild,
}

impl Level {
    /// Every level of repetition, from the lowest: runs, restarts, rebuilds.
    pub const ALL: [Level; 3] = [Level::Run, Level::Restart, Level::Rebuild];

    /// Returns the name of the level in reports: `run`, `restart` or `rebuild`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Run => "run",
            Level::Restart => "restart",
            Level::Rebuild => "rebuild",
        }
    }
}

/// Number of data builds per point, and of server starts per build, among which the repeats of the
/// point are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nesting {
    /// Number of server starts per data build; `None` if the server is not restarted between runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u32>,
    /// Number of data builds per point; `None` if the data are not rebuilt between runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilds: Option<u32>,
}

/// The statistical result, a precision or a decision, at which an experiment may stop repeating its
/// points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The 95 % confidence interval of every point's mean is at most as wide as demanded.
    Precise {
        /// Largest allowed half-width of the interval, as a share of the mean: 0.02 for 2 %.
        share: f64,
    },
    /// Every point is compared with the point that has the first value of the first varied
    /// parameter, and the difference is decided: better, worse, or smaller than `min_effect`.
    Decided {
        /// Smallest relative difference that matters, as a share: 0.02 for 2 %.
        min_effect: f64,
    },
}

/// Rule by which an experiment may end before all its repeats have run, such as `until=2%,min=4`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopRule {
    /// Precision or decision at which the repeats end.
    pub goal: Goal,
    /// Name of the metric to which the rule applies, such as `tps`; `None` for the primary metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Number of repeats of the highest level (runs, restarts or rebuilds) before the rule is
    /// evaluated for the first time.
    pub min: u32,
}

impl fmt::Display for StopRule {
    /// Formats the rule as users write it, without the maximum number of repeats.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.goal {
            Goal::Precise { share } => write!(f, "until={}%", in_percent(share))?,
            Goal::Decided { min_effect } => {
                write!(f, "until=decided,min_effect={}%", in_percent(min_effect))?;
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
