//! Changes in a benchmark history that the user has accepted, so that they no longer raise an
//! alarm.

use serde::{Deserialize, Serialize};

/// A lasting change of a metric that the user has accepted as normal from one build on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// First build whose runs are at the new level.
    pub build: String,
    /// Experiment point whose change is accepted, such as `clients=8`; empty for all points.
    pub point: String,
    /// Reason that the user gave for accepting the change.
    pub reason: String,
    /// Absolute logarithm of the ratio of new to old level, for the metric that changed most;
    /// `None` in older records, which did not keep it. A much larger change at the same build is
    /// not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
}
