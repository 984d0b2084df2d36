//! The web's face: pages and a JSON API of what the store remembers, and of runs that go on.
//!
//! It shows what `analysis` and `app` make of the store. What it starts is dbdyno again, as a
//! process of its own (jobs). Only a POST changes anything. Not here: the command line that starts
//! it (cli).

mod answer;
mod api;
mod assets;
mod auth;
mod compress;
mod connection_limiter;
mod experiments;
mod flame;
mod http_error;
mod job_pages;
mod jobs;
mod list;
mod live;
mod memo;
mod new_run;
mod pages;
mod passwords;
mod pidfile;
mod plan_form;
mod processes;
mod query;
mod request_policy;
mod selection;
mod serve;
mod tables;
#[cfg(test)]
mod tests;
mod throttle;
mod tls;
mod turns;
mod visitor;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use app::Error;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use model::{RunId, Target};
use store::Store;

use self::auth::Auth;
use self::experiments::Shown;
use self::http_error::HttpError;
use self::jobs::Jobs;
use self::live::LiveRuns;
use self::memo::Memo;
use self::passwords::Passwords;
use self::turns::Turns;
use self::visitor::Visitor;
use crate::shell::Shell;

pub(crate) use self::pidfile::{PidFile, log_path};
pub(crate) use self::serve::bind;

/// What is served, where, and to whom.
pub(crate) struct Options {
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// The store.
    pub(crate) store: PathBuf,
    /// Who knows this may come in; with it everything goes over TLS. None only on loopback.
    pub(crate) password: Option<String>,
    /// Who knows this may look; only beside the other.
    pub(crate) viewer_password: Option<String>,
    /// What jobs are made with.
    pub(crate) job_context: JobContext,
    /// Files (PEM) of a certificate and its key; none for one of our own.
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
    /// The command that ends the service of this store.
    pub(crate) stop: String,
    /// Where it says what goes wrong.
    pub(crate) shell: Shell,
}

/// What jobs are made with: what belongs to the command line, and is handed in by it.
#[derive(Clone)]
pub(crate) struct JobContext {
    /// Our own program.
    pub(crate) program: PathBuf,
    /// Environment variables that a job does not see.
    pub(crate) hidden: &'static [&'static str],
    /// The one that has the password of a job's target.
    pub(crate) password: &'static str,
    /// How many jobs run at the same time.
    pub(crate) jobs: usize,
    /// The draft that a command line `dbdyno run ...` asks for.
    pub(crate) draft_of: fn(&[String], &Shell) -> Result<plan::Draft, Error>,
    /// The target of a workload where none is named.
    pub(crate) target_of: fn(&str, &Shell) -> Result<Target, String>,
    /// The only folder whose SQLite files a page may name.
    pub(crate) folder: Option<PathBuf>,
}

/// What stands before a run's id in the address of its page.
const RUNS: &str = "/runs/";

/// What all requests share.
#[derive(Clone)]
struct App(Arc<Shared>);

struct Shared {
    store: PathBuf,
    /// Of requests for which the reports of many runs are read.
    turns: Turns,
    /// Whether only this machine can reach it: then the name by which it is asked must say so.
    is_loopback: bool,
    /// Who may come in; none if everybody who can reach it.
    auth: Option<Auth>,
    lives: LiveRuns,
    /// Throughput over time of ended runs, as the list draws it.
    trends: Memo<RunId>,
    /// What limits the use of ended runs, in a sentence each.
    identities: Memo<RunId, render::Identity>,
    /// What experiments have shown, by how they stand.
    results: Memo<String>,
    /// Pages of experiments with their charts, by how they stand and what is asked of them.
    experiments: Memo<String, Arc<Shown>>,
    jobs: Jobs,
    passwords: Passwords,
    job_context: JobContext,
    shell: Shell,
}

impl App {
    /// Reads the store on a thread that may wait for the disk.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store, &Shared) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        self.read_opened(move |store, shared| read(&store, shared)).await
    }

    /// The same of something for which reports of many runs are read.
    async fn read_many<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store, &Shared) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        // Dropped with the request's future.
        let (_waiting, turn) = self.0.turns.take().await;
        let read = move |mut store: Store, shared: &Shared| {
            store.give_up_when(turn.is_gone())?;
            let answer = read(&store, shared);
            drop(turn);
            answer
        };
        self.read_opened(read).await
    }

    async fn read_opened<T: Send + 'static>(
        &self,
        read: impl FnOnce(Store, &Shared) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let shared = Arc::clone(&self.0);
        let reading = tokio::task::spawn_blocking(move || {
            // Opened for each request: the file may be moved away and another put there.
            let store = Store::open_existing(&shared.store)?;
            read(store, &shared)
        });
        reading.await.map_err(|_| HttpError::failed("this is a bug in dbdyno: see its log"))?
    }

    /// Keeps what somebody has done, where it may be kept.
    async fn note(&self, visitor: &Visitor, what: &str) {
        let (who, what) = (visitor.who(), what.to_owned());
        let noted = self.read(move |store, _| Ok(store.note_action(&who, &what)?)).await;
        if let Err(no) = noted {
            self.0.shell.say(&format!("dbdyno: what was done is not kept: {}", no.text));
        }
    }
}

