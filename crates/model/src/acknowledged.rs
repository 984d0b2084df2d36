//! Changes in a history that the user has accepted, so that they raise no alarm.

use serde::{Deserialize, Serialize};

/// An accepted change of level: `build` is the first build of the new normal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// First build at the new level.
    pub build: String,
    /// The point, such as `clients=8`; empty for all points.
    pub point: String,
    /// The user's reason for accepting it.
    pub reason: String,
    /// Absolute log ratio of the change, of the metric that changed most; null in older records,
    /// which did not keep it. A much larger change at the same build is a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
}
