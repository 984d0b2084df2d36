//! Step of a run (run member) that lets a script begin and report its own run.
//!
//! Not here: the reports (script_reports).

use model::StopReason;

use super::member::{LoadEnded, RunMember, RunUnderWay};
use super::script_reports::Reports;
use crate::error::Error;

/// [`RunMember`] that opens the states of what a script does beside its clients, lets it begin, and
/// makes its last reports. Its end follows when the run has been judged (`conclude`).
pub(super) struct ScriptReporting;

impl RunMember for ScriptReporting {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        let mut reports = Reports::open(run.plan, run.groups, run.is_simulated())?;
        if let Some(reports) = &mut reports {
            reports.begin()?;
        }
        run.sink.reports = reports;
        Ok(())
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, load: &LoadEnded) {
        let Some(mut reports) = run.sink.reports.take() else { return };
        // A load that failed has no report of the whole, as in sysbench.
        if matches!(load.reason, StopReason::Completed | StopReason::Interrupted) {
            let seconds = load.measured_ns as f64 / 1e9;
            reports.tell_until(seconds.round() as i64, &run.sink.tally, run.sink.watcher);
            reports.conclude(seconds, &run.sink.tally, run.sink.watcher);
        }
        run.sink.reports = Some(reports);
    }

    fn unanswered(&mut self, run: &mut RunUnderWay<'_, '_>, _silence: &str) {
        run.sink.reports = None;
    }
}