/// Every address.
fn routes(app: App) -> Router {
    let new = Router::new()
        .route("/new", get(new_run::page).post(new_run::asked))
        .layer(DefaultBodyLimit::max(new_run::FORM_BYTES_MAX));
    Router::new()
        .route("/", get(list::page))
        .route("/live", get(list::live))
        .route("/runs/{id}", get(pages::run))
        .route("/runs/{id}/live", get(pages::run_live))
        .route("/runs/{id}/label", post(pages::label))
        .route("/runs/{id}/remove", post(pages::remove))
        .route("/runs/{id}/charts/{name}", get(pages::run_chart))
        .route("/runs/{id}/stop", post(job_pages::stop_run))
        .route("/runs/{id}/{table}", get(tables::page))
        .route("/runs/{id}/flame/{file}", get(flame::graph))
        .route("/experiments", get(experiments::list))
        .route("/experiments/{id}", get(experiments::page))
        .route("/experiments/{id}/live", get(experiments::live))
        .route("/experiments/{id}/charts/{name}", get(experiments::chart))
        .route("/experiments/{id}/stop", post(job_pages::stop_experiment))
        .route("/experiments/{id}/resume", post(job_pages::resume))
        .route("/jobs", get(job_pages::list))
        .route("/jobs/live", get(job_pages::list_live))
        .route("/jobs/{number}", get(job_pages::page))
        .route("/jobs/{number}/live", get(job_pages::live))
        .route("/jobs/{number}/stop", post(job_pages::stop))
        .route("/compare", get(pages::compare))
        .route("/compare/charts/{name}", get(pages::compare_chart))
        .route("/history", get(pages::history))
        .route("/history/charts/{name}", get(pages::history_chart))
        .route("/login", get(auth::page).post(auth::enter))
        .route("/logout", post(auth::leave))
        .route("/assets/{name}", get(assets::asset))
        .route("/api/runs", get(api::runs))
        .route("/api/runs.csv", get(api::runs_csv))
        .route("/api/runs/{id}", get(api::run))
        .route("/api/runs/{id}/plan.toml", get(api::plan))
        .route("/api/runs/{id}/charts", get(api::run_charts))
        .route("/api/runs/{id}/charts/{name}", get(api::run_chart))
        .route("/api/runs/{id}/{table}", get(tables::data))
        .route("/api/jobs", get(job_pages::json))
        .route("/api/experiments", get(api::experiments))
        .route("/api/experiments.csv", get(api::experiments_csv))
        .route("/api/experiments/{id}", get(api::experiment))
        .route("/api/experiments/{id}/points.csv", get(api::points_csv))
        .route("/api/experiments/{id}/points.json", get(api::points_json))
        .route("/api/experiments/{id}/charts", get(api::experiment_charts))
        .route("/api/experiments/{id}/charts/{name}", get(api::experiment_chart))
        .route("/api/compare", get(api::compare))
        .route("/api/compare.csv", get(api::compare_csv))
        .route("/api/compare/charts", get(api::compare_charts))
        .route("/api/compare/charts/{name}", get(api::compare_chart))
        .route("/api/history", get(api::history))
        .route("/api/history.csv", get(api::history_csv))
        .route("/api/history/charts", get(api::history_charts))
        .route("/api/history/charts/{name}", get(api::history_chart))
        .fallback(answer::nothing_here)
        .layer(DefaultBodyLimit::max(request_policy::BODY_BYTES_MAX))
        // A plan, twice, in which a character may take nine.
        .merge(new)
        .layer(axum::middleware::from_fn_with_state(app.clone(), request_policy::enforce))
        .with_state(app)
}

/// Makes the store if there is none yet, so that a first visit shows an empty list.
fn make_store(options: &Options) -> Result<(), Error> {
    let opened = match options.store.exists() {
        true => Store::open_existing(&options.store),
        false => Store::open(&options.store),
    };
    opened.map(drop).map_err(|error| Error::Failed(error.to_string()))
}
