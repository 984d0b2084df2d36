//! `/experiments` and `/experiments/ID`: what was varied, how far it is, what it has shown.
//!
//! Not here: how an experiment is judged (results), and who goes on with one (the command line).

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use lab::subject::Subject;
use model::Experiment;
use results::charts::Chart;
use results::render::html::Ink;
use results::render::list::{short_id, started};
use results::store::{ExperimentFilter, Status, Store, TrialRow};

use super::App;
use super::answer::{self, Frame, NoPage, rendered};
use super::pages::{Fresh, fresh};
use super::query::{self, Pairs};

/// How soon one that goes on is looked at again: its report reads all of its trials.
const NEXT_MS: u64 = 3000;

struct ExperimentView {
    id: String,
    short: String,
    name: String,
    started: String,
    axes: String,
    n_done: usize,
    n_trials: u64,
    is_running: bool,
}

#[derive(Template)]
#[template(path = "web/experiments.html")]
struct ListPage {
    frame: Frame,
    all: Vec<ExperimentView>,
}

fn view(experiment: &Experiment, trials: &[TrialRow]) -> ExperimentView {
    let axis = |axis: &model::Axis| {
        let values = axis.values.join(", ");
        format!("{}: {values}", axis.name)
    };
    let axes: Vec<String> = experiment.axes.iter().map(axis).collect();
    ExperimentView {
        id: experiment.id.clone(),
        short: short_id(&experiment.id).to_owned(),
        name: experiment.name.clone(),
        started: started(experiment.started_unix_ms),
        axes: match &experiment.seek {
            Some(_) => "a search for the highest rate".to_owned(),
            None => axes.join("; "),
        },
        n_done: trials.iter().filter(|trial| trial.run.status == Status::Completed).count(),
        n_trials: experiment.points.len() as u64 * u64::from(experiment.repeats),
        is_running: trials.iter().any(|trial| trial.run.status == Status::Running),
    }
}

/// `GET /experiments`
pub(super) async fn list(State(app): State<App>) -> Result<Response, NoPage> {
    app.read(|store, shared| {
        let mut all = Vec::new();
        for experiment in store.experiments(&ExperimentFilter::default())? {
            all.push(view(&experiment, &store.trials(&experiment)?));
        }
        let frame = Frame::new("Experiments", "experiments", shared.door.is_some());
        answer::page(&ListPage { frame, all })
    })
    .await
}

/// An experiment as it stands.
struct Standing {
    experiment: Experiment,
    trials: Vec<TrialRow>,
}

impl Standing {
    fn of(store: &Store, name: &str) -> Result<Standing, NoPage> {
        let experiment = store.find_experiment(name)?;
        let trials = store.trials(&experiment)?;
        Ok(Standing { experiment, trials })
    }

    /// What tells this state from others.
    fn place(&self) -> String {
        let state = |trial: &TrialRow| format!("{}{}", trial.run.run, trial.run.status.name());
        let states: Vec<String> = self.trials.iter().map(state).collect();
        super::assets::tag(states.concat().as_bytes())
    }

    /// Whether more may come: between two trials none is under way, so it is while trials are
    /// missing and the last one was not stopped.
    fn next_ms(&self) -> Option<u64> {
        let n_trials = self.experiment.points.len() * self.experiment.repeats as usize;
        let is_missing = self.experiment.seek.is_some() || self.trials.len() < n_trials;
        let is_going = match self.trials.last().map(|trial| trial.run.status) {
            None | Some(Status::Completed) => is_missing,
            Some(Status::Running) => true,
            Some(Status::Interrupted | Status::Failed) => false,
        };
        is_going.then_some(NEXT_MS)
    }
}

#[derive(Template)]
#[template(path = "web/experiment_standing.html")]
struct StandingPart {
    n_done: usize,
    n_trials: u64,
    is_sought: bool,
    running: Option<(String, String)>,
    body: String,
}

#[derive(Template)]
#[template(path = "web/experiment.html")]
struct ExperimentPage {
    frame: Frame,
    view: ExperimentView,
    /// Each with the comparison of its values.
    axes: Vec<(String, String)>,
    body: String,
    place: String,
    next_ms: Option<u64>,
}

fn standing_part(store: &Store, standing: &Standing) -> Result<String, NoPage> {
    let Standing { experiment, trials } = standing;
    let base = format!("/api/experiments/{}/charts/", experiment.id);
    let ink = Ink::Places { base: &base, query: "" };
    let body = Subject::of_experiment(store, experiment)?.body(ink);
    let running = trials.iter().find(|trial| trial.run.status == Status::Running);
    let view = view(experiment, trials);
    rendered(&StandingPart {
        n_done: view.n_done,
        n_trials: view.n_trials,
        is_sought: experiment.seek.is_some(),
        running: running.map(|trial| {
            let id = trial.run.run.0.clone();
            (short_id(&id).to_owned(), id)
        }),
        body,
    })
}

/// Where the values of an axis are held against each other.
fn by_axis(id: &str, axis: &str) -> String {
    format!("/compare{}", query::query(&[("side", id), ("by", axis)]))
}

/// `GET /experiments/ID`
pub(super) async fn page(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Response, NoPage> {
    app.read(move |store, shared| {
        let standing = Standing::of(store, &name)?;
        let id = &standing.experiment.id;
        if *id != name {
            return Ok(Redirect::to(&format!("/experiments/{id}")).into_response());
        }
        let title = format!("{} {}", standing.experiment.name, short_id(id));
        let axes = &standing.experiment.axes;
        answer::page(&ExperimentPage {
            frame: Frame::new(title, "experiments", shared.door.is_some()).with_charts(),
            view: view(&standing.experiment, &standing.trials),
            axes: axes.iter().map(|axis| (axis.name.clone(), by_axis(id, &axis.name))).collect(),
            body: standing_part(store, &standing)?,
            place: standing.place(),
            next_ms: standing.next_ms(),
        })
    })
    .await
}

/// `GET /experiments/ID/live`
pub(super) async fn live(
    State(app): State<App>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, NoPage> {
    let asked = Pairs::of(&query.unwrap_or_default());
    app.read(move |store, _| {
        let standing = Standing::of(store, &name)?;
        let (place, next_ms) = (standing.place(), standing.next_ms());
        let seen = asked.get("after").unwrap_or_default();
        if place == seen && next_ms.is_some() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        Ok(fresh(seen, Fresh { place, html: standing_part(store, &standing)?, next_ms }))
    })
    .await
}

/// The charts of an experiment.
pub(super) fn charts(store: &Store, name: &str) -> Result<Vec<Chart>, NoPage> {
    let experiment = store.find_experiment(name)?;
    Ok(Subject::of_experiment(store, &experiment)?.charts())
}
