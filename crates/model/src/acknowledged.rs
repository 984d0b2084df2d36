//! Changes in a history that are no alarms.

use serde::{Deserialize, Serialize};

/// A change that somebody has seen and accepts: from this build on the level is what it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// The first build of the new level.
    pub build: String,
    /// The point, such as `clients=8`; every one if empty.
    pub point: String,
    /// Why it is accepted.
    pub reason: String,
    /// How large the change was, as the logarithm of its ratio without sign, in the figure that
    /// changed most; null where it was acknowledged before that was kept. A much larger change at
    /// the same place is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
}
