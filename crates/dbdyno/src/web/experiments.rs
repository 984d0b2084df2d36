//! `/experiments` and `/experiments/ID`: varied values, progress and results of experiments.
//!
//! Not here: the judgement (study), and resuming (the command line).

use std::sync::Arc;

use app::report_source::ReportSource;
use app::trials::figure_names;
use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use model::{Experiment, Status, Walk};
use render::charts::Chart;
use render::html::{First, Medium, body as html};
use render::list::short_id;
use store::{ExperimentFilter, Store, TrialRow, trials_completed, utc};

use super::answer::{self, Frame, Fresh, Stands, fresh, rendered};
use super::http_error::HttpError;
use super::pages::{body_or_why, imported};
use super::query::{self, Pairs};
use super::visitor::Visitor;
use super::{App, Shared};

/// Time between updates of the page of a running experiment, in milliseconds. It is long because
/// the report reads all trials.
const NEXT_MS: u64 = 3000;

/// Maximum number of experiments whose result is cached, a sentence each; one more empties the
/// cache first.
pub(super) const RESULTS_MAX: usize = 1_000;
/// Maximum number of cached pages with their charts, which may take some megabytes each; one more
/// empties the cache first.
pub(super) const EXPERIMENTS_MAX: usize = 16;
/// Number of the newest experiments in the list for which the result is shown, since each result
/// reads all trials once; older ones are listed without.
const RESULTS_SHOWN: usize = 30;

struct ExperimentView {
    id: String,
    short: String,
    name: String,
    started: String,
    axes: String,
    n_done: usize,
    n_trials: u64,
    is_running: bool,
    is_sought: bool,
    /// True if trials may be left to run, so that the experiment can be resumed.
    is_resumable: bool,
    /// Result of the experiment in a sentence; empty if there is none, or if the list leaves it
    /// out.
    result: String,
}

#[derive(Template)]
#[template(path = "web/experiments.html")]
struct ListPage {
    frame: Frame,
    all: Vec<ExperimentView>,
}

fn view(standing: &RunSnapshot) -> ExperimentView {
    let RunSnapshot { experiment, trials, .. } = standing;
    let axis = |axis: &model::Axis| {
        let values = axis.values.join(", ");
        format!("{}: {values}", axis.name)
    };
    let axes: Vec<String> = experiment.axes.iter().map(axis).collect();
    let n_done = trials_completed(trials);
    let n_trials = experiment.points.len() as u64 * u64::from(experiment.repeats);
    let is_sought = !experiment.walk.is_grid();
    ExperimentView {
        id: experiment.id.clone(),
        short: short_id(&experiment.id).to_owned(),
        name: experiment.name.clone(),
        started: utc(experiment.started_unix_ms),
        axes: match experiment.walk {
            Walk::Seek(_) => "a search for the highest rate".to_owned(),
            Walk::Grid | Walk::Tune(_) => axes.join("; "),
        },
        n_done,
        n_trials,
        is_running: standing.is_going(),
        is_sought,
        is_resumable: standing.is_resumable(n_done as u64, n_trials),
        result: String::new(),
    }
}

/// Returns the result of an experiment in a sentence, cached by the state of its trials, since it
/// reads all of them. Empty if there is none.
fn result(store: &Store, shared: &Shared, standing: &RunSnapshot) -> String {
    shared.results.get(standing.place(), || found(store, standing))
}

fn found(store: &Store, standing: &RunSnapshot) -> String {
    // The experiment's page reports an unreadable one.
    let source = ReportSource::of_experiment(store, &standing.experiment, None);
    let document = source.ok().map(|source| source.document());
    let headline = document.as_ref().and_then(|document| document.verdicts.first());
    let result = headline.map(|verdict| verdict.headline.plain()).unwrap_or_default();
    // The list shows the name beside it.
    match result.split_once(": ") {
        Some((name, found)) if name.starts_with(&standing.experiment.name) => found.to_owned(),
        _ => result,
    }
}

/// `GET /experiments`: the list of experiments.
pub(super) async fn list(State(app): State<App>, visitor: Visitor) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let mut all = Vec::new();
        for experiment in store.experiments(&ExperimentFilter::default())? {
            let standing = RunSnapshot::read(store, experiment)?;
            let result = match all.len() < RESULTS_SHOWN {
                true => result(store, shared, &standing),
                false => String::new(),
            };
            all.push(ExperimentView { result, ..view(&standing) });
        }
        let frame = Frame::new("Experiments", "experiments", &visitor);
        answer::page(&ListPage { frame, all })
    })
    .await
}

