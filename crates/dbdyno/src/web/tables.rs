//! Tables of a run, each as a page, CSV and JSON: latency, intervals, disturbances, errors, timing,
//! clients, the transaction counter, configuration and settings.
//!
//! Not here: their content (render).

use analysis::report::Options;
use app::stored_report::{stored_report, stored_tally};
use askama::Template;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use model::RunId;
use render::list::short_id;
use render::{Table, run_tables, seconds_csv};
use store::Store;

use super::answer::{self, Frame, csv};
use super::http_error::HttpError;
use super::query::Pairs;
use super::visitor::Visitor;
use super::{App, Shared};

/// Default interval of the transaction counter, in seconds.
const COUNTER_EVERY_S: u32 = 10;

/// Tables of a run in the order of its page: name in the address, and title.
pub(super) const ALL: [(&str, &str); 9] = [
    ("latency", "Latency"),
    ("intervals", "Intervals"),
    ("disturbances", "Disturbances"),
    ("errors", "Errors"),
    ("timing", "Timing"),
    ("clients", "Timing by client"),
    ("counter", "Counts by interval"),
    ("config", "Configuration"),
    ("settings", "Settings of the server"),
];

/// Returns the name of a file to download, which is unique per run.
fn file_of(run: &RunId, name: &str) -> String {
    format!("{}-{name}", short_id(&run.0))
}

/// Returns the table of a run with this name. The query `asked` may have the interval of the
/// transaction counter, `every`, in seconds.
fn table_of(
    store: &Store,
    shared: &Shared,
    run: &RunId,
    table: &str,
    asked: &Pairs,
) -> Result<Table, HttpError> {
    let report = || shared.lives.standing(store, &run.0).map(|standing| standing.report);
    Ok(match table {
        "latency" => run_tables::latency(&*report()?),
        "intervals" => run_tables::intervals(&*report()?),
        "disturbances" => run_tables::disturbances(&*report()?),
        "errors" => run_tables::errors(&*report()?),
        "timing" => run_tables::timing(&*report()?),
        "clients" => {
            run_tables::per_client(&stored_report(store, run, Options { per_client: true })?)
        }
        "counter" => {
            let every = counter_every(asked)?;
            run_tables::counter(&stored_tally(store, run)?, every)
        }
        "config" => run_tables::config(&*report()?),
        "settings" => run_tables::settings(&*report()?),
        _ => return Err(no_table(table)),
    })
}

/// Returns the interval of the transaction counter that a request asks for (`every`), in whole
/// seconds from 1 on; 10 by default.
fn counter_every(asked: &Pairs) -> Result<u32, HttpError> {
    let Some(every) = asked.get("every") else { return Ok(COUNTER_EVERY_S) };
    every.parse().ok().filter(|every| *every > 0).ok_or_else(|| {
        HttpError::bad(format!("'{every}' is not a number of seconds: write every=10, from 1 on"))
    })
}

fn no_table(table: &str) -> HttpError {
    let known: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
    HttpError::unknown(format!("a run has no table '{table}': choose one of {}", known.join(", ")))
}

#[derive(Template)]
#[template(path = "web/table.html")]
struct TablePage {
    frame: Frame,
    id: String,
    table: String,
    title: String,
    tables: [(&'static str, &'static str); 9],
    query: String,
    /// Table as HTML, already escaped by the report's template.
    html: String,
    is_empty: bool,
}

/// `GET /runs/ID/TABLE`: the page of one table of a run.
pub(super) async fn page(
    State(app): State<App>,
    visitor: Visitor,
    Path((name, table)): Path<(String, String)>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let run = store.find(&name)?;
        let found = table_of(store, shared, &run, &table, &asked)?;
        answer::page(&TablePage {
            frame: Frame::new(found.title.clone(), "runs", &visitor),
            id: run.0,
            html: found.html(),
            is_empty: found.is_empty(),
            title: found.title,
            tables: ALL,
            query: asked.text(),
            table,
        })
    })
    .await
}

/// `GET /api/runs/ID/TABLE.csv` and `TABLE.json`: one table of a run. `seconds.csv` has the figures
/// of each second.
pub(super) async fn data(
    State(app): State<App>,
    Path((name, file_name)): Path<(String, String)>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let run = store.find(&name)?;
        if file_name == "seconds.csv" {
            let standing = shared.lives.standing(store, &run.0)?;
            return Ok(csv(&file_of(&run, &file_name), seconds_csv(&[(*standing.report).clone()])));
        }
        let (table, kind) = file_name.rsplit_once('.').unwrap_or((&file_name, ""));
        let found = || table_of(store, shared, &run, table, &asked);
        match kind {
            "csv" => Ok(csv(&file_of(&run, &file_name), render::csv::of_table(&found()?))),
            "json" => Ok(Json(found()?.json()).into_response()),
            _ => Err(HttpError::unknown(format!("write {file_name}.csv or {file_name}.json"))),
        }
    })
    .await
}
