//! The web interface: pages and a JSON API of stored and running runs.
//!
//! It shows results of `analysis`, `study` and `app`, and starts dbdyno itself in separate
//! processes (jobs). Only a POST changes anything. Not here: the command that starts the web
//! interface (`cli`).

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
mod pushed;
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
mod writers;

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
pub(crate) use self::pushed::{FROM, KNOWN, PUSH};
pub(crate) use self::serve::bind;
pub(crate) use self::tls::own as own_certificate;
pub(crate) use self::writers::{WriterToken, Writers};

/// Options of the web service, from the command line.
pub(crate) struct Options {
    /// Address at which the service listens.
    pub(crate) listen: SocketAddr,
    /// Path of the store whose runs the pages show.
    pub(crate) store: PathBuf,
    /// Password with all rights; with a password, all connections use TLS. `None` is allowed only
    /// on loopback.
    pub(crate) password: Option<String>,
    /// Password of viewers, who may only read; `None` if there is none. Requires a full password as
    /// well.
    pub(crate) viewer_password: Option<String>,
    /// Program, variables and functions for the jobs that pages start.
    pub(crate) job_context: JobContext,
    /// PEM files of a certificate and its key; `None` for a self-signed certificate.
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
    /// Command that stops the service of this store, for messages.
    pub(crate) stop: String,
    /// Outputs of the process, for the log of the service.
    pub(crate) shell: Shell,
}

/// Environment of jobs: program, variables and functions. The command line provides it, since `web`
/// does not know `cli`.
#[derive(Clone)]
pub(crate) struct JobContext {
    /// Path of this program, which each job runs.
    pub(crate) program: PathBuf,
    /// Environment variables that a job must not inherit.
    pub(crate) hidden: &'static [&'static str],
    /// Environment variable with the password of a job's target.
    pub(crate) password: &'static str,
    /// Maximum number of jobs that run at the same time.
    pub(crate) jobs: usize,
    /// Parses a command line `dbdyno run ...` into a draft.
    pub(crate) draft_of: fn(&[String], &Shell) -> Result<plan::Draft, Error>,
    /// Returns the default target of a workload, or why there is none.
    pub(crate) target_of: fn(&str, &Shell) -> Result<Target, String>,
    /// The only folder whose SQLite files a page may name; `None` if dbdyno has no folder.
    pub(crate) folder: Option<PathBuf>,
}

/// Path of a run's page, without its id at the end.
const RUNS: &str = "/runs/";

/// State that all requests to the web service share.
#[derive(Clone)]
struct App(Arc<Shared>);

struct Shared {
    store: PathBuf,
    /// Queue of requests that read the reports of many runs, which do so one at a time.
    turns: Turns,
    /// True if the service listens on loopback only, so that requests must name a host of loopback.
    is_loopback: bool,
    /// Authentication; `None` if everyone who can reach the service may use it.
    auth: Option<Auth>,
    lives: LiveRuns,
    /// Throughput over time of ended runs, as drawn in the list; cached.
    trends: Memo<RunId>,
    /// Setup and warnings of ended runs, cached for the list of runs.
    identities: Memo<RunId, render::Identity>,
    /// Results of experiments in a sentence, by the state of their trials.
    results: Memo<String>,
    /// Bodies and charts of experiments' pages, by state and query.
    experiments: Memo<String, Arc<Shown>>,
    jobs: Jobs,
    /// Lock of the request that adds pushed runs.
    pushes: tokio::sync::Mutex<()>,
    passwords: Passwords,
    job_context: JobContext,
    shell: Shell,
}

impl App {
    /// Runs `read` with the store, on a thread that may wait for the disk.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store, &Shared) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        self.read_opened(move |store, shared| read(&store, shared)).await
    }

    /// Runs `read` as [`App::read`] does, but first waits for its turn: for requests that read the
    /// reports of many runs. Reading the store is given up when the client is gone.
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
            // Opened for each request, since the file may be replaced.
            let store = Store::open_existing(&shared.store)?;
            read(store, &shared)
        });
        reading.await.map_err(|_| HttpError::failed("this is a bug in dbdyno: see its log"))?
    }

    /// Stores an action of a user. If the store is not writable, the log says that the action is
    /// not kept.
    async fn note(&self, visitor: &Visitor, what: &str) {
        self.note_of(&visitor.who(), what).await;
    }

    /// Stores an action of whoever is named, as [`App::note`] does.
    async fn note_of(&self, who: &str, what: &str) {
        let (who, what) = (who.to_owned(), what.to_owned());
        let noted = self.read(move |store, _| Ok(store.note_action(&who, &what)?)).await;
        if let Err(no) = noted {
            self.0.shell.say(&format!("dbdyno: what was done is not kept: {}", no.text));
        }
    }
}

fn routes(app: App) -> Router {
    let new = Router::new()
        .route("/new", get(new_run::page).post(new_run::asked))
        .layer(DefaultBodyLimit::max(new_run::FORM_BYTES_MAX));
    let pushes = Router::new()
        .route(
            pushed::KNOWN,
            post(pushed::known).layer(DefaultBodyLimit::max(pushed::LIST_BYTES_MAX)),
        )
        .route(pushed::PUSH, post(pushed::push));
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
        // A plan, twice, in which a character may take nine bytes.
        .merge(new)
        .merge(pushes)
        .layer(axum::middleware::from_fn_with_state(app.clone(), request_policy::enforce))
        .with_state(app)
}

/// Creates the store if it does not exist, so that the first visit shows an empty list.
fn make_store(options: &Options) -> Result<(), Error> {
    let opened = match options.store.exists() {
        true => Store::open_existing(&options.store),
        false => Store::open(&options.store),
    };
    opened.map(drop).map_err(|error| Error::Failed(error.to_string()))
}
