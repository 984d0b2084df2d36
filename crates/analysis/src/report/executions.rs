//! Executions of the transactions of fixed sequences, and the plans of queries. Not here: figures
//! over all of them (build).

use model::{Execution, KindIndex, NS_PER_S, QueryPlan};
use serde::{Deserialize, Serialize};

use crate::Tally;
use crate::tally::GroupTally;

/// An execution of a transaction of a fixed sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionReport {
    /// Name of the group of clients.
    pub group: String,
    /// Number of the client in its group, from 0.
    pub client: u32,
    /// Name of the transaction type, as in `transactions`.
    pub transaction: String,
    /// Start of the execution, in seconds from the start of the measured phase.
    pub started_s: f64,
    /// Duration of the execution in seconds, retries included.
    pub took_s: f64,
    /// True if the transaction was committed, or rolled back by design; false if it failed.
    pub is_finished: bool,
    /// Class of the error with which it failed, such as `timeout`; `None` if it did not, and in
    /// reports from before it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Returns the executions of all groups whose clients execute fixed sequences of transactions.
/// `kind_name` names the type of a transaction, given the indexes of its group and type.
pub(super) fn executions(
    tally: &Tally,
    kind_name: fn(&Tally, usize, KindIndex) -> String,
) -> Vec<ExecutionReport> {
    let of_group = |(index, group): (usize, &GroupTally)| {
        let to_report = move |one: &Execution| ExecutionReport {
            group: tally.name_of(index),
            client: one.client,
            transaction: kind_name(tally, index, one.kind),
            started_s: one.started_ns as f64 / NS_PER_S as f64,
            took_s: one.took_ns() as f64 / NS_PER_S as f64,
            is_finished: one.is_finished,
            error: one.error.map(|kind| kind.name().to_owned()),
        };
        group.executions.iter().map(to_report).collect::<Vec<_>>()
    };
    tally.groups.iter().enumerate().flat_map(of_group).collect()
}

/// Plan of the query of a transaction type, as the database's optimizer chose it before the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryPlanReport {
    /// Name of the group of clients.
    pub group: String,
    /// Name of the transaction type, as in `transactions`.
    pub transaction: String,
    /// Shape of the plan, in the words of the database, without costs and estimates.
    pub plan: String,
    /// Plan of one execution after the load, with the rows of each step, in the words of the
    /// database; empty if none was asked for, or the database does not tell it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub executed: String,
}

/// Returns the plans of all groups' queries. `kind_name` names the type of a transaction, given the
/// indexes of its group and type.
pub(super) fn query_plans(
    tally: &Tally,
    kind_name: fn(&Tally, usize, KindIndex) -> String,
) -> Vec<QueryPlanReport> {
    let of_group = |(index, group): (usize, &GroupTally)| {
        let to_report = move |one: &QueryPlan| QueryPlanReport {
            group: tally.name_of(index),
            transaction: kind_name(tally, index, one.kind),
            plan: one.plan.clone(),
            executed: one.executed.clone(),
        };
        group.query_plans.iter().map(to_report).collect::<Vec<_>>()
    };
    tally.groups.iter().enumerate().flat_map(of_group).collect()
}
