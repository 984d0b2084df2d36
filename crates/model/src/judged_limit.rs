//! The outcome of a limit (a gate) that a user set on a result. Not here: how a limit is judged.

use serde::{Deserialize, Serialize};

/// A limit that a command judged, as its outcome is stored with the run or experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedLimit {
    /// Option of the command that set the limit: `require` or `fail-if`.
    pub option: String,
    /// Whether the limit held when it was judged.
    pub outcome: LimitOutcome,
    /// The sentence that the command printed, such as `passed p99<50ms: 8.2 ms`.
    pub text: String,
}

/// Outcome of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitOutcome {
    /// The result is within the limit, and surely so if its error is known.
    Passed,
    /// The limit is broken, or it could not be judged because the run is not valid.
    Failed,
    /// The result does not decide the limit.
    Undecided,
}
