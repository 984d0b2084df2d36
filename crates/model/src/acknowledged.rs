//! Changes in a benchmark history that the user has accepted, so that they no longer raise an
//! alarm.

use serde::{Deserialize, Serialize};

/// A lasting change of a metric from one build of the tested server to the next that the user has
/// accepted as normal, so that later builds are judged by the new level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// Name of the first build whose runs are at the new level, such as a version of the server.
    pub build: String,
    /// Point of the experiment (a combination of its varied values, such as `clients=8`) whose
    /// change is accepted; empty for all points.
    pub point: String,
    /// Reason that the user gave for accepting the change.
    pub reason: String,
    /// Size of the accepted change: |ln(new level / old level)| of the metric that changed most. A
    /// change of more than 1.5 times this size at the same build still raises an alarm. `None` in
    /// records of earlier versions, which did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
}
