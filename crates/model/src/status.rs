//! Status of a stored run or experiment.

use serde::{Deserialize, Serialize};

/// The status of a run or an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not ended yet, as far as is known.
    Running,
    /// Ended as the plan says.
    Completed,
    /// Stopped early by the user, or killed.
    Interrupted,
    /// Ended by an error.
    Failed,
}

impl Status {
    /// Every status, in display order.
    pub const ALL: [Status; 4] =
        [Status::Running, Status::Completed, Status::Interrupted, Status::Failed];

    /// Returns the name in lists and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Interrupted => "interrupted",
            Status::Failed => "failed",
        }
    }

    /// Returns the status with this name.
    pub fn by_name(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}
