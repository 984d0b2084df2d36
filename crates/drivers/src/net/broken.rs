//! Errors of broken connections. Not here: their detection (stream, tls_client, connect).

use std::io;

use model::{DbError, DbErrorKind};

/// Makes the error for a connection that the server has closed.
pub(super) fn ended() -> DbError {
    DbError::new(DbErrorKind::ConnectionLost, "the server closed the connection")
}

/// Makes the error for bytes of the server that did not come in time.
pub(super) fn silent() -> DbError {
    db_error(io::ErrorKind::TimedOut.into())
}

/// Converts an error of a socket to a database error that breaks the connection.
pub(super) fn db_error(error: io::Error) -> DbError {
    if error.kind() == io::ErrorKind::TimedOut {
        let advice = "check scheme, host and port, or raise connect_timeout";
        return DbError::silence(format!("the server does not answer in time; {advice}"));
    }
    DbError::new(DbErrorKind::ConnectionLost, format!("the connection failed: {error}"))
}
