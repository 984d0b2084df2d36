//! Errors of scripts, when they are read and when they are executed.

use std::fmt;

/// Error in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Line of the script, from 1; 0 for errors during execution, whose command the caller knows.
    pub line: u32,
    /// One sentence without a full stop.
    pub message: String,
}

impl Error {
    /// An error during execution.
    pub(super) fn new(message: impl Into<String>) -> Error {
        Error { line: 0, message: message.into() }
    }

    /// An error in a line of the script.
    pub(super) fn at(line: u32, message: impl Into<String>) -> Error {
        Error { line, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for Error {}
