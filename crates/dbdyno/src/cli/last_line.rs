//! The last line of a command with limits (`--require`, `--fail-if`): its exit code, and why.

use clap::ArgMatches;

use super::flags::{self, Output};
use super::{DONE, FAILED};
use crate::shell::Shell;

/// End of the sentence on an undecided limit that does not make the command fail.
pub(super) const LET_PASS: &str = " (let pass by --undecided pass)";

/// Prints the exit code of a command with limits and its reason: on stdout if the output is text,
/// else on stderr if the command fails. `has_undecided` is true if some limit is undecided.
pub(super) fn print(code: u8, has_undecided: bool, matches: &ArgMatches, shell: &Shell) {
    let line = line(code, has_undecided);
    match flags::output_of(matches) {
        // If stdout is closed, the exit code still has the result.
        Output::Text => drop(shell.print(&format!("{line}\n"))),
        _ if code != DONE => shell.say(&line),
        _ => {}
    }
}

fn line(code: u8, has_undecided: bool) -> String {
    let why = match (code, has_undecided) {
        (DONE, false) => "every limit is held",
        (DONE, true) => "no limit is broken, and --undecided pass lets undecided ones pass",
        (FAILED, _) => "a limit is broken",
        _ => {
            "an undecided limit fails: run more often (--repeat) or longer (--duration), or let it \
             pass with --undecided pass"
        }
    };
    format!("Exit code {code}: {why}.")
}

#[cfg(test)]
mod tests {
    use super::super::UNDECIDED;
    use super::*;

    #[test]
    fn an_undecided_limit_says_that_it_fails_or_is_let_pass() {
        assert_eq!(line(DONE, false), "Exit code 0: every limit is held.");
        assert!(line(DONE, true).contains("--undecided pass lets"));
        assert_eq!(line(FAILED, true), "Exit code 1: a limit is broken.");
        assert!(line(UNDECIDED, true).starts_with("Exit code 3: an undecided limit fails: "));
    }
}
