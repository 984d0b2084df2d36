//! Which way a figure is better.

use serde::{Deserialize, Serialize};

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// More is better: rates.
    #[default]
    Higher,
    /// Less is better: times, errors, cost.
    Lower,
    /// It says what happened, and neither is better: gauges.
    Neither,
}

impl Direction {
    /// Name in lists, such as that of `dbdyno list figures`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
            Direction::Neither => "neither",
        }
    }

    /// Direction of what counts the opposite, such as the share below a bound of a time.
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Higher => Direction::Lower,
            Direction::Lower => Direction::Higher,
            Direction::Neither => Direction::Neither,
        }
    }
}
