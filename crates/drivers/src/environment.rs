//! The process's environment, in which drivers look for libraries of databases. It comes from the
//! program; tests have none, and name everything in their targets.

use std::ffi::OsString;
use std::sync::OnceLock;

static ENVIRONMENT: OnceLock<fn(&str) -> Option<OsString>> = OnceLock::new();

/// Lets drivers read variables of the process's environment. The first call decides.
pub fn read_environment(variable: fn(&str) -> Option<OsString>) {
    // A program that embeds dbdyno may have called it.
    let _ = ENVIRONMENT.set(variable);
}

/// Returns the value of an environment variable; `None` if it is not set, or nobody has called
/// [`read_environment`].
#[cfg(feature = "duckdb")]
pub(crate) fn environment(name: &str) -> Option<OsString> {
    ENVIRONMENT.get().and_then(|variable| variable(name))
}
