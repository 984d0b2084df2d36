//! Pages of jobs: the list of jobs and of users' actions, and a job with its output. Also stopping
//! and resuming jobs.
//!
//! Not here: running jobs (jobs), and requesting them (new_run).

use askama::Template;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use model::numbers::cut;
use model::{Choice, Status, Target};
use plan::{check_from_page, read_toml};
use serde_json::json;
use store::{Job, JobKind, JobRow, JobStatus, Store, utc};

use super::answer::{self, Frame, Fresh, fresh, rendered};
use super::http_error::HttpError;
use super::jobs::{NewJob, interrupted, words_of};
use super::new_run::{Command, commands, labels_of, typed_password};
use super::passwords::JobPassword;
use super::plan_form::FILE;
use super::query::{Form, Pairs};
use super::visitor::Visitor;
use super::{App, Shared};

/// Time between updates of a job's page, in milliseconds.
const NEXT_MS: u64 = 1000;
/// Number of users' actions that the list shows, the newest ones.
const ACTIONS_SHOWN: u32 = 100;
const MS_PER_S: i64 = 1000;

#[derive(Template)]
#[template(path = "web/jobs.html")]
struct JobsPage {
    frame: Frame,
    rows: String,
    place: String,
    actions: Vec<(String, String, String)>,
}

#[derive(Template)]
#[template(path = "web/job_rows.html")]
struct JobRows {
    rows: Vec<JobView>,
    can_start: bool,
}

#[derive(Template)]
#[template(path = "web/job.html")]
struct JobPage {
    frame: Frame,
    number: i64,
    kind: &'static str,
    plan: String,
    commands: Vec<Command>,
    part: String,
    place: String,
    is_open: bool,
}

#[derive(Template)]
#[template(path = "web/job_part.html")]
struct JobPart {
    view: JobView,
    output: String,
    can_start: bool,
}

/// Job as the list of jobs and the page of the job show it.
struct JobView {
    number: i64,
    kind: &'static str,
    name: String,
    target: String,
    who: String,
    status: &'static str,
    /// Reason why the job waits or failed; empty if there is none.
    note: String,
    queued: String,
    took: String,
    /// True if the job is queued or running, so that it can be stopped.
    is_open: bool,
    /// Address of the page of the job's result, and the kind of result, `run` or `experiment`;
    /// `None` if there is no result.
    result: Option<(String, &'static str)>,
}

impl JobView {
    fn read(store: &Store, row: JobRow) -> Result<JobView, HttpError> {
        let (mut run, mut result) = (None, None);
        if let Some(process) = &row.process {
            result = match store.experiment_of(process)? {
                Some(id) => Some((format!("/experiments/{id}"), "experiment")),
                None => {
                    run = store.run_of(process)?;
                    run.as_ref().map(|run| (format!("/runs/{run}"), "run"))
                }
            };
        }
        let ended = row.ended_unix_ms.or_else(|| row.started_unix_ms.map(|_| app::unix_ms()));
        let took = row.started_unix_ms.zip(ended).map(|(from, to)| (to - from) / MS_PER_S);
        let has_failed = (row.status, row.exit_code) == (JobStatus::Failed, Some(1));
        let failed = run.filter(|_| has_failed).map(|run| store.row(&run)).transpose()?.flatten();
        let is_measured = failed.is_some_and(|run| run.status == Status::Completed);
        let note = match (row.status, row.exit_code) {
            (JobStatus::Queued, _) => "waits for the jobs before it".to_owned(),
            (JobStatus::Failed, Some(1)) if is_measured => {
                "exit code 1: the run is complete, and its result is not valid or breaks a limit"
                    .to_owned()
            }
            (JobStatus::Failed, Some(code @ (1 | 4))) => match last_error(&row.output) {
                Some(why) => format!("exit code {code}: {why}"),
                None => format!("exit code {code}"),
            },
            (JobStatus::Failed, Some(3)) => "exit code 3: a limit is undecided".to_owned(),
            (JobStatus::Failed, Some(code)) => format!("exit code {code}"),
            (JobStatus::Failed, None) => "it did not end by itself".to_owned(),
            (JobStatus::Lost, _) => "nothing watched its end".to_owned(),
            _ => String::new(),
        };
        Ok(JobView {
            number: row.number,
            kind: row.job.kind.name(),
            is_open: row.ended_unix_ms.is_none(),
            status: row.status.name(),
            queued: utc(row.queued_unix_ms),
            took: took.map_or(String::new(), |seconds| format!("{seconds} s")),
            name: row.job.name,
            target: row.job.target,
            who: row.job.who,
            note,
            result,
        })
    }
}

/// Maximum characters of a job's error in the list of jobs; a longer one is cut there, and the page
/// of the job has all of it.
const ERROR_MOST: usize = 160;

/// Returns the last error in the output of a job, shortened; `None` if the output has none.
fn last_error(output: &str) -> Option<String> {
    let error = output.lines().rev().find_map(|line| line.strip_prefix("dbdyno: "))?;
    Some(cut(error, ERROR_MOST))
}

/// Returns the HTML of the rows of the list of jobs, and a key that changes with the state of any
/// job.
fn rows_of(store: &Store, visitor: &Visitor) -> Result<(String, String), HttpError> {
    let rows = store.jobs()?.into_iter().map(|row| JobView::read(store, row));
    let rows: Vec<JobView> = rows.collect::<Result<_, _>>()?;
    let place: Vec<String> = rows
        .iter()
        .filter(|row| row.is_open)
        .map(|row| format!("{} {} {} {}", row.number, row.status, row.took, row.result.is_some()))
        .collect();
    let place = format!("{} {}", rows.len(), place.join(","));
    Ok((rendered(&JobRows { rows, can_start: visitor.is_full() })?, place))
}

/// `GET /jobs`: the list of jobs and of users' actions.
pub(super) async fn list(State(app): State<App>, visitor: Visitor) -> Result<Response, HttpError> {
    app.read(move |store, _| {
        let (rows, place) = rows_of(store, &visitor)?;
        let actions = store.actions(ACTIONS_SHOWN)?.into_iter();
        let actions = actions.map(|row| (utc(row.at_unix_ms), row.who, row.what)).collect();
        let frame = Frame::new("Jobs", "jobs", &visitor);
        answer::page(&JobsPage { frame, rows, place, actions })
    })
    .await
}

/// `GET /jobs/live`: the rows of the list of jobs; no content if they still have the state that the
/// browser has seen (`after` in the query).
pub(super) async fn list_live(
    State(app): State<App>,
    visitor: Visitor,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, _| {
        let (html, place) = rows_of(store, &visitor)?;
        // A job may be started elsewhere at any time.
        let next_ms = Some(NEXT_MS * 2);
        Ok(fresh(asked.get("after").unwrap_or_default(), Fresh { place, html, next_ms }))
    })
    .await
}

