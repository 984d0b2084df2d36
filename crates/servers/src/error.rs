//! Why there is no server: a kind to branch on, and words that name the remedy.

use std::fmt::Display;
use std::io;

/// What sort of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerErrorKind {
    /// The server's program is not there, or is another product.
    NotInstalled,
    /// An option cannot be had here: a folder, a user, a setting.
    BadOption,
    /// The server (or what prepares its data) ended when it should run.
    Ended,
    /// It did not answer within its time.
    TooSlow,
    /// The operating system refused something.
    System,
}

/// Why there is no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ServerError {
    /// To branch on.
    pub kind: ServerErrorKind,
    /// To be read: what is wrong, what to do, and the log's last lines where there are any.
    pub text: String,
}

impl ServerError {
    pub(crate) fn new(kind: ServerErrorKind, text: impl Into<String>) -> ServerError {
        ServerError { kind, text: text.into() }
    }

    pub(crate) fn system(what: impl Display, error: impl Into<io::Error>) -> ServerError {
        ServerError::new(ServerErrorKind::System, format!("{what}: {}", error.into()))
    }
}
