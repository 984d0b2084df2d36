//! Time limits of a disturbance, and the outcome when one is reached.

use std::time::Instant;

use model::Disturbed;
use monitor::wall_clock;

/// Limit of a disturbance.
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
