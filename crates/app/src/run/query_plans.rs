//! Step of a run (run member) that keeps the plans which the optimizer chooses for the workload's
//! queries, so that a change of a time can be explained by a change of a plan.
//!
//! Not here: how a database explains a query (drivers), and comparisons (study).

use std::time::Duration;

use engine::Stop;
use model::{DbError, Event, QueryPlan};
use monitor::wall_clock;

use super::member::{RunMember, RunUnderWay};
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::Opened;

/// Longest time to read all plans of a group. Some optimizers execute parts of a query to choose a
/// plan. Plans that are not read by then are left out.
const READ_MOST: Duration = Duration::from_secs(10);
/// Largest length of a plan in bytes; a longer one is cut off. DuckDB draws one of TPC-H in more
/// than 16 KiB.
const PLAN_MAX: usize = 64 << 10;

/// [`RunMember`] that reads the plans before the load. What cannot be read is left out, since the
/// load meets the same error.
pub(super) struct QueryPlans;

impl RunMember for QueryPlans {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        if run.is_simulated() {
            return Ok(());
        }
        for (index, opened) in run.groups.iter().enumerate() {
            let plans = read(opened, run.stop)?;
            if !plans.is_empty() {
                run.sink.tell(Event::QueryPlans { group: index as u16, plans });
            }
        }
        Ok(())
    }
}

fn read(opened: &Opened, stop: &Stop) -> Result<Vec<QueryPlan>, Error> {
    let Some(explain) = opened.database.administration().explain else { return Ok(Vec::new()) };
    let queries = opened.workload.explained(opened.database.dialect());
    if queries.is_empty() {
        return Ok(Vec::new());
    }
    let opened = opened.clone();
    run_interruptible(stop, "interrupted while plans were read", move || {
        let mut session = AdminSession::at(opened.database.as_ref())?;
        let mut plans = Vec::new();
        let read = |session: &mut AdminSession| -> Result<(), DbError> {
            for (kind, sql) in &queries {
                let mut plan = String::new();
                let sql = format!("{}{sql}", explain.begin);
                session.read(&sql, &mut |row| {
                    let part = (explain.shape)(row);
                    if !part.is_empty() {
                        let room = PLAN_MAX.saturating_sub(plan.len());
                        plan.push_str(&part[..part.floor_char_boundary(room)]);
                        plan.push('\n');
                    }
                    Ok(())
                })?;
                plans.push(QueryPlan { kind: *kind, plan: plan.trim_end().to_owned() });
            }
            Ok(())
        };
        let began = wall_clock::now();
        // The load meets the same error, and counts it.
        let _ = session.until(&|| began.elapsed() > READ_MOST, read);
        Ok(plans)
    })
}
