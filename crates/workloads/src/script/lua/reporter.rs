//! Reports that a script makes of a run: its hooks, which get the run's figures.
//!
//! Not here: the figures, and when a report is due (app).

use std::sync::Arc;

use mlua::Function;
use model::{
    BadParameter, Beginning, ReportFigures, ReportOf, ScriptReporter, ScriptReports, Source,
    TxContext,
};

use super::client::{Role, User};
use super::options::general;
use super::state::{State, bad};
use super::{Decided, run_once};

/// Names of the hooks.
const INTERMEDIATE: &str = "report_intermediate";
const CUMULATIVE: &str = "report_cumulative";
/// Percentile of the latencies if the options name none, as in sysbench.
const PERCENTILE: u64 = 95;

/// A client in whose Lua state a script makes its reports: its variables are not those of the
/// clients of the load.
pub(super) struct Reporter {
    user: User,
    reports: ScriptReports,
}

/// Returns which reports a script makes.
///
/// # Errors
///
/// An error of the script.
pub fn reports_of(source: &'static Source) -> Result<ScriptReports, BadParameter> {
    let (state, _) = run_once(source, None, Some(|_| None))?;
    reports_in(&state)
}

fn reports_in(state: &State) -> Result<ScriptReports, BadParameter> {
    let ask: Function = state.rust().get("has_report").map_err(bad)?;
    let has = |hook: &str| ask.call::<bool>(hook).map_err(bad);
    let (intervals, runs) = (has(INTERMEDIATE)?, has(CUMULATIVE)?);
    Ok(ScriptReports { intervals, runs, every_s: None, percentile: PERCENTILE })
}

impl Reporter {
    /// Returns the hooks of a script for reports of a run of `threads` clients; `None` if it has
    /// none.
    ///
    /// # Errors
    ///
    /// An error of the script.
    pub(super) fn of(
        script: &Arc<Decided>,
        threads: u32,
    ) -> Result<Option<Reporter>, BadParameter> {
        let (state, _) = run_once(script.source, Some(&script.settings), Some(|_| None))?;
        let number =
            |name: &str| general(&script.settings, name).and_then(|text| text.parse().ok());
        let reports = reports_in(&state)?;
        let reports = ScriptReports {
            every_s: number("report_interval"),
            percentile: number("percentile").map_or(PERCENTILE, |nth| nth.clamp(0, 100) as u64),
            ..reports
        };
        let user = User::new(Arc::clone(script), 0, threads, Role::Report);
        Ok((reports.intervals || reports.runs).then_some(Reporter { user, reports }))
    }
}

impl ScriptReporter for Reporter {
    fn reports(&self) -> ScriptReports {
        self.reports
    }

    fn report<'a>(
        &'a mut self,
        figures: &'a ReportFigures,
        of: ReportOf,
        context: &'a mut TxContext<'_>,
    ) -> Beginning<'a> {
        Box::pin(async move {
            let mut all = of_both(figures);
            let hook = match of {
                ReportOf::Interval { waiting, running } => {
                    all.push(("queue_length", waiting as f64));
                    all.push(("concurrency", running as f64));
                    INTERMEDIATE
                }
                ReportOf::Run { min_s, max_s, mean_s, sum_s } => {
                    all.push(("latency_min", min_s));
                    all.push(("latency_max", max_s));
                    all.push(("latency_avg", mean_s));
                    all.push(("latency_sum", sum_s));
                    CUMULATIVE
                }
            };
            self.user.report(hook, &all, context).await
        })
    }
}

/// Returns the figures that both hooks get, with the names that scripts know.
fn of_both(figures: &ReportFigures) -> Vec<(&'static str, f64)> {
    let [reads, writes, others] = figures.statements.map(|n| n as f64);
    vec![
        ("threads_running", f64::from(figures.threads_running)),
        ("time_interval", figures.interval_s),
        ("time_total", figures.total_s),
        ("latency_pct", figures.latency_percentile_s),
        ("events", figures.events as f64),
        ("reads", reads),
        ("writes", writes),
        ("other", others),
        ("errors", figures.errors as f64),
        ("reconnects", figures.reconnects as f64),
    ]
}
