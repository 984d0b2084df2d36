//! Runs a settling step, such as a checkpoint, as a disturbance at a known time of the load. Not
//! here: the step itself (settle).

use std::time::Duration;

use model::{Disturbed, SettlingStep, numbers};
use monitor::wall_clock;

use super::limit::Limit;
use super::worker::{Came, Worker, failed};
use crate::settle::{ToSettle, settle_step};

/// Time limit that is passed on for a settling step during the load, 24 hours. The disturbance's
/// own limit or the end of the load always comes earlier.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

impl Worker {
    /// Runs a settling step, such as a checkpoint, until it is done, `limit` is reached, or the
    /// load is over. Fails if `step` is `None`: the database has no step of the requested name.
    pub(super) fn settle(&self, step: Option<&SettlingStep>, limit: &Limit) -> Came {
        let Some(step) = step else { return failed("there is no such step") };
        let to_settle = ToSettle {
            database: self.database.as_ref(),
            target: &self.settling.target,
            tables: self.settling.tables.clone(),
            journal: self.settling.journal.as_deref(),
            limit: LONGEST,
        };
        let is_cut = || self.signal.is_over() || limit.has_come();
        let began = wall_clock::now();
        match settle_step(&to_settle, step, &is_cut) {
            Ok(settled) if !settled.is_interrupted => {
                let incomplete = settled.incomplete.iter().map(|left| left.why.clone());
                let output: Vec<String> =
                    std::iter::once(settled.sentence()).chain(incomplete).collect();
                (Disturbed::Done, output.join("; "))
            }
            Err(error) if !is_cut() => failed(error.to_string()),
            _ => {
                let lasted = numbers::seconds(began.elapsed().as_secs_f64());
                (limit.cut_off(), format!("after {lasted}"))
            }
        }
    }
}
