//! Changes in a history that are no alarms.

use serde::{Deserialize, Serialize};

/// A change that somebody has seen and accepts: from this build on the level is what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// The first build of the new level.
    pub build: String,
    /// The point, such as `clients=8`; every one if empty.
    pub point: String,
    /// Why it is accepted.
    pub reason: String,
}