/// `GET /api/jobs`: jobs and users' actions as JSON.
pub(super) async fn json(State(app): State<App>) -> Result<Response, HttpError> {
    app.read(|store, _| {
        let job = |row: JobRow| -> Result<serde_json::Value, HttpError> {
            let (exit_code, plan) = (row.exit_code, row.job.plan.clone());
            let times = [Some(row.queued_unix_ms), row.started_unix_ms, row.ended_unix_ms];
            let view = JobView::read(store, row)?;
            Ok(json!({
                "job": view.number,
                "kind": view.kind,
                "name": view.name,
                "target": view.target,
                "who": view.who,
                "status": view.status,
                "exit_code": exit_code,
                "queued_unix_ms": times[0],
                "started_unix_ms": times[1],
                "ended_unix_ms": times[2],
                "page": view.result.map(|(page, _)| page),
                "plan": plan,
            }))
        };
        let jobs: Vec<_> = store.jobs()?.into_iter().map(job).collect::<Result<_, _>>()?;
        let action = |row: store::ActionRow| {
            json!({"at_unix_ms": row.at_unix_ms, "who": row.who, "what": row.what})
        };
        let actions: Vec<_> = store.actions(ACTIONS_SHOWN)?.into_iter().map(action).collect();
        let all = json!({"schema": "dbdyno.jobs/1", "jobs": jobs, "actions": actions});
        Ok(Json(all).into_response())
    })
    .await
}

fn job_of(store: &Store, number: i64) -> Result<JobRow, HttpError> {
    let row = store.job(number)?;
    row.ok_or_else(|| HttpError::unknown(format!("there is no job {number}: see the list of jobs")))
}

/// Returns the HTML of a job's state and output, a key that changes with them, and whether the job
/// is queued or running.
fn part_of(
    store: &Store,
    shared: &Shared,
    visitor: &Visitor,
    row: JobRow,
) -> Result<(String, String, bool), HttpError> {
    let output = words_of(&shared.store, &row);
    let view = JobView::read(store, row)?;
    let is_open = view.is_open;
    let result = view.result.is_some();
    let place = format!("{} {} {} {result}", view.status, view.took, output.len());
    let part = JobPart { view, output, can_start: visitor.is_full() };
    Ok((rendered(&part)?, place, is_open))
}