/// Experiment with its trials and its status, as read from the store at one moment.
struct RunSnapshot {
    experiment: Experiment,
    trials: Vec<TrialRow>,
    status: Option<Status>,
}

impl RunSnapshot {
    fn read(store: &Store, experiment: Experiment) -> Result<RunSnapshot, HttpError> {
        let trials = store.trials(&experiment)?;
        let status = store.experiment_lock_row(&experiment)?.map(|walked| walked.status);
        Ok(RunSnapshot { experiment, trials, status })
    }

    /// Returns a key of the experiment's state. The key changes when a trial is added, or when the
    /// status of a trial or of the experiment changes.
    fn place(&self) -> String {
        let state = |trial: &TrialRow| format!("{}{}", trial.run.run, trial.run.status.name());
        let states = self.trials.iter().map(state);
        let states: Vec<String> = states.chain([self.is_going().to_string()]).collect();
        super::assets::tag(states.concat().as_bytes())
    }

    /// Returns a key of the experiment's state like that of [`RunSnapshot::place`], which also
    /// changes when users change labels of trials or the name of the experiment.
    fn full_place(&self) -> String {
        let labels = self.trials.iter().flat_map(|trial| &trial.run.labels);
        let labels: Vec<String> = labels.map(|(key, value)| format!("{key}={value}\n")).collect();
        let name = &self.experiment.name;
        format!("{}{}", self.place(), super::assets::tag((labels.concat() + name).as_bytes()))
    }

    fn is_going(&self) -> bool {
        self.status == Some(Status::Running)
    }

    /// Returns true if trials may be left to run after `n_done` of `n_trials` were completed. None
    /// are left after a completed search, or after repeats that a stop rule ended; a running
    /// experiment cannot be resumed either.
    fn is_resumable(&self, n_done: u64, n_trials: u64) -> bool {
        let experiment = &self.experiment;
        let ends_itself = !experiment.walk.is_grid() || experiment.stop.is_some();
        match self.status {
            Some(Status::Running) => false,
            Some(Status::Completed) if ends_itself => false,
            _ => !experiment.walk.is_grid() || n_done < n_trials,
        }
    }

    fn next_ms(&self) -> Option<u64> {
        self.is_going().then_some(NEXT_MS)
    }
}

#[derive(Template)]
#[template(path = "web/experiment_standing.html")]
struct StandingPart {
    n_done: u64,
    n_trials: u64,
    is_sought: bool,
    is_going: bool,
    running: Option<(String, String)>,
    body: String,
}

#[derive(Template)]
#[template(path = "web/experiment.html")]
struct ExperimentPage {
    frame: Frame,
    view: ExperimentView,
    /// Varied parameters, each with the address of the page that compares its values.
    axes: Vec<(String, String)>,
    /// Figures by which the points (combinations of varied values) can be judged; empty for a
    /// search.
    figures: Vec<String>,
    figure: String,
    query: String,
    trouble: Option<HttpError>,
    body: String,
    place: String,
    next_ms: Option<u64>,
}

/// Returns the query string that links on an experiment's page keep: the figure by which the
/// results are judged, and the names of imported figures. Empty if the request has neither.
fn figure_query(asked: &Pairs) -> String {
    let pair = |name: &'static str| asked.get(name).map(|value| (name, value));
    let pairs: Vec<(&str, &str)> = ["figure", "imported"].into_iter().filter_map(pair).collect();
    query::query(&pairs)
}

/// Results of all trials of an experiment: the body of the page as HTML, and the charts.
pub(super) struct Shown {
    body: String,
    pub(super) charts: Vec<Chart>,
}

/// Returns the results of an experiment. They are cached by its state, because they read all
/// trials, and each chart of a page requests them.
fn shown(
    store: &Store,
    shared: &Shared,
    standing: &RunSnapshot,
    asked: &Pairs,
) -> Result<Arc<Shown>, HttpError> {
    let query = figure_query(asked);
    let make = || {
        let experiment = &standing.experiment;
        let base = format!("/api/experiments/{}/charts/", experiment.id);
        let (runs, first) = (super::RUNS, First::InPage);
        let medium = Medium::Web { base: &base, query: &query, runs, first };
        let source = ReportSource::of_experiment(store, experiment, asked.get("figure"))?;
        let source = source.with_imported(imported(store, asked)?)?;
        Ok(Arc::new(Shown { body: html(&source.document(), medium), charts: source.charts() }))
    };
    match asked.get("imported") {
        // Imported figures may be replaced.
        Some(_) => make(),
        None => shared.experiments.try_get(format!("{}{query}", standing.full_place()), make),
    }
}

