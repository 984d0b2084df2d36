//! A settling step during the load, such as a checkpoint at a known time. Not here: the step itself
//! (settle).

use std::time::Duration;

use model::{Disturbed, SettlingStep, numbers};
use monitor::wall_clock;

use super::limit::Limit;
use super::worker::{Came, Worker, failed};
use crate::settle::{ToSettle, settle_step};

/// Limit of a step without its own: it ends with the load at the latest.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

impl Worker {
    /// Runs a step until it is done, cut off, or the load is over.
    pub(super) fn settle(&self, step: Option<&SettlingStep>, limit: &Limit) -> Came {
        let Some(step) = step else { return failed("there is no such step") };
        let of = ToSettle {
            database: self.database.as_ref(),
            target: &self.settling.target,
            tables: self.settling.tables.clone(),
            journal: self.settling.journal.as_deref(),
            limit: LONGEST,
        };
        let is_cut = || self.signal.is_over() || limit.has_come();
        let began = wall_clock::now();
        match settle_step(&of, step, &is_cut) {
            Ok(settled) if !settled.is_interrupted => {
                let incomplete = settled.incomplete.iter().map(|of| of.why.clone());
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