/// `GET /jobs/NUMBER`: the page of a job.
pub(super) async fn page(
    State(app): State<App>,
    visitor: Visitor,
    Path(number): Path<i64>,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let row = job_of(store, number)?;
        let (kind, plan) = (row.job.kind.name(), row.job.plan.clone());
        let draft = read_toml(FILE, &plan).unwrap_or_default();
        let of_plan = |kind| {
            let all = commands(&draft, &labels_of(&row.job.words)).into_iter();
            all.filter(|command| command.kind == kind).collect()
        };
        let commands = match row.job.kind {
            kind @ JobKind::Resume => {
                vec![Command { kind, text: format!("dbdyno {}", row.job.words.join(" ")) }]
            }
            JobKind::Run | JobKind::Experiment | JobKind::Seek => of_plan(JobKind::Run),
            kind @ (JobKind::Build | JobKind::Check | JobKind::Drop) => of_plan(kind),
        };
        let (part, place, is_open) = part_of(store, shared, &visitor, row)?;
        let frame = Frame::new(format!("Job {number}"), "jobs", &visitor);
        answer::page(&JobPage { frame, number, kind, plan, commands, part, place, is_open })
    })
    .await
}

/// `GET /jobs/NUMBER/live`: the state and output of a job; no content if a queued or running job
/// still has the state that the browser has seen (`after` in the query).
pub(super) async fn live(
    State(app): State<App>,
    visitor: Visitor,
    Path(number): Path<i64>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let row = job_of(store, number)?;
        let (html, place, is_open) = part_of(store, shared, &visitor, row)?;
        let next_ms = is_open.then_some(NEXT_MS);
        Ok(fresh(asked.get("after").unwrap_or_default(), Fresh { place, html, next_ms }))
    })
    .await
}

/// `POST /jobs/NUMBER/stop`: removes a job from the queue, or stops it like Ctrl-C.
pub(super) async fn stop(
    State(app): State<App>,
    visitor: Visitor,
    Path(number): Path<i64>,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        job_of(store, number)?;
        shared.jobs.stop(number)?;
        store.note_action(&visitor.who(), &format!("stopped job {number}"))?;
        Ok(Redirect::to(&format!("/jobs/{number}")).into_response())
    })
    .await
}

/// `POST /runs/ID/stop`: stops any run that was started on this machine, like Ctrl-C.
pub(super) async fn stop_run(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Result<Response, HttpError> {
    app.read(move |store, _| {
        let run = store.find(&name)?;
        interrupted(&store.process_of(&run)?)?;
        store.note_action(&visitor.who(), &format!("stopped run {run}"))?;
        Ok(Redirect::to(&format!("/runs/{run}")).into_response())
    })
    .await
}

/// `POST /experiments/ID/stop`: stops the process that runs the trials of an experiment, like
/// Ctrl-C.
pub(super) async fn stop_experiment(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Result<Response, HttpError> {
    app.read(move |store, _| {
        let experiment = store.find_experiment(&name)?;
        let process = store.process_of_experiment(&experiment)?;
        let process = process.ok_or_else(|| HttpError::bad("no process runs this experiment"))?;
        interrupted(&process)?;
        store.note_action(&visitor.who(), &format!("stopped experiment {}", experiment.id))?;
        Ok(Redirect::to(&format!("/experiments/{}", experiment.id)).into_response())
    })
    .await
}

/// `POST /experiments/ID/resume`: queues a job that resumes an experiment.
pub(super) async fn resume(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    Form(form): Form,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let experiment = store.find_experiment(&name)?;
        let mut url = String::new();
        for point in &experiment.points {
            let draft = read_toml("the stored plan", &point.plan);
            let draft = draft.map_err(|bad| HttpError::bad(bad.0))?;
            let checked = check_from_page(&draft, shared.job_context.folder.as_deref());
            checked.map_err(|bad| HttpError::bad(bad.0))?;
            if let Some(target) = draft.values.get("target").filter(|_| url.is_empty()) {
                url.clone_from(&target.text);
            }
        }
        if experiment.wait_until.is_some() {
            let why = "this experiment waits for a query: resume it in a terminal";
            return Err(HttpError::bad(why));
        }
        let target = Target::parse(&url).ok();
        let password = target.filter(|target| target.user.is_some()).and_then(|target| {
            let known = || shared.passwords.find(visitor.session.as_ref(), &target);
            typed_password(&form).map(JobPassword::of_job).or_else(known)
        });
        let words = ["experiments", "resume", experiment.id.as_str()].map(str::to_owned).to_vec();
        let job = Job {
            kind: JobKind::Resume,
            name: experiment.name.clone(),
            target: url,
            words,
            plan: String::new(),
            who: visitor.who(),
        };
        let number = shared.jobs.start(NewJob { job, password })?;
        let what = format!("resumed experiment {} as job {number}", experiment.id);
        store.note_action(&visitor.who(), &what)?;
        Ok(Redirect::to(&format!("/jobs/{number}")).into_response())
    })
    .await
}
