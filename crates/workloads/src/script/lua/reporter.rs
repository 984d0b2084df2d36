//! What a script does in a run beside its clients: `init`, `done`, and its reports by hooks, which
//! get the run's figures.
//!
//! Not here: the figures, and when each is due (app).

use std::sync::Arc;

use model::{
    BadParameter, Beginning, ReportFigures, ReportOf, ScriptReporter, ScriptReports, Source,
    TxContext,
};

use super::Decided;
use super::client::{Role, User};
use super::defined::Defined;
use super::names::{CUMULATIVE, DONE, INIT, INTERMEDIATE};
use super::options::general;

/// Percentile of the latencies if the options name none, as in sysbench.
const PERCENTILE: u64 = 95;

/// A client in whose Lua state a script begins and ends the run and makes its reports: its
/// variables are not those of the clients of the load.
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
    let defined = Defined::of(source)?;
    Ok(reports_in(&defined))
}

fn reports_in(defined: &Defined) -> ScriptReports {
    let has = |name: &str| defined.of_run.contains(&name);
    ScriptReports {
        intervals: has(INTERMEDIATE),
        runs: has(CUMULATIVE),
        begins: has(INIT),
        ends: has(DONE),
        every_s: None,
        percentile: PERCENTILE,
    }
}

impl Reporter {
    /// Returns what a script does in a run of `threads` clients beside them; `None` if that is
    /// nothing.
    ///
    /// # Errors
    ///
    /// An error of the script.
    pub(super) fn of(
        script: &Arc<Decided>,
        threads: u32,
    ) -> Result<Option<Reporter>, BadParameter> {
        let defined = Defined::of(script.source)?;
        let number =
            |name: &str| general(&script.settings, name).and_then(|text| text.parse().ok());
        let reports = ScriptReports {
            every_s: number("report_interval"),
            percentile: number("percentile").map_or(PERCENTILE, |nth| nth.clamp(0, 100) as u64),
            ..reports_in(&defined)
        };
        let user = User::new(Arc::clone(script), 0, threads, Role::Report);
        Ok((!defined.of_run.is_empty()).then_some(Reporter { user, reports }))
    }
}

impl ScriptReporter for Reporter {
    fn reports(&self) -> ScriptReports {
        self.reports
    }

    fn begin_run<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Beginning<'a> {
        Box::pin(async move {
            self.user.run_body(context)?;
            if self.reports.begins { self.user.of_run(INIT, context).await } else { Ok(()) }
        })
    }

    fn end_run<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Beginning<'a> {
        Box::pin(self.user.of_run(DONE, context))
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
