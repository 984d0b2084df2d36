//! `/api`: the content of the pages as JSON and CSV for programs, as documented in
//! docs/reference/web.md.
//!
//! Not here: the meaning of fields, which are those of the command line.

use std::sync::Arc;

use analysis::Report;
use app::experiment::report_by;
use app::report_source::ExperimentSource;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use model::Walk;
use render::charts::{of_history, of_run};
use render::csv::{csv as csv_of, of_table};
use render::list::short_id;
use render::{Table, as_json, comparison, experiment_list, run_list};
use serde::Serialize;
use store::{ExperimentFilter, Store};

use super::App;
use super::answer::{chart, chart_list, csv, file};
use super::experiments::shown_of;
use super::http_error::HttpError;
use super::pages::{compared, compared_charts, reported_history, tables_of_history};
use super::query::Pairs;
use super::{Shared, list};
use crate::lists::{experiment_lines, experiments_json, run_list_json};

type Answered = Result<Response, HttpError>;

fn json_of(report: &impl Serialize) -> Response {
    let kind = axum::http::HeaderValue::from_static("application/json");
    ([(axum::http::header::CONTENT_TYPE, kind)], as_json(report)).into_response()
}

/// `GET /api/runs`: the list of runs as JSON, filtered and sorted as on the page: by `where`,
/// `sort`, `q`, `label`, `workload`, `database` and `status` of the query.
pub(super) async fn runs(State(app): State<App>, asked: Pairs) -> Answered {
    list::read(&app, asked, |store, _, asked| {
        Ok(Json(run_list_json(&list::runs(store, asked)?)).into_response())
    })
    .await
}

/// `GET /api/runs.csv`: the list of runs as CSV, filtered and sorted by the same query as [`runs`].
pub(super) async fn runs_csv(State(app): State<App>, asked: Pairs) -> Answered {
    list::read(&app, asked, |store, _, asked| {
        let text = csv_of(&run_list(&list::runs(store, asked)?, &|_| render::Errors::default()));
        Ok(csv(&asked.file_name("runs", "csv"), text))
    })
    .await
}

/// `GET /api/runs/ID`: the report of a run as JSON, provisional while it runs.
pub(super) async fn run(State(app): State<App>, Path(name): Path<String>) -> Answered {
    app.read(move |store, shared| Ok(json_of(&*report_of(store, shared, &name)?))).await
}

fn report_of(store: &Store, shared: &Shared, name: &str) -> Result<Arc<Report>, HttpError> {
    shared.lives.standing(store, name).map(|standing| standing.report)
}

/// `GET /api/runs/ID/plan.toml`: the plan of a run, as a file.
pub(super) async fn plan(State(app): State<App>, Path(name): Path<String>) -> Answered {
    app.read(move |store, _| {
        let run = store.find(&name)?;
        let name = format!("{}-plan.toml", short_id(&run.0));
        Ok(file("application/toml", &name, store.plan(&run)?))
    })
    .await
}

/// `GET /api/runs/ID/charts`: ids and titles of a run's charts.
pub(super) async fn run_charts(State(app): State<App>, Path(name): Path<String>) -> Answered {
    app.read(move |store, shared| {
        let standing = shared.lives.standing(store, &name)?;
        Ok(chart_list(&of_run(&standing.drawn)))
    })
    .await
}

/// `GET /api/runs/ID/charts/NAME`: a chart of a run, with the format and query of [`chart`].
/// Returns no content if the page with the chart shows an earlier state of the run (`at`), and the
/// chart is gone.
pub(super) async fn run_chart(
    State(app): State<App>,
    Path((name, chart_name)): Path<(String, String)>,
    asked: Pairs,
) -> Answered {
    app.read(move |store, shared| {
        let standing = shared.lives.standing(store, &name)?;
        let shown = chart(&of_run(&standing.drawn), &chart_name, &asked);
        // The run may have changed since the page was made: a stall may have ended.
        let is_past = |at: &str| at != standing.place.to_string();
        match shown {
            Err(_) if asked.get("at").is_some_and(is_past) => {
                Ok(StatusCode::NO_CONTENT.into_response())
            }
            shown => shown,
        }
    })
    .await
}

/// `GET /api/experiments`: all experiments as JSON.
pub(super) async fn experiments(State(app): State<App>) -> Answered {
    app.read(|store, _| {
        let all = ExperimentFilter::default();
        Ok(Json(experiments_json(store, &all)?).into_response())
    })
    .await
}

/// `GET /api/experiments.csv`: all experiments as CSV.
pub(super) async fn experiments_csv(State(app): State<App>) -> Answered {
    app.read(|store, _| {
        let all = experiment_lines(store, &ExperimentFilter::default())?;
        Ok(csv("experiments.csv", csv_of(&experiment_list(&all))))
    })
    .await
}

/// `GET /api/experiments/ID/points.csv`: points of an experiment, probes of a search, or
/// trials of a tuner, as CSV.
/// The query may name the `figure` of the points, by default the workload's primary metric.
pub(super) async fn points_csv(
    State(app): State<App>,
    Path(name): Path<String>,
    asked: Pairs,
) -> Answered {
    app.read(move |store, _| {
        let id = store.find_experiment(&name)?.id;
        let text = of_table(&points_of(store, &name, &asked)?);
        Ok(csv(&asked.file_name(&format!("{}-points", short_id(&id)), "csv"), text))
    })
    .await
}

/// `GET /api/experiments/ID/points.json`: points of an experiment, probes of a search, or
/// trials of a tuner, as JSON.
/// The query may name the `figure` of the points, by default the workload's primary metric.
pub(super) async fn points_json(
    State(app): State<App>,
    Path(name): Path<String>,
    asked: Pairs,
) -> Answered {
    app.read(move |store, _| Ok(Json(points_of(store, &name, &asked)?.json()).into_response()))
        .await
}

