//! What a subcommand comes to: the exit codes of the program. Not here: what is printed of it.

use app::Error;

/// Done.
pub(crate) const DONE: u8 = 0;
/// The run, a check or a gate failed.
pub(crate) const FAILED: u8 = 1;
/// What was asked cannot be right.
pub(crate) const USAGE: u8 = 2;
/// Somebody interrupted it.
pub(crate) const INTERRUPTED: u8 = 130;

/// What a subcommand returns: its exit code, or what went wrong.
pub(crate) type Outcome = Result<u8, Error>;
