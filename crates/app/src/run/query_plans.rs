//! Step of a run (run member) that keeps the plans which the optimizer chooses for the workload's
//! queries, so that a change of a time can be explained by a change of a plan.
//!
//! Not here: how a database explains a query (drivers), and comparisons (study).

use std::time::Duration;

use engine::Stop;
use model::{DbError, Event, Explain, KindIndex, QueryPlan};
use monitor::wall_clock;

use super::member::{LoadEnded, RunMember, RunUnderWay};
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::Opened;

/// Longest time to read all plans of a group. Some optimizers execute parts of a query to choose a
/// plan. Plans that are not read by then are left out.
const READ_MOST: Duration = Duration::from_secs(10);
/// Largest length of a plan in bytes; a longer one is cut off.
const PLAN_MAX: usize = 64 << 10;

/// Longest time to execute the queries of a group for their plans, after the load.
const EXECUTED_MOST: Duration = Duration::from_secs(3_600);

/// [`RunMember`] that reads the plans before the load, and if the workload asks for it executes the
/// queries once more after it: before, that would fill caches. What cannot be read is left out,
/// since the load meets the same error.
#[derive(Default)]
pub(super) struct QueryPlans {
    /// Plans of each group, as they were chosen.
    chosen: Vec<Vec<QueryPlan>>,
}

impl RunMember for QueryPlans {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        if run.is_simulated() {
            return Ok(());
        }
        for (index, opened) in run.groups.iter().enumerate() {
            let explain = opened.database.administration().explain;
            let of_group = read(opened, explain, READ_MOST, run.stop)?;
            let plans: Vec<QueryPlan> = of_group
                .into_iter()
                .map(|(kind, plan)| QueryPlan { kind, plan, executed: String::new() })
                .collect();
            if !plans.is_empty() {
                run.sink.tell(Event::QueryPlans { group: index as u16, plans: plans.clone() });
            }
            self.chosen.push(plans);
        }
        Ok(())
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, load: &LoadEnded) {
        if !load.is_complete() {
            return;
        }
        for (index, plans) in self.chosen.iter().enumerate() {
            let opened = &run.groups[index];
            if plans.is_empty() || !opened.workload.explains_execution() {
                continue;
            }
            let explain = opened.database.administration().explain_executed;
            match (explain, read(opened, explain, EXECUTED_MOST, run.stop)) {
                (None, _) => run.sink.note(NOT_EXPLAINED.to_owned()),
                (_, Err(error)) => run.sink.note(format!("plans of executions: {error}")),
                (_, Ok(executed)) => {
                    let mut plans = plans.clone();
                    for plan in &mut plans {
                        let own = executed.iter().find(|(kind, _)| *kind == plan.kind);
                        plan.executed = own.map(|(_, text)| text.clone()).unwrap_or_default();
                    }
                    run.sink.tell(Event::QueryPlans { group: index as u16, plans });
                }
            }
        }
    }
}

/// Note if executed plans are asked for, and the database has none.
const NOT_EXPLAINED: &str =
    "plans=executed: this database does not tell what each step of a query did";

/// Returns the plans of the queries of a workload that are read within `most`, each with the index
/// of its transaction type; none if the database has no such reader of plans.
fn read(
    opened: &Opened,
    explain: Option<Explain>,
    most: Duration,
    stop: &Stop,
) -> Result<Vec<(KindIndex, String)>, Error> {
    let Some(explain) = explain else { return Ok(Vec::new()) };
    let queries = opened.workload.explained(opened.database.dialect());
    if queries.is_empty() {
        return Ok(Vec::new());
    }
    let opened = opened.clone();
    run_interruptible(stop, "interrupted while plans were read", move || {
        let mut session = AdminSession::at(opened.database.as_ref())?;
        let mut plans = Vec::new();
        let read = |session: &mut AdminSession| -> Result<(), DbError> {
            let mut begins = explain.begin;
            for (kind, sql) in &queries {
                plans.push((*kind, plan_of(session, explain, &mut begins, sql)?));
            }
            Ok(())
        };
        let began = wall_clock::now();
        // The load meets the same error, and counts it.
        let _ = session.until(&|| began.elapsed() > most, read);
        Ok(plans)
    })
}

/// Returns the plan of a query. Of `begins`, the texts in front of it, those that the database
/// refuses are removed, until the last one.
fn plan_of(
    session: &mut AdminSession,
    explain: Explain,
    begins: &mut &'static [&'static str],
    sql: &str,
) -> Result<String, DbError> {
    loop {
        let mut plan = String::new();
        let read = session.read(&format!("{}{sql}", begins[0]), &mut |row| {
            let part = (explain.shape)(row);
            if !part.is_empty() {
                let room = PLAN_MAX.saturating_sub(plan.len());
                plan.push_str(&part[..part.floor_char_boundary(room)]);
                plan.push('\n');
            }
            Ok(())
        });
        match read {
            Ok(_) => return Ok(plan.trim_end().to_owned()),
            Err(refused) if begins.len() > 1 && !refused.kind.breaks_session() => {
                *begins = &begins[1..];
            }
            Err(error) => return Err(error),
        }
    }
}
