//! The query that has to return true before each trial of an experiment, with its time limit.
//!
//! Not here: repeating the query (app).

use model::{Condition, Target};

use crate::bad_plan::BadPlan;
use crate::draft::spelled;
use crate::table::ExperimentValues;
use crate::target::keeps_data;

/// Returns an error if trials have to wait for a query, but some target is not a database that can
/// execute SQL.
pub(crate) fn can_be_asked<'t>(
    values: &ExperimentValues,
    mut targets: impl Iterator<Item = &'t Target>,
) -> Result<(), BadPlan> {
    match targets.find(|target| !keeps_data(target) && values.wait_until.is_written()) {
        Some(target) => {
            Err(values.wait_until.bad(format!("{}: has no database to query", target.scheme)))
        }
        None => Ok(()),
    }
}

/// Parses the query that has to return true before each trial, with its time limit; `None` if none
/// is written.
pub(crate) fn decide_wait(values: &ExperimentValues) -> Result<Option<Condition>, BadPlan> {
    let ExperimentValues { wait_until, wait_at_most, .. } = values;
    let query = |beside| spelled("wait_until", "SELECT ...", beside);
    match &wait_until.value {
        Some(sql) if sql.trim().is_empty() => {
            let query = query(&wait_until.from);
            Err(wait_until.bad(format!("there is no query: write {query}")))
        }
        Some(sql) => Ok(Some(Condition { sql: sql.clone(), at_most_ns: wait_at_most.value })),
        None if wait_at_most.is_written() => {
            let query = query(&wait_at_most.from);
            Err(wait_at_most.bad(format!("it needs a query to wait for: write {query} too")))
        }
        None => Ok(None),
    }
}
