//! Runs that writers push into the store, as files that `runs export` writes.
//!
//! A pushed file is treated as any received file: its checksum, its schema and each of its runs are
//! checked before anything is taken. A run that the store has already is left as it is. Not here:
//! who is a writer (writers), and the command that pushes (cli).

use std::io::Write;

use app::stored_report::check_run;
use axum::Json;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use files::Unfinished;
use model::RunId;
use serde_json::{Value, json};
use store::{Imported, Store, StoreError, StoreErrorKind};

use super::App;
use super::http_error::HttpError;
use super::writers::{PUSHED_BY, Writers};

/// Path at which a writer asks which runs are known.
pub(crate) const KNOWN: &str = "/api/push/known";
/// Path at which a writer sends a file of runs.
pub(crate) const PUSH: &str = "/api/push";
/// Header with the name of the host that pushes.
pub(crate) const FROM: &str = "x-dbdyno-host";
/// Key of the label with the name of the host that has pushed a run.
const PUSHED_FROM: &str = "pushed_from";

/// Largest size of a pushed file, in bytes; a larger one is rejected.
pub(crate) const FILE_BYTES_MAX: usize = 256 << 20;
/// Largest size of a list of runs, in bytes.
pub(super) const LIST_BYTES_MAX: usize = 1 << 20;
/// Permissions of the pushed file while it is read.
const MODE: u32 = 0o600;

/// Whether a request comes from a writer, who shows a token instead of a password.
pub(super) fn is_of_writer(path: &str) -> bool {
    [KNOWN, PUSH].contains(&path)
}

fn writer_of(app: &App, headers: &HeaderMap) -> Result<String, HttpError> {
    let writers = Writers::of_store(&app.0.store)?;
    let text = "this token is not known here: 'dbdyno web writer add NAME' on the host of the \
                service makes one";
    let no = || HttpError::new(StatusCode::UNAUTHORIZED, text);
    writers.of_request(headers).map(str::to_owned).ok_or_else(no)
}

/// `POST /api/push/known`: of the runs in a JSON list, those that the store has.
pub(super) async fn known(
    State(app): State<App>,
    headers: HeaderMap,
    Json(asked): Json<Vec<String>>,
) -> Result<Response, HttpError> {
    writer_of(&app, &headers)?;
    let known = app.read(move |store, _| {
        let mut known = Vec::new();
        for run in asked.into_iter().map(RunId) {
            if store.row(&run)?.is_some() {
                known.push(run.0);
            }
        }
        Ok(known)
    });
    Ok(Json(json!({ "schema": "dbdyno.known/1", "known": known.await? })).into_response())
}

/// `POST /api/push`: adds the runs of an exported file that the store lacks.
pub(super) async fn push(State(app): State<App>, request: Request) -> Result<Response, HttpError> {
    let writer = writer_of(&app, request.headers())?;
    let from = request.headers().get(FROM).and_then(|value| value.to_str().ok());
    let from = from.map(str::to_owned);
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|bytes| bytes > FILE_BYTES_MAX) {
        let text = "the file of runs is larger than 256 MiB: push fewer runs at once";
        return Err(HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, text));
    }
    // One at a time, so that the memory for files has a limit.
    let _turn = app.0.pushes.lock().await;
    let bytes = to_bytes(request.into_body(), FILE_BYTES_MAX).await;
    let bytes = bytes.map_err(|_| HttpError::bad("the file of runs did not arrive whole"))?;
    let by = writer.clone();
    let imported = app.read(move |store, shared| {
        let failed = |error: std::io::Error| {
            let status = match error.kind() {
                std::io::ErrorKind::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            HttpError::new(status, format!("the runs cannot be stored: {error}"))
        };
        let mut file = Unfinished::beside(&shared.store, MODE).map_err(failed)?;
        file.file().write_all(&bytes).map_err(failed)?;
        let imported = store.import(file.path(), check_run).map_err(of_file)?;
        label(store, &imported, &by, from.as_deref())?;
        Ok(imported)
    });
    let imported = imported.await?;
    if !imported.new.is_empty() {
        let what = format!("pushed {}", model::numbers::count(imported.new.len() as u64, "run"));
        app.note_of(&format!("writer {writer}"), &what).await;
    }
    let ids = |runs: &[RunId]| runs.iter().map(|run| json!(run.0)).collect::<Value>();
    let (new, known) = (ids(&imported.new), ids(&imported.known));
    let answer = json!({ "schema": "dbdyno.pushed/1", "pushed": new, "known": known });
    Ok(Json(answer).into_response())
}

/// Labels pushed runs with their writer and its host.
fn label(
    store: &Store,
    imported: &Imported,
    writer: &str,
    from: Option<&str>,
) -> Result<(), StoreError> {
    for run in &imported.new {
        store.label(run, PUSHED_BY, writer)?;
        if let Some(from) = from.filter(|from| store::why_no_label(PUSHED_FROM, from).is_none()) {
            store.label(run, PUSHED_FROM, from)?;
        }
    }
    Ok(())
}

/// Returns the response for a file that is rejected, or for a store that cannot take it.
fn of_file(error: StoreError) -> HttpError {
    let status = match error.kind {
        StoreErrorKind::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        StoreErrorKind::Busy | StoreErrorKind::ReadOnly => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    HttpError::new(status, error.to_string())
}
