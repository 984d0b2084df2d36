//! The status of a stored run or experiment.

use serde::{Deserialize, Serialize};

/// The status of a run or an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Has not ended, as far as the store knows.
    Running,
    /// Ended as its plan says.
    Completed,
    /// Was stopped early by the user, or its process was killed.
    Interrupted,
    /// Was ended by an error.
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

    /// Returns the status with this name; `None` if there is none.
    pub fn by_name(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}
