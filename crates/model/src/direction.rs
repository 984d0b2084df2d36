//! The direction in which a figure is better: higher or lower.

use serde::{Deserialize, Serialize};

/// The direction in which a figure (a named number of a report, such as `p99`) is better: higher,
/// lower or neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// A higher value is better, as for rates.
    #[default]
    Higher,
    /// A lower value is better, as for response times, errors and cost.
    Lower,
    /// Neither direction is better: the figure only describes what happened, as most gauges do.
    Neither,
}

impl Direction {
    /// Returns `higher`, `lower` or `neither`, as in the output of `dbdyno list figures`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
            Direction::Neither => "neither",
        }
    }

    /// Swaps `Higher` and `Lower`; `Neither` stays. For a figure that counts the opposite, such as
    /// the share of response times below a bound.
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Higher => Direction::Lower,
            Direction::Lower => Direction::Higher,
            Direction::Neither => Direction::Neither,
        }
    }
}
