//! What is wrong with a plan, in words. Not here: what refuses it (everything beside this).

use std::fmt;

/// A mistake in a plan or on the command line, with its place and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPlan(pub String);

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadPlan {}
