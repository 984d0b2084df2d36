//! Error of this crate: a kind to branch on, and a text that names the remedy.

use std::fmt::Display;
use std::io;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerErrorKind {
    /// The server's program is missing or is another product.
    NotInstalled,
    /// A folder, user or setting cannot be used.
    BadOption,
    /// The server, or a program that prepares its data, ended unexpectedly.
    Ended,
    /// The server did not answer within its limit.
    TooSlow,
    /// A system call failed.
    System,
}

/// Error while a server is found, started, changed or stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ServerError {
    pub kind: ServerErrorKind,
    /// Message: the problem, the remedy, and the log's last lines if there are any.
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
