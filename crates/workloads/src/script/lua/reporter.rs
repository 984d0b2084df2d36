//! Reports that a script makes of a run: its hooks, which get the run's figures.
//!
//! Not here: the figures, and when a report is due (the caller).

use std::sync::Arc;

use mlua::Function;
use model::{BadParameter, DbError, Settings, Source, TxContext};

use super::client::{Role, User};
use super::state::bad;
use super::{Decided, is_old, run_once};
use crate::script::report::{Latencies, Queue, ReportFigures};

/// Names of the hooks.
const INTERMEDIATE: &str = "report_intermediate";
const CUMULATIVE: &str = "report_cumulative";

/// A client in whose Lua state a script makes its reports: its variables are not those of the
/// clients of the load.
pub struct Reporter {
    user: User,
    /// Whether the script has a hook for some seconds, and one for the whole run.
    has: [bool; 2],
}

impl Reporter {
    /// Returns the hooks of a script with its options, for reports of a run of `threads` clients;
    /// `None` if it has none.
    ///
    /// # Errors
    ///
    /// An error of the script.
    pub fn of(
        source: &'static Source,
        settings: &Settings,
        threads: u32,
    ) -> Result<Option<Reporter>, BadParameter> {
        let (state, _) = run_once(source, Some(settings), Some(|_| None))?;
        let ask: Function = state.rust().get("has_report").map_err(bad)?;
        let has = |hook: &str| ask.call::<bool>(hook).map_err(bad);
        let has = [has(INTERMEDIATE)?, has(CUMULATIVE)?];
        let decided = Decided {
            source,
            settings: settings.clone(),
            seed: 0,
            is_old: is_old(source),
            n_unique: Arc::default(),
        };
        let user = User::new(Arc::new(decided), 0, threads, Role::Report);
        Ok(has.contains(&true).then_some(Reporter { user, has }))
    }

    /// Reports the seconds since the report before, if the script has a hook for that. Returns
    /// whether it has one. The hook may use connections.
    ///
    /// # Errors
    ///
    /// An error of the hook.
    pub async fn intermediate(
        &mut self,
        figures: &ReportFigures,
        queue: Queue,
        context: &mut TxContext<'_>,
    ) -> Result<bool, DbError> {
        if !self.has[0] {
            return Ok(false);
        }
        let mut all = of_both(figures);
        all.push(("queue_length", queue.waiting as f64));
        all.push(("concurrency", queue.running as f64));
        self.user.report(INTERMEDIATE, &all, context).await.map(|()| true)
    }

    /// Reports a whole run, if the script has a hook for that. Returns whether it has one. The hook
    /// may use connections.
    ///
    /// # Errors
    ///
    /// An error of the hook.
    pub async fn cumulative(
        &mut self,
        figures: &ReportFigures,
        latencies: Latencies,
        context: &mut TxContext<'_>,
    ) -> Result<bool, DbError> {
        if !self.has[1] {
            return Ok(false);
        }
        let mut all = of_both(figures);
        all.push(("latency_min", latencies.min_s));
        all.push(("latency_max", latencies.max_s));
        all.push(("latency_avg", latencies.mean_s));
        all.push(("latency_sum", latencies.sum_s));
        self.user.report(CUMULATIVE, &all, context).await.map(|()| true)
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
