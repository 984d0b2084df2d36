//! Errors in a plan and their text. Not here: the checks that find them.

use std::fmt;

/// An error in a plan or on the command line, as a text for the user with the position of the error
/// in its source and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPlan(pub String);

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadPlan {}
