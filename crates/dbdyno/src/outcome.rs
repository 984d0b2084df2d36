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

/// What each of them means, for the manual.
#[cfg(feature = "terminal")]
pub(crate) const MEANINGS: [(u8, &str); 4] = [
    (DONE, "done"),
    (
        FAILED,
        "the run or command failed, its result is not valid, a check found inconsistent data, or a \
         limit (--require, --fail-if, --fail-on-regression) does not hold",
    ),
    (USAGE, "a mistake in what was asked: an option, a plan, a target, a name of a run or figure"),
    (
        INTERRUPTED,
        "interrupted by Ctrl-C, SIGTERM or a lost terminal: what was measured until then is kept \
         ('dbdyno runs show last')",
    ),
];

/// What a subcommand returns: its exit code, or what went wrong.
pub(crate) type Outcome = Result<u8, Error>;
