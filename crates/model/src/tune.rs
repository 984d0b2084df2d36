//! What a tuner looks for: the configuration of some parameters with the best figure.

use serde::{Deserialize, Serialize};

use crate::choice;

/// Whether a tuner looks for high or low values of its figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TuneGoal {
    /// Values are to be as high as possible.
    Maximize,
    /// Values are to be as low as possible.
    Minimize,
}

choice!(TuneGoal { Maximize = "maximize", Minimize = "minimize" });

/// The way in which a tuner chooses the configurations that it tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TuneStrategy {
    /// Configurations spread evenly, of which the better half is tried again and again, then new
    /// ones near the good ones.
    Halving,
    /// A few configurations spread evenly, then always new ones near those that were good.
    Model,
    /// Configurations spread evenly, each tried equally often.
    Sobol,
    /// Configurations drawn at random, each tried equally often.
    Random,
    /// All configurations, each tried equally often.
    Grid,
}

choice!(TuneStrategy {
    Halving = "halving",
    Model = "model",
    Sobol = "sobol",
    Random = "random",
    Grid = "grid",
});

/// A tuner of an experiment's parameters: it tries configurations of their values, and compares the
/// best with the defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tune {
    /// Name of the figure that is to be as high or low as possible, such as `nopm`.
    pub figure: String,
    /// Whether high or low values of the figure are wanted.
    pub goal: TuneGoal,
    /// Limits that the best configuration has to keep, as the user wrote them, such as `p99<50ms`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Number of trials in all, with those that confirm the best configuration.
    pub n_trials: u32,
    /// Number of pairs of trials in which the best configuration is compared with the defaults.
    pub n_pairs: u32,
    /// The way in which configurations are chosen.
    pub strategy: TuneStrategy,
}