/// Returns the table of the points of an experiment (judged by the query's `figure`, else by the
/// primary metric), or of the probes of a search.
fn points_of(store: &Store, name: &str, asked: &Pairs) -> Result<Table, HttpError> {
    let experiment = store.find_experiment(name)?;
    Ok(match experiment.walk {
        Walk::Seek(_) => render::seek_probes(&app::seek::report(store, &experiment)?),
        Walk::Tune(_) => render::tuned_trials(&app::tune::report(store, &experiment)?),
        Walk::Grid => {
            let report = report_by(store, &experiment, asked.get("figure"))?;
            render::experiment_points(&report)
        }
    })
}

/// `GET /api/experiments/ID`: the report of an experiment (judged by the query's `figure`, else by
/// the primary metric) or of a search, as JSON.
pub(super) async fn experiment(
    State(app): State<App>,
    Path(name): Path<String>,
    asked: Pairs,
) -> Answered {
    app.read(move |store, _| {
        let experiment = store.find_experiment(&name)?;
        Ok(match experiment.walk {
            Walk::Seek(_) => json_of(&app::seek::report(store, &experiment)?),
            Walk::Tune(_) => json_of(&app::tune::report(store, &experiment)?),
            Walk::Grid => {
                let report = report_by(store, &experiment, asked.get("figure"))?;
                json_of(&ExperimentSource::read(store, &experiment, report)?.json())
            }
        })
    })
    .await
}

/// `GET /api/experiments/ID/charts`: ids and titles of an experiment's charts. The query may have
/// the `figure` that they show, and the name of `imported` figures.
pub(super) async fn experiment_charts(
    State(app): State<App>,
    Path(name): Path<String>,
    asked: Pairs,
) -> Answered {
    app.read(move |store, shared| Ok(chart_list(&shown_of(store, shared, &name, &asked)?.charts)))
        .await
}

/// `GET /api/experiments/ID/charts/NAME`: a chart of an experiment. The query may have the `figure`
/// that it shows, the name of `imported` figures, and the options of [`chart`].
pub(super) async fn experiment_chart(
    State(app): State<App>,
    Path((name, chart_name)): Path<(String, String)>,
    asked: Pairs,
) -> Answered {
    app.read(move |store, shared| {
        chart(&shown_of(store, shared, &name, &asked)?.charts, &chart_name, &asked)
    })
    .await
}

/// `GET /api/compare?side=A&side=B`: a comparison as JSON. The query may also have `by`, `group`,
/// `figure` and `min_effect` (in percent), as on the page.
pub(super) async fn compare(State(app): State<App>, asked: Pairs) -> Answered {
    app.read_many(move |store, _| Ok(json_of(&compared(store, &asked)?))).await
}

/// `GET /api/compare.csv?side=A&side=B`: a comparison as CSV, by the same query as [`compare`].
pub(super) async fn compare_csv(State(app): State<App>, asked: Pairs) -> Answered {
    app.read_many(move |store, _| {
        let page = comparison(&compared(store, &asked)?, &[]);
        Ok(csv(&asked.file_name("comparison", "csv"), csv_of(&page)))
    })
    .await
}

/// `GET /api/compare/charts?side=A&side=B`: ids and titles of a comparison's charts, by the same
/// query as [`compare`].
pub(super) async fn compare_charts(State(app): State<App>, asked: Pairs) -> Answered {
    app.read_many(move |store, _| Ok(chart_list(&compared_charts(store, &asked)?))).await
}

/// `GET /api/compare/charts/NAME?side=A&side=B`: a chart of a comparison, by the queries of
/// [`compare`] and [`chart`].
pub(super) async fn compare_chart(
    State(app): State<App>,
    Path(chart_name): Path<String>,
    asked: Pairs,
) -> Answered {
    app.read_many(move |store, _| chart(&compared_charts(store, &asked)?, &chart_name, &asked))
        .await
}

/// `GET /api/history?by=build`: a history as JSON, or its tables if the query has `rows` (and
/// perhaps `columns`). The query may also have `order`, `baseline`, `imported`, `figure` and
/// `min_effect` (in percent).
pub(super) async fn history(State(app): State<App>, asked: Pairs) -> Answered {
    app.read_many(move |store, _| {
        let report = reported_history(store, &asked)?;
        Ok(match tables_of_history(&report, &asked)? {
            Some(tables) => json_of(&tables),
            None => json_of(&report),
        })
    })
    .await
}

/// `GET /api/history.csv?by=build`: a history, or its tables, as CSV, by the same query as
/// [`history`].
pub(super) async fn history_csv(State(app): State<App>, asked: Pairs) -> Answered {
    app.read_many(move |store, _| {
        let report = reported_history(store, &asked)?;
        let page = match tables_of_history(&report, &asked)? {
            Some(tables) => render::matrices(&tables),
            None => render::history(&report),
        };
        Ok(csv(&asked.file_name("history", "csv"), csv_of(&page)))
    })
    .await
}

/// `GET /api/history/charts?by=build`: ids and titles of a history's charts, by the same query as
/// [`history`].
pub(super) async fn history_charts(State(app): State<App>, asked: Pairs) -> Answered {
    app.read_many(move |store, _| Ok(chart_list(&of_history(&reported_history(store, &asked)?))))
        .await
}

/// `GET /api/history/charts/NAME?by=build`: a chart of a history, by the queries of [`history`] and
/// [`chart`].
pub(super) async fn history_chart(
    State(app): State<App>,
    Path(chart_name): Path<String>,
    asked: Pairs,
) -> Answered {
    app.read_many(move |store, _| {
        chart(&of_history(&reported_history(store, &asked)?), &chart_name, &asked)
    })
    .await
}
