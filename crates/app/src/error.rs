//! Reason why a use case failed, in words for the user. Each kind has an exit code.

use std::{fmt, io};

use store::{StoreError, StoreErrorKind};

use crate::script_error::ScriptError;

/// Reason why a use case (such as a run or a build) failed, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The user's input is invalid: exit code 2.
    Usage(String),
    /// The database, the machine or the data caused the failure: exit code 1.
    Failed(String),
    /// A script failed beside the events of its load: exit code 1.
    Script(Box<ScriptError>),
    /// The database cannot be reached, or the connection to it broke: exit code 4.
    Unreachable(String),
    /// The user stopped the run or other use case: exit code 130.
    Interrupted(String),
}

impl Error {
    /// Creates the error that a thread cannot be started. Names the limit to raise, which the
    /// system's message does not.
    pub(crate) fn no_thread(error: &io::Error) -> Error {
        Error::Failed(format!(
            "cannot start a thread ({error}): raise the limit of processes and threads (ulimit -u)"
        ))
    }

    pub fn failed(why: impl fmt::Display) -> Error {
        Error::Failed(why.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(why)
            | Error::Failed(why)
            | Error::Unreachable(why)
            | Error::Interrupted(why) => f.write_str(why),
            Error::Script(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<plan::BadPlan> for Error {
    fn from(bad: plan::BadPlan) -> Error {
        Error::Usage(bad.0)
    }
}

impl From<model::BadParameter> for Error {
    fn from(bad: model::BadParameter) -> Error {
        Error::Usage(bad.to_string())
    }
}

impl From<ScriptError> for Error {
    fn from(error: ScriptError) -> Error {
        Error::Script(Box::new(error))
    }
}

impl From<model::DbError> for Error {
    fn from(db_error: model::DbError) -> Error {
        match db_error.kind {
            model::DbErrorKind::ConnectionLost => Error::Unreachable(db_error.to_string()),
            _ => Error::failed(db_error),
        }
    }
}

impl From<drivers::CannotOpen> for Error {
    fn from(error: drivers::CannotOpen) -> Error {
        match error {
            drivers::CannotOpen::Bad(bad) => Error::Usage(format!("the target: {bad}")),
            drivers::CannotOpen::Refused(db_error) => db_error.into(),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        use StoreErrorKind::{NotAStore, Taken, UnderWay};
        let advised = || match error.message.ends_with("name another file") {
            true => format!("{error} with --store, or run with --no-store"),
            false => format!("{error}; name another with --store, or run with --no-store"),
        };
        match error.kind {
            NotAStore => Error::Usage(advised()),
            kind if kind == Taken || kind.is_wrong_name() => Error::Usage(error.to_string()),
            // The command was not to store anything.
            UnderWay => Error::Failed(error.to_string()),
            _ => Error::Failed(advised()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_cannot_be_started_names_the_limit() {
        let error = Error::no_thread(&io::ErrorKind::WouldBlock.into()).to_string();
        assert!(
            error.contains("cannot start a thread") && error.contains("(ulimit -u)"),
            "{error}"
        );
    }
}
