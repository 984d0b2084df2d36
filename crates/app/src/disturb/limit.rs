//! Time limit of a disturbance's action, and the outcome of an action that is cut off by it or by
//! the end of the load.

use std::time::Instant;

use model::Disturbed;
use monitor::wall_clock;

/// Time limit of an action: the instant at which the action is cut off (`None` if it has no limit),
/// and the reason to report then.
pub(super) struct Limit {
    pub(super) at: Option<Instant>,
    pub(super) why: String,
}

impl Limit {
    pub(super) fn has_come(&self) -> bool {
        self.at.is_some_and(|at| wall_clock::now() >= at)
    }

    pub(super) fn cut_off(&self) -> Disturbed {
        match self.has_come() {
            true => Disturbed::CutOff { why: self.why.clone() },
            false => cut_off_by_end(),
        }
    }
}

pub(super) fn cut_off_by_end() -> Disturbed {
    Disturbed::CutOff { why: "the load was over".to_owned() }
}
