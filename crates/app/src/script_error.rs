//! Error of a script in what it does beside the events of a load, for which users of other programs
//! get that program's words. Not here: errors of events (model).

use std::fmt;

use model::DbError;

/// What a script did when it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    /// The beginning of a run, before its clients connect.
    Init,
    /// The beginning of the clients on their connections.
    Clients {
        /// Number of clients that could not begin.
        n_failed: u32,
        /// Number of all clients.
        n_clients: u32,
    },
    /// A command, such as one that creates the tables, by its name.
    Command(String),
    /// The end of a run, after its reports.
    Done,
    /// A report that the script makes of the run.
    Report,
}

/// Reason why a script failed, with what it did then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    pub step: ScriptStep,
    /// Error of the database or of the script itself, with its place in the script.
    pub error: DbError,
    /// What to do about it, in words.
    pub remedy: Option<String>,
}

impl ScriptError {
    /// Creates an error without a remedy.
    pub(crate) fn new(step: ScriptStep, error: DbError) -> ScriptError {
        ScriptError { step, error, remedy: None }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = &self.error;
        match &self.step {
            ScriptStep::Init => write!(f, "init: {error}")?,
            ScriptStep::Done => write!(f, "done: {error}")?,
            ScriptStep::Command(name) => write!(f, "{name}: {error}")?,
            ScriptStep::Report => f.write_str(&error.message)?,
            ScriptStep::Clients { n_failed, n_clients } => {
                write!(f, "{n_failed} of {n_clients} clients could not begin: {error}")?;
            }
        }
        self.remedy.iter().try_for_each(|remedy| write!(f, "; {remedy}"))
    }
}
