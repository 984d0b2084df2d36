//! Error of private servers: a kind to branch on, and a text that names the remedy.

use std::fmt::Display;
use std::io;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerErrorKind {
    /// A program or library of the server is missing or unusable, or belongs to another product.
    NotInstalled,
    /// A folder, operating system user, file name or setting that the user wants cannot be used.
    BadOption,
    /// The server, or a program that creates its data, ended unexpectedly.
    Ended,
    /// The server did not start or stop within its time limit, or a program that prepares or copies
    /// its data took too long.
    TooSlow,
    /// An operation of the operating system failed, such as writing a file or starting a process.
    System,
}

/// Error that occurs when a private server is looked for, started, changed or stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ServerError {
    pub kind: ServerErrorKind,
    /// Message for the user: the problem, the remedy, and the server's last log lines if there are
    /// any.
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