fn standing_part(
    store: &Store,
    shared: &Shared,
    standing: &RunSnapshot,
    asked: &Pairs,
) -> Result<String, HttpError> {
    let RunSnapshot { experiment, trials, .. } = standing;
    let body = shown(store, shared, standing, asked)?.body.clone();
    let running = trials.iter().find(|trial| trial.run.status == Status::Running);
    let view = view(standing);
    rendered(&StandingPart {
        n_done: view.n_done as u64,
        n_trials: view.n_trials,
        is_going: standing.is_going(),
        is_sought: !experiment.walk.is_grid(),
        running: running.map(|trial| {
            let id = trial.run.run.0.clone();
            (short_id(&id).to_owned(), id)
        }),
        body,
    })
}

/// Returns the address of the page that compares the values of a parameter that an experiment
/// varies.
fn by_axis(id: &str, axis: &str) -> String {
    format!("/compare{}", query::query(&[("side", id), ("by", axis)]))
}

/// `GET /experiments/ID`: the page of an experiment or a search.
pub(super) async fn page(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let standing = RunSnapshot::read(store, store.find_experiment(&name)?)?;
        let id = &standing.experiment.id;
        if *id != name {
            let place = format!("/experiments/{id}{}", figure_query(&asked));
            return Ok(Redirect::to(&place).into_response());
        }
        let title = format!("{} {}", standing.experiment.name, short_id(id));
        // Probes of a search have no common values to compare.
        let is_sought = !standing.experiment.walk.is_grid();
        let axes = standing.experiment.axes.iter().filter(|_| !is_sought);
        let figures = match standing.trials.first().filter(|_| !is_sought) {
            Some(trial) => figure_names(store, Some(&trial.run.run))?,
            None => Vec::new(),
        };
        let part = standing_part(store, shared, &standing, &asked);
        let (body, trouble) = body_or_why(part, String::clone)?;
        let page = ExperimentPage {
            frame: Frame::new(title, "experiments", &visitor),
            view: view(&standing),
            axes: axes.map(|axis| (axis.name.clone(), by_axis(id, &axis.name))).collect(),
            figures,
            figure: asked.get("figure").unwrap_or_default().to_owned(),
            query: figure_query(&asked),
            next_ms: standing.next_ms().filter(|_| trouble.is_none()),
            trouble: trouble.clone(),
            body,
            place: standing.place(),
        };
        answer::page_or_trouble(trouble.as_ref(), &page)
    })
    .await
}

/// `GET /experiments/ID/live`: progress and results; no content if a running experiment still has
/// the state that the browser has seen (`after` in the query).
pub(super) async fn live(
    State(app): State<App>,
    Path(name): Path<String>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let standing = RunSnapshot::read(store, store.find_experiment(&name)?)?;
        let (place, next_ms) = (standing.place(), standing.next_ms());
        let seen = asked.get("after").unwrap_or_default();
        if place == seen && next_ms.is_some() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        let html = standing_part(store, shared, &standing, &asked)?;
        Ok(fresh(seen, Fresh { place, html, next_ms }))
    })
    .await
}

/// `GET /experiments/ID/charts/NAME`: the page of a single chart.
pub(super) async fn chart(
    State(app): State<App>,
    visitor: Visitor,
    Path((name, chart_name)): Path<(String, String)>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let all = shown_of(store, shared, &name, &asked)?;
        let experiment = store.find_experiment(&name)?;
        let page = format!("/experiments/{}", experiment.id);
        let name = format!("{} {}", experiment.name, short_id(&experiment.id));
        let query = figure_query(&asked);
        let stands = Stands { at: &page, query: &query, name: &name, here: "experiments" };
        answer::chart_page(&all.charts, &chart_name, &stands, &visitor)
    })
    .await
}

/// Returns the results of the experiment called `name`, judged by the query's `figure` (by default
/// the primary metric), and with its `imported` figures in the charts.
pub(super) fn shown_of(
    store: &Store,
    shared: &Shared,
    name: &str,
    asked: &Pairs,
) -> Result<Arc<Shown>, HttpError> {
    let standing = RunSnapshot::read(store, store.find_experiment(name)?)?;
    shown(store, shared, &standing, asked)
}
