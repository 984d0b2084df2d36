//! How a run or an experiment that is kept stands.

use serde::{Deserialize, Serialize};

/// Whether a run or an experiment goes on, and how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is under way.
    Running,
    /// It came to its end.
    Completed,
    /// Somebody ended it early, or its process was killed.
    Interrupted,
    /// It could not go on.
    Failed,
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 4] =
        [Status::Running, Status::Completed, Status::Interrupted, Status::Failed];

    /// The name in lists and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Interrupted => "interrupted",
            Status::Failed => "failed",
        }
    }

    /// The status with this name.
    pub fn by_name(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}
