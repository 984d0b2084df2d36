//! Exit codes of the program. Not here: its output.

use app::Error;

pub(crate) const DONE: u8 = 0;
/// Exit code if a run or a check of data failed, or a limit is broken.
pub(crate) const FAILED: u8 = 1;
/// Exit code of an invalid request: an option, a plan, a target or a name.
pub(crate) const USAGE: u8 = 2;
/// Exit code if no limit is broken, but one is undecided and must not be.
pub(crate) const UNDECIDED: u8 = 3;
/// Exit code if the database cannot be reached, or the connection to it broke.
pub(crate) const UNREACHABLE: u8 = 4;
/// Exit code after Ctrl-C or another signal that ends the program.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit codes with their meanings, for the manual page.
#[cfg(feature = "terminal")]
pub(crate) const MEANINGS: [(u8, &str); 6] = [
    (DONE, "done"),
    (
        FAILED,
        "the run or command failed, its result is not valid, a check found inconsistent data, or a \
         limit (--require, --fail-if, --fail-on-regression) is broken",
    ),
    (USAGE, "a mistake in what was asked: an option, a plan, a target, a name of a run or figure"),
    (
        UNDECIDED,
        "no limit is broken, but one is undecided: measure longer or more often ('--undecided pass' \
         makes it 0)",
    ),
    (UNREACHABLE, "the database cannot be reached, or a connection that the command needs broke"),
    (
        INTERRUPTED,
        "interrupted by Ctrl-C, SIGTERM or a lost terminal: what was measured until then is kept \
         ('dbdyno runs show last')",
    ),
];

/// Result of a subcommand: its exit code, or an error.
pub(crate) type Outcome = Result<u8, Error>;
