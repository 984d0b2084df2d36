//! Errors of HTTP requests. Not here: the pages that show them (answer).

use app::Error;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use store::{StoreError, StoreErrorKind};

/// Error of a request: a sentence and a status.
#[derive(Clone, Debug)]
pub(super) struct HttpError {
    pub(super) status: StatusCode,
    pub(super) text: String,
    /// Seconds after which the client may try again; `None` if that is not known.
    pub(super) retry_after_s: Option<u64>,
}

impl HttpError {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> HttpError {
        HttpError { status, text: text.into(), retry_after_s: None }
    }

    /// Creates the error 404: there is nothing of that name.
    pub(super) fn unknown(text: impl Into<String>) -> HttpError {
        HttpError::new(StatusCode::NOT_FOUND, text)
    }

    /// Creates the error 400: the request is invalid.
    pub(super) fn bad(text: impl Into<String>) -> HttpError {
        HttpError::new(StatusCode::BAD_REQUEST, text)
    }

    /// Creates the error 500: the service could not do what the request asks, and the request is
    /// not at fault.
    pub(super) fn failed(text: impl Into<String>) -> HttpError {
        HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }
}

/// Responds with the status alone, and attaches the error. The request policy, which knows the
/// client, makes a page or JSON of it.
impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for HttpError {
    fn from(error: StoreError) -> HttpError {
        let status = match error.kind {
            StoreErrorKind::UnknownRun | StoreErrorKind::AmbiguousRun => StatusCode::NOT_FOUND,
            StoreErrorKind::UnderWay => StatusCode::CONFLICT,
            StoreErrorKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        HttpError::new(status, error.to_string())
    }
}

impl From<Error> for HttpError {
    fn from(trouble: Error) -> HttpError {
        match trouble {
            Error::Usage(why) => HttpError::bad(why),
            Error::Failed(why) | Error::Unreachable(why) | Error::Interrupted(why) => {
                HttpError::failed(why)
            }
            Error::Script(error) => HttpError::failed(error.to_string()),
        }
    }
}
