//! Lists of runs and experiments as JSON, the same for command line and web pages.

use std::collections::BTreeMap;

use app::Error;
use app::trials::status;
use model::{NS_PER_S, Severity};
use render::ExperimentLine;
use serde_json::{Map, Value, json};
use store::{ExperimentFilter, PrimaryFigure, RunRow, Store, StoreError};

/// Returns the JSON of a list of runs, for `dbdyno runs list` and `/api/runs`.
pub(crate) fn run_list_json(rows: &[RunRow]) -> Value {
    let rows: Vec<Value> = rows.iter().map(row_json).collect();
    json!({"schema": "dbdyno.runs/1", "runs": rows})
}

fn row_json(row: &RunRow) -> Value {
    let object = |pairs: &[(String, String)]| -> Map<String, Value> {
        pairs.iter().map(|(k, v)| (k.clone(), Value::from(v.as_str()))).collect()
    };
    json!({
        "run_id": row.run.0,
        "started_unix_ms": row.started_unix_ms,
        "ended_unix_ms": row.ended_unix_ms,
        "status": row.status.name(),
        "name": row.name,
        "workload": row.workload,
        "target": row.target,
        "database": row.database,
        "clients": row.clients,
        "tps": row.tps,
        "primary": row.primary.as_ref().map(primary_json),
        "p99_ms": row.p99_ms,
        "p99_is_infinite": row.p99_ms == Some(f64::INFINITY),
        "measured_seconds": row.measured_ns.map(|ns| ns as f64 / NS_PER_S as f64),
        "worst_finding": row.worst_finding.map(Severity::name),
        "events_lost": row.events_lost,
        "dbdyno": row.dbdyno,
        "labels": object(&row.labels),
        "point": object(&row.point),
        "figures": row.figures.iter().cloned().collect::<BTreeMap<_, _>>(),
    })
}

fn primary_json(primary: &PrimaryFigure) -> Value {
    json!({"name": primary.name, "title": primary.title, "value": primary.value})
}

/// Returns the experiments that a filter selects, each with its number of completed trials and its
/// status.
pub(crate) fn experiment_lines(
    store: &Store,
    filter: &ExperimentFilter,
) -> Result<Vec<ExperimentLine>, Error> {
    let mut all = Vec::new();
    for experiment in store.experiments(filter).map_err(failed)? {
        let trials = store.trials(&experiment).map_err(failed)?;
        let trials_completed = store::trials_completed(&trials) as u64;
        let status = status(store, &experiment)?;
        all.push(ExperimentLine { experiment, trials_completed, status });
    }
    Ok(all)
}

/// Returns the JSON of the experiments that a filter selects, for `dbdyno experiments` and
/// `/api/experiments`.
pub(crate) fn experiments_json(store: &Store, filter: &ExperimentFilter) -> Result<Value, Error> {
    let row = |line: &ExperimentLine| {
        let ExperimentLine { experiment, trials_completed, status } = line;
        json!({
            "id": experiment.id,
            "name": experiment.name,
            "started_unix_ms": experiment.started_unix_ms,
            "axes": experiment.axes,
            // The number of probes of a search is unknown.
            "trials": experiment.walk.is_grid().then(|| {
                experiment.points.len() as u64 * u64::from(experiment.repeats)
            }),
            "trials_completed": trials_completed,
            "status": status,
        })
    };
    let rows: Vec<Value> = experiment_lines(store, filter)?.iter().map(row).collect();
    Ok(json!({"schema": "dbdyno.experiments/1", "experiments": rows}))
}

fn failed(error: StoreError) -> Error {
    Error::Failed(error.to_string())
}
