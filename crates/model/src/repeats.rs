//! How often an experiment repeats its points: at which levels, and until when.
//!
//! Not here: what repeats show (results), and how a server is restarted (app).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Dice, Experiment, Order, Stream};

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

/// Trials after which repeats may end: one repeat of the highest level, of all points or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The point, where points are tried one after the other.
    pub point: Option<u32>,
    /// Which repeat of the highest level, from 0.
    pub unit: u32,
    /// Point and repeat of each trial.
    pub trials: Vec<(u32, u32)>,
}

impl Experiment {
    /// The highest level that is repeated.
    pub fn level(&self) -> Level {
        match self.nesting {
            Nesting { rebuilds: Some(_), .. } => Level::Rebuild,
            Nesting { restarts: Some(_), .. } => Level::Restart,
            _ => Level::Run,
        }
    }

    /// How often that level is repeated at each point, at most.
    pub fn units(&self) -> u32 {
        let Nesting { restarts, rebuilds } = self.nesting;
        rebuilds.or(restarts).unwrap_or(self.repeats)
    }

    /// Which repeat of the highest level a trial belongs to, from 0.
    pub fn unit_of(&self, repeat: u32) -> u32 {
        repeat / (self.repeats / self.units()).max(1)
    }

    /// Runs that follow each other at a point: those of a start of the server, or of a build.
    pub fn runs_together(&self) -> u32 {
        let Nesting { restarts, rebuilds } = self.nesting;
        match (restarts, rebuilds) {
            (None, None) => 1,
            _ => self.repeats / (restarts.unwrap_or(1) * rebuilds.unwrap_or(1)).max(1),
        }
    }

    /// Which build a trial belongs to, and which start of the server within it, from 0.
    pub fn build_and_start(&self, repeat: u32) -> (u32, u32) {
        let start = repeat / self.runs_together().max(1);
        let of_build = self.nesting.restarts.unwrap_or(1);
        match self.nesting.rebuilds {
            Some(_) => (start / of_build, start % of_build),
            None => (0, start),
        }
    }

    /// Every trial, in the order in which they are made, by the rounds after which repeats may end:
    /// always the same.
    pub fn rounds(&self) -> Vec<Round> {
        let together = self.runs_together().max(1);
        let n_points = self.points.len() as u32;
        let blocks = self.repeats / together;
        let of =
            |point: u32, block: u32| (0..together).map(move |run| (point, block * together + run));
        let mut trials: Vec<(u32, u32)> = Vec::new();
        if self.order == Order::Sequential {
            let all = (0..n_points).flat_map(|point| (0..blocks).map(move |block| (point, block)));
            trials.extend(all.flat_map(|(point, block)| of(point, block)));
        } else {
            for block in 0..blocks {
                let mut points: Vec<u32> = (0..n_points).collect();
                match self.order {
                    Order::Random => {
                        Dice::new(self.seed, Stream::Order, block.into()).shuffle(&mut points);
                    }
                    _ if block % 2 == 1 => points.reverse(),
                    _ => {}
                }
                trials.extend(points.into_iter().flat_map(|point| of(point, block)));
            }
        }
        let key = |&(point, repeat): &(u32, u32)| {
            let point = (self.order == Order::Sequential).then_some(point);
            (point, self.unit_of(repeat))
        };
        let round = |trials: &[(u32, u32)]| {
            let (point, unit) = key(&trials[0]);
            Round { point, unit, trials: trials.to_vec() }
        };
        trials.chunk_by(|a, b| key(a) == key(b)).map(round).collect()
    }
}
