//! The status of a stored run or experiment.

use serde::{Deserialize, Serialize};

/// Status of a stored run or experiment: whether it is still running, and if not how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The run or experiment is still running: its end is not in the store.
    Running,
    /// The run or experiment ended as planned, by its time or number of transactions.
    Completed,
    /// The run or experiment ended early, because the user stopped it or its process was killed.
    Interrupted,
    /// The run or experiment was ended early by an error.
    Failed,
}

impl Status {
    /// Every status of a run, in the order in which lists show them.
    pub const ALL: [Status; 4] =
        [Status::Running, Status::Completed, Status::Interrupted, Status::Failed];

    /// Returns the name of the status in lists and in the store, such as `completed`.
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
