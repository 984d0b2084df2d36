//! Step of a run (run member) that lets a script report its own run.
//!
//! Not here: the reports (script_reports).

use super::member::{LoadEnded, RunMember, RunUnderWay};
use super::script_reports::Reports;
use crate::error::Error;

/// [`RunMember`] that opens the states of a script's reports, and makes the last ones. Does nothing
/// in virtual time.
pub(super) struct ScriptReporting;

impl RunMember for ScriptReporting {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        if !run.is_simulated() {
            run.sink.reports = Reports::open(run.plan, run.groups)?;
        }
        Ok(())
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, load: &LoadEnded) {
        let Some(mut reports) = run.sink.reports.take() else { return };
        let seconds = load.measured_ns as f64 / 1e9;
        reports.tell_until(seconds.round() as i64, &run.sink.tally, run.sink.watcher);
        reports.conclude(seconds, &run.sink.tally, run.sink.watcher);
    }

    fn unanswered(&mut self, run: &mut RunUnderWay<'_, '_>, _silence: &str) {
        run.sink.reports = None;
    }
}
