//! How often an experiment repeats its points: at which levels, and until when.
//!
//! Not here: what repeats show (analysis), and how a server is restarted (app).

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is repeated, from the lowest level to the highest: each contains some of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A run.
    Run,
    /// A start of the server, with its runs.
    Restart,
    /// A build of the data, with its starts or runs.
    Rebuild,
}

impl Level {
    /// Every level, the lowest first.
    pub const ALL: [Level; 3] = [Level::Run, Level::Restart, Level::Rebuild];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Run => "run",
            Level::Restart => "restart",
            Level::Rebuild => "rebuild",
        }
    }
}

/// How often a server is started and its data are built for the repeats of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nesting {
    /// Starts of the server in each build; none if it is not started again for repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u32>,
    /// Builds of the data; none if they are not built again for repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilds: Option<u32>,
}

/// What repeats go on until.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The half-width of every point's 95 % interval is at most this share of its mean.
    Precise {
        /// The share.
        share: f64,
    },
    /// Every value of the first axis is better or worse than the first one, or differs from it by
    /// less than matters.
    Decided {
        /// The share from which on a difference matters.
        min_effect: f64,
    },
}

/// When repeats end before there are as many as there may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopRule {
    /// What they go on until.
    pub goal: Goal,
    /// The figure that is looked at; the experiment's own if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Repeats of the highest level before the first look.
    pub min: u32,
}

impl fmt::Display for StopRule {
    /// As it is written, but for how many repeats there may be.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shares were written in percent: 0.07 × 100 is to be 7 again.
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
