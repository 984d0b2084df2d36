//! Errors for connections that are broken. Not here: code that detects them (stream, tls_client,
//! connect).

use std::io;

use model::{DbError, DbErrorKind};

/// Returns the error for a connection that the server has closed unexpectedly.
pub(super) fn ended() -> DbError {
    DbError::new(DbErrorKind::ConnectionLost, "the server closed the connection")
}

/// Returns the error for a server that has sent nothing within a time limit.
pub(super) fn silent() -> DbError {
    db_error(io::ErrorKind::TimedOut.into())
}

/// Converts an I/O error of a socket to a database error of the kind `ConnectionLost`.
pub(super) fn db_error(error: io::Error) -> DbError {
    if error.kind() == io::ErrorKind::TimedOut {
        let advice = "check scheme, host and port, or raise connect_timeout";
        return DbError::silence(format!("the server does not answer in time; {advice}"));
    }
    DbError::new(DbErrorKind::ConnectionLost, format!("the connection failed: {error}"))
}
